/* Attaches to a process: the source of its snapshots. This is the segment of a traced process, or an observer that
 * reads the process's memory from outside (src/observe). A traced process has both if the library may miss queues. */
#ifndef RTL_WATCH_ATTACH_H
#define RTL_WATCH_ATTACH_H

#include "observe/observer.h"
#include "options/options.h"
#include "shm/segment_reader.h"
#include "watch/users.h"

struct rtl_attach {
    struct rtl_reader *reader;
    struct rtl_observer *observer;
    uint64_t start_time; /* of the process; 0 = attached by number alone */
};

/* Attaches to a process that the user has named. Tries its segment first, then what the options allow. On failure `why`
 * gets one line. */
enum rtl_reader_status rtl_attach_open(const struct rtl_options *options, pid_t pid, struct rtl_attach *attach,
                                       char *why, size_t why_bytes);
/* Attaches to a process that a scan has found, with its start time. False if it can't be attached (yet). */
bool rtl_attach_try(const struct rtl_options *options, pid_t pid, uint64_t start_time, struct rtl_attach *attach);
/* The steps of rtl_attach_try. The first two are cheap; rtl_attach_try_observed may take a second. */
bool rtl_attach_try_traced(const struct rtl_options *options, pid_t pid, uint64_t start_time,
                           struct rtl_attach *attach);
bool rtl_attach_is_observable(const struct rtl_options *options, pid_t pid);
bool rtl_attach_try_observed(const struct rtl_options *options, pid_t pid, uint64_t start_time,
                             struct rtl_attach *attach);
/* Attaches to a process whose segment is open; takes ownership of the reader. */
struct rtl_attach rtl_attach_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader);
void rtl_attach_close(struct rtl_attach *attach);

/* Like rtl_reader_alive and rtl_reader_snapshot. */
bool rtl_attach_alive(const struct rtl_attach *attach);
/* Charges the user: if the process has closed its descriptor, this reads its maps, which may be long. True if the user
 * has no time left. */
bool rtl_attach_alive_charged(const struct rtl_attach *attach, struct rtl_user *user);
enum rtl_reader_status rtl_attach_snapshot(const struct rtl_attach *attach, struct rtl_snapshot *snapshot);
/* Like rtl_reader_changes; an observed snapshot is always complete. */
enum rtl_reader_status rtl_attach_changes(const struct rtl_attach *attach, struct rtl_snapshot *snapshot);

#endif
