/*
 * Finds the queues of a process in its memory: each is an amd_queue_t (since ROCm 7 an amd_queue_v2_t, whose first 256
 * bytes are the same) at the start of its own page. README.md lists the kinds of memory of that page. The doorbell's
 * signal confirms a candidate: it points back to the queue and to a doorbell of a device.
 */
#ifndef RTL_OBSERVE_QUEUE_FINDER_H
#define RTL_OBSERVE_QUEUE_FINDER_H

#include "observe/mappings.h"
#include "observe/target_memory.h"

/* A packet has 64 bytes; a larger ring than any runtime creates is no queue. */
enum { RTL_RING_PACKETS_MAX = 1 << 20, RTL_PACKET_BYTES = 64 };

/* The first bytes of an amd_queue_t (hsa/amd_hsa_queue.h): the public part, the indices and their offsets. */
struct rtl_queue_head {
    uint32_t type, features;
    uint64_t ring, doorbell_signal;
    uint32_t size, reserved1;
    uint64_t id;
    uint32_t caps, reserved2[3]; /* caps: 0 before ROCm 6.2 */
    uint64_t write_index;        /* offset 0x38 */
    uint64_t reserved3[8];
    uint64_t read_index; /* offset 0x80 */
    uint32_t read_index_offset, tmpring;
    uint32_t scratch[4];
    uint64_t scratch_at, scratch_bytes;
    uint32_t scratch_lane, properties; /* offset 0xb4 */
    uint64_t reserved4;
    uint64_t inactive_signal; /* offset 0xc0 */
};
_Static_assert(offsetof(struct rtl_queue_head, write_index) == 0x38, "as the runtime has it");
_Static_assert(offsetof(struct rtl_queue_head, read_index) == 0x80, "as the runtime has it");
_Static_assert(offsetof(struct rtl_queue_head, properties) == 0xb4, "as the runtime has it");
_Static_assert(offsetof(struct rtl_queue_head, inactive_signal) == 0xc0, "as the runtime has it");
#define RTL_QUEUE_PROFILES 8u /* in properties: packets' signals get their times */

/* An amd_signal_t (hsa/amd_hsa_signal.h). */
struct rtl_signal_image {
    int64_t kind, value; /* of a doorbell: address of the hardware's doorbell */
    uint64_t mailbox;
    uint32_t event, reserved1;
    uint64_t start_ts, end_ts, queue;
    uint32_t reserved2[2];
};
_Static_assert(sizeof(struct rtl_signal_image) == 64, "as the runtime has it");

struct rtl_found_queue {
    uint64_t at, ring, id;
    uint64_t doorbell;  /* address of the hardware's doorbell, in a page of its GPU */
    uint32_t size;      /* packets */
    uint32_t key;       /* RTL_QUEUE_KEY */
    bool device_ring;   /* its ring lies in device memory */
    bool looked_before; /* all memory had been searched before: the queue is new, or was found then */
};

/* A search has two parts. Memory that a runtime allocates for queues is small or marked (MADV_DONTFORK), so each call
 * searches all of it. The kernel may have merged a queue's page with neighbours, so the finder also searches all other
 * anonymous memory; that can be many GB, so most calls search only a piece of it. */
enum { RTL_SEARCH_LIKELY, RTL_SEARCH_REST, RTL_SEARCH_PARTS };

/* Position of a search: a part that ran out of time continues here. Zero-initialised: at the start. */
struct rtl_queue_search {
    uint64_t next[RTL_SEARCH_PARTS];   /* addresses */
    uint32_t rounds[RTL_SEARCH_PARTS]; /* how often the part has reached the end of memory */
    uint32_t beyond;                   /* queues that the last call found without room */
    bool whole;                        /* the last call searched all memory */
};

/* True when all memory was searched once. */
static inline bool rtl_queue_search_done(const struct rtl_queue_search *search)
{
    return search->rounds[RTL_SEARCH_LIKELY] && search->rounds[RTL_SEARCH_REST];
}

/* True if the bytes can be an amd_queue_t. Pure. */
bool rtl_queue_plausible(const struct rtl_queue_head *head);
/* Find up to `most` queues, from search->next on, wrapping at the end of memory. Uses at most about `budget_ns` of CPU,
 * at most `rest_ns` of it for RTL_SEARCH_REST, and three times that of elapsed time. Each call reads some pages of each
 * part, so repeated calls reach all memory. */
uint32_t rtl_queues_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                         struct rtl_queue_search *search, struct rtl_found_queue *queues, uint32_t most,
                         uint64_t budget_ns, uint64_t rest_ns);

#endif
