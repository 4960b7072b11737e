/*
 * Exact times of single dispatches, from outside: a packet that carries a completion signal gets its start and end
 * written into it by the packet processor, in ticks of the GPU. Which dispatch they belong to is the question: signals
 * are used again and again.
 *
 * So a dispatch is timed only if no other packet was submitted with its signal until its times were read, and if they
 * lie between the moment before it was submitted and then. Everything else stays untimed. Pure, but for memory.
 *
 * The ticks' length is measured against the host's clock, and taken for that of the one of the hardware's known clocks
 * that it can be, however late what was read was read; until then nothing is timed. A clock by which nothing comes out
 * right any more is learnt anew.
 */
#ifndef RTL_OBSERVE_SIGNAL_TIMES_H
#define RTL_OBSERVE_SIGNAL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of one GPU in the host's time. Zero-initialised: nothing is known. */
struct rtl_tick_clock {
    uint64_t hz; /* 0 = not known so far */
    uint64_t first_tick, first_ns, first_after_ns;
    double high, low;  /* ns of tick 0 are between them */
    uint32_t seen;     /* times that made it better */
    uint32_t rejected; /* in a row */
};

/* A dispatch that carries a signal and whose times are awaited. */
struct rtl_awaited {
    uint64_t number, signal; /* of the packet in its queue; address */
    uint64_t after_ns;       /* it wasn't there at that time */
    uint32_t row;
    bool given_up; /* or accounted for */
    /* what was read of the signal when it said that it had ended: its times, when, and up to which packet of its queue
     * others could have had the signal by then */
    bool read;
    uint64_t start, end, read_ns, until;
};

enum { RTL_AWAITED_MAX = 4096 };
/* Those of one queue, in the order of their packets. */
struct rtl_awaited_ring {
    struct rtl_awaited at[RTL_AWAITED_MAX];
    uint64_t first, end; /* numbers; first..end are there */
};

/* The newest user of each signal, over all queues. */
struct rtl_signal_user {
    uint64_t signal, entry;
    struct rtl_awaited_ring *ring;
};
enum { RTL_SIGNAL_USERS = 16384 };

/* Waits for the times of one more dispatch, the newest user of its signal. False when there is no room. */
bool rtl_await(struct rtl_signal_user users[RTL_SIGNAL_USERS], struct rtl_awaited_ring *ring,
               const struct rtl_awaited *dispatch);
/*
 * Packet `number` of the ring's queue has the signal: what awaited its times is given up, unless they were read before
 * the packet could be there.
 */
void rtl_await_displaced(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring,
                         uint64_t number, uint64_t signal);
/* A ring goes: nothing may point into it. */
void rtl_await_forget(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring);

/*
 * Times in ticks that were found at `now_ns` in the signal of a dispatch: its duration in ns, or UINT64_MAX when they
 * can't be its, or the clock isn't known well enough.
 */
uint64_t rtl_tick_duration(struct rtl_tick_clock *clock, uint64_t start, uint64_t end, uint64_t after_ns,
                           uint64_t now_ns);

#endif
