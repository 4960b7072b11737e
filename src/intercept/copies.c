/* The hooks on copies, and their times (copies.h). */
#include "intercept/copies.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "intercept/agents.h"
#include "intercept/harvest.h"
#include "intercept/hsa_table.h"
#include "intercept/mode.h"
#include "intercept/own.h"
#include "intercept/ticks.h"
#include "intercept/tool.h"
#include "intercept/worker.h"

enum { WORDS = RTL_COPY_CARDS / 64, DOUBTS = 8 };
static const uint64_t WAIT = 1000000000; /* ns; a copy that is over waits so long for its times to be believed */

/* A copy that is timed. Its maker fills it in before it is in flight; then it is the worker's. */
struct copy {
    _Alignas(64) amd_signal_t card; /* whoever takes it out of its signal's use; see signals.h on cards */
    struct rtl_own *own;            /* the signal, */
    int64_t value;                  /* and its value when the copy went */
    uint64_t bytes;
    uint32_t line;        /* in the segment */
    uint64_t waits_since; /* worker: when it was found to be over, and not believed yet; 0 = it wasn't */
    /* also looked at by who finds the card on a signal, and only believed if it is still there afterwards (relaxed) */
    _Atomic uint64_t old_end;    /* what an engine had left in the signal before */
    struct rtl_gpu *_Atomic gpu; /* the one whose clock its times are of */
};

/*
 * `taken`: any sets (compare-and-swap), whoever has accounted for the copy clears (release). `flying`: the maker sets
 * (sequentially consistent, against `parked` and `stopping`), and whoever clears a bit accounts for that copy: the
 * worker, or a maker that finds the worker stopping.
 */
static struct copy copies[RTL_COPY_CARDS];
static _Atomic uint64_t taken[WORDS], flying[WORDS];
static _Atomic uint32_t hint; /* any: the word where a free one was found last */

/* Whether what is behind signals is what we take it for. Any; UNKNOWN -> the other two once a load. */
enum layout { UNKNOWN, RIGHT, WRONG };
static _Atomic int layout;
static _Atomic uint32_t doubts; /* any: copies that the runtime told other times of */

enum profiling { OFF, ON, REFUSED };
static _Atomic int profiling; /* under the lock; any: OFF -> the other two; worker: ON -> OFF, when nothing is timed */
static bool app_profiles;     /* any, under the lock: the application wants copies timed itself */
static pthread_mutex_t profiling_lock = PTHREAD_MUTEX_INITIALIZER; /* what is said here is what the runtime does */
static _Atomic bool worker_up;                                     /* any sets, load clears */
static _Atomic uint32_t asking; /* any: how many are between their look at the policy and their end */
static _Atomic uint32_t asked;  /* any: copies that came since there could be none; 0 = it was never refused */
static _Atomic uint64_t ready;  /* any: agents whose lines' pages are present, a bit each; once set for ever */

/* --- where the times are --- */

/*
 * The runtime's record of a signal. The frozen part comes first; the word `id` is the runtime's own check that a handle
 * is one of its signals.
 */
struct record {
    amd_signal_t signal;
    uint64_t copy_start;
    uint64_t object;
    uint64_t id;
    uint64_t reserved0;
    uint64_t copy_end;
    uint64_t reserved1[3];
};
_Static_assert(sizeof(struct record) == 128, "two cache lines");
static const uint64_t ID = 0x71FCCA6A3D5D5276;

static bool read_times(uint64_t old_end, const amd_signal_t *signal, struct rtl_own_times *times)
{
    const struct record *record = (const struct record *)signal;
    if (record->id != ID)
        return false;
    times->end = __atomic_load_n(&record->copy_end, __ATOMIC_ACQUIRE);
    times->start = __atomic_load_n(&record->copy_start, __ATOMIC_ACQUIRE);
    /* the runtime zeroes both while it takes the copy, not before */
    if (times->end == 0 || times->end == old_end) { /* no copy engine did it, or it isn't over */
        times->end = __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
        times->start = __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE);
    }
    return times->start != 0 && times->end >= times->start;
}

bool rtl_copies_is_card(uintptr_t use)
{
    return use >= (uintptr_t)copies && use < (uintptr_t)(copies + RTL_COPY_CARDS);
}

