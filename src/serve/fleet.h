/*
 * All traced and observed processes of the machine and their counters. Scans for new processes take 1 % of the time, at
 * most one per second. When a traced process has ended, its last state is read from its segment, which outlives it.
 *
 * Every call is short, whatever the processes do. rtl_fleet_collect stops after RTL_COLLECT_NS, reads the cheapest
 * processes first, and respects the limits of users.h and totals.h; a process that is not read keeps its old numbers
 * and is marked late. rtl_fleet_tick continues an unfinished scan and unread ends in the next call. One thread.
 */
#ifndef RTL_SERVE_FLEET_H
#define RTL_SERVE_FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/merge.h"
#include "model/step_choice.h"
#include "serve/totals.h"
#include "shm/control_client.h"
#include "options/options.h"
#include "watch/proc_scan.h"
#include "watch/attach.h"

enum {
    RTL_SERVED_MAX = 256, /* processes at once */
    RTL_COLLECT_NS = 300000000,
    RTL_TICK_NS = 50000000,
};
static const uint64_t RTL_ENDED_KEPT_NS = 30000000000ull; /* how long an ended process may wait for its last read */

/* The steps of a process: the runs of the kernel that marks them (model/model_data.h). Zeroed: no snapshot was added.
 * rtl_step_log_forget frees the log. */
struct rtl_served_steps {
    struct rtl_step_log log;
    uint64_t kernel;  /* key of the marker; with a pattern, of the last kernel that matches; 0: none */
    uint64_t runs;    /* since the process's start */
    uint64_t at_ns;   /* time of the snapshot with these runs */
    uint64_t mean_ns; /* of the steps between the last two such snapshots; 0: unknown */
};
/* Add a snapshot. `pattern`: a part of the marker's mangled name; NULL: choose it automatically. */
void rtl_served_steps_add(struct rtl_served_steps *steps, const struct rtl_snapshot *snapshot, const char *pattern);

struct rtl_served {
    pid_t pid;
    uint64_t start_time; /* as /proc has it */
    struct rtl_member_info info;
    uint64_t info_ns; /* next read of `info`: workers rename themselves */
    struct rtl_user *user;
    uint32_t names;            /* kernels that it has added */
    uint64_t cost_ns, read_ns; /* duration and time of the last read */
    uint64_t ended_ns;         /* when its end was noticed; 0: alive */
    struct rtl_credit credit;
    uint64_t credited_ns;      /* end of the time in `credit` */
    uint64_t bytes, api_bytes; /* memory for its counters */
    bool too_large;            /* beyond its user's quota: not read any more */
    bool late;                 /* its numbers are of an earlier page */
    /* it lost its place before: the sums may have its counts until now, so only later growth is added */
    bool returned, calls_returned;
    /* kernels; empty if the process only records its calls */
    struct rtl_attach attach;
    struct rtl_control_link control;
    struct rtl_snapshot snapshot; /* the latest, if there is one */
    bool has_snapshot;
    bool damaged; /* its segment is not read any more: its counters would be added twice */
    struct rtl_served_steps steps;
    uint32_t *series; /* of its kernels, see rtl_totals_add */
    /* HIP calls; -1 and empty without */
    int api;
    uint64_t api_inode;
    struct rtl_snapshot calls; /* has only the rows of its HIP API */
};

struct rtl_fleet {
    const struct rtl_options *only; /* the processes, with their descendants (none: all), and the marker of steps */
    bool wake;                      /* keep processes in mode auto timing */
    bool observe;                   /* include processes that aren't traced */
    struct rtl_options outside;     /* options for observing */
    uint64_t scan_ns;               /* next scan */
    struct rtl_proc_entry *all;     /* of the current scan; NULL between scans */
    int all_count, all_at;
    uint64_t scan_took_ns;
    uint64_t ended, unread;                /* ended processes; those without their last numbers */
    uint64_t refused, untrue;              /* kernels and numbers, see struct rtl_share */
    uint32_t left_out, leaving_out, count; /* left out: in the last scan, in this one so far */
    struct rtl_users users;
    struct rtl_served *served[RTL_SERVED_MAX];
    struct rtl_proc_entry *evicted; /* living processes that lost their places to those of other users */
    uint32_t evicted_count, evicted_room;
    struct rtl_totals totals;
};

/* `most`: number of kernels and of ranges with their own series. NULL without memory. The caller keeps the options. */
struct rtl_fleet *rtl_fleet_create(uint32_t most, const struct rtl_options *only, bool wake, bool observe);
void rtl_fleet_free(struct rtl_fleet *fleet);

/* Call this once a second: reads ended processes for the last time, adds new ones. True: call it again soon. */
bool rtl_fleet_tick(struct rtl_fleet *fleet);

/* Read all processes, as far as time allows. */
void rtl_fleet_collect(struct rtl_fleet *fleet);

#endif
