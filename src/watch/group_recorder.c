/* Writes one recording per process. See group_recorder.h. */
#include "watch/group_recorder.h"
#include "base/version.h"
#include "watch/proc_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rtl_group_recorder_init(struct rtl_group_recorder *group, const struct rtl_options *options, const char *kind,
                             const char *path, unsigned busy_ms)
{
    *group = (struct rtl_group_recorder){.options = options, .kind = kind, .path = path, .busy_ms = busy_ms};
}

/* Each process has its own names, because kernel ids are per process. */
static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    const struct rtl_member_recording *m = context;
    struct rtl_names *n = m->model_names ? m->model_names : m->names;
    names->full = rtl_names_form(n, k->id, k->name, k->name_length, RTL_NAME_FULL);
    names->short_name = rtl_names_cell(n, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, m->ascii);
}

static void record_failure(struct rtl_group_recorder *group, enum rtl_db_status status, const char *why)
{
    group->last = status;
    group->busy |= status == RTL_DB_BUSY;
    snprintf(group->why, sizeof group->why, "%s", why);
}

/* Returns the process's member. Members never move: their recordings point to them. */
static struct rtl_member_recording *find_or_add_member(struct rtl_group_recorder *group, uint32_t number, pid_t pid)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].number == number)
            return &group->members[i];
    if (!group->members)
        group->members = calloc(RTL_GROUP_MAX, sizeof *group->members);
    struct rtl_names *names = group->members && group->count < RTL_GROUP_MAX ? rtl_names_create() : NULL;
    if (!names)
        return NULL;
    struct rtl_member_recording *m = &group->members[group->count++];
    *m = (struct rtl_member_recording){.number = number, .pid = pid, .names = names, .ascii = group->options->ascii};
    return m;
}

void rtl_recording_describe(pid_t pid, struct rtl_recording_info *info)
{
    struct rtl_member_info member;
    struct rtl_reader *reader = NULL;
    rtl_reader_try(pid, &reader);
    rtl_proc_member_info(pid, reader, &member);
    rtl_reader_close(reader);
    info->pid = pid;
    info->recorder = "rtl-top " RTL_VERSION;
    info->rank = member.rank;
    snprintf(info->label, sizeof info->label, "%s", member.label);
    snprintf(info->container, sizeof info->container, "%s", member.container);
}

/* Returns how long this frame may wait for the file's lock. */
static unsigned lock_wait_ms(const struct rtl_group_recorder *group)
{
    return group->busy ? 1 : group->busy_ms;
}

static void open_recording(struct rtl_group_recorder *group, struct rtl_member_recording *m)
{
    char title[160], why[512];
    if (!m->title)
        rtl_proc_title(m->pid, "", title, sizeof title);
    struct rtl_recording_info info = {.kind = group->kind,
                                      .title = m->title ? m->title : title,
                                      .interval_ns = group->options->delay_ns,
                                      .name_kernel = name_kernel,
                                      .context = m};
    rtl_recording_describe(m->pid, &info);
    enum rtl_db_status status = rtl_recording_open(group->path, group->options->force, lock_wait_ms(group), &info,
                                                   &m->recording, why, sizeof why);
    if (status)
        record_failure(group, status, why);
    const struct rtl_probe_told *probe =
        !status && group->probe_of ? group->probe_of(group->probe_context, m->pid) : NULL;
    if (probe)
        rtl_recording_probe(m->recording, probe);
}

static bool write_frame(struct rtl_group_recorder *group, struct rtl_member_recording *m,
                        const struct rtl_snapshot *snapshot, uint64_t real_ns, bool ended)
{
    if (!m->recording)
        open_recording(group, m);
    if (!m->recording)
        return false;
    rtl_db_wait(rtl_recording_db(m->recording), lock_wait_ms(group));
    rtl_recording_mark_step(m->recording, group->step);
    enum rtl_db_status status = rtl_recording_add(m->recording, snapshot, real_ns, ended);
    char left_out[sizeof group->left_out];
    if (*rtl_recording_left_out(m->recording, left_out, sizeof left_out))
        memcpy(group->left_out, left_out, sizeof left_out);
    if (status)
        record_failure(group, status, rtl_recording_why(m->recording));
    return !status;
}

/* --- last states that could not be written yet --- */