bool rtl_copies_stamped(const amd_signal_t *card, const amd_signal_t *signal, struct rtl_own_times *times)
{
    return atomic_load_explicit(&layout, memory_order_relaxed) != WRONG &&
           read_times(atomic_load_explicit(&((const struct copy *)card)->old_end, memory_order_relaxed), signal, times);
}

/* Nearly the same: the runtime's clocks are compared anew between two questions. */
static bool near(uint64_t a, uint64_t b, uint64_t tolerance)
{
    return (a > b ? a - b : b - a) <= tolerance;
}

/* Asks the runtime about a copy that is over and whose signal can't go meanwhile. */
static void compare(const struct rtl_gpu *gpu, uint64_t old_end, const amd_signal_t *signal)
{
    struct rtl_own_times own = {0, 0};
    hsa_amd_profiling_async_copy_time_t told = {0, 0};
    uint64_t start = 0, end = 0;
    hsa_signal_t handle = {(uint64_t)(uintptr_t)signal};
    hsa_agent_t agent = {__atomic_load_n(&gpu->agent.handle, __ATOMIC_RELAXED)};
    int unknown = UNKNOWN;

    if (!agent.handle || !read_times(old_end, signal, &own))
        return;
    bool right =
        rtl_tool.hsa.amd_profiling_get_async_copy_time(handle, &told) == HSA_STATUS_SUCCESS &&
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain(agent, own.end, &end) == HSA_STATUS_SUCCESS &&
        rtl_tool.hsa.amd_profiling_convert_tick_to_system_domain(agent, own.start, &start) == HSA_STATUS_SUCCESS &&
        near(told.end, end, 1000000) && near(told.end - told.start, end - start, 2000 + (end - start) / 64);
    /* the runtime may have set its clocks between two of the questions, so one wrong answer is none */
    if (right || atomic_fetch_add(&doubts, 1) + 1 >= DOUBTS)
        atomic_compare_exchange_strong(&layout, &unknown, right ? RIGHT : WRONG);
}

void rtl_copies_compare(struct rtl_own *own, uintptr_t use, const amd_signal_t *signal)
{
    const struct copy *copy = (const struct copy *)use;
    if (!rtl_copies_is_card(use) || atomic_load_explicit(&layout, memory_order_relaxed) != UNKNOWN)
        return;
    const struct rtl_gpu *gpu = atomic_load_explicit(&copy->gpu, memory_order_relaxed);
    uint64_t old_end = atomic_load_explicit(&copy->old_end, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (!own || atomic_load_explicit(&own->use, memory_order_relaxed) == use)
        compare(gpu, old_end, signal);
}

/* --- cards --- */

static struct copy *take(void)
{
    uint32_t first = atomic_load_explicit(&hint, memory_order_relaxed);
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t w = (first + i) % WORDS;
        uint64_t bits = atomic_load_explicit(&taken[w], memory_order_relaxed);
        while (~bits) {
            uint64_t bit = ~bits & (bits + 1);
            if (!atomic_compare_exchange_weak_explicit(&taken[w], &bits, bits | bit, memory_order_acquire,
                                                       memory_order_relaxed))
                continue;
            atomic_store_explicit(&hint, w, memory_order_relaxed);
            return &copies[w * 64 + (uint32_t)__builtin_ctzll(bit)];
        }
    }
    return NULL;
}

static uint64_t bit_of(const struct copy *copy)
{
    return 1ull << (copy - copies) % 64;
}

static void give(struct copy *copy)
{
    atomic_fetch_and_explicit(&taken[(copy - copies) / 64], ~bit_of(copy), memory_order_release);
}

/* True for the one who accounts for it. */
static bool land(struct copy *copy)
{
    return atomic_fetch_and(&flying[(copy - copies) / 64], ~bit_of(copy)) & bit_of(copy);
}

/* --- one copy --- */

struct request {
    struct rtl_gpu *gpu; /* NULL: it isn't counted */
    bool asking;         /* it is in that counter */
    uint32_t line;
    uint64_t bytes;
    struct copy *copy; /* NULL: it isn't timed, for this reason: */
    enum rtl_copy_reason why;
};

