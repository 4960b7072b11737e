/*
 * Copies through the library's hooks, on a stand-in runtime that can refuse, give wrong times, or delay a copy: each
 * reason for which a copy isn't timed, and many threads at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "runtime_fixture.h"

#include "intercept/base/hsa_clock.h"
#include "intercept/worker/mode.h"
#include "intercept/track/app_signals.h"

enum { THREADS = 4, EACH = 20000, HOST = 78 };

static _Atomic bool lies, refuses, fails;     /* gives wrong times; refuses to keep times; refuses to copy */
static _Atomic int switched_on, switched_off; /* number of calls */
static _Atomic bool waits;                    /* copies complete only when the test completes them */
static _Atomic bool untouched;                /* and leave their signal unchanged until then */

/* No two copies end at the same time. */
static uint64_t tick(void)
{
    static _Atomic uint64_t now = 1000000;
    return atomic_fetch_add(&now, 100000);
}

static void engine(hsa_signal_t signal, uint64_t ticks)
{
    uint64_t start = tick();
    struct record *record = (struct record *)(uintptr_t)signal.handle;
    __atomic_store_n(&record->copy_start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&record->copy_end, start + ticks, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&record->signal.value, 1, __ATOMIC_RELEASE);
}

/* A copy takes a tick for every ten bytes. */
static hsa_status_t runtime_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size,
                                 uint32_t n, const hsa_signal_t *after, hsa_signal_t signal)
{
    struct record *record = (struct record *)(uintptr_t)signal.handle;
    (void)to, (void)to_agent, (void)from, (void)from_agent, (void)n, (void)after;
    if (fails)
        return HSA_STATUS_ERROR;
    if (untouched)
        return HSA_STATUS_SUCCESS;
    if (!waits && size % 30 == 20) { /* a copy kernel */
        __atomic_store_n(&record->copy_start, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&record->copy_end, 0, __ATOMIC_RELAXED);
        uint64_t start = tick();
        __atomic_store_n(&record->signal.start_ts, start, __ATOMIC_RELEASE);
        __atomic_store_n(&record->signal.end_ts, start + size / 10, __ATOMIC_RELEASE);
        __atomic_fetch_sub(&record->signal.value, 1, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&record->copy_start, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&record->copy_end, 0, __ATOMIC_RELAXED);
        if (!waits)
            engine(signal, size / 10);
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t runtime_enable(bool on)
{
    atomic_fetch_add(on ? &switched_on : &switched_off, 1);
    return refuses ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

static hsa_status_t runtime_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    const struct record *record = (const struct record *)(uintptr_t)signal.handle;
    bool by_engine = __atomic_load_n(&record->copy_end, __ATOMIC_ACQUIRE) != 0;
    uint64_t start = by_engine ? __atomic_load_n(&record->copy_start, __ATOMIC_ACQUIRE)
                               : __atomic_load_n(&record->signal.start_ts, __ATOMIC_ACQUIRE);
    uint64_t end = by_engine ? __atomic_load_n(&record->copy_end, __ATOMIC_ACQUIRE)
                             : __atomic_load_n(&record->signal.end_ts, __ATOMIC_ACQUIRE);
    time->start = (start - (lies ? 500000 : 0)) * 10;
    time->end = end * 10;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t runtime_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                 const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset, const hsa_dim3_t *range,
                                 hsa_agent_t agent, hsa_amd_copy_direction_t direction, uint32_t n,
                                 const hsa_signal_t *after, hsa_signal_t signal)
{
    (void)to, (void)to_offset, (void)from, (void)from_offset, (void)direction;
    return runtime_copy(NULL, agent, NULL, agent, (size_t)range->x * range->y * range->z, n, after, signal);
}

static void load(void)
{
    memset(&root.more, 0, sizeof root.more);
    fill_tables();
    ext.slot[3] = (void *)runtime_enable;
    ext.slot[5] = (void *)runtime_time;
    ext.slot[15] = (void *)runtime_copy;
    ext.slot[40] = (void *)runtime_rect;
    lies = refuses = fails = waits = untouched = false;
    switched_on = switched_off = 0;
    assert_true(OnLoad(&root, 1, 0, NULL));
}

static struct rtl_copies *line_to(void)
{
    return &rtl_tool.segment.copies[RTL_COPIES_OF(0, RTL_COPY_H2D)];
}

static const struct rtl_histogram *times_to(void)
{
    return &rtl_tool.segment.histograms[RTL_HISTOGRAM_COPIES(RTL_COPIES_OF(0, RTL_COPY_H2D))];
}

static hsa_status_t to_gpu(size_t bytes, hsa_signal_t signal)
{
    hsa_status_t (*copy)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t, const hsa_signal_t *,
                         hsa_signal_t) = ext.slot[15];
    return copy(NULL, (hsa_agent_t){77}, NULL, (hsa_agent_t){HOST}, bytes, 0, NULL, signal);
}

static uint64_t over(void)
{
    uint64_t sum = __atomic_load_n(&times_to()->count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < RTL_COPY_UNTIMED_LIMIT; i++)
        sum += __atomic_load_n(&line_to()->untimed[i], __ATOMIC_ACQUIRE);
    return sum;
}

static void wait_over(void)
{
    uint64_t until = rtl_clock_now() + (uint64_t)patience() * 1000000;
    while (over() != AT(line_to()->count) && rtl_clock_now() < until)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(over(), AT(line_to()->count));
}

static void set(hsa_signal_t signal, int64_t value)
{
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELAXED);
}

