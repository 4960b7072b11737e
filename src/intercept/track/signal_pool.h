/*
 * The pool of profiling signals: made once, used again and again.
 *
 * A signal has a number; the number is what travels: from the free ring (in batches) into a queue's cache, with a
 * dispatch through the queue's pending ring to the worker, and back into the free ring. Only the worker looks at or
 * writes to the signals themselves, which are plain records in memory that the GPU writes: value, start_ts, end_ts.
 *
 * Numbers from RTL_SIGNALS_LIMIT on are stand-ins: records of the same shape in our own memory, for dispatches that
 * carry a signal of the application's (app_signals.h). They travel the same way, have a free ring of their own, and
 * cost nothing to make. Their limit is that of the signals, but at least 4,096.
 *
 * The limit follows the sizes of the queues (rtl_signals_limit). It is only an upper bound: the pool starts with 64
 * signals, the worker creates more while few are free, and destroys signals that were unused for long (supply.h).
 *
 * All arrays have room for RTL_SIGNALS_LIMIT; unused parts are never touched and take no memory.
 *
 * Free ring: one producer (the worker; before it runs, the thread that makes the pool), many consumers that claim a
 * batch with one compare-and-swap. The ring wraps at the limit, or it would touch all of its memory in turn. When the
 * limit outgrows the ring, the producer goes on in a larger one; consumers take from the old ring when the new one is
 * empty. Only the creation of a signal is expensive; any thread may create one within the limit, and that happens only
 * while the pool grows.
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
    RTL_SIGNALS_BATCH = 32,     /* most that a queue takes from the free ring at once */
    RTL_SIGNAL_ARMED = 1,       /* the value that a completion takes to 0 */
    RTL_STAND_INS_LEAST = 4096, /* lowest limit of stand-ins, otherwise that of the signals */
    RTL_NUMBERS = 2 * RTL_SIGNALS_LIMIT,
    RTL_RING_LEAST = 64, /* slots */
    RTL_RINGS = 14,      /* from RTL_RING_LEAST to RTL_SIGNALS_LIMIT slots, each twice as large as the one before */
};
_Static_assert(RTL_RING_LEAST << (RTL_RINGS - 1) == RTL_SIGNALS_LIMIT, "the largest ring has a slot for each number");

/* What few dispatches need known of them, beside what is in the pending ring (pending.h). Dispatch, before it is
 * pushed; then worker. */
