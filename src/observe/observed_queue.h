/* One queue of an observed process: what each poll reads, and what follows from it. Threads: one at a time. */
#ifndef RTL_OBSERVE_OBSERVED_QUEUE_H
#define RTL_OBSERVE_OBSERVED_QUEUE_H

#include "observe/observed_rows.h"
#include "observe/queue_finder.h"
#include "observe/signal_times.h"

enum { RTL_OBSERVED_RING_AT_ONCE = 1024 }; /* packets copied at once */

/* Data kept of a packet: its slot may hold a later packet while this one still runs. */
struct rtl_seen_packet {
    uint64_t signal;
    uint32_t row;  /* UINT32_MAX = no dispatch */
    bool in_order; /* the barrier bit: it starts when all packets before it have ended */
};
enum { RTL_SEEN_RING_MAX = 1 << 15 }; /* longer rings keep nothing */

struct rtl_observed_queue {
    struct rtl_found_queue found;
    struct rtl_ring_counter counter;
    uint32_t gpu;
    uint32_t generation;
    bool used, live;
    bool profiles;
    uint64_t dispatches, dispatches_before, others; /* counted packets of each kind */
    uint64_t unnamed;                               /* dispatches of kernels in no code object */
    uint64_t first;                                 /* number of the first countable packet */
    uint64_t write_index, read_index;               /* at the last poll */
    uint64_t looked_ns;                             /* time of the last poll */
    uint64_t timed;                   /* dispatches with exact times, also of earlier queues in the slot */
    uint64_t clear_ns;                /* time when no uncounted packet could have begun; 0 = never */
    struct rtl_seen_packet *seen;     /* 2 * size, by number; or NULL */
    struct rtl_awaited_ring *awaited; /* NULL before the first awaited dispatch */
};

/* Shared by the queues of a process. */
struct rtl_observed {
    bool counts_only; /* measure no times */
    const struct rtl_target_memory *memory;
    struct rtl_kernel_names *names;
    struct rtl_observed_rows rows;
    struct rtl_evidence evidence;
    double usual_ns;               /* between two polls, smoothed */
    struct rtl_signal_user *users; /* RTL_SIGNAL_USERS */
    struct rtl_tick_clock clock[RTL_AGENTS_MAX];
    uint64_t early_busy_ns[RTL_AGENTS_MAX], late_busy_ns[RTL_AGENTS_MAX];
    bool early_busy[RTL_AGENTS_MAX], late_busy[RTL_AGENTS_MAX]; /* in the current poll */
    uint64_t unknown; /* a kernel object without a name, whose packet waits: new code objects may have come */
    struct rtl_ring_packet packets[RTL_OBSERVED_RING_AT_ONCE];
};

/* Begin to count a found queue; `whole`: it was created while the observer was polling. A queue in its own old slot
 * continues its counts. False without memory. */
bool rtl_observed_queue_begin(struct rtl_observed_queue *q, const struct rtl_found_queue *found,
                              const struct rtl_queue_head *head, bool whole);
void rtl_observed_queue_end(struct rtl_observed *o, struct rtl_observed_queue *q);

/* True if all its dispatches so far are the runtime's own kernels. */
bool rtl_observed_queue_is_own(const struct rtl_observed *o, const struct rtl_observed_queue *q);

/* Poll the queue, whose head was read at `now_ns`. False if it is no longer that queue. */
bool rtl_observed_queue_poll(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_head *head,
                             uint64_t now_ns);

#endif
