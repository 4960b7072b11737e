/*
 * The tables of snapshots and time series. Each table's columns are one list; the CREATE, INSERT and SELECT statements
 * and the mapping between a column and its struct member are generated from it. The manual is rtl-top-db(5).
 *
 * A recording is a sequence of frames. A frame holds what changed since the previous frame; the first frame holds
 * everything since the process's start. A snapshot is a recording of one frame.
 */
#ifndef RTL_RECORD_SCHEMA_H
#define RTL_RECORD_SCHEMA_H

#include "record/db.h"
#include "shm/hip_api_snapshot.h"
#include "shm/segment_reader.h"

/* How a member is stored: SET as its value, GROW as its growth since the previous frame. */
enum rtl_field_kind { RTL_FIELD_SET, RTL_FIELD_GROW };

/* X(column, member, kind): constants of the process, in rtl_recording; of struct rtl_snapshot */
#define RTL_RECORDING_FIELDS(X)          \
    X(inside_pid, pid, SET)              \
    X(start_ns, start_real_ns, SET)      \
    X(start_mono_ns, start_mono_ns, SET) \
    X(runtime_major, runtime_major, SET) \
    X(runtime_minor, runtime_minor, SET) \
    X(seals, seals, SET)

/* in rtl_frame; of struct rtl_snapshot */
#define RTL_FRAME_FIELDS(X)                      \
    X(mono_ns, taken_mono_ns, SET)               \
    X(mode, mode, SET)                           \
    X(in_force, in_force, SET)                   \
    X(state, state, SET)                         \
    X(notes, notes, SET)                         \
    X(counted, counted, SET)                     \
    X(timed, timed, SET)                         \
    X(untimed, untimed_total, SET)               \
    X(signals_in_use, signals_in_use, SET)       \
    X(signals_free, signals_free, SET)           \
    X(signals_created, signals_created, SET)     \
    X(signals_destroyed, signals_destroyed, SET) \
    X(signals_peak, signals_peak, SET)           \
    X(signals_limit, signals_limit, SET)         \
    X(heartbeat_mono_ns, heartbeat_mono_ns, SET) \
    X(passes, passes, SET)                       \
    X(parked, parked, SET)                       \
    X(worker_cpu_ns, worker_cpu_ns, SET)         \
    X(kernels_over, kernels_over, SET)           \
    X(queues_refused, queues_refused, SET)       \
    X(chunks_used, chunks_used, SET)

/* in rtl_kernel_sample, before those of its histogram; of struct rtl_kernel_snapshot */
#define RTL_KERNEL_FIELDS(X) \
    X(calls, calls, GROW)    \
    X(untimed, untimed, GROW)

/* in rtl_kernel_sample, at its end, NULL when none of them changed; of struct rtl_kernel_snapshot */
#define RTL_LAUNCH_FIELDS(X)          \
    X(grid_x, grid[0], SET)           \
    X(grid_y, grid[1], SET)           \
    X(grid_z, grid[2], SET)           \
    X(workgroup_x, workgroup[0], SET) \
    X(workgroup_y, workgroup[1], SET) \
    X(workgroup_z, workgroup[2], SET) \
    X(lds_bytes, lds_bytes, SET)      \
    X(scratch_bytes, scratch_bytes, SET)

/* in rtl_kernel_sample, rtl_queue_histogram and rtl_copies_sample; of struct rtl_histogram_copy. Quantiles and buckets
 * follow them. */
#define RTL_HISTOGRAM_FIELDS(X) \
    X(timed, count, GROW)       \
    X(total_ns, total_ns, GROW) \
    X(min_ns, min_ns, SET)      \
    X(max_ns, max_ns, SET)      \
    X(approximate, approximate, SET)

/* in rtl_queue_sample; of struct rtl_queue_snapshot */
#define RTL_QUEUE_FIELDS(X)            \
    X(agent, agent, SET)               \
    X(gpu, gpu, SET)                   \
    X(queue_id, queue_id, SET)         \
    X(live, live, SET)                 \
    X(shared, shared, SET)             \
    X(size_packets, size_packets, SET) \
    X(depth, depth, SET)               \
    X(dispatches, dispatches, GROW)    \
    X(injected, injected, GROW)        \
    X(completed, completed, GROW)      \
    X(packets, packets, GROW)          \
    X(dispatches_before, dispatches_before, SET)

