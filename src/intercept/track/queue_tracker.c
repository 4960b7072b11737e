/*
 * Trackers and their slots in the segment (queue_tracker.h).
 *
 * A slot's counters only grow, over all queues that ever had it; dispatches_before is the count when the present one
 * began.
 */
#include "intercept/track/queue_tracker.h"

#include <errno.h>
#include <hsa/amd_hsa_queue.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "intercept/base/hsa_clock.h"
#include "intercept/base/futex.h"
#include "intercept/base/tool.h"
#include "intercept/track/barrier.h"

enum {
    ROWS_AHEAD = 256,   /* rows of a slot that are populated before a dispatch can touch them */
    QUEUES_AT_ONCE = 4, /* a queue caches at most this fraction of an even share of all signals */
};

struct rtl_tracker *_Atomic rtl_trackers;

static _Atomic bool stopping; /* load: true from the end of timing to the next load; read when a tracker is opened */

bool rtl_tracker_populate(struct rtl_tracker *tracker, uint32_t rows)
{
    uint32_t ready = atomic_load_explicit(&tracker->rows_ready, memory_order_relaxed);
    rows = (rows + 63) & ~63u; /* whole pages */
    if (rows > RTL_KERNELS_MAX)
        rows = RTL_KERNELS_MAX;
    if (rows <= ready)
        return true;
    if (!rtl_segment_populate(&tracker->dispatches[ready], (uint64_t)(rows - ready) * sizeof(struct rtl_dispatches)))
        return false;
    while (ready < rows && !atomic_compare_exchange_weak_explicit(&tracker->rows_ready, &ready, rows,
                                                                  memory_order_release, memory_order_relaxed))
        ;
    return true;
}

/* worker stores: the tracker that it is tending. A thread that clears `tend` reads this: one of the two sees the
 * other. */
static struct rtl_tracker *_Atomic tended_tracker;
static const uint64_t LEAVE = 1000000000; /* ns; bound on waiting for the worker, which tends for some us */
static const uint64_t MOMENT = 50000;     /* ns between two checks */

enum rtl_tend rtl_tracker_tend(struct rtl_tracker *tracker, uint64_t now_ns)
{
    if (!atomic_load_explicit(&tracker->tend, memory_order_relaxed))
        return RTL_TEND_NOTHING;
    atomic_store(&tended_tracker, tracker);
    enum rtl_tend (*tend)(struct rtl_tracker *, uint64_t) = atomic_load(&tracker->tend);
    enum rtl_tend said = tend ? tend(tracker, now_ns) : RTL_TEND_NOTHING;
    atomic_store_explicit(&tended_tracker, NULL, memory_order_release);
    return said;
}

void rtl_tracker_stop_tending(struct rtl_tracker *tracker)
{
    _Atomic uint32_t word = 0;
    uint64_t since = rtl_clock_now();
    int error = errno;
    atomic_store(&tracker->tend, NULL);
    while (atomic_load(&tended_tracker) == tracker && rtl_clock_now() - since < LEAVE)
        rtl_futex_wait(&word, 0, MOMENT); /* leaves the worker the CPU, also if our priority is higher */
    errno = error;
}

void rtl_tracker_set_path(const struct rtl_tracker *tracker, enum rtl_queue_path path, enum rtl_path_reason why)
{
    if (!tracker->shared)
        __atomic_store_n(&tracker->counters->path, RTL_QUEUE_PATH_WORD(path, why), __ATOMIC_RELAXED);
}

/* Used slots, one bit each, except the shared one. Create claims one (acquire); the thread that frees the tracker
 * releases it (release), so the next owner continues from the final counters. */
static _Atomic uint64_t slots_taken[(RTL_QUEUES_MAX + 63) / 64];

