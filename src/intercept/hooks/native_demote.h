/* Native queues (native_ring.h) that become plain ones: the functions go on to the runtime, and packets are only
 * counted, by reading the ring. Also single packets that are published untimed. For the walking thread only. */
#ifndef RTL_INTERCEPT_NATIVE_DEMOTE_H
#define RTL_INTERCEPT_NATIVE_DEMOTE_H

#include <stdint.h>

#include "intercept/track/native_ring.h"
#include "shm/segment.h"

/* Count a packet that the GPU may already have. `type` is from its header, or INVALID if the GPU has cleared that:
 * the caller reads the header once, because the GPU may clear it at any time. */
void rtl_native_see_late(struct rtl_native *native, uint64_t index, uint32_t type, enum rtl_untimed_reason reason);

/* From now on the functions go on to the runtime. Publishes all reserved slots, written or not, as it would be
 * without us: the GPU itself waits for headers. */
void rtl_native_pass_through(struct rtl_native *native);

/* Demote the queue: the application writes its real index or doorbell. */
void rtl_native_demote(struct rtl_native *native, enum rtl_path_reason why);

/* Count the new packets in the ring of a demoted queue. */
void rtl_native_walk_demoted(struct rtl_native *native);

#endif
