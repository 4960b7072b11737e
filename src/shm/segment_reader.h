/*
 * The viewer's side of the segment: find it from a pid, refuse what can't be trusted, take snapshots.
 *
 * The reader trusts nothing in the segment (rules in segment.h). Ownership: a reader owns its mapping and descriptor
 * until rtl_reader_close; a snapshot owns its arrays until rtl_snapshot_free and points to names that the reader owns,
 * so free snapshots first. Threads: one thread a reader.
 */
#ifndef RTL_SHM_SEGMENT_READER_H
#define RTL_SHM_SEGMENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/clock_offsets.h"
#include "shm/segment.h"

/* X(symbol, exit status of rtl-top, meaning); the messages themselves name pid, user and remedy */
#define RTL_READER_ERRORS(X)                                                    \
    X(OK, 0, "success")                                                         \
    X(USAGE, 1, "wrong usage or an unexpected system error")                    \
    X(NO_PROCESS, 2, "no such process")                                         \
    X(NOT_TRACED, 3, "the process is not traced")                               \
    X(PERMISSION, 4, "no permission to read the process")                       \
    X(VERSION, 5, "the segment has another version or is damaged")              \
    X(EXITED, 6, "the process exited while it was watched")                     \
    X(NO_RING, 7, "the process has no event ring to trace")                     \
    X(NO_CONTROL, 8, "the mode of the process cannot be changed while it runs") \
    X(NO_PROBE, 9, "the process does not accept probes")
/* behind those of recordings (record/db_status.h), which were there before */
#define RTL_PROBE_ERRORS(X) X(NOT_PROBED, 17, "probe: no such kernel, or fewer dispatches probed than wanted")

#define RTL_READER_ENUM(sym, status, text) RTL_READER_##sym = (status),
enum rtl_reader_status { RTL_READER_ERRORS(RTL_READER_ENUM) RTL_PROBE_ERRORS(RTL_READER_ENUM) };
#undef RTL_READER_ENUM

/* Write one line to `why`, if it isn't NULL, and return the status. */
__attribute__((format(printf, 4, 5))) enum rtl_reader_status rtl_explain(enum rtl_reader_status status, char *why,
                                                                         size_t why_bytes, const char *format, ...);

/* Numbers of a segment are untrusted: sums saturate. */
static inline uint64_t rtl_plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

struct rtl_reader;

/* Attach to the process. On failure `why` gets one line that says what is wrong and what to do about it (no trailing
 * newline, no "rtl-top:" prefix). */
enum rtl_reader_status rtl_reader_open(pid_t pid, struct rtl_reader **reader, char *why, size_t why_bytes);

/* Attach without a message and without waiting for a segment that is being made. */
enum rtl_reader_status rtl_reader_try(pid_t pid, struct rtl_reader **reader);

/* Open a segment by descriptor (tests, fuzzing, recordings). The reader takes over the descriptor on success only. */
enum rtl_reader_status rtl_reader_open_fd(int fd, struct rtl_reader **reader, char *why, size_t why_bytes);

void rtl_reader_close(struct rtl_reader *reader);

/* False once the opened process has ended (a reused pid counts as ended). Always true after open_fd. */
bool rtl_reader_alive(struct rtl_reader *reader);
/* Return the inode of the segment's file, which identifies it among the process's segments; 0: not known. */
uint64_t rtl_reader_number(const struct rtl_reader *reader);
/* Return the uid that created the segment's file; (uid_t)-1: not known. */
uid_t rtl_reader_maker(const struct rtl_reader *reader);

/* Return the process's clocks. `host` switches the reader's times from this process's CLOCK_MONOTONIC to the host's. */
const struct rtl_clocks *rtl_reader_clocks(struct rtl_reader *reader, bool host);

/* Return the variables of RTL_ENVIRONMENT as they were set when the library was loaded: "NAME=VALUE", each with a
 * terminator, untrusted; *bytes is their length. NULL: not published (an older library, a damaged segment). */
const char *rtl_reader_environment(const struct rtl_reader *reader, size_t *bytes);

/* List the traced processes that this user may see, ascending; the caller frees *pids. Returns the count or -errno. */
int rtl_discover(pid_t **pids);

/* One octave of a histogram: 64 buckets. */
struct rtl_octave {
    uint8_t octave;
    uint64_t bucket[RTL_CHUNK_BUCKETS];
};

