/* Makes the API segment, counts in it and writes its event rings (counters.h). */
#include "hip/counters.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory_file.h"
#include "base/version.h"
#include "hip/functions.h"
#include "shm/hash.h"
#include "shm/tables.h"
#include "shm/trace_size.h"

enum {
    NAME_READ = 4096, /* bytes of a range's name that are read; longer names with equal heads are one row */
    PROBES = 32,      /* rows that are searched for a name */
    CUT_MARK = 17,    /* "~" and the digits of a hash */
    IDS = 4096,       /* ids that a thread reserves at once */
    SHARE = 8,        /* a block's event ring is this much smaller than that of kernels */
};

__thread struct rtl_hip_thread rtl_hip_thread;

static struct rtl_hip_api api; /* once, then read-only */
_Atomic(struct rtl_hip_api *) rtl_hip_api_ready;
static _Atomic(uint32_t) taken[RTL_HIP_API_BLOCKS];     /* any: a thread owns block n */
static _Atomic(uint64_t) range_key[RTL_HIP_API_RANGES]; /* any: hash of the row's name, 0 = free */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static bool has_key;

static const struct {
    const char *name;
    uint32_t kind;
} functions[] = {
#define CALL(name, kind, ...) {#name, RTL_HIP_API_##kind},
#define ALLOCATE(name, ...)   {#name, RTL_HIP_API_ALLOCATE},
#define FREE(name, ...)       {#name, RTL_HIP_API_FREE},
    RTL_HIP_FUNCTIONS(CALL, ALLOCATE, FREE)
#undef CALL
#undef ALLOCATE
#undef FREE
};
static_assert((int)RTL_FN_HIP_COUNT <= (int)RTL_HIP_API_FUNCTIONS, "a row for each function");

static void describe_row(struct rtl_hip_api_row *row, uint32_t kind, const char *text, size_t length, uint64_t hash)
{
    size_t kept = length < RTL_HIP_API_TEXT ? length : RTL_HIP_API_TEXT;
    memcpy(row->text, text, kept);
    if (kept < length) {
        row->text[kept - CUT_MARK] = '~';
        for (size_t i = 1; i < CUT_MARK; i++)
            row->text[kept - i] = "0123456789abcdef"[hash >> 4 * (i - 1) & 15];
    }
    __atomic_store_n(&row->text_bytes, (uint32_t)kept, __ATOMIC_RELAXED);
    __atomic_store_n(&row->kind, kind, __ATOMIC_RELAXED);
    __atomic_store_n(&row->state, 1u, __ATOMIC_RELEASE);
}

static void stop_recording_in_child(void)
{
    atomic_store(&rtl_hip_api_ready, NULL);
    rtl_hip_thread.block = 0; /* the parent's thread owns that block, in shared memory */
    rtl_hip_thread.line = &rtl_hip_thread.none;
}

/* Release the thread's block. Calls that the thread makes afterwards are counted in the shared block. */
static void release_block(void *unused)
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    struct rtl_hip_api *a = atomic_load(&rtl_hip_api_ready);
    (void)unused;
    uint32_t block = t->block;
    t->block = 0;
    if (block) {
        __atomic_store_n(&t->line->now, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->line->node, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->line->tid, 0, __ATOMIC_RELAXED);
        t->line = &t->none;
        atomic_store_explicit(&taken[block], 0, memory_order_release);
    }
    if (a && t->depth) {
        rtl_hip_api_add(&a->header->ranges_unfinished, t->depth);
        for (uint32_t i = 0; i < t->depth && i < RTL_RANGES_DEEP; i++)
            if (t->range[i].row) {
                rtl_hip_api_add(&a->rows[t->range[i].row].open, UINT64_MAX);
                rtl_hip_api_add(&a->nodes[t->range[i].node].open, UINT64_MAX);
            }
    }
    t->depth = 0;
    t->call.range = 0;
    t->call.node = RTL_HIP_API_NODE_NONE;
}

/* The fixed nodes: one for no range, one for ranges that find no node. */
static void describe_nodes(struct rtl_hip_api_node *nodes)
{
    nodes[RTL_HIP_API_NODE_OTHER].row = RTL_HIP_API_FUNCTIONS;
    for (uint32_t i = 0; i < RTL_HIP_API_NODE_FIRST; i++)
        nodes[i].state = 1;
}

static void write_api_header(struct rtl_hip_api_header *h, uint64_t size, uint64_t pairs_at, uint64_t records)
{
    h->major = RTL_HIP_API_MAJOR;
    h->minor = RTL_HIP_API_MINOR;
    h->header_bytes = sizeof *h;
    h->size = size;
    h->events = records;
    h->nodes_used = RTL_HIP_API_NODE_FIRST;
    h->rows_at = RTL_HIP_API_ROWS_AT;
    h->memory_at = RTL_HIP_API_MEMORY_AT;
    h->counters_at = RTL_HIP_API_COUNTERS_AT;
    h->buckets_at = RTL_HIP_API_BUCKETS_AT;
    h->pairs_at = pairs_at;
    h->pid = (uint64_t)getpid();
    h->start_mono_ns = rtl_mono_ns();
    h->start_real_ns = rtl_real_ns();
    h->blocks_used = 1;
    memcpy(h->library_version, RTL_VERSION, sizeof RTL_VERSION);
    __atomic_store_n(&h->magic, RTL_HIP_API_MAGIC, __ATOMIC_RELEASE);
}

