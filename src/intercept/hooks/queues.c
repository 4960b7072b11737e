/*
 * The hooks on creating and destroying queues.
 *
 * A queue is native by default: the runtime's plain queue, with the library between the application and its ring
 * (native_queue.c). The library makes an intercept queue of the runtime if RTL_QUEUES asks for one, or if the queue
 * can't be native. It enables profiling on both, because real GPUs write no timestamps otherwise. There are three paths
 * to an intercept queue:
 * - No tool hooked the table before us: hsa_amd_queue_intercept_create.
 * - A tool hooked the table before us (the saved hsa_queue_create lies in another library than the runtime): we make
 *   the queue through that tool and join its intercept queue. If the tool makes a plain queue, that becomes a native
 *   one, or an intercept queue replaces it if native queues aren't chosen.
 * - A tool after us makes intercept queues itself: the hook on hsa_amd_queue_intercept_create joins those.
 *
 * Where the runtime's intercept queues overwrite memory (queue_selftest.h) the library makes none, but joins those of
 * another tool: they are no safer without it. On any failure the application gets the queue that it would have without
 * us, and the library counts that queue as not watched.
 */
#include "intercept/hooks/queues.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "intercept/base/agents.h"
#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/hooks.h"
#include "intercept/hooks/native_queue.h"
#include "intercept/hooks/queue_errors.h"
#include "intercept/hooks/queue_selftest.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/links.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/track/throttle.h"
#include "intercept/worker/worker.h"

/* An agent has one cooperative queue, which the runtime returns to each caller and counts. An intercept queue deletes
 * it with itself. So it becomes native, or stays plain, which is counted and noted. */
static bool is_interceptible(hsa_queue_type32_t type)
{
    return type != HSA_QUEUE_TYPE_COOPERATIVE;
}

bool rtl_queue_same_library(void (*a)(void), void (*b)(void))
{
    Dl_info in_a, in_b;
    void *at_a, *at_b;
    memcpy(&at_a, &a, sizeof at_a);
    memcpy(&at_b, &b, sizeof at_b);
    return dladdr(at_a, &in_a) && dladdr(at_b, &in_b) && in_a.dli_fbase == in_b.dli_fbase;
}

void rtl_queues_detect_tool(void)
{
    rtl_tool.chained = !rtl_queue_same_library((void (*)(void))rtl_tool.hsa.queue_create,
                                               (void (*)(void))rtl_tool.hsa.amd_queue_intercept_create);
}

/* --- the queue's path --- */

bool rtl_queues_may_be_native(void)
{
    return rtl_tool.settings.queues != RTL_QUEUES_INTERCEPT;
}

/* Native queues are the default: they cost half, and intercept queues are unsafe on 7.2.0 to 7.2.4. */
static enum rtl_queue_path choose_path(enum rtl_path_reason *why)
{
    *why = rtl_tool.settings.queues == RTL_QUEUES_AUTO ? RTL_REASON_DEFAULT : RTL_REASON_ASKED_FOR;
    return rtl_queues_may_be_native() ? RTL_PATH_NATIVE : RTL_PATH_INTERCEPT;
}

/* UINT32_MAX (HIP passes it) lets the runtime choose; intercept queues of some releases refuse it. */
static uint32_t segment_size(uint32_t size)
{
    return size == UINT32_MAX ? 0 : size;
}

static hsa_status_t create_plain(const struct rtl_queue_request *r, hsa_queue_t **queue)
{
    return rtl_tool.hsa.queue_create(r->agent, r->size, r->type, r->error, r->data, r->private_segment,
                                     r->group_segment, queue);
}

static hsa_status_t create_intercepted(const struct rtl_queue_request *r, hsa_queue_t **queue)
{
    return rtl_tool.hsa.amd_queue_intercept_create(r->agent, r->size, r->type, r->error, r->data,
                                                   segment_size(r->private_segment), segment_size(r->group_segment),
                                                   queue);
}

