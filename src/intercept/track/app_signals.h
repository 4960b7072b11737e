/*
 * Signals of the application's own: which are known, and which dispatch each one is on.
 *
 * A kernel that carries the application's signal is timed by that very signal. It stays on the packet, nothing is
 * added, and no CPU stands between the kernel and whoever waits. All that is done to the signal is that its two
 * timestamps are zeroed before the packet goes; once both are set they are this kernel's, until the signal is used
 * again. So they are read by the worker on its rounds, and at the latest by whoever would overwrite them: the next
 * packet with that signal, on whatever queue, a copy with it, its destruction.
 *
 * A dispatch in flight on such a signal has a stand-in: a record of ours that looks like a signal (signal_pool.h).
 * Whoever finds the timestamps writes them there, as a GPU would, and the worker takes it from there as from any
 * signal.
 *
 * What may be touched. Only signals that were seen to be created through the hooks and not yet seen to be destroyed:
 * records that an application made by hand, signals of other processes and everything else are not even read. A thread
 * that submits a packet or a copy holds the signal alive itself. The worker holds nothing: it says which signal it is
 * looking at (rtl_app_signal_poll), and destruction waits until it has looked.
 *
 * Whose timestamps they are. `use` says what the signal was last put on. It is changed by compare-and-swap only, by
 * whoever takes it from one use to the next:
 *
 *   IDLE    nothing that could write timestamps is under way
 *   BUSY    a thread is about to put it on a packet; another one that comes now makes it SHARED
 *   a stand-in  a kernel in flight, or a copy (copy_slots.h), its timestamps zeroed before
 *   OTHER   a packet that isn't a kernel dispatch, its timestamps zeroed before: what is set says that it is over
 *   COPY    a copy that isn't timed, which may leave timestamps or not. It is over if the application has set the value
 *           to 1 again: then it waits for one completion, and that is the next packet's. So are packets that nobody
 *           followed
 *   SHARED  it was found on two things at once: whose timestamps they are can't be told any more. For good, because
 *           nothing says when the last of them is over
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

/* What a stand-in's value says once it is no longer armed. */
enum rtl_stand_in_end {
    RTL_STAND_IN_TIMED = 0,
    RTL_STAND_IN_SHARED = -1,
    RTL_STAND_IN_GONE = -2,
    RTL_STAND_IN_UNTIMED = -3
};

/* Records are used again and never freed: a thread that still has one finds another signal's handle in it. */
struct rtl_app_signal {
    _Alignas(32) _Atomic uint64_t handle; /* create stores, any loads; 0 = not in use */
    struct rtl_app_signal *_Atomic next;  /* create stores (release), any loads: in the bucket, or the free list */
    _Atomic uintptr_t use;                /* any: enum rtl_signal_use, or the address of a stand-in */
};

/*
 * True while packets that carry such signals are followed, because their dispatches are timed or some still are in
 * flight. Load, then worker set and clear it as the mode wants (mode.h); cleared for good (until the next load) when
 * the application gets a queue that isn't watched: what is put on that is not seen here.
 */
extern _Atomic bool rtl_app_signals_followed;

/* Dispatch: the signal, or NULL when it isn't known or has just gone. Lock-free, bounded. */
struct rtl_app_signal *rtl_app_signal_find(uint64_t handle);

/*
 * Dispatch: a packet with that signal is about to go; `use` is its stand-in or OTHER. True when the signal is this
 * packet's alone: its timestamps are zeroed then. Whatever was on it before is brought to its end. Lock-free, bounded.
 */
bool rtl_app_signal_begin(struct rtl_app_signal *app_signal, uintptr_t use);

/* Dispatch: it is on a packet that may do anything with it. */
void rtl_app_signal_mark_shared(struct rtl_app_signal *app_signal);

/* Worker: brings the stand-in to its end if the kernel or copy is over. */
bool rtl_app_signal_poll(struct rtl_app_signal *app_signal, amd_signal_t *stand_in, int64_t submitted);

/* Any: whatever of all of them is over is brought to its end now. */
void rtl_app_signals_sweep(void);

/*
 * Worker: takes the stand-in off the signal, so that nobody ends it any more; `over`: its kernel will never complete.
 * False when another thread is about to end it: then it can't be used again.
 */
bool rtl_app_signal_detach(struct rtl_app_signal *app_signal, const amd_signal_t *stand_in, bool over);

/*
 * Worker: follows packets from now on. What every signal was put on meanwhile isn't known: once all threads have passed
 * a barrier behind rtl_app_signals_follow, rtl_app_signals_mark_unknown says so of all of them, and then dispatches may
 * be timed.
 */
void rtl_app_signals_follow(void);
void rtl_app_signals_mark_unknown(void);

/* Worker: no longer follows packets. No stand-in is in flight, nor will be. */
void rtl_app_signals_unfollow(void);

/* Any: the application got a queue that isn't watched. */
void rtl_app_signals_stop(void);

/* Load: the runtime is going, and all signals with it. */
void rtl_app_signals_forget(void);

/* Load: follows packets from the start or not. */
void rtl_app_signals_start(bool followed);

/* Any: a signal was created; is about to be destroyed, or put on a copy. What the hooks do (hooks/signals.c). */
void rtl_app_signal_add(hsa_signal_t signal);
void rtl_app_signal_remove(hsa_signal_t signal);
void rtl_app_signal_copy(hsa_signal_t signal);

#endif
