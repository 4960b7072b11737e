/* The dispatch path: what happens on the application's thread for each packet. No lock, no allocation, no syscall. */
#ifndef RTL_INTERCEPT_DISPATCH_H
#define RTL_INTERCEPT_DISPATCH_H

#include <stdint.h>

#include "intercept/hsa_table.h"

/* The handler of the runtime's intercept queues; data is the queue's struct rtl_tap. */
void rtl_dispatch(const void *packets, uint64_t count, uint64_t user_index, void *data, rtl_packet_writer writer);

#endif
