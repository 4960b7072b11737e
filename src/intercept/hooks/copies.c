/* The hooks on copies (hooks.h). */
#include "intercept/hooks/hooks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "intercept/base/agents.h"
#include "intercept/base/hsa_table.h"
#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/copy_profiling.h"
#include "intercept/track/copy_slots.h"
#include "intercept/track/policy.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/track/wakeup.h"
#include "intercept/worker/worker.h"

static _Atomic bool worker_runs;        /* any sets, load clears */
static _Atomic uint32_t start_attempts; /* any: copies since the worker failed to start; 0 = it never failed */
static _Atomic uint64_t ready_agents;   /* any: agents whose rows' pages are present, one bit each; only grows */

/* --- one copy --- */

struct hooked_copy {
    struct rtl_gpu *gpu; /* NULL: not counted */
    bool asking;         /* rtl_copy_enter was called */
    uint32_t row;
    uint64_t bytes;
    struct rtl_link link;  /* to the call that submits it; zeros: none */
    struct rtl_copy *copy; /* NULL: not timed, for the reason `why` */
    enum rtl_copy_reason why;
};

/* Return the GPU, known or not yet; NULL for a host. */
static struct rtl_gpu *find_copy_gpu(hsa_agent_t agent)
{
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    struct rtl_gpu *gpu = rtl_gpu_known(agent);
    if (gpu || rtl_tool.hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU)
        return gpu;
    return rtl_gpu_find(agent);
}

/* Start the worker unless it runs. After a failure only copy 1, 2, 4, 8 and so on tries again. */
static bool ensure_worker(void)
{
    int reason = RTL_NO_REASON;
    if (atomic_load_explicit(&worker_runs, memory_order_acquire))
        return true;
    uint32_t n = atomic_load_explicit(&start_attempts, memory_order_relaxed);
    if (n)
        n = atomic_fetch_add_explicit(&start_attempts, 1, memory_order_relaxed);
    if (n & (n - 1))
        return false;
    rtl_worker_pool(&reason);
    if (reason != RTL_NO_REASON) {
        uint32_t never = 0;
        atomic_compare_exchange_strong(&start_attempts, &never, 1);
        return false;
    }
    atomic_store_explicit(&worker_runs, true, memory_order_release);
    return true;
}

/* Put a stand-in on the signal. NULL, and the reason in r->why, if that is impossible. */
static struct rtl_copy *put_stand_in(struct hooked_copy *r, hsa_signal_t signal)
{
    if (rtl_trackers_stopping()) {
        r->why = RTL_COPY_UNTIMED_SHUTDOWN;
        return NULL;
    }
    struct rtl_app_signal *app_signal =
        atomic_load(&rtl_app_signals_followed) && signal.handle ? rtl_app_signal_find(signal.handle) : NULL;
    if (!app_signal) {
        r->why = RTL_COPY_UNTIMED_UNSAFE_SIGNAL;
        return NULL;
    }
    if (!ensure_worker() || !rtl_copy_profiling_on()) {
        r->why = atomic_load(&worker_runs) ? RTL_COPY_UNTIMED_NOT_PROFILED : RTL_COPY_UNTIMED_NO_WORKER;
        rtl_app_signal_copy(signal);
        return NULL;
    }
    struct rtl_copy *copy = rtl_copy_acquire();
    if (!copy) {
        r->why = RTL_COPY_UNTIMED_NO_ROOM;
        rtl_app_signal_copy(signal);
        return NULL;
    }
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle; /* a real signal: it is in the table */
    copy->app_signal = app_signal;
    copy->row = r->row;
    copy->bytes = r->bytes;
    if (rtl_hot.linked)
        copy->link = r->link;
    copy->waits_since = 0;
    copy->value = __atomic_load_n(&memory->value, __ATOMIC_RELAXED);
    rtl_copy_prepare(copy, r->gpu, memory);
    if (rtl_app_signal_begin(app_signal, (uintptr_t)&copy->stand_in))
        return copy;
    rtl_copy_return(copy);
    r->why = RTL_COPY_UNTIMED_ON_SEVERAL;
    return NULL;
}

