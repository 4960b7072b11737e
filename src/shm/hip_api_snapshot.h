/*
 * A snapshot's part about HIP calls and roctx ranges: the API segment (hip_api.h) in the form of the other parts, with
 * histograms as kernels have them, and names as untrusted bytes. It lies in the snapshot's storage.
 *
 * Rows are sorted: functions, then ranges, then marks, each by name. Group and name identify a row in all processes.
 */
#ifndef RTL_SHM_HIP_API_SNAPSHOT_H
#define RTL_SHM_HIP_API_SNAPSHOT_H

#include "shm/hip_api.h"
#include "shm/segment_reader.h"

/* Return codes other than success. */
struct rtl_hip_api_codes {
    struct rtl_hip_api_code code[RTL_HIP_API_CODES]; /* count 0: unused */
    uint64_t more;                                   /* returns of other codes */
};

struct rtl_hip_api_row_snapshot {
    uint32_t kind; /* enum rtl_hip_api_kind, or a newer library's */
    uint32_t name_bytes;
    char name[RTL_HIP_API_TEXT + 1]; /* untrusted, terminated */
    uint64_t bytes, errors, open, in_use;
    struct rtl_histogram_copy histogram;   /* count = calls */
    const struct rtl_hip_api_codes *codes; /* NULL: no such return. Live only: neither copied nor merged */
};

struct rtl_hip_api_memory_snapshot {
    uint64_t pid;
    uint32_t place; /* HIP's number of the GPU, or RTL_HIP_API_GPUS: host memory */
    uint64_t in_use, peak, allocations;
};

/* A range at one place of the nesting. The first node stands for "outside of all ranges" and has no name. */
struct rtl_hip_api_node_snapshot {
    uint32_t parent; /* index; smaller than the node's own */
    uint32_t name_bytes;
    char name[RTL_HIP_API_TEXT + 1];
    uint64_t count, total_ns, most_ns, open;
    uint64_t kernels, kernels_ns, copies, copies_ns; /* timed ones, submitted in this node itself */
};

/* Times from the begin of a call to the start of the kernel that it launched. */
struct rtl_hip_api_launch_snapshot {
    uint64_t kernel; /* rtl_hash of its name: equal in all processes, unlike rows */
    struct rtl_histogram_copy histogram;
};

/* Durations of a kernel's timed dispatches that were submitted in this node itself. */
struct rtl_hip_api_pair_snapshot {
    uint32_t node;   /* index, never 0 */
    uint64_t kernel; /* as above */
    struct rtl_histogram_copy histogram;
};

/* The call that a thread is in, and the one that it left last. 0 = none. */
struct rtl_hip_api_thread_snapshot {
    uint32_t tid;
    uint32_t row, last_row; /* indexes of rows, + 1 */
    uint64_t since_ns, last_ns;
};

/* Events that were not recorded, or were wrong. X(member of both structs, JSON key, text) */
#define RTL_HIP_API_TROUBLES(X)                                                                 \
    X(ranges_other, "ranges_other", "ranges found no row of their own: '(other ranges)'")       \
    X(ranges_deep, "ranges_deep", "ranges were nested too deep to be timed")                    \
    X(ranges_unfinished, "ranges_unfinished", "ranges were still open when their thread ended") \
    X(pops_unbalanced, "ends_unbalanced", "ends of ranges without a begin")                     \
    X(allocations_lost, "allocations_lost", "allocations could not be followed")                \
    X(pairs_over, "pairs_over",                                                                 \
      "kernels are missing in the lists of their ranges: there are too many, or there was no memory")

struct rtl_hip_api_snapshot {
    uint32_t count, memory_count;
    struct rtl_hip_api_row_snapshot *rows;
    struct rtl_hip_api_memory_snapshot *memory;
    bool links; /* the segment has what follows: libraries of version 1.0 link nothing */
    uint32_t node_count, launch_count, pair_count, thread_count;
    struct rtl_hip_api_node_snapshot *nodes;      /* parents first; siblings by name */
    struct rtl_hip_api_launch_snapshot *launches; /* by kernel */
    struct rtl_hip_api_pair_snapshot *pairs;      /* by node, then kernel */
    struct rtl_hip_api_thread_snapshot *threads;  /* live only: neither copied nor merged */
    uint64_t flags, linked, copies_linked, copies_unlinked;
    uint64_t unlinked[RTL_HIP_API_UNLINKED_LIMIT];
#define RTL_DECLARE_TROUBLE(member, key, text) uint64_t member;
    RTL_HIP_API_TROUBLES(RTL_DECLARE_TROUBLE)
#undef RTL_DECLARE_TROUBLE
    uint64_t start_real_ns, shared_threads; /* of one live process, like all below */
    char library_version[32];
    uint32_t unrecorded_why; /* enum rtl_hip_api_unrecorded; 0: no such file */
    char unrecorded_file[256];
};