/* Copies the snapshot with its names, which are freed with the process. NULL without memory. */
static struct rtl_snapshot *copy_with_names(const struct rtl_snapshot *snapshot)
{
    struct rtl_snapshot *copy = malloc(sizeof *copy);
    size_t bytes = 1;
    if (!copy || !rtl_snapshot_copy(snapshot, copy)) {
        free(copy);
        return NULL;
    }
    for (uint32_t i = 0; i < copy->kernel_count; i++)
        bytes += copy->kernels[i].name_length + 1;
    char *at = rtl_snapshot_allocate(copy, bytes);
    for (uint32_t i = 0; at && i < copy->kernel_count; i++) {
        struct rtl_kernel_snapshot *k = &copy->kernels[i];
        memcpy(at, k->name, k->name_length);
        at[k->name_length] = 0;
        k->name = at;
        at += k->name_length + 1;
    }
    if (at)
        return copy;
    rtl_snapshot_free(copy);
    free(copy);
    return NULL;
}

static void free_pending(struct rtl_member_recording *m)
{
    if (m->pending)
        rtl_snapshot_free(m->pending);
    free(m->pending);
    m->pending = NULL;
}

static void keep_pending(struct rtl_group_recorder *group, struct rtl_member_recording *m,
                         const struct rtl_snapshot *snapshot, uint64_t real_ns)
{
    uint32_t pending = 0;
    for (uint32_t i = 0; i < group->count; i++)
        pending += group->members[i].pending != NULL;
    /* the old names point into the process's memory, which is freed next */
    struct rtl_names *names = pending < RTL_GROUP_PENDING ? rtl_names_create() : NULL;
    m->pending = names ? copy_with_names(snapshot) : NULL;
    m->pending_real_ns = real_ns;
    if (!m->pending) {
        group->lost = group->last;
        rtl_names_free(names);
        return;
    }
    rtl_names_free(m->names);
    m->names = names;
    m->model_names = NULL;
}

static void close_member(struct rtl_member_recording *m)
{
    if (m->first)
        return;
    rtl_recording_close(m->recording);
    m->recording = NULL;
}

enum rtl_db_status rtl_group_recorder_end_frame(struct rtl_group_recorder *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct rtl_member_recording *m = &group->members[i];
        if (m->pending && write_frame(group, m, m->pending, m->pending_real_ns, true)) {
            free_pending(m);
            close_member(m);
        }
    }
    enum rtl_db_status status = group->lost ? group->lost : group->last;
    group->last = RTL_DB_OK;
    group->busy = false;
    group->frame_members = 0;
    return status;
}

/* --- frames --- */

void rtl_group_recorder_probe(struct rtl_group_recorder *group, pid_t pid, const struct rtl_probe_told *probe)
{
    for (uint32_t i = 0; i < group->count; i++) {
        struct rtl_member_recording *m = &group->members[i];
        if (m->pid == pid && m->recording && !m->ended)
            rtl_recording_probe(m->recording, probe);
    }
}

struct rtl_recording *rtl_group_recorder_open_first(struct rtl_group_recorder *group, pid_t pid, const char *title,
                                                    struct rtl_names *model_names)
{
    struct rtl_member_recording *m = find_or_add_member(group, 0, pid);
    if (!m) {
        record_failure(group, RTL_DB_FAILED, "out of memory");
        return NULL;
    }
    m->title = title;
    m->model_names = model_names;
    m->first = true;
    open_recording(group, m);
    return m->recording;
}

void rtl_group_recorder_add(void *context, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                            uint64_t real_ns, bool ended)
{
    struct rtl_group_recorder *group = context;
    struct rtl_member_recording *m = find_or_add_member(group, number, pid);
    if (!m) {
        record_failure(group, RTL_DB_FAILED, "too many processes have come and gone for one recording");
        return;
    }
    if (m->ended)
        return;
    group->frame_members++;
    enum rtl_db_status before = group->last;
    bool written = write_frame(group, m, snapshot, real_ns, ended);
    m->ended = ended;
    if (!ended)
        return;
    if (written) {
        close_member(m); /* its names are freed with the process */
    } else {
        keep_pending(group, m, snapshot, real_ns);
        if (m->pending)
            group->last = before; /* not a failure yet: the next frame tries again */
    }
}

void rtl_group_recorder_free(struct rtl_group_recorder *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        rtl_recording_close(group->members[i].recording);
        free_pending(&group->members[i]);
        rtl_names_free(group->members[i].names);
    }
    free(group->members);
    group->members = NULL;
    group->count = 0;
}
