/* The model's data: snapshots, the user's choices, and the rows and sums that are derived from them. See model.h. */
#ifndef RTL_MODEL_MODEL_DATA_H
#define RTL_MODEL_MODEL_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/change.h"
#include "model/columns.h"
#include "model/merge_parts.h"
#include "model/step_choice.h"
#include "model/verdict.h"
#include "shm/control.h"
#include "shm/hip_api_snapshot.h"
#include "shm/segment_reader.h"
#include "stats/quantile.h"
#include "text/names.h"
#include "text/units.h"

enum {
    RTL_MODEL_RING = 20,     /* snapshots: 14 for the window, the others for the previous one */
    RTL_MODEL_HISTORY = 128, /* intervals in histories: p99 and p50 of each kernel, busy of each GPU */
    RTL_MODEL_TREND = 60,    /* intervals that a trend covers; more if it is wider than that */
    RTL_FILTER_MAX = 96,
    RTL_MODEL_QUEUES = 4096,                            /* rows of queues, of all processes */
    RTL_MODEL_IDS = RTL_KERNELS_MAX + RTL_FAMILY_COUNT, /* ids of rows: kernels, then families (model_rows.h) */
};
/* How long the order stays frozen after the cursor moved; three intervals at least. */
#define RTL_MODEL_FREEZE_NS (3 * 1000000000ull)
#define RTL_WINDOW_INTERVAL 0ull       /* the window is the last interval */
#define RTL_WINDOW_ALL      UINT64_MAX /* the window is everything since start or zero */
#define RTL_HISTORY_NONE    0xffffu
#define RTL_BUSY_NONE       0xffu

enum rtl_target_state { RTL_TARGET_LIVE, RTL_TARGET_STALE, RTL_TARGET_EXITED, RTL_TARGET_COUNT };

struct rtl_range_choice;

/* A snapshot and its time of day. Its roles share it: latest, previous, zero, ring. */
struct rtl_sample {
    struct rtl_snapshot snapshot;
    uint64_t real_ns;
    unsigned references;
};
static inline const struct rtl_snapshot *rtl_snapshot_of(const struct rtl_sample *sample)
{
    return sample ? &sample->snapshot : NULL;
}

struct rtl_row {
    uint32_t id;
    uint32_t kernels;                         /* kernels in a family's row; 0: the row is a kernel */
    const struct rtl_kernel_snapshot *kernel; /* in the latest snapshot */
    const struct rtl_kernel_snapshot *base;   /* at the start of the window, or NULL */
    const struct rtl_kernel_snapshot *before; /* at the start of the previous window, or NULL */
    const struct rtl_kernel_snapshot *zero;   /* at the user's zero, or NULL */
    /* totals */
    uint64_t calls, timed, untimed, total_ns;
    /* window; min, max and the quantiles are undefined while window.count is 0 */
    struct rtl_window window;
    uint64_t window_calls;
    uint64_t estimated_ns, window_estimated_ns; /* estimate for all calls of an observed process; 0: unknown */
    uint64_t p50, p90, p99;
    /* from the begin of the launching calls to the kernel's start; undefined while launches is 0 */
    uint64_t launches, launch_p50, launch_p99;
    struct rtl_changes change; /* since the previous window */
    double share;              /* of all timed kernel time in the window */
    double rate;               /* calls a second; below 0: unknown, as in all rows */
    const uint16_t *history;   /* two rings of RTL_MODEL_HISTORY buckets: p99, then p50; or NULL */
};

struct rtl_gpu_row {
    const struct rtl_agent_snapshot *agent;
    double busy;              /* share of the window, 0..1; below 0: not measured */
    enum rtl_unknown unknown; /* why busy and idle are unknown */
    uint64_t depth;           /* packets in flight in its queues */
    bool depth_known;
    uint32_t queues; /* live queues */
    double rate;     /* dispatches a second */
    /* gaps between kernels in the window; below 0: not measured */
    double idle[RTL_IDLE_COUNT]; /* share of the window by size class */
    double idle_rate;            /* gaps a second, all classes */
    /* idle time by cause, shares of the window and of the last minute; below 0: not known */
    double cause[RTL_CAUSE_COUNT], minute_cause[RTL_CAUSE_COUNT];
    double minute_busy; /* below 0: not measured */
    uint64_t minute_ns; /* the time that the minute's shares cover: a minute or less */
    struct rtl_gpu_facts facts;
    enum rtl_verdict verdict;
    uint64_t wait_p50, wait_p99; /* of all its queues; undefined while facts.waits is 0 */
};

struct rtl_queue_row {
    const struct rtl_queue_snapshot *queue;
    double rate;
    bool has_wait, has_gap; /* measured in the window */
    uint64_t wait_p50, wait_p99, gap_p50, gap_p99;
};

