/*
 * The numbers of each process in a merged snapshot (merge.h): the parts and groups of merged kernels. They are
 * reference counted, with bounded memory.
 *
 * Each process has a share of the memory for parts, including those in older snapshots. A process beyond its share gets
 * coarse parts, one per kernel, which are updated in place: sums stay exact, quantiles become approximate, and the
 * part's state at the start of a window is lost. Groups have a common limit; beyond it their histograms are coarse.
 */
#ifndef RTL_MODEL_MERGE_PARTS_H
#define RTL_MODEL_MERGE_PARTS_H

#include "shm/segment_reader.h"

enum {
    RTL_MEMBERS_MAX = 256,      /* processes at once, including recently ended ones */
    RTL_MEMBERS_ENDED_MAX = 32, /* ended processes; earlier ones are summed under RTL_MEMBER_GONE */
    RTL_MEMBER_LABEL = 24,
};
#define RTL_MEMBER_GONE UINT32_MAX

/* Facts about a process from outside its segment; texts are safe. */
struct rtl_member_info {
    pid_t pid;
    uint32_t owner;               /* the user with a limit who pays for it (watch/users.h); 0: no limit */
    int rank;                     /* -1: unknown */
    char label[RTL_MEMBER_LABEL]; /* "R5", "DP1_TP3", "D0", or "" */
    char user[20], container[20];
    char title[160]; /* its command line */
};

/* A process in a merged snapshot. */
struct rtl_member {
    uint32_t number; /* unique in the merge, while pids may be reused */
    bool ended;
    struct rtl_member_info info;
    uint32_t mode, in_force, state;
    uint64_t start_mono_ns, start_real_ns, heartbeat_mono_ns, passes;
    bool parked;
    uint64_t stuck_since_ns, stale_ns; /* rtl_stale_ns; stale_ns is 0 for an ended process */
    uint64_t counted, timed, untimed_total, depth;
    uint64_t busy_ns; /* sum over its GPUs */
    uint64_t gpus;    /* bits: numbers on screen of the GPUs that it has used */
    /* set in each snapshot (member_names.h) */
    char name[RTL_MEMBER_LABEL]; /* "R5", "DP1_TP3", "G5", "R5[4711]": no other member of the snapshot has it */
    uint32_t peer_group;         /* workers with equal numbers are compared */
};

/* A kernel's numbers in one process. Snapshots share the part, which is immutable unless `coarse`. */
struct rtl_part {
    unsigned references;
    uint32_t member;      /* the process's number, or RTL_MEMBER_GONE */
    uint32_t row;         /* the kernel's id in that process */
    const char *named_by; /* the process's own copy of the name: an equal pointer means an equal name */
    bool coarse;          /* updated in place */
    size_t bytes, *charged;
    struct rtl_kernel_snapshot kernel; /* histogram without buckets: see rtl_part_histogram */
    uint32_t word_count;
    uint64_t words[]; /* a packed struct rtl_packing */
};

/* A merged kernel with its parts, by member, then row. Immutable, shared. */
struct rtl_group {
    unsigned references;
    uint32_t count;
    size_t bytes, *charged;
    struct rtl_kernel_snapshot kernel;
    struct rtl_part *parts[];
};

struct rtl_parts {
    uint32_t group_count, member_count;
    struct rtl_group **groups; /* one for each of the snapshot's kernels */
    struct rtl_member members[];
};

#define RTL_PARTS_BYTES_MAX  (512ull << 20) /* all processes */
#define RTL_PARTS_SHARE_MAX  (64ull << 20)  /* one process */
#define RTL_GROUPS_BYTES_MAX (192ull << 20)

/*
 * Sums histograms, and packs them: one word of number and count for each bucket in use. A kernel with a few calls takes
 * a few words, while each octave takes half a kilobyte. Empty (zeros) between two uses.
 *
 * Counts are exact below 2^52. Packed coarsely, an octave is one word; quantiles are then as coarse as those of a
 * histogram for which the writer had no memory.
 */
struct rtl_packing {
    uint64_t bucket[RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS];
    uint64_t coarse[RTL_OCTAVES_MAX];
    uint64_t octaves; /* bits: octaves in use in `bucket` */
    bool any_coarse;
};
void rtl_packing_add(struct rtl_packing *packing, const struct rtl_histogram_copy *histogram);

/* The part's histogram, with buckets in `room`. */
struct rtl_unpacked {
    _Alignas(8) char bytes[RTL_OCTAVES_MAX * (sizeof(struct rtl_octave) + sizeof(uint64_t))];
};
struct rtl_histogram_copy rtl_part_histogram(const struct rtl_part *part, struct rtl_unpacked *room);

/* Return the index of the first of `count` parts that is not before (member, row); parts ascend by member, then row. */
uint32_t rtl_part_position(struct rtl_part *const *parts, uint32_t count, uint32_t member, uint32_t row);
static inline bool rtl_part_is(const struct rtl_part *part, uint32_t member, uint32_t row)
{
    return part->member == member && part->row == row;
}

/* Add the part's histogram to `packing`. */
void rtl_part_add(const struct rtl_part *part, struct rtl_packing *packing);
/* Return the part's highest bucket; UINT32_MAX if some counts are known by octave only. */
uint32_t rtl_part_last_bucket(const struct rtl_part *part);

void rtl_part_release(struct rtl_part *part);
void rtl_group_release(struct rtl_group *group);

/* Make a part with the numbers of `kernel` and the histogram in `packing`, which is cleared. Its bytes are charged to
 * *charged until it is freed. Only a coarse part can be rewritten. NULL without memory. */
struct rtl_part *rtl_part_make(const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing, bool coarse,
                               size_t *charged);
void rtl_part_rewrite(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing);

/* Make the group of these parts: their sum, with references to them. NULL without memory. */
struct rtl_group *rtl_group_make(struct rtl_part *const *parts, uint32_t count, struct rtl_packing *packing,
                                 size_t *charged);

/* --- the rule for a stale process, for single and merged processes --- */

#define RTL_STALE_AFTER_NS (2 * 1000000000ull)

/* Return the packets in flight that the worker must process; those that bypass the library do not count. */
static inline uint64_t rtl_stale_in_flight(const struct rtl_snapshot *now)
{
    uint64_t depth = 0;
    for (uint32_t i = 0; i < now->queue_count; i++)
        if (now->queues[i].live && now->queues[i].path_reason != RTL_REASON_PAST_LIBRARY)
            depth += now->queues[i].depth;
    return depth;
}

/*
 * Return how long a process has been stale, in ns, or 0. Stale: packets are in flight, but the worker has made no pass
 * for RTL_STALE_AFTER_NS (it hangs, or the process is stopped). A parked worker is idle, and the dispatch that wakes it
 * must not raise an alarm: its time counts from the first snapshot with packets in flight. `moved`: a pass since the
 * previous snapshot. The caller keeps *since_ns between calls, 0 at first.
 */
static inline uint64_t rtl_stale_ns(const struct rtl_snapshot *now, bool moved, uint64_t *since_ns)
{
    if (!rtl_stale_in_flight(now) || now->state != RTL_STATE_LIVE) {
        *since_ns = 0;
        return 0;
    }
    if (moved || !*since_ns)
        *since_ns = !now->parked && now->heartbeat_mono_ns && now->heartbeat_mono_ns < now->taken_mono_ns
                        ? now->heartbeat_mono_ns
                        : now->taken_mono_ns;
    uint64_t stuck = now->taken_mono_ns - *since_ns;
    return stuck >= RTL_STALE_AFTER_NS ? stuck : 0;
}

#endif