/* Return the records in each block's ring. librtl.so, where present, warns about a bad RTL_TRACE. */
static uint64_t ring_records(const char *trace)
{
    uint32_t records = 0;
    if (!rtl_trace_parse(trace, &records) || !records)
        return 0;
    uint64_t share = records / SHARE;
    return share < RTL_EVENTS_MIN ? RTL_EVENTS_MIN : share < RTL_HIP_API_EVENTS_MAX ? share : RTL_HIP_API_EVENTS_MAX;
}

/* NULL when limits of the process or the system leave no room. */
static char *create_api_segment(uint64_t size)
{
    int fd = rtl_file_size_allowed(size) ? rtl_memory_file(RTL_HIP_API_NAME) : -1;
    if (fd < 0)
        return NULL;
    char *base = ftruncate(fd, (off_t)size) == 0 ? rtl_map_sparse(fd, size) : NULL;
    if (!base) {
        close(fd);
        return NULL;
    }
    rtl_memory_file_seal(fd);
    return base;
}

/* Without a segment the application runs unrecorded. Print nothing: the viewer names what is missing. */
static void start_recording(void)
{
    const char *mode = getenv("RTL_MODE"), *other = "(other ranges)";
    if (!mode || strcmp(mode, RTL_MODE_HIP) != 0)
        return;
    uint64_t records = ring_records(getenv("RTL_TRACE"));
    uint64_t pairs_at = RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, records), size = pairs_at + RTL_HIP_API_PAIRS_SIZE;
    char *base = create_api_segment(size);
    if (!base) { /* without room for pairs: librtl.so counts each as one that found none */
        size = pairs_at;
        pairs_at = 0;
        base = create_api_segment(size);
    }
    if (!base)
        return;
    api.header = (void *)base;
    api.rows = (void *)(base + RTL_HIP_API_ROWS_AT);
    api.memory = (void *)(base + RTL_HIP_API_MEMORY_AT);
    api.counters = (void *)(base + RTL_HIP_API_COUNTERS_AT);
    api.buckets = (void *)(base + RTL_HIP_API_BUCKETS_AT);
    api.threads = (void *)(base + RTL_HIP_API_THREADS_AT);
    api.nodes = (void *)(base + RTL_HIP_API_NODES_AT);
    api.events = records ? (void *)(base + RTL_HIP_API_EVENTS_AT) : NULL;
    api.records = records;
    for (uint32_t i = 0; i < RTL_FN_HIP_COUNT; i++)
        describe_row(&api.rows[i], functions[i].kind, functions[i].name, strlen(functions[i].name), 0);
    describe_row(&api.rows[RTL_HIP_API_FUNCTIONS], RTL_HIP_API_RANGE, other, strlen(other), 0);
    atomic_store(&range_key[0], 1); /* reserves this row */
    describe_nodes(api.nodes);
    write_api_header(api.header, size, pairs_at, records);
    has_key = pthread_key_create(&thread_end, release_block) == 0;
    pthread_atfork(NULL, NULL, stop_recording_in_child);
    atomic_store_explicit(&rtl_hip_api_ready, &api, memory_order_release);
}

struct rtl_hip_api *rtl_hip_api_first(void)
{
    static _Atomic(bool) asked;
    static __thread bool
        asking; /* true if a signal handler or interposed function calls HIP here: pthread_once would wait for ever */
    if (atomic_load_explicit(&asked, memory_order_acquire))
        return atomic_load_explicit(&rtl_hip_api_ready, memory_order_acquire);
    if (asking)
        return NULL;
    int error = errno;
    asking = true;
    pthread_once(&once, start_recording);
    asking = false;
    atomic_store_explicit(&asked, true, memory_order_release);
    errno = error;
    return atomic_load_explicit(&rtl_hip_api_ready, memory_order_acquire);
}

/* Once a thread. Without a key the block would never be released. */
static void claim_block(struct rtl_hip_thread *t, struct rtl_hip_api *a)
{
    t->known = true;
    t->line = &t->none;
    t->tid = (uint32_t)syscall(SYS_gettid);
    for (uint32_t i = 1; has_key && i < RTL_HIP_API_BLOCKS; i++) {
        uint32_t no = 0;
        if (!atomic_compare_exchange_strong_explicit(&taken[i], &no, 1, memory_order_acquire, memory_order_relaxed))
            continue;
        if (pthread_setspecific(thread_end, t) != 0) {
            atomic_store(&taken[i], 0);
            break;
        }
        t->block = i;
        t->line = &a->threads[i];
        __atomic_store_n(&t->line->tid, t->tid, __ATOMIC_RELAXED);
        rtl_hip_api_raise(&a->header->blocks_used, i + 1);
        return;
    }
    rtl_hip_api_add(&a->header->shared_threads, 1);
}

