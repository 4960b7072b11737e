/*
 * The API segment: what HIP calls and roctx ranges cost the host's threads. One sealed memfd for each process, beside
 * the segment of kernels (segment.h): a process makes its first call before the runtime creates that segment, and
 * processes without a GPU have ranges, too. librtl-hip.so writes it, viewers read it.
 *
 * Finding it: a descriptor of the process whose link reads "/memfd:" RTL_HIP_API_NAME " (deleted)". Little-endian,
 * 64-bit.
 *
 * Rules for the writer
 *  - The first recorded call makes the segment; magic is stored last (release).
 *  - Rows 0 .. RTL_HIP_API_FUNCTIONS - 1 are functions, described before magic. The other rows are ranges and marks:
 *    the first thread with a name takes a row. State READY (release) publishes name and kind.
 *  - Counters lie in blocks. All threads share block 0 (atomic additions). Each other block belongs to one thread at a
 *    time, which adds with plain relaxed stores. Ranges are in block 0 only. A row's total is the sum over the blocks.
 *  - The writer adds a call in this order: total, most, bytes, errors, then its bucket. The number of calls is the sum
 *    of the buckets, so counts and quantiles always agree; a total read before the buckets lacks calls that have just
 *    ended.
 *  - The writer decides nothing by what it reads back, except that compare-and-swap raises the peak of memory.
 *  - Counters only grow, except "open" and "in use".
 *  - librtl.so of the same process finds this segment through hip_api_link.h and writes what it alone knows about
 *    kernels (launches, GPU time of nodes, links). "dispatch" and "worker" are its threads, as in segment.h. Rows of
 *    kernels and slots of queues are those of segment.h.
 *  - Event rings, if any: one for each block, written like the ring of segment.h by the block's thread: sequence = 0;
 *    the other words, each a release store; sequence = n + 1 (release); then the thread's `events` = n + 1 (release).
 *    Threads without a block share the ring of block 0, one at a time; a thread that finds it busy drops its event.
 *
 * Rules for the reader
 *  - It preads and never maps, so nothing the process does to the file can stop it. The size from fstat and the limits
 *    of this version bound every number, whatever the header says. It refuses another major version.
 */
/* clang-format off */
#ifndef RTL_SHM_HIP_API_H
#define RTL_SHM_HIP_API_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_HIP_API_NAME "rtl-api"
#define RTL_HIP_API_MAGIC 0x3149504c5452ff00ull /* 0x00 0xff "RTLPI1" read as little-endian */
#define RTL_HIP_API_MAJOR 1u
#define RTL_HIP_API_MINOR 3u /* 1: threads, links, nodes, launches, events; 2: pairs; 3: unrecorded */

enum {
    RTL_HIP_API_FUNCTIONS = 256,                 /* rows of functions; state FREE where unused */
    RTL_HIP_API_RANGES = 1024,                   /* rows of ranges and marks; the first is "(other ranges)" */
    RTL_HIP_API_ROWS = RTL_HIP_API_FUNCTIONS + RTL_HIP_API_RANGES,
    RTL_HIP_API_BLOCKS = 64,                     /* block 0 is shared */
    RTL_HIP_API_CELLS = RTL_HIP_API_ROWS + (RTL_HIP_API_BLOCKS - 1) * RTL_HIP_API_FUNCTIONS,
    RTL_HIP_API_BUCKETS = 35 * 64,               /* as stats/histogram.h counts them */
    RTL_HIP_API_CODES = 12,                      /* different return codes counted for each function */
    RTL_HIP_API_TEXT = 192,                      /* bytes of a name; a longer name is cut and ends in "~" and 16 digits */
    RTL_HIP_API_GPUS = 64,
    RTL_HIP_API_PLACES = RTL_HIP_API_GPUS + 1,   /* the last one is host memory */
    RTL_HIP_API_NOT_READY = 600,                 /* hipErrorNotReady: an answer, not counted as an error */
    RTL_HIP_API_NODES = 4096,                    /* ranges by their place in the nesting */
    RTL_HIP_API_NODE_NONE = 0,                   /* in no range */
    RTL_HIP_API_NODE_OTHER = 1,                  /* all ranges without a node of their own */
    RTL_HIP_API_NODE_FIRST = 2,
    RTL_HIP_API_KERNELS = 16384,                 /* rows of kernels in segment.h */
    RTL_HIP_API_QUEUES = 128,                    /* slots of queues in segment.h */
    RTL_HIP_API_PAIRS = 4096,                    /* pairs of a node and a kernel */
    RTL_HIP_API_EVENTS_MAX = 1 << 18,            /* records in each block's ring */
};

