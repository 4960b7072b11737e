/* Checks how full a queue is, and waits (throttle.h). */
#include "intercept/track/throttle.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "intercept/base/hsa_clock.h"
#include "intercept/base/tool.h"
#include "intercept/track/barrier.h"

static const uint64_t GIVE_UP = 500000000; /* ns without progress of the GPU */
static const uint64_t SPIN = 50000;        /* ns of polling without a pause: short kernels end within that */
enum { SMALLEST = 16 };                    /* slots; smaller queues aren't throttled */

static bool signal_is_down(const amd_signal_t *signal)
{
    return !signal || __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED;
}

static amd_signal_t *signal_of(const struct rtl_marker *marker)
{
    return (amd_signal_t *)(uintptr_t)__atomic_load_n(&marker->signal.handle, __ATOMIC_RELAXED);
}

static bool marker_is_down(const struct rtl_marker *marker)
{
    return signal_is_down(signal_of(marker));
}

static bool mark_is_consumed(const struct rtl_tracker *tracker, const struct rtl_mark *mark)
{
    return mark->index <= atomic_load_explicit(&tracker->consumed, memory_order_acquire);
}

/* The worker raises `consumed` before it arms a signal again, so a signal whose packet isn't consumed is still on
 * it. If the worker collects it between the two loads, the packet was done in either case. */
static bool mark_is_passed(struct rtl_tracker *tracker, const struct rtl_mark *mark)
{
    if (mark_is_consumed(tracker, mark))
        return true;
    atomic_store_explicit(&tracker->reading, mark->number, memory_order_relaxed);
    rtl_full_barrier(); /* see throttle.h */
    bool done = mark_is_consumed(tracker, mark);
    if (!done && mark->number >= RTL_MARKER) {
        const struct rtl_marker *marker = &tracker->marker[mark->number - RTL_MARKER];
        done = marker->index != mark->index ||
               marker_is_down(marker); /* it is on a later packet only if this one was done */
    } else if (!done) {
        done = signal_is_down(rtl_pool_signal(tracker->pool, mark->number));
    }
    atomic_store_explicit(&tracker->reading, RTL_NO_SIGNAL, memory_order_release);
    return done;
}

bool rtl_throttle_is_reading(uint32_t number)
{
    rtl_full_barrier();
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        if (atomic_load_explicit(&tracker->reading, memory_order_acquire) == number)
            return true;
    return false;
}

/* Update `known`. False if no signal of ours is in flight: then no more can become known. */
static bool update_known(struct rtl_tracker *tracker)
{
    uint64_t consumed = atomic_load_explicit(&tracker->consumed, memory_order_acquire);
    if (tracker->known < consumed)
        tracker->known = consumed;
    for (int i = 0; i < RTL_MARKS; i++)
        if (tracker->mark[i].index > tracker->known && mark_is_passed(tracker, &tracker->mark[i]))
            tracker->known = tracker->mark[i].index;
    if (tracker->newest.index <= tracker->known)
        return false;
    if (!mark_is_passed(tracker, &tracker->newest))
        return true;
    tracker->known = tracker->newest.index;
    return false;
}

void rtl_throttle_prepare(struct rtl_tracker *tracker)
{
    pthread_mutex_lock(&rtl_tool.create);
    /* none once the runtime goes: they would never be destroyed */
    bool live = atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_LIVE;
    for (int i = 0; live && i < RTL_MARKS; i++) {
        struct rtl_marker *marker = &tracker->marker[i];
        marker->index = 0;
        if (tracker->markers_of != tracker->pool && !tracker->pool->maker.make(&marker->signal))
            marker->signal.handle = 0;
    }
    if (live)
        tracker->markers_of = tracker->pool;
    pthread_mutex_unlock(&rtl_tool.create);
}

static void release_markers(struct rtl_tracker *tracker)
{
    /* not tracker->pool, which is NULL if the queue was made after the worker had stopped */
    struct rtl_pool *maker = tracker->markers_of;
    hsa_signal_t signal[RTL_MARKS];
    for (int i = 0; i < RTL_MARKS; i++)
        signal[i].handle = __atomic_exchange_n(&tracker->marker[i].signal.handle, 0, __ATOMIC_RELAXED);
    rtl_full_barrier(); /* take them out of use first: a late dispatch may be reading one */
    for (int i = 0; i < RTL_MARKS; i++) {
        bool free = !tracker->marker[i].index || signal_is_down((const amd_signal_t *)(uintptr_t)signal[i].handle);
        if (maker && signal[i].handle && free &&
            atomic_load_explicit(&tracker->reading, memory_order_acquire) != RTL_MARKER + (uint32_t)i)
            maker->maker.destroy(signal[i]);
    }
    tracker->markers_of = NULL;
}

void rtl_throttle_release(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        if (!atomic_load_explicit(&tracker->inside, memory_order_acquire))
            release_markers(tracker);
    pthread_mutex_unlock(&rtl_tool.create);
}

bool rtl_throttle_send_marker(struct rtl_tracker *tracker, hsa_signal_t *signal)
{
    for (uint32_t i = 0; i < RTL_MARKS; i++) {
        struct rtl_marker *marker = &tracker->marker[i];
        if (!marker->signal.handle || (marker->index && !marker_is_down(marker)))
            continue;
        rtl_signal_arm(signal_of(marker));
        marker->index = tracker->written;
        *signal = marker->signal;
        rtl_throttle_mark(tracker, RTL_MARKER + i);
        return true;
    }
    return false;
}

void rtl_throttle_wait(struct rtl_tracker *tracker, uint64_t n)
{
    uint64_t slots = tracker->ring_bytes / 64, most = slots / 4 * 3;
    int error = errno;
    if (slots < SMALLEST || !tracker->pool) {
        tracker->check_at = UINT64_MAX;
        return;
    }
    /* `stuck_at`: waiting timed out before, and the GPU made no progress since */
    bool telling = update_known(tracker) && tracker->known != tracker->stuck_at;
    uint64_t since = rtl_clock_now(), now = since, known = tracker->known;
    while (telling && tracker->written + n - tracker->known > most) {
        if (now - since > SPIN) {
            struct timespec moment = {0, 50000};
            syscall(SYS_nanosleep, &moment, NULL); /* not nanosleep(): a thread must not be cancelled here */
        }
        telling = update_known(tracker);
        now = rtl_clock_now();
        if (tracker->known != known) {
            known = tracker->known;
            since = now;
        } else if (now - since > GIVE_UP) {
            tracker->stuck_at = known;
            telling = false;
        }
    }
    /* without a signal in flight, check again a quarter of the queue later */
    tracker->check_at = telling ? tracker->known + most : tracker->written + slots / RTL_MARKS;
    errno = error;
}