/* The handler may run as soon as it is registered, on the runtime's event thread. */
static bool register_handler(struct rtl_tracker *tracker, hsa_queue_t *queue)
{
    tracker->ring = queue->base_address;
    tracker->ring_bytes = (uint64_t)queue->size * 64;
    rtl_tracker_make_scratch(tracker, queue->size + 1); /* the library may add one packet (throttle.h) */
    return rtl_tool.hsa.amd_queue_intercept_register(queue, rtl_dispatch, tracker) == HSA_STATUS_SUCCESS;
}

/* Return a tracker for a queue that is about to be made; NULL when there is no memory. */
static struct rtl_tracker *open_tracker(struct rtl_gpu *gpu, enum rtl_queue_path path, uint32_t packets)
{
    int reason = RTL_NO_REASON;
    struct rtl_pool *pool = rtl_worker_pool(&reason);
    bool guarded = path == RTL_PATH_INTERCEPT && pool && (rtl_tool.fragile || rtl_queue_selftest_batches());
    struct rtl_tracker *tracker = rtl_tracker_open(gpu, pool, reason, guarded, packets);
    if (tracker && guarded)
        rtl_throttle_prepare(tracker);
    return tracker;
}

static void close_tracker(struct rtl_tracker *tracker)
{
    rtl_tracker_close(tracker);
    rtl_worker_settle(tracker);
}

static void publish_queue(struct rtl_tracker *tracker, hsa_queue_t *queue, enum rtl_queue_path path,
                          enum rtl_path_reason why)
{
    if (rtl_tool.hsa.amd_profiling_set_profiler_enabled(queue, 1) != HSA_STATUS_SUCCESS)
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_NOT_PROFILED);
    if (rtl_hot.linked)
        rtl_links_open(tracker, queue);
    tracker->cooperative = queue->type == HSA_QUEUE_TYPE_COOPERATIVE;
    rtl_tracker_set_path(tracker, path, why);
    rtl_tracker_name(tracker, queue, rtl_queue_selftest_id_without(queue->id));
    pthread_mutex_lock(&rtl_tool.create);
    tracker->queue = queue;
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_queue_not_watched(void)
{
    rtl_app_signals_stop(); /* its packets may carry signals that kernels of other queues had */
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_QUEUE_NOT_INTERCEPTED);
    __atomic_fetch_add(&rtl_tool.segment.header->queues_refused, 1, __ATOMIC_RELAXED);
}

/* Without a tool before us. */
static bool create_own(struct rtl_tracker *tracker, const struct rtl_queue_request *r, hsa_queue_t **queue)
{
    hsa_queue_t *made = NULL;
    if (create_intercepted(r, &made) != HSA_STATUS_SUCCESS || !made)
        return false;
    if ((r->apply && !r->apply(r, made)) || !register_handler(tracker, made)) {
        rtl_tool.hsa.queue_destroy(made);
        return false;
    }
    *queue = made;
    return true;
}

/* Create a queue through the tool before us. When false, *queue is that tool's plain queue, or *status its error.
 * `replace`: an intercept queue of ours replaces such a plain queue. The library joins that tool's intercept queue
 * even where intercept queues are unsafe: the runtime overwrites memory in it with us and without. */
static bool create_chained(struct rtl_tracker *tracker, const struct rtl_queue_request *r, bool replace,
                           hsa_queue_t **queue, hsa_status_t *status)
{
    *status = r->plain(r, queue);
    if (*status != HSA_STATUS_SUCCESS)
        return false;
    if (register_handler(tracker, *queue))
        return true;
    hsa_queue_t *other = *queue;
    if (!replace || !create_own(tracker, r, queue)) {
        *queue = other;
        return false;
    }
    rtl_tool.hsa.queue_destroy(other);
    return true;
}

/* Make a new queue of the runtime, without users, a native one. False: it stays plain. */
static bool open_native(struct rtl_gpu *gpu, hsa_queue_t *queue, enum rtl_path_reason why)
{
    struct rtl_tracker *before = rtl_native_retire(queue);
    if (before)
        close_tracker(before);
    struct rtl_tracker *tracker = open_tracker(gpu, RTL_PATH_NATIVE, queue->size);
    if (tracker && rtl_native_open(queue, tracker)) {
        publish_queue(tracker, queue, RTL_PATH_NATIVE, why);
        return true;
    }
    if (tracker)
        close_tracker(tracker);
    return rtl_native_add_user(queue);
}