/* An untimed copy: a kernel may have left its times in the signal, which are collected now. */
static void note_untimed_signal(hsa_signal_t signal)
{
    if (atomic_load(&rtl_app_signals_followed))
        rtl_app_signal_copy(signal);
}

/* Before the runtime gets the copy; without room it isn't timed. */
static struct hooked_copy prepare_copy(struct rtl_gpu *gpu, enum rtl_direction direction, uint64_t bytes,
                                       hsa_signal_t signal, bool room)
{
    struct hooked_copy r = {.gpu = gpu, .bytes = bytes};
    /* a process may only copy: then copies wake the worker to read the control page (mode.h) */
    if (rtl_control_request_pending() && ensure_worker())
        rtl_wake_if_parked_ordered();
    rtl_copy_enter(); /* before reading the policy: the worker changes that, then reads this (mode.c) */
    r.asking = true;
    enum rtl_policy policy = rtl_policy_now_ordered();
    if (policy == RTL_PASS_ON)
        r.gpu = NULL;
    if (!r.gpu) {
        note_untimed_signal(signal);
        return r;
    }
    r.row = RTL_COPIES_OF(gpu->index, direction);
    if (rtl_hot.linked)
        r.link = rtl_links_now();
    if (!(atomic_load_explicit(&ready_agents, memory_order_acquire) >> gpu->index & 1)) {
        uint32_t first = RTL_COPIES_OF(gpu->index, 0);
        rtl_segment_populate(&rtl_tool.segment.copies[first], RTL_DIRECTION_COUNT * sizeof(struct rtl_copies));
        rtl_segment_populate(&rtl_tool.segment.histograms[RTL_HISTOGRAM_COPIES(first)],
                             RTL_DIRECTION_COUNT * sizeof(struct rtl_histogram));
        rtl_segment_populate(&rtl_tool.segment.directory[RTL_HISTOGRAM_COPIES(first)],
                             RTL_DIRECTION_COUNT * sizeof(struct rtl_directory));
        atomic_fetch_or_explicit(&ready_agents, 1ull << gpu->index, memory_order_release);
    }
    if (policy == RTL_TIME && room) {
        r.copy = put_stand_in(&r, signal);
    } else {
        r.why = policy == RTL_COUNT  ? RTL_COPY_UNTIMED_UNWATCHED
                : policy == RTL_TIME ? RTL_COPY_UNTIMED_NO_ROOM
                                     : RTL_COPY_UNTIMED_LITE;
        note_untimed_signal(signal);
    }
    return r;
}

/* After the runtime accepted or refused the copy: count it if accepted. */
static void count_copy(struct hooked_copy *r, hsa_status_t status)
{
    struct rtl_copy *copy = r->copy;
    if (!r->gpu)
        return;
    if (status != HSA_STATUS_SUCCESS) {
        /* if another thread is about to end the stand-in, it is lost: only with a faulty program */
        if (copy && rtl_app_signal_detach(copy->app_signal, &copy->stand_in, true))
            rtl_copy_return(copy);
        return;
    }
    struct rtl_copies *counters = &rtl_tool.segment.copies[r->row];
    if (rtl_hot.linked)
        rtl_links_copied(&r->link);
    __atomic_fetch_add(&counters->bytes, r->bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counters->count, 1, __ATOMIC_RELEASE);
    if (!copy) {
        rtl_copy_untimed(r->row, r->why);
        return;
    }
    rtl_copy_launch(copy);
    rtl_wake_if_parked_ordered();
    /* the worker polls copies once more after it was stopped: it sees this one, or we see that it stops */
    if (rtl_trackers_stopping() && rtl_copy_claim(copy)) {
        rtl_copy_untimed(r->row, RTL_COPY_UNTIMED_SHUTDOWN);
        if (rtl_app_signal_detach(copy->app_signal, &copy->stand_in, false))
            rtl_copy_return(copy);
    }
}

void rtl_copies_forget(void)
{
    atomic_store(&worker_runs, false);
    atomic_store(&start_attempts, 0);
}

/* --- hooks --- */