/* X(symbol, number, JSON value, meaning) */
#define RTL_HIP_API_KINDS(X)                                         \
    X(LAUNCH, 1, "launch", "launches of kernels, graphs, functions") \
    X(COPY, 2, "copy", "copies")                                     \
    X(SET, 3, "set", "filling of memory")                            \
    X(ALLOCATE, 4, "allocate", "allocations")                        \
    X(FREE, 5, "free", "functions that free memory")                 \
    X(WAIT, 6, "wait", "waiting for the GPU")                        \
    X(STREAM, 7, "stream", "streams")                                \
    X(EVENT, 8, "event", "events")                                   \
    X(GRAPH, 9, "graph", "graphs and their capture")                 \
    X(MODULE, 10, "module", "code objects and their functions")      \
    X(DEVICE, 11, "device", "GPUs")                                  \
    X(MAPPING, 12, "mapping", "address space and shared memory")     \
    X(RANGE, 13, "range", "ranges of roctx")                         \
    X(MARK, 14, "mark", "marks of roctx")
#define RTL_ENUM_HIP_API_KIND(sym, num, name, text) RTL_HIP_API_##sym = (num),
enum rtl_hip_api_kind { RTL_HIP_API_KINDS(RTL_ENUM_HIP_API_KIND) RTL_HIP_API_KIND_COUNT };
#undef RTL_ENUM_HIP_API_KIND

/* Why a dispatch isn't linked to a call. X(symbol, number, JSON key, meaning) */
#define RTL_HIP_API_UNLINKED(X)                                                                            \
    X(OUTSIDE, 0, "outside", "submitted outside of any recorded call")                                 \
    X(QUEUE_THREAD, 1, "queue_thread", "submitted by a thread of the runtime (AMD_DIRECT_DISPATCH=0)") \
    X(OVERTAKEN, 2, "overtaken", "the notes of later packets overwrote its note")                      \
    X(UNNOTED, 3, "unnoted", "no note of it: reserved in an unseen way, or no memory for its queue")

#define RTL_ENUM_HIP_API_UNLINKED(sym, num, key, text) RTL_HIP_API_UNLINKED_##sym = (num),
enum rtl_hip_api_unlinked { RTL_HIP_API_UNLINKED(RTL_ENUM_HIP_API_UNLINKED) RTL_HIP_API_UNLINKED_LIMIT = 7 };
#undef RTL_ENUM_HIP_API_UNLINKED

/* How a file whose calls aren't recorded was opened. X(symbol, number, text) */
#define RTL_HIP_API_UNRECORDED(X)                                                      \
    X(DEEPBIND, 1, "opened with RTLD_DEEPBIND: its calls may pass by librtl-hip.so") \
    X(DLMOPEN, 2, "opened by dlmopen, in a namespace of its own: neither its calls nor its kernels are recorded")

#define RTL_ENUM_HIP_API_UNRECORDED(sym, num, text) RTL_HIP_API_UNRECORDED_##sym = (num),
enum rtl_hip_api_unrecorded { RTL_HIP_API_UNRECORDED(RTL_ENUM_HIP_API_UNRECORDED) RTL_HIP_API_UNRECORDED_END };
#undef RTL_ENUM_HIP_API_UNRECORDED

enum { /* flags in the header */
    RTL_HIP_API_FLAG_LINKED = 1u << 0,     /* librtl.so of this process links dispatches and copies to calls */
    RTL_HIP_API_FLAG_INDIRECT = 1u << 1,   /* AMD_DIRECT_DISPATCH=0: the runtime submits on threads of its own */
};

/* A thread's current or last call and its time, in one word, so that both always belong together. */
#define RTL_HIP_API_NOW(row, ns)     ((uint64_t)(ns) << 8 | (uint8_t)(row))
#define RTL_HIP_API_NOW_ROW(word)    ((uint32_t)((word) & 0xff))
#define RTL_HIP_API_NOW_NS(word)     ((uint64_t)(word) >> 8)

