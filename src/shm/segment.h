/*
 * The segment: one sealed memfd for each traced process, the only memory that the library and the viewer share.
 *
 * This header is the contract. Little-endian, 64-bit, lock-free; the library in the traced process is the only writer,
 * any number of viewers map it read-only.
 *
 * Finding it: a descriptor of the process whose /proc/PID/fd link reads "/memfd:" RTL_SEGMENT_NAME " (deleted)".
 * Viewers make requests through a page of their own: control.h.
 *
 * Rules for the writer
 *  - No decision depends on a value that the library reads from the segment: it keeps a private copy of each value that
 *    it needs again. (Readers can't write a sealed segment, but the rule costs nothing and holds on kernels without the
 *    seals.) Two reads decide nothing: adding to a counter, and copying one field to another (dispatches_before).
 *  - Each field has one writing thread at a time, named beside it: "load" (written once before the state becomes LIVE),
 *    "create" (a runtime call of the application, under the library's own lock), "dispatch" (the thread that rings the
 *    queue's doorbell; the runtime serialises them per queue), "worker" (the one completion worker), "any" (atomic
 *    read-modify-write, off the steady path).
 *  - Counters only grow. All shared fields are stored with relaxed atomics unless a rule below says more.
 *  - Histogram record: bucket + 1, then min, max and total, then count + 1, each a release store. A reader loads count,
 *    then total, min and max, then the buckets, each with acquire. If total, min or max include record m, so do the
 *    buckets, which the writer stores earlier and the reader loads later. Likewise total, min, max and the buckets
 *    include all records of the count. So the copy is consistent exactly when the buckets' sum equals the count. A
 *    writer killed within a record leaves a sum of count + 1, never more.
 *  - The directory gets a chunk's number (release) before the chunk's first count.
 *  - A kernel is published by storing its state READY (release) after name_offset and name_length.
 *  - Record n (from 0) of the event ring goes into entry n % capacity: sequence = 0 (relaxed); the other words, each a
 *    release store; sequence = n + 1 (release); head = n + 1 (release). The writer overwrites the oldest record and
 *    never waits.
 *
 * Rules for the reader
 *  - It trusts nothing: it copies each offset, stride, count, id and length once and bounds it by the size from fstat
 *    (not from the header). Without the SHRINK seal it reads with pread and never maps.
 *  - Other magic, other major version or an unknown required feature bit: refuse, naming both versions. It accepts and
 *    ignores larger strides (up to RTL_STRIDE_GROWTH times) and sizes, more sections and unknown optional bits. It
 *    reads no more rows and names than this version could have written, whatever their sections hold.
 *  - Retries are bounded; after the last one the sum of the buckets becomes the count and the row is marked
 *    approximate.
 *  - Record n of the event ring is whole if its sequence is n + 1 before and after the copy; otherwise it was
 *    overwritten and is lost. Each number below head is either read or lost, so losses are counted exactly.
 *
 * Times: ns unless named otherwise. *_mono_ns is CLOCK_MONOTONIC as the process reads it, which in a time namespace
 * differs from the viewer's: readers convert it to one time line (clock_offsets.h). *_ticks is the agent's own clock.
 * The layout follows measurements in doc/costs.md.
 */
/* clang-format off */
#ifndef RTL_SHM_SEGMENT_H
#define RTL_SHM_SEGMENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/tables.h"

#define RTL_SEGMENT_NAME "rtl-segment"
#define RTL_SEGMENT_MAGIC 0x314745534c5452ffull /* 0xff "RTLSEG1" read as little-endian */
#define RTL_SEGMENT_MAJOR 1u
/* 1: the event ring; 2: copies, the mode in force, the control page, reasons 16 to 20; 3: copies in the event ring; 4:
 * queue paths; 5: links of events; 6: whether HIP calls are recorded; 7: the probe, reason 14; 8: gaps between a
 * probe's waves; 9: dies of a probe; 10: the environment at load, queue errors; 11: causes of gaps, the longest gaps */
