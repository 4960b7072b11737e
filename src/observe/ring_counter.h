/*
 * Counts what goes through a queue's ring from outside, exactly: each packet once, and those that were overwritten
 * before they were read as lost, from the indices alone. Pure: works on copies.
 *
 * The rules. A slot says what its packet is once its header is valid, or once the packet processor has been there (its
 * index is below the read index): then the header is gone and the rest is still there. A slot may be overwritten as
 * soon as the write index, read after it, is a whole ring further. The write index may run ahead of a full ring, the
 * slots behind it don't belong to it yet.
 */
#ifndef RTL_OBSERVE_RING_COUNTER_H
#define RTL_OBSERVE_RING_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* A packet of the ring, as far as counting needs it (hsa/hsa.h: the kernel dispatch packet). */
struct rtl_ring_packet {
    uint16_t header, setup;
    uint16_t workgroup[3], reserved0;
    uint32_t grid[3];
    uint32_t private_bytes, group_bytes;
    uint64_t kernel_object, kernarg, reserved1;
    uint64_t signal;
};
_Static_assert(sizeof(struct rtl_ring_packet) == 64, "as the hardware has it");

enum rtl_packet_kind {
    RTL_PACKET_UNREADY,  /* not written so far */
    RTL_PACKET_DISPATCH, /* of a kernel */
    RTL_PACKET_BARRIER,  /* that waits for signals */
    RTL_PACKET_OTHER,
};

/* What a slot holds; `consumed`: the packet processor has been there. */
enum rtl_packet_kind rtl_packet_kind(const struct rtl_ring_packet *packet, bool consumed);

struct rtl_ring_counter {
    uint64_t next; /* number of the packet to count next */
    uint64_t lost; /* overwritten before they were counted */
    uint32_t size; /* of the ring, packets: a power of two */
    uint64_t ours; /* packets from this number on were submitted while we looked: they can be lost */
};

/* Starts with the oldest packet that the ring still has. `whole`: the queue was made while we looked, so that what the
 * ring doesn't have any more is lost; else it was before our time. */
void rtl_ring_counter_begin(struct rtl_ring_counter *counter, uint32_t size, uint64_t write_index, bool whole);

/* How many packets, from counter->next on, are to be looked at under these indices. */
uint64_t rtl_ring_counter_wanted(const struct rtl_ring_counter *counter, uint64_t write_index, uint64_t read_index);

/* What is called for each packet that is counted; false: not now (and none behind it). */
typedef bool rtl_ring_counter_take(void *context, uint64_t number, const struct rtl_ring_packet *packet,
                                   enum rtl_packet_kind kind, bool consumed);

/*
 * `packets`: copies of `count` slots from number counter->next on; `read_index` from before they were copied,
 * `write_after` and `read_after` from after. Returns how many it went on by, lost ones included.
 */
uint64_t rtl_ring_counter_count(struct rtl_ring_counter *counter, const struct rtl_ring_packet *packets, uint64_t count,
                                uint64_t read_index, uint64_t write_after, uint64_t read_after,
                                rtl_ring_counter_take *take, void *context);

#endif
