/* Native queues: the hooks on write indices and doorbells, and what is done with the packets behind them. */
#ifndef RTL_INTERCEPT_NATIVE_QUEUE_H
#define RTL_INTERCEPT_NATIVE_QUEUE_H

#include <hsa/hsa.h>
#include <stdbool.h>

struct rtl_tracker;

/*
 * Create: the library stands in front of that queue from now on, or one user more has it (cooperative and counted
 * queues are lent out several times). False when it can't: then the queue is as the runtime made it.
 */
bool rtl_native_open(hsa_queue_t *queue, struct rtl_tracker *tracker);
/* Create: the queue is one of those already, and has one user more now. */
bool rtl_native_add_user(hsa_queue_t *queue);
/*
 * Create: a counted queue is given back by one of its users. After the last one the runtime keeps it or not, so nobody
 * looks at it; what was in flight on it is still waited for. If it is lent out again as it was left,
 * rtl_native_add_user says so.
 */
void rtl_native_release(const hsa_queue_t *queue);
/* Create: the tracker of a queue that rested at that address, and that another queue has now; else NULL. */
struct rtl_tracker *rtl_native_retire(const hsa_queue_t *queue);
/* Create: one user less. True when it was the last: the queue is the runtime's own again, as if it had never been. */
bool rtl_native_close(const hsa_queue_t *queue);

/* Load: puts the hooks in. Where they aren't, there can be no native queue. */
void rtl_native_hook(void *table);

#endif