struct rtl_copies_row {
    const struct rtl_copies_snapshot *copies;
    uint64_t untimed; /* all reasons */
    /* window; min, max and the quantiles are undefined while window.count is 0 */
    struct rtl_window window;
    uint64_t window_count, window_bytes, window_timed_bytes;
    uint64_t p50, p99;
    double rate;      /* copies a second */
    double bandwidth; /* bytes a second over the whole window */
    double share;     /* time of timed copies per time of the window; above 1 if several run at once */
};

/* --- HIP calls and roctx ranges (model_hip_api.c) --- */

/* Ranking of rows. X(symbol, header, meaning) */
#define RTL_HIP_API_ORDERS(X)                  \
    X(SHARE, "%TIME", "share of the window")   \
    X(TOTAL, "TOTAL", "time since the start")  \
    X(CALLS, "CALLS", "calls since the start") \
    X(P99, "P99", "p99 in the window")         \
    X(NAME, "NAME", "name")
#define RTL_ENUM_HIP_API_ORDER(sym, header, meaning) RTL_HIP_API_BY_##sym,
enum rtl_hip_api_order { RTL_HIP_API_ORDERS(RTL_ENUM_HIP_API_ORDER) RTL_HIP_API_BY_COUNT };
#undef RTL_ENUM_HIP_API_ORDER
const char *rtl_hip_api_order_text(enum rtl_hip_api_order order);

struct rtl_hip_api_model_row {
    const struct rtl_hip_api_row_snapshot *call; /* in the latest snapshot */
    uint64_t calls, total_ns, errors, bytes;     /* since start or zero */
    /* of the window; quantiles are invalid while window.count is 0 */
    struct rtl_window window;
    uint64_t window_errors, window_bytes;
    uint64_t p50, p99;
    double rate, bandwidth; /* calls and bytes a second */
    double share;           /* share of the window that threads spent in it; above 1 for several threads at once */
    /* of a row of the tree: a range at one place of the nesting; its quantiles are those of all ranges of its name */
    const struct rtl_hip_api_node_snapshot *node; /* NULL: never pushed */
    uint32_t depth;                               /* number of ranges around it */
    uint64_t open;
    uint64_t gpu_ns;  /* since start or zero: kernels submitted in it and in the ranges below it */
    double gpu_share; /* of the window; above 1 if several kernels run at once */
};

struct rtl_hip_api_rows {
    struct rtl_hip_api_model_row *rows; /* functions first, then ranges and marks; each part ranked */
    uint32_t functions, ranges, room;
    enum rtl_hip_api_order order;
    bool reverse;
    bool any;      /* the process records HIP calls */
    bool launches; /* kernels have launch latencies */
    /* ranges by their nesting, outer ones first, ranked among siblings; then ranges never pushed. Empty without nodes.
     */
    struct rtl_hip_api_model_row *tree;
    uint32_t tree_count, tree_room;
};

struct rtl_model;
/* Update model->hip_api and the launch latencies of kernels. False without memory. */
bool rtl_model_make_hip_api(struct rtl_model *model);

/*
 * The cost of a step (a token, an iteration): the window divided by the runs of a marker, which is a kernel or a roctx
 * range. The user names the marker (rtl_model_mark_step), or step_choice.h chooses it.
 *
 * The time of a step is wall time: the window's length by the marker's runs. Times of kernels are sums over the GPUs
 * that a process uses. Each of several processes counts its own steps; all numbers are means over the processes that
 * ran the marker, and other processes are left out. The runs of a range are known for one process only.
 *
 * The window is compared with the previous one. A difference is significant if it exceeds twice the scatter and the
 * steps that the ends of the windows cut. The scatter of the window's steps counts for both windows; it follows from
 * the quantiles of the kernels' durations and from how much their runs per step vary. Both windows need 30 steps.
 */

/* A part of a step: a family, a kernel, idle time, or a process's whole step. */
struct rtl_step_part {
    bool known;   /* its time was measured or estimated, at least partly */
    double ns;    /* per step */
    double runs;  /* dispatches per step */
    double share; /* of the step's time on its GPUs */
    struct rtl_change change;
    double before_ns; /* per step in the previous window */
    double variance;  /* of its time in a step */
};

enum rtl_step_kind { RTL_STEP_FAMILY, RTL_STEP_KERNEL, RTL_STEP_IDLE, RTL_STEP_RANK };
struct rtl_step_line {
    enum rtl_step_kind kind;
    enum rtl_name_family family;
    const struct rtl_row *row;       /* of a kernel */
    const struct rtl_member *member; /* of a rank: its part is its whole step, its share busy time */
    uint64_t steps;                  /* of a rank */
    double sum;                      /* lines are sorted by it: the time of the family */
    struct rtl_step_part part;
};

