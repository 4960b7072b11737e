/* The dispatch path: what happens on the application's thread for each packet. No lock, no allocation, no syscall. */
#ifndef RTL_INTERCEPT_DISPATCH_H
#define RTL_INTERCEPT_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/hsa_table.h"
#include "shm/tables.h"

/* The handler of the runtime's intercept queues; data is the queue's struct rtl_tap. */
void rtl_dispatch(const void *packets, uint64_t count, uint64_t user_index, void *data, rtl_packet_writer writer);

struct rtl_tap;

/*
 * For queues whose packets aren't handed over but found in the ring (native_queue.c). All of it is for whoever has the
 * walk: between enter and leave.
 */
void rtl_dispatch_enter(struct rtl_tap *tap);
void rtl_dispatch_leave(struct rtl_tap *tap);

/* What packets that are looked at together have in common. */
struct rtl_seen {
    uint64_t now; /* when they are submitted, on the clock that `counter` says */
    bool counter;
    uint32_t policy;
};
struct rtl_seen rtl_dispatch_begin(struct rtl_tap *tap);

/* Counts the packet, decides about it, and writes a signal into it if it is to have one. True when the worker has to
 * know of it. */
bool rtl_dispatch_in_ring(struct rtl_tap *tap, void *packet, const struct rtl_seen *seen);

/* Counts a packet that the GPU may have already: its header is there or, if not `valid`, was taken away by the GPU. */
void rtl_dispatch_late(struct rtl_tap *tap, const void *packet, bool valid, enum rtl_untimed_reason reason);

/* So many packets are gone and overwritten. */
void rtl_dispatch_unseen(struct rtl_tap *tap, uint64_t packets);

/* The worker has something to do, and may be asleep. */
void rtl_dispatch_wake(void);

#endif