/* The copy counts for the GPU that it comes from; one from a host for the GPU that it goes to. */
static struct hooked_copy begin_linear_copy(hsa_agent_t to, hsa_agent_t from, size_t bytes, hsa_signal_t signal,
                                            bool room)
{
    struct hooked_copy none = {.gpu = NULL};
    int error = errno;
    if (!rtl_recording())
        return none;
    struct rtl_gpu *source = find_copy_gpu(from), *target = find_copy_gpu(to);
    enum rtl_direction direction = !source            ? RTL_COPY_H2D
                                   : !target          ? RTL_COPY_D2H
                                   : source == target ? RTL_COPY_D2D
                                                      : RTL_COPY_P2P;
    struct hooked_copy r = prepare_copy(source ? source : target, direction, bytes, signal, room);
    errno = error;
    return r;
}

static hsa_status_t finish_copy(struct hooked_copy *r, hsa_status_t status)
{
    int error = errno;
    count_copy(r, status);
    if (r->asking)
        rtl_copy_leave(); /* after rtl_copy_launch */
    errno = error;
    return status;
}

static hsa_status_t hook_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                                               size_t size, uint32_t n, const hsa_signal_t *after, hsa_signal_t signal)
{
    struct hooked_copy r = begin_linear_copy(to_agent, from_agent, size, signal, true);
    return finish_copy(&r, rtl_tool.hsa.amd_memory_async_copy(to, to_agent, from, from_agent, size, n, after, signal));
}

static hsa_status_t hook_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                         hsa_agent_t from_agent, size_t size, uint32_t n,
                                                         const hsa_signal_t *after, hsa_signal_t signal, int engine,
                                                         bool force)
{
    struct hooked_copy r = begin_linear_copy(to_agent, from_agent, size, signal, true);
    return finish_copy(&r, rtl_tool.hsa.amd_memory_async_copy_on_engine(to, to_agent, from, from_agent, size, n, after,
                                                                        signal, engine, force));
}

static hsa_status_t hook_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                                    const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                                                    const hsa_dim3_t *range, hsa_agent_t agent,
                                                    hsa_amd_copy_direction_t direction, uint32_t n,
                                                    const hsa_signal_t *after, hsa_signal_t signal)
{
    struct hooked_copy r = {.gpu = NULL};
    int error = errno;
    if (rtl_recording()) {
        /* a copy between GPUs names only one of them: counted as D2D */
        enum rtl_direction which = direction == hsaHostToDevice   ? RTL_COPY_H2D
                                   : direction == hsaDeviceToHost ? RTL_COPY_D2H
                                                                  : RTL_COPY_D2D;
        uint64_t bytes = range ? (uint64_t)range->x * range->y * range->z : 0;
        r = prepare_copy(direction == hsaHostToHost ? NULL : find_copy_gpu(agent), which, bytes, signal, true);
    }
    errno = error;
    return finish_copy(&r, rtl_tool.hsa.amd_memory_async_copy_rect(to, to_offset, from, from_offset, range, agent,
                                                                   direction, n, after, signal));
}

/*
 * --- copies in batches ---
 *
 * An operation of the public header, version 1. One with several entries has one signal and counts as one copy, of all
 * its bytes, to the target of its first entry.
 */
enum { VERSION = 1, ENTRIES_MOST = 1024, TIMED_MOST = 64 };
enum { LINEAR, BROADCAST, SWAP, INDIRECT_FROM, INDIRECT_TO, INDIRECT_BOTH };

struct batch_operation {
    uint16_t version, type, entries, traffic_class;
    hsa_signal_t signal;
    const void *from;
    hsa_agent_t from_agent;
    union {
        hsa_agent_t one;
        const hsa_agent_t *list; /* with entries */
    } to_agent;
    const void *to;
    union {
        size_t one[2]; /* the second only for a swap */
        const size_t *list;
    } size;
    uint64_t wait[4], then[3], reserved;
};
_Static_assert(offsetof(struct batch_operation, signal) == 8 && offsetof(struct batch_operation, from_agent) == 24 &&
                   offsetof(struct batch_operation, to_agent) == 32 && offsetof(struct batch_operation, size) == 48 &&
                   offsetof(struct batch_operation, wait) == 64 && sizeof(struct batch_operation) == 128,
               "the runtime's hsa_amd_memory_copy_op_t");

