/* time_cases.c - self-tests of simulated time: exact durations, overlap, order, clocks, throughput. */
#include "cases.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Run n kernels one after the other, wait for each, and print its ticks. */
static void run_and_print(const char *name, int n)
{
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, name), last = 0;
    hsa_queue_t *q = make_queue(&h, 0, 1024, true);
    for (int i = 0; i < n; i++) {
        hsa_signal_t s = signal_new(1);
        dispatch(q, k, s, true);
        wait_zero(s);
        uint64_t start = raw(s)->start_ts, end = raw(s)->end_ts;
        REQUIRE(start >= last && end >= start);
        printf("%llu\n", (unsigned long long)(end - start));
        last = end;
        CHECK(hsa_signal_destroy(s));
    }
    CHECK(hsa_queue_destroy(q));
    CHECK(hsa_executable_destroy(e));
}

void case_basic(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    run_and_print("vg_short", 100);
}

void case_draw(int argc, char **argv)
{
    run_and_print("vg_random", argc > 0 ? atoi(argv[0]) : 200);
}

/* Return when the GPU has seen all earlier submissions. The engine polls the queues in turn: when it has seen a kernel
 * on one more queue and completed it in a later turn, it has polled every queue. */
static void heard(hsa_executable_t e)
{
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    hsa_signal_t s = signal_new(1);
    dispatch(q, kernel_object(e, &h, 0, "vg_short"), s, true);
    wait_zero(s);
    CHECK(hsa_signal_destroy(s));
    CHECK(hsa_queue_destroy(q));
}

enum { N = 16 };

/* Submit behind a closed gate, so that all are queued before the first begins, even on a slow host. */
static void submit_many(hsa_signal_t s[N], bool barrier)
{
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_long");
    hsa_queue_t *q = make_queue(&h, 0, 1024, true);
    hsa_signal_t gate = signal_new(1);
    for (int i = 0; i < N; i++)
        s[i] = signal_new(1);
    barrier_and(q, &gate, 1, (hsa_signal_t){0}, true);
    for (int i = 0; i < N; i++)
        dispatch(q, k, s[i], barrier);
    heard(e);
    hsa_signal_store_screlease(gate, 0);
    for (int i = 0; i < N; i++)
        wait_zero(s[i]);
    CHECK(hsa_queue_destroy(q));
    CHECK(hsa_executable_destroy(e));
}

/* Without the barrier bit kernels overlap. */
void case_overlap(int argc, char **argv)
{
    hsa_signal_t s[N];
    (void)argc;
    (void)argv;
    submit_many(s, false);
    for (int i = 1; i < N; i++) {
        REQUIRE(raw(s[i])->start_ts >= raw(s[i - 1])->start_ts);
        REQUIRE(raw(s[i])->start_ts < raw(s[0])->end_ts);
    }
}

/* With the barrier bit each kernel begins where the one before ended, to the tick. */
void case_chain(int argc, char **argv)
{
    hsa_signal_t s[N];
    (void)argc;
    (void)argv;
    submit_many(s, true);
    for (int i = 1; i < N; i++)
        REQUIRE(raw(s[i])->start_ts == raw(s[i - 1])->end_ts);
}

/* When a signal has completed, its slot and all slots before it have been released. */
void case_slots(int argc, char **argv)
{
    int rounds = argc > 0 ? atoi(argv[0]) : 1000;
    enum { BURST = 256 };
    static hsa_signal_t done[BURST];
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_none");
    hsa_queue_t *q = make_queue(&h, 0, 1024, true);
    for (int i = 0; i < BURST; i++)
        CHECK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &done[i]));
    for (int round = 0; round < rounds; round++) {
        hsa_signal_t gate = signal_new(1);
        uint64_t first = barrier_and(q, &gate, 1, (hsa_signal_t){0}, true) + 1;
        for (int i = 0; i < BURST; i++) {
            hsa_signal_store_relaxed(done[i], 1);
            dispatch(q, k, done[i], false);
        }
        hsa_signal_store_screlease(gate, 0);
        for (unsigned i = 0; i < BURST; i++) {
            for (unsigned long looks = 0; hsa_signal_load_scacquire(done[i]) != 0; looks++)
                if (looks > 10000)
                    sched_yield(); /* needed on a single core */
            REQUIRE(hsa_queue_load_read_index_scacquire(q) > first + i);
        }
        CHECK(hsa_signal_destroy(gate));
    }
    for (int i = 0; i < BURST; i++)
        CHECK(hsa_signal_destroy(done[i]));
    CHECK(hsa_queue_destroy(q));
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Print when the read index moves: "early" if mostly in the first half of the time until the signal completes. The
 * kernel takes longer than a busy machine delays this thread.
 */
