/* Writes the model's frames into a recording. See frame_recorder.h. */
#include "watch/frame_recorder.h"

#include <stdio.h>
#include <string.h>

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

static bool is_several(const struct rtl_frame_recorder *recorder)
{
    return recorder->set && !rtl_process_set_is_single(recorder->set);
}

/* Opens the recording of the first process, with the model's kernel names, so that the file and the screen agree. */
static struct rtl_recording *open_first(struct rtl_frame_recorder *recorder, struct rtl_group_recorder *group)
{
    /* the recorder's title is that of the whole group */
    struct rtl_recording *recording = rtl_group_recorder_open_first(
        group, recorder->pid, is_several(recorder) ? NULL : recorder->title, recorder->model->names);
    if (recording)
        rtl_recording_probe(recording, &recorder->probe);
    return recording;
}

/* A rtl_process_set_sink. Called from the first merged frame on, which may have the first process's last state. */
static void record_member(void *context, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                          uint64_t real_ns, bool ended)
{
    struct rtl_frame_recorder *recorder = context;
    recorder->group.step = recorder->model->step;
    if (recorder->recording) {
        recorder->group.members[0].model_names = NULL; /* the ids of a merged model are not those of the process */
        rtl_group_recorder_add(&recorder->group, number, pid, snapshot, real_ns, ended);
    }
    if (recorder->once)
        rtl_group_recorder_add(recorder->once, number, pid, snapshot, real_ns, ended);
}

static enum rtl_db_status set_failure(struct rtl_frame_recorder *recorder, const char *why)
{
    snprintf(recorder->why, sizeof recorder->why, "%s", why);
    return RTL_DB_FAILED;
}

static bool all_have_ended(const struct rtl_frame_recorder *recorder)
{
    return is_several(recorder) && !rtl_process_set_count(recorder->set);
}

void rtl_frame_recorder_probe(struct rtl_frame_recorder *recorder, pid_t pid, const struct rtl_probe_told *probe)
{
    if (pid == recorder->pid)
        recorder->probe = *probe;
    if (recorder->recording)
        rtl_group_recorder_probe(&recorder->group, pid, probe);
}

/* Ends the frame of a group, and copies its messages. */
static enum rtl_db_status end_frame(struct rtl_frame_recorder *recorder, struct rtl_group_recorder *group)
{
    enum rtl_db_status status = rtl_group_recorder_end_frame(group);
    if (status)
        snprintf(recorder->why, sizeof recorder->why, "%s", group->why);
    if (*group->left_out)
        memcpy(recorder->left_out, group->left_out, sizeof recorder->left_out);
    group->left_out[0] = 0;
    return status;
}

enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms)
{
    if (all_have_ended(recorder))
        return recorder->last = set_failure(recorder, "all processes have ended: nothing to record");
    rtl_group_recorder_init(&recorder->group, recorder->options, RTL_RECORDING_SERIES, recorder->path, busy_ms);
    recorder->recording = open_first(recorder, &recorder->group);
    recorder->last = end_frame(recorder, &recorder->group);
    if (recorder->last)
        rtl_group_recorder_free(&recorder->group);
    else if (recorder->set)
        rtl_process_set_on_snapshot(recorder->set, record_member, recorder);
    return recorder->last;
}

enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited)
{
    if (!recorder->recording)
        return RTL_DB_OK;
    recorder->group.step = recorder->model->step;
    if (!snapshot->parts || !recorder->set) /* otherwise record_member has added each process */
        rtl_group_recorder_add(&recorder->group, 0, recorder->pid, snapshot, real_ns, exited);
    recorder->last = end_frame(recorder, &recorder->group);
    return recorder->last;
}

void rtl_frame_recorder_stop(struct rtl_frame_recorder *recorder)
{
    if (!recorder->recording)
        return;
    if (recorder->last && !recorder->missing) {
        recorder->missing = recorder->last;
        snprintf(recorder->missing_why, sizeof recorder->missing_why, "%s", recorder->why);
    }
    if (recorder->set)
        rtl_process_set_on_snapshot(recorder->set, NULL, NULL);
    rtl_group_recorder_free(&recorder->group);
    recorder->recording = NULL;
}

/* Counts the merged kernels of recorded processes. The merge also knows those of ended processes. */
static uint32_t kernels_of(const struct rtl_group_recorder *group, const struct rtl_snapshot *merged)
{
    uint32_t count = 0;
    for (uint32_t g = 0; merged->parts && g < merged->parts->group_count; g++) {
        const struct rtl_group *kernel = merged->parts->groups[g];
        bool there = false;
        for (uint32_t i = 0; kernel && i < kernel->count && !there; i++)
            for (uint32_t m = 0; m < group->count && !there; m++)
                there = group->members[m].number == kernel->parts[i]->member;
        count += there;
    }
    return count;
}

enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms)
{
    struct rtl_group_recorder once;
    struct rtl_snapshot merged = {0};
    bool several = snapshot->parts && recorder->set, read = true;
    rtl_group_recorder_init(&once, recorder->options, RTL_RECORDING_SNAPSHOT, path, busy_ms);
    once.step = recorder->model->step;
    if (several) { /* one snapshot per running process */
        once.probe_of = recorder->probe_of;
        once.probe_context = recorder->probe_context;
        recorder->once = &once;
        /* also ends the series of processes that end in this snapshot */
        rtl_process_set_on_snapshot(recorder->set, record_member, recorder);
        read = rtl_process_set_snapshot(recorder->set, &merged) == RTL_READER_OK;
        recorder->once = NULL;
        if (!recorder->recording)
            rtl_process_set_on_snapshot(recorder->set, NULL, NULL);
    } else if (open_first(recorder, &once)) {
        rtl_group_recorder_add(&once, 0, recorder->pid, snapshot, real_ns, false);
    }
    recorder->saved_processes = several ? once.frame_members : 0;
    recorder->saved_kernels = several ? kernels_of(&once, &merged) : snapshot->kernel_count;
    enum rtl_db_status status = end_frame(recorder, &once);
    if (!status && !read)
        status = set_failure(recorder, "out of memory");
    else if (!status && several && !recorder->saved_processes)
        status = set_failure(recorder, "all processes have ended: only their sum is known");
    rtl_snapshot_free(&merged);
    rtl_group_recorder_free(&once);
    return status;
}
