/* Queues: the hooks that put a tracker on each queue that the application creates, and take it off again. */
#ifndef RTL_INTERCEPT_QUEUES_H
#define RTL_INTERCEPT_QUEUES_H

#include "intercept/base/hsa_table.h"

hsa_status_t rtl_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                              void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue);
hsa_status_t rtl_queue_destroy(hsa_queue_t *queue);

/*
 * A queue as the application asked for it, and how it would get it without us: `plain` makes it, from `descriptor` if
 * it was described so; `apply`, where there is one, gives an intercept queue what its creation can't say (false: it
 * can't).
 */
struct rtl_queue_request {
    hsa_agent_t agent;
    uint32_t size;
    hsa_queue_type32_t type;
    rtl_queue_error error;
    void *data;
    uint32_t private_segment, group_segment;
    bool intercept; /* it may be an intercept queue as far as the caller knows, */
    bool native;    /* and a native one */
    bool chained;   /* what `plain` calls is another tool's */
    hsa_status_t (*plain)(const struct rtl_queue_request *request, hsa_queue_t **queue);
    bool (*apply)(const struct rtl_queue_request *request, hsa_queue_t *queue);
    void *descriptor;
};
hsa_status_t rtl_queue_make(const struct rtl_queue_request *request, hsa_queue_t **queue);
/* Load: on this release, with these settings, queues may become native ones. */
bool rtl_queues_may_be_native(void);
/* Create: the application was lent a queue that others may have, too; and gives it back. */
void rtl_queue_acquired(hsa_agent_t agent, hsa_queue_t *queue);
void rtl_queue_released(hsa_queue_t *queue);
/* The application got queues whose packets aren't seen. */
void rtl_queue_not_watched(void);
bool rtl_queue_same_library(void (*a)(void), void (*b)(void));

/* For tools that are loaded after us and make intercept queues themselves: those are watched, too. */
hsa_status_t rtl_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                        rtl_queue_error error, void *data, uint32_t private_segment,
                                        uint32_t group_segment, hsa_queue_t **queue);

/*
 * Load: finds out whether a tool before us creates the queues. Once, because asking takes the loader's lock, which must
 * not be taken under locks of HIP's.
 */
void rtl_queues_detect_tool(void);

#endif
