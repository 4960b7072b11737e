/*
 * Measure the cost of the viewer with many kernels and many processes: the first frame, a frame each second, a key.
 *
 * The processes are segments of this program. The library's code writes them; rtl-top's code reads, merges and draws
 * them. Times are CPU time of this one thread. Usage: scale [processes kernels [changing calls]]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/merge.h"
#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "stats/recorder.h"
#include "text/units.h"
#include "tui/draw_views.h"
#include "tui/ui_state.h"

enum { PROCESSES_MAX = 64, GPUS = 16, QUEUES = 3, FRAMES = 30 };

static struct rtl_segment segments[PROCESSES_MAX];
static struct rtl_recorder *recorders[PROCESSES_MAX];
static struct rtl_reader *readers[PROCESSES_MAX];
static uint32_t processes, kernels;
static struct rtl_merge *merge;
static struct rtl_ui ui;
static struct rtl_frame frame;
static uint64_t moment;

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Anonymous memory of this program in MB; excludes the segments, which are shared memory. */
static double resident_mb(void)
{
    char line[200];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb / 1024;
}

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "scale: %s\n", why);
    exit(1);
}

static void name_of(char *name, size_t size, uint32_t k)
{
    if (k % 3 == 0)
        snprintf(name, size, "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT%ux%ux%u_MI16x16x1_SN_K1_ISA942_WG32_%u_1",
                 16u << k % 5, 16u << k % 4, 32u << k % 3, k);
    else if (k % 3 == 1)
        snprintf(
            name, size,
            "_ZN2at6native29vectorized_elementwise_kernelILi%uENS0_15CUDAFunctor_addIfEESt5arrayIPcLm%uEEEEviT0_T1_",
            4 + k % 4 * 4, k);
    else
        snprintf(name, size, "triton_poi_fused_add_mul_%u", k);
}

static void dispatch(uint32_t p, uint32_t k, uint32_t slot, uint32_t times)
{
    struct rtl_segment *s = &segments[p];
    struct rtl_dispatches *d = &s->dispatches[(size_t)slot * RTL_KERNELS_MAX + k];
    for (uint32_t i = 0; i < times; i++) {
        rtl_recorder_record(recorders[p], RTL_HISTOGRAM_KERNEL(k), (2000u << k % 8) + random_bits() % 1000);
        rtl_recorder_record(recorders[p], RTL_HISTOGRAM_WAIT(slot), 3000 + random_bits() % 1000);
    }
    d->calls += times;
    d->grid[0] = 64;
    s->queues[slot].dispatches += times;
    s->queues[slot].packets += times;
    s->queues[slot].injected += times;
    s->queues[slot].completed += times;
    s->header->passes++;
}

static void make_process(uint32_t p)
{
    char why[300], name[300];
    struct rtl_segment *s = &segments[p];
    struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .signals_limit = 4096, .library_version = "bench"};
    if (rtl_segment_create(s, &config, why, sizeof why) != 0)
        give_up(why);
    recorders[p] = rtl_recorder_create(s);
    if (!recorders[p])
        give_up("no memory");
    struct rtl_agent *a = &s->agents[0];
    a->bdf = (p % GPUS + 3) << 8;
    a->tick_hz = 100000000;
    snprintf(a->name, sizeof a->name, "gfx942");
    a->state = 1;
    s->header->agent_count = 1;
    for (uint32_t q = 0; q < QUEUES; q++) {
        s->queues[q].queue_id = q + 1;
        s->queues[q].live = 1;
        s->queues[q].generation = 2;
    }
    for (uint32_t k = RTL_KERNEL_FIRST; k < kernels; k++) {
        name_of(name, sizeof name, k);
        rtl_segment_add_kernel(s, name, (uint32_t)strlen(name), 0x7f0000000000ull + k * 64ull);
    }
    for (uint32_t k = RTL_KERNEL_FIRST; k < kernels; k++) {
        if (k % 64 == 2)
            rtl_recorder_prepare(recorders[p]);
        dispatch(p, k, k % QUEUES, 1 + k % 7);
    }
    rtl_segment_set_state(s, RTL_STATE_LIVE);
}

/* Adds one second of work: the same few hundred kernels in each process, as for a model. */
static void work(uint32_t changing, uint32_t calls)
{
    for (uint32_t p = 0; p < processes; p++) {
        for (uint32_t i = 0; i < changing; i++)
            dispatch(p, RTL_KERNEL_FIRST + i * 37 % (kernels - RTL_KERNEL_FIRST), i % QUEUES, calls);
        segments[p].agents[0].busy_ns += RTL_SEC / 2;
        segments[p].header->heartbeat_mono_ns = moment + RTL_SEC / 2;
    }
}

