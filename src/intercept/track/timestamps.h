/*
 * How the times of what ran on a signal of the application's are read from that signal: a kernel's, or a copy's.
 *
 * What is in flight on such a signal has a stand-in: a record of ours that looks like a signal (signal_pool.h). It
 * carries its kind, because the two leave their times in different places. A kernel's are in the signal; a copy that
 * was done by a kernel leaves them there, too. The copy engines want them elsewhere: the runtime keeps them in words of
 * its own behind the signal's, the same on all releases known, but no contract. So what is found there is believed only
 * after one copy in each load whose times the runtime itself was asked for, too; until then those that are over wait,
 * for a second at most. The runtime isn't asked each time: it takes a lock and now and then a system call for it, and
 * the signal may be at its next use on the dispatch path.
 */
#ifndef RTL_INTERCEPT_TIMESTAMPS_H
#define RTL_INTERCEPT_TIMESTAMPS_H

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_copy;
struct rtl_gpu;

struct rtl_times {
    uint64_t start, end; /* ticks of the agent that did it */
};

/* Its maker: fills in what is needed to read the times of a copy on that GPU, which is about to be put on that signal.
 */
void rtl_copy_prepare(struct rtl_copy *copy, struct rtl_gpu *gpu, const amd_signal_t *signal);

/*
 * What the stand-in is for is over and has left its times in the signal; no stand-in: a packet that leaves them as a
 * kernel does. Whoever may read the signal's memory.
 */
bool rtl_times_read(const amd_signal_t *stand_in, const amd_signal_t *signal, struct rtl_times *times);

/*
 * While it isn't known whether what is read of copies is right: asks the runtime about one that is over; from then on
 * it does nothing. Whoever may read the signal's memory; `use` is where it says what the signal is on, if that can
 * change meanwhile (else NULL).
 */
void rtl_times_compare(const amd_signal_t *stand_in, const _Atomic uintptr_t *use, const amd_signal_t *signal);

/* Any: the times that are read of copies are right; whether they are isn't known yet. */
bool rtl_copy_times_are_right(void);
bool rtl_copy_times_are_unknown(void);

/* Load: the runtime is going. */
void rtl_times_forget(void);

#endif