/* Make `n` copies one after another; all but `timed` of them end with that reason. */
static void expect(int n, enum rtl_copy_reason why, uint64_t timed)
{
    uint64_t counted = AT(line_to()->count), before = AT(line_to()->untimed[why]), times = AT(times_to()->count);
    hsa_signal_t signal = app_signal(0);
    for (int i = 0; i < n; i++) {
        set(signal, 1);
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        if (i % 500 == 499) { /* the worker must not run out of stand-ins, even when it is delayed */
            app_signal_destroy(signal);
            wait_over();
            signal = app_signal(0);
        }
    }
    app_signal_destroy(signal);
    wait_over();
    assert_int_equal(AT(line_to()->count) - counted, n);
    assert_int_equal(AT(times_to()->count) - times, timed);
    assert_int_equal(AT(line_to()->untimed[why]) - before, (uint64_t)n - timed);
}

static void copies_are_timed_and_stay_so(void **state)
{
    (void)state;
    load();
    hsa_status_t (*enable)(bool) = ext.slot[3];
    assert_int_equal(enable(false), HSA_STATUS_SUCCESS); /* before the library does: the application's own request */
    assert_int_equal(switched_off, 1);
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    assert_int_equal(switched_on, 1);
    assert_int_equal(AT(times_to()->total_ns), 10 * 3000);
    assert_int_equal(AT(line_to()->timed_bytes), 10 * 3000);
    assert_int_equal(enable(false), HSA_STATUS_SUCCESS);
    assert_int_equal(switched_off, 1); /* not any more */
    assert_int_equal(enable(true), HSA_STATUS_SUCCESS);
    assert_int_equal(switched_on, 2);
    fails = true; /* a refused copy isn't counted, and its signal is free again */
    hsa_signal_t signal = app_signal(1);
    uint64_t counted = AT(line_to()->count);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_ERROR);
    assert_int_equal(AT(line_to()->count), counted);
    fails = false;
    app_signal_destroy(signal);
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    OnUnload();
}

static void wrong_times_of_the_runtime_are_not_trusted(void **state)
{
    (void)state;
    load();
    lies = true;
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 0);
    OnUnload();
    load();
    refuses = true;
    expect(10, RTL_COPY_UNTIMED_NOT_PROFILED, 0);
    OnUnload();
    load(); /* and trusted again after the next load */
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    OnUnload();
}

/* Wait until the worker has polled this many times. */
static void wait_rounds(uint64_t rounds)
{
    uint64_t until = AT(rtl_tool.segment.header->passes) + rounds;
    for (int i = 0; i < patience() && AT(rtl_tool.segment.header->passes) < until; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_true(AT(rtl_tool.segment.header->passes) >= until);
}

/* One wrong answer, and no later copy to verify it with. */
static void one_wrong_answer_does_not_keep_the_worker_awake(void **state)
{
    (void)state;
    load();
    uint64_t bad = AT(line_to()->untimed[RTL_COPY_UNTIMED_BAD_TIME]);
    hsa_signal_t signal = app_signal(1);
    lies = true;
    assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
    app_signal_destroy(signal);
    for (int i = 0; i < patience() && !(over() == AT(line_to()->count) && AT(rtl_tool.segment.header->parked)); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(over(), AT(line_to()->count));
    assert_int_equal(AT(rtl_tool.segment.header->parked), 1);
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_BAD_TIME]), bad + 1);

    /* the next copy waits on the same stand-in for as long; the copy after it proves it wrong */
    uint64_t timed = AT(times_to()->count);
    for (int again = 0; again < 4; again++) {
        uint64_t since = rtl_clock_now();
        lies = true;
        signal = app_signal(1);
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        app_signal_destroy(signal);
        wait_rounds(3);
        if (rtl_clock_now() - since > 500000000)
            continue; /* the machine is too busy for a result */
        assert_int_not_equal(over(), AT(line_to()->count));
        lies = false;
        signal = app_signal(1);
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        app_signal_destroy(signal);
        wait_over();
        assert_int_equal(AT(times_to()->count), timed + 2);
        break;
    }
    lies = false;
    wait_over();
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    OnUnload();
}