static uint32_t claim_slot(void)
{
    for (uint32_t slot = 0; slot < RTL_QUEUE_SHARED; slot++) {
        uint64_t bit = 1ull << slot % 64;
        if (!(atomic_load_explicit(&slots_taken[slot / 64], memory_order_relaxed) & bit)) {
            atomic_fetch_or_explicit(&slots_taken[slot / 64], bit, memory_order_acquire);
            return slot;
        }
    }
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_QUEUES_SHARED);
    return RTL_QUEUE_SHARED;
}

static void release_slot(uint32_t slot)
{
    if (slot != RTL_QUEUE_SHARED)
        atomic_fetch_and_explicit(&slots_taken[slot / 64], ~(1ull << slot % 64), memory_order_release);
}

void rtl_tracker_free(struct rtl_tracker *tracker)
{
    release_slot(tracker->slot); /* first: after the next line another queue may own the tracker */
    atomic_store_explicit(&tracker->state, RTL_TRACKER_FREE, memory_order_release);
}

/* As published, per slot: create. */
static uint32_t generation_of[RTL_QUEUES_MAX];

/* A queue's identity in the segment changes while its generation is odd. The stores in between are releases, so none
 * of them is seen before the odd number. */
static void begin_identity(const struct rtl_tracker *tracker)
{
    __atomic_store_n(&tracker->counters->generation, ++generation_of[tracker->slot], __ATOMIC_RELAXED);
}

static void end_identity(const struct rtl_tracker *tracker)
{
    __atomic_store_n(&tracker->counters->generation, ++generation_of[tracker->slot], __ATOMIC_RELEASE);
}

#define STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELEASE)

static void publish_gone(const struct rtl_tracker *tracker)
{
    begin_identity(tracker);
    STORE(tracker->counters->live, 0);
    STORE(tracker->counters->destroyed_mono_ns, rtl_clock_now());
    end_identity(tracker);
}

static bool shared_slot_failed; /* create: like rtl_tracker.failed, for the slot that queues share */

void rtl_tracker_fail(struct rtl_tracker *tracker, uint32_t status, uint32_t kernel)
{
    bool *failed = tracker->shared ? &shared_slot_failed : &tracker->failed;
    if (*failed)
        return;
    *failed = true;
    STORE(tracker->counters->error_mono_ns, rtl_clock_now());
    STORE(tracker->counters->error_kernel, kernel > RTL_KERNEL_FIRST ? kernel : 0);
    STORE(tracker->counters->error, status); /* last: a reader that sees the error sees its time and kernel */
}

static struct rtl_tracker *new_tracker(uint32_t slots)
{
    struct rtl_tracker *tracker = NULL;
    if (posix_memalign((void **)&tracker, 64, sizeof *tracker) != 0)
        return NULL;
    memset(tracker, 0, sizeof *tracker);
    tracker->pending.slot = calloc(slots, sizeof tracker->pending.slot[0]);
    if (!tracker->pending.slot) {
        free(tracker);
        return NULL;
    }
    tracker->pending.mask = slots - 1;
    tracker->next = atomic_load_explicit(&rtl_trackers, memory_order_relaxed);
    atomic_store_explicit(&rtl_trackers, tracker, memory_order_release);
    return tracker;
}

