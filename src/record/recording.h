/*
 * Writing a recording: one frame a call, each a transaction of its own, so that whatever happens to the recorder only
 * the frame that it is writing is lost. What fails (a full disk, a lock) is in the next frame that succeeds: nothing is
 * counted twice or left out, the interval is longer.
 *
 * Ownership: the recording keeps a copy of the last frame. It points to the names of the snapshots, which have to
 * outlive it (the reader's names do). Threads: one.
 */
#ifndef RTL_RECORD_RECORDING_H
#define RTL_RECORD_RECORDING_H

#include <sys/types.h>

#include "record/buckets.h"
#include "record/probe_told.h"
#include "record/schema.h"

#define RTL_RECORDING_SNAPSHOT "snapshot"
#define RTL_RECORDING_SERIES   "series"

/* How a kernel that is new in a recording is named for people; both stay valid until the next call. */
struct rtl_recorded_names {
    const char *full, *short_name;
};

struct rtl_proc_member_info;

/* What a recording says of the process that is not in its segment; strings are copied. */
struct rtl_recording_info {
    const char *kind; /* RTL_RECORDING_* */
    pid_t pid;
    const char *title, *recorder; /* title: as on screen; recorder: name and version of this program */
    /* what tells it from its like, as on screen; rank -1 and texts "" where there is nothing, or shorter than here */
    int rank;
    char label[16], container[20];
    const struct rtl_proc_member_info *process; /* read while it was there; NULL: it is read when the file is opened */
    uint64_t interval_ns;
    void (*name_kernel)(void *context, const struct rtl_kernel_snapshot *kernel, struct rtl_recorded_names *names);
    void *context;
};

struct rtl_recording;

/* Opens or creates the file (rules and errors: record/db.h) and reads what /proc says of the process. */
enum rtl_db_status rtl_recording_open(const char *path, bool force, unsigned busy_ms,
                                      const struct rtl_recording_info *info, struct rtl_recording **recording,
                                      char *why, size_t why_bytes);
void rtl_recording_close(struct rtl_recording *recording); /* NULL is nothing */

/* From now on other writers are waited for that long; 0: as long as by default. */
void rtl_recording_wait(struct rtl_recording *recording, unsigned busy_ms);

/* What frames from now on have of the process's probe; copied. */
void rtl_recording_probe(struct rtl_recording *recording, const struct rtl_probe_told *probe);
/* Why probes are left out: the file has a table of that name that isn't as ours. Told once; "" otherwise. */
const char *rtl_recording_left_out(struct rtl_recording *recording, char *out, size_t size);

/* Writes one frame. `exited`: the process has ended, this is its last state. */
enum rtl_db_status rtl_recording_add(struct rtl_recording *recording, const struct rtl_snapshot *snapshot,
                                     uint64_t real_ns, bool exited);

const char *rtl_recording_why(const struct rtl_recording *recording); /* the last error, one line */
uint64_t rtl_recording_frames(const struct rtl_recording *recording); /* written */
uint64_t rtl_recording_failed(const struct rtl_recording *recording); /* not written */
struct rtl_db *rtl_recording_db(struct rtl_recording *recording);     /* for tests */

#endif
