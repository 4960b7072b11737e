/*
 * Queue errors: publishes them in the segment, then passes them on.
 *
 * The runtime reports an error in one of two ways, on its own thread, and may end the process right after. A queue's
 * error callback gets errors of packets, instructions and addresses beyond the apertures: the library puts a relay in
 * front of each callback. The handlers of system events get a page fault, with the GPU but without the queue: the
 * library publishes it for all queues of that GPU with a kernel in flight, because the driver stops them all.
 *
 * The library passes both on unchanged. For a queue without a callback it does what the runtime does (the same from 5.2
 * to 7.2): it prints the error and ends the process, or does nothing with HSA_ENABLE_QUEUE_FAULT_MESSAGE=0. Its handler
 * of system events returns an error, so the runtime acts as if the handler did not exist.
 */
#ifndef RTL_INTERCEPT_QUEUE_ERRORS_H
#define RTL_INTERCEPT_QUEUE_ERRORS_H

#include <hsa/hsa.h>

#include "intercept/base/hsa_table.h"

/* Load: register the handler of system events with the runtime that was just loaded. */
void rtl_queue_errors_start(void);

/* Create: replace *error and *data before a queue is made. Without memory they stay unchanged. Pass the result to
 * rtl_queue_errors_of. */
struct rtl_queue_relay;
struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data);

/* Create: the same for a queue whose creator acts differently without a callback: a NULL *error stays NULL. */
struct rtl_queue_relay *rtl_queue_errors_relay_callback(rtl_queue_error *error, void **data);

/* Create: the same for a queue that others may have, too: an agent's cooperative queue. The runtime calls its first
 * user's callback until the last one leaves, so the relay is never released. */
void rtl_queue_errors_relay_shared(rtl_queue_error *error, void **data);

/* Create: the same for a counted queue. *error stays NULL. */
void rtl_queue_errors_relay_counted(rtl_queue_error *error, void **data);

/* Create: the queue was made; NULL: it was not. */
void rtl_queue_errors_of(struct rtl_queue_relay *relay, const hsa_queue_t *queue);

/* Create: the queue is about to be destroyed. Returns its relay, NULL if it has none. The relay stays in use without
 * a queue: the runtime may still call it, and another queue may get the address before the destruction returns. Then
 * call rtl_queue_errors_of with NULL, or with the queue if it still exists. */
struct rtl_queue_relay *rtl_queue_errors_leave(const hsa_queue_t *queue);

#endif