static void draw(void)
{
    ui.now_mono_ns = moment;
    rtl_ui_scroll_into_view(&ui, 24, 80);
    if (!rtl_frame_reset(&frame, 24, 80, false))
        give_up("no memory");
    rtl_draw(&ui, &frame);
}

static void look(void)
{
    struct rtl_snapshot s, one;
    moment += RTL_SEC;
    if (processes == 1) {
        if (rtl_reader_snapshot(readers[0], &s) != RTL_READER_OK)
            give_up("no snapshot");
        s.taken_mono_ns = moment;
    } else {
        for (uint32_t p = 0; p < processes; p++) {
            if (rtl_reader_changes(readers[p], &one) != RTL_READER_OK)
                give_up("no snapshot");
            one.taken_mono_ns = moment;
            if (!rtl_merge_update(merge, p, &one))
                give_up("no memory");
            rtl_snapshot_free(&one);
        }
        if (!rtl_merge_make(merge, moment, &s))
            give_up("no memory");
    }
    if (!rtl_model_add(ui.model, &s, moment))
        give_up("no memory");
    draw();
}

static void press(const char *what, uint32_t key)
{
    double from = cpu_ms();
    rtl_ui_key(&ui, key);
    draw();
    printf(" %s %.1f", what, cpu_ms() - from);
}

static void scene(uint32_t p_count, uint32_t k_count, uint32_t changing, uint32_t calls)
{
    char why[300];
    processes = p_count;
    kernels = k_count;
    moment = 1000 * RTL_SEC;
    for (uint32_t p = 0; p < processes; p++)
        make_process(p);
    double before = resident_mb(), from = cpu_ms();
    merge = rtl_merge_create();
    rtl_ui_init(&ui, rtl_model_create(), 4711, "scale");
    for (uint32_t p = 0; p < processes; p++) {
        struct rtl_member_info info = {.pid = (pid_t)(4711 + p), .rank = (int)p};
        snprintf(info.label, sizeof info.label, "TP%u", p);
        if (rtl_reader_open_fd(segments[p].fd, &readers[p], why, sizeof why) != RTL_READER_OK)
            give_up(why);
        rtl_merge_join(merge, &info);
    }
    look();
    printf("%2u x %5u kernels, ms of CPU: first frame %.1f", processes, kernels, cpu_ms() - from);
    fflush(stdout);
    for (int i = 0; i < 15; i++) {
        work(changing, calls);
        look();
    }
    double most = 0, sum = 0;
    for (int i = 0; i < FRAMES; i++) {
        work(changing, calls);
        from = cpu_ms();
        look();
        double ms = cpu_ms() - from;
        sum += ms;
        most = ms > most ? ms : most;
    }
    printf(", a frame with %u changed %.1f (at most %.1f)", changing * processes, sum / FRAMES, most);
    printf("; %.0f MB", resident_mb() - before);
    double slice = 0;
    sum = 0;
    for (bool more = true; more;) {
        from = cpu_ms();
        more = rtl_model_prepare(ui.model, 200);
        double ms = cpu_ms() - from;
        sum += ms;
        slice = ms > slice ? ms : slice;
    }
    printf("\n     names while nothing happens %.1f, at most %.1f at a time; keys", sum, slice);
    press("Down", RTL_KEY_DOWN);
    press("P (sort)", 'P');
    press("g (families)", 'g');
    press("g", 'g');
    press("i (idle)", 'i');
    if (processes > 1)
        press("p (processes)", 'p');
    printf("\n");
    rtl_model_free(ui.model);
    rtl_merge_free(merge);
    rtl_frame_free(&frame);
    for (uint32_t p = 0; p < processes; p++) {
        rtl_reader_close(readers[p]); /* also closes the segment's descriptor */
        rtl_recorder_destroy(recorders[p]);
        munmap(segments[p].header, segments[p].size);
    }
}

int main(int argc, char **argv)
{
    if (argc > 4) {
        scene((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
        return 0;
    }
    static const struct {
        uint32_t processes, kernels;
    } scenes[] = {{1, 10000}, {8, 10000}, {64, RTL_KERNELS_MAX}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) { /* each with its own memory */
        fflush(stdout);
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            scene(scenes[i].processes, scenes[i].kernels, 300, 20);
            return 0;
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status)
            give_up("a scene failed");
    }
    return 0;
}
