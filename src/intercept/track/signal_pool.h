/*
 * The pool of profiling signals, which are recycled.
 *
 * A signal has a number, and only the number travels: from the free ring (in batches) into a queue's cache, with a
 * dispatch through the queue's pending ring to the worker, and back into the free ring. Only the worker accesses the
 * signals themselves: plain records in memory that the GPU writes (value, start_ts, end_ts).
 *
 * Numbers from RTL_SIGNALS_LIMIT on are stand-ins: records with the layout of a signal in our own memory, for
 * dispatches that carry a signal of the application (app_signals.h). They travel the same way and have a free ring of
 * their own. Their limit is that of the signals, but at least 4,096.
 *
 * The limit follows the sizes of the queues (rtl_signals_limit). It is only an upper bound: the pool starts with 64
 * signals; the worker creates more while few are free and destroys signals that were unused for long (supply.h). All
 * arrays have room for RTL_SIGNALS_LIMIT; their unused parts are never touched and need no memory.
 *
 * Free ring: one producer (the worker; before it runs, the thread that makes the pool), many consumers that pop a batch
 * with one compare-and-swap. The ring wraps at the limit, so that it doesn't touch all of its memory in turn. When the
 * limit outgrows the ring, the producer continues in a larger one; consumers pop from the old ring when the new one is
 * empty. Only creating a signal is expensive; any thread may create one within the limit, which happens only while the
 * pool grows.
 */
#ifndef RTL_INTERCEPT_SIGNAL_POOL_H
#define RTL_INTERCEPT_SIGNAL_POOL_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/fetch.h"
#include "intercept/base/env_settings.h"

enum {
    RTL_SIGNALS_BESIDE = 4096,  /* added to the sizes of the queues in the limit */
    RTL_SIGNALS_BATCH = 32,     /* most signals that a queue acquires at once */
    RTL_SIGNAL_ARMED = 1,       /* the value of a signal in flight; completion lowers it to 0 */
    RTL_STAND_INS_LEAST = 4096, /* lowest limit of stand-ins, otherwise that of the signals */
    RTL_NUMBERS = 2 * RTL_SIGNALS_LIMIT,
    RTL_RING_LEAST = 64, /* slots of the smallest ring */
    RTL_RINGS = 14,      /* each ring is twice as large as the one before, up to RTL_SIGNALS_LIMIT slots */
};
_Static_assert(RTL_RING_LEAST << (RTL_RINGS - 1) == RTL_SIGNALS_LIMIT, "the largest ring has a slot for each number");

/* Fields that few dispatches need, beside the pending ring's (pending.h). Dispatch, before the push; then worker. */
struct rtl_inflight {
    _Alignas(64) uint64_t index; /* guarded queues: number of packets so far, this one included */
    uint32_t grid[3];            /* with an event ring (rtl_hot.trace) */
    uint16_t workgroup[3];
    struct rtl_app_signal *app_signal; /* stand-ins: the application's signal */
    int64_t value;                     /* stand-ins: its value at submission */
};

/* Free numbers, in order. The slots of the ring with n slots are number[n] to number[2n - 1]. */
struct rtl_free {
    struct rtl_free_ring {
        _Alignas(64) _Atomic uint64_t head; /* consumers, compare-and-swap; never wraps */
        _Alignas(64) _Atomic uint64_t tail; /* producer stores (release), consumers load (acquire) */
    } ring[RTL_RINGS];
    _Alignas(64) _Atomic uint32_t newest; /* producer stores (release), consumers load (acquire): slots of its ring */
    uint32_t oldest;                      /* constant: slots of the first ring */
    _Atomic uint32_t number[2 * RTL_SIGNALS_LIMIT];
};

/* Creates and destroys signals: the runtime's functions, or a test's. */
struct rtl_signal_maker {
    bool (*make)(hsa_signal_t *signal);
    void (*destroy)(hsa_signal_t signal);
};

struct rtl_pool {
    struct rtl_signal_maker maker; /* constant */
    _Atomic uint32_t limit;        /* create stores (release), any loads (acquire): may be below `created` */
    _Atomic uint32_t room; /* create stores (release), any loads (acquire): highest limit so far; bounds all numbers */
    _Atomic uint32_t created;   /* any: existing signals; raised only below the limit */
    _Atomic uint64_t made;      /* any: created since the start */
    _Atomic uint64_t destroyed; /* worker: destroyed since the start */
    _Atomic bool refused;       /* any sets when the runtime refuses a signal; the worker clears it once a span */
    _Atomic uint32_t lowest;    /* any: a hint: the word of `taken` where the search for a free bit begins */
    _Atomic uint64_t taken[RTL_SIGNALS_LIMIT / 64]; /* any: one bit a number in use */
    _Atomic uint32_t stand_ins;                     /* any: stand-ins made so far; may exceed the limit */
    hsa_signal_t handle[RTL_NUMBERS];               /* the creator of that number, before the number is passed on */
    struct rtl_inflight inflight[RTL_NUMBERS];
    amd_signal_t stand_in[RTL_SIGNALS_LIMIT];
    struct rtl_free free_signals, free_stand_ins;
};

