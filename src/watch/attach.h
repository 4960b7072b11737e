/*
 * Where the snapshots of a process come from: its segment, when it runs with the library, or its memory, looked at from
 * outside (src/observe); both where the library may not see all of its queues.
 */
#ifndef RTL_WATCH_ATTACH_H
#define RTL_WATCH_ATTACH_H

#include "observe/observer.h"
#include "options/options.h"
#include "shm/segment_reader.h"

struct rtl_attach {
    struct rtl_reader *reader;
    struct rtl_observer *observer;
    uint64_t start_time; /* of the process; 0: it was asked for by its number */
};

/* Of a process that was named: what the options allow, its segment first; `why` gets one line when there is nothing. */
enum rtl_reader_status rtl_attach_open(const struct rtl_options *options, pid_t pid, struct rtl_attach *attach,
                                       char *why, size_t why_bytes);
/* Of one that was met, and when it had started: false when there is nothing of it, or nothing so far. */
bool rtl_attach_try(const struct rtl_options *options, pid_t pid, uint64_t start_time, struct rtl_attach *attach);
/*
 * The steps of that: whether it is traced, and whether it could be observed at all, which are cheap to ask; whether
 * there is something to be observed, which is not, and keeps the caller waiting for up to a second.
 */
bool rtl_attach_try_traced(const struct rtl_options *options, pid_t pid, uint64_t start_time,
                           struct rtl_attach *attach);
bool rtl_attach_is_observable(const struct rtl_options *options, pid_t pid);
bool rtl_attach_try_observed(const struct rtl_options *options, pid_t pid, uint64_t start_time,
                             struct rtl_attach *attach);
/* Of one whose segment is open already; takes over the reader. */
struct rtl_attach rtl_attach_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader);
void rtl_attach_close(struct rtl_attach *attach);

/* As rtl_reader_alive and rtl_reader_snapshot. */
bool rtl_attach_alive(const struct rtl_attach *attach);
enum rtl_reader_status rtl_attach_snapshot(const struct rtl_attach *attach, struct rtl_snapshot *snapshot);
/* As rtl_reader_changes and rtl_reader_forget; what is observed comes whole each time. */
enum rtl_reader_status rtl_attach_changes(const struct rtl_attach *attach, struct rtl_snapshot *snapshot);
void rtl_attach_forget(const struct rtl_attach *attach);

#endif
