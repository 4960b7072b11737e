/*
 * What the viewer knows about one process, as data: its rows and sums, and the snapshots that they are made of. model.h
 * has what can be done with it.
 */
#ifndef RTL_MODEL_MODEL_DATA_H
#define RTL_MODEL_MODEL_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/call_rows.h"
#include "model/change.h"
#include "model/columns.h"
#include "model/verdict.h"
#include "shm/control.h"
#include "shm/segment_reader.h"
#include "stats/quantile.h"
#include "text/names.h"

enum {
    RTL_MODEL_RING = 20,     /* snapshots kept: 14 for the window, the others for the one before it */
    RTL_MODEL_HISTORY = 128, /* intervals of p99 kept a kernel, and of busy a GPU */
    RTL_MODEL_TREND = 60,    /* intervals that trends are about; more where there are columns for each of them */
    RTL_FILTER_MAX = 96,
    RTL_MODEL_QUEUES = 4096,                            /* rows of queues: of several processes */
    RTL_MODEL_IDS = RTL_KERNELS_MAX + RTL_FAMILY_COUNT, /* of rows: kernels, then families; model_families.h */
};
/* How long the order is held after the cursor moved; three intervals at least. */
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

/* A snapshot and when it was taken; shared by the roles it has (latest, previous, zero, ring). */
struct rtl_sample {
    struct rtl_snapshot snapshot;
    uint64_t real_ns;
    unsigned references;
};

struct rtl_row {
    uint32_t id;
    uint32_t kernels;                         /* of a family's row: how many it sums up; 0 = a kernel */
    const struct rtl_kernel_snapshot *kernel; /* in the latest snapshot */
    const struct rtl_kernel_snapshot *base;   /* the same row where the window starts, or NULL */
    const struct rtl_kernel_snapshot *before; /* ... where the window before it starts, or NULL */
    const struct rtl_kernel_snapshot *zero;   /* ... where zero was pressed, or NULL */
    /* totals */
    uint64_t calls, timed, untimed, total_ns;
    /* window; min, max and the quantiles mean nothing while window.count is 0 */
    struct rtl_window window;
    uint64_t window_calls;
    uint64_t estimated_ns, window_estimated_ns; /* of all its calls, seen from outside; 0 = not known */
    uint64_t p50, p90, p99;
    /* from the begin of the calls that launched it to its start; they mean nothing while launches is 0 */
    uint64_t launches, launch_p50, launch_p99;
    struct rtl_changes change; /* against the window before */
    double share;              /* of all timed kernel time in the window */
    double rate;               /* calls a second */
    const uint16_t *history;   /* rings of RTL_MODEL_HISTORY buckets, of p99 and of p50; NULL if there never was any */
};

struct rtl_gpu_row {
    const struct rtl_agent_snapshot *agent;
    double busy;     /* share of the window, 0..1; below 0 when not measured */
    uint64_t depth;  /* of its queues */
    uint32_t queues; /* live ones */
    double rate;     /* dispatches a second */
    /* times between kernels that were counted in the window; below 0 when not measured */
    double idle[RTL_IDLE_COUNT]; /* share of the window, by size class */
    double idle_rate;            /* how many a second, of all classes */
    /* what the verdict is made of, and it */
    struct rtl_gpu_facts facts;
    enum rtl_verdict verdict;
    uint64_t wait_p50, wait_p99; /* of all its queues; they mean nothing while facts.waits is 0 */
};

struct rtl_queue_row {
    const struct rtl_queue_snapshot *queue;
    double rate;
    bool has_wait, has_gap; /* measured in the window */
    uint64_t wait_p50, wait_p99, gap_p50, gap_p99;
};

struct rtl_copies_row {
    const struct rtl_copies_snapshot *copies;
    uint64_t untimed; /* for whatever reason */
    /* window; min, max and the quantiles mean nothing while window.count is 0 */
    struct rtl_window window;
    uint64_t window_count, window_bytes, window_timed_bytes;
    uint64_t p50, p99;
    double rate;      /* copies a second */
    double bandwidth; /* bytes a second over the whole window */
    double share;     /* of the window that the timed ones took; above 1 when several run at once */
};