/* A consistent copy of one histogram: the sum of all buckets and coarse counts is `count`. */
struct rtl_histogram_copy {
    uint64_t count, total_ns, min_ns, max_ns;
    bool approximate;           /* count comes from the buckets after bounded retries, or some counts are coarse */
    uint32_t octave_count;      /* ascending */
    struct rtl_octave *octaves; /* owned by the snapshot */
    uint64_t *coarse;           /* RTL_OCTAVES_MAX counts, or NULL; owned by the snapshot */
};

struct rtl_kernel_snapshot {
    uint32_t id;      /* the segment's row: stable for the process's life */
    const char *name; /* full, mangled, NUL-terminated, untrusted bytes; owned by the reader, stable */
    size_t name_length;
    uint64_t calls;   /* every dispatch */
    uint64_t untimed; /* by the dispatch path and by the worker */
    uint32_t grid[3]; /* of the last dispatch on the busiest queue */
    uint16_t workgroup[3];
    uint32_t lds_bytes, scratch_bytes;
    struct rtl_histogram_copy histogram; /* histogram.count = timed dispatches */
    uint64_t estimated_ns;               /* of all calls of an observed process; 0 = not known */
};

struct rtl_queue_snapshot {
    uint32_t slot, agent, gpu; /* gpu: number on screen */
    uint64_t queue_id;
    uint64_t real_id; /* as in struct rtl_queue, like real_key; live snapshots only */
    uint32_t real_key;
    bool live, shared;
    uint32_t size_packets;
    uint64_t dispatches, injected, completed, packets;
    uint64_t depth; /* injected - completed, never negative */
    uint64_t untimed[RTL_UNTIMED_LIMIT];
    struct rtl_histogram_copy wait, gap;
    uint32_t generation;        /* as in struct rtl_queue: distinguishes queues that had the slot one after another */
    uint64_t dispatches_before; /* of earlier queues in this slot; `dispatches` counts this queue alone */
    uint64_t pid;               /* of a merged snapshot: the queue's process; 0 = snapshot of one process */
    /* from RTL_QUEUE_PATH_WORD: untrusted, perhaps a newer library's; both 0 if unknown (an older library, the shared
     * slot) */
    uint32_t path, path_reason;
    /* The error that stopped the queue (RTL_QUEUE_ERRORS): untrusted, perhaps a newer runtime's. */
    bool error_known;        /* false: an older library, or an observed process */
    uint32_t error;          /* hsa_status_t; 0: none, or not known */
    uint32_t error_kernel;   /* id + 1 of the kernel that ran then; 0: not known */
    uint64_t error_after_ns; /* from the process's start to the error */
};

/* One of a GPU's longest gaps. */
struct rtl_gap {
    uint64_t start_mono_ns;                    /* 0: not known */
    uint64_t length_ns, no_work_ns, copies_ns; /* the parts are at most the length */
    uint32_t kernel_before, kernel_after;      /* id + 1, 0: not known; of a merged snapshot: the member's row + 1 */
    uint32_t queue_before, queue_after;        /* slots */
    uint32_t cause;                            /* enum rtl_cause */
    uint32_t member;                           /* of a merged snapshot: the member's number + 1 */
};

static inline bool rtl_gap_is_plausible(const struct rtl_gap *gap)
{
    return gap->length_ns && gap->no_work_ns <= gap->length_ns && gap->copies_ns <= gap->length_ns - gap->no_work_ns &&
           gap->queue_before < RTL_QUEUES_MAX && gap->queue_after < RTL_QUEUES_MAX;
}

struct rtl_agent_snapshot {
    uint32_t gpu, agent;               /* number on screen; index into the segment's agents (live snapshots only) */
    char name[RTL_AGENT_NAME_MAX + 1]; /* printable ASCII only */
    char uuid[RTL_AGENT_UUID_MAX + 1]; /* printable ASCII only; empty: not known */
    uint64_t busy_ns, tick_hz;
    uint32_t bdf, compute_units;
    struct rtl_idle idle[RTL_IDLE_COUNT];
    /* ticks to host time, as in struct rtl_agent */
    uint64_t clock_residual_ns, clock_residual_most_ns, clock_residuals, clock_drift_over_ns;
    int64_t clock_drift_ppb;
    bool gaps_known; /* false: an older library or recorder, or an observed process; the fields below are 0 then */
    uint64_t cause_ns[RTL_CAUSE_COUNT]; /* idle time by cause */
    uint64_t last_end_mono_ns;          /* the latest end of a timed kernel; 0: not known */
    uint32_t gap_count;
    struct rtl_gap gap[RTL_GAPS_MAX]; /* the longest ones of 10 to 20 s, in any order */
    uint32_t users; /* of a merged snapshot: processes that had work on this GPU; 0 = snapshot of one process */
};