static void untimed(uint32_t line, enum rtl_copy_reason why)
{
    __atomic_fetch_add(&rtl_tool.segment.copies[line].untimed[why], 1, __ATOMIC_RELEASE);
}

/* The GPU, known or not yet; NULL for a host. */
static struct rtl_gpu *gpu_of(hsa_agent_t agent)
{
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    struct rtl_gpu *gpu = rtl_gpu_known(agent);
    if (gpu || rtl_tool.hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU)
        return gpu;
    return rtl_gpu_find(agent);
}

static bool profiled(void)
{
    int was = atomic_load_explicit(&profiling, memory_order_acquire);
    if (was == OFF) { /* once a load, and again after nothing was timed for a while */
        pthread_mutex_lock(&profiling_lock);
        was = atomic_load_explicit(&profiling, memory_order_relaxed);
        if (was == OFF)
            was = rtl_tool.hsa.amd_profiling_async_copy_enable(true) == HSA_STATUS_SUCCESS ? ON : REFUSED;
        atomic_store_explicit(&profiling, was, memory_order_release);
        pthread_mutex_unlock(&profiling_lock);
    }
    return was == ON;
}

void rtl_copies_rest(void)
{
    pthread_mutex_lock(&profiling_lock);
    if (atomic_load_explicit(&profiling, memory_order_relaxed) == ON) {
        atomic_store_explicit(&profiling, OFF, memory_order_release);
        if (!app_profiles)
            rtl_tool.hsa.amd_profiling_async_copy_enable(false);
    }
    pthread_mutex_unlock(&profiling_lock);
}

/* The worker is there, or is made now. Where it can't be, that is tried less and less often. */
static bool worker_there(void)
{
    int verdict = RTL_VERDICT_TIME;
    if (atomic_load_explicit(&worker_up, memory_order_acquire))
        return true;
    uint32_t n = atomic_load_explicit(&asked, memory_order_relaxed);
    if (n)
        n = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    if (n & (n - 1))
        return false;
    rtl_worker_pool(&verdict);
    if (verdict != RTL_VERDICT_TIME) {
        uint32_t never = 0;
        atomic_compare_exchange_strong(&asked, &never, 1);
        return false;
    }
    atomic_store_explicit(&worker_up, true, memory_order_release);
    return true;
}

/* Puts a card on the signal; the reason why not if it can't. */
static struct copy *arm(struct request *r, hsa_signal_t signal)
{
    if (atomic_load(&rtl_tool.stopping)) {
        r->why = RTL_COPY_UNTIMED_SHUTDOWN;
        return NULL;
    }
    struct rtl_own *own = atomic_load(&rtl_own_timed) && signal.handle ? rtl_own_find(signal.handle) : NULL;
    if (!own) {
        r->why = RTL_COPY_UNTIMED_UNSAFE_SIGNAL;
        return NULL;
    }
    if (!worker_there() || !profiled()) {
        r->why = atomic_load(&worker_up) ? RTL_COPY_UNTIMED_NOT_PROFILED : RTL_COPY_UNTIMED_NO_WORKER;
        rtl_own_copy(signal);
        return NULL;
    }
    struct copy *copy = take();
    if (!copy) {
        r->why = RTL_COPY_UNTIMED_NO_ROOM;
        rtl_own_copy(signal);
        return NULL;
    }
    copy->own = own;
    atomic_store_explicit(&copy->gpu, r->gpu, memory_order_relaxed);
    copy->line = r->line;
    copy->bytes = r->bytes;
    copy->waits_since = 0;
    const struct record *record = (const struct record *)(uintptr_t)signal.handle; /* the table knows only real ones */
    copy->value = __atomic_load_n(&record->signal.value, __ATOMIC_RELAXED);
    uint64_t old_end = record->id == ID ? __atomic_load_n(&record->copy_end, __ATOMIC_RELAXED) : 0;
    atomic_store_explicit(&copy->old_end, old_end, memory_order_relaxed);
    rtl_signal_arm(&copy->card);
    if (rtl_own_begin(own, (uintptr_t)&copy->card))
        return copy;
    give(copy);
    r->why = RTL_COPY_UNTIMED_ON_SEVERAL;
    return NULL;
}

