/*
 * Taps and the slots in the segment that they count in: taking, describing, giving back (queue_tracker.h).
 *
 * A slot's counters only grow, over all queues that ever had it; dispatches_before says where the present one began.
 */
#include "intercept/track/queue_tracker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "intercept/base/clock.h"
#include "intercept/base/tool.h"
#include "intercept/track/barrier.h"

enum {
    ROWS_AHEAD = 256,   /* rows of a slot whose pages are made present before a dispatch can touch them */
    QUEUES_AT_ONCE = 4, /* a queue caches at most this fraction of an even share of all signals */
};

struct rtl_tap *_Atomic rtl_taps;

static _Atomic bool stopping; /* load: from the end of timing to the next load; looked at when a tap is opened */

bool rtl_tap_populate(struct rtl_tap *tap, uint32_t rows)
{
    uint32_t ready = atomic_load_explicit(&tap->rows_ready, memory_order_relaxed);
    rows = (rows + 63) & ~63u; /* whole pages */
    if (rows > RTL_KERNELS_MAX)
        rows = RTL_KERNELS_MAX;
    if (rows <= ready)
        return true;
    if (!rtl_segment_populate(&tap->dispatches[ready], (uint64_t)(rows - ready) * sizeof(struct rtl_dispatches)))
        return false;
    while (ready < rows && !atomic_compare_exchange_weak_explicit(&tap->rows_ready, &ready, rows, memory_order_release,
                                                                  memory_order_relaxed))
        ;
    return true;
}

/*
 * The slots that taps have, a bit each; the shared one is never among them. Create takes, whoever frees the tap drops:
 * release and acquire, so that who has a slot next goes on from its counters as they were left.
 */
static _Atomic uint64_t slots_taken[(RTL_QUEUES_MAX + 63) / 64];

static uint32_t take_slot(void)
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

static void drop_slot(uint32_t slot)
{
    if (slot != RTL_QUEUE_SHARED)
        atomic_fetch_and_explicit(&slots_taken[slot / 64], ~(1ull << slot % 64), memory_order_release);
}

void rtl_tap_free(struct rtl_tap *tap)
{
    drop_slot(tap->slot); /* before, because then the tap is another queue's */
    atomic_store_explicit(&tap->state, RTL_TAP_FREE, memory_order_release);
}

/* Of each slot, as it is published: create. */
static uint32_t generation_of[RTL_QUEUES_MAX];

/* An identity in the segment changes under an odd generation. Release stores in between keep it in front of them. */
static void begin_identity(const struct rtl_tap *tap)
{
    __atomic_store_n(&tap->line->generation, ++generation_of[tap->slot], __ATOMIC_RELAXED);
}

static void end_identity(const struct rtl_tap *tap)
{
    __atomic_store_n(&tap->line->generation, ++generation_of[tap->slot], __ATOMIC_RELEASE);
}

#define STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELEASE)

static struct rtl_tap *new_tap(void)
{
    struct rtl_tap *tap = NULL;
    uint32_t limit = rtl_tool.settings.signals_limit, slots = rtl_ring_slots(limit + rtl_cards_beside(limit));
    if (posix_memalign((void **)&tap, 64, sizeof *tap) != 0)
        return NULL;
    memset(tap, 0, sizeof *tap);
    tap->pending.slot = calloc(slots, sizeof tap->pending.slot[0]);
    if (!tap->pending.slot) {
        free(tap);
        return NULL;
    }
    tap->pending.mask = slots - 1;
    tap->next = atomic_load_explicit(&rtl_taps, memory_order_relaxed);
    atomic_store_explicit(&rtl_taps, tap, memory_order_release);
    return tap;
}

void rtl_tap_make_scratch(struct rtl_tap *tap, uint32_t packets)
{
    if (packets <= tap->scratch_packets)
        return;
    if (tap->scratch)
        munmap(tap->scratch, (size_t)tap->scratch_packets * 64);
    tap->scratch =
        mmap(NULL, (size_t)packets * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    tap->scratch_packets = packets;
    if (tap->scratch == MAP_FAILED) {
        tap->scratch = NULL;
        tap->scratch_packets = 0;
    }
}

/* Each queue takes so many at once that refilling is rare, and so few that idle queues don't sit on all of them. */
static void share_signals(struct rtl_tap *opened, const struct rtl_pool *pool)
{
    uint32_t live = 1;
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next)
        live += atomic_load_explicit(&tap->state, memory_order_relaxed) == RTL_TAP_LIVE;
    uint32_t fair = pool ? pool->limit / (QUEUES_AT_ONCE * live) : 1;
    fair = fair < 1 ? 1 : fair < RTL_SIGNALS_BATCH ? fair : RTL_SIGNALS_BATCH;
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next)
        if (tap == opened || atomic_load_explicit(&tap->state, memory_order_relaxed) == RTL_TAP_LIVE)
            atomic_store_explicit(&tap->batch, fair, memory_order_relaxed);
}

