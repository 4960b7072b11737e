/*
 * One queue of an observed process: what is read of it at each look, and what that says. Threads: one at a time.
 */
#ifndef RTL_OBSERVE_OBSERVED_QUEUE_H
#define RTL_OBSERVE_OBSERVED_QUEUE_H

#include "observe/observed_rows.h"
#include "observe/queue_finder.h"
#include "observe/signal_times.h"

enum { RTL_OBSERVED_RING_AT_ONCE = 1024 }; /* packets that are copied in one go */

/* What is kept of a packet: the slot may have a later one while this one still runs. */
struct rtl_seen_packet {
    uint64_t signal;
    uint32_t row;  /* UINT32_MAX = no kernel's */
    bool in_order; /* it has the barrier bit: it starts when all before it have ended */
};
enum { RTL_SEEN_RING_MAX = 1 << 15 }; /* of longer rings nothing is kept */

struct rtl_observed_queue {
    struct rtl_found_queue found;
    struct rtl_ring_counter counter;
    uint32_t gpu;
    uint32_t generation;
    bool used, live;
    bool profiles;
    uint64_t dispatches, dispatches_before, others; /* packets that were counted, of either kind */
    uint64_t unnamed;                               /* dispatches of kernels that no code object has */
    uint64_t first;                                 /* number of the first packet that could be counted */
    uint64_t write_index, read_index;               /* as seen last */
    uint64_t looked_ns;                             /* when */
    uint64_t timed;                   /* dispatches with exact times, of queues before it in the slot, too */
    uint64_t clear_ns;                /* when no packet that isn't counted could have begun; 0 = never */
    struct rtl_seen_packet *seen;     /* 2 * size, by number; or NULL */
    struct rtl_awaited_ring *awaited; /* once there was one */
};

/* What the queues of a process share. */
struct rtl_observed {
    bool counts_only; /* no times */
    const struct rtl_target_memory *memory;
    struct rtl_kernel_names *names;
    struct rtl_observed_rows rows;
    struct rtl_evidence evidence;
    double usual_ns;               /* between two looks, smoothed */
    struct rtl_signal_user *users; /* RTL_SIGNAL_USERS */
    struct rtl_tick_clock clock[RTL_AGENTS_MAX];
    uint64_t early_busy_ns[RTL_AGENTS_MAX], late_busy_ns[RTL_AGENTS_MAX];
    bool early_busy[RTL_AGENTS_MAX], late_busy[RTL_AGENTS_MAX]; /* in the look that goes on */
    uint64_t unknown; /* a kernel object without a name, whose packet waits: code objects may have come */
    struct rtl_ring_packet packets[RTL_OBSERVED_RING_AT_ONCE];
};

/* Takes up a queue that was found; `whole`: it was made while we looked. One that is in its own old slot goes on where
 * it was. False without memory. */
bool rtl_observed_queue_begin(struct rtl_observed_queue *q, const struct rtl_found_queue *found,
                              const struct rtl_queue_head *head, bool whole);
void rtl_observed_queue_end(struct rtl_observed *o, struct rtl_observed_queue *q);

/* So far it had the runtime's own kernels, and no other. */
bool rtl_observed_queue_is_own(const struct rtl_observed *o, const struct rtl_observed_queue *q);

/* A look at the queue, whose head was read at `now_ns`. False when it is that queue no more. */
bool rtl_observed_queue_look(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_head *head,
                             uint64_t now_ns);

#endif
