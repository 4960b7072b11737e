/*
 * What a snapshot has of the calls of HIP and the ranges of roctx: the API segment (api.h) as it was then, in the form
 * in which everything else of a snapshot is: histograms as of kernels, names as untrusted bytes. It lies in the
 * snapshot's storage and goes with it.
 *
 * Functions come first, then ranges, then marks, each by name: a row is known by these two, in whatever process.
 */
#ifndef RTL_SHM_HIP_API_SNAPSHOT_H
#define RTL_SHM_HIP_API_SNAPSHOT_H

#include <sys/types.h>

#include "shm/hip_api.h"
#include "shm/segment_reader.h"

struct rtl_hip_api_row_snapshot {
    uint32_t kind; /* enum rtl_hip_api_kind, or one of a newer library's */
    uint32_t name_bytes;
    char name[RTL_HIP_API_TEXT + 1]; /* untrusted, terminated */
    uint64_t bytes, errors, open, in_use;
    struct rtl_histogram_copy histogram; /* count = calls */
};

struct rtl_hip_api_memory_snapshot {
    uint64_t pid;
    uint32_t place; /* HIP's own number of the GPU, or RTL_HIP_API_GPUS: the host's memory */
    uint64_t in_use, peak, allocations;
};

/* A range by where it is nested; the first one is outside of all ranges and has no name. */
struct rtl_hip_api_node_snapshot {
    uint32_t parent; /* its place, before this one's */
    uint32_t name_bytes;
    char name[RTL_HIP_API_TEXT + 1];
    uint64_t count, total_ns, most_ns, open;
    uint64_t kernels, kernels_ns, copies, copies_ns; /* of calls in this very range, those that were timed */
};

/* From a call's begin to the start of a kernel that it launched. */
struct rtl_hip_api_launch_snapshot {
    uint64_t kernel; /* rtl_hash of its name: the same in all processes, as rows are not */
    struct rtl_histogram_copy histogram;
};

/* What a kernel took in a range: those that were timed, of calls in this very place. */
struct rtl_hip_api_pair_snapshot {
    uint32_t node;   /* its place, never the first one's */
    uint64_t kernel; /* as above */
    struct rtl_histogram_copy histogram;
};

/* What a thread is in, or was in last; 0 = none */
struct rtl_hip_api_thread_snapshot {
    uint32_t tid;
    uint32_t row, last_row; /* rows of `rows`, + 1 */
    uint64_t since_ns, last_ns;
};

/* What couldn't be recorded, or was wrong. X(member of both structs, JSON key, text) */
#define RTL_HIP_API_TROUBLES(X)                                                                 \
    X(ranges_other, "ranges_other", "ranges found no row of their own: '(other ranges)'")       \
    X(ranges_deep, "ranges_deep", "ranges were nested too deep to be timed")                    \
    X(ranges_unfinished, "ranges_unfinished", "ranges were still open when their thread ended") \
    X(pops_unbalanced, "ends_unbalanced", "ends of ranges that nobody had begun")               \
    X(allocations_lost, "allocations_lost", "allocations could not be followed")                \
    X(pairs_over, "pairs_over",                                                                 \
      "kernels are missing in the lists of their ranges: there are too many, or there was no memory")

struct rtl_hip_api_snapshot {
    uint32_t count, memory_count;
    struct rtl_hip_api_row_snapshot *rows;
    struct rtl_hip_api_memory_snapshot *memory;
    bool links; /* what follows is known: a library of version 1.0 links nothing */
    uint32_t node_count, launch_count, pair_count, thread_count;
    struct rtl_hip_api_node_snapshot *nodes;      /* parents first; those of one parent by name */
    struct rtl_hip_api_launch_snapshot *launches; /* by kernel */
    struct rtl_hip_api_pair_snapshot *pairs;      /* by node, then kernel */
    struct rtl_hip_api_thread_snapshot *threads;  /* live only: neither copied nor merged */
    uint64_t flags, linked, copies_linked, copies_unlinked;
    uint64_t unlinked[RTL_HIP_API_UNLINKED_LIMIT];
#define RTL_DECLARE_TROUBLE(member, key, text) uint64_t member;
    RTL_HIP_API_TROUBLES(RTL_DECLARE_TROUBLE)
#undef RTL_DECLARE_TROUBLE
};

/* The order of rows. */
int rtl_hip_api_compare_rows(const struct rtl_hip_api_row_snapshot *a, const struct rtl_hip_api_row_snapshot *b);

/* "launch", "range" ... of a number; NULL for one that this version doesn't know. */
const char *rtl_hip_api_kind_key(uint32_t kind);
static inline bool rtl_hip_api_is_range(const struct rtl_hip_api_row_snapshot *call)
{
    return call->kind == RTL_HIP_API_RANGE || call->kind == RTL_HIP_API_MARK;
}

struct rtl_hip_api_room {
    uint32_t rows, memory, nodes, launches, pairs, threads;
};
/* Room for so many in the snapshot, counts 0; NULL without memory. */
struct rtl_hip_api_snapshot *rtl_hip_api_allocate(struct rtl_snapshot *snapshot, const struct rtl_hip_api_room *room);

/* The node of that name below another; node_count where there is none. */
uint32_t rtl_hip_api_find_child(const struct rtl_hip_api_snapshot *calls, uint32_t parent, const char *name,
                                uint32_t name_bytes);
/* The launches of a kernel; NULL where there are none. */
const struct rtl_hip_api_launch_snapshot *rtl_hip_api_find_launch(const struct rtl_hip_api_snapshot *calls,
                                                                  const struct rtl_kernel_snapshot *kernel);
void rtl_hip_api_sort_launches(struct rtl_hip_api_snapshot *calls);
void rtl_hip_api_sort_pairs(struct rtl_hip_api_snapshot *calls);
/* The pair of a node and a kernel (rtl_hash of its name); NULL where there is none. */
const struct rtl_hip_api_pair_snapshot *rtl_hip_api_find_pair(const struct rtl_hip_api_snapshot *calls, uint32_t node,
                                                              uint64_t kernel);
/* Puts nodes of any order into theirs: parents first, by name. The parents' places are changed with them. */
bool rtl_hip_api_sort_nodes(struct rtl_hip_api_node_snapshot *nodes, uint32_t count);

/* A copy of the calls of a snapshot in another one; true also where there are none. False without memory. */
bool rtl_hip_api_copy_to(const struct rtl_hip_api_snapshot *from, struct rtl_snapshot *to);

/* Of a process: its API segment is looked for now and then, because it may come late or never. */
struct rtl_hip_api_source {
    int fd; /* -1: not found so far */
    uint64_t look_ns, pause_ns;
};
void rtl_hip_api_source_open(struct rtl_hip_api_source *source);
void rtl_hip_api_source_close(struct rtl_hip_api_source *source);
/* Puts them into the snapshot that was just taken, or leaves it without. The reader knows the kernels' names; NULL:
 * only those are known that the snapshot has. */
void rtl_hip_api_source_read(struct rtl_hip_api_source *source, pid_t pid, struct rtl_reader *reader,
                             struct rtl_snapshot *snapshot);

#endif
