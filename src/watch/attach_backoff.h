/*
 * Processes that aren't taken in: those whose end was seen and whose segment is still the one that ended, because a
 * process may be there for long after that; and those in which nothing was found to be observed, most of them forked
 * children: looking into one costs as much as its memory is large, and keeps whoever draws waiting. So each is looked
 * into again after pauses that grow, and all of them together take a small part of the time. Zero-initialised: none so
 * far. Threads: one.
 */
#ifndef RTL_WATCH_ATTACH_BACKOFF_H
#define RTL_WATCH_ATTACH_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "watch/proc_scan.h"
#include "watch/attach.h"

struct rtl_attach_attempt {
    pid_t pid;
    uint64_t start_time;
    uint64_t again_ns, pause_ns; /* when it may be looked into next; how long that was put off */
    uint64_t ended;              /* number of the segment whose end was seen; 0: none */
};

struct rtl_attach_backoff {
    struct rtl_attach_attempt *list;
    uint32_t count, room;
    uint64_t again_ns; /* any of them */
    uint64_t spent_ns; /* in this round */
};

/* As rtl_attach_try; whoever was looked into in vain is so again when its time has come, or `now`. */
bool rtl_attach_backoff_try(struct rtl_attach_backoff *backoff, const struct rtl_options *options,
                            const struct rtl_proc_entry *process, bool now, struct rtl_attach *attach);

/* Its end was seen: that segment isn't taken in again, nor is what is left of the process observed for some seconds. */
void rtl_attach_backoff_note_end(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process,
                                 const struct rtl_attach *attach);

/* A round begins. `present` are ascending by pid: those that are gone are forgotten. */
void rtl_attach_backoff_begin_round(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *present,
                                    uint32_t count);
/* The parts of it that are pure, but for memory. Whether the process may be looked into now. */
bool rtl_attach_backoff_allows(const struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process,
                               uint64_t now_ns);
/* It was, from then to now, in vain or not. */
void rtl_attach_backoff_record(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *process, bool in_vain,
                               uint64_t from_ns, uint64_t now_ns);
void rtl_attach_backoff_free(struct rtl_attach_backoff *backoff);

#endif
