/* Relays a queue's errors in a process whose kernels may be probed (RTL_PROBE=1): first to the probe, which is
 * disarmed for good if it had a dispatch in flight, then to the application. In other processes the runtime calls
 * the application directly. */
#ifndef RTL_INTERCEPT_QUEUE_ERRORS_H
#define RTL_INTERCEPT_QUEUE_ERRORS_H

#include <hsa/hsa.h>

#include "intercept/base/hsa_table.h"

/* Create: replace *error and *data for a queue that is about to be made. They stay unchanged without a probe,
 * without memory, and if the application has no callback: the runtime's default then ends the process or prints the
 * error. Pass the result to rtl_queue_errors_of. */
struct rtl_queue_relay;
struct rtl_queue_relay *rtl_queue_errors_relay(rtl_queue_error *error, void **data);

/* Create: the same for a counted queue, which others may have, too. The runtime's last call for it is unknown, so
 * the relay is never released. */
void rtl_queue_errors_relay_counted(rtl_queue_error *error, void **data);

/* Create: the queue was made; NULL: it was not. */
void rtl_queue_errors_of(struct rtl_queue_relay *relay, const hsa_queue_t *queue);

/* Create: the queue is about to be destroyed. Returns its relay, NULL if it has none. The relay stays in use without
 * a queue: the runtime may still call it, and another queue may get the address before the destruction returns. Then
 * call rtl_queue_errors_of with NULL, or with the queue if it still exists. */
struct rtl_queue_relay *rtl_queue_errors_leave(const hsa_queue_t *queue);

#endif