/* in rtl_queue_way, a row where one of them changed; of struct rtl_queue_snapshot */
#define RTL_QUEUE_PATH_FIELDS(X) \
    X(way, path, SET)            \
    X(reason, path_reason, SET)

/* columns of rtl_queue_error, from struct rtl_queue_snapshot; a row where one of them changed */
#define RTL_QUEUE_ERROR_FIELDS(X) \
    X(known, error_known, SET)    \
    X(error, error, SET)          \
    X(kernel, error_kernel, SET)  \
    X(after_ns, error_after_ns, SET)

/* in rtl_observed_frame, a row for each frame of an observed process; of struct rtl_snapshot */
#define RTL_OBSERVED_FIELDS(X)     \
    X(read_index, convention, SET) \
    X(packets_lost, packets_lost, SET)

/* in rtl_observed_sample; of struct rtl_kernel_snapshot */
#define RTL_ESTIMATE_FIELDS(X) X(estimated_ns, estimated_ns, GROW)

/* in rtl_gpu, and in rtl_gpu_sample; of struct rtl_agent_snapshot. Some runtimes don't report tick_hz: it is measured
 * later and so belongs to the sample. */
#define RTL_GPU_FIELDS(X) \
    X(bdf, bdf, SET)      \
    X(compute_units, compute_units, SET)
#define RTL_BUSY_FIELDS(X)                                \
    X(busy_ns, busy_ns, GROW)                             \
    X(tick_hz, tick_hz, SET)                              \
    X(gaps_10us, idle[0].count, GROW)                     \
    X(gaps_10us_ns, idle[0].total_ns, GROW)               \
    X(gaps_100us, idle[1].count, GROW)                    \
    X(gaps_100us_ns, idle[1].total_ns, GROW)              \
    X(gaps_1ms, idle[2].count, GROW)                      \
    X(gaps_1ms_ns, idle[2].total_ns, GROW)                \
    X(gaps_10ms, idle[3].count, GROW)                     \
    X(gaps_10ms_ns, idle[3].total_ns, GROW)               \
    X(gaps_100ms, idle[4].count, GROW)                    \
    X(gaps_100ms_ns, idle[4].total_ns, GROW)              \
    X(gaps_longer, idle[5].count, GROW)                   \
    X(gaps_longer_ns, idle[5].total_ns, GROW)             \
    X(clock_residual_ns, clock_residual_ns, SET)          \
    X(clock_residual_max_ns, clock_residual_most_ns, SET) \
    X(clock_residuals, clock_residuals, SET)              \
    X(clock_drift_ppb, clock_drift_ppb, SET)              \
    X(clock_drift_over_ns, clock_drift_over_ns, SET)
static_assert(RTL_IDLE_COUNT == 6, "a column of gaps and one of their time for each class (tables.h)");

/* in rtl_gpu_cause, a row in each frame in which a field changed; of struct rtl_agent_snapshot */
#define RTL_CAUSE_FIELDS(X)                          \
    X(short_ns, cause_ns[RTL_CAUSE_SHORT], GROW)     \
    X(no_work_ns, cause_ns[RTL_CAUSE_NO_WORK], GROW) \
    X(copies_ns, cause_ns[RTL_CAUSE_COPIES], GROW)   \
    X(barrier_ns, cause_ns[RTL_CAUSE_BARRIER], GROW) \
    X(queued_ns, cause_ns[RTL_CAUSE_QUEUED], GROW)   \
    X(unknown_ns, cause_ns[RTL_CAUSE_UNKNOWN], GROW) \
    X(last_end_mono_ns, last_end_mono_ns, SET)
static_assert(RTL_CAUSE_COUNT == 6, "a column for each cause (tables.h)");

/* in rtl_gap, a row in the first frame with the gap, and one of length 0 when it is gone; of struct rtl_gap */
#define RTL_GAP_FIELDS(X)                \
    X(start_mono_ns, start_mono_ns, SET) \
    X(length_ns, length_ns, SET)         \
    X(no_work_ns, no_work_ns, SET)       \
    X(copies_ns, copies_ns, SET)         \
    X(kernel_before, kernel_before, SET) \
    X(kernel_after, kernel_after, SET)   \
    X(queue_before, queue_before, SET)   \
    X(queue_after, queue_after, SET)     \
    X(cause, cause, SET)

