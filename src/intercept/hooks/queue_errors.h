/*
 * Who is told of a queue's errors, in a process whose kernels may be probed (RTL_PROBE=1): the application, and before
 * it the probe, which is disarmed for good if it had a dispatch in flight. In any other process the runtime calls the
 * application itself.
 */
#ifndef RTL_INTERCEPT_QUEUE_ERRORS_H
#define RTL_INTERCEPT_QUEUE_ERRORS_H

#include <hsa/hsa.h>

#include "intercept/base/hsa_table.h"

/* Create: *error and *data become what the runtime is to get for a queue that is about to be made. They stay as they
 * are where there can be no probe, or no memory, and where the application has none: the runtime has one of its own
 * then, which ends the process or says what happened. What is returned goes to the next. */
struct rtl_queue_relay;
struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data);

/* Create: the same for a queue that the application is lent, and that others may have, too. Nobody knows when the
 * runtime calls nobody for it any more, so what is taken for that is never given back. */
void rtl_queue_errors_relay_counted(rtl_queue_error *error, void **data);

/* Create: the queue was made; NULL: it was not. */
void rtl_queue_errors_of(struct rtl_queue_relay *relay, const hsa_queue_t *queue);

/* Create: the queue is about to be destroyed. Its relay, NULL where it has none, is nobody's from here on, but still
 * taken: the runtime may call it, and the queue's address may be another queue's before its destruction returns. Then
 * rtl_queue_errors_of says how that went: NULL, or the queue if it is still there. */
struct rtl_queue_relay *rtl_queue_errors_leave(const hsa_queue_t *queue);

#endif