static hsa_status_t create_native(const struct rtl_queue_request *r, struct rtl_gpu *gpu, enum rtl_path_reason why,
                                  hsa_queue_t **queue)
{
    hsa_status_t status = r->plain(r, queue);
    if (status != HSA_STATUS_SUCCESS ||
        rtl_native_add_user(*queue)) /* an agent has one cooperative queue for all users */
        return status;
    if (!open_native(gpu, *queue, why))
        rtl_queue_not_watched();
    return status;
}

/* `path` is NATIVE here if the queue can't be native, or another tool makes it. */
static hsa_status_t create_intercept_or_native(const struct rtl_queue_request *r, struct rtl_gpu *gpu,
                                               enum rtl_queue_path path, enum rtl_path_reason why, hsa_queue_t **queue)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    hsa_queue_t *made = NULL;
    bool native = path == RTL_PATH_NATIVE && r->native; /* a queue that another tool leaves plain becomes native */
    bool watched = false, wanted = r->intercept && is_interceptible(r->type);
    bool unsafe = wanted && rtl_queue_selftest(r->agent);
    struct rtl_tracker *tracker =
        wanted && (r->chained || !unsafe) ? open_tracker(gpu, RTL_PATH_INTERCEPT, r->size) : NULL;
    if (tracker) {
        if (!r->chained)
            watched = create_own(tracker, r, &made);
        else
            watched = create_chained(tracker, r, !native && !unsafe, &made, &status);
    }
    if (watched) {
        publish_queue(tracker, made, RTL_PATH_INTERCEPT,
                      path == RTL_PATH_INTERCEPT ? why
                      : r->native                ? RTL_REASON_OTHER_TOOL
                                                 : RTL_REASON_RING_ELSEWHERE);
        *queue = made;
        return HSA_STATUS_SUCCESS;
    }
    if (tracker)
        close_tracker(tracker);
    if (made)
        *queue = made;
    else if (status == HSA_STATUS_SUCCESS)
        status = r->plain(r, queue); /* with an error of its own if the arguments are wrong */
    if (status == HSA_STATUS_SUCCESS &&
        !(r->native &&
          (rtl_native_add_user(*queue) || open_native(gpu, *queue, native ? why : RTL_REASON_NO_INTERCEPT)))) {
        if (unsafe)
            rtl_queue_selftest_warn();
        rtl_queue_not_watched();
    }
    return status;
}

hsa_status_t rtl_queue_make(const struct rtl_queue_request *r, hsa_queue_t **queue)
{
    int saved = errno;
    struct rtl_gpu *gpu = NULL;

    if (rtl_recording() && queue)
        gpu = rtl_gpu_find(r->agent);
    if (!gpu) { /* not recording, or not a GPU's queue */
        errno = saved;
        return r->plain(r, queue);
    }
    enum rtl_path_reason why;
    enum rtl_queue_path path = choose_path(&why);
    hsa_status_t status = path == RTL_PATH_NATIVE && r->native && !r->chained
                              ? create_native(r, gpu, why, queue)
                              : create_intercept_or_native(r, gpu, path, why, queue);
    errno = saved;
    return status;
}

void rtl_queue_acquired(hsa_agent_t agent, hsa_queue_t *queue)
{
    enum rtl_path_reason why;
    struct rtl_gpu *gpu = rtl_gpu_find(agent);
    if (choose_path(&why) == RTL_PATH_INTERCEPT)
        why = RTL_REASON_NO_INTERCEPT; /* it belongs to several users and the runtime */
    if (!gpu || (!rtl_native_add_user(queue) && !open_native(gpu, queue, why)))
        rtl_queue_not_watched();
}

void rtl_queue_released(hsa_queue_t *queue)
{
    if (rtl_recording())
        rtl_native_release(queue);
}

