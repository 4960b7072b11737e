/* Frames of a model into a recording. See frame_recorder.h. */
#include "session/frame_recorder.h"
#include "base/version.h"
#include "session/group_recorder.h"
#include "session/target.h"

#include <stdio.h>
#include <string.h>

/* Both forms are the model's own: kernels are called in the file what they are called on the screen. */
static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_kernel_names *names)
{
    const struct rtl_frame_recorder *recorder = context;
    /* of several the model's ids are not the process's */
    struct rtl_names *n = recorder->grouped ? recorder->group.members[0].names : recorder->model->names;
    names->full = rtl_names_form(n, k->id, k->name, k->name_length, RTL_NAME_FULL);
    names->short_name =
        rtl_names_cell(n, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, recorder->options->ascii);
}

void rtl_frame_recorder_init(struct rtl_frame_recorder *recorder, struct rtl_model *model,
                             const struct rtl_options *options, pid_t pid, const char *title)
{
    memset(recorder, 0, sizeof *recorder);
    recorder->model = model;
    recorder->options = options;
    recorder->pid = pid;
    recorder->title = title;
    if (options->write)
        snprintf(recorder->path, sizeof recorder->path, "%s", options->write);
    else
        snprintf(recorder->path, sizeof recorder->path, "rtl-top-%d.db", (int)pid);
}

static enum rtl_db_status open_recording(struct rtl_frame_recorder *recorder, const char *kind, const char *path,
                                         unsigned busy_ms, struct rtl_recording **recording)
{
    char own[160]; /* of several the title is that of all of them */
    bool several = recorder->targets && !rtl_targets_only(recorder->targets);
    if (several)
        rtl_target_title(recorder->pid, "", own, sizeof own);
    struct rtl_recording_info info = {.kind = kind,
                                      .pid = recorder->pid,
                                      .title = several ? own : recorder->title,
                                      .recorder = "rtl-top " RTL_VERSION,
                                      .interval_ns = recorder->options->delay_ns,
                                      .name_kernel = name_kernel,
                                      .context = recorder};
    rtl_recording_describe(recorder->pid, &info);
    return rtl_recording_open(path, recorder->options->force, busy_ms, &info, recording, recorder->why,
                              sizeof recorder->why);
}

/* From now on each of several processes goes into a recording of its own; the first one's has begun. */
static void start_group(struct rtl_frame_recorder *recorder, unsigned busy_ms)
{
    rtl_group_recorder_init(&recorder->group, recorder->options, RTL_RECORDING_SERIES, recorder->path, busy_ms);
    if (!rtl_group_recorder_lend(&recorder->group, recorder->pid, recorder->recording))
        return;
    rtl_targets_hand_to(recorder->targets, rtl_group_recorder_take, &recorder->group);
    recorder->grouped = true;
}

enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms)
{
    recorder->last = open_recording(recorder, RTL_RECORDING_SERIES, recorder->path, busy_ms, &recorder->recording);
    if (!recorder->last && recorder->targets && !rtl_targets_only(recorder->targets))
        start_group(recorder, busy_ms);
    return recorder->last;
}

enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited)
{
    if (!recorder->recording)
        return RTL_DB_OK;
    if (snapshot->parts && recorder->targets) { /* each was handed over on its way into this one */
        if (!recorder->grouped)
            start_group(recorder, 0);
        recorder->last = recorder->group.last;
        if (recorder->last)
            snprintf(recorder->why, sizeof recorder->why, "%s", recorder->group.why);
        recorder->group.last = RTL_DB_OK;
        return recorder->last;
    }
    recorder->last = rtl_recording_add(recorder->recording, snapshot, real_ns, exited);
    if (recorder->last)
        snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recorder->recording));
    return recorder->last;
}

void rtl_frame_recorder_stop(struct rtl_frame_recorder *recorder)
{
    if (recorder->grouped) {
        rtl_targets_hand_to(recorder->targets, NULL, NULL);
        rtl_group_recorder_free(&recorder->group);
        recorder->grouped = false;
    }
    rtl_recording_close(recorder->recording);
    recorder->recording = NULL;
}

/* Of several processes: one of each, as they are now. */
static enum rtl_db_status snapshot_each(struct rtl_frame_recorder *recorder, const char *path, unsigned busy_ms)
{
    struct rtl_group_recorder once;
    struct rtl_snapshot merged = {0};
    rtl_group_recorder_init(&once, recorder->options, RTL_RECORDING_SNAPSHOT, path, busy_ms);
    rtl_targets_hand_to(recorder->targets, rtl_group_recorder_take, &once);
    if (rtl_targets_snapshot(recorder->targets, &merged) != RTL_READER_OK && !once.last) {
        once.last = RTL_DB_FAILED;
        snprintf(once.why, sizeof once.why, "out of memory");
    }
    rtl_snapshot_free(&merged);
    rtl_targets_hand_to(recorder->targets, recorder->grouped ? rtl_group_recorder_take : NULL, &recorder->group);
    rtl_group_recorder_free(&once);
    if (once.last)
        snprintf(recorder->why, sizeof recorder->why, "%s", once.why);
    return once.last;
}

enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms)
{
    struct rtl_recording *recording;
    if (snapshot->parts && recorder->targets)
        return snapshot_each(recorder, path, busy_ms);
    enum rtl_db_status status = open_recording(recorder, RTL_RECORDING_SNAPSHOT, path, busy_ms, &recording);
    if (!status) {
        status = rtl_recording_add(recording, snapshot, real_ns, false);
        if (status)
            snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recording));
        rtl_recording_close(recording);
    }
    return status;
}
