/*
 * Counts the packets of a queue's ring from outside, exactly: each packet once, and packets overwritten before they
 * were read as lost, from the indices alone. Pure: works on copies.
 *
 * The rules. A slot shows its packet's kind once its header is valid, or once the packet processor has passed it (its
 * number is below the read index): then the header is gone, and the other fields remain. A slot may be overwritten as
 * soon as the write index, read afterwards, is a ring's size further. The write index may run ahead of a full ring;
 * slots behind it don't belong to it yet.
 */
#ifndef RTL_OBSERVE_RING_COUNTER_H
#define RTL_OBSERVE_RING_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* The fields of a ring's packet that counting needs (hsa/hsa.h: the kernel dispatch packet). */
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
    RTL_PACKET_UNREADY,  /* not written yet */
    RTL_PACKET_DISPATCH, /* of a kernel */
    RTL_PACKET_BARRIER,  /* waits for signals */
    RTL_PACKET_OTHER,
};

/* Return the kind of a slot's packet; `consumed`: the packet processor has passed it. */
enum rtl_packet_kind rtl_packet_kind(const struct rtl_ring_packet *packet, bool consumed);

struct rtl_ring_counter {
    uint64_t next; /* number of the next packet to count */
    uint64_t lost; /* packets overwritten before they were counted */
    uint32_t size; /* of the ring, packets: a power of two */
    uint64_t ours; /* packets from this number on were submitted while the observer polled, so they can be lost */
};

/* Start with the oldest packet in the ring. `whole`: the queue was created while the observer polled, so earlier
 * packets are lost; otherwise they precede the observer. */
void rtl_ring_counter_begin(struct rtl_ring_counter *counter, uint32_t size, uint64_t write_index, bool whole);

/* Return how many packets, from counter->next on, to read under these indices. */
uint64_t rtl_ring_counter_wanted(const struct rtl_ring_counter *counter, uint64_t write_index, uint64_t read_index);

/* Called for each packet to count; false: stop before this packet. */
typedef bool rtl_ring_counter_visit(void *context, uint64_t number, const struct rtl_ring_packet *packet,
                                    enum rtl_packet_kind kind, bool consumed);

/* Count packets. `packets`: copies of `count` slots from number counter->next on; `read_index` from before the copy,
 * `write_after` and `read_after` from after it. Returns by how many numbers it advanced, lost ones included. */
uint64_t rtl_ring_counter_count(struct rtl_ring_counter *counter, const struct rtl_ring_packet *packets, uint64_t count,
                                uint64_t read_index, uint64_t write_after, uint64_t read_after,
                                rtl_ring_counter_visit *take, void *context);

#endif
