/*
 * The application's signals: which are known, and the last use of each.
 *
 * A kernel that carries the application's signal is timed by that signal. The signal stays on the packet, nothing is
 * added, and no CPU work delays the thread that waits for the kernel. The library only zeroes the two timestamps before
 * the packet is published. Once both are set they belong to this kernel, until the signal is used again. The worker
 * reads them in its rounds, or else the thread that is about to overwrite them: the next packet with that signal on any
 * queue, a copy with it, or its destruction.
 *
 * A dispatch in flight on such a signal has a stand-in: a record of ours with the layout of a signal (signal_pool.h).
 * The thread that finds the timestamps writes them into the stand-in, as a GPU would, and the worker reads them there
 * as from any signal.
 *
 * Which memory may be read. Only signals whose creation the hooks saw, and whose destruction they have not seen: not
 * records that an application made by hand, nor signals of other processes. A thread that submits a packet or a copy
 * keeps the signal alive. The worker doesn't: it publishes which signal it reads (rtl_app_signal_poll), and destruction
 * waits for it.
 *
 * Whose timestamps they are. `use` is the signal's last use. It only changes by compare-and-swap:
 *
 *  IDLE        nothing in flight can write timestamps
 *  BUSY        a thread is about to put it on a packet; a second thread now makes it SHARED
 *  a stand-in  a kernel or copy (copy_slots.h) in flight; timestamps were zeroed before
 *  OTHER       a packet that isn't a kernel dispatch; timestamps were zeroed before, and set ones show that it is over
 *  COPY        an untimed copy, or a packet that wasn't followed: it may leave timestamps or not. It is over if the
 *              application has set the value to 1 again: then the signal waits for the next packet's completion
 *  SHARED      used twice at the same time: the timestamps are ambiguous. Permanent, because the end of the last use is
 *              unknown
 */
#ifndef RTL_INTERCEPT_APP_SIGNALS_H
#define RTL_INTERCEPT_APP_SIGNALS_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/signal_pool.h"
#include "intercept/track/timestamps.h"

enum rtl_signal_use { RTL_USE_IDLE, RTL_USE_BUSY, RTL_USE_OTHER, RTL_USE_COPY, RTL_USE_SHARED, RTL_USES };

/* The value of a stand-in that is no longer armed. */
enum rtl_stand_in_end {
    RTL_STAND_IN_TIMED = 0,
    RTL_STAND_IN_SHARED = -1,
    RTL_STAND_IN_GONE = -2,
    RTL_STAND_IN_UNTIMED = -3
};

/* Records are recycled but never freed: a thread with a stale pointer finds another signal's handle in it. */
struct rtl_app_signal {
    _Alignas(32) _Atomic uint64_t handle; /* create stores, any loads; 0 = unused */
    struct rtl_app_signal *_Atomic next;  /* create stores (release), any loads: next in the bucket or the free list */
    _Atomic uintptr_t use;                /* any: enum rtl_signal_use, or the address of a stand-in */
};

/* True while packets with such signals are followed, because their dispatches are timed or some are still in flight.
 * Load, then worker set and clear it by mode (mode.h). Cleared until the next load when the application gets a queue
 * that isn't watched: its packets aren't seen. */
extern _Atomic bool rtl_app_signals_followed;

/* Dispatch: return the signal's record, NULL if it is unknown or was just removed. Lock-free, bounded. */
struct rtl_app_signal *rtl_app_signal_find(uint64_t handle);

/* Dispatch: a packet with that signal is about to be published; `use` is its stand-in or OTHER. Ends the last use.
 * True if only this packet uses the signal: its timestamps are zeroed then. Lock-free, bounded. */
bool rtl_app_signal_begin(struct rtl_app_signal *app_signal, uintptr_t use);

/* Dispatch: the signal is on a packet with unknown effects on it: SHARED. */
void rtl_app_signal_mark_shared(struct rtl_app_signal *app_signal);

/* Worker: end the stand-in if its kernel or copy is over. True if it has ended. */
bool rtl_app_signal_poll(struct rtl_app_signal *app_signal, amd_signal_t *stand_in, int64_t submitted);

/* Any: end all uses that are over. */
void rtl_app_signals_sweep(void);

/* Worker: remove the stand-in from the signal; `over`: its kernel will never complete. False if another thread is
 * about to end the stand-in: it must not be recycled then. */
bool rtl_app_signal_detach(struct rtl_app_signal *app_signal, const amd_signal_t *stand_in, bool over);

/* Worker: follow packets from now on. The signals' uses so far are unknown: after rtl_app_signals_follow all threads
 * pass a barrier, then rtl_app_signals_mark_unknown marks all signals, then dispatches may be timed. */
void rtl_app_signals_follow(void);
void rtl_app_signals_mark_unknown(void);

/* Worker: stop following packets. No stand-in may be in flight. */
void rtl_app_signals_unfollow(void);

/* Any: the application got a queue that isn't watched. */
void rtl_app_signals_stop(void);

/* Load: the runtime is being unloaded, with all its signals. */
void rtl_app_signals_forget(void);

/* Load: set whether packets are followed from the start. */
void rtl_app_signals_start(bool followed);

/* Any: a signal was created; will be destroyed; will be put on a copy. Called by the hooks. */
void rtl_app_signal_add(hsa_signal_t signal);
void rtl_app_signal_remove(hsa_signal_t signal);
void rtl_app_signal_copy(hsa_signal_t signal);

#endif