/* Return the target and size; false if the operation is unknown: the runtime may report an error. */
static bool read_operation(const struct batch_operation *o, hsa_agent_t *to, uint64_t *bytes)
{
    if (o->version != VERSION || o->type > INDIRECT_BOTH || o->entries > ENTRIES_MOST)
        return false;
    *bytes = o->size.one[0];
    if (o->entries == 0) {
        *to = o->to_agent.one;
        *bytes += o->type == SWAP ? o->size.one[1] : 0;
        return o->type != BROADCAST;
    }
    if (!o->to_agent.list || (o->type != BROADCAST && !o->size.list) || o->type > SWAP)
        return false;
    *to = o->to_agent.list[0];
    if (o->type == BROADCAST) {
        *bytes *= o->entries;
        return true;
    }
    *bytes = 0;
    for (uint16_t i = 0; i < o->entries; i++)
        *bytes += o->size.list[i];
    *bytes *= o->type == SWAP ? 2 : 1;
    return true;
}

/* Operations of unknown layout may use any signal: collect all uses that are over now. */
static void note_unseen_copies(void)
{
    int error = errno;
    if (rtl_policy_now_ordered() != RTL_PASS_ON) {
        if (atomic_load(&rtl_app_signals_followed))
            rtl_app_signals_sweep();
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_COPIES_UNSEEN);
    }
    errno = error;
}

/* The first TIMED_MOST of a batch are timed; the others are counted once the runtime has accepted the batch. */
typedef hsa_status_t (*batch_copier)(const struct batch_operation *, uint32_t, uint32_t, const hsa_signal_t *);
static batch_copier next_batch_copy; /* load: the function before our hook */
static hsa_status_t hook_copy_batch(const struct batch_operation *operations, uint32_t count, uint32_t n,
                                    const hsa_signal_t *after)
{
    struct hooked_copy requests[TIMED_MOST];
    hsa_agent_t to;
    uint64_t bytes;
    uint32_t known = 0;

    if (!rtl_recording())
        return next_batch_copy(operations, count, n, after);
    for (; operations && known < count && read_operation(&operations[known], &to, &bytes); known++) {
        const struct batch_operation *o = &operations[known];
        if (known < TIMED_MOST)
            requests[known] = begin_linear_copy(to, o->from_agent, bytes, o->signal, true);
        else
            note_untimed_signal(o->signal);
    }
    if (known < count)
        note_unseen_copies();
    hsa_status_t status = next_batch_copy(operations, count, n, after);
    for (uint32_t i = 0; i < known && i < TIMED_MOST; i++)
        finish_copy(&requests[i], status);
    for (uint32_t i = TIMED_MOST; i < known && status == HSA_STATUS_SUCCESS; i++) {
        if (!read_operation(&operations[i], &to, &bytes))
            continue; /* another thread changed it meanwhile */
        struct hooked_copy r = begin_linear_copy(to, operations[i].from_agent, bytes, (hsa_signal_t){0}, false);
        finish_copy(&r, status);
    }
    return status;
}

static hsa_status_t hook_amd_profiling_async_copy_enable(bool on)
{
    return rtl_recording() ? rtl_copy_profiling_by_app(on) : rtl_tool.hsa.amd_profiling_async_copy_enable(on);
}

bool rtl_copies_hook(void *table)
{
    RTL_HSA_HOOK_FIELD(amd_memory_async_copy)
    RTL_HSA_HOOK_FIELD(amd_memory_async_copy_rect)
    RTL_HSA_HOOK_FIELD(amd_memory_async_copy_on_engine)
    RTL_HSA_HOOK_FIELD(amd_profiling_async_copy_enable)
    bool maybe;
    next_batch_copy = (batch_copier)rtl_hsa_hook_exported(table, "hsa_amd_memory_async_batch_copy",
                                                          (void (*)(void))hook_copy_batch, &maybe);
    return !maybe;
}