void rtl_tracker_make_scratch(struct rtl_tracker *tracker, uint32_t packets)
{
    if (packets <= tracker->scratch_packets)
        return;
    if (tracker->scratch)
        munmap(tracker->scratch, (size_t)tracker->scratch_packets * 64);
    tracker->scratch =
        mmap(NULL, (size_t)packets * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    tracker->scratch_packets = packets;
    if (tracker->scratch == MAP_FAILED) {
        tracker->scratch = NULL;
        tracker->scratch_packets = 0;
    }
}

/* Set the pool's limit from the sizes of its queues. */
static void update_signal_limit(struct rtl_pool *pool)
{
    uint64_t packets = 0;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        if (tracker->pool == pool && atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_LIVE)
            packets += tracker->packets;
    uint32_t limit = rtl_signals_limit(rtl_tool.settings.signals_limit, packets);
    rtl_pool_set_limit(pool, limit);
    __atomic_store_n(&rtl_tool.segment.header->signals_limit, limit, __ATOMIC_RELAXED);
}

/* Set how many signals each queue acquires at once: enough to make refilling rare, and not so many that idle queues
 * hold all. */
static void share_signals(struct rtl_pool *pool)
{
    uint32_t live = 0;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        live += atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_LIVE;
    uint32_t fair = pool ? atomic_load_explicit(&pool->limit, memory_order_relaxed) / (QUEUES_AT_ONCE * live) : 1;
    fair = fair < 1 ? 1 : fair < RTL_SIGNALS_BATCH ? fair : RTL_SIGNALS_BATCH;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        if (atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_LIVE)
            atomic_store_explicit(&tracker->batch, fair, memory_order_relaxed);
}

struct rtl_tracker *rtl_tracker_open(struct rtl_gpu *gpu, struct rtl_pool *pool, int reason, bool guarded,
                                     uint32_t packets)
{
    uint32_t pending = rtl_pending_slots(packets, rtl_tool.settings.signals_limit);
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_tracker *tracker = atomic_load(&rtl_trackers);
    /* never replace a ring: a late callback may still use it */
    while (tracker && (atomic_load_explicit(&tracker->state, memory_order_acquire) != RTL_TRACKER_FREE ||
                       tracker->pending.mask < pending - 1))
        tracker = tracker->next;
    if (!tracker)
        tracker = new_tracker(pending);
    uint32_t slot = tracker ? claim_slot() : 0;
    struct rtl_queue *counters = &rtl_tool.segment.queues[slot];
    /* a dispatch whose row has no memory counts in the first rows: without their page there is no tracker */
    if (tracker && (!rtl_segment_populate(counters, sizeof *counters) ||
                    !rtl_segment_populate(&rtl_tool.segment.dispatches[(uint64_t)slot * RTL_KERNELS_MAX],
                                          RTL_KERNEL_FIRST * sizeof(struct rtl_dispatches)))) {
        release_slot(slot);
        tracker = NULL;
    }
    if (tracker) {
        tracker->slot = slot;
        tracker->shared = slot == RTL_QUEUE_SHARED;
        tracker->counters = counters;
        tracker->dispatches = &rtl_tool.segment.dispatches[(uint64_t)slot * RTL_KERNELS_MAX];
        tracker->gpu = gpu;
        tracker->packets = packets < RTL_SIGNALS_LIMIT ? packets : RTL_SIGNALS_LIMIT;
        __atomic_store_n(&tracker->pool, pool, __ATOMIC_RELAXED);
        tracker->queue = NULL;
        tracker->named = tracker->remains = tracker->failed = false;
        atomic_store_explicit(&tracker->first_kernel, 0, memory_order_relaxed);
        atomic_store_explicit(&tracker->generation, 0, memory_order_relaxed);
        tracker->ring = NULL;
        tracker->cached = 0;
        tracker->stand_ins_cached = 0;
        rtl_pending_drop(&tracker->pending, rtl_pending_count(&tracker->pending)); /* left by a late callback */
        tracker->native = NULL;
        atomic_store(&tracker->tend, NULL);
        tracker->guarded = guarded;
        tracker->first = tracker->last = tracker->cursor = RTL_NO_SIGNAL;
        tracker->open = 0;
        tracker->last_end = 0;
        tracker->written = 0;
        tracker->check_at = tracker->guarded ? 0 : UINT64_MAX;
        atomic_store_explicit(&tracker->reading, RTL_NO_SIGNAL, memory_order_relaxed);
        tracker->known = 0;
        tracker->stuck_at = UINT64_MAX;
        tracker->newest.index = 0;
        tracker->marks = 0;
        memset(tracker->mark, 0, sizeof tracker->mark);
        atomic_store_explicit(&tracker->consumed, 0, memory_order_relaxed);
        atomic_store_explicit(&tracker->rows_ready, 0, memory_order_relaxed);
        atomic_store(&tracker->reason, reason);
        rtl_tracker_populate(tracker,
                             atomic_load_explicit(&rtl_tool.segment.kernel_count, memory_order_relaxed) + ROWS_AHEAD);
        atomic_store(&tracker->state, RTL_TRACKER_LIVE);
        if (pool)
            update_signal_limit(pool);
        share_signals(pool);
        /* rtl_trackers_stop sets `stopping`, then all trackers' reasons: it sees this tracker, or we see `stopping` */
        if (rtl_trackers_stopping())
            atomic_store(&tracker->reason, RTL_UNTIMED_SHUTDOWN);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return tracker;
}

/* Every hsa_queue_t of the runtime starts an amd_queue_t, whose layout is frozen (amd_hsa_queue.h). */
static uint32_t queue_key(const hsa_queue_t *queue)
{
    return RTL_QUEUE_KEY(((const amd_queue_t *)(const void *)queue)->queue_inactive_signal.handle);
}

void rtl_tracker_name(struct rtl_tracker *tracker, const hsa_queue_t *queue, uint64_t id)
{
    struct rtl_queue *counters = tracker->counters;
    pthread_mutex_lock(&rtl_tool.create);
    begin_identity(tracker);
    STORE(counters->agent, tracker->gpu->index);
    STORE(counters->queue_id, tracker->shared ? 0 : id);
    STORE(counters->real_id, tracker->shared ? 0 : queue->id + 1);
    STORE(counters->real_key, tracker->shared ? 0 : queue_key(queue));
    STORE(counters->size_packets, queue->size);
    STORE(counters->live, 1);
    STORE(counters->created_mono_ns, rtl_clock_now());
    STORE(counters->destroyed_mono_ns, 0);
    if (!tracker->shared) {
        STORE(counters->error, 0); /* of an earlier queue in this slot */
        STORE(counters->error_kernel, 0);
        STORE(counters->error_mono_ns, 0);
    }
    if (!tracker->shared)
        STORE(counters->dispatches_before, __atomic_load_n(&counters->dispatches, __ATOMIC_RELAXED));
    end_identity(tracker);
    if (!tracker->shared)
        atomic_store_explicit(&tracker->generation, generation_of[tracker->slot], memory_order_relaxed);
    tracker->named = true;
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_tracker_close(struct rtl_tracker *tracker)
{
    atomic_store_explicit(&tracker->reason, RTL_UNTIMED_SHUTDOWN, memory_order_relaxed);
    pthread_mutex_lock(&rtl_tool.create);
    if (!tracker->shared && tracker->named)
        publish_gone(tracker);
    tracker->queue = NULL;
    tracker->packets = 0;
    if (tracker->pool)
        update_signal_limit(tracker->pool);
    pthread_mutex_unlock(&rtl_tool.create);
}

bool rtl_trackers_stopping(void)
{
    return atomic_load(&stopping);
}

void rtl_trackers_start(void)
{
    atomic_store(&stopping, false);
}

void rtl_trackers_stop(void)
{
    atomic_store(&stopping, true);
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        atomic_store(&tracker->reason, RTL_UNTIMED_SHUTDOWN);
}

void rtl_trackers_retire(void)
{
    /* later dispatches that aren't seen inside see that nothing is timed any more */
    rtl_barrier_everywhere();
    pthread_mutex_lock(&rtl_tool.create);
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next) {
        uint32_t live = RTL_TRACKER_LIVE;
        if (!atomic_compare_exchange_strong(&tracker->state, &live, RTL_TRACKER_DEAD))
            continue;
        tracker->queue = NULL;
        if (!tracker->shared)
            publish_gone(tracker);
    }
    pthread_mutex_unlock(&rtl_tool.create);
}