/* It isn't timed, but whoever follows the signal must know. */
static void pass(hsa_signal_t signal)
{
    if (atomic_load(&rtl_own_timed))
        rtl_own_copy(signal);
}

/* Before the runtime gets the copy. */
static struct request begin(struct rtl_gpu *gpu, enum rtl_direction direction, uint64_t bytes, hsa_signal_t signal)
{
    struct request r = {.gpu = gpu, .bytes = bytes};
    /* a process may do nothing but copy: then it is copies that bring the worker to the control page (mode.h) */
    if (rtl_mode_unheard() && worker_there() && atomic_load(&rtl_tool.parked))
        rtl_worker_wake();
    atomic_fetch_add(&asking, 1); /* before the policy: the worker changes that, then looks at this (mode.c) */
    r.asking = true;
    enum rtl_policy policy = (enum rtl_policy)atomic_load(&rtl_tool.policy);
    if (policy == RTL_PASS_ON)
        r.gpu = NULL;
    if (!r.gpu) {
        pass(signal);
        return r;
    }
    r.line = RTL_COPIES_OF(gpu->index, direction);
    if (!(atomic_load_explicit(&ready, memory_order_acquire) >> gpu->index & 1)) {
        uint32_t first = RTL_COPIES_OF(gpu->index, 0);
        rtl_segment_populate(&rtl_tool.segment.copies[first], RTL_DIRECTION_COUNT * sizeof(struct rtl_copies));
        rtl_segment_populate(&rtl_tool.segment.histograms[RTL_HISTOGRAM_COPIES(first)],
                             RTL_DIRECTION_COUNT * sizeof(struct rtl_histogram));
        rtl_segment_populate(&rtl_tool.segment.directory[RTL_HISTOGRAM_COPIES(first)],
                             RTL_DIRECTION_COUNT * sizeof(struct rtl_directory));
        atomic_fetch_or_explicit(&ready, 1ull << gpu->index, memory_order_release);
    }
    if (policy == RTL_TIME) {
        r.copy = arm(&r, signal);
    } else {
        r.why = policy == RTL_COUNT ? RTL_COPY_UNTIMED_UNWATCHED : RTL_COPY_UNTIMED_LITE;
        pass(signal);
    }
    return r;
}

/* After: it is counted if the runtime took it. */
static void end(struct request *r, hsa_status_t status)
{
    struct copy *copy = r->copy;
    if (!r->gpu)
        return;
    if (status != HSA_STATUS_SUCCESS) {
        /* if another thread is about to end the card it can't be used again: lost, with a program that is wrong */
        if (copy && rtl_own_detach(copy->own, &copy->card, true))
            give(copy);
        return;
    }
    struct rtl_copies *line = &rtl_tool.segment.copies[r->line];
    __atomic_fetch_add(&line->bytes, r->bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&line->count, 1, __ATOMIC_RELEASE);
    if (!copy) {
        untimed(r->line, r->why);
        return;
    }
    atomic_fetch_or(&flying[(copy - copies) / 64], bit_of(copy));
    if (atomic_load(&rtl_tool.parked))
        rtl_worker_wake();
    /* the worker looks once more after it is told to stop: one of us two sees the other */
    if (atomic_load(&rtl_tool.stopping) && land(copy)) {
        untimed(r->line, RTL_COPY_UNTIMED_SHUTDOWN);
        if (rtl_own_detach(copy->own, &copy->card, false))
            give(copy);
    }
}

/* --- worker --- */

