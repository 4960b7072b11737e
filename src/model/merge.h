/*
 * Makes one snapshot of the snapshots of several processes: kernels by full name, GPUs by PCI address, queues one after
 * another, sums of the rest. What came from which process stays known (struct rtl_parts), so that processes can be
 * compared over any window that the model has.
 *
 * Nothing of a frame is copied that the frame before had, too: a kernel's group (its sum and its parts) is made anew
 * when one of its parts has changed, and is shared by all snapshots until then. Numbers in snapshots are untrusted;
 * sums may wrap. What all processes together take is bounded, and shared out (merge_parts.h, and for names and ids
 * merge.c): one of them can't take what the others need. Ownership: the merge owns the names and outlives the snapshots
 * that it made. Pure; one thread.
 */
#ifndef RTL_MODEL_MERGE_H
#define RTL_MODEL_MERGE_H

#include "shm/segment_reader.h"

enum {
    RTL_MEMBERS_MAX = 256,      /* processes at once, those that ended lately among them */
    RTL_MEMBERS_ENDED_MAX = 32, /* of those that ended; earlier ones are added up under RTL_MEMBER_GONE */
    RTL_MEMBER_LABEL = 16,
};
#define RTL_MEMBER_GONE UINT32_MAX

/* What is known of a process beside its segment; texts are safe. */
struct rtl_member_info {
    pid_t pid;
    int rank;                     /* -1: not known */
    char label[RTL_MEMBER_LABEL]; /* "R5", "TP3", or "" */
    char user[20], container[20];
    char title[160]; /* its command line */
};

/* A process in a merged snapshot. */
struct rtl_member {
    uint32_t number; /* for as long as the merge lives: a pid that is used again gets another one */
    bool ended;
    struct rtl_member_info info;
    uint32_t mode, in_force, state;
    uint64_t start_mono_ns, start_real_ns, heartbeat_mono_ns, passes;
    bool parked;
    uint64_t stuck_since_ns, stale_ns; /* stale.h; stale_ns is 0 when it isn't, or has ended */
    uint64_t counted, timed, untimed_total, depth;
    uint64_t busy_ns; /* sum over its GPUs */
    uint64_t gpus;    /* bits: numbers on screen of the GPUs that it had work on */
};

/* A kernel's numbers in one process. Shared, and immutable while its process keeps within its share of memory. */
struct rtl_part {
    unsigned references;
    uint32_t member; /* its number, or RTL_MEMBER_GONE */
    uint32_t row;    /* in that process */
    bool coarse;     /* it is written anew where it is (merge_parts.h) */
    size_t bytes, *charged;
    struct rtl_kernel_snapshot kernel; /* its histogram without buckets: rtl_part_histogram has them */
    uint32_t word_count;
    uint64_t words[]; /* packed.h */
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

struct rtl_merge;
struct rtl_merge *rtl_merge_create(void); /* NULL without memory */
void rtl_merge_free(struct rtl_merge *merge);

/* A process comes in; its number, or RTL_MEMBER_GONE when there is no room. */
uint32_t rtl_merge_join(struct rtl_merge *merge, const struct rtl_member_info *info);
/*
 * Before anything else was taken: the first one has been watched alone so far. Its kernels, queues and GPUs keep their
 * ids and numbers, so that the viewer can go on. Without it GPUs have numbers in the order of their PCI addresses.
 */
bool rtl_merge_adopt(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* Its numbers now. False without memory: then it has those of before. */
bool rtl_merge_take(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* It has ended: what it counted stays, its queues go. */
void rtl_merge_leave(struct rtl_merge *merge, uint32_t number);
/* All that was taken. False without memory. */
bool rtl_merge_make(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out);

/* The group of a kernel of a merged snapshot; NULL when it is of one process. */
const struct rtl_group *rtl_group_of(const struct rtl_snapshot *snapshot, const struct rtl_kernel_snapshot *kernel);

/* The part's histogram, whose buckets lie in `room`. */
struct rtl_unpacked {
    _Alignas(8) char bytes[RTL_OCTAVES_MAX * (sizeof(struct rtl_octave) + sizeof(uint64_t))];
};
struct rtl_histogram_copy rtl_part_histogram(const struct rtl_part *part, struct rtl_unpacked *room);

const struct rtl_member *rtl_member_of(const struct rtl_snapshot *snapshot, uint32_t number);

#endif
