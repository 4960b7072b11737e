/* roctx: ranges and marks by name. With libroctx64 in the process every call goes on to it and returns its result.
 * Without it: push returns its level from 0, pop the level that it left or -1; ids of started ranges count from 1 in
 * the process, and any thread may stop them. */
#include "hip/functions.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "hip/counters.h"
#include "hip/now.h"
#include "hip/resolve.h"

#define RTL_EXPORT __attribute__((visibility("default")))

enum { STARTED_MAX = 4096, PROBES = 64 }; /* started ranges that are open at once */

/* any: id is claimed with BUSY, stored last (release), 0 once the range has ended */
static struct {
    _Atomic(uint64_t) id;
    _Atomic(uint32_t) row;
    _Atomic(uint32_t) tid;
    _Atomic(uint64_t) start_ns;
    _Atomic(uint64_t) number; /* our id in the segment; libroctx64 has ids of its own */
} started[STARTED_MAX];
static const uint64_t BUSY = UINT64_MAX, OURS = 1ull << 62;
static _Atomic(uint64_t) ids;

static const char *name_or_default(const char *message)
{
    return message && *message ? message : "(no name)";
}

/* Register the thread and return a new id. */
static uint64_t new_id(struct rtl_hip_api *api)
{
    rtl_hip_api_thread(api);
    return rtl_hip_api_id(&rtl_hip_thread);
}

static void record_mark(void (*real)(const char *), const char *message)
{
    struct rtl_hip_api *api = rtl_api();
    if (api) {
        uint32_t row = rtl_hip_api_range_row(api, name_or_default(message), RTL_HIP_API_MARK);
        rtl_hip_api_range(api, row, 0);
        if (api->events) {
            const struct rtl_hip_thread *t = &rtl_hip_thread;
            struct rtl_hip_api_event event = {.id = new_id(api),
                                              .start_ns = rtl_hip_now(&rtl_hip_thread),
                                              .range = t->call.range,
                                              .tid = t->tid,
                                              .row = (uint16_t)row,
                                              .node = t->call.node};
            event.end_ns = event.start_ns;
            rtl_hip_api_append_event(api, &event);
        }
    }
    if (real)
        real(message);
}

static int push_range(int (*real)(const char *), const char *message)
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    struct rtl_hip_api *api = rtl_api();
    uint32_t level = t->depth++;
    if (level < RTL_RANGES_DEEP)
        t->range[level].row = 0; /* 0 marks it as unrecorded */
    if (api && level < RTL_RANGES_DEEP) {
        struct rtl_open_range *range = &t->range[level];
        range->id = new_id(api); /* also registers the thread */
        range->row = rtl_hip_api_range_row(api, name_or_default(message), RTL_HIP_API_RANGE);
        range->around = t->call.range;
        range->above = t->call.node;
        range->node = rtl_hip_api_node(api, range->above, range->row);
        rtl_hip_api_add(&api->rows[range->row].open, 1);
        rtl_hip_api_node_begins(api, range->node);
        t->call.range = range->id;
        t->call.node = range->node;
        __atomic_store_n(&t->line->node, range->node, __ATOMIC_RELAXED);
        range->start_ns = rtl_hip_now(t);
    } else if (api) {
        rtl_hip_api_add(&api->header->ranges_deep, 1);
    }
    return real ? real(message) : (int)level;
}

/* End the innermost range of this thread. */
static void end_range(struct rtl_hip_api *api, const struct rtl_open_range *range)
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    uint64_t now = rtl_hip_now_fenced(t);
    t->call.range = range->around;
    t->call.node = range->above;
    __atomic_store_n(&t->line->node, range->above, __ATOMIC_RELAXED);
    rtl_hip_api_range(api, range->row, now - range->start_ns);
    rtl_hip_api_add(&api->rows[range->row].open, UINT64_MAX);
    rtl_hip_api_node_ends(api, range->node, now - range->start_ns);
    if (api->events)
        rtl_hip_api_append_event(api, &(struct rtl_hip_api_event){.id = range->id,
                                                                  .start_ns = range->start_ns,
                                                                  .end_ns = now,
                                                                  .range = range->around,
                                                                  .tid = t->tid,
                                                                  .row = (uint16_t)range->row,
                                                                  .node = range->above});
}

static int pop_range(int (*real)(void))
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    struct rtl_hip_api *api = rtl_api();
    int level = -1;
    if (t->depth) {
        level = (int)t->depth - 1;
        /* copied before its place is free, because a signal handler may then push a range there */
        struct rtl_open_range range = t->range[level < RTL_RANGES_DEEP ? level : 0];
        atomic_signal_fence(memory_order_seq_cst);
        t->depth = (uint32_t)level;
        atomic_signal_fence(memory_order_seq_cst);
        if (api && level < RTL_RANGES_DEEP && range.row)
            end_range(api, &range);
    } else if (api) {
        rtl_hip_api_add(&api->header->pops_unbalanced, 1);
    }
    return real ? real() : level;
}

/* Mark ids of ours: libroctx64, used by another part of the process, may return equal ones. */
static uint64_t range_key(uint64_t id, bool its_own)
{
    return its_own ? id : id | OURS;
}

