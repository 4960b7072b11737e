/*
 * segment_demo.c - a process with a live segment but without a GPU, only for developing the viewer's screen.
 *
 * The numbers are made up: names like real software's, durations that change over time, queues, signals, untimed
 * dispatches. No interception takes place, so no end-to-end test of the product may use it in place of a program on the
 * (software) GPU.
 */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/segment_writer.h"
#include "stats/recorder.h"

enum { TICK_MS = 10, QUEUES_A_GPU = 3, GPUS_MAX = 8 };

static const char *const real_names[] = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_CLR0_CADS0_"
    "DTLA0_DTLB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMB_ISA942_IU1_K1_LBSPPA128_LBSPPB128_MIWT8_8_WG32_8_1_WGM8",
    "_ZN4vllm39paged_attention_ll4mi_QKV_mfma16_kernelI14__hip_bfloat16S1_LNS_18Fp8KVCacheDataTypeE0ES1_"
    "Li16ELi128ELi256E"
    "Lb0ELi5EEEvPKT_PKT0_S8_ifPKiSA_SA_iPKfiiiPfSD_PS3_iSC_SC_",
    "_ZN4vllm25fused_add_rms_norm_kernelIN3c108BFloat16ELi8EEENSt9enable_ifIXaagtT0_Li0Esr12_typeConvertIT_EE6existsEvE"
    "4typeEPS4_S7_PKS4_fii",
    "_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EELb1EEEvPS3_PS4_i",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    "_ZN4vllm30reshape_and_cache_flash_kernelI14__hip_bfloat16hLNS_18Fp8KVCacheDataTypeE1EEEvPKT_S5_PT0_S7_"
    "PKlllliiiPKfSB_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
    "T1_",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_14func_wrapper_tIfZNS0_11sum_functorIS4_"
    "ffE"
    "clERNS_14TensorIteratorEEUlffE_EEjS4_Li4EEEEEvT1_",
    "_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE",
    "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE",
    "triton_poi_fused_add_mul_silu_3",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5",
    "triton_per_fused_softmax_17d18e",
    "_fwd_kernel_flash_attn_varlen_bf16_128x64",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_K1_GSU4_WG64_4_1",
    "__amd_rocclr_copyBuffer",
    "__amd_rocclr_fillBufferAligned",
};
enum { REAL_NAMES = sizeof real_names / sizeof *real_names };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static double random_unit(void)
{
    return ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(void)
{
    return sqrt(-2 * log(random_unit())) * cos(2 * acos(-1.0) * random_unit());
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Only this thread writes the counters, so a plain addition and a relaxed store suffice. */
static void add_relaxed(uint64_t *shared, uint64_t n)
{
    __atomic_store_n(shared, *shared + n, __ATOMIC_RELAXED);
}

static void make_name(char *name, size_t bytes, int i)
{
    if (i < REAL_NAMES)
        snprintf(name, bytes, "%s", real_names[i]);
    else if (i % 3 == 0)
        snprintf(name, bytes, "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT%dx%dx%d_MI16x16x1_SN_K1_ISA942_WG32_%d_1",
                 16 << i % 5, 16 << i % 4, 32 << i % 3, i);
    else if (i % 3 == 1)
        snprintf(
            name, bytes,
            "_ZN2at6native29vectorized_elementwise_kernelILi%dENS0_15CUDAFunctor_addIfEESt5arrayIPcLm%dEEEEviT0_T1_",
            4 + i % 4 * 4, i);
    else
        snprintf(name, bytes, "triton_poi_fused_add_mul_%d", i);
}

/* Duration in ns of kernel i at time t (s): a lognormal with a drifting median; every fifth kernel sometimes has a
 * tail. */
static uint64_t duration(int i, double t)
{
    double median = 3000.0 * pow(1.9, (double)(i * 7 % 11)) * (1 + 0.4 * sin(t / 15 + i));
    double ns = median * exp(0.12 * random_normal());
    if (i % 5 == 1 && sin(t / 40 + i) > 0 && random_unit() < 0.03)
        ns *= 20 + 20 * random_unit();
    return (uint64_t)ns;
}

static void make_queue(struct rtl_segment *s, uint32_t slot, uint32_t agent)
{
    struct rtl_queue *q = &s->queues[slot];
    q->agent = agent;
    q->queue_id = slot + 1;
    q->size_packets = 16384;
    q->path = slot == 1 ? RTL_QUEUE_PATH_WORD(RTL_PATH_DEMOTED, RTL_REASON_INDEX_MOVED)
                        : RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_DEFAULT);
    q->live = 1;
    q->created_mono_ns = now_ns();
    __atomic_store_n(&q->generation, 2, __ATOMIC_RELEASE);
}

static void make_agent(struct rtl_segment *s, uint32_t agent)
{
    struct rtl_agent *a = &s->agents[agent];
    a->gpu = agent;
    a->tick_hz = 100000000;
    a->bdf = (agent + 3) << 8;
    a->compute_units = 304;
    snprintf(a->name, sizeof a->name, "gfx942");
    __atomic_store_n(&a->state, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&s->header->agent_count, 1, __ATOMIC_RELAXED);
}

/* One dispatch of row `kernel` (number i of this program) on a queue. */
static void record_dispatch(struct rtl_segment *s, struct rtl_recorder *r, uint32_t kernel, int i, uint32_t slot,
                            double t)
{
    struct rtl_queue *q = &s->queues[slot];
    struct rtl_dispatches *d = &s->dispatches[(size_t)slot * RTL_KERNELS_MAX + kernel];
    uint64_t ns = duration(i, t);
    add_relaxed(&d->calls, 1);
    d->grid[0] = (uint32_t)(i % 64 + 1) * 2048;
    d->grid[1] = (uint32_t)(i % 8 + 1);
    d->grid[2] = 1;
    d->workgroup[0] = 256;
    d->workgroup[1] = d->workgroup[2] = 1;
    d->lds_bytes = (uint32_t)(i % 5) * 8192;
    add_relaxed(&q->packets, 1);
    add_relaxed(&q->dispatches, 1);
    if (i == 8 || i == 9) { /* collectives carry the application's signals */
        add_relaxed(&d->untimed, 1);
        add_relaxed(&q->untimed[RTL_UNTIMED_OWN_SIGNAL], 1);
        return;
    }
    add_relaxed(&q->injected, 1);
    if (random_unit() < 0.0005) {
        add_relaxed(&q->untimed[RTL_UNTIMED_BAD_TIME], 1);
        rtl_recorder_untimed(r, RTL_HISTOGRAM_KERNEL(kernel));
    } else {
        rtl_recorder_record(r, RTL_HISTOGRAM_KERNEL(kernel), ns);
        rtl_recorder_record(r, RTL_HISTOGRAM_WAIT(slot), (uint64_t)(4000 * exp(0.5 * random_normal())));
        rtl_recorder_record(r, RTL_HISTOGRAM_GAP(slot), (uint64_t)(900 * exp(0.8 * random_normal())));
    }
}

static void record_copy(struct rtl_segment *s, struct rtl_recorder *r, uint32_t gpu, enum rtl_direction direction,
                        uint64_t bytes, uint64_t ns)
{
    struct rtl_copies *line = &s->copies[RTL_COPIES_OF(gpu, direction)];
    add_relaxed(&line->bytes, bytes);
    add_relaxed(&line->count, 1);
    if (line->count % 50 == 7) {
        add_relaxed(&line->untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL], 1);
        return;
    }
    rtl_recorder_record(r, RTL_HISTOGRAM_COPIES(RTL_COPIES_OF(gpu, direction)), ns);
    add_relaxed(&line->timed_bytes, bytes);
}