void case_read_index(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_executable_t e = load_code(&h, 0, code_file);
    enum { ROUNDS = 9 };
    uint64_t k = kernel_object(e, &h, 0, "vg_slow");
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    int early = 0;
    for (int i = 0; i < ROUNDS; i++) {
        hsa_signal_t s = signal_new(1);
        uint64_t from = now_ns(), mine = dispatch(q, k, s, true), moved = 0;
        while (hsa_signal_load_scacquire(s) != 0) {
            if (!moved && hsa_queue_load_read_index_scacquire(q) > mine)
                moved = now_ns();
            sched_yield();
        }
        early += moved && moved - from < (now_ns() - from) / 2;
        REQUIRE(hsa_queue_load_read_index_scacquire(q) > mine);
        CHECK(hsa_signal_destroy(s));
    }
    CHECK(hsa_queue_destroy(q));
    puts(early > ROUNDS / 2 ? "early" : "late");
}

/* The engine notices every store to the doorbell, even one that repeats the index. */
void case_same_bell(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    hsa_signal_t s = signal_new(1);
    uint64_t first = barrier_unrung(q, s);
    hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)first);
    wait_zero(s);
    for (int i = 0; i < 100; i++) {
        hsa_signal_store_relaxed(s, 1);
        barrier_unrung(q, s);
        hsa_signal_store_screlease(q->doorbell_signal, (hsa_signal_value_t)first);
        wait_zero(s);
    }
    CHECK(hsa_signal_destroy(s));
    CHECK(hsa_queue_destroy(q));
}

/* Barriers end together with the signals that they wait for, to the tick, across queues. */
void case_deps(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t slow = kernel_object(e, &h, 0, "vg_long"), quick = kernel_object(e, &h, 0, "vg_other");
    hsa_queue_t *q[3];
    for (int i = 0; i < 3; i++)
        q[i] = make_queue(&h, 0, 1024, true);
    hsa_signal_t a = signal_new(1), b = signal_new(1), all = signal_new(1), any = signal_new(1), value = signal_new(1);
    hsa_signal_t after = signal_new(1), gate = signal_new(1), host = signal_new(1), deps[2] = {a, b};
    /* Kernel after barrier on another queue: submit the barriers before the kernels that they wait for. */
    barrier_and(q[2], deps, 2, all, true);
    hsa_barrier_or_packet_t either = {.dep_signal = {a, b}, .completion_signal = any};
    submit(q[1], &either, HSA_PACKET_TYPE_BARRIER_OR | 1 << HSA_PACKET_HEADER_BARRIER);
    dispatch(q[2], quick, after, true);
    hsa_queue_t *work[2] = {make_queue(&h, 0, 1024, true), make_queue(&h, 0, 1024, true)};
    hsa_signal_t both = signal_new(1); /* the slow and the quick kernel begin together */
    for (int i = 0; i < 2; i++)
        barrier_and(work[i], &both, 1, (hsa_signal_t){0}, true);
    dispatch(work[0], slow, a, true);
    dispatch(work[1], quick, b, true);
    heard(e);
    hsa_signal_store_screlease(both, 0);
    wait_zero(all);
    wait_zero(any);
    wait_zero(after);
    REQUIRE(raw(all)->end_ts == raw(a)->end_ts);
    REQUIRE(raw(b)->end_ts < raw(a)->end_ts);
    REQUIRE(raw(any)->end_ts == raw(b)->end_ts);
    REQUIRE(raw(after)->start_ts == raw(all)->end_ts);
    /* AMD's barrier-value: waits until (signal & mask) >= value. */
    hsa_amd_barrier_value_packet_t v = {
        .signal = gate, .value = 5, .mask = 0xff, .cond = HSA_SIGNAL_CONDITION_GTE, .completion_signal = value};
    v.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    submit(q[0], &v, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << HSA_PACKET_HEADER_BARRIER);
    hsa_signal_store_screlease(gate, 0x104);
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    REQUIRE(hsa_signal_load_scacquire(value) == 1);
    hsa_signal_store_screlease(gate, 0x205);
    wait_zero(value);
    /* A signal that the host completes. */
    barrier_and(q[0], &host, 1, a, true);
    hsa_signal_store_relaxed(a, 1);
    nanosleep(&pause, NULL);
    REQUIRE(hsa_signal_load_scacquire(a) == 1);
    hsa_signal_store_screlease(host, 0);
    wait_zero(a);
}