struct rtl_steps {
    bool known;          /* the marker ran in the window; false: the rest is undefined, except `marked` and `marker` */
    bool marked;         /* by the user */
    const char *trouble; /* why a marker of the user counts no steps; or NULL */
    char marker[128];    /* safe text; "": none */
    uint64_t marker_key; /* 0: not known */
    uint64_t runs, total, before_runs;     /* of the marker: in the window, since the start, in the previous window */
    uint64_t member_runs[RTL_MEMBERS_MAX]; /* in the window, by index in the latest snapshot's members */
    uint32_t ranks;                        /* processes that ran it in the window */
    bool others;                           /* other processes had dispatches */
    double gpus;                           /* that a process used in the window */
    double untimed;                        /* share of the dispatches */
    struct rtl_step_part whole, idle, families[RTL_FAMILY_COUNT]; /* whole: wall time, all dispatches */
    uint32_t lines; /* in model->step_lines: families by descending time, each followed by its kernels, with idle time
                     * among them, then the ranks of several processes, the slowest first */
};

/* Derive model->steps, which is empty, from the rows. */
void rtl_steps_make(struct rtl_model *model);
/* Write "41.2ms a step: gemm 17.1, attention 15.0, idle 6.1 (24.3/s, automatic: argmax)" with as many parts as fit;
 * "" without steps. */
void rtl_steps_text(const struct rtl_model *model, enum rtl_unit unit, int columns, bool ascii, char *out, size_t size);

/* --- the model --- */

struct rtl_model {
    struct rtl_names *names;
    struct rtl_sample *latest, *previous, *zero;
    struct rtl_sample *zero_before;          /* zero until the user set the present one, or NULL */
    struct rtl_sample *ring[RTL_MODEL_RING]; /* oldest first */
    int ring_count;
    /* The first snapshot in the present mode and activity; NULL: no change was seen. No window starts earlier. */
    struct rtl_sample *switched;
    uint64_t samples; /* snapshots seen */

    /* the user's choices */
    uint64_t window_ns;
    enum rtl_column sort;
    bool reverse, hide_idle;
    bool families;          /* kernels are below the rows of their families */
    uint32_t families_open; /* bits: families whose kernels are shown */
    char filter[RTL_FILTER_MAX];
    char *step;                     /* name of the kernel or range that marks a step; NULL: automatic */
    struct rtl_range_choice *range; /* rows show only this range's kernels (model_range.h); NULL: all */

    /* derived by rtl_model_refresh */
    const struct rtl_sample *base;   /* start of the window; NULL: the process's start */
    const struct rtl_sample *before; /* start of the previous window; NULL: it is too short */
    uint64_t span_ns;                /* the window's actual length; 0: unknown */
    uint64_t counted_ns;             /* span_ns while dispatches are counted; 0 in mode off: rates are unknown */
    struct rtl_row *rows;            /* all kernels by ascending id, then the families */
    uint32_t row_count, row_size;
    bool estimated;  /* some shares of time are estimates: all are shown with "~" */
    bool no_shares;  /* too few dispatches are timed for shares of time */
    uint32_t *order; /* indices of the shown rows */
    uint32_t shown;
    uint32_t kernels_shown; /* kernels that pass the filter, also in closed families */
    struct rtl_kernel_snapshot family_kernels[RTL_FAMILY_COUNT]; /* rtl_row.kernel of the families' rows */
    char family_labels[RTL_FAMILY_COUNT][48];
    struct rtl_gpu_row gpus[RTL_AGENTS_MAX];
    uint32_t gpu_count;
    struct rtl_queue_row queues[RTL_MODEL_QUEUES];
    uint32_t queue_count;
    struct rtl_copies_row copies[RTL_COPIES_MAX]; /* by GPU, then direction */
    uint32_t copies_count;
    struct rtl_hip_api_rows hip_api;
    struct rtl_steps steps;
    struct rtl_step_line *step_lines; /* has room for all rows, idle time and the members */
    uint64_t counted, timed, untimed; /* totals since start or zero */
    uint64_t untimed_by[RTL_UNTIMED_LIMIT];
    uint64_t lost; /* untimed dispatches that should have been timed */
    /* in the window */
    uint64_t window_counted, window_untimed, window_lost;
    uint64_t window_untimed_by[RTL_UNTIMED_LIMIT];
    double rate;                 /* dispatches a second in the window */
    double busy;                 /* mean over the GPUs; below 0: not measured */
    const struct rtl_row *worst; /* highest p99 in the window, or NULL */