#define RTL_SEGMENT_MINOR 11u
/* a reader must know these bits */
#define RTL_FEATURE_COPY_EVENTS 1ull /* some events are copies; set wherever there are events */
#define RTL_FEATURES_REQUIRED RTL_FEATURE_COPY_EVENTS
/* a reader may ignore these bits */
#define RTL_FEATURE_EVENTS 1ull /* sections RING and EVENTS exist: the process was started with RTL_TRACE */
#define RTL_FEATURE_COPIES 2ull /* section COPIES exists, with a histogram for each entry */
#define RTL_FEATURE_PROBE 4ull  /* section PROBE exists: the process was started with RTL_PROBE=1 */
#define RTL_FEATURE_GAPS 8ull   /* section GAPS exists */

enum {
    RTL_STRIDE_GROWTH = 4,   /* a later minor version's entries are at most this many times as long */
    RTL_KERNELS_MAX = 16384, /* rows, the two fixed ones below included */
    RTL_KERNEL_OTHER = 0,    /* "(other kernels)": everything beyond the rows */
    RTL_KERNEL_UNKNOWN = 1,  /* "(unknown kernel)": a kernel object that no executable named */
    RTL_KERNEL_FIRST = 2,
    RTL_QUEUES_MAX = 128,       /* slots */
    RTL_QUEUE_SHARED = 127,     /* the last slot is shared by all queues without a slot of their own */
    RTL_AGENTS_MAX = 64,
    RTL_AGENT_NAME_MAX = 64,
    RTL_AGENT_UUID_MAX = 24,
    RTL_COMM_MAX = 16,
    RTL_CHUNK_BUCKETS = 64,     /* buckets an octave */
    RTL_OCTAVES_MAX = 36,       /* octaves 0..34 are used: values below 2^40 ns */
    RTL_CHUNKS_MAX = 65535,     /* chunk 0 is never used: a directory entry of 0 means none */
    RTL_NAMES_BYTES = 16 << 20,
    RTL_NAME_MAX = 64 << 10,    /* bytes of one kernel's name, without terminator; in recordings, too */
    RTL_COPIES_MAX = RTL_AGENTS_MAX * RTL_DIRECTION_COUNT,
    RTL_HISTOGRAMS_MAX = RTL_KERNELS_MAX + 2 * RTL_QUEUES_MAX + RTL_COPIES_MAX,
};

/* Histogram ids: kernels first, then wait and gap of every queue slot, then the copies. */
#define RTL_HISTOGRAM_KERNEL(kernel) ((uint32_t)(kernel))
#define RTL_HISTOGRAM_WAIT(slot) ((uint32_t)(RTL_KERNELS_MAX + 2 * (slot)))
#define RTL_HISTOGRAM_GAP(slot) ((uint32_t)(RTL_KERNELS_MAX + 2 * (slot) + 1))
#define RTL_HISTOGRAM_COPIES(copies) ((uint32_t)(RTL_KERNELS_MAX + 2 * RTL_QUEUES_MAX + (copies)))
#define RTL_COPIES_OF(agent, direction) ((uint32_t)(RTL_DIRECTION_COUNT * (agent) + (direction)))

enum rtl_section_id {
    RTL_SECTION_KERNELS,    /* struct rtl_kernel[RTL_KERNELS_MAX] */
    RTL_SECTION_HISTOGRAMS, /* struct rtl_histogram[RTL_HISTOGRAMS_MAX] */
    RTL_SECTION_DIRECTORY,  /* struct rtl_directory[RTL_HISTOGRAMS_MAX] */
    RTL_SECTION_COARSE,     /* struct rtl_coarse[RTL_HISTOGRAMS_MAX], untouched until chunks run out */
    RTL_SECTION_CHUNKS,     /* struct rtl_chunk[RTL_CHUNKS_MAX + 1] */
    RTL_SECTION_QUEUES,     /* struct rtl_queue[RTL_QUEUES_MAX] */
    RTL_SECTION_AGENTS,     /* struct rtl_agent[RTL_AGENTS_MAX] */
    RTL_SECTION_DISPATCHES, /* struct rtl_dispatches[RTL_QUEUES_MAX][RTL_KERNELS_MAX] */
    RTL_SECTION_NAMES,      /* char[RTL_NAMES_BYTES], not terminated */
    RTL_SECTION_COUNT,      /* sections of every segment */
    /* only with RTL_FEATURE_EVENTS; all zeros without, where sections follow */
    RTL_SECTION_RING = RTL_SECTION_COUNT, /* struct rtl_ring[1] */
    RTL_SECTION_EVENTS,                   /* struct rtl_event_record[a power of two], or struct rtl_linked_event */
    /* only with RTL_FEATURE_COPIES */
    RTL_SECTION_COPIES,                   /* struct rtl_copies[agents * RTL_DIRECTION_COUNT] */
    /* only with RTL_FEATURE_PROBE */
    RTL_SECTION_PROBE,                    /* struct rtl_probe_state[1] up to `die`: probe_state.h */
    RTL_SECTION_PROBE_DIES,               /* struct rtl_probe_die[RTL_PROBE_DIES - 1], behind it */
    /* only with RTL_FEATURE_GAPS */
    RTL_SECTION_GAPS,                     /* struct rtl_gpu_gaps[RTL_AGENTS_MAX], in the order of the agents */
    RTL_SECTION_KNOWN,
    RTL_SECTION_LIMIT = 16
};

