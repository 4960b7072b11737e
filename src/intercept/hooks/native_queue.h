/* Native queues: hooks on write indices and doorbells, opening and closing. */
#ifndef RTL_INTERCEPT_NATIVE_QUEUE_H
#define RTL_INTERCEPT_NATIVE_QUEUE_H

#include <hsa/hsa.h>
#include <stdbool.h>

struct rtl_tracker;

/* Create: make the queue a native one, or add a user to it (cooperative and counted queues may have several). False if
 * that is impossible: the queue stays as the runtime made it. */
bool rtl_native_open(hsa_queue_t *queue, struct rtl_tracker *tracker);
/* Create: add a user if the queue is a native one already. True if so. */
bool rtl_native_add_user(hsa_queue_t *queue);
/* Create: one user releases a counted queue. After the last one the runtime may keep the queue or not, so it isn't
 * tended, but packets in flight are still collected. If it is acquired again unchanged, rtl_native_add_user
 * returns true. */
void rtl_native_release(const hsa_queue_t *queue);
/* Create: return the tracker of an idle counted queue at that address, which another queue has now; else NULL. */
struct rtl_tracker *rtl_native_retire(const hsa_queue_t *queue);
/* Create: remove a user. True if it was the last one: the queue is not a native one any more. */
bool rtl_native_close(const hsa_queue_t *queue);

/* Load: install the hooks. Without them no queue becomes native. */
void rtl_native_hook(void *table);

#endif
