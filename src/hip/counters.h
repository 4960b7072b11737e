/*
 * Counts calls in the API segment (shm/hip_api.h), which the first call makes, in one block a thread.
 *
 * No lock and no allocation once a thread has its block. A thread that finds no block, or has released its own because
 * it ends, counts in the shared block.
 */
#ifndef RTL_HIP_COUNTERS_H
#define RTL_HIP_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "shm/hip_api_link.h"
#include "stats/histogram.h"

enum { RTL_RANGES_DEEP = 64 }; /* nested ranges of a thread that are timed */

struct rtl_open_range {
    uint32_t row; /* 0: nothing was recorded when the range began */
    uint32_t node;
    uint64_t start_ns;
    uint64_t id;
    uint64_t around; /* id of the enclosing range */
    uint32_t above;  /* and its node */
};

/* State of a thread. Static TLS: one instruction to read, no allocation. */
struct rtl_hip_thread {
    struct rtl_hip_api_call call; /* librtl.so reads it, too (shm/hip_api_link.h) */
    uintptr_t inside; /* stack address of the call being recorded, 0 = none: HIP's own nested calls aren't the
                         application's */
    uint32_t block;   /* 0: the shared one */
    uint32_t tid;
    uint64_t latest_ns;              /* the latest time that this thread read (now.h) */
    bool known;                      /* has asked for a block */
    uint32_t depth;                  /* of its open ranges; those beyond RTL_RANGES_DEEP are only counted */
    uint64_t next_id, ids_end;       /* unused ids of this thread */
    struct rtl_hip_api_thread *line; /* in the block; without a block it is `none`, which no viewer reads */
    struct rtl_hip_api_thread none;
    struct rtl_open_range range[RTL_RANGES_DEEP];
};
extern __thread struct rtl_hip_thread rtl_hip_thread;

struct rtl_hip_api {
    struct rtl_hip_api_header *header; /* NULL: nothing is recorded */
    struct rtl_hip_api_row *rows;
    struct rtl_hip_api_memory *memory;
    struct rtl_hip_api_counters *counters;
    struct rtl_hip_api_buckets *buckets;
    struct rtl_hip_api_thread *threads;
    struct rtl_hip_api_node *nodes;
    struct rtl_hip_api_event *events; /* NULL: there are no rings */
    uint64_t records;                 /* in each block's ring */
};

/* set once (release); NULL again in a forked child. Read it by rtl_api. */
extern _Atomic(struct rtl_hip_api *) rtl_hip_api_ready __attribute__((visibility("hidden")));
struct rtl_hip_api *rtl_hip_api_first(void);

/* Return NULL when nothing is recorded: another mode, no memory, a forked child. The first call makes the segment. */
static inline struct rtl_hip_api *rtl_api(void)
{
    struct rtl_hip_api *api = atomic_load_explicit(&rtl_hip_api_ready, memory_order_acquire);
    return likely(api != NULL) ? api : rtl_hip_api_first();
}

/* Register the calling thread: assign it a block, released when the thread ends. */
void rtl_hip_api_thread(struct rtl_hip_api *api);
/* Reserve ids for this thread. Off the steady path. */
void rtl_hip_api_more_ids(struct rtl_hip_thread *thread);

/* Return an id that is unique in the process, for a call, range or mark. */
static inline uint64_t rtl_hip_api_id(struct rtl_hip_thread *thread)
{
    if (unlikely(thread->next_id == thread->ids_end))
        rtl_hip_api_more_ids(thread);
    return thread->next_id++;
}

/* A call begins on a registered thread. */
static inline void rtl_hip_api_begin(struct rtl_hip_thread *thread, uint32_t row, uint64_t from_ns)
{
    thread->call.id = rtl_hip_api_id(thread);
    thread->call.entry_ns = from_ns;
    thread->call.ordinal = 0;
    __atomic_store_n(&thread->line->now, RTL_HIP_API_NOW(row, from_ns), __ATOMIC_RELAXED);
}

static inline void rtl_hip_api_end(struct rtl_hip_thread *thread, uint32_t row, uint64_t to_ns)
{
    thread->call.id = 0;
    __atomic_store_n(&thread->line->last, RTL_HIP_API_NOW(row, to_ns), __ATOMIC_RELAXED);
    __atomic_store_n(&thread->line->now, 0, __ATOMIC_RELAXED);
}