static bool is_over(struct copy *copy)
{
    return __atomic_load_n(&copy->card.value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED ||
           rtl_own_look(copy->own, &copy->card, copy->value);
}

static void put_event(const struct rtl_gpu *gpu, const struct copy *copy, uint64_t start, uint64_t duration_ns)
{
    struct rtl_event_record event = {
        .duration_ns = duration_ns,
        .kernel = copy->line % RTL_DIRECTION_COUNT,
        .flags = RTL_EVENT_COPY,
        .grid = {(uint32_t)copy->bytes, (uint32_t)(copy->bytes >> 32)},
    };
    rtl_harvest_event(gpu, start, &event);
}

static void record(struct rtl_harvest *harvest, const struct copy *copy)
{
    struct rtl_copies *line = &rtl_tool.segment.copies[copy->line];
    enum rtl_copy_reason why = RTL_COPY_UNTIMED_BAD_TIME;
    uint64_t start = copy->card.start_ts, end = copy->card.end_ts, duration_ns;
    struct rtl_gpu *gpu;

    switch (__atomic_load_n(&copy->card.value, __ATOMIC_RELAXED)) {
    case RTL_CARD_SHARED:
        why = RTL_COPY_UNTIMED_SHARED_SIGNAL;
        break;
    case RTL_CARD_GONE:
        why = RTL_COPY_UNTIMED_SIGNAL_GONE;
        break;
    default:
        if (start == 0 || end < start || atomic_load(&layout) != RIGHT)
            break;
        gpu = atomic_load_explicit(&copy->gpu, memory_order_relaxed);
        if (!rtl_ticks_believed(gpu, start, end, harvest->began)) /* when it was asked for isn't kept */
            break;
        duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);
        if (rtl_recorder_record(harvest->recorder, RTL_HISTOGRAM_COPIES(copy->line), duration_ns)) {
            rtl_count(&line->timed_bytes, copy->bytes);
            if (rtl_tool.trace)
                put_event(gpu, copy, start, duration_ns);
            return;
        }
        why = RTL_COPY_UNTIMED_NO_MEMORY;
    }
    untimed(copy->line, why);
}

/*
 * Over, but nobody knows yet what its times mean: the next copy may tell. Not for ever, because the worker looks at it
 * again and again, and there may be no other.
 */
static bool waits(struct copy *copy)
{
    if (__atomic_load_n(&copy->card.value, __ATOMIC_RELAXED) != RTL_CARD_TIMED || copy->card.end_ts == 0 ||
        atomic_load(&layout) != UNKNOWN)
        return false;
    uint64_t now = rtl_clock_now();
    if (!copy->waits_since)
        copy->waits_since = now;
    return now - copy->waits_since < WAIT;
}

uint32_t rtl_copies_harvest(struct rtl_harvest *harvest)
{
    uint32_t done = 0;
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint64_t bits = atomic_load_explicit(&flying[w], memory_order_acquire); bits; bits &= bits - 1) {
            struct copy *copy = &copies[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (!is_over(copy) || waits(copy) || !land(copy))
                continue;
            record(harvest, copy);
            give(copy);
            done++;
        }
    return done;
}

bool rtl_copies_asked_for(void)
{
    return atomic_load(&asking) != 0;
}

bool rtl_copies_pending(void)
{
    for (uint32_t w = 0; w < WORDS; w++)
        if (atomic_load(&flying[w]))
            return true;
    return false;
}

void rtl_copies_give_up(struct rtl_harvest *harvest)
{
    rtl_copies_harvest(harvest);
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint64_t bits = atomic_load(&flying[w]); bits; bits &= bits - 1) {
            struct copy *copy = &copies[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (!land(copy))
                continue;
            untimed(copy->line, RTL_COPY_UNTIMED_ABANDONED);
            if (rtl_own_detach(copy->own, &copy->card, false))
                give(copy);
        }
}

void rtl_copies_forget(void)
{
    atomic_store(&worker_up, false);
    atomic_store(&asked, 0);
    atomic_store(&profiling, OFF);
    app_profiles = false;
    atomic_store(&layout, UNKNOWN);
    atomic_store(&doubts, 0);
}

/* --- hooks --- */

static bool recording(void)
{
    return atomic_load_explicit(&rtl_tool.recording, memory_order_relaxed);
}

/* The runtime gives a copy to the GPU that it comes from; one from a host to the GPU that it goes to. */
static struct request begin_linear(hsa_agent_t to, hsa_agent_t from, size_t bytes, hsa_signal_t signal)
{
    struct request none = {.gpu = NULL};
    int error = errno;
    if (!recording())
        return none;
    struct rtl_gpu *source = gpu_of(from), *target = gpu_of(to);
    enum rtl_direction direction = !source            ? RTL_COPY_H2D
                                   : !target          ? RTL_COPY_D2H
                                   : source == target ? RTL_COPY_D2D
                                                      : RTL_COPY_P2P;
    struct request r = begin(source ? source : target, direction, bytes, signal);
    errno = error;
    return r;
}