struct rtl_model {
    struct rtl_names *names;
    struct rtl_sample *latest, *previous, *zero;
    struct rtl_sample *ring[RTL_MODEL_RING]; /* oldest first */
    int ring_count;
    uint64_t samples; /* snapshots seen */

    /* what the user chose */
    uint64_t window_ns;
    enum rtl_column sort;
    bool reverse, hide_idle;
    bool families;          /* kernels stand below rows of their families */
    uint32_t families_open; /* bits: those whose kernels are shown */
    char filter[RTL_FILTER_MAX];
    struct rtl_range_choice *range; /* rows are of this range's kernels (model_range.h); NULL: of all */

    /* derived by rtl_model_refresh */
    const struct rtl_sample *base;   /* where the window starts; NULL = the process's start */
    const struct rtl_sample *before; /* where the window before it starts; NULL = there is none as long */
    uint64_t span_ns;                /* what the window really covers; 0 before anything can be said */
    struct rtl_row *rows;            /* every kernel, ascending id; behind them the families */
    uint32_t row_count, row_size;
    bool estimated;  /* some shares of time are estimates: all of them are written with a ~ */
    bool no_shares;  /* what is timed is too little to say anything of shares */
    uint32_t *order; /* indices of the rows to show, in order */
    uint32_t shown;
    uint32_t kernels_shown; /* that no filter hides, also those of closed families */
    struct rtl_kernel_snapshot family_kernels[RTL_FAMILY_COUNT]; /* what the families' rows stand for */
    char family_labels[RTL_FAMILY_COUNT][48];
    struct rtl_gpu_row gpus[RTL_AGENTS_MAX];
    uint32_t gpu_count;
    struct rtl_queue_row queues[RTL_MODEL_QUEUES];
    uint32_t queue_count;
    struct rtl_copies_row copies[RTL_COPIES_MAX]; /* by GPU, then direction */
    uint32_t copies_count;
    struct rtl_call_rows calls;
    uint64_t counted, timed, untimed; /* totals since start or zero */
    uint64_t untimed_by[RTL_UNTIMED_LIMIT];
    uint64_t lost; /* dispatches that should have been timed and were not */
    /* the same in the window */
    uint64_t window_counted, window_untimed, window_lost;
    uint64_t window_untimed_by[RTL_UNTIMED_LIMIT];
    double rate;                 /* dispatches a second in the window */
    double busy;                 /* mean over the GPUs; below 0 when not measured */
    const struct rtl_row *worst; /* highest p99 in the window, or NULL */

    /* the order that is held while the cursor has just moved */
    uint64_t frozen_until_ns;
    uint32_t *rank; /* by kernel id: position in the last order + 1, 0 = not shown */

    uint32_t prepared; /* kernels below this id have their names (rtl_model_prepare) */

    uint16_t *history[RTL_KERNELS_MAX];
    uint64_t history_ns[RTL_MODEL_HISTORY]; /* length of each interval */
    /* by number of the GPU: percent busy in each interval, or RTL_BUSY_NONE, and whether nothing was in flight then */
    uint8_t busy_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY];
    bool empty_history[RTL_AGENTS_MAX][RTL_MODEL_HISTORY];

    enum rtl_target_state state;
    uint64_t stuck_since_ns; /* since when something is in flight without a pass of the worker; 0 = not */
    uint64_t stale_ns;       /* how long, once the state is STALE */
    bool damaged;            /* the segment could no longer be read */

    /* of the control page; heartbeat.h */
    uint64_t watcher;      /* the viewer that sent the last heartbeat: a pid that it wrote itself; 0 = none */
    uint32_t wanted;       /* mode that was asked for and is not in force so far, or RTL_MODE_NONE */
    char no_heartbeat[64]; /* why auto can't be made to time from here; "" = it can */
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
