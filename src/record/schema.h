/*
 * What snapshots and time series look like in a file: each table's columns as one list, from which the table, the
 * INSERT, the SELECT and the way between a column and its member of a snapshot are made. The manual is rtl-top-db(5).
 *
 * A recording is a sequence of frames; a frame holds what changed since the one before it, the first one everything
 * since the process's start. A snapshot is a recording of one frame.
 */
#ifndef RTL_RECORD_SCHEMA_H
#define RTL_RECORD_SCHEMA_H

#include "record/db.h"
#include "shm/segment_reader.h"

/* How a member is kept: SET as it is, GROW as what was added since the frame before. */
enum rtl_field_kind { RTL_FIELD_SET, RTL_FIELD_GROW };

/* X(column, member, kind): what doesn't change of the process, in rtl_recording; of struct rtl_snapshot */
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

/*
 * in rtl_kernel_sample, rtl_queue_histogram and rtl_copies_sample; of struct rtl_histogram_copy. Quantiles and buckets
 * follow them.
 */
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

/* in rtl_observed_frame, a row for each frame of a process that is seen from outside; of struct rtl_snapshot */
#define RTL_OBSERVED_FIELDS(X)     \
    X(read_index, convention, SET) \
    X(packets_lost, packets_lost, SET)

/* in rtl_observed_sample; of struct rtl_kernel_snapshot */
#define RTL_ESTIMATE_FIELDS(X) X(estimated_ns, estimated_ns, GROW)

/* in rtl_gpu, and in rtl_gpu_sample; of struct rtl_agent_snapshot. Some runtimes don't tell tick_hz: measured later. */
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

/* in rtl_copies_sample, before those of its histogram; of struct rtl_copies_snapshot */
#define RTL_COPIES_FIELDS(X) \
    X(gpu, gpu, SET)         \
    X(copies, count, GROW)   \
    X(bytes, bytes, GROW)    \
    X(timed_bytes, timed_bytes, GROW)

struct rtl_field {
    const char *column;
    uint16_t offset;
    uint8_t size; /* 1, 2, 4 or 8 bytes */
    uint8_t kind;
};
#define RTL_FIELD_LISTS(X)                               \
    X(recording, RECORDING, struct rtl_snapshot)         \
    X(frame, FRAME, struct rtl_snapshot)                 \
    X(kernel, KERNEL, struct rtl_kernel_snapshot)        \
    X(launch, LAUNCH, struct rtl_kernel_snapshot)        \
    X(histogram, HISTOGRAM, struct rtl_histogram_copy)   \
    X(queue, QUEUE, struct rtl_queue_snapshot)           \
    X(queue_path, QUEUE_PATH, struct rtl_queue_snapshot) \
    X(observed, OBSERVED, struct rtl_snapshot)           \
    X(estimate, ESTIMATE, struct rtl_kernel_snapshot)    \
    X(gpu, GPU, struct rtl_agent_snapshot)               \
    X(busy, BUSY, struct rtl_agent_snapshot)             \
    X(copies, COPIES, struct rtl_copies_snapshot)
#define RTL_COUNT_FIELD(column, member, kind) +1
#define RTL_DECLARE_FIELDS(name, LIST, type)                                    \
    enum { RTL_##LIST##_FIELD_COUNT = 0 RTL_##LIST##_FIELDS(RTL_COUNT_FIELD) }; \
    extern const struct rtl_field rtl_##name##_fields[RTL_##LIST##_FIELD_COUNT];
RTL_FIELD_LISTS(RTL_DECLARE_FIELDS)

/* ", column, column" and ", ?, ?" of a list, for statements */
#define RTL_COLUMN_NAME_(column, member, kind) ", " #column
#define RTL_COLUMN_MARK_(column, member, kind) ", ?"
#define RTL_FIELD_NAMES(LIST)                  RTL_##LIST##_FIELDS(RTL_COLUMN_NAME_)
#define RTL_FIELD_MARKS(LIST)                  RTL_##LIST##_FIELDS(RTL_COLUMN_MARK_)

#define RTL_QUANTILE_COLUMNS ", p50_ns, p90_ns, p99_ns, p999_ns"
enum { RTL_RECORDED_QUANTILES = 4 };

extern const struct rtl_db_set rtl_series_set; /* snapshots and time series */
/* What belongs to them and is not in files of older recorders: of copies, and the ways of the queues' packets. */
extern const struct rtl_db_set rtl_copies_set, rtl_queue_paths_set, rtl_process_info_set;
/* Estimates, in files of processes that were seen from outside only. */
extern const struct rtl_db_set rtl_observed_set;

/* Binds the fields from parameter `at` on: of `now`, less `before` where they grow (NULL = nothing before). Returns the
 * next parameter. */
int rtl_fields_bind(struct rtl_db_statement *st, int at, const struct rtl_field *fields, int count, const void *before,
                    const void *now);
/* The other way: columns from `at` on into `to`, added where they grow. Returns the next column. */
int rtl_fields_take(struct rtl_db_statement *st, int at, const struct rtl_field *fields, int count, void *to);
bool rtl_fields_differ(const struct rtl_field *fields, int count, const void *a, const void *b);

#endif