struct rtl_section {
    uint64_t offset;   /* bytes from the start of the segment, a multiple of 64 */
    uint32_t stride;   /* bytes of an entry, at least the size in this version */
    uint32_t capacity; /* entries */
};

/*
 * Buckets. For a value v in ns, clamped to 2^40 - 1: shift = max(0, floor(log2 v) - 6),
 * index = (shift << 6) + (v >> shift), octave = index >> 6, bucket = index & 63. Octaves 0 and 1 are exact; octave
 * k >= 1 covers [2^(k+5), 2^(k+6)) in steps of 2^(k-1). The midpoint is off by at most 1/128 = 0.78 % from 64 ns on.
 */
struct rtl_histogram { /* worker; one cache line */
    uint64_t count;    /* values recorded; readers load the words in this order */
    uint64_t total_ns;
    uint64_t min_ns;   /* meaningless while count is 0 */
    uint64_t max_ns;
    uint64_t untimed;  /* kernels only: counted by the worker under a reason, not timed */
    uint32_t flags;    /* RTL_HISTOGRAM_* */
    uint32_t pad;
    uint64_t reserved[2];
};
enum { RTL_HISTOGRAM_COARSE = 1u << 0 }; /* some octaves were counted in rtl_coarse */

struct rtl_directory { uint16_t chunk[RTL_OCTAVES_MAX]; };  /* worker; 0 = octave never touched (or coarse) */
struct rtl_coarse { uint64_t count[RTL_OCTAVES_MAX]; };     /* worker; per octave, when there was no chunk */
struct rtl_chunk { uint64_t bucket[RTL_CHUNK_BUCKETS]; };   /* worker */

enum rtl_kernel_state { RTL_KERNEL_FREE = 0, RTL_KERNEL_READY = 1 };
struct rtl_kernel { /* the thread of the kernel's first dispatch, once; state last, release */
    uint32_t state;        /* slots may stay FREE: skip them */
    uint32_t name_length;  /* bytes, without terminator, at most RTL_NAME_MAX: a longer name is cut, and ends in "~"
                              and 16 digits that tell it from others of the same beginning */
    uint64_t name_offset;  /* bytes into RTL_SECTION_NAMES */
    uint64_t kernel_object; /* handle of the first agent's copy, for display only */
    uint64_t first_mono_ns; /* creation of the row */
};

/* One line per (queue slot, kernel), counted by the dispatch path. dispatch; "any" in slot RTL_QUEUE_SHARED. */
struct rtl_dispatches {
    uint64_t calls;    /* every dispatch, timed or not */
    uint64_t untimed;  /* dispatches that the dispatch path decided not to time */
    uint32_t grid[3];  /* last dispatch, work-items; fields may be of different dispatches */
    uint16_t workgroup[3];
    uint16_t pad0;
    uint32_t lds_bytes;
    uint32_t scratch_bytes; /* per work-item */
    uint32_t pad1;
    uint64_t reserved[2];
};

enum { RTL_UNTIMED_LINES = 16 }; /* reasons in the lines below */

