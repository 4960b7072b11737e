/*
 * Where calls are counted: the API segment (shm/hip_api.h), made with the first call, and a block of it for each
 * thread.
 *
 * No lock and no allocation once a thread has its block. A thread that finds none, or that has given its own back
 * because it ends, counts in the shared block.
 */
#ifndef RTL_HIP_COUNTERS_H
#define RTL_HIP_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shm/hip_api_link.h"
#include "stats/histogram.h"

enum { RTL_RANGES_DEEP = 64 }; /* ranges of a thread, one in the other, that are timed */

struct rtl_open_range {
    uint32_t row; /* of a function: nothing was recorded when it began */
    uint32_t node;
    uint64_t start_ns;
    uint64_t id;
    uint64_t around; /* id of the range around it, */
    uint32_t above;  /* and its node */
};

/* What a thread keeps. Static TLS: reading it costs one instruction and never allocates. */
struct rtl_hip_thread {
    struct rtl_hip_api_call call; /* for librtl.so (shm/hip_api_link.h), too */
    uintptr_t inside; /* stack of the call that is recorded; 0 in none: what HIP calls itself isn't the application's */
    uint32_t block;   /* 0: the shared one */
    uint32_t tid;
    uint64_t latest_ns;        /* the latest time that it was told (now.h) */
    bool known;                /* has asked for a block */
    uint32_t depth;            /* of its open ranges; those beyond RTL_RANGES_DEEP are only counted */
    uint64_t next_id, ids_end; /* ids that nobody else has */
    struct rtl_hip_api_thread
        *line; /* in the segment: the block's; of a thread that has none its own, that nobody reads */
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
    uint64_t records;                 /* in each block's */
};

/* once, release; NULL again in a forked child: through rtl_api */
extern _Atomic(struct rtl_hip_api *) rtl_hip_api_ready __attribute__((visibility("hidden")));
struct rtl_hip_api *rtl_hip_api_first(void);

/* NULL when nothing is recorded: another mode, no memory, a forked child. Makes the segment when it is first asked. */
static inline struct rtl_hip_api *rtl_api(void)
{
    struct rtl_hip_api *api = atomic_load_explicit(&rtl_hip_api_ready, memory_order_acquire);
    return __builtin_expect(api != NULL, 1) ? api : rtl_hip_api_first();
}

/* Has the end of this thread noticed, and gives it a block. */
void rtl_hip_api_thread(struct rtl_hip_api *api);
/* Off the steady path: some ids for this thread alone. */
void rtl_hip_api_more_ids(struct rtl_hip_thread *thread);

/* An id that no call, range or mark of the process had, nor will have. */
static inline uint64_t rtl_hip_api_id(struct rtl_hip_thread *thread)
{
    if (__builtin_expect(thread->next_id == thread->ids_end, 0))
        rtl_hip_api_more_ids(thread);
    return thread->next_id++;
}

/* A call begins. The thread has been noticed. */
static inline void rtl_hip_api_begin(struct rtl_hip_thread *thread, uint32_t row, uint64_t from_ns)
{
    thread->call.id = rtl_hip_api_id(thread);
    thread->call.entry_ns = from_ns;
    thread->call.ordinal = 0;
    __atomic_store_n(&thread->line->now, RTL_HIP_API_NOW(row, from_ns), __ATOMIC_RELAXED);
}

/* It has ended. */
static inline void rtl_hip_api_end(struct rtl_hip_thread *thread, uint32_t row, uint64_t to_ns)
{
    thread->call.id = 0;
    __atomic_store_n(&thread->line->last, RTL_HIP_API_NOW(row, to_ns), __ATOMIC_RELAXED);
    __atomic_store_n(&thread->line->now, 0, __ATOMIC_RELAXED);
}

/* One range or mark that has ended. */
void rtl_hip_api_range(struct rtl_hip_api *api, uint32_t row, uint64_t ns);
/* The row of a range's name, RTL_HIP_API_FUNCTIONS for those that find none; its kind is RANGE or MARK. */
uint32_t rtl_hip_api_range_row(struct rtl_hip_api *api, const char *name, enum rtl_hip_api_kind kind);
/* Adds to a counter that many threads write. */
static inline void rtl_hip_api_add(uint64_t *counter, uint64_t by)
{
    __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

/* To one that only this thread writes. */
static inline void rtl_hip_api_add_own(uint64_t *counter, uint64_t by)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
}

/* What rtl_hip_api_call seldom needs: a return code other than 0; counters that threads share. */
void rtl_hip_api_count_code(struct rtl_hip_api_row *row, uint32_t code);
void rtl_hip_api_add_shared(struct rtl_hip_api *api, uint32_t row, uint64_t ns, uint64_t bytes, bool error);

/* One call of a function by this thread, which has been noticed. The bucket last: it says that the rest is there. */
static inline void rtl_hip_api_call(struct rtl_hip_api *api, uint32_t row, uint64_t ns, uint64_t bytes, int code)
{
    const struct rtl_hip_thread *t = &rtl_hip_thread;
    bool error = false;
    if (__builtin_expect(code != 0, 0)) {
        error = code != RTL_HIP_API_NOT_READY;
        rtl_hip_api_count_code(&api->rows[row], (uint32_t)code);
    }
    if (__builtin_expect(!t->block, 0)) {
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
    if (__builtin_expect(error, 0))
        rtl_hip_api_add_own(&c->errors, 1);
    uint64_t *bucket = &api->buckets[cell].count[rtl_bucket_of(ns)];
    __atomic_store_n(bucket, __atomic_load_n(bucket, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

#endif
