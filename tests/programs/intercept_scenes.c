/*
 * intercept_scenes.c - scenes for the library, each a small program: intercept_scenes SCENE.
 *
 * A scene prints "launched KERNEL N" for its dispatches without a completion signal and "signalled KERNEL N" for those
 * with one, then "holding", and continues to its end when standard input closes. Scenes with a special end print
 * "ending" before it. The tests' script gives "slow" kernels a long duration.
 */
#include "intercept_hsa.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static struct family fast, slow;

static void print_launched(const char *prefix, unsigned index, unsigned long n)
{
    printf("launched %s%02u %lu\n", prefix, index, n);
}

static void setup(void)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&fast, "fast");
    load_family(&slow, "slow");
}

static void ending(void)
{
    puts("ending");
    fflush(stdout);
}

/* A slow kernel on one queue must not delay another queue. */
static void scene_slow(void)
{
    setup();
    hsa_queue_t *a = open_queue(64), *b = open_queue(4096);
    launch(a, slow.object[0]);
    for (int i = 0; i < 20000; i++) {
        launch(b, fast.object[i % 10]);
        if (i % 512 == 511)
            drain(b);
    }
    drain(b);
    print_launched("slow", 0, 1);
    for (unsigned i = 0; i < 10; i++)
        print_launched("fast", i, 2000);
    hold();
    must(hsa_queue_destroy(b), "destroy");
    must(hsa_queue_destroy(a), "destroy"); /* destroy it with the kernel in flight */
    must(hsa_shut_down(), "shut down");
}