/* Pure: the limit of signals for queues with room for `packets` in total; `asked`: RTL_SIGNALS, 0 if not set. One
 * signal a packet, a quarter more and RTL_SIGNALS_BESIDE, for completed dispatches that the worker hasn't read yet. */
static inline uint32_t rtl_signals_limit(uint32_t asked, uint64_t packets)
{
    uint32_t room = packets < RTL_SIGNALS_LIMIT ? (uint32_t)packets : RTL_SIGNALS_LIMIT;
    uint32_t limit = asked ? asked : RTL_SIGNALS_BESIDE + room + room / 4;
    return limit < RTL_SIGNALS_LIMIT ? limit : RTL_SIGNALS_LIMIT;
}

/* Pure: slots of a ring for `numbers` numbers: a power of two. */
static inline uint32_t rtl_ring_slots(uint32_t numbers)
{
    return numbers <= RTL_RING_LEAST ? RTL_RING_LEAST : 1u << (32 - __builtin_clz(numbers - 1));
}

/* Pure: the limit of stand-ins for a limit of `signals`. */
static inline uint32_t rtl_stand_ins_beside(uint32_t signals)
{
    return signals < RTL_STAND_INS_LEAST ? RTL_STAND_INS_LEAST : signals;
}

/* Return an empty pool, or NULL when there is no memory. Never freed while a late dispatch may come. */
struct rtl_pool *rtl_pool_create(const struct rtl_signal_maker *maker, uint32_t limit);
void rtl_pool_free(struct rtl_pool *pool); /* tests */

/* Create: set the limit. Signals above it stay in use until supply.h destroys them as unneeded. */
void rtl_pool_set_limit(struct rtl_pool *pool, uint32_t limit);

/* Any thread: create up to n signals and write their numbers; fewer at the limit or if the runtime refuses. */
uint32_t rtl_pool_make(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);

/* Any thread, lock-free: acquire up to n free signals; 0 if none is free. */
uint32_t rtl_pool_acquire(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);

/* Producer: return numbers, armed. There is always room: the ring has one slot a number. */
void rtl_pool_return(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n);

/* Likewise for stand-ins; acquiring creates them, up to their limit. */
uint32_t rtl_pool_acquire_stand_ins(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);
void rtl_pool_return_stand_ins(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n);

/* Worker: destroy up to n of the free signals and return their number. Keeps a signal for which `is_read`
 * returns true; calls it when no thread can acquire the signal any more. */
uint32_t rtl_pool_destroy(struct rtl_pool *pool, uint32_t n, bool (*is_read)(uint32_t number));

/* Any: number of free signals. */
uint32_t rtl_pool_free_count(struct rtl_pool *pool);

/* In the `kind` of a stand-in. Kernels' stand-ins start zeroed; copies have stand-ins of their own (copy_slots.h). */
enum rtl_stand_in_kind { RTL_STAND_IN_KERNEL, RTL_STAND_IN_COPY };

/* Any. Constant while the stand-in is in use. */
static inline bool rtl_stand_in_is_for_copy(const amd_signal_t *stand_in)
{
    return __atomic_load_n(&stand_in->kind, __ATOMIC_RELAXED) == RTL_STAND_IN_COPY;
}

static inline bool rtl_is_stand_in(uint32_t number)
{
    return number >= RTL_SIGNALS_LIMIT;
}

static inline amd_signal_t *rtl_pool_signal(const struct rtl_pool *pool, uint32_t number)
{
    return (amd_signal_t *)(uintptr_t)pool->handle[number].handle; /* a plain signal's handle is its address */
}

/* Dispatch: prefetch for a number that will be used soon, with its record or without. */
static inline void rtl_pool_fetch(const struct rtl_pool *pool, uint32_t number, bool record)
{
    if (record)
        rtl_prefetch_to_write(&pool->inflight[number]);
    __builtin_prefetch(&pool->handle[number]);
}

/* Worker, or the creator: prepare for the next dispatch. */
static inline void rtl_signal_arm(amd_signal_t *signal)
{
    signal->start_ts = 0;
    signal->end_ts = 0;
    __atomic_store_n(&signal->value, RTL_SIGNAL_ARMED, __ATOMIC_RELAXED); /* published by the free ring */
}

#endif
