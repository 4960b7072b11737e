/* pure.c - tests of the model's parts that need no GPU: scripts and distributions, the heap, clocks, events. Prints
 * TAP. */
#include "../kfd_abi.h"
#include "../vgpu.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number, bad;

static void ok(bool good, const char *what)
{
    bad += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

/* Stubs for the files under test. */
uint32_t vg_gpu_id(int gpu)
{
    return 1000 + (uint32_t)gpu;
}

static bool load_script(const char *text, char *err)
{
    char name[] = "/tmp/vgpu-script-XXXXXX";
    int fd = mkstemp(name);
    bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    bool r = wrote && vg_script_load(name, err, 256);
    close(fd);
    unlink(name);
    return r;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void scripts(void)
{
    static const char *const wrong[][2] = {
        {"k\n", "line 1"},
        {"k fixed\n", "usage: PATTERN fixed TIME"},
        {"# fine\nk fixed 5 us\n", "line 2"},
        {"k fixed 5parsecs\n", "not a time"},
        {"k fixed -5us\n", "not a time"},
        {"k gauss 5us 1\n", "unknown distribution"},
        {"k bimodal 1us 2us 1.5\n", "SHARE1"},
        {"k pareto 1us 0\n", "above 0"},
        {"k uniform 2us 1us\n", "below MINIMUM"},
        {"k lognormal 1us x\n", "not a number"},
        {"k meets\n", "DISTRIBUTION"},
        {"k meets meets 5us\n", "unknown distribution"},
    };
    char err[256];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!load_script(wrong[i][0], err) && strstr(err, wrong[i][1]), wrong[i][1]);
    ok(!vg_script_load("/nonexistent/script", err, sizeof err) && strstr(err, "/nonexistent"),
       "a script that isn't there");
    ok(load_script("gemm_* fixed 12.5us # comment\n\na? 3ticks\n_Z* lognormal 40us 0.5\nb* bimodal 1us 9us 0.25\n"
                   "p* pareto 2us 1.5 1ms\nu* uniform 1us 2us\nz 0\n",
                   err),
       "a script with every form");
    uint64_t rng[4], other[4];
    vg_rng_seed(rng, 1, "x");
    ok(vg_draw_ticks(vg_script_match("gemm_4"), rng) == 1250, "script: fixed duration");
    ok(vg_draw_ticks(vg_script_match("ab"), rng) == 3 && !vg_script_match("abc"), "script: glob patterns, TIME alone");
    ok(vg_draw_ticks(vg_script_match("z"), rng) == 0, "script: a duration of 0");
    vg_cfg.default_ticks = 77;
    ok(vg_draw_ticks(vg_script_match("other"), rng) == 77, "script: default duration");

    enum { N = 100001 };
    uint64_t *v = malloc(N * sizeof *v);
    vg_rng_seed(rng, 1, "_Zk");
    for (int i = 0; i < N; i++)
        v[i] = vg_draw_ticks(vg_script_match("_Zk"), rng);
    qsort(v, N, sizeof *v, by_value);
    ok(fabs((double)v[N / 2] / 4000 - 1) < 0.01, "lognormal: median");
    ok(fabs((double)v[(int)(N * 0.8413)] / (4000 * exp(0.5)) - 1) < 0.02, "lognormal: one sigma above");
    int low = 0;
    for (int i = 0; i < N; i++) {
        uint64_t t = vg_draw_ticks(vg_script_match("b"), rng);
        low += t == 100;
        if (t != 100 && t != 900)
            low = N;
    }
    ok(abs(low - N / 4) < N / 100, "bimodal: two values, and their share");
    for (int i = 0; i < N; i++)
        v[i] = vg_draw_ticks(vg_script_match("p"), rng);
    qsort(v, N, sizeof *v, by_value);
    ok(v[0] >= 200 && v[N - 1] <= 100000 && fabs((double)v[N / 2] / (200 * pow(2, 1 / 1.5)) - 1) < 0.02,
       "pareto: minimum, maximum, median");
    bool inside = true;
    for (int i = 0; i < N; i++) {
        uint64_t t = vg_draw_ticks(vg_script_match("u"), rng);
        inside &= t >= 100 && t <= 200;
    }
    ok(inside, "uniform: bounds");
    free(v);
    vg_rng_seed(rng, 5, "k");
    vg_rng_seed(other, 5, "k");
    bool same = true;
    for (int i = 0; i < 100; i++)
        same &= vg_draw_ticks(vg_script_match("_Z"), rng) == vg_draw_ticks(vg_script_match("_Z"), other);
    vg_rng_seed(other, 6, "k");
    ok(same && memcmp(rng, other, sizeof rng), "script: durations depend on seed and name only");
}

static void test_heap(void)
{
    static struct vg_heap h;
    bool sorted = true, stable = true;
    srand(1);
    for (int round = 0; round < 200; round++) {
        int n = 1 + rand() % VG_FLIGHT_MAX;
        for (int i = 0; i < n; i++)
            vg_heap_push(&h, (struct vg_flight){.end = (uint64_t)(rand() % 50), .index = (uint64_t)i});
        struct vg_flight last = {0};
        for (int i = 0; i < n; i++) {
            struct vg_flight f = vg_heap_pop(&h);
            sorted &= f.end >= last.end;
            stable &= !i || f.end != last.end || f.index > last.index;
            last = f;
        }
    }
    ok(sorted && !h.n, "heap: kernels complete in order of end");
    ok(stable, "heap: kernels that end together complete in launch order");
}

static void clocks(void)
{
    vg_cfg.drift_ppm = 0;
    ok(vg_ns_to_ticks(123456789012345ull) == 12345678901234ull, "clock: a tick is 10 ns");
    vg_cfg.drift_ppm = 50;
    uint64_t hour = 3600ull * 1000000000, t = vg_ns_to_ticks(hour * 100 + hour) - vg_ns_to_ticks(hour * 100);
    ok(llabs((long long)(t - (hour / 10 + hour / 10 / 20000))) <= 1, "clock: drift of 50 ppm over an hour");
    uint64_t ns = 98765432109876ull, back = vg_ticks_to_ns(vg_ns_to_ticks(ns));
    ok(back <= ns && ns - back <= 2 * VG_TICK_NS, "clock: ns to ticks and back");
    vg_cfg.drift_ppm = 0;
}

struct wait {
    pthread_t thread;
    _Atomic int tid;
    struct kfd_event_data e[3];
    uint32_t n, timeout, result;
    bool all;
    int r;
};

static void *waiting(void *arg)
{
    struct wait *w = arg;
    atomic_store(&w->tid, gettid());
    w->r = vg_event_wait(w->e, w->n, w->all, w->timeout, &w->result);
    return NULL;
}

static void start_waiter(struct wait *w)
{
    pthread_create(&w->thread, NULL, waiting, w);
    /* Poll until the waiter sleeps, for at most a minute. */
    for (int i = 0; i < 60000; i++) {
        char name[64], state = 0;
        snprintf(name, sizeof name, "/proc/self/task/%d/stat", atomic_load(&w->tid));
        FILE *f = atomic_load(&w->tid) ? fopen(name, "r") : NULL;
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (f)
            fclose(f);
        if (state == 'S')
            return;
        struct timespec t = {0, 1000000};
        nanosleep(&t, NULL);
    }
}

static void test_events(void)
{
    uint32_t a = vg_event_create(VG_EVENT_SIGNAL, true), b = vg_event_create(VG_EVENT_SIGNAL, true);
    uint32_t hold = vg_event_create(VG_EVENT_SIGNAL, false);
    struct wait w = {.e = {{.event_id = a}}, .n = 1, .timeout = 0};
    waiting(&w);
    ok(!w.r && w.result == KFD_WAIT_TIMEOUT, "event not set: the wait times out");
    vg_event_set(a);
    waiting(&w);
    ok(!w.r && w.result == KFD_WAIT_COMPLETE, "event set before the wait: the wait completes");
    waiting(&w);
    ok(w.result == KFD_WAIT_TIMEOUT, "auto-reset event: the wait resets it");
    vg_event_set(hold);
    struct wait m = {.e = {{.event_id = hold}}, .n = 1, .timeout = 0};
    waiting(&m);
    waiting(&m);
    ok(m.result == KFD_WAIT_COMPLETE, "manual-reset event: a wait leaves it set");
    vg_event_reset(hold);
    waiting(&m);
    ok(m.result == KFD_WAIT_TIMEOUT, "manual-reset event: unset after the reset");

    struct wait two[2] = {{.e = {{.event_id = a}}, .n = 1, .timeout = 60000},
                          {.e = {{.event_id = a}, {.event_id = b}}, .n = 2, .timeout = 60000}};
    start_waiter(&two[0]);
    start_waiter(&two[1]);
    vg_event_set(a);
    pthread_join(two[0].thread, NULL);
    pthread_join(two[1].thread, NULL);
    ok(two[0].result == KFD_WAIT_COMPLETE && two[1].result == KFD_WAIT_COMPLETE,
       "one set wakes every waiter that is there");
    waiting(&w);
    ok(w.result == KFD_WAIT_TIMEOUT, "event set while a thread waits: unset afterwards");

    struct wait both = {.e = {{.event_id = a}, {.event_id = b}}, .n = 2, .timeout = 60000, .all = true};
    start_waiter(&both);
    vg_event_set(a);
    vg_event_set(b);
    pthread_join(both.thread, NULL);
    ok(both.result == KFD_WAIT_COMPLETE, "wait for all events");

    struct wait age = {.e = {{.event_id = a, .age = 1}}, .n = 1, .timeout = 0};
    waiting(&age);
    uint64_t seen = age.e[0].age;
    ok(age.result == KFD_WAIT_COMPLETE && seen > 1, "event age: an old age does not sleep");
    waiting(&age);
    ok(age.result == KFD_WAIT_TIMEOUT && age.e[0].age == seen, "event age: the current age sleeps");
    vg_event_set(a);
    waiting(&w);
    waiting(&age);
    ok(age.result == KFD_WAIT_COMPLETE && age.e[0].age == seen + 1,
       "event age: shows a set that another wait consumed");

    struct wait gone = {.e = {{.event_id = b}}, .n = 1, .timeout = 60000};
    start_waiter(&gone);
    vg_event_destroy(b);
    pthread_join(gone.thread, NULL);
    ok(gone.result == KFD_WAIT_FAIL, "event destroyed during a wait: the wait fails");
    ok(vg_event_set(b) == -EINVAL, "destroyed event: setting it is refused");
    waiting(&gone);
    ok(gone.r == -EINVAL, "destroyed event: waiting for it is refused");
    uint32_t n = 0;
    while (vg_event_create(VG_EVENT_SIGNAL, true))
        n++;
    ok(n == VG_EVENT_LIMIT - 1 - 2, "at most 4095 events");
}

static void write_script(const char *path, const char *text)
{
    char next[64];
    snprintf(next, sizeof next, "%s.next", path);
    FILE *f = fopen(next, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    rename(next, path);
}

static void reloads(void)
{
    char path[] = "/tmp/vgpu-reload-XXXXXX", err[256];
    uint64_t rng[4];
    close(mkstemp(path));
    write_script(path, "k 10us\nc meets 20us\ng gathers fixed 5us\n");
    ok(vg_script_load(path, err, sizeof err) && vg_rule_meets(vg_script_match("c")) == VG_MEETS_RUNNING &&
           vg_rule_meets(vg_script_match("g")) == VG_MEETS_BEFORE && !vg_rule_meets(vg_script_match("k")) &&
           !vg_rule_meets(NULL),
       "script: meets and gathers");
    vg_cfg.script = path;
    unsigned version = vg_script_version;
    const struct vg_rule *old = vg_script_match("k");
    vg_script_reload();
    ok(vg_script_version == version && vg_script_match("k") == old, "reload: an unchanged file keeps the rules");
    write_script(path, "k 30us\n");
    vg_script_reload();
    ok(vg_script_version != version && vg_draw_ticks(vg_script_match("k"), rng) == 3000 && !vg_script_match("c"),
       "reload: a changed file replaces the rules");
    ok(vg_draw_ticks(old, rng) == 1000, "reload: a running kernel may still use its rule");
    version = vg_script_version;
    write_script(path, "k 40parsecs\n");
    fflush(stderr);
    vg_script_reload();
    ok(vg_script_version == version && vg_draw_ticks(vg_script_match("k"), rng) == 3000,
       "reload: a wrong file keeps the rules");
    unlink(path);
    vg_script_reload();
    ok(vg_draw_ticks(vg_script_match("k"), rng) == 3000, "reload: a missing file keeps the rules");
    vg_cfg.script = NULL;
}

/* Ranks of a job: this process is 0; children are 1 and 2. Ends of pipes tell a child to go on. */
static void meetings(void)
{
    char path[] = "/tmp/vgpu-meet-XXXXXX", err[256], c;
    uint64_t met = 100;
    int arrive[2], leave[2], done[2];
    ok(vg_meet(vg_meet_arrive(5), &met) && met == 100, "meet: without a job nobody waits");
    close(mkstemp(path));
    static const char *const wrong[] = {"", "1", "2/2", "-1/2", "0/17", "0/2x", "/2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!vg_meet_open(path, wrong[i], err, sizeof err) && strstr(err, "VGPU_RANK"), "meet: a wrong rank is refused");
    ok(!vg_meet_open("/nonexistent/meet", "0/3", err, sizeof err) && strstr(err, "VGPU_MEET"),
       "meet: a file that can't be written is refused");
    ok(vg_meet_open(path, "0/3", err, sizeof err) && !pipe(arrive) && !pipe(leave) && !pipe(done), "meet: joins a job");
    uint64_t first = vg_meet_arrive(1000);
    ok(!vg_meet(first, &met), "meet: waits for ranks that have not started");
    pid_t pids[2];
    for (int i = 0; i < 2; i++)
        if (!(pids[i] = fork())) {
            vg_meet_reset_after_fork();
            bool joined = vg_meet_open(path, i ? "2/3" : "1/3", err, sizeof err);
            joined = read(arrive[0], &c, 1) == 1 && joined;
            vg_meet_arrive(i ? 3000 : 2000);
            joined = write(done[1], "x", 1) == 1 && read(leave[0], &c, 1) == 1 && joined;
            if (i)
                vg_meet_leave();
            joined = write(done[1], "x", 1) == 1 && joined;
            if (!i)
                kill(getpid(), SIGKILL); /* rank 1 dies without a word */
            _exit(!joined);
        }
    ok(write(arrive[1], "x", 1) == 1 && read(done[0], &c, 1) == 1 && !vg_meet(first, &met),
       "meet: waits for the last rank");
    ok(write(arrive[1], "x", 1) == 1 && read(done[0], &c, 1) == 1 && vg_meet(first, &met) && met == 3000,
       "meet: ends at the time of the last rank");
    uint64_t second = vg_meet_arrive(4000);
    met = 4000;
    ok(!vg_meet(second, &met), "meet: the next one waits again");
    ok(write(leave[1], "xx", 2) == 2 && read(done[0], &c, 1) == 1 && read(done[0], &c, 1) == 1, "meet: ranks end");
    for (int i = 0; i < 2; i++)
        waitpid(pids[i], NULL, 0);
    while (!vg_meet(second, &met)) /* looks for dead ranks now and then */
        usleep(1000);
    ok(met == 4000, "meet: ranks that left or died keep nobody waiting");
    unlink(path);
}

int main(void)
{
    scripts();
    reloads();
    meetings();
    test_heap();
    clocks();
    test_events();
    printf("1..%d\n", number);
    return bad != 0;
}
