/*
 * Measures exact times of single dispatches from outside. The packet processor writes start and end, in ticks of the
 * GPU, into a packet's completion signal. Programs reuse signals, so the question is which dispatch the times belong
 * to.
 *
 * A dispatch is timed only if no other packet with its signal was submitted until its times were read, and if the times
 * lie between the moment before its submission and the read. All other dispatches stay untimed. Pure, except for
 * memory.
 *
 * The length of a tick is measured against the host's clock and rounded to the only known clock of the hardware that
 * fits, however late the reads were; until then nothing is timed. A clock under which all times are rejected is
 * measured again.
 */
#ifndef RTL_OBSERVE_SIGNAL_TIMES_H
#define RTL_OBSERVE_SIGNAL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of one GPU in host time. Zero-initialised: unknown. */
struct rtl_tick_clock {
    uint64_t hz; /* 0 = not known yet */
    uint64_t first_tick, first_ns, first_after_ns;
    double high, low;  /* host time of tick 0 lies between them, ns */
    uint32_t seen;     /* times used to refine it */
    uint32_t rejected; /* rejected times in a row */
};

/* A dispatch with a signal whose times are awaited. */
struct rtl_awaited {
    uint64_t number, signal; /* packet number in its queue; address */
    uint64_t after_ns;       /* a time before its submission */
    uint32_t row;
    bool given_up; /* or recorded */
    /* read from the signal after the end: start and end, time of the read, and the packet number up to which others
     * could have had the signal by then */
    bool read;
    uint64_t start, end, read_ns, until;
};

enum { RTL_AWAITED_MAX = 4096 };
/* Awaited dispatches of one queue, in packet order. */
struct rtl_awaited_ring {
    struct rtl_awaited at[RTL_AWAITED_MAX];
    uint64_t first, end; /* numbers; first .. end - 1 are valid */
};

/* The newest awaited dispatch of each signal, over all queues. */
struct rtl_signal_user {
    uint64_t signal, entry;
    struct rtl_awaited_ring *ring;
};
enum { RTL_SIGNAL_USERS = 16384 };

/* Await the times of another dispatch, the newest user of its signal. False without room. */
bool rtl_await(struct rtl_signal_user users[RTL_SIGNAL_USERS], struct rtl_awaited_ring *ring,
               const struct rtl_awaited *dispatch);
/* Packet `number` of the ring's queue has the signal: give up the dispatch that awaits its times, unless they were read
 * before this packet could exist. */
void rtl_await_displaced(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring,
                         uint64_t number, uint64_t signal);
/* Remove all pointers into a ring that is to be freed. */
void rtl_await_forget(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring);

/* Return the duration in ns of a dispatch whose signal had these ticks at `now_ns`; UINT64_MAX if they can't belong to
 * it, or the clock isn't known well enough. */
uint64_t rtl_tick_duration(struct rtl_tick_clock *clock, uint64_t start, uint64_t end, uint64_t after_ns,
                           uint64_t now_ns);

#endif
