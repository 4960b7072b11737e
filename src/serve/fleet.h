/*
 * The traced processes of the machine as they come and go, and those that are observed, and what each has counted so
 * far. Looking for new ones takes one part in a hundred of the time, at most once a second; a traced process's last
 * state is read when it has ended, from the memory that outlives it.
 *
 * No call takes long, whatever processes do: reading for a page stops after RTL_COLLECT_NS, begins with those that were
 * read in the shortest time, and takes of each user's what users.h grants; who isn't read keeps the numbers of before
 * and is late. Looking around and reading who has ended goes on in the next tick. One thread.
 */
#ifndef RTL_SERVE_FLEET_H
#define RTL_SERVE_FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/merge.h"
#include "serve/totals.h"
#include "serve/users.h"
#include "watch/heartbeat.h"
#include "options/options.h"
#include "watch/proc_scan.h"
#include "watch/attach.h"

enum {
    RTL_SERVED_MAX = 256, /* processes at once */
    RTL_COLLECT_NS = 300000000,
    RTL_TICK_NS = 50000000,
};
static const uint64_t RTL_ENDED_KEPT_NS = 30000000000ull; /* until somebody who has ended is read */

struct rtl_served {
    pid_t pid;
    uint64_t start_time; /* as /proc has it */
    struct rtl_member_info info;
    uint64_t info_ns; /* when to read it again: workers rename themselves */
    struct rtl_user *user;
    uint32_t names;            /* that it has brought */
    uint64_t cost_ns, read_ns; /* what reading it took, and when that was */
    uint64_t ended_ns;         /* when it was seen to have ended; 0: it lives */
    struct rtl_credit credit;  /* what it can have done, and hasn't been counted for */
    uint64_t credited_ns;      /* until then */
    uint64_t bytes, api_bytes; /* of memory for what it has counted */
    bool too_large;            /* for its user's share: not read any more */
    bool late;                 /* its numbers are those of an earlier page */
    /* kernels; empty of a process that only records its calls */
    struct rtl_attach source;
    struct rtl_heartbeat heartbeat;
    struct rtl_snapshot snapshot; /* the latest, if there is one */
    bool has_snapshot;
    bool damaged;     /* its segment isn't read any more: what it counted would be counted again */
    uint32_t *series; /* of its kernels, see rtl_totals_add */
    /* calls of HIP; -1 and empty without */
    int api;
    uint64_t api_inode;
    struct rtl_snapshot calls; /* has only the rows of its HIP API */
};

struct rtl_fleet {
    const struct rtl_options *only; /* processes that it names, and their descendants; none: all */
    bool wake;                      /* processes in mode auto are kept timing */
    bool observe;                   /* also those that aren't traced */
    struct rtl_options outside;     /* how */
    uint64_t look_ns;
    struct rtl_proc_entry *all; /* being looked at; NULL between two looks */
    int all_count, all_at;
    uint64_t look_took_ns;
    uint64_t ended, unread, refused;       /* processes; of those without their last numbers; kernels */
    uint64_t untrue;                       /* numbers that can't be */
    uint32_t left_out, leaving_out, count; /* left out: in the last look, in this one so far */
    struct rtl_users users;
    struct rtl_served *served[RTL_SERVED_MAX];
    struct rtl_totals totals;
};

/* `most`: kernels and ranges with series of their own. NULL without memory. The options stay the caller's. */
struct rtl_fleet *rtl_fleet_create(uint32_t most, const struct rtl_options *only, bool wake, bool observe);
void rtl_fleet_free(struct rtl_fleet *fleet);

/* To be called once a second: who has ended is read for the last time, who has come is taken in. True: there is more to
 * do, now. */
bool rtl_fleet_tick(struct rtl_fleet *fleet);

/* Reads all of them now, as far as there is time. */
void rtl_fleet_collect(struct rtl_fleet *fleet);

#endif
