/*
 * Records frames into a file, with the screen's kernel names: -w, --snapshot and the keys x and S. If successive frames
 * fail, only the first failure is reported, and recording continues. `missing` keeps the reason why the end of a
 * stopped recording is missing.
 */
#ifndef RTL_WATCH_FRAME_RECORDER_H
#define RTL_WATCH_FRAME_RECORDER_H

#include "model/model.h"
#include "record/recording.h"
#include "watch/group_recorder.h"
#include "options/options.h"

enum { RTL_RECORDER_PATH = 512 };

struct rtl_frame_recorder {
    struct rtl_model *model; /* its names are used */
    const struct rtl_options *options;
    pid_t pid;
    const char *title; /* outlives the recorder */
    char path[RTL_RECORDER_PATH];
    struct rtl_recording *recording; /* of the first process; NULL = not recording */
    enum rtl_db_status last;         /* of the last frame */
    char why[512];                   /* reason of the last failure */
    struct rtl_process_set *set;     /* the watched processes, each of which gets its own recording; or NULL */
    struct rtl_group_recorder group;
    struct rtl_group_recorder *once; /* while a snapshot of several processes is written; or NULL */
    char left_out[400];              /* why probes are no longer recorded; the caller clears it after reporting it */
    struct rtl_probe_told probe;     /* of process `pid` */
    rtl_probe_of *probe_of;          /* returns the probe of any process, for snapshots of several; or NULL */
    const void *probe_context;
    uint32_t saved_kernels, saved_processes; /* by the last snapshot; processes: 0 for a single process */
    enum rtl_db_status missing;              /* why the end of the stopped recording could not be written */
    char missing_why[512];
};

void rtl_frame_recorder_init(struct rtl_frame_recorder *recorder, struct rtl_model *model,
                             const struct rtl_options *options, pid_t pid, const char *title);
/* Copies the state of a process's probe into subsequent frames and snapshots. Snapshots of several processes use
 * `probe_of`. */
void rtl_frame_recorder_probe(struct rtl_frame_recorder *recorder, pid_t pid, const struct rtl_probe_told *probe);
/* Starts recording; on failure `why` has the reason. */
enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms);
/* Adds a frame if recording, and returns its status. Until then recorder->last is the status of the frame before. */
enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited);
/* Stops recording, if on. If the last frame failed, sets `missing`. */
void rtl_frame_recorder_stop(struct rtl_frame_recorder *recorder);
/* Adds a snapshot to the file, also while recording into it. Of several processes it adds the running ones; fails if
 * none runs. */
enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms);

#endif