struct rtl_queue {
    /* create; generation is odd during a change of the identity (seqlock), 0 = slot never used */
    uint32_t generation;
    uint32_t agent;            /* index into the agents */
    uint64_t queue_id;         /* hsa_queue_t.id as without the library, or 0 for the shared slot */
    uint32_t size_packets;
    uint32_t live;             /* 1 from create to destroy */
    uint64_t created_mono_ns;
    uint64_t destroyed_mono_ns;
    uint64_t dispatches_before; /* dispatches of earlier queues in this slot */
    uint32_t path;             /* RTL_QUEUE_PATH_WORD; create, dispatch or worker when it changes; 0: an older library, shared */
    uint32_t real_key;         /* RTL_QUEUE_KEY of amd_queue_t.queue_inactive_signal; 0: an older library, shared, none */
    uint64_t real_id;          /* hsa_queue_t.id + 1 as in the process's memory; 0: an older library, shared */
    /* dispatch */
    uint64_t dispatches;       /* every kernel dispatch */
    uint64_t injected;         /* dispatches that the worker accounts for: on a signal of the library or of the application */
    uint64_t packets;          /* every packet of any kind */
    uint64_t untimed_more[RTL_UNTIMED_LIMIT - RTL_UNTIMED_LINES]; /* 16..20 dispatch */
    /* worker: depth = injected - completed */
    uint64_t completed;        /* injected dispatches that are over: timed, or counted under a worker's reason */
    uint64_t last_end_mono_ns; /* when the worker last saw a completion */
    /* any, once, error last, release: the runtime's thread that reports the queue's first error */
    uint64_t error_mono_ns;
    uint32_t error;            /* hsa_status_t of that error; 0: none */
    uint32_t error_kernel;     /* row + 1 of the kernel at the head of the queue then; 0: not known */
    uint64_t pad2[4];
    /* 0..7 dispatch, 8..15 worker (tables.h) */
    uint64_t untimed[RTL_UNTIMED_LINES];
};

/* Distinguishes queues of several runtimes in one process, because each runtime numbers its queues from 0. Each queue
 * has its own signal, aligned to 64 bytes; an intercept queue has the signal of the queue behind it. */
#define RTL_QUEUE_KEY(signal) ((uint32_t)((uint64_t)(signal) >> 6))

/* Queue path and its reason (tables.h). A reader shows unknown numbers as unknown. */
#define RTL_QUEUE_PATH_WORD(way, why) ((uint32_t)(way) | (uint32_t)(why) << 8)
#define RTL_QUEUE_PATH_OF(word)       ((uint32_t)(word) & 0xff)
#define RTL_PATH_REASON_OF(word)   ((uint32_t)(word) >> 8)

/* Return the counter of a reason below RTL_UNTIMED_LIMIT. */
static inline uint64_t *rtl_queue_untimed(struct rtl_queue *queue, unsigned reason)
{
    return reason < RTL_UNTIMED_LINES ? &queue->untimed[reason] : &queue->untimed_more[reason - RTL_UNTIMED_LINES];
}

struct rtl_agent {
    /* create */
    uint32_t state;            /* 1 = described, stored last, release */
    uint32_t gpu;              /* number among the process's GPU agents, in the runtime's order */
    uint64_t agent_handle;
    uint64_t tick_hz;
    uint32_t bdf;              /* PCI domain << 16 | bus << 8 | device << 3 | function */
    uint32_t compute_units;
    char name[RTL_AGENT_NAME_MAX]; /* NUL-padded, e.g. "gfx90a" */
    char uuid[RTL_AGENT_UUID_MAX]; /* NUL-padded, from the runtime, e.g. "GPU-7b3e5d2c9a100000"; empty: not known */
    uint64_t pad0;
    /* worker */
    uint64_t busy_ns;          /* length of the union of the timed kernels' intervals */
    uint64_t clock_residual_ns;      /* error of the line (ticks to host time) at its last measurement */
    uint64_t clock_residual_most_ns; /* the largest so far */
    uint64_t clock_residuals;        /* number of measurements; 0: the two above mean nothing */
    int64_t clock_drift_ppb;         /* ticks against tick_hz and the host's clock, parts per 10^9 */
    uint64_t clock_drift_over_ns;    /* time span of the drift; 0: not measured */
    uint64_t pad1[2];
    /* worker: times between timed kernels of all queues by size class (tables.h), counted a second later */
    struct rtl_idle {
        uint64_t count;
        uint64_t total_ns;
    } idle[RTL_IDLE_LIMIT];
};