struct rtl_tap *rtl_tap_open(struct rtl_gpu *gpu, struct rtl_pool *pool, int verdict, bool guarded)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_tap *tap = atomic_load(&rtl_taps);
    while (tap && atomic_load_explicit(&tap->state, memory_order_acquire) != RTL_TAP_FREE)
        tap = tap->next;
    if (!tap)
        tap = new_tap();
    uint32_t slot = tap ? take_slot() : 0;
    struct rtl_queue *line = &rtl_tool.segment.queues[slot];
    /* the first rows' page is what every dispatch without a better row counts in: without it there is no tap */
    if (tap && (!rtl_segment_populate(line, sizeof *line) ||
                !rtl_segment_populate(&rtl_tool.segment.dispatches[(uint64_t)slot * RTL_KERNELS_MAX],
                                      RTL_KERNEL_FIRST * sizeof(struct rtl_dispatches)))) {
        drop_slot(slot);
        tap = NULL;
    }
    if (tap) {
        tap->slot = slot;
        tap->shared = slot == RTL_QUEUE_SHARED;
        tap->line = line;
        tap->dispatches = &rtl_tool.segment.dispatches[(uint64_t)slot * RTL_KERNELS_MAX];
        tap->gpu = gpu;
        __atomic_store_n(&tap->pool, pool, __ATOMIC_RELAXED);
        tap->queue = NULL;
        tap->named = false;
        atomic_store_explicit(&tap->generation, 0, memory_order_relaxed);
        tap->ring = NULL;
        tap->cached = 0;
        tap->cards_cached = 0;
        rtl_pending_drop(&tap->pending, rtl_pending_count(&tap->pending)); /* of a late callback */
        share_signals(tap, pool);
        tap->guarded = guarded;
        tap->first = tap->last = tap->cursor = RTL_NO_SIGNAL;
        tap->open = 0;
        tap->last_end = 0;
        tap->written = 0;
        tap->look_at = tap->guarded ? 0 : UINT64_MAX;
        atomic_store_explicit(&tap->looking, RTL_NO_SIGNAL, memory_order_relaxed);
        tap->known = 0;
        tap->stuck_at = UINT64_MAX;
        tap->newest.index = 0;
        tap->marks = 0;
        memset(tap->mark, 0, sizeof tap->mark);
        atomic_store_explicit(&tap->consumed, 0, memory_order_relaxed);
        atomic_store_explicit(&tap->rows_ready, 0, memory_order_relaxed);
        atomic_store(&tap->verdict, verdict);
        rtl_tap_populate(tap, atomic_load_explicit(&rtl_tool.segment.kernel_count, memory_order_relaxed) + ROWS_AHEAD);
        atomic_store(&tap->state, RTL_TAP_LIVE);
        /* rtl_taps_stop says "stopping", then changes the verdicts: one of us two sees the other */
        if (rtl_taps_stopping())
            atomic_store(&tap->verdict, RTL_UNTIMED_SHUTDOWN);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return tap;
}

void rtl_tap_name(struct rtl_tap *tap, const hsa_queue_t *queue, uint64_t id)
{
    struct rtl_queue *line = tap->line;
    pthread_mutex_lock(&rtl_tool.create);
    begin_identity(tap);
    STORE(line->agent, tap->gpu->index);
    STORE(line->queue_id, tap->shared ? 0 : id);
    STORE(line->size_packets, queue->size);
    STORE(line->live, 1);
    STORE(line->created_mono_ns, rtl_clock_now());
    STORE(line->destroyed_mono_ns, 0);
    if (!tap->shared)
        STORE(line->dispatches_before, __atomic_load_n(&line->dispatches, __ATOMIC_RELAXED));
    end_identity(tap);
    if (!tap->shared)
        atomic_store_explicit(&tap->generation, generation_of[tap->slot], memory_order_relaxed);
    tap->named = true;
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_tap_close(struct rtl_tap *tap)
{
    struct rtl_queue *line = tap->line;
    atomic_store_explicit(&tap->verdict, RTL_UNTIMED_SHUTDOWN, memory_order_relaxed);
    pthread_mutex_lock(&rtl_tool.create);
    if (!tap->shared && tap->named) {
        begin_identity(tap);
        STORE(line->live, 0);
        STORE(line->destroyed_mono_ns, rtl_clock_now());
        end_identity(tap);
    }
    tap->queue = NULL;
    pthread_mutex_unlock(&rtl_tool.create);
}

bool rtl_taps_stopping(void)
{
    return atomic_load(&stopping);
}

void rtl_taps_start(void)
{
    atomic_store(&stopping, false);
}

void rtl_taps_stop(void)
{
    atomic_store(&stopping, true);
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next)
        atomic_store(&tap->verdict, RTL_UNTIMED_SHUTDOWN);
}

void rtl_taps_bury(void)
{
    rtl_barrier_everywhere(); /* a dispatch that isn't seen to be inside sees that nothing is timed any more */
    pthread_mutex_lock(&rtl_tool.create);
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next) {
        uint32_t live = RTL_TAP_LIVE;
        if (!atomic_compare_exchange_strong(&tap->state, &live, RTL_TAP_DEAD))
            continue;
        tap->queue = NULL;
        if (!tap->shared) {
            begin_identity(tap);
            STORE(tap->line->live, 0);
            STORE(tap->line->destroyed_mono_ns, rtl_clock_now());
            end_identity(tap);
        }
    }
    pthread_mutex_unlock(&rtl_tool.create);
}