static void copies_in_flight_at_the_end_have_a_reason(void **state)
{
    enum { MANY = 4096 };
    static hsa_signal_t signal[MANY + 3];
    (void)state;
    load();
    expect(1, RTL_COPY_UNTIMED_BAD_TIME, 1);
    uint64_t before = AT(line_to()->untimed[RTL_COPY_UNTIMED_ABANDONED]);
    waits = true;
    for (int i = 0; i < MANY + 3; i++) {
        signal[i] = app_signal(1);
        assert_int_equal(to_gpu(3000, signal[i]), HSA_STATUS_SUCCESS);
    }
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_NO_ROOM]), 3);
    app_signal_destroy(signal[0]);
    set(signal[1], 2); /* two copies on one signal: their times can't be distinguished */
    assert_int_equal(to_gpu(3000, signal[1]), HSA_STATUS_SUCCESS);
    set(signal[2], 0); /* finished without times */
    engine(signal[3], 300);
    for (int i = 0;
         i < patience() && (AT(line_to()->untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL]) != 1 || AT(times_to()->count) < 2);
         i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    OnUnload();
    wait_over();
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_SIGNAL_GONE]), 1);
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_ABANDONED]) - before, MANY - 4);
    /* copies after the end are counted, and nothing else */
    assert_int_equal(to_gpu(3000, signal[9]), HSA_STATUS_SUCCESS);
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_SHUTDOWN]), 1);
    wait_over();
    load(); /* all stand-ins are free again */
    expect(5000, RTL_COPY_UNTIMED_BAD_TIME, 5000);
    OnUnload();
}

static uint64_t bytes_of(enum rtl_direction direction)
{
    return AT(rtl_tool.segment.copies[RTL_COPIES_OF(0, direction)].bytes);
}

/* Each copy counts under its direction, with all its bytes. */
static void copies_count_by_direction_and_bytes(void **state)
{
    enum { H2D, D2H, D2D, OTHER };
    static const hsa_amd_copy_direction_t said[] = {hsaHostToDevice, hsaDeviceToHost, hsaDeviceToDevice, hsaHostToHost};
    static const uint64_t from[] = {HOST, 77, 77}, to[] = {77, HOST, 77};
    static const enum rtl_direction direction[] = {RTL_COPY_H2D, RTL_COPY_D2H, RTL_COPY_D2D};
    const hsa_dim3_t range = {60, 50, 4};
    (void)state;
    load();
    hsa_status_t (*copy)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t, const hsa_signal_t *,
                         hsa_signal_t) = ext.slot[15];
    hsa_status_t (*rect)(const hsa_pitched_ptr_t *, const hsa_dim3_t *, const hsa_pitched_ptr_t *, const hsa_dim3_t *,
                         const hsa_dim3_t *, hsa_agent_t, hsa_amd_copy_direction_t, uint32_t, const hsa_signal_t *,
                         hsa_signal_t) = ext.slot[40];
    for (int i = H2D; i <= OTHER; i++) {
        uint64_t before[3], linear = i < OTHER ? 3000 : 0, all = i < OTHER ? linear + 60 * 50 * 4 : 0;
        hsa_signal_t signal = app_signal(1);
        for (int d = 0; d < OTHER; d++)
            before[d] = bytes_of(direction[d]);
        if (linear) {
            assert_int_equal(copy(NULL, (hsa_agent_t){to[i]}, NULL, (hsa_agent_t){from[i]}, linear, 0, NULL, signal),
                             0);
            set(signal, 1);
        }
        assert_int_equal(rect(NULL, NULL, NULL, NULL, &range, (hsa_agent_t){77}, said[i], 0, NULL, signal), 0);
        for (int d = 0; d < OTHER; d++)
            assert_int_equal(bytes_of(direction[d]) - before[d], d == i ? all : 0);
        app_signal_destroy(signal);
    }
    OnUnload();
}