static hsa_status_t finish(struct request *r, hsa_status_t status)
{
    int error = errno;
    end(r, status);
    if (r->asking)
        atomic_fetch_sub(&asking, 1); /* after the copy is said to fly */
    errno = error;
    return status;
}

static hsa_status_t copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size,
                         uint32_t n, const hsa_signal_t *after, hsa_signal_t signal)
{
    struct request r = begin_linear(to_agent, from_agent, size, signal);
    return finish(&r, rtl_tool.hsa.amd_memory_async_copy(to, to_agent, from, from_agent, size, n, after, signal));
}

static hsa_status_t copy_on_engine(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                                   size_t size, uint32_t n, const hsa_signal_t *after, hsa_signal_t signal, int engine,
                                   bool force)
{
    struct request r = begin_linear(to_agent, from_agent, size, signal);
    return finish(&r, rtl_tool.hsa.amd_memory_async_copy_on_engine(to, to_agent, from, from_agent, size, n, after,
                                                                   signal, engine, force));
}

static hsa_status_t copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset, const hsa_pitched_ptr_t *from,
                              const hsa_dim3_t *from_offset, const hsa_dim3_t *range, hsa_agent_t agent,
                              hsa_amd_copy_direction_t direction, uint32_t n, const hsa_signal_t *after,
                              hsa_signal_t signal)
{
    struct request r = {.gpu = NULL};
    int error = errno;
    if (recording()) {
        /* between GPUs it doesn't say which: that is D2D here */
        enum rtl_direction which = direction == hsaHostToDevice   ? RTL_COPY_H2D
                                   : direction == hsaDeviceToHost ? RTL_COPY_D2H
                                                                  : RTL_COPY_D2D;
        uint64_t bytes = range ? (uint64_t)range->x * range->y * range->z : 0;
        r = begin(direction == hsaHostToHost ? NULL : gpu_of(agent), which, bytes, signal);
    }
    errno = error;
    return finish(&r, rtl_tool.hsa.amd_memory_async_copy_rect(to, to_offset, from, from_offset, range, agent, direction,
                                                              n, after, signal));
}

/* The signals are in the operations, which aren't read here: all that is over is harvested now. */
typedef hsa_status_t (*batch_copier)(const void *, uint32_t, uint32_t, const hsa_signal_t *);
static batch_copier batch_copy; /* load: the function before our hook */
static hsa_status_t copy_batch(const void *operations, uint32_t count, uint32_t n, const hsa_signal_t *after)
{
    if (recording() && atomic_load(&rtl_tool.policy) != RTL_PASS_ON) {
        int error = errno;
        if (atomic_load(&rtl_own_timed))
            rtl_own_sweep();
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_COPIES_UNSEEN);
        errno = error;
    }
    return batch_copy(operations, count, n, after);
}

/*
 * What the application switches on stays on. What we have switched on it can't switch off, but it is off once we rest.
 */
static hsa_status_t enable(bool on)
{
    if (!recording())
        return rtl_tool.hsa.amd_profiling_async_copy_enable(on);
    pthread_mutex_lock(&profiling_lock);
    bool ours = !on && atomic_load_explicit(&profiling, memory_order_relaxed) == ON;
    hsa_status_t status = ours ? HSA_STATUS_SUCCESS : rtl_tool.hsa.amd_profiling_async_copy_enable(on);
    if (status == HSA_STATUS_SUCCESS)
        app_profiles = on;
    pthread_mutex_unlock(&profiling_lock);
    return status;
}

bool rtl_copies_hook(void *table)
{
#define HOOK(function, own) rtl_hsa_hook(table, RTL_HSA_##function, (void (*)(void))(own))
    HOOK(amd_memory_async_copy, copy);
    HOOK(amd_memory_async_copy_rect, copy_rect);
    HOOK(amd_memory_async_copy_on_engine, copy_on_engine);
    HOOK(amd_profiling_async_copy_enable, enable);
#undef HOOK
    bool maybe;
    batch_copy = (batch_copier)rtl_hsa_hook_exported(table, "hsa_amd_memory_async_batch_copy",
                                                     (void (*)(void))copy_batch, &maybe);
    return !maybe;
}