struct rtl_copies_snapshot {
    uint32_t agent, gpu;   /* gpu: number on screen */
    uint32_t direction;    /* enum rtl_direction */
    uint64_t count, bytes; /* every copy */
    uint64_t timed_bytes;
    uint64_t untimed[RTL_COPY_UNTIMED_LIMIT];
    struct rtl_histogram_copy histogram; /* histogram.count = timed copies */
};

struct rtl_parts;
struct rtl_hip_api_snapshot;
#define RTL_MODE_MIXED    0xffeu /* a merged snapshot of processes in several modes */
#define RTL_MODE_CALLS    0xffcu /* default in a process whose HIP calls are recorded: RTL_MODE_HIP */
#define RTL_MODE_OBSERVED 0xffdu /* an observed process, without the library (src/observe) */

struct rtl_snapshot {
    uint64_t taken_mono_ns; /* CLOCK_MONOTONIC of the copy */
    uint64_t pid;
    char comm[RTL_COMM_MAX + 1]; /* printable ASCII only */
    char library_version[33];
    uint32_t mode, state, notes, seals; /* mode: in force now */
    uint32_t mode_started, in_force;    /* mode at the start; enum rtl_activity: what the mode means now */
    uint32_t runtime_major, runtime_minor;
    uint64_t start_mono_ns, start_real_ns, heartbeat_mono_ns, worker_cpu_ns, passes;
    bool parked;
    uint64_t kernels_over, queues_refused, chunks_used;
    uint64_t signals_in_use, signals_free, signals_created, signals_destroyed, signals_peak, signals_limit;
    uint64_t counted, timed, untimed_total; /* sums over the queues and kernels */
    uint64_t untimed[RTL_UNTIMED_LIMIT];    /* by reason, sums over the queues */
    uint32_t kernel_count, queue_count, agent_count;
    struct rtl_kernel_snapshot *kernels; /* ascending id; rows that were never called are left out */
    struct rtl_queue_snapshot *queues;   /* ascending slot; slots never used are left out */
    struct rtl_agent_snapshot *agents;   /* ascending gpu */
    uint32_t copies_count;
    struct rtl_copies_snapshot *copies;   /* ascending agent, direction; those without a copy are left out */
    void *storage;                        /* memory that the histogram copies point into */
    struct rtl_hip_api_snapshot *hip_api; /* HIP calls and roctx ranges (hip_api_snapshot.h), in storage; or NULL */
    /* of an observed process */
    uint32_t convention;     /* enum rtl_convention: whether estimates exist */
    uint64_t packets_lost;   /* packets of any kind overwritten before the observer counted them */
    struct rtl_parts *parts; /* of a merged snapshot (model/merge.h): each process's part; or NULL */
    void (*release_parts)(struct rtl_parts *parts);
};

/* Return the mode to show for a process whose HIP calls are recorded or not. */
static inline uint32_t rtl_mode_with(bool calls, uint32_t mode)
{
    return calls && mode == RTL_MODE_DEFAULT ? RTL_MODE_CALLS : mode;
}

/* True if the snapshot is of an observed process (src/observe) or, when merged, of at least one. */
static inline bool rtl_is_observed(const struct rtl_snapshot *snapshot)
{
    bool observed = snapshot->mode == RTL_MODE_OBSERVED;
    for (uint32_t i = 0; i < snapshot->queue_count && snapshot->mode == RTL_MODE_MIXED && !observed; i++)
        observed = snapshot->queues[i].path == RTL_PATH_OBSERVED;
    return observed;
}

/* Limits for a snapshot, whatever the segment holds: bytes read (less than half of that with entries of this version's
 * length; mostly cells of (queue, kernel), without the file's holes), and memory. Names belong to the reader:
 * RTL_NAMES_BYTES at most, each read once. */
#define RTL_SNAPSHOT_READ_MAX   (1024ull << 20)
#define RTL_SNAPSHOT_MEMORY_MAX (64ull << 20)

/* Take a snapshot into *snapshot (zero-initialised or freed before). OK, or VERSION if the segment is damaged, or USAGE
 * without memory. */
