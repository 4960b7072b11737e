/*
 * The back-off of attaching, for two kinds of processes:
 *
 * - A process whose end was seen may still exist for long; its old segment is not attached again.
 *
 * - An attempt to observe a process takes time proportional to its memory and delays the screen. Most attempts that
 * fail are on forked children. Each process is tried again after growing pauses, and all attempts together take a small
 * share of the time.
 *
 * Zero-initialise it. Threads: one.
 */
#ifndef RTL_WATCH_ATTACH_BACKOFF_H
#define RTL_WATCH_ATTACH_BACKOFF_H

#include "watch/proc_scan.h"
#include "watch/attach.h"

struct rtl_attach_attempt {
    pid_t pid;
    uint64_t start_time;
    uint64_t again_ns, pause_ns; /* time of the next attempt; the last pause */
    uint64_t ended;              /* number of the ended segment; 0 = none */
};

struct rtl_attach_backoff {
    struct rtl_attach_attempt *list;
    uint32_t count, room;
    uint64_t again_ns; /* time of the next attempt on any process */
    uint64_t spent_ns; /* by attempts in this round */
};

/* Like rtl_attach_try. Observes only if the back-off allows it, or `now` is set. */
bool rtl_attach_backoff_try(struct rtl_attach_backoff *backoff, const struct rtl_options *options,
                            const struct rtl_proc_entry *process, bool now, struct rtl_attach *attach);

/* Notes the process's end: its segment isn't attached again, and the process isn't observed for some seconds. */
void rtl_attach_backoff_note_end(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process,
                                 const struct rtl_attach *attach);

/* Begins a round. Forgets processes that are not in `present`, which is sorted by pid. */
void rtl_attach_backoff_begin_round(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *present,
                                    uint32_t count);
/* For tests, without a clock. Returns true if the process may be tried now. */
bool rtl_attach_backoff_allows(const struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process,
                               uint64_t now_ns);
/* Records one attempt and schedules the next. */
void rtl_attach_backoff_record(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process, bool in_vain,
                               uint64_t from_ns, uint64_t now_ns);
void rtl_attach_backoff_free(struct rtl_attach_backoff *backoff);

#endif
