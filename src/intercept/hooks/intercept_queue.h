/* The handler of the runtime's intercept queues. It runs on the application's thread, for each doorbell or each
 * packet: no lock, no allocation, no syscall. */
#ifndef RTL_INTERCEPT_INTERCEPT_QUEUE_H
#define RTL_INTERCEPT_INTERCEPT_QUEUE_H

#include <stdint.h>

#include "intercept/base/hsa_table.h"

/* `data` is the queue's struct rtl_tracker. */
void rtl_dispatch(const void *packets, uint64_t count, uint64_t user_index, void *data, rtl_packet_writer writer);

#endif
