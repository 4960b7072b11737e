/* Native queues that come, are lent out, and go (native_life.h). */
#include "intercept/hooks/native_life.h"

#include <pthread.h>

#include "intercept/base/hsa_table.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/native_queue.h"
#include "intercept/track/native_ring.h"
#include "intercept/track/queue_tracker.h"

/* A queue whose doorbell leads back to it, and whose ring's length is a power of two. */
static bool is_as_expected(const hsa_queue_t *queue)
{
    return queue->base_address && queue->size && !(queue->size & (queue->size - 1)) && queue->doorbell_signal.handle &&
           ((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->kind < 0 &&
           (const hsa_queue_t *)((const amd_signal_t *)(uintptr_t)queue->doorbell_signal.handle)->queue_ptr == queue;
}

bool rtl_native_open(hsa_queue_t *queue, struct rtl_tracker *tracker)
{
    struct rtl_native *native = NULL;
    if (!rtl_native_hooked() || !is_as_expected(queue))
        return false;
    pthread_mutex_lock(&rtl_tool.create);
    if (!rtl_native_find(queue)) /* another user of it may have come first */
        native = rtl_native_add(queue, tracker, rtl_tool.hsa.queue_load_write_index_relaxed(queue));
    if (native) {
        tracker->native = native;
        rtl_native_attend(native);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return native != NULL;
}

/* It is as it was left: the same ring, and nobody has been there meanwhile. */
static bool is_as_left(const struct rtl_native *native, const hsa_queue_t *queue)
{
    return native->ring == queue->base_address && native->slots == queue->size &&
           native->doorbell.handle == queue->doorbell_signal.handle &&
           rtl_native_real(native) == rtl_native_reserved(native);
}

bool rtl_native_again(hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = rtl_native_hooked() ? rtl_native_find(queue) : NULL;
    bool again = native && (native->references || is_as_left(native, queue));
    if (again && native->references++ == 0)
        rtl_native_attend(native);
    pthread_mutex_unlock(&rtl_tool.create);
    return again;
}

void rtl_native_stop(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = rtl_native_hooked() ? rtl_native_find(queue) : NULL;
    /* under the lock: whoever gets it next has it looked after again */
    if (native && native->references && --native->references == 0)
        rtl_tracker_leave(native->tracker);
    pthread_mutex_unlock(&rtl_tool.create);
}

struct rtl_tracker *rtl_native_retire(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = rtl_native_hooked() ? rtl_native_find(queue) : NULL;
    struct rtl_tracker *tracker = native && !native->references ? native->tracker : NULL;
    if (tracker) {
        rtl_native_remove(native);
        rtl_native_give(native);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    return tracker;
}

bool rtl_native_close(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = rtl_native_hooked() ? rtl_native_find(queue) : NULL;
    bool last = !native || native->references <= 1;
    if (native && !last)
        native->references--;
    struct rtl_tracker *tracker = native && last ? native->tracker : NULL;
    if (tracker)
        rtl_native_remove(native);
    pthread_mutex_unlock(&rtl_tool.create);
    if (tracker) {
        rtl_tracker_leave(tracker); /* the worker looks at the queue no more when this returns, */
        rtl_native_leave(native);   /* nor does a thread that has rung, and may still be looking for more */
        pthread_mutex_lock(&rtl_tool.create);
        rtl_native_give(native);
        pthread_mutex_unlock(&rtl_tool.create);
    }
    return last;
}