/* Return the group of a kind: 0 for functions, 1 for ranges, 2 for marks. Only a group and a name identify a row: a
 * process may change the kind of a function. */
uint32_t rtl_hip_api_group(uint32_t kind);
/* Compare two struct rtl_hip_api_row_snapshot in the order of rows; for qsort and bsearch. */
int rtl_hip_api_compare_rows(const void *left, const void *right);
/* Find a row in an earlier snapshot (NULL: no row); NULL if it is new. *at keeps the position from row to row. */
const struct rtl_hip_api_row_snapshot *rtl_hip_api_find_row(const struct rtl_hip_api_snapshot *earlier, uint32_t *at,
                                                            const struct rtl_hip_api_row_snapshot *row);

/* Return how many dispatches have no recorded call. */
static inline uint64_t rtl_hip_api_unlinked_sum(const struct rtl_hip_api_snapshot *api)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RTL_HIP_API_UNLINKED_LIMIT; i++)
        sum += api->unlinked[i];
    return sum;
}

/* Return "launch", "range" ... for a kind; NULL if this version doesn't know it. */
const char *rtl_hip_api_kind_key(uint32_t kind);
static inline bool rtl_hip_api_is_range(const struct rtl_hip_api_row_snapshot *row)
{
    return row->kind == RTL_HIP_API_RANGE || row->kind == RTL_HIP_API_MARK;
}

struct rtl_hip_api_room {
    uint32_t rows, memory, nodes, launches, pairs, threads;
};
/* Allocate a part with this room and counts of 0 in the snapshot; NULL without memory. */
struct rtl_hip_api_snapshot *rtl_hip_api_allocate(struct rtl_snapshot *snapshot, const struct rtl_hip_api_room *room);

/* Return the index of a node by parent and name; node_count if there is none. */
uint32_t rtl_hip_api_find_child(const struct rtl_hip_api_snapshot *api, uint32_t parent, const char *name,
                                uint32_t name_bytes);
/* Return the launches of a kernel, or NULL. */
const struct rtl_hip_api_launch_snapshot *rtl_hip_api_find_launch(const struct rtl_hip_api_snapshot *api,
                                                                  const struct rtl_kernel_snapshot *kernel);
/* Return the pair of a node and a kernel (rtl_hash of its name), or NULL. */
const struct rtl_hip_api_pair_snapshot *rtl_hip_api_find_pair(const struct rtl_hip_api_snapshot *api, uint32_t node,
                                                              uint64_t kernel);
void rtl_hip_api_sort_launches(struct rtl_hip_api_snapshot *api);
void rtl_hip_api_sort_pairs(struct rtl_hip_api_snapshot *api);
/* Sort nodes into the order of a snapshot and adapt their parents. `moved`, if not NULL, gets the new index of each. */
bool rtl_hip_api_sort_nodes(struct rtl_hip_api_node_snapshot *nodes, uint32_t count, uint32_t *moved);

/* Builds a tree of nodes: finds a node by parent and name, or appends it. */
struct rtl_hip_api_tree {
    struct rtl_hip_api_snapshot *api;
    uint32_t head[1024], *next; /* chains by hash of parent and name; 0 ends one */
};
/* Append the first node to an empty list that has room for `count`. False without memory. */
bool rtl_hip_api_tree_begin(struct rtl_hip_api_tree *tree, struct rtl_hip_api_snapshot *api, uint32_t count);
uint32_t rtl_hip_api_tree_enter(struct rtl_hip_api_tree *tree, uint32_t parent, const char *name, uint32_t name_bytes);
/* Free the chains and sort the nodes, as rtl_hip_api_sort_nodes. */
bool rtl_hip_api_tree_end(struct rtl_hip_api_tree *tree, uint32_t *moved);

/* Copy a snapshot's part into another snapshot; true also for NULL. False without memory. */
bool rtl_hip_api_copy_to(const struct rtl_hip_api_snapshot *from, struct rtl_snapshot *to);

#endif