/* Index of a row's counters in a block. */
#define RTL_HIP_API_CELL(block, row) \
    ((uint32_t)((block) ? RTL_HIP_API_ROWS + ((block) - 1) * RTL_HIP_API_FUNCTIONS + (row) : (row)))

struct rtl_hip_api_code { /* any */
    uint32_t code;    /* 0: free */
    uint32_t pad;
    uint64_t count;
};

struct rtl_hip_api_row {
    uint32_t state;       /* 1: READY, stored last (release) */
    uint32_t kind;        /* enum rtl_hip_api_kind */
    uint32_t text_bytes;
    uint32_t pad0;
    char text[RTL_HIP_API_TEXT]; /* not terminated */
    /* any */
    uint64_t open;        /* ranges that have begun and have not ended */
    uint64_t in_use;      /* bytes that this function has allocated and the process has not freed */
    uint64_t codes_more;  /* returns of further codes */
    uint64_t pad1[3];
    struct rtl_hip_api_code code[RTL_HIP_API_CODES]; /* returns other than success */
};

struct rtl_hip_api_counters { /* the block's thread; any in block 0 */
    uint64_t total_ns;
    uint64_t most_ns;
    uint64_t bytes;       /* of calls that succeeded */
    uint64_t errors;      /* returns other than success and RTL_HIP_API_NOT_READY */
    uint64_t calls;       /* a hint: readers skip rows of 0; the number of calls is the sum of the buckets */
    uint64_t pad[3];
};

struct rtl_hip_api_buckets { uint64_t count[RTL_HIP_API_BUCKETS]; };

struct rtl_hip_api_memory { /* any */
    uint64_t in_use;      /* bytes */
    uint64_t peak;
    uint64_t allocations; /* in use */
    uint64_t pad[5];
};

/* Current activity of the block's thread. Block 0, which threads share, has only events. */
struct rtl_hip_api_thread { /* the thread */
    uint32_t tid;         /* as the process sees it; 0: the block is free */
    uint32_t node;        /* of the innermost range */
    uint64_t now;         /* RTL_HIP_API_NOW of the current call; 0: none */
    uint64_t last;        /* RTL_HIP_API_NOW of the last call that has ended; 0: none */
    uint64_t events;      /* records ever written to the block's ring; release */
    uint64_t pad[4];
};

/* How many dispatches of a queue slot belong to a known call; all counters together are the slot's dispatches since
 * LINKED. */
struct rtl_hip_api_queue { /* dispatch; any in the shared slot */
    uint64_t linked;
    uint64_t unlinked[RTL_HIP_API_UNLINKED_LIMIT];
};

/* A range at one place of the nesting: its name below another node. Its times include those of all nodes below it; a
 * parent's number is always smaller. Node 0 stands for "outside of all pushed ranges" and has no name. */
struct rtl_hip_api_node {
    uint32_t state;       /* 1: READY, stored last (release) */
    uint32_t row;         /* its name, RTL_HIP_API_FUNCTIONS or more */
    uint32_t parent;
    uint32_t pad0;
    /* any */
    uint64_t count;       /* ranges that have ended */
    uint64_t total_ns;    /* host time of those */
    uint64_t most_ns;
    uint64_t open;
    uint64_t pad1[2];
    /* worker: timed kernels and copies submitted in this node itself */
    uint64_t kernels, kernels_ns;
    uint64_t copies, copies_ns;
    uint64_t pad2[4];
};

/* Durations of a kernel's timed dispatches that were submitted in that node itself; node 0 has no pairs. The buckets of
 * all pairs lie behind the pairs, as those of functions do. The worker adds pairs and never frees one; node and kernel
 * are set before pairs_used (release) counts the pair. */
struct rtl_hip_api_pair { /* worker */
    uint32_t node;
    uint32_t kernel;      /* row in segment.h */
    uint64_t calls;       /* a hint: readers skip pairs of 0; the number is the sum of the buckets */
    uint64_t total_ns, most_ns;
};