/* Count a range or mark that has ended. */
void rtl_hip_api_range(struct rtl_hip_api *api, uint32_t row, uint64_t ns);
/* Return the row of a range's name, or RTL_HIP_API_FUNCTIONS when there is no room. The kind is RANGE or MARK. */
uint32_t rtl_hip_api_range_row(struct rtl_hip_api *api, const char *name, enum rtl_hip_api_kind kind);
/* Add to a counter that many threads write. */
static inline void rtl_hip_api_add(uint64_t *counter, uint64_t by)
{
    __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

/* Raises a maximum that many threads write. */
static inline void rtl_hip_api_raise(uint64_t *most, uint64_t value)
{
    uint64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (now < value && !__atomic_compare_exchange_n(most, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Add to a counter that only this thread writes (release). One instruction without a lock prefix: a signal handler
 * can't run in the middle of it, so no call of the handler is lost. */
static inline void rtl_hip_api_add_own(uint64_t *counter, uint64_t by)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    __asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(by) : "memory", "cc");
#else
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELEASE);
#endif
}

/* The rare parts of rtl_hip_api_call: a return code other than 0; counters that threads share. */
void rtl_hip_api_count_code(struct rtl_hip_api_row *row, uint32_t code);
void rtl_hip_api_add_shared(struct rtl_hip_api *api, uint32_t row, uint64_t ns, uint64_t bytes, bool error);

/* Count one call by this registered thread. The bucket comes last (release): it publishes the other counters. */
static inline void rtl_hip_api_call(struct rtl_hip_api *api, uint32_t row, uint64_t ns, uint64_t bytes, int code)
{
    const struct rtl_hip_thread *t = &rtl_hip_thread;
    bool error = false;
    if (unlikely(code != 0)) {
        error = code != RTL_HIP_API_NOT_READY;
        rtl_hip_api_count_code(&api->rows[row], (uint32_t)code);
    }
    if (unlikely(!t->block)) {
        rtl_hip_api_add_shared(api, row, ns, bytes, error);
        return;
    }
    uint32_t cell = RTL_HIP_API_CELL(t->block, row);
    struct rtl_hip_api_counters *c = &api->counters[cell];
    rtl_hip_api_add_own(&c->calls, 1);
    rtl_hip_api_add_own(&c->total_ns, ns);
    if (ns > __atomic_load_n(&c->most_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&c->most_ns, ns, __ATOMIC_RELAXED);
    if (bytes)
        rtl_hip_api_add_own(&c->bytes, bytes);
    if (unlikely(error))
        rtl_hip_api_add_own(&c->errors, 1);
    rtl_hip_api_add_own(&api->buckets[cell].count[rtl_bucket_of(ns)], 1);
}

/* Ranges by nesting (nodes.c): a node for each name below each node (shm/hip_api.h). No lock, no allocation. */

/* Return the node of a name below a node; RTL_HIP_API_NODE_OTHER when there are too many. */
uint32_t rtl_hip_api_node(struct rtl_hip_api *api, uint32_t parent, uint32_t row);
void rtl_hip_api_node_begins(struct rtl_hip_api *api, uint32_t node);
void rtl_hip_api_node_ends(struct rtl_hip_api *api, uint32_t node, uint64_t ns);

/*
 * The event rings of a full trace (RTL_TRACE): calls, ranges and marks that have ended, one ring a block.
 *
 * A thread with a block is the only writer of its ring: about ten stores. The others share the ring of the shared
 * block: one writes at a time; a thread that finds it busy drops its event and counts it instead of waiting.
 */

/* Append an event of the calling thread and set its `sequence`. Only if api->events is not NULL. */
void rtl_hip_api_append_event(struct rtl_hip_api *api, const struct rtl_hip_api_event *event);

/* Memory allocated now, by GPU and by allocating function (memory.c). No lock; a fixed table. */

/* Add a successful allocation; place is the GPU's number, RTL_HIP_API_GPUS for host memory. */
void rtl_memory_add(struct rtl_hip_api *api, uint32_t row, const void *address, uint64_t bytes, uint32_t place);

/* Remove an address before the runtime frees it: afterwards another thread may get the same address. Returns its
 * record, or 0; rtl_memory_restore adds it again if freeing failed. */
uint64_t rtl_memory_remove(struct rtl_hip_api *api, const void *address);
void rtl_memory_restore(struct rtl_hip_api *api, const void *address, uint64_t noted);

/* Remove all memory of a GPU, after a device reset. */
void rtl_memory_reset(struct rtl_hip_api *api, uint32_t place);

#endif
