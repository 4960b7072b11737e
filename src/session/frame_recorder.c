/* Frames of a model into a recording. See frame_recorder.h. */
#include "session/frame_recorder.h"
#include "base/version.h"

#include <stdio.h>
#include <string.h>

/* Both forms are the model's own: kernels are called in the file what they are called on the screen. */
static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_kernel_names *names)
{
    const struct rtl_frame_recorder *recorder = context;
    struct rtl_names *n = recorder->model->names;
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
    const struct rtl_recording_info info = {.kind = kind,
                                            .pid = recorder->pid,
                                            .title = recorder->title,
                                            .recorder = "rtl-top " RTL_VERSION,
                                            .interval_ns = recorder->options->delay_ns,
                                            .name_kernel = name_kernel,
                                            .context = recorder};
    return rtl_recording_open(path, recorder->options->force, busy_ms, &info, recording, recorder->why,
                              sizeof recorder->why);
}

enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms)
{
    recorder->last = open_recording(recorder, RTL_RECORDING_SERIES, recorder->path, busy_ms, &recorder->recording);
    return recorder->last;
}

enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited)
{
    if (!recorder->recording)
        return RTL_DB_OK;
    recorder->last = rtl_recording_add(recorder->recording, snapshot, real_ns, exited);
    if (recorder->last)
        snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recorder->recording));
    return recorder->last;
}

void rtl_frame_recorder_stop(struct rtl_frame_recorder *recorder)
{
    rtl_recording_close(recorder->recording);
    recorder->recording = NULL;
}

enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms)
{
    struct rtl_recording *recording;
    enum rtl_db_status status = open_recording(recorder, RTL_RECORDING_SNAPSHOT, path, busy_ms, &recording);
    if (!status) {
        status = rtl_recording_add(recording, snapshot, real_ns, false);
        if (status)
            snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recording));
        rtl_recording_close(recording);
    }
    return status;
}