/* A server's copies in one tick: prompts in, tokens out, blocks to the next GPU. */
static void record_copies(struct rtl_segment *s, struct rtl_recorder *r, uint32_t gpus, double t)
{
    for (uint32_t g = 0; g < gpus; g++) {
        uint64_t bytes = (uint64_t)((2 + sin(t)) * (1 << 20));
        record_copy(s, r, g, RTL_COPY_H2D, bytes, 1000 + bytes / 25);
        record_copy(s, r, g, RTL_COPY_D2H, 4096, 1160);
        if (g)
            record_copy(s, r, g, RTL_COPY_P2P, 4 * bytes, 2000 + 4 * bytes / 45);
    }
}

/* Completed = injected, minus the few in flight. */
static void complete_queues(struct rtl_segment *s, uint32_t queues, uint32_t gpus, double t, int late)
{
    for (uint32_t slot = 0; slot < queues; slot++) {
        struct rtl_queue *q = &s->queues[slot];
        uint64_t in_flight = (uint64_t)(random_unit() * (slot == 1 ? 40 : 6));
        uint64_t completed = q->injected > in_flight ? q->injected - in_flight : 0;
        if (completed > q->completed)
            __atomic_store_n(&q->completed, completed, __ATOMIC_RELEASE);
        __atomic_store_n(&q->last_end_mono_ns, now_ns(), __ATOMIC_RELAXED);
    }
    for (uint32_t g = 0; g < gpus; g++) {
        uint64_t busy = (uint64_t)(TICK_MS * 1e6 * (late ? 0.5 : 0.8 + 0.15 * sin(t / 7 + g)));
        add_relaxed(&s->agents[g].busy_ns, busy);
        /* `late`: every kernel finds its queue empty, so a gap precedes each of a hundred kernels. */
        add_relaxed(&s->agents[g].idle[1].count, late ? 100 : 0);
        add_relaxed(&s->agents[g].idle[1].total_ns, late ? TICK_MS * 1000000ull - busy : 0);
    }
    __atomic_store_n(&s->header->heartbeat_mono_ns, now_ns(), __ATOMIC_RELAXED);
    add_relaxed(&s->header->passes, 1);
    add_relaxed(&s->header->worker_cpu_ns, 150000);
}