hsa_status_t rtl_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                              void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    struct rtl_queue_relay *relay = NULL;
    if (rtl_recording() && type == HSA_QUEUE_TYPE_COOPERATIVE)
        rtl_queue_errors_relay_shared(&error, &data);
    else if (rtl_recording())
        relay = rtl_queue_errors_relay(&error, &data);
    const struct rtl_queue_request r = {.agent = agent,
                                        .size = size,
                                        .type = type,
                                        .error = error,
                                        .data = data,
                                        .private_segment = private_segment,
                                        .group_segment = group_segment,
                                        .intercept = true,
                                        .native = true,
                                        .chained = rtl_tool.chained,
                                        .plain = create_plain};
    int held = rtl_cancel_disable();
    hsa_status_t status = rtl_queue_make(&r, queue);
    rtl_queue_errors_of(relay, status == HSA_STATUS_SUCCESS ? *queue : NULL);
    rtl_cancel_restore(held);
    return status;
}

/* Join an intercept queue that another tool made. */
static void join_other_tool(hsa_agent_t agent, hsa_queue_type32_t type, hsa_queue_t *queue)
{
    int saved = errno;
    struct rtl_gpu *gpu = rtl_gpu_find(agent);
    if (gpu)
        rtl_queue_selftest(agent);
    struct rtl_tracker *tracker =
        gpu && is_interceptible(type) ? open_tracker(gpu, RTL_PATH_INTERCEPT, queue->size) : NULL;
    if (tracker && register_handler(tracker, queue)) {
        publish_queue(tracker, queue, RTL_PATH_INTERCEPT, RTL_REASON_OTHER_TOOL);
    } else {
        if (tracker)
            close_tracker(tracker);
        rtl_queue_not_watched();
    }
    errno = saved;
}

hsa_status_t rtl_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                        rtl_queue_error error, void *data, uint32_t private_segment,
                                        uint32_t group_segment, hsa_queue_t **queue)
{
    struct rtl_queue_relay *relay = rtl_recording() ? rtl_queue_errors_relay(&error, &data) : NULL;
    int held = rtl_cancel_disable();
    hsa_status_t status =
        rtl_tool.hsa.amd_queue_intercept_create(agent, size, type, error, data, private_segment, group_segment, queue);
    rtl_queue_errors_of(relay, status == HSA_STATUS_SUCCESS ? *queue : NULL);
    if (status == HSA_STATUS_SUCCESS && rtl_recording())
        join_other_tool(agent, type, *queue);
    rtl_cancel_restore(held);
    return status;
}

/* Detach the queue's tracker, so that no thread finds it any more; NULL if it has none. */
static struct rtl_tracker *detach_tracker(const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_tracker *tracker = atomic_load(&rtl_trackers);
    while (tracker && (tracker->queue != queue || atomic_load(&tracker->state) != RTL_TRACKER_LIVE))
        tracker = tracker->next;
    if (tracker)
        tracker->queue = NULL;
    pthread_mutex_unlock(&rtl_tool.create);
    return tracker;
}

static hsa_status_t close_and_destroy(hsa_queue_t *queue)
{
    /* before the queue is destroyed, because its address may be reused at once */
    /* not in a forked child: a thread that doesn't exist there may hold the lock */
    if (!queue || !rtl_recording() || !rtl_native_close(queue)) /* it has other users */
        return rtl_tool.hsa.queue_destroy(queue);
    struct rtl_tracker *tracker = detach_tracker(queue);
    if (rtl_hot.linked)
        rtl_links_close(queue);
    struct rtl_queue_relay *relay = rtl_queue_errors_leave(queue);
    hsa_status_t status = rtl_tool.hsa.queue_destroy(queue);
    rtl_queue_errors_of(relay, status == HSA_STATUS_SUCCESS ? NULL : queue);
    if (!tracker)
        return status;
    int saved = errno;
    if (status == HSA_STATUS_SUCCESS || tracker->native) {
        tracker->remains = status != HSA_STATUS_SUCCESS;
        close_tracker(tracker);
    } else {
        pthread_mutex_lock(&rtl_tool.create);
        tracker->queue = queue;
        pthread_mutex_unlock(&rtl_tool.create);
    }
    errno = saved;
    return status;
}

hsa_status_t rtl_queue_destroy(hsa_queue_t *queue)
{
    int held = rtl_cancel_disable();
    hsa_status_t status = close_and_destroy(queue);
    rtl_cancel_restore(held);
    return status;
}
