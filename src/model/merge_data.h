/* The numbers of each process in a merged snapshot (merge.h). */
#ifndef RTL_MODEL_MERGE_DATA_H
#define RTL_MODEL_MERGE_DATA_H

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
    uint64_t stuck_since_ns, stale_ns; /* stale.h; stale_ns is 0 for an ended process */
    uint64_t counted, timed, untimed_total, depth;
    uint64_t busy_ns; /* sum over its GPUs */
    uint64_t gpus;    /* bits: numbers on screen of the GPUs that it has used */
    /* set in each snapshot (member_names.h) */
    char name[RTL_MEMBER_LABEL]; /* "R5", "DP1_TP3", "G5", "R5[4711]": no other member of the snapshot has it */
    uint32_t peer_group;         /* workers with equal numbers are compared */
};

/* A kernel's numbers in one process. Snapshots share it. It is immutable unless `coarse`. */
struct rtl_part {
    unsigned references;
    uint32_t member;      /* the process's number, or RTL_MEMBER_GONE */
    uint32_t row;         /* the kernel's id in that process */
    const char *named_by; /* the process's own copy of the name: an equal pointer means an equal name */
    bool coarse;          /* updated in place (merge_parts.h) */
    size_t bytes, *charged;
    struct rtl_kernel_snapshot kernel; /* histogram without buckets: see rtl_part_histogram */
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

#endif