/* Nor its own queue, where packets without the barrier bit overtake it. */
static void scene_overtake(void)
{
    setup();
    hsa_queue_t *queue = open_queue(4096);
    launch_packet(queue, slow.object[0], (hsa_signal_t){0}, 0, true);
    for (int i = 0; i < 2000; i++)
        launch_packet(queue, fast.object[i % 10], (hsa_signal_t){0}, 0, true);
    print_launched("slow", 0, 1);
    for (unsigned i = 0; i < 10; i++)
        print_launched("fast", i, 200);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Create and destroy queues, each with work in flight. */
static void scene_queues(void)
{
    setup();
    for (int i = 0; i < 300; i++) {
        hsa_queue_t *queue = open_queue(1024);
        for (int j = 0; j < 20; j++)
            launch(queue, fast.object[j % 5]);
        if (i % 3 == 0)
            drain(queue);
        must(hsa_queue_destroy(queue), "destroy");
    }
    for (unsigned i = 0; i < 5; i++)
        print_launched("fast", i, 300 * 4);
    hold();
    must(hsa_shut_down(), "shut down");
}

/* More queues than the segment has slots. */
static void scene_crowd(void)
{
    enum { CROWD = 140 };
    static hsa_queue_t *queue[CROWD];
    setup();
    for (int i = 0; i < CROWD; i++)
        queue[i] = open_queue(64);
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < CROWD; i++)
            launch(queue[i], fast.object[i % 10]);
    for (int i = 0; i < CROWD; i++)
        drain(queue[i]);
    for (unsigned i = 0; i < 10; i++)
        print_launched("fast", i, CROWD);
    hold();
    for (int i = 0; i < CROWD; i++)
        must(hsa_queue_destroy(queue[i]), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Load and unload executables; other kernel names appear at earlier addresses. */
static void scene_reuse(void)
{
    unsigned long reused = 0;
    static uint64_t before[FAMILY];
    setup();
    hsa_queue_t *queue = open_queue(1024);
    for (unsigned i = 0; i < 60; i++) {
        char prefix[5];
        struct family family;
        snprintf(prefix, sizeof prefix, "r%02u_", i % 30);
        load_family(&family, prefix);
        for (unsigned k = 0; k < 3; k++) {
            reused += family.object[k] == before[k];
            before[k] = family.object[k];
            for (unsigned n = 0; n <= i % 30; n++)
                launch(queue, family.object[k]);
        }
        drain(queue);
        unload_family(&family);
    }
    for (unsigned i = 0; i < 30; i++)
        for (unsigned k = 0; k < 3; k++)
            printf("launched r%02u_%02u %u\n", i, k, 2 * (i + 1));
    printf("reused %lu\n", reused);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Load 20,000 kernels; dispatch each once if `all`, else 200 of them. */
static void scene_many(bool all)
{
    enum { FAMILIES = 200 };
    static struct family many[FAMILIES];
    unsigned long launched = 0;
    if (!open_runtime())
        die("no GPU");
    for (unsigned i = 0; i < FAMILIES; i++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "m%03u", i);
        load_family(&many[i], prefix);
    }
    hsa_queue_t *queue = open_queue(4096);
    for (unsigned i = 0; i < FAMILIES; i++) {
        for (unsigned k = 0; k < (all ? FAMILY : 1u); k++, launched++)
            launch(queue, many[i].object[k]);
        drain(queue);
    }
    printf("total %lu\n", launched);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Kernels on the application's own signal, which must get their times. */
static void scene_own(void)
{
    hsa_signal_t own;
    setup();
    hsa_queue_t *queue = open_queue(1024);
    must(hsa_signal_create(0, 0, NULL, &own), "signal");
    for (int i = 0; i < 300; i++) {
        hsa_signal_store_relaxed(own, 1);
        launch_packet(queue, fast.object[7], own, BARRIER_BIT, true);
        while (hsa_signal_wait_scacquire(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
        hsa_amd_profiling_dispatch_time_t time = {0, 0};
        must(hsa_amd_profiling_get_dispatch_time(gpu_agent, own, &time), "time");
        if (time.end <= time.start)
            die("the application's own signal has no times");
        launch(queue, fast.object[8]);
    }
    drain(queue);
    print_launched("fast", 8, 300);
    puts("signalled fast07 300");
    hold();
    must(hsa_signal_destroy(own), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Start and stop the runtime several times in one process. */
static void scene_again(void)
{
    for (int i = 0; i < 3; i++) {
        setup();
        hsa_queue_t *queue = open_queue(1024);
        for (int j = 0; j < 100; j++)
            launch(queue, fast.object[j % 4]);
        drain(queue);
        if (i == 2)
            break;
        if (i == 0) /* first shut down properly, then with a queue left behind */
            must(hsa_queue_destroy(queue), "destroy");
        must(hsa_shut_down(), "shut down");
    }
    for (unsigned i = 0; i < 4; i++)
        print_launched("fast", i, 75);
    hold();
    must(hsa_shut_down(), "shut down");
}

/* Two parts of the program start the runtime, and one of them shuts it down. */
static void scene_opened_twice(void)
{
    setup();
    must(hsa_init(), "init");
    must(hsa_shut_down(), "shut down");
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 100; i++)
        launch(queue, fast.object[0]);
    drain(queue);
    print_launched("fast", 0, 100);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Block the queue until the application sets the returned signal to 0. */
static hsa_signal_t shut_gate(hsa_queue_t *queue)
{
    uint64_t index;
    hsa_signal_t gate;
    must(hsa_signal_create(1, 0, NULL, &gate), "signal");
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->dep_signal[0] = gate;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
    return gate;
}

static long long boot_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (long long)t.tv_sec * 1000000000ll + t.tv_nsec;
}

/*
 * A thousand kernels of 100 us, queued behind a gate: the last waits for 100 ms. On another queue one more kernel,
 * which takes long if the script says so. Prints between which times each was submitted, on the clock of the software
 * GPU's truth.
 */
static void scene_line(void)
{
    static long long at[1001][2];
    setup();
    hsa_queue_t *queue = open_queue(4096), *single = open_queue(64), *other = open_queue(64);
    hsa_signal_t gate = shut_gate(queue), gate_single = shut_gate(single);
    for (int i = 0; i < 1001; i++) {
        at[i][0] = boot_ns();
        launch(i < 1000 ? queue : single, fast.object[i < 1000 ? 99 : 98]);
        at[i][1] = boot_ns();
    }
    drain(other); /* the software GPU polls its queues in turn, so now it has seen all submissions */
    hsa_signal_store_screlease(gate_single, 0);
    hsa_signal_store_screlease(gate, 0);
    drain(queue);
    drain(single);
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_signal_destroy(gate_single), "destroy");
    for (int i = 0; i < 1001; i++)
        printf("submitted fast%d %lld %lld\n", i < 1000 ? 99 : 98, at[i][0], at[i][1]);
    print_launched("fast", 99, 1000);
    print_launched("fast", 98, 1);
    hold();
    must(hsa_queue_destroy(other), "destroy");
    must(hsa_queue_destroy(single), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/*
 * Launch-bound: the thread waits for each of 3000 short kernels before it submits the next. Now and then it submits one
 * on another queue, which the test's script makes as long as many of the others with the gaps between them.
 */
static void scene_gaps(void)
{
    setup();
    hsa_queue_t *queue = open_queue(64), *beside = open_queue(4096);
    for (int i = 0; i < 3000; i++) {
        if (i % 300 == 0)
            launch(beside, fast.object[2]);
        launch(queue, fast.object[1]);
        drain(queue);
    }
    drain(beside);
    print_launched("fast", 1, 3000);
    print_launched("fast", 2, 10);
    hold();
    must(hsa_queue_destroy(beside), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* A burst, then a trickle until standard input closes. */
static void *until_closed(void *data)
{
    while (getchar() != EOF)
        ;
    *(volatile bool *)data = true;
    return NULL;
}

static void scene_trickle(void)
{
    static volatile bool closed;
    unsigned long n = 0;
    pthread_t thread;
    setup();
    hsa_queue_t *queue = open_queue(4096);
    for (; n < 3000; n++)
        launch(queue, fast.object[99]);
    drain(queue);
    puts("holding");
    fflush(stdout);
    pthread_create(&thread, NULL, until_closed, (void *)(uintptr_t)&closed);
    for (; !closed; n++) {
        launch(queue, fast.object[99]);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* A thread with the smallest possible stack. */
static void *small_feed(void *data)
{
    hsa_queue_t *queue = data;
    for (int i = 0; i < 1000; i++)
        launch(queue, fast.object[i % 10]);
    return NULL;
}

static void scene_small(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    setup();
    hsa_queue_t *queue = open_queue(4096);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 16384);
    if (pthread_create(&thread, &attributes, small_feed, queue) != 0)
        die("no thread");
    pthread_join(thread, NULL);
    drain(queue);
    for (unsigned i = 0; i < 10; i++)
        print_launched("fast", i, 100);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Many threads with one queue each. */
static void *feed_queue(void *data)
{
    unsigned id = (unsigned)(uintptr_t)data;
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 2000; i++) {
        launch(queue, fast.object[(id + (unsigned)i) % 20]);
        if (i % 256 == 255)
            drain(queue);
    }
    drain(queue);
    must(hsa_queue_destroy(queue), "destroy");
    return NULL;
}

static void scene_threads(void)
{
    pthread_t thread[16];
    setup();
    for (uintptr_t i = 0; i < 16; i++)
        pthread_create(&thread[i], NULL, feed_queue, (void *)i);
    for (int i = 0; i < 16; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < 20; i++)
        print_launched("fast", i, 1600);
    hold();
    must(hsa_shut_down(), "shut down");
}

/* A forked child that does not exec must neither count in its parent's segment nor hang. */
static void scene_fork(void)
{
    int status = 0;
    setup();
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 100; i++)
        launch(queue, fast.object[0]);
    drain(queue);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            exit(7); /* runs the atexit handlers */
        waitpid(grandchild, &status, 0);
        exit(WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 5 : 6);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
        die("the child ended wrongly");
    for (int i = 0; i < 100; i++)
        launch(queue, fast.object[0]);
    drain(queue);
    print_launched("fast", 0, 200);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* End the process in the given way, with work in flight. */
static void scene_end(const char *how)
{
    setup();
    hsa_queue_t *queue = open_queue(1024), *other = open_queue(1024);
    launch(other, slow.object[0]);
    for (int i = 0; i < 500; i++)
        launch(queue, fast.object[i % 5]);
    hold();
    ending();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "return") == 0)
        return;
    if (strcmp(how, "shutdown") == 0) {
        must(hsa_shut_down(), "shut down");
        return;
    }
    if (strcmp(how, "exec") == 0) {
        execl("/bin/echo", "echo", "exec'd", (char *)NULL);
        die("exec");
    }
    raise(strcmp(how, "kill") == 0 ? SIGKILL : SIGTERM);
}

/*
 * Threads outrun the GPU on a queue that they share. With any other tool an assertion in ROCr before 6.0 stops such a
 * program.
 */
static void *pour(void *data)
{
    for (int i = 0; i < 10000; i++)
        launch(data, fast.object[1 + i % 10]);
    return NULL;
}

static void scene_flood(void)
{
    pthread_t thread[3];
    setup();
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, pour, queue);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    drain(queue);
    for (unsigned i = 1; i <= 10; i++)
        print_launched("fast", i, 3000);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* The GPU waits at a gate while the application fills the queue. */
static void scene_gate(void)
{
    setup();
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t gate = shut_gate(queue);
    for (int i = 0; i < 1000; i++)
        launch(queue, fast.object[1 + i % 10]);
    hsa_signal_store_screlease(gate, 0);
    drain(queue);
    for (unsigned i = 1; i <= 10; i++)
        print_launched("fast", i, 100);
    hold();
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* Threads that continue to dispatch while the process ends. */
static void *rage_at_end(void *data)
{
    hsa_queue_t *queue = open_queue(4096);
    (void)data;
    for (unsigned long i = 0;; i++) {
        launch(queue, fast.object[i % 10]);
        if (i % 256 == 255)
            drain(queue);
    }
    return NULL;
}

static void scene_storm(const char *how)
{
    pthread_t thread[3];
    setup();
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, rage_at_end, NULL);
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    hold();
    ending();
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    _exit(3);
}

/* Use the runtime only if there is a GPU; the test checks the output and the exit. */
static void scene_any(void)
{
    errno = 0;
    if (!open_runtime()) {
        puts("no GPU");
        hold();
        must(hsa_shut_down(), "shut down");
        return;
    }
    load_family(&fast, "fast");
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 1000; i++)
        launch(queue, fast.object[i % 10]);
    drain(queue);
    for (unsigned i = 0; i < 10; i++)
        print_launched("fast", i, 100);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*play)(void);
    } scenes[] = {{"slow", scene_slow},       {"overtake", scene_overtake},
                  {"queues", scene_queues},   {"crowd", scene_crowd},
                  {"reuse", scene_reuse},     {"own", scene_own},
                  {"again", scene_again},     {"opened-twice", scene_opened_twice},
                  {"fork", scene_fork},       {"threads", scene_threads},
                  {"any", scene_any},         {"line", scene_line},
                  {"gaps", scene_gaps},       {"small", scene_small},
                  {"trickle", scene_trickle}, {"flood", scene_flood},
                  {"gate", scene_gate}};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (strcmp(scene, scenes[i].name) == 0) {
            scenes[i].play();
            return 0;
        }
    }
    if (strcmp(scene, "many") == 0 || strcmp(scene, "all") == 0)
        scene_many(strcmp(scene, "all") == 0);
    else if (strcmp(scene, "end") == 0 && argc > 2)
        scene_end(argv[2]);
    else if (strcmp(scene, "storm") == 0 && argc > 2)
        scene_storm(argv[2]);
    else
        die("no such scene");
    return 0;
}