/* in rtl_copies_sample, before those of its histogram; of struct rtl_copies_snapshot */
#define RTL_COPIES_FIELDS(X) \
    X(gpu, gpu, SET)         \
    X(copies, count, GROW)   \
    X(bytes, bytes, GROW)    \
    X(timed_bytes, timed_bytes, GROW)

/* --- HIP calls and roctx ranges --- */

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

struct rtl_field {
    uint16_t offset;
    uint8_t size; /* 1, 2, 4 or 8 bytes */
    uint8_t kind;
};
struct rtl_field_list {
    const struct rtl_field *fields;
    int count;
};
extern const struct rtl_field_list rtl_recording_fields, rtl_frame_fields, rtl_observed_fields, rtl_kernel_fields,
    rtl_launch_fields, rtl_estimate_fields, rtl_histogram_fields, rtl_queue_fields, rtl_queue_path_fields,
    rtl_queue_error_fields, rtl_gpu_fields, rtl_busy_fields, rtl_cause_fields, rtl_gap_fields, rtl_copies_fields,
    rtl_calls_fields, rtl_pairs_fields, rtl_call_fields, rtl_memory_fields, rtl_node_fields;

/* Define rtl_NAME_fields from the list RTL_LIST_FIELDS of members of STRUCT; the columns in CREATE TABLE. */
#define RTL_FIELD_(column, member, how_) \
    {.offset = offsetof(STRUCT, member), .size = sizeof((STRUCT){0}.member), .kind = RTL_FIELD_##how_},
#define RTL_DEFINE_FIELDS(name, LIST)                                                \
    static const struct rtl_field name##_list[] = {RTL_##LIST##_FIELDS(RTL_FIELD_)}; \
    const struct rtl_field_list rtl_##name##_fields = {name##_list, sizeof name##_list / sizeof *name##_list};
#define RTL_COLUMN(column, member, kind) ", " #column " INTEGER NOT NULL"

/* ", column, column" and ", ?, ?" of a list, for statements */
#define RTL_COLUMN_NAME_(column, member, kind) ", " #column
#define RTL_COLUMN_MARK_(column, member, kind) ", ?"
#define RTL_FIELD_NAMES(LIST)                  RTL_##LIST##_FIELDS(RTL_COLUMN_NAME_)
#define RTL_FIELD_MARKS(LIST)                  RTL_##LIST##_FIELDS(RTL_COLUMN_MARK_)

/* The columns of a histogram in an INSERT and in a SELECT; recorded_histogram.h binds and reads them. */
#define RTL_HISTOGRAM_NAMES  RTL_FIELD_NAMES(HISTOGRAM) ", p50_ns, p90_ns, p99_ns, p999_ns, buckets, coarse"
#define RTL_HISTOGRAM_MARKS  RTL_FIELD_MARKS(HISTOGRAM) ", ?, ?, ?, ?, ?, ?"
#define RTL_HISTOGRAM_SELECT RTL_FIELD_NAMES(HISTOGRAM) ", buckets, coarse"
#define RTL_HISTOGRAM_COLUMNS        \
    RTL_HISTOGRAM_FIELDS(RTL_COLUMN) \
    ", p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, buckets TEXT, coarse TEXT"
enum { RTL_RECORDED_QUANTILES = 4 };

extern const struct rtl_db_set rtl_series_set; /* snapshots and time series */
extern const struct rtl_db_set rtl_gaps_set; /* causes of idle time and longest gaps; not in files of older recorders */
extern const struct rtl_db_set rtl_steps_set;    /* in files whose recorder's user has marked a step */
extern const struct rtl_db_set rtl_observed_set; /* estimates, in files of observed processes only */
/* Functions, ranges and marks have numbers of the recording, in the order of first sight. */
extern const struct rtl_db_set rtl_calls_set;

/* Bind the fields of `now` from parameter `at` on; GROW binds the difference to `before` (NULL: to 0). Returns the next
 * parameter. */
int rtl_fields_bind(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, const void *before,
                    const void *now);
/* Read columns from `at` on into `to`; GROW adds. Returns the next column. */
int rtl_fields_read(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, void *to);
/* Bind the last fields of a row and run the statement; false after an error. */
bool rtl_fields_insert(struct rtl_db_statement *st, int at, const struct rtl_field_list *list, const void *before,
                       const void *now);
bool rtl_fields_differ(const struct rtl_field_list *list, const void *a, const void *b);

#endif