/* The GPU writes timestamps only for queues that ask for them. */
void case_no_profile(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_short");
    hsa_queue_t *q = make_queue(&h, 0, 64, false);
    hsa_signal_t s = signal_new(1);
    dispatch(q, k, s, true);
    wait_zero(s);
    REQUIRE(raw(s)->start_ts == 0 && raw(s)->end_ts == 0);
    CHECK(hsa_amd_profiling_set_profiler_enabled(q, 1));
    hsa_signal_store_relaxed(s, 1);
    dispatch(q, k, s, true);
    wait_zero(s);
    REQUIRE(raw(s)->start_ts != 0 && raw(s)->end_ts >= raw(s)->start_ts);
}

/* A kernel's times in the system domain lie between the host's times around it. */
void case_clock(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_long"), freq;
    CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &freq));
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    hsa_signal_t s = signal_new(1);
    for (int i = 0; i < 20; i++) {
        uint64_t t0, t1;
        hsa_signal_store_relaxed(s, 1);
        CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t0));
        dispatch(q, k, s, true);
        wait_zero(s);
        CHECK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t1));
        hsa_amd_profiling_dispatch_time_t t = times(&h, 0, s);
        /* The runtime converts by a line through two readings, so only rounding errors occur. */
        uint64_t slack = freq / 5000000;
        REQUIRE(t.start + slack >= t0 && t.end <= t1 + slack);
    }
}

/* N dispatches, each with its own signal from a pool that is reused in order. */
void case_throughput(int argc, char **argv)
{
    long n = argc > 0 ? atol(argv[0]) : 1000000;
    enum { POOL = 4096 };
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_short");
    hsa_queue_t *q = make_queue(&h, 0, 4096, true);
    static hsa_signal_t pool[POOL];
    for (int i = 0; i < POOL; i++)
        CHECK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &pool[i]));
    hsa_kernel_dispatch_packet_t p = {
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 64,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = k,
    };
    uint32_t head = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1u << 16;
    double t0 = seconds();
    uint64_t room = 0;
    for (long i = 0; i < n; i++) {
        hsa_signal_t s = pool[i % POOL];
        if (i >= POOL) {
            while (hsa_signal_load_scacquire(s) != 0)
                ;
            hsa_signal_store_relaxed(s, 1);
        }
        uint64_t at = hsa_queue_add_write_index_relaxed(q, 1);
        while (at - room >= q->size)
            room = hsa_queue_load_read_index_scacquire(q);
        char *slot = (char *)q->base_address + (at & (q->size - 1)) * 64;
        p.completion_signal = s;
        memcpy(slot + 4, (char *)&p + 4, 60);
        __atomic_store_n((uint32_t *)(void *)slot, head, __ATOMIC_RELEASE);
        hsa_signal_store_relaxed(q->doorbell_signal, (hsa_signal_value_t)at);
    }
    for (int i = 0; i < POOL && i < n; i++)
        while (hsa_signal_load_scacquire(pool[i]) != 0)
            ;
    double t = seconds() - t0;
    printf("%ld dispatches in %.3f s: %.2f M/s\n", n, t, (double)n / t / 1e6);
    for (int i = 0; i < POOL; i++)
        CHECK(hsa_signal_destroy(pool[i]));
    CHECK(hsa_queue_destroy(q));
}
