/*
 * Writing a recording. Each frame is a transaction, so a crash of the recorder loses at most the frame being written. A
 * frame that fails (full disk, lock) is merged into the next one that succeeds: nothing is counted twice or lost.
 *
 * Ownership: the recording keeps a copy of the last frame, which points to the snapshots' names; the names have to
 * outlive the recording (the reader's names do). Threads: one.
 */
#ifndef RTL_RECORD_RECORDING_H
#define RTL_RECORD_RECORDING_H

#include <sys/types.h>

#include "record/probe_told.h"
#include "record/schema.h"

#define RTL_RECORDING_SNAPSHOT "snapshot"
#define RTL_RECORDING_SERIES   "series"

/* Names of a kernel for display; both stay valid until the next call. */
struct rtl_recorded_names {
    const char *full, *short_name;
};

struct rtl_proc_member_info;

/* Facts about the process that its segment lacks; the title is copied, the two other strings are constants. */
struct rtl_recording_info {
    const char *kind; /* RTL_RECORDING_* */
    pid_t pid;
    const char *title, *recorder; /* title: as on screen; recorder: name and version of this program */
    /* identification among similar processes, as on screen; rank -1 and "": none */
    int rank;
    char label[24], container[20];
    const struct rtl_proc_member_info *process; /* NULL: /proc is read when the file is opened */
    uint64_t interval_ns;
    void (*name_kernel)(void *context, const struct rtl_kernel_snapshot *kernel, struct rtl_recorded_names *names);
    void *context;
};

struct rtl_recording;

/* Open or create the file (rules and errors: record/db.h). */
enum rtl_db_status rtl_recording_open(const char *path, bool force, unsigned busy_ms,
                                      const struct rtl_recording_info *info, struct rtl_recording **recording,
                                      char *why, size_t why_bytes);
void rtl_recording_close(struct rtl_recording *recording); /* NULL is nothing */

/* Set the state of the process's probe for the next frames; copied. */
void rtl_recording_probe(struct rtl_recording *recording, const struct rtl_probe_told *probe);
/* Set the marker of steps (NULL: automatic), which is copied. A replay uses the last marker. */
void rtl_recording_mark_step(struct rtl_recording *recording, const char *marker);
/* Return once why probes are left out (the file's table of probes is not rtl-top's); "" otherwise. */
const char *rtl_recording_left_out(struct rtl_recording *recording, char *out, size_t size);

/* Write one frame. `exited`: the process has ended, this is its last state. */
enum rtl_db_status rtl_recording_add(struct rtl_recording *recording, const struct rtl_snapshot *snapshot,
                                     uint64_t real_ns, bool exited);

const char *rtl_recording_why(const struct rtl_recording *recording); /* the last error, one line */
uint64_t rtl_recording_frames(const struct rtl_recording *recording); /* written */
struct rtl_db *rtl_recording_db(struct rtl_recording *recording);

#endif
