/*
 * The traced processes of the machine as they come and go, and what each has counted so far. Looking for new ones takes
 * one part in a hundred of the time, at most once a second; a process's last state is read when it has ended, from the
 * memory that outlives it. One thread.
 */
#ifndef RTL_SERVE_FLEET_H
#define RTL_SERVE_FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/merge.h"
#include "serve/totals.h"
#include "session/heartbeat.h"
#include "session/options.h"

enum { RTL_SERVED_MAX = 256 }; /* processes at once */

struct rtl_served {
    pid_t pid;
    uint64_t start_time; /* as /proc has it */
    struct rtl_member_info info;
    uint64_t info_ns; /* when to read it again: workers rename themselves */
    /* kernels; NULL and empty of a process that only records its calls */
    struct rtl_reader *reader;
    struct rtl_heartbeat heartbeat;
    struct rtl_snapshot snapshot; /* the latest, if there is one */
    bool has_snapshot;
    bool damaged;     /* its segment isn't read any more: what it counted would be counted again */
    uint32_t *series; /* of its kernels, see rtl_totals_add */
    /* calls of HIP; -1 and empty without */
    int api;
    uint64_t api_inode;
    struct rtl_api_copy calls;
};

struct rtl_fleet {
    const struct rtl_options *only; /* processes that it names, and their descendants; none: all */
    bool wake;                      /* processes in mode auto are kept timing */
    uint64_t look_ns;
    uint64_t ended;
    uint32_t left_out, count;
    struct rtl_served *served[RTL_SERVED_MAX];
    struct rtl_totals totals;
};

/* `most`: kernels and ranges with series of their own. NULL without memory. The options stay the caller's. */
struct rtl_fleet *rtl_fleet_create(uint32_t most, const struct rtl_options *only, bool wake);
void rtl_fleet_free(struct rtl_fleet *fleet);

/* To be called once a second: who has ended is read for the last time, who has come is taken in. */
void rtl_fleet_tick(struct rtl_fleet *fleet);

/* Reads all of them now. */
void rtl_fleet_collect(struct rtl_fleet *fleet);

#endif