/* A runtime zeroes a signal's times when it starts the copy, which may be some time after the call. */
static void times_of_the_previous_copy_are_not_used(void **state)
{
    (void)state;
    load();
    expect(1, RTL_COPY_UNTIMED_BAD_TIME, 1);
    hsa_signal_t signal = app_signal(1);
    assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
    wait_over();
    uint64_t times = AT(times_to()->count), total = AT(times_to()->total_ns);
    set(signal, 1);
    untouched = true;
    assert_int_equal(to_gpu(7000, signal), HSA_STATUS_SUCCESS);
    wait_rounds(3);
    assert_int_equal(AT(times_to()->count), times);
    engine(signal, 700);
    wait_over();
    assert_int_equal(AT(times_to()->count), times + 1);
    assert_int_equal(AT(times_to()->total_ns), total + 7000);
    app_signal_destroy(signal);
    OnUnload();
}

/* Impossible times: the copy would be older than the process, or ends in the future. */
static void impossible_copy_times_are_counted(void **state)
{
    (void)state;
    load();
    expect(1, RTL_COPY_UNTIMED_BAD_TIME, 1);
    uint64_t bad = AT(line_to()->untimed[RTL_COPY_UNTIMED_BAD_TIME]), timed = AT(times_to()->count);
    static const uint64_t times[][2] = {{1, 1ull << 50}, {1ull << 58, 1ull << 58}};
    waits = true;
    for (int i = 0; i < 2; i++) {
        hsa_signal_t signal = app_signal(1);
        struct record *record = (struct record *)(uintptr_t)signal.handle;
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        __atomic_store_n(&record->copy_start, times[i][0], __ATOMIC_RELEASE);
        __atomic_store_n(&record->copy_end, times[i][1], __ATOMIC_RELEASE);
        __atomic_fetch_sub(&record->signal.value, 1, __ATOMIC_RELEASE);
        app_signal_destroy(signal);
        wait_over();
    }
    assert_int_equal(AT(line_to()->untimed[RTL_COPY_UNTIMED_BAD_TIME]), bad + 2);
    assert_int_equal(AT(times_to()->count), timed);
    waits = false;
    expect(3, RTL_COPY_UNTIMED_BAD_TIME, 3);
    OnUnload();
}

static struct rtl_control *page;
static uint16_t requests;

static void map_page(void)
{
    page =
        mmap(NULL, RTL_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)rtl_tool.segment.header->control_fd, 0);
    assert_true(page != MAP_FAILED);
}

static void request(enum rtl_mode mode)
{
    requests++;
    __atomic_store_n(&page->word, rtl_control_encode((struct rtl_control_request){requests, requests, (uint8_t)mode}),
                     __ATOMIC_RELEASE);
}

/* Change the mode as `rtl-top --mode` does, in a process that only copies. */
static void change(enum rtl_mode mode, enum rtl_activity activity)
{
    struct rtl_in_force now = {0};
    hsa_signal_t signal = app_signal(0);
    request(mode);
    for (int i = 0; i < patience() && (now.number != requests || now.activity != activity); i++) {
        set(signal, 1);
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        assert_true(rtl_in_force_read(AT(rtl_tool.segment.header->in_force), &now));
    }
    assert_int_equal(now.number, requests);
    assert_int_equal(now.activity, activity);
    app_signal_destroy(signal);
    wait_over();
}

