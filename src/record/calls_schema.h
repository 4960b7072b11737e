/*
 * What calls of HIP and ranges of roctx look like in a file, beside the tables of schema.h; functions, ranges and marks
 * have numbers of the recording's own, in the order of their first sight. Kernels' rows are those of rtl_kernel.
 */
#ifndef RTL_RECORD_CALLS_SCHEMA_H
#define RTL_RECORD_CALLS_SCHEMA_H

#include "record/schema.h"
#include "shm/hip_api_snapshot.h"

/* in rtl_call_frame, a row for each frame of a process whose calls are recorded; of struct rtl_hip_api_snapshot */
#define RTL_CALLS_FIELDS(X)                      \
    X(links, links, SET)                         \
    X(flags, flags, SET)                         \
    X(linked, linked, SET)                       \
    X(unlinked_outside, unlinked[0], SET)        \
    X(unlinked_queue_thread, unlinked[1], SET)   \
    X(unlinked_overtaken, unlinked[2], SET)      \
    X(unlinked_unnoted, unlinked[3], SET)        \
    X(copies_linked, copies_linked, SET)         \
    X(copies_unlinked, copies_unlinked, SET)     \
    X(ranges_other, ranges_other, SET)           \
    X(ranges_deep, ranges_deep, SET)             \
    X(ranges_unfinished, ranges_unfinished, SET) \
    X(ends_unbalanced, pops_unbalanced, SET)     \
    X(allocations_lost, allocations_lost, SET)

/* in rtl_call_sample, before those of its histogram; of struct rtl_hip_api_row_snapshot */
#define RTL_CALL_FIELDS(X)  \
    X(bytes, bytes, GROW)   \
    X(errors, errors, GROW) \
    X(open, open, SET)      \
    X(in_use, in_use, SET)

/* in rtl_call_memory; of struct rtl_hip_api_memory_snapshot */
#define RTL_MEMORY_FIELDS(X) \
    X(in_use, in_use, SET)   \
    X(peak, peak, SET)       \
    X(allocations, allocations, SET)

/* in rtl_range_sample; of struct rtl_hip_api_node_snapshot */
#define RTL_NODE_FIELDS(X)          \
    X(count, count, GROW)           \
    X(total_ns, total_ns, GROW)     \
    X(max_ns, most_ns, SET)         \
    X(open, open, SET)              \
    X(kernels, kernels, GROW)       \
    X(kernels_ns, kernels_ns, GROW) \
    X(copies, copies, GROW)         \
    X(copies_ns, copies_ns, GROW)

/* in rtl_pair_frame; of struct rtl_hip_api_snapshot */
#define RTL_PAIRS_FIELDS(X) X(pairs_over, pairs_over, SET)

#define RTL_CALL_FIELD_LISTS(X)                           \
    X(calls, CALLS, struct rtl_hip_api_snapshot)          \
    X(call, CALL, struct rtl_hip_api_row_snapshot)        \
    X(memory, MEMORY, struct rtl_hip_api_memory_snapshot) \
    X(node, NODE, struct rtl_hip_api_node_snapshot)       \
    X(pairs, PAIRS, struct rtl_hip_api_snapshot)
RTL_CALL_FIELD_LISTS(RTL_DECLARE_FIELDS)

extern const struct rtl_db_set rtl_calls_set;
extern const struct rtl_db_set rtl_pairs_set; /* kernels by range: numbers of rtl_range and of rtl_kernel */

#endif