struct rtl_inflight {
    _Alignas(64) uint64_t index; /* guarded queues: how many packets it had been handed, this one included */
    uint32_t grid[3];            /* where there is an event ring (rtl_hot.trace) */
    uint16_t workgroup[3];
    struct rtl_app_signal *app_signal; /* stand-ins: the signal, */
    int64_t value;                     /* and its value when the packet went */
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

/* How signals are made: the runtime's functions, or those of a test. */
struct rtl_signal_maker {
    bool (*make)(hsa_signal_t *signal);
    void (*destroy)(hsa_signal_t signal);
};

struct rtl_pool {
    struct rtl_signal_maker maker; /* constant */
    _Atomic uint32_t limit;        /* create stores (release), any loads (acquire): may be below `created` */
    _Atomic uint32_t room; /* create stores (release), any loads (acquire): highest limit so far, bounds all numbers */
    _Atomic uint32_t created;   /* any: signals that exist now; raised only below the limit */
    _Atomic uint64_t made;      /* any: created since the start */
    _Atomic uint64_t destroyed; /* worker: destroyed since the start */
    _Atomic bool refused;       /* any sets when the runtime refused a signal; the worker clears it once a span */
    _Atomic uint32_t lowest;    /* any: word of `taken` at which the search for a free bit begins; a hint */
    _Atomic uint64_t taken[RTL_SIGNALS_LIMIT / 64]; /* any: one bit a number in use */
    _Atomic uint32_t stand_ins;                     /* any: stand-ins that are in use, ever; may exceed the limit */
    hsa_signal_t handle[RTL_NUMBERS];               /* the maker of that number, before the number is passed on */
    struct rtl_inflight inflight[RTL_NUMBERS];
    amd_signal_t stand_in[RTL_SIGNALS_LIMIT];
    struct rtl_free free_signals, free_stand_ins;
};

/*
 * Pure: the limit of signals, where all queues together have room for `packets`. `asked`: RTL_SIGNALS, 0 if not set.
 * The limit is one signal a packet, a quarter more and RTL_SIGNALS_BESIDE, for completed dispatches whose times the
 * worker hasn't read yet.
 */
static inline uint32_t rtl_signals_limit(uint32_t asked, uint64_t packets)
{
    uint32_t room = packets < RTL_SIGNALS_LIMIT ? (uint32_t)packets : RTL_SIGNALS_LIMIT;
    uint32_t limit = asked ? asked : RTL_SIGNALS_BESIDE + room + room / 4;
    return limit < RTL_SIGNALS_LIMIT ? limit : RTL_SIGNALS_LIMIT;
}

/* Pure: the slots of a ring that has to hold `numbers` numbers at once: a power of two. */
static inline uint32_t rtl_ring_slots(uint32_t numbers)
{
    return numbers <= RTL_RING_LEAST ? RTL_RING_LEAST : 1u << (32 - __builtin_clz(numbers - 1));
}

/* Pure: the limit of stand-ins, where `signals` is that of the signals. */
static inline uint32_t rtl_stand_ins_beside(uint32_t signals)
{
    return signals < RTL_STAND_INS_LEAST ? RTL_STAND_INS_LEAST : signals;
}

/* An empty pool, or NULL when there is no memory. Never freed while a dispatch may come late. */
struct rtl_pool *rtl_pool_create(const struct rtl_signal_maker *maker, uint32_t limit);
void rtl_pool_free(struct rtl_pool *pool); /* tests */

/* Create: sets the limit. Signals above it stay in use until supply.h destroys them as unneeded. */
void rtl_pool_set_limit(struct rtl_pool *pool, uint32_t limit);

/* Makes up to n signals and writes their numbers; fewer at the limit or when the runtime refuses. Any thread. */
uint32_t rtl_pool_make(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);

/* Takes up to n free ones, 0 when there are none. Any thread, lock-free. */
uint32_t rtl_pool_acquire(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);

/* The producer: gives numbers back, armed. There is always room: the ring has one slot a number. */
void rtl_pool_return(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n);

/* The same for stand-ins; taking makes them, below their limit. */
uint32_t rtl_pool_acquire_stand_ins(struct rtl_pool *pool, uint32_t *numbers, uint32_t n);
void rtl_pool_return_stand_ins(struct rtl_pool *pool, const uint32_t *numbers, uint32_t n);

/* Worker: destroys up to n of the free signals and returns how many. It keeps a signal for which `is_looked_at` returns
 * true; it calls that function when no thread can take the signal into use any more. */
uint32_t rtl_pool_destroy(struct rtl_pool *pool, uint32_t n, bool (*is_looked_at)(uint32_t number));

/* Any: number of free signals. */
uint32_t rtl_pool_free_count(struct rtl_pool *pool);

/* In the `kind` of a stand-in: what it is for. Kernels' stand-ins come zeroed; copies' are elsewhere (copy_slots.h). */
enum rtl_stand_in_kind { RTL_STAND_IN_KERNEL, RTL_STAND_IN_COPY };

/* Any. Constant as long as the stand-in is in use. */
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
    return (amd_signal_t *)(uintptr_t)pool->handle[number].handle; /* the handle of a plain signal is its address */
}

/* Dispatch: that number is about to be used, with its record or without. */
static inline void rtl_pool_fetch(const struct rtl_pool *pool, uint32_t number, bool record)
{
    if (record)
        rtl_prefetch_to_write(&pool->inflight[number]);
    __builtin_prefetch(&pool->handle[number]);
}

/* Worker, or the maker: ready for the next dispatch. */
static inline void rtl_signal_arm(amd_signal_t *signal)
{
    signal->start_ts = 0;
    signal->end_ts = 0;
    __atomic_store_n(&signal->value, RTL_SIGNAL_ARMED, __ATOMIC_RELAXED); /* published by the free ring */
}

#endif
