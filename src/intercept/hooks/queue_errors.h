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
 * are where there can be no probe, or no memory. What is returned goes to the next. */
struct rtl_queue_relay;
struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data);

/* Create: the queue was made; NULL: it was not. */
void rtl_queue_errors_of(struct rtl_queue_relay *relay, const hsa_queue_t *queue);

/* Create: the queue is no more, and the runtime calls nobody for it. */
void rtl_queue_errors_forget(const hsa_queue_t *queue);

#endif
