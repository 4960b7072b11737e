/*
 * The API segment: what the calls of HIP and the ranges of roctx cost the host's threads. One sealed memfd a process,
 * beside the segment of kernels (segment.h) and not in it: the first call of a process comes before the runtime that
 * makes that one, and ranges are kept in processes that never have a GPU. librtl-hip.so writes it, viewers read it.
 *
 * Finding it: a descriptor of the process whose link reads "/memfd:" RTL_API_NAME " (deleted)". Little-endian, 64-bit.
 *
 * Rules for the writer
 *  - It is made with the first call that is recorded; magic is stored last (release).
 *  - Rows 0 .. RTL_API_FUNCTIONS - 1 are functions, described before magic. The others are ranges and marks: a row is
 *    taken by who comes first with its name; state READY (release) says that name and kind are there.
 *  - Counters lie in blocks. Block 0 is everybody's (atomic additions); each of the others belongs to one thread at a
 *    time, which adds with plain relaxed stores. Ranges are in block 0 only. What a row's sum is, is the sum of blocks.
 *  - A call is added in this order: total, most, bytes, errors, then its bucket: the number of calls is the sum
 *    of the buckets, so counts and quantiles always agree; a total read before them misses calls that just ended.
 *  - Nothing is read back to decide with, but for the peak of memory, which is raised by compare-and-swap.
 *  - Counters only grow, but for what is open and in use now.
 *
 * Rules for the reader
 *  - It never maps, it preads: nothing that the process does to the file can stop it. Every number is bounded by what
 *    fstat says and by this version's limits, whatever the header says. Another major version is refused.
 */
/* clang-format off */
#ifndef RTL_SHM_API_H
#define RTL_SHM_API_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_API_NAME "rtl-api"
#define RTL_API_MAGIC 0x3149504c5452ff00ull /* 0x00 0xff "RTLPI1" read as little-endian */
#define RTL_API_MAJOR 1u
#define RTL_API_MINOR 0u

enum {
    RTL_API_FUNCTIONS = 256,                 /* rows of functions; state FREE where there is none */
    RTL_API_RANGES = 1024,                   /* rows of ranges and marks; the first is "(other ranges)" */
    RTL_API_ROWS = RTL_API_FUNCTIONS + RTL_API_RANGES,
    RTL_API_BLOCKS = 64,                     /* block 0 is shared */
    RTL_API_CELLS = RTL_API_ROWS + (RTL_API_BLOCKS - 1) * RTL_API_FUNCTIONS,
    RTL_API_BUCKETS = 35 * 64,               /* as in stats/histogram.h */
    RTL_API_CODES = 12,                      /* return codes a function that are told apart */
    RTL_API_TEXT = 192,                      /* bytes of a name; a longer one is cut, and ends in "~" and 16 digits */
    RTL_API_GPUS = 64,
    RTL_API_PLACES = RTL_API_GPUS + 1,       /* the last one is the host's memory */
    RTL_API_NOT_READY = 600,                 /* hipErrorNotReady: an answer, not counted as an error */
};

/* X(symbol, number, JSON value, meaning) */
#define RTL_API_KINDS(X)                                             \
    X(LAUNCH, 1, "launch", "launches of kernels, graphs, functions") \
    X(COPY, 2, "copy", "copies")                                     \
    X(SET, 3, "set", "filling of memory")                            \
    X(ALLOCATE, 4, "allocate", "allocations")                        \
    X(FREE, 5, "free", "what gives memory back")                     \
    X(WAIT, 6, "wait", "waiting for the GPU")                        \
    X(STREAM, 7, "stream", "streams")                                \
    X(EVENT, 8, "event", "events")                                   \
    X(GRAPH, 9, "graph", "graphs and their capture")                 \
    X(MODULE, 10, "module", "code objects and their functions")      \
    X(DEVICE, 11, "device", "GPUs")                                  \
    X(MAPPING, 12, "mapping", "address space and shared memory")     \
    X(RANGE, 13, "range", "ranges of roctx")                         \
    X(MARK, 14, "mark", "marks of roctx")
#define RTL_ENUM_API_KIND(sym, num, name, text) RTL_API_##sym = (num),
enum rtl_api_kind { RTL_API_KINDS(RTL_ENUM_API_KIND) RTL_API_KIND_COUNT };
#undef RTL_ENUM_API_KIND