enum rtl_reader_status rtl_reader_snapshot(struct rtl_reader *reader, struct rtl_snapshot *snapshot);
void rtl_snapshot_free(struct rtl_snapshot *snapshot);
/* Return the bytes of memory of a snapshot; of a reader: mostly names. */
uint64_t rtl_snapshot_memory(const struct rtl_snapshot *snapshot);
uint64_t rtl_reader_memory(const struct rtl_reader *reader);

/* Take a snapshot of only the kernels that changed since the last call of this function; at first of all. The cost is
 * proportional to the changes as long as the writer's sums and rows agree; otherwise the reader reads all rows. Names
 * belong to the reader. If a caller drops such a snapshot (no memory), it calls rtl_reader_forget: the next one has all
 * kernels. */
enum rtl_reader_status rtl_reader_changes(struct rtl_reader *reader, struct rtl_snapshot *snapshot);
void rtl_reader_forget(struct rtl_reader *reader);
/* Copy a snapshot; names keep their owner. False without memory: then `to` is empty. */
bool rtl_snapshot_copy(const struct rtl_snapshot *from, struct rtl_snapshot *to);
/* Allocate memory that rtl_snapshot_free frees; NULL without memory. */
void *rtl_snapshot_allocate(struct rtl_snapshot *snapshot, size_t bytes);
/* Set a histogram's octaves to copies of those that aren't NULL. False without memory. */
bool rtl_snapshot_set_octaves(struct rtl_snapshot *snapshot, struct rtl_histogram_copy *histogram,
                              uint64_t *const octave[RTL_OCTAVES_MAX]);
/* Replace a histogram's arrays by copies in the snapshot's storage. False without memory. */
bool rtl_snapshot_own_histogram(struct rtl_snapshot *snapshot, struct rtl_histogram_copy *histogram);
/* Find a kernel by its id; an agent by its GPU's number; a queue by its slot, beginning at index `near`, where it
 * mostly is; copies by agent and direction (`snapshot` may be NULL). NULL if none. */
const struct rtl_kernel_snapshot *rtl_snapshot_kernel(const struct rtl_snapshot *snapshot, uint32_t id);
const struct rtl_agent_snapshot *rtl_agent_of(const struct rtl_snapshot *snapshot, uint32_t gpu);
const struct rtl_queue_snapshot *rtl_queue_of(const struct rtl_snapshot *snapshot, uint32_t slot, uint32_t near);
const struct rtl_copies_snapshot *rtl_copies_of(const struct rtl_snapshot *snapshot, uint32_t agent,
                                                uint32_t direction);
/* Find a kernel whose id is not below that of the last call; *at keeps the position. `snapshot` may be NULL. */
const struct rtl_kernel_snapshot *rtl_next_kernel(const struct rtl_snapshot *snapshot, uint32_t *at, uint32_t id);
/* Return the number of dispatches in flight in the live queues. */
uint64_t rtl_snapshot_in_flight(const struct rtl_snapshot *snapshot);

/* The event ring of a process started with RTL_TRACE: the newest timed dispatches. The writer never waits for a reader,
 * so a slow reader loses records and counts them: next - first = records handed out + lost, always. */
struct rtl_events {
    uint64_t first; /* number (from 0) of the oldest record when reading began */
    uint64_t next;  /* number of the next record */
    uint64_t lost;  /* records from `first` on that were overwritten before they were read */
};

/* Return the ring's size in records; 0: no ring. */
uint32_t rtl_reader_events_capacity(const struct rtl_reader *reader);

/* Start with the oldest record. False without a ring. */
bool rtl_reader_events_begin(const struct rtl_reader *reader, struct rtl_events *events);

/* Copy up to `most` whole records, oldest first, each with its link to a HIP call; links are zeros if the process
 * records no calls. Returns 0 if there are no new records. Bounded work whatever the segment holds: the function reads
 * at most as many records as the ring has, and the numbers in them are untrusted. */
uint32_t rtl_reader_linked_events(const struct rtl_reader *reader, struct rtl_events *events,
                                  struct rtl_linked_event *out, uint32_t most);

/* Return the full name of a kernel's row, as in snapshots; NULL: none. */
const char *rtl_reader_kernel_name(struct rtl_reader *reader, uint32_t kernel);

/* Return the kernel object of the row's first dispatch, valid on the GPU that ran it; 0: not known. */
uint64_t rtl_reader_kernel_object(const struct rtl_reader *reader, uint32_t kernel);

#endif