/* A call, range or mark that has ended. All three share one sequence of ids in the process; ids have no order between
 * threads. Dispatches and copies have the call's id in `correlation` (segment.h). */
struct rtl_hip_api_event {
    uint64_t sequence;    /* number of the record in its ring, from 1; 0 while it is being written */
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; equal for a mark */
    uint64_t id;
    uint64_t range;       /* id of the innermost range that its thread had pushed; 0: none */
    uint64_t bytes;       /* that a successful call moved, allocated or filled */
    uint32_t tid;         /* its thread; of a started range the one that started it */
    uint16_t row;         /* function or name */
    uint8_t flags;        /* RTL_HIP_API_EVENT_* */
    uint8_t pad0;
    int32_t code;         /* return code of a call */
    uint32_t node;        /* of the range around it */
};
enum { RTL_HIP_API_EVENT_STARTED = 1u << 0 }; /* roctxRangeStart and Stop: no range nests in it */

struct rtl_hip_api_header {
    /* create */
    uint64_t magic;
    uint16_t major, minor;
    uint32_t header_bytes;
    uint64_t size;
    uint64_t rows_at, memory_at, counters_at, buckets_at; /* bytes from the start */
    uint64_t pid;         /* in its own pid namespace */
    uint64_t start_mono_ns, start_real_ns;
    char library_version[32];
    uint64_t events;      /* records in each block's ring, a power of two; 0: no rings */
    /* any */
    uint64_t flags;       /* RTL_HIP_API_FLAG_*; the writer only sets bits */
    uint64_t nodes_used;  /* may exceed the capacity: bound it */
    uint64_t copies_linked, copies_unlinked; /* copies by the runtime that belong to a known call, and others */
    uint64_t events_dropped; /* of threads that found the shared ring busy */
    /* worker */
    uint64_t kernels_used; /* highest row that has a launch, + 1 */
    uint64_t pairs_used;
    uint64_t pairs_over;   /* timed kernels whose pair had no room */
    /* create */
    uint64_t pairs_at;     /* bytes from the start, behind the event rings; 0: no memory for pairs */
    /* any */
    uint64_t blocks_used; /* highest block ever used, + 1 */
    uint64_t shared_threads;       /* threads without a block of their own */
    uint64_t ranges_other;         /* ranges whose name had no row */
    uint64_t ranges_deep;          /* ranges nested too deep to be timed */
    uint64_t ranges_unfinished;    /* ranges that were open when their thread ended */
    uint64_t pops_unbalanced;      /* ends of ranges without a begin */
    uint64_t allocations_lost;     /* allocations that the library could not follow */
    uint64_t pad1;
    /* any, once: the first opened file whose calls aren't recorded; readers see 0 before version 1.3 */
    uint32_t unrecorded_claimed;   /* a thread writes the file's name */
    uint32_t unrecorded_why;       /* enum rtl_hip_api_unrecorded; stored after the name (release); 0: none */
    char unrecorded_file[256];     /* terminated; untrusted */
};

#define RTL_HIP_API_ROWS_AT 4096u
#define RTL_HIP_API_MEMORY_AT (RTL_HIP_API_ROWS_AT + (uint64_t)RTL_HIP_API_ROWS * sizeof(struct rtl_hip_api_row))
#define RTL_HIP_API_COUNTERS_AT (RTL_HIP_API_MEMORY_AT + 8192u)
#define RTL_HIP_API_BUCKETS_AT (RTL_HIP_API_COUNTERS_AT + (uint64_t)RTL_HIP_API_CELLS * sizeof(struct rtl_hip_api_counters))
#define RTL_HIP_API_THREADS_AT (RTL_HIP_API_BUCKETS_AT + (uint64_t)RTL_HIP_API_CELLS * sizeof(struct rtl_hip_api_buckets))
#define RTL_HIP_API_QUEUES_AT (RTL_HIP_API_THREADS_AT + 4096u)
#define RTL_HIP_API_NODES_AT (RTL_HIP_API_QUEUES_AT + 8192u)
/* From a call's begin to the start of its kernels, by row of the kernel; laid out as counters and buckets of functions.
 * worker */