/* Why a GPU was idle, and its longest gaps. The worker counts a gap a second after it ended, like rtl_agent.idle. The
 * table has the RTL_GAPS_A_SLICE longest gaps of the present and of the previous slice of RTL_GAPS_SLICE_S seconds, in
 * any order. Among thousands of gaps a second, it may lack the second longest one of some milliseconds. */
enum { RTL_GAPS_A_SLICE = 16, RTL_GAPS_MAX = 2 * RTL_GAPS_A_SLICE, RTL_GAPS_SLICE_S = 10 };

struct rtl_gap_record { /* one cache line */
    uint64_t start_mono_ns;    /* 0: not known */
    uint64_t length_ns;
    uint64_t no_work_ns;       /* before the next kernel was submitted, without copies */
    uint64_t copies_ns;        /* while copies ran */
    uint32_t kernel_before, kernel_after; /* row + 1 of the kernel that ended last, and of the next one; 0: not known */
    uint16_t queue_before, queue_after;   /* their queues' slots */
    uint32_t cause;            /* enum rtl_cause with most of its time */
    uint64_t pad[2];
};

struct rtl_gpu_gaps { /* worker */
    uint64_t cause_ns[RTL_CAUSE_LIMIT]; /* idle time by enum rtl_cause; only grows */
    uint64_t last_end_mono_ns; /* the latest end of a timed kernel; 0: none, or not known */
    uint64_t version;          /* seqlock of the fields below: odd while the worker writes them */
    uint64_t count;            /* entries of gap in use */
    uint64_t pad[5];
    struct rtl_gap_record gap[RTL_GAPS_MAX];
};

/* One line per (agent, direction), see RTL_COPIES_OF; histogram RTL_HISTOGRAM_COPIES has the durations. */
struct rtl_copies {
    /* any (atomic additions) */
    uint64_t count;            /* every copy, timed or not */
    uint64_t bytes;            /* bytes of those copies */
    uint64_t pad0[6];
    /* worker */
    uint64_t timed_bytes;      /* bytes of timed copies */
    uint64_t pad1[7];
    /* 0..7 any, 8..15 worker (tables.h) */
    uint64_t untimed[RTL_COPY_UNTIMED_LIMIT];
};

/* The event ring: the newest timed dispatches. It lies in the segment, not in a memfd of its own, so that seals,
 * permissions, discovery and life are the same; but it exists only if requested at launch, because all its pages are
 * allocated from the start (16 MB at 262,144 records): the worker must not meet a page fault. */
enum {
    RTL_EVENTS_MIN = 1024, /* records */
    RTL_EVENTS_DEFAULT = 262144,
    RTL_EVENTS_LIMIT = 1 << 24,
};

struct rtl_ring { /* worker */
    uint64_t head;    /* records ever written; release */
    uint64_t pad[7];
};

struct rtl_event_record { /* worker; one cache line */
    uint64_t sequence;       /* number of the record, from 1; 0 while it is being written */
    uint64_t start_ns;       /* CLOCK_MONOTONIC; the agent's own clock where the flag says so */
    uint64_t duration_ns;    /* as counted in the histogram */
    uint32_t kernel;         /* row; of a copy: enum rtl_direction */
    uint32_t generation;     /* the queue's rtl_queue.generation: a slot is reused; 0 = several queues share the slot */
    uint16_t queue;          /* slot; of a copy 0, with generation 0 */
    uint8_t agent;           /* index into the agents */
    uint8_t flags;           /* RTL_EVENT_* */
    uint32_t grid[3];        /* work-items; of a copy: its bytes, the lower 32 bits first, and 0 */
    uint16_t workgroup[3];
    uint16_t pad;
    uint64_t correlation;    /* id of the HIP call (hip_api.h) that it belongs to; 0 = not known */
};
enum {
    RTL_EVENT_AGENT_CLOCK = 1u << 0, /* the runtime gave no host time: start_ns are the agent's ticks in ns */
    RTL_EVENT_COPY = 1u << 1,        /* a copy; otherwise a dispatch */
};

