/*
 * Records what the viewer has seen into a file, kernels named as on screen: -w, --snapshot and the keys x and S. When
 * frames fail one after another only the first is reported, and the viewer goes on; what a recording that is over lacks
 * at its end stays known.
 */
#ifndef RTL_WATCH_FRAME_RECORDER_H
#define RTL_WATCH_FRAME_RECORDER_H

#include "model/model.h"
#include "record/recording.h"
#include "watch/group_recorder.h"
#include "options/options.h"

enum { RTL_RECORDER_PATH = 512 };

struct rtl_frame_recorder {
    struct rtl_model *model; /* whose names are used */
    const struct rtl_options *options;
    pid_t pid;
    const char *title; /* outlives the recorder */
    char path[RTL_RECORDER_PATH];
    struct rtl_recording *recording; /* NULL = off */
    enum rtl_db_status last;         /* of the last frame */
    char why[512];                   /* what the last failure was */
    struct rtl_process_set *set;     /* who is watched: several are recorded one by one; or NULL */
    struct rtl_group_recorder group;
    bool grouped;
    struct rtl_group_recorder *once; /* a snapshot of several that is being taken; or NULL */
    unsigned busy_ms;
    char left_out[400];          /* why probes are left out, from then on; whoever has told it clears it */
    struct rtl_probe_told probe; /* of the process with that pid */
    rtl_probe_of *probe_of;      /* of several: of one of them, for snapshots; or NULL */
    const void *probe_context;
    uint32_t saved_kernels, saved_processes; /* by the last snapshot; processes: 0 of one alone */
    enum rtl_db_status missing;              /* the end of a recording that is over: why it could not be written */
    char missing_why[512];
};

void rtl_frame_recorder_init(struct rtl_frame_recorder *recorder, struct rtl_model *model,
                             const struct rtl_options *options, pid_t pid, const char *title);
/* What frames and snapshots from now on have of a probe on that process; copied. What a snapshot of several has,
 * `probe_of` says. */
void rtl_frame_recorder_probe(struct rtl_frame_recorder *recorder, pid_t pid, const struct rtl_probe_told *probe);
/* Starts recording; on failure `why` says what is wrong. */
enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms);
/* Adds a frame if it is on. The status of the frame; recorder->last is that of the one before until this returns. */
enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited);
/* Nothing when it is off. What the last frame could not write is `missing` from then on. */
void rtl_frame_recorder_stop(struct rtl_frame_recorder *recorder);
/* Adds a snapshot to the file, whether a series is being recorded into it or not. Of several processes those that run:
 * when there is none, nothing is written, which is a failure. */
enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms);

#endif