    uint64_t frozen_until_ns; /* the order is frozen, because the cursor moved */
    uint32_t *rank;           /* by row id: position in the last order + 1; 0: not shown */

    uint32_t prepared; /* kernels below this id have names (rtl_model_prepare) */

    uint16_t *history[RTL_KERNELS_MAX];
    uint64_t history_ns[RTL_MODEL_HISTORY]; /* length of each interval */
    /* by the GPU's number: percent busy in each interval, or RTL_BUSY_NONE; its idle time by cause, in ns */
    uint8_t busy_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY];
    float cause_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY][RTL_CAUSE_COUNT];
    struct rtl_held_verdict held[RTL_AGENTS_MAX];

    struct rtl_step_log step_log;

    enum rtl_target_state state;
    uint64_t stuck_since_ns; /* packets are in flight since then without a pass of the worker; 0: none */
    uint64_t stale_ns;       /* the duration of the state STALE, else 0 (rtl_stale_ns) */
    bool damaged;            /* the segment became unreadable */

    /* from the control page (shm/control_client.h) */
    uint64_t watcher;      /* pid that the viewer of the last heartbeat wrote, untrusted; 0: none */
    uint32_t wanted;       /* requested mode that is not in force yet, or RTL_MODE_NONE */
    char no_heartbeat[64]; /* why this viewer can't send heartbeats for mode auto; "": it can */
};

/* How much a counter has grown; 0 if it went back (it starts again, or another process wrote it). */
static inline uint64_t rtl_grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* True if the numbers of the window are known: there are two snapshots in a mode that counts. */
static inline bool rtl_model_has_window(const struct rtl_model *model)
{
    return model->previous && model->counted_ns;
}

/* Number of intervals in the histories. */
static inline uint32_t rtl_model_history_length(const struct rtl_model *model)
{
    uint64_t intervals = model->samples ? model->samples - 1 : 0;
    return intervals < RTL_MODEL_HISTORY ? (uint32_t)intervals : RTL_MODEL_HISTORY;
}

/*
 * The time of a kernel: measured per dispatch, or estimated for all calls of a process that is observed from outside
 * (src/observe). An estimate is shown with "~".
 */

/* In the window; 0 if unknown. */
static inline uint64_t rtl_row_window_ns(const struct rtl_row *row)
{
    return row->window_estimated_ns ? row->window_estimated_ns : row->window.count ? row->window.total_ns : 0;
}

/* Since the start or zero. */
static inline uint64_t rtl_row_total_ns(const struct rtl_row *row)
{
    return row->estimated_ns ? row->estimated_ns : row->timed ? row->total_ns : 0;
}

static inline uint64_t rtl_row_mean_ns(const struct rtl_row *row)
{
    if (row->window_estimated_ns && row->window_calls)
        return row->window_estimated_ns / row->window_calls;
    return row->window.count ? row->window.total_ns / row->window.count : 0;
}

/* True if some of the window's dispatches were not measured. */
static inline bool rtl_row_window_estimated(const struct rtl_row *row)
{
    return row->window_estimated_ns && row->window.count < row->window_calls;
}

static inline bool rtl_row_total_estimated(const struct rtl_row *row)
{
    return row->estimated_ns && row->timed < row->calls;
}

/* The time that a column shows, in ns; 0 if there is none. A family has no common quantile but the highest p99. */
static inline uint64_t rtl_row_time_ns(const struct rtl_row *row, int column)
{
    bool timed = row->window.count > 0;
    switch (column) {
    case RTL_COLUMN_TOTAL:
        return rtl_row_total_ns(row);
    case RTL_COLUMN_MEAN:
        return rtl_row_mean_ns(row);
    case RTL_COLUMN_MIN:
        return timed ? row->window.min_ns : 0;
    case RTL_COLUMN_P50:
        return timed && !row->kernels ? row->p50 : 0;
    case RTL_COLUMN_P90:
        return timed && !row->kernels ? row->p90 : 0;
    case RTL_COLUMN_P99:
        return timed ? row->p99 : 0;
    case RTL_COLUMN_MAX:
        return timed ? row->window.max_ns : 0;
    case RTL_COLUMN_LAUNCH:
        return row->launches ? row->launch_p50 : 0;
    default:
        return 0;
    }
}

/* Return the family of a kernel's or a family's row (model_rows.h). */
static inline enum rtl_name_family rtl_family_of(const struct rtl_model *model, const struct rtl_row *row)
{
    if (row->id >= RTL_KERNELS_MAX)
        return (enum rtl_name_family)(row->id - RTL_KERNELS_MAX);
    return rtl_names_family(model->names, row->id, row->kernel->name, row->kernel->name_length);
}

#endif