/* Follows the record in each entry of the event ring if HIP calls are recorded, too (hip_api.h). All zeros: no link. */
struct rtl_event_link { /* worker */
    uint64_t range;          /* id of the innermost range that the call's thread had pushed; 0: none */
    uint64_t entry_ns;       /* when the call began, CLOCK_MONOTONIC */
    uint32_t node;           /* that range's node (hip_api.h) */
    uint32_t ordinal;        /* packets and copies that the call submitted before it: the order within a graph launch */
    uint64_t pad[5];
};
struct rtl_linked_event {
    struct rtl_event_record record;
    struct rtl_event_link link;
};

struct rtl_header {
    /* load */
    uint64_t magic;
    uint16_t major, minor;
    uint32_t header_bytes;
    uint64_t size;             /* of the whole segment */
    uint64_t features_required, features_optional;
    uint32_t section_count;
    uint32_t pad0;
    struct rtl_section section[RTL_SECTION_LIMIT];
    uint64_t pid;              /* in its own pid namespace */
    uint64_t start_mono_ns;    /* creation of the segment */
    uint64_t start_real_ns;    /* CLOCK_REALTIME at start_mono_ns */
    uint32_t mode;             /* enum rtl_mode at the start of the process */
    uint32_t seals;            /* F_SEAL_* in force */
    /* load, and again at each later load: HSA version as the runtime reports it, sizes of its API tables */
    uint32_t runtime_major, runtime_minor;
    uint32_t table_core_bytes, table_ext_bytes;
    char comm[RTL_COMM_MAX];
    char library_version[32];
    uint32_t control_fd;       /* the process's descriptor of the control page */
    uint32_t calls;            /* 1: librtl-hip.so records HIP calls, too: mode hip */
    uint64_t control_inode;    /* its inode, to check that it still is that page; 0: no control page */
    uint64_t environment_offset; /* bytes into RTL_SECTION_NAMES: the variables of RTL_ENVIRONMENT that were set at load,
                                  each "NAME=VALUE" with a terminator; a program may overwrite its environment later */
    uint32_t environment_length; /* bytes; 0: none was set, or an older library */
    uint32_t pad1[9];
    /* any */
    _Alignas(64) uint32_t state; /* enum rtl_state, release */
    uint32_t notes;              /* RTL_NOTE_* */
    uint32_t kernel_count;       /* slots in use, READY or not; may exceed the capacity: bound it */
    uint32_t agent_count;
    uint64_t names_used;         /* bytes; may exceed the capacity: bound it */
    uint64_t kernels_over;       /* kernels without a row of their own */
    uint64_t queues_refused;     /* queues that the library could not intercept */
    uint64_t signals_created;    /* ever */
    uint64_t in_force;           /* load, then worker, release: RTL_IN_FORCE; 0 before minor version 2 */
    uint64_t pad2;
    /* worker */
    _Alignas(64) uint64_t heartbeat_mono_ns; /* last pass; unchanged while nothing is in flight */
    uint64_t passes;
    uint64_t signals_destroyed;  /* ever */
    uint64_t signals_peak;       /* most in use at once, as seen by the worker */
    uint64_t signals_limit;      /* create: limit of the signals, from the sizes of the queues */
    uint64_t chunks_used;
    uint64_t worker_cpu_ns;      /* the worker's CPU time, updated now and then */
    uint64_t parked;             /* 1 while the worker sleeps without a timeout: nothing is in flight */
};

/* The mode in force, its activity now (auto both counts and times), and the number of the last request of the control
 * page that the library carried out. One word, so that the three belong together. */
#define RTL_IN_FORCE(mode, activity, number) \
    (1ull << 32 | (uint64_t)(uint16_t)(number) << 16 | (uint64_t)(uint8_t)(activity) << 8 | (uint8_t)(mode))

struct rtl_in_force {
    uint8_t mode, activity; /* enum rtl_mode, perhaps a newer library's; enum rtl_activity */
    uint16_t number;
};

/* False for the word of an older library or a damaged one. */
static inline _Bool rtl_in_force_read(uint64_t word, struct rtl_in_force *in_force)
{
    if (word >> 32 != 1 || (uint8_t)(word >> 8) > RTL_ACTIVITY_TIMING)
        return 0;
    *in_force = (struct rtl_in_force){(uint8_t)rtl_mode_read((uint8_t)word), (uint8_t)(word >> 8), (uint16_t)(word >> 16)};
    return 1;
}