static int usage(FILE *to, int status)
{
    fputs(
        "usage: segment_demo [--kernels N] [--gpus N] [--rate DISPATCHES_A_SECOND] [--seconds S] [--unload] [--late]\n"
        "A live segment with invented numbers, for developing the viewer. --unload: ends as an unloaded library.\n"
        "--late: its GPUs are idle for half of the time, because the host is late.\n",
        to);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"kernels", required_argument, NULL, 'k'}, {"gpus", required_argument, NULL, 'g'},
        {"rate", required_argument, NULL, 'r'},    {"seconds", required_argument, NULL, 's'},
        {"unload", no_argument, NULL, 'u'},        {"late", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int kernels = 40, gpus = 2, unload = 0, late = 0;
    double rate = 50000, seconds = 0;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;)
        switch (c) {
        case 'k':
            kernels = atoi(optarg);
            break;
        case 'g':
            gpus = atoi(optarg);
            break;
        case 'r':
            rate = atof(optarg);
            break;
        case 's':
            seconds = atof(optarg);
            break;
        case 'u':
            unload = 1;
            break;
        case 'l':
            late = 1;
            break;
        case 'h':
            return usage(stdout, 0);
        default:
            return usage(stderr, 1);
        }
    if (kernels < 1 || gpus < 1 || gpus > GPUS_MAX || rate <= 0)
        return usage(stderr, 1);

    struct rtl_segment s;
    struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT,
                                        .runtime_major = 1,
                                        .runtime_minor = 1,
                                        .signals_limit = 4096,
                                        .library_version = "demo"};
    char why[300];
    if (rtl_segment_create(&s, &config, why, sizeof why) != 0) {
        fprintf(stderr, "segment_demo: %s\n", why);
        return 1;
    }
    struct rtl_recorder *recorder = rtl_recorder_create(&s);
    uint32_t *rows = calloc((size_t)kernels, sizeof *rows), queues = (uint32_t)gpus * QUEUES_A_GPU;
    if (!recorder || !rows)
        return 1;
    for (uint32_t g = 0; g < (uint32_t)gpus; g++)
        make_agent(&s, g);
    for (uint32_t q = 0; q < queues; q++)
        make_queue(&s, q, q % (uint32_t)gpus);
    for (int i = 0; i < kernels; i++) {
        char name[512];
        make_name(name, sizeof name, i);
        rows[i] = rtl_segment_add_kernel(&s, name, (uint32_t)strlen(name), 0x7f0000000000ull + (uint64_t)i * 64);
    }
    s.header->signals_created = 192;
    s.header->signals_peak = 131;
    rtl_recorder_prepare(recorder);
    rtl_segment_set_state(&s, RTL_STATE_LIVE);
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    printf("%d\n", (int)getpid());
    fflush(stdout);

    uint64_t begin = now_ns();
    for (int i = 0; i < kernels; i++) /* every kernel appears from the first frame on */
        record_dispatch(&s, recorder, rows[i], i, (uint32_t)i % queues, 0);
    for (double done = 0; !stop;) {
        double t = (double)(now_ns() - begin) / 1e9;
        for (; done < rate * t; done++) {
            /* Early rows are called most often, as in a real model. */
            int i = (int)(pow(random_unit(), 3) * kernels);
            record_dispatch(&s, recorder, rows[i], i, (uint32_t)(random_bits() % queues), t);
        }
        complete_queues(&s, queues, (uint32_t)gpus, t, late);
        record_copies(&s, recorder, (uint32_t)gpus, t);
        rtl_recorder_prepare(recorder);
        if (seconds > 0 && t >= seconds)
            break;
        nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000}, NULL);
    }
    for (uint32_t q = 0; q < queues; q++)
        s.queues[q].completed = s.queues[q].injected;
    if (unload) {
        rtl_segment_set_state(&s, RTL_STATE_UNLOADED);
        while (!stop)
            pause();
    }
    return 0;
}