/* Copies that began while copies were timed keep their times, and the runtime keeps times until they end. */
static void copies_in_flight_keep_their_times_across_a_mode_change(void **state)
{
    struct rtl_in_force now = {0};
    (void)state;
    load();
    map_page();
    change(RTL_MODE_DEFAULT, RTL_ACTIVITY_TIMING); /* the earlier mode outlives the runtime */
    expect(1, RTL_COPY_UNTIMED_BAD_TIME, 1);
    uint64_t times = AT(times_to()->count), total = AT(times_to()->total_ns);
    hsa_signal_t signal = app_signal(1);
    waits = true;
    assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
    request(RTL_MODE_LITE);
    for (int i = 0; i < patience() && now.mode != RTL_MODE_LITE; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        assert_true(rtl_in_force_read(AT(rtl_tool.segment.header->in_force), &now));
    }
    wait_rounds(5); /* as many rounds as it takes with nothing in flight, and some more */
    assert_true(atomic_load(&rtl_app_signals_followed));
    assert_int_equal(switched_off, 0);
    engine(signal, 500);
    wait_over();
    assert_int_equal(AT(times_to()->count), times + 1);
    assert_int_equal(AT(times_to()->total_ns), total + 5000);
    for (int i = 0; i < patience() && switched_off == 0; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(switched_off, 1);
    assert_false(atomic_load(&rtl_app_signals_followed));
    app_signal_destroy(signal);
    OnUnload();
    munmap(page, RTL_CONTROL_BYTES);
}

static void wait_switched_off(int times)
{
    for (int i = 0; i < patience() && switched_off < times; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(switched_off, times);
}

static void copies_follow_the_mode(void **state)
{
    (void)state;
    load();
    map_page();
    change(RTL_MODE_DEFAULT, RTL_ACTIVITY_TIMING);
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    assert_int_equal(switched_on, 1);
    change(RTL_MODE_LITE, RTL_ACTIVITY_TIMING);
    expect(10, RTL_COPY_UNTIMED_LITE, 0);
    wait_switched_off(1); /* the runtime is left as the application would have it */
    change(RTL_MODE_OFF, RTL_ACTIVITY_OFF);
    uint64_t counted = AT(line_to()->count);
    hsa_signal_t signal = app_signal(1);
    assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
    assert_int_equal(AT(line_to()->count), counted);
    app_signal_destroy(signal);
    change(RTL_MODE_DEFAULT, RTL_ACTIVITY_TIMING);
    expect(10, RTL_COPY_UNTIMED_BAD_TIME, 10);
    assert_int_equal(switched_on, 2);
    hsa_status_t (*enable)(bool) = ext.slot[3];
    assert_int_equal(enable(true), HSA_STATUS_SUCCESS);
    change(RTL_MODE_AUTO, RTL_ACTIVITY_TIMING); /* the request included a heartbeat, */
    signal = app_signal(0);
    for (int i = 0; i < patience() && AT(line_to()->untimed[RTL_COPY_UNTIMED_UNWATCHED]) == 0; i++) {
        set(signal, 1);
        assert_int_equal(to_gpu(3000, signal), HSA_STATUS_SUCCESS);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    app_signal_destroy(signal);
    wait_over();
    expect(10, RTL_COPY_UNTIMED_UNWATCHED, 0); /* which has expired */
    OnUnload();
    assert_int_equal(switched_off, 1); /* the application's own request stays on */
    munmap(page, RTL_CONTROL_BYTES);
}

/* Each thread reuses its signals, destroys some of them, and makes copies of lengths of its own. */
static _Atomic uint64_t sent, sent_bytes;

static void *fire(void *data)
{
    unsigned random = (unsigned)(uintptr_t)data * 977 + 5;
    hsa_signal_t signal[4];
    for (int i = 0; i < 4; i++)
        signal[i] = app_signal(0);
    for (int n = 0; n < EACH; n++) {
        random = random * 1664525u + 1013904223u;
        unsigned at = random >> 30;
        size_t bytes = 10 * (64 + (random >> 8) % 5000);
        set(signal[at], 1);
        to_gpu(bytes, signal[at]);
        atomic_fetch_add(&sent, 1);
        atomic_fetch_add(&sent_bytes, bytes);
        if (random >> 20 & 1) {
            app_signal_destroy(signal[at]);
            signal[at] = app_signal(0);
        }
    }
    for (int i = 0; i < 4; i++)
        app_signal_destroy(signal[i]);
    return NULL;
}

static void copies_of_many_threads_are_counted(void **state)
{
    pthread_t thread[THREADS];
    (void)state;
    load();
    uint64_t counted = AT(line_to()->count), times = AT(times_to()->count), total = AT(times_to()->total_ns);
    uint64_t timed_bytes = AT(line_to()->timed_bytes), no_room = AT(line_to()->untimed[RTL_COPY_UNTIMED_NO_ROOM]);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, fire, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    wait_over();
    OnUnload();
    assert_int_equal(AT(line_to()->count) - counted, sent);
    /* a thread may find no free stand-in when the worker gets no CPU: those copies are untimed, with a reason */
    no_room = AT(line_to()->untimed[RTL_COPY_UNTIMED_NO_ROOM]) - no_room;
    assert_int_equal(AT(times_to()->count) - times + no_room, sent);
    assert_int_equal(AT(times_to()->total_ns) - total, AT(line_to()->timed_bytes) - timed_bytes);
    if (!no_room)
        assert_int_equal(AT(times_to()->total_ns) - total, sent_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_timed_and_stay_so),
        cmocka_unit_test(wrong_times_of_the_runtime_are_not_trusted),
        cmocka_unit_test(one_wrong_answer_does_not_keep_the_worker_awake),
        cmocka_unit_test(times_of_the_previous_copy_are_not_used),
        cmocka_unit_test(copies_count_by_direction_and_bytes),
        cmocka_unit_test(impossible_copy_times_are_counted),
        cmocka_unit_test(copies_in_flight_at_the_end_have_a_reason),
        cmocka_unit_test(copies_of_many_threads_are_counted),
        cmocka_unit_test(copies_follow_the_mode),
        cmocka_unit_test(copies_in_flight_keep_their_times_across_a_mode_change),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