#define RTL_ONE_VARIABLE(name, use) +sizeof(name "=") + RTL_ENVIRONMENT_VALUE_MAX
enum { RTL_ENVIRONMENT_MAX = 0 RTL_ENVIRONMENT(RTL_ONE_VARIABLE) }; /* bytes of all variables */
#undef RTL_ONE_VARIABLE

#define RTL_ALIGN_UP(n, to) (((uint64_t)(n) + (to) - 1) / (to) * (to))

static_assert(sizeof(struct rtl_section) == 16, "section");
static_assert(sizeof(struct rtl_histogram) == 64, "histogram is one cache line");
static_assert(offsetof(struct rtl_histogram, count) == 0 && offsetof(struct rtl_histogram, flags) == 40, "histogram");
static_assert(sizeof(struct rtl_directory) == 72, "directory");
static_assert(sizeof(struct rtl_coarse) == 288, "coarse");
static_assert(sizeof(struct rtl_chunk) == 512, "chunk");
static_assert(sizeof(struct rtl_kernel) == 32, "kernel");
static_assert(sizeof(struct rtl_dispatches) == 64, "dispatches is one cache line");
static_assert(offsetof(struct rtl_dispatches, grid) == 16 && offsetof(struct rtl_dispatches, lds_bytes) == 36, "dispatches");
static_assert(sizeof(struct rtl_queue) == 320, "queue");
static_assert(offsetof(struct rtl_queue, dispatches) == 64, "queue: dispatch line");
static_assert(offsetof(struct rtl_queue, untimed_more) == 88, "queue: more reasons");
static_assert(offsetof(struct rtl_queue, completed) == 128, "queue: worker line");
static_assert(offsetof(struct rtl_queue, untimed) == 192, "queue: reasons");
static_assert(sizeof(struct rtl_agent) == 320, "agent");
static_assert(offsetof(struct rtl_agent, busy_ns) == 128, "agent: worker line");
static_assert(sizeof(struct rtl_gap_record) == 64 && offsetof(struct rtl_gap_record, cause) == 44, "gap is one cache line");
static_assert(offsetof(struct rtl_gpu_gaps, version) == 72 && offsetof(struct rtl_gpu_gaps, gap) == 128 &&
                  sizeof(struct rtl_gpu_gaps) == 128 + 64 * RTL_GAPS_MAX,
              "gaps");
static_assert(sizeof(struct rtl_copies) == 256, "copies");
static_assert(offsetof(struct rtl_copies, timed_bytes) == 64 && offsetof(struct rtl_copies, untimed) == 128, "copies");
static_assert(sizeof(struct rtl_ring) == 64, "ring");
static_assert(sizeof(struct rtl_event_record) == 64, "event is one cache line");
static_assert(offsetof(struct rtl_event_record, kernel) == 24 && offsetof(struct rtl_event_record, queue) == 32 &&
                  offsetof(struct rtl_event_record, grid) == 36 && offsetof(struct rtl_event_record, workgroup) == 48 &&
                  offsetof(struct rtl_event_record, correlation) == 56,
              "event");
static_assert(sizeof(struct rtl_linked_event) == 128 && offsetof(struct rtl_linked_event, link) == 64 &&
                  offsetof(struct rtl_event_link, ordinal) == 20,
              "event: link");
static_assert(offsetof(struct rtl_agent, idle) == 192 && sizeof(struct rtl_idle) == 16, "agent: idle classes");
static_assert(offsetof(struct rtl_header, section) == 48, "header: sections");
static_assert(offsetof(struct rtl_header, pid) == 304, "header: identity");
static_assert(offsetof(struct rtl_header, control_fd) == 400 && offsetof(struct rtl_header, control_inode) == 408,
              "header: control page");
static_assert(offsetof(struct rtl_header, in_force) == offsetof(struct rtl_header, state) + 48, "header: mode in force");
static_assert(offsetof(struct rtl_header, state) % 64 == 0, "header: state line");
static_assert(offsetof(struct rtl_header, heartbeat_mono_ns) % 64 == 0, "header: worker line");
static_assert(sizeof(struct rtl_header) <= 4096, "header fits a page");

#endif
