/*
 * Native queues (native_ring.h) that are given up: the functions are the runtime's again, and packets are only counted,
 * by looking at the ring; and single packets that go as they are. All of it is for whoever walks.
 */
#ifndef RTL_INTERCEPT_NATIVE_DEMOTE_H
#define RTL_INTERCEPT_NATIVE_DEMOTE_H

#include <stdint.h>

#include "intercept/track/native_ring.h"
#include "shm/segment.h"

/*
 * Counts a packet that the GPU may have already: of the type that its header has or, if the GPU has taken that away,
 * INVALID. It may do so right now: the header is looked at once, by the caller.
 */
void rtl_native_see_late(struct rtl_native *native, uint64_t index, uint32_t type, enum rtl_untimed_reason reason);

/* The functions are the runtime's from now on. What was reserved is published, written or not, as it would be without
 * us; the GPU waits for headers itself. */
void rtl_native_pass_through(struct rtl_native *native);

/* Somebody else writes this queue's index or rings its doorbell: it is theirs. */
void rtl_native_demote(struct rtl_native *native, enum rtl_path_reason why);

/* Counts what is in the ring of a queue that isn't ours any more. */
void rtl_native_walk_demoted(struct rtl_native *native);

#endif