static uint64_t start_range(uint64_t (*real)(const char *), const char *message)
{
    struct rtl_hip_api *api = rtl_api();
    uint64_t id = real ? real(message) : atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed) + 1;
    uint64_t key = range_key(id, real != NULL);
    uint32_t row = api ? rtl_hip_api_range_row(api, name_or_default(message), RTL_HIP_API_RANGE) : 0;
    for (uint32_t i = 0; api && i < PROBES; i++) {
        uint32_t at = (uint32_t)((key + i) % STARTED_MAX);
        uint64_t none = 0;
        if (!atomic_compare_exchange_strong_explicit(&started[at].id, &none, BUSY, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&started[at].row, row, memory_order_relaxed);
        atomic_store_explicit(&started[at].number, new_id(api), memory_order_relaxed);
        atomic_store_explicit(&started[at].tid, rtl_hip_thread.tid, memory_order_relaxed);
        atomic_store_explicit(&started[at].start_ns, rtl_hip_now(&rtl_hip_thread), memory_order_relaxed);
        rtl_hip_api_add(&api->rows[row].open, 1);
        atomic_store_explicit(&started[at].id, key, memory_order_release);
        return id;
    }
    if (api)
        rtl_hip_api_add(&api->header->ranges_deep, 1);
    return id;
}

static void stop_range(void (*real)(uint64_t), uint64_t id)
{
    struct rtl_hip_api *api = rtl_api();
    bool found = false;
    uint64_t key = range_key(id, real != NULL);
    for (uint32_t i = 0; api && !found && id && id != BUSY && i < PROBES; i++) {
        uint32_t at = (uint32_t)((key + i) % STARTED_MAX);
        uint64_t is = atomic_load_explicit(&started[at].id, memory_order_acquire);
        if (is != key)
            continue;
        uint32_t row = atomic_load_explicit(&started[at].row, memory_order_relaxed);
        uint32_t tid = atomic_load_explicit(&started[at].tid, memory_order_relaxed);
        uint64_t from = atomic_load_explicit(&started[at].start_ns, memory_order_relaxed), now;
        uint64_t number = atomic_load_explicit(&started[at].number, memory_order_relaxed);
        if (!atomic_compare_exchange_strong(&started[at].id, &is, 0))
            break; /* another thread stops it, too */
        now = rtl_hip_now_fenced(&rtl_hip_thread);
        now = now > from ? now : from; /* `from` is another thread's time, perhaps by another line */
        rtl_hip_api_range(api, row, now - from);
        rtl_hip_api_add(&api->rows[row].open, UINT64_MAX);
        if (api->events) {
            rtl_hip_api_thread(api);
            rtl_hip_api_append_event(api, &(struct rtl_hip_api_event){.id = number,
                                                                      .start_ns = from,
                                                                      .end_ns = now,
                                                                      .tid = tid,
                                                                      .row = (uint16_t)row,
                                                                      .flags = RTL_HIP_API_EVENT_STARTED});
        }
        found = true;
    }
    if (api && !found)
        rtl_hip_api_add(&api->header->pops_unbalanced, 1);
    if (real)
        real(id);
}

/* Each function under its name with and without A: exported, and a second version that dlsym returns. */
#define BOTH(name, result, parameters, pointer, then)                           \
    RTL_EXPORT result name parameters;                                          \
    result name parameters                                                      \
    {                                                                           \
        pointer;                                                                \
        *(void **)&real = rtl_next(RTL_FN_##name, __builtin_return_address(0)); \
        then;                                                                   \
    }                                                                           \
    static result handed_##name parameters                                      \
    {                                                                           \
        pointer;                                                                \
        *(void **)&real = atomic_load(&rtl_handed[RTL_FN_##name]);              \
        then;                                                                   \
    }
BOTH(roctxMarkA, void, (const char *message), void (*real)(const char *), record_mark(real, message))
BOTH(roctxMark, void, (const char *message), void (*real)(const char *), record_mark(real, message))
BOTH(roctxRangePushA, int, (const char *message), int (*real)(const char *), return push_range(real, message))
BOTH(roctxRangePush, int, (const char *message), int (*real)(const char *), return push_range(real, message))
BOTH(roctxRangePop, int, (void), int (*real)(void), return pop_range(real))
BOTH(roctxRangeStartA, uint64_t, (const char *message), uint64_t (*real)(const char *),
     return start_range(real, message))
BOTH(roctxRangeStart, uint64_t, (const char *message), uint64_t (*real)(const char *),
     return start_range(real, message))
BOTH(roctxRangeStop, void, (uint64_t id), void (*real)(uint64_t), stop_range(real, id))

void *rtl_roctx_wrapper(enum rtl_hip_function function)
{
    void *wrapper = NULL;
#define WRAPPER(name)                                    \
    if (function == RTL_FN_##name) {                     \
        void (*f)(void) = (void (*)(void))handed_##name; \
        memcpy(&wrapper, &f, sizeof wrapper);            \
    }
    RTL_ROCTX_FUNCTIONS(WRAPPER)
#undef WRAPPER
    return wrapper;
}
