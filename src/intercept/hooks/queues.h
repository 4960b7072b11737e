/* Queues: the hooks that attach a tracker to each queue of the application. */
#ifndef RTL_INTERCEPT_QUEUES_H
#define RTL_INTERCEPT_QUEUES_H

#include "intercept/base/hsa_table.h"

hsa_status_t rtl_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                              void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue);
hsa_status_t rtl_queue_destroy(hsa_queue_t *queue);

/* A queue as the application requested it. `plain` makes it as without us, from `descriptor` if the request has one.
 * `apply`, if not NULL, sets properties on an intercept queue that its creation lacks; false if impossible. */
struct rtl_queue_request {
    hsa_agent_t agent;
    uint32_t size;
    hsa_queue_type32_t type;
    rtl_queue_error error;
    void *data;
    uint32_t private_segment, group_segment;
    bool intercept; /* may be an intercept queue, as far as the caller knows */
    bool native;    /* may be a native queue */
    bool chained;   /* `plain` calls another tool */
    hsa_status_t (*plain)(const struct rtl_queue_request *request, hsa_queue_t **queue);
    bool (*apply)(const struct rtl_queue_request *request, hsa_queue_t *queue);
    void *descriptor;
};
hsa_status_t rtl_queue_make(const struct rtl_queue_request *request, hsa_queue_t **queue);
/* Load: true if queues may become native with these settings. */
bool rtl_queues_may_be_native(void);
/* Create: the application acquired a counted queue, which others may have, too; it releases the queue. */
void rtl_queue_acquired(hsa_agent_t agent, hsa_queue_t *queue);
void rtl_queue_released(hsa_queue_t *queue);
/* The application got a queue whose packets aren't seen. */
void rtl_queue_not_watched(void);
bool rtl_queue_same_library(void (*a)(void), void (*b)(void));

/* Watch intercept queues, too, which tools loaded after us make. */
hsa_status_t rtl_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                        rtl_queue_error error, void *data, uint32_t private_segment,
                                        uint32_t group_segment, hsa_queue_t **queue);

/* Load: detect a tool that creates the queues before us. Once, because dladdr acquires the loader's lock, which
 * must not happen under HIP's locks. */
void rtl_queues_detect_tool(void);

#endif
