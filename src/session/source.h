/*
 * Where the snapshots of a process come from: its segment, when it runs with the library, or its memory, looked at from
 * outside (src/observe). One of the two.
 */
#ifndef RTL_SESSION_SOURCE_H
#define RTL_SESSION_SOURCE_H

#include "observe/observer.h"
#include "session/options.h"
#include "shm/segment_reader.h"

struct rtl_source {
    struct rtl_reader *reader;
    struct rtl_observer *observer;
};

/* Of a process that was named: what the options allow, its segment first; `why` gets one line when there is nothing. */
enum rtl_reader_status rtl_source_open(const struct rtl_options *options, pid_t pid, struct rtl_source *source,
                                       char *why, size_t why_bytes);
/* Of one that was met: false when there is nothing of it, or nothing so far. */
bool rtl_source_try(const struct rtl_options *options, pid_t pid, struct rtl_source *source);
void rtl_source_close(struct rtl_source *source);

/* As rtl_reader_alive and rtl_reader_snapshot. */
bool rtl_source_alive(const struct rtl_source *source);
enum rtl_reader_status rtl_source_snapshot(const struct rtl_source *source, struct rtl_snapshot *snapshot);
/* As rtl_reader_changes and rtl_reader_forget; what is observed comes whole each time. */
enum rtl_reader_status rtl_source_changes(const struct rtl_source *source, struct rtl_snapshot *snapshot);
void rtl_source_forget(const struct rtl_source *source);

#endif
