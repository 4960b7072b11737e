/* The model's data: snapshots, the user's choices, and the rows and sums that are derived from them. See model.h. */
#ifndef RTL_MODEL_MODEL_DATA_H
#define RTL_MODEL_MODEL_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/hip_api_rows.h"
#include "model/change.h"
#include "model/columns.h"
#include "model/verdict.h"
#include "shm/control.h"
#include "shm/segment_reader.h"
#include "stats/quantile.h"
#include "text/names.h"

enum {
    RTL_MODEL_RING = 20,     /* snapshots: 14 for the window, the others for the previous one */
    RTL_MODEL_HISTORY = 128, /* intervals in histories: p99 and p50 of each kernel, busy of each GPU */
    RTL_MODEL_TREND = 60,    /* intervals that a trend covers; more if it is wider than that */
    RTL_FILTER_MAX = 96,
    RTL_MODEL_QUEUES = 4096,                            /* rows of queues, of all processes */
    RTL_MODEL_IDS = RTL_KERNELS_MAX + RTL_FAMILY_COUNT, /* ids of rows: kernels, then families (model_families.h) */
};
/* How long the order stays frozen after the cursor moved; three intervals at least. */
#define RTL_MODEL_FREEZE_NS (3 * 1000000000ull)
#define RTL_WINDOW_INTERVAL 0ull       /* the window is the last interval */
#define RTL_WINDOW_ALL      UINT64_MAX /* the window is everything since start or zero */
#define RTL_HISTORY_NONE    0xffffu
#define RTL_BUSY_NONE       0xffu

/* X(symbol, state in JSON) */
#define RTL_TARGET_STATES(X)       X(LIVE, "live") X(STALE, "stale") X(EXITED, "exited")
#define RTL_ENUM_TARGET(sym, json) RTL_TARGET_##sym,
enum rtl_target_state { RTL_TARGET_STATES(RTL_ENUM_TARGET) RTL_TARGET_COUNT };
#undef RTL_ENUM_TARGET

struct rtl_range_choice;

/* A snapshot and its time of day. Its roles share it: latest, previous, zero, ring. */
struct rtl_sample {
    struct rtl_snapshot snapshot;
    uint64_t real_ns;
    unsigned references;
};

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
    double rate;               /* calls a second */
    const uint16_t *history;   /* two rings of RTL_MODEL_HISTORY buckets: p99, then p50; or NULL */
};

struct rtl_gpu_row {
    const struct rtl_agent_snapshot *agent;
    double busy;     /* share of the window, 0..1; below 0: not measured */
    uint64_t depth;  /* packets in flight in its queues */
    uint32_t queues; /* live queues */
    double rate;     /* dispatches a second */
    /* gaps between kernels in the window; below 0: not measured */
    double idle[RTL_IDLE_COUNT]; /* share of the window by size class */
    double idle_rate;            /* gaps a second, all classes */
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

struct rtl_model {
    struct rtl_names *names;
    struct rtl_sample *latest, *previous, *zero;
    struct rtl_sample *ring[RTL_MODEL_RING]; /* oldest first */
    int ring_count;
    uint64_t samples; /* snapshots seen */

    /* the user's choices */
    uint64_t window_ns;
    enum rtl_column sort;
    bool reverse, hide_idle;
    bool families;          /* kernels are below the rows of their families */
    uint32_t families_open; /* bits: families whose kernels are shown */
    char filter[RTL_FILTER_MAX];
    struct rtl_range_choice *range; /* rows show only this range's kernels (model_range.h); NULL: all */

    /* derived by rtl_model_refresh */
    const struct rtl_sample *base;   /* start of the window; NULL: the process's start */
    const struct rtl_sample *before; /* start of the previous window; NULL: it is too short */
    uint64_t span_ns;                /* the window's actual length; 0: unknown */
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
    /* by the GPU's number: percent busy in each interval, or RTL_BUSY_NONE; true if nothing was in flight */
    uint8_t busy_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY];
    bool empty_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY];

    enum rtl_target_state state;
    uint64_t stuck_since_ns; /* packets are in flight since then without a pass of the worker; 0: none */
    uint64_t stale_ns;       /* the duration of the state STALE, else 0 (stale.h) */
    bool damaged;            /* the segment became unreadable */

    /* from the control page; heartbeat.h */
    uint64_t watcher;      /* pid that the viewer of the last heartbeat wrote, untrusted; 0: none */
    uint32_t wanted;       /* requested mode that is not in force yet, or RTL_MODE_NONE */
    char no_heartbeat[64]; /* why this viewer can't send heartbeats for mode auto; "": it can */
};

/* How much a counter has grown; 0 if it went back (it starts again, or another process wrote it). */
static inline uint64_t rtl_grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Number of intervals in the histories. */
static inline uint32_t rtl_model_history_length(const struct rtl_model *model)
{
    uint64_t intervals = model->samples ? model->samples - 1 : 0;
    return intervals < RTL_MODEL_HISTORY ? (uint32_t)intervals : RTL_MODEL_HISTORY;
}

#endif