void rtl_hip_api_thread(struct rtl_hip_api *a)
{
    if (!rtl_hip_thread.known)
        claim_block(&rtl_hip_thread, a);
}

void rtl_hip_api_more_ids(struct rtl_hip_thread *t)
{
    static _Atomic(uint64_t) given = 1; /* any; 0 is no id */
    t->next_id = atomic_fetch_add_explicit(&given, IDS, memory_order_relaxed);
    t->ids_end = t->next_id + IDS;
}

void rtl_hip_api_add_shared(struct rtl_hip_api *a, uint32_t row, uint64_t ns, uint64_t bytes, bool error)
{
    struct rtl_hip_api_counters *c = &a->counters[row];
    rtl_hip_api_add(&c->calls, 1);
    rtl_hip_api_add(&c->total_ns, ns);
    rtl_hip_api_raise(&c->most_ns, ns);
    if (bytes)
        rtl_hip_api_add(&c->bytes, bytes);
    if (error)
        rtl_hip_api_add(&c->errors, 1);
    __atomic_fetch_add(&a->buckets[row].count[rtl_bucket_of(ns)], 1, __ATOMIC_RELEASE);
}

void rtl_hip_api_count_code(struct rtl_hip_api_row *row, uint32_t code)
{
    for (uint32_t i = 0; i < RTL_HIP_API_CODES; i++) {
        uint32_t is = __atomic_load_n(&row->code[i].code, __ATOMIC_RELAXED);
        if (is == 0 &&
            __atomic_compare_exchange_n(&row->code[i].code, &is, code, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            is = code;
        if (is == code) {
            rtl_hip_api_add(&row->code[i].count, 1);
            return;
        }
    }
    rtl_hip_api_add(&row->codes_more, 1);
}

void rtl_hip_api_range(struct rtl_hip_api *a, uint32_t row, uint64_t ns)
{
    rtl_hip_api_add_shared(a, row, ns, 0, false);
}

uint32_t rtl_hip_api_range_row(struct rtl_hip_api *a, const char *name, enum rtl_hip_api_kind kind)
{
    size_t length = strnlen(name, NAME_READ);
    uint64_t hash = rtl_hash(name, length);
    uint64_t key = (hash ^ (uint64_t)kind * 0x9e3779b97f4a7c15ull) | 1ull << 63; /* never 0 or 1 */
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (uint32_t)((key + i) % RTL_HIP_API_RANGES);
        uint64_t is = atomic_load_explicit(&range_key[at], memory_order_relaxed);
        if (is == 0 && atomic_compare_exchange_strong_explicit(&range_key[at], &is, key, memory_order_relaxed,
                                                               memory_order_relaxed)) {
            describe_row(&a->rows[RTL_HIP_API_FUNCTIONS + at], kind, name, length, hash);
            return RTL_HIP_API_FUNCTIONS + at;
        }
        if (is == key)
            return RTL_HIP_API_FUNCTIONS + at;
    }
    rtl_hip_api_add(&a->header->ranges_other, 1);
    return RTL_HIP_API_FUNCTIONS;
}

/* --- event rings --- */

static uint64_t next_record[RTL_HIP_API_BLOCKS]; /* the block's owner: number of records ever written */
static _Atomic(bool) shared_ring_busy;           /* any: a thread writes the ring of the shared block */

typedef uint64_t __attribute__((may_alias)) ring_word;

static void write_record(struct rtl_hip_api *a, uint32_t block, const struct rtl_hip_api_event *event)
{
    enum { WORDS = sizeof *event / sizeof(uint64_t) };
    uint64_t number = ++next_record[block], from[WORDS];
    ring_word *to = (void *)&a->events[block * a->records + ((number - 1) & (a->records - 1))];
    memcpy(from, event, sizeof from);
    __atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
    /* release stores stay behind the 0 like behind a fence, and ThreadSanitizer understands them */
    for (int i = 1; i < WORDS; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
    __atomic_store_n(&to[0], number, __ATOMIC_RELEASE);
    __atomic_store_n(&a->threads[block].events, number, __ATOMIC_RELEASE);
}

void rtl_hip_api_append_event(struct rtl_hip_api *a, const struct rtl_hip_api_event *event)
{
    uint32_t block = rtl_hip_thread.block;
    if (likely(block != 0)) {
        write_record(a, block, event);
    } else if (!atomic_exchange_explicit(&shared_ring_busy, true, memory_order_acquire)) {
        write_record(a, 0, event);
        atomic_store_explicit(&shared_ring_busy, false, memory_order_release);
    } else {
        rtl_hip_api_add(&a->header->events_dropped, 1);
    }
}