/* The place of a row's counters in a block. */
#define RTL_API_CELL(block, row) \
    ((uint32_t)((block) ? RTL_API_ROWS + ((block) - 1) * RTL_API_FUNCTIONS + (row) : (row)))

struct rtl_api_code { /* any */
    uint32_t code;    /* 0: free */
    uint32_t pad;
    uint64_t count;
};

struct rtl_api_row {
    uint32_t state;       /* 1: READY, stored last, release */
    uint32_t kind;        /* enum rtl_api_kind */
    uint32_t text_bytes;
    uint32_t pad0;
    char text[RTL_API_TEXT]; /* not terminated */
    /* any */
    uint64_t open;        /* ranges that have begun and not ended */
    uint64_t in_use;      /* bytes that this function has allocated and that nobody has given back */
    uint64_t codes_more;  /* returns of codes beyond those below */
    uint64_t pad1[3];
    struct rtl_api_code code[RTL_API_CODES]; /* other returns than success */
};

struct rtl_api_counters { /* the thread that has the block; any in block 0 */
    uint64_t total_ns;
    uint64_t most_ns;
    uint64_t bytes;       /* of calls that succeeded */
    uint64_t errors;      /* other returns than success and RTL_API_NOT_READY */
    uint64_t calls;       /* only that a reader may leave out rows without; the number is the sum of the buckets */
    uint64_t pad[3];
};

struct rtl_api_buckets { uint64_t count[RTL_API_BUCKETS]; };

struct rtl_api_memory { /* any */
    uint64_t in_use;      /* bytes */
    uint64_t peak;
    uint64_t allocations; /* that are in use */
    uint64_t pad[5];
};

struct rtl_api_header {
    /* whoever makes it */
    uint64_t magic;
    uint16_t major, minor;
    uint32_t header_bytes;
    uint64_t size;
    uint64_t rows_at, memory_at, counters_at, buckets_at; /* bytes from the start */
    uint64_t pid;         /* as the process sees itself */
    uint64_t start_mono_ns, start_real_ns;
    char library_version[32];
    uint64_t pad0[10];
    /* any */
    uint64_t blocks_used; /* highest block that a thread ever had, + 1 */
    uint64_t shared_threads;       /* threads that found no block of their own */
    uint64_t ranges_other;         /* ranges whose name found no row */
    uint64_t ranges_deep;          /* ranges nested too deep to be timed */
    uint64_t ranges_unfinished;    /* ranges that were open when their thread ended */
    uint64_t pops_unbalanced;      /* ends of ranges that nobody had begun */
    uint64_t allocations_lost;     /* allocations that couldn't be followed */
    uint64_t pad1;
};

#define RTL_API_ROWS_AT 4096u
#define RTL_API_MEMORY_AT (RTL_API_ROWS_AT + (uint64_t)RTL_API_ROWS * sizeof(struct rtl_api_row))
#define RTL_API_COUNTERS_AT (RTL_API_MEMORY_AT + 8192u)
#define RTL_API_BUCKETS_AT (RTL_API_COUNTERS_AT + (uint64_t)RTL_API_CELLS * sizeof(struct rtl_api_counters))
#define RTL_API_SIZE (RTL_API_BUCKETS_AT + (uint64_t)RTL_API_CELLS * sizeof(struct rtl_api_buckets))

static_assert(sizeof(struct rtl_api_code) == 16, "code");
static_assert(sizeof(struct rtl_api_row) == 448 && offsetof(struct rtl_api_row, open) == 208, "row");
static_assert(offsetof(struct rtl_api_row, code) == 256, "row: codes");
static_assert(sizeof(struct rtl_api_counters) == 64 && offsetof(struct rtl_api_counters, calls) == 32, "counters");
static_assert(sizeof(struct rtl_api_memory) == 64 && RTL_API_PLACES * sizeof(struct rtl_api_memory) <= 8192, "memory");
static_assert(offsetof(struct rtl_api_header, pid) == 56 && offsetof(struct rtl_api_header, blocks_used) == 192,
              "header");
static_assert(sizeof(struct rtl_api_header) == 256, "header");

#endif