#define RTL_HIP_API_LAUNCHES_AT (RTL_HIP_API_NODES_AT + (uint64_t)RTL_HIP_API_NODES * sizeof(struct rtl_hip_api_node))
#define RTL_HIP_API_LAUNCH_BUCKETS_AT (RTL_HIP_API_LAUNCHES_AT + (uint64_t)RTL_HIP_API_KERNELS * sizeof(struct rtl_hip_api_counters))
#define RTL_HIP_API_EVENTS_AT (RTL_HIP_API_LAUNCH_BUCKETS_AT + (uint64_t)RTL_HIP_API_KERNELS * sizeof(struct rtl_hip_api_buckets))
#define RTL_HIP_API_EVENTS_OF(block, records) \
    (RTL_HIP_API_EVENTS_AT + (uint64_t)(block) * (records) * sizeof(struct rtl_hip_api_event))
#define RTL_HIP_API_SIZE RTL_HIP_API_EVENTS_AT /* size of version 1.1, without events */
/* Offsets from pairs_at */
#define RTL_HIP_API_PAIR_BUCKETS_AT ((uint64_t)RTL_HIP_API_PAIRS * sizeof(struct rtl_hip_api_pair))
#define RTL_HIP_API_PAIRS_SIZE      (RTL_HIP_API_PAIR_BUCKETS_AT + (uint64_t)RTL_HIP_API_PAIRS * sizeof(struct rtl_hip_api_buckets))

static_assert(sizeof(struct rtl_hip_api_code) == 16, "code");
static_assert(sizeof(struct rtl_hip_api_row) == 448 && offsetof(struct rtl_hip_api_row, open) == 208, "row");
static_assert(offsetof(struct rtl_hip_api_row, code) == 256, "row: codes");
static_assert(sizeof(struct rtl_hip_api_counters) == 64 && offsetof(struct rtl_hip_api_counters, calls) == 32, "counters");
static_assert(sizeof(struct rtl_hip_api_memory) == 64 && RTL_HIP_API_PLACES * sizeof(struct rtl_hip_api_memory) <= 8192, "memory");
static_assert(offsetof(struct rtl_hip_api_header, pid) == 56 && offsetof(struct rtl_hip_api_header, blocks_used) == 192,
              "header");
static_assert(sizeof(struct rtl_hip_api_header) == 520 && offsetof(struct rtl_hip_api_header, unrecorded_file) == 264,
              "header: the first 256 bytes are those of every version");
static_assert(offsetof(struct rtl_hip_api_header, events) == 112 && offsetof(struct rtl_hip_api_header, kernels_used) == 160,
              "header: links");
static_assert(offsetof(struct rtl_hip_api_header, pairs_used) == 168 && offsetof(struct rtl_hip_api_header, pairs_at) == 184,
              "header: pairs");
static_assert(sizeof(struct rtl_hip_api_pair) == 32 && offsetof(struct rtl_hip_api_pair, calls) == 8, "pair");
static_assert(sizeof(struct rtl_hip_api_thread) == 64 && RTL_HIP_API_BLOCKS * sizeof(struct rtl_hip_api_thread) == 4096, "threads");
static_assert(offsetof(struct rtl_hip_api_thread, now) == 8 && offsetof(struct rtl_hip_api_thread, events) == 24, "thread");
static_assert(sizeof(struct rtl_hip_api_queue) == 64 && RTL_HIP_API_QUEUES * sizeof(struct rtl_hip_api_queue) == 8192, "queues");
static_assert(sizeof(struct rtl_hip_api_node) == 128 && offsetof(struct rtl_hip_api_node, kernels) == 64, "node");
static_assert(sizeof(struct rtl_hip_api_event) == 64 && offsetof(struct rtl_hip_api_event, tid) == 48 &&
                  offsetof(struct rtl_hip_api_event, code) == 56,
              "event");
static_assert((int)RTL_HIP_API_FUNCTIONS <= 256, "a function's row fits RTL_HIP_API_NOW");
static_assert(RTL_HIP_API_EVENTS_AT % 64 == 0 && RTL_HIP_API_THREADS_AT % 64 == 0, "whole lines");
static_assert(RTL_HIP_API_PAIRS_SIZE % 64 == 0 && RTL_HIP_API_PAIR_BUCKETS_AT % 4096 == 0, "whole pages");

#endif
