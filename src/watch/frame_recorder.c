/* Writes the model's frames into a recording. See frame_recorder.h. */
#include "watch/frame_recorder.h"
#include "model/merge.h"
#include "watch/group_recorder.h"
#include "watch/proc_title.h"

#include <stdio.h>
#include <string.h>

/* Names kernels as the model does, so that the file and the screen agree. */
static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    const struct rtl_frame_recorder *recorder = context;
    /* the ids of a merged model are not those of the process */
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
    char own[160]; /* the recorder's title is that of the whole group */
    bool several = recorder->set && !rtl_process_set_is_single(recorder->set);
    if (several)
        rtl_proc_title(recorder->pid, "", own, sizeof own);
    struct rtl_recording_info info = {.kind = kind,
                                      .title = several ? own : recorder->title,
                                      .interval_ns = recorder->options->delay_ns,
                                      .name_kernel = name_kernel,
                                      .context = recorder};
    rtl_recording_describe(recorder->pid, &info);
    return rtl_recording_open(path, recorder->options->force, busy_ms, &info, recording, recorder->why,
                              sizeof recorder->why);
}

/* Changes to one recording per process when a second process is attached; continues that of the first. */
static void start_group(struct rtl_frame_recorder *recorder)
{
    rtl_group_recorder_init(&recorder->group, recorder->options, RTL_RECORDING_SERIES, recorder->path,
                            recorder->busy_ms);
    recorder->grouped = rtl_group_recorder_continue(&recorder->group, recorder->pid, recorder->recording);
}

/* A rtl_process_set_sink. Called from the first merged frame on, which may have the first process's last state. */
static void record_member(void *context, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                          uint64_t real_ns, bool ended)
{
    struct rtl_frame_recorder *recorder = context;
    if (recorder->recording && !recorder->grouped)
        start_group(recorder);
    if (recorder->recording && recorder->grouped)
        rtl_group_recorder_add(&recorder->group, number, pid, snapshot, real_ns, ended);
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
    return recorder->set && !rtl_process_set_is_single(recorder->set) && !rtl_process_set_count(recorder->set);
}

void rtl_frame_recorder_probe(struct rtl_frame_recorder *recorder, pid_t pid, const struct rtl_probe_told *probe)
{
    if (pid == recorder->pid)
        recorder->probe = *probe;
    if (recorder->grouped)
        rtl_group_recorder_probe(&recorder->group, pid, probe);
    else if (recorder->recording && pid == recorder->pid)
        rtl_recording_probe(recorder->recording, probe);
}

enum rtl_db_status rtl_frame_recorder_start(struct rtl_frame_recorder *recorder, unsigned busy_ms)
{
    recorder->busy_ms = busy_ms;
    if (all_have_ended(recorder))
        recorder->last = set_failure(recorder, "all processes have ended: nothing to record");
    else
        recorder->last = open_recording(recorder, RTL_RECORDING_SERIES, recorder->path, busy_ms, &recorder->recording);
    if (!recorder->last)
        rtl_recording_probe(recorder->recording, &recorder->probe);
    if (!recorder->last && recorder->set)
        rtl_process_set_on_snapshot(recorder->set, record_member, recorder);
    return recorder->last;
}

static void copy_left_out(struct rtl_frame_recorder *recorder, struct rtl_recording *recording)
{
    char why[sizeof recorder->left_out];
    if (*rtl_recording_left_out(recording, why, sizeof why))
        memcpy(recorder->left_out, why, sizeof why);
}

enum rtl_db_status rtl_frame_recorder_add(struct rtl_frame_recorder *recorder, const struct rtl_snapshot *snapshot,
                                          uint64_t real_ns, bool exited)
{
    if (!recorder->recording)
        return RTL_DB_OK;
    if (snapshot->parts && recorder->set) { /* record_member has already added each process */
        if (!recorder->grouped)
            start_group(recorder);
        recorder->last =
            recorder->grouped ? rtl_group_recorder_end_frame(&recorder->group) : set_failure(recorder, "out of memory");
        if (recorder->grouped && *recorder->group.left_out) {
            memcpy(recorder->left_out, recorder->group.left_out, sizeof recorder->left_out);
            recorder->group.left_out[0] = 0;
        }
        if (recorder->last && recorder->grouped)
            snprintf(recorder->why, sizeof recorder->why, "%s", recorder->group.why);
        return recorder->last;
    }
    recorder->last = rtl_recording_add(recorder->recording, snapshot, real_ns, exited);
    copy_left_out(recorder, recorder->recording);
    if (recorder->last)
        snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recorder->recording));
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
    if (recorder->grouped)
        rtl_group_recorder_free(&recorder->group);
    recorder->grouped = false;
    rtl_recording_close(recorder->recording);
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

/* Writes one snapshot per running process. */
static enum rtl_db_status snapshot_each(struct rtl_frame_recorder *recorder, const char *path, unsigned busy_ms)
{
    struct rtl_group_recorder once;
    struct rtl_snapshot merged = {0};
    rtl_group_recorder_init(&once, recorder->options, RTL_RECORDING_SNAPSHOT, path, busy_ms);
    once.probe_of = recorder->probe_of;
    once.probe_context = recorder->probe_context;
    recorder->once = &once;
    rtl_process_set_on_snapshot(recorder->set, record_member,
                                recorder); /* also ends the series of processes that end in this snapshot */
    bool read = rtl_process_set_snapshot(recorder->set, &merged) == RTL_READER_OK;
    recorder->once = NULL;
    if (!recorder->recording)
        rtl_process_set_on_snapshot(recorder->set, NULL, NULL);
    recorder->saved_processes = once.frame_members;
    recorder->saved_kernels = kernels_of(&once, &merged);
    enum rtl_db_status status = rtl_group_recorder_end_frame(&once);
    if (status)
        snprintf(recorder->why, sizeof recorder->why, "%s", once.why);
    else if (!read)
        status = set_failure(recorder, "out of memory");
    else if (!recorder->saved_processes)
        status = set_failure(recorder, "all processes have ended: only their sum is known");
    if (*once.left_out)
        memcpy(recorder->left_out, once.left_out, sizeof recorder->left_out);
    rtl_snapshot_free(&merged);
    rtl_group_recorder_free(&once);
    return status;
}

enum rtl_db_status rtl_frame_recorder_snapshot(struct rtl_frame_recorder *recorder, const char *path,
                                               const struct rtl_snapshot *snapshot, uint64_t real_ns, unsigned busy_ms)
{
    struct rtl_recording *recording;
    if (snapshot->parts && recorder->set)
        return snapshot_each(recorder, path, busy_ms);
    recorder->saved_processes = 0;
    recorder->saved_kernels = snapshot->kernel_count;
    enum rtl_db_status status = open_recording(recorder, RTL_RECORDING_SNAPSHOT, path, busy_ms, &recording);
    if (!status) {
        rtl_recording_probe(recording, &recorder->probe);
        status = rtl_recording_add(recording, snapshot, real_ns, false);
        copy_left_out(recorder, recording);
        if (status)
            snprintf(recorder->why, sizeof recorder->why, "%s", rtl_recording_why(recording));
        rtl_recording_close(recording);
    }
    return status;
}
