/* What the viewer has seen, into a file. See tape.h. */
#include "session/tape.h"

#include <stdio.h>
#include <string.h>

/* Both forms are the model's own: kernels are called in the file what they are called on the screen. */
static void tell(void *context, const struct rtl_kernel_snapshot *k, struct rtl_kernel_told *told)
{
    const struct rtl_tape *tape = context;
    struct rtl_names *n = tape->model->names;
    told->full = rtl_names_form(n, k->id, k->name, k->name_length, RTL_NAME_FULL);
    told->short_name =
        rtl_names_cell(n, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, tape->options->ascii);
}

void rtl_tape_init(struct rtl_tape *tape, struct rtl_model *model, const struct rtl_options *options, pid_t pid,
                   const char *title)
{
    memset(tape, 0, sizeof *tape);
    tape->model = model;
    tape->options = options;
    tape->pid = pid;
    tape->title = title;
    if (options->write)
        snprintf(tape->path, sizeof tape->path, "%s", options->write);
    else
        snprintf(tape->path, sizeof tape->path, "rtl-top-%d.db", (int)pid);
}

static enum rtl_db_status open_recording(struct rtl_tape *tape, const char *kind, const char *path, unsigned busy_ms,
                                         struct rtl_recording **recording)
{
    const struct rtl_recording_facts facts = {.kind = kind,
                                              .pid = tape->pid,
                                              .title = tape->title,
                                              .recorder = "rtl-top " RTL_TOP_VERSION,
                                              .interval_ns = tape->options->delay_ns,
                                              .tell = tell,
                                              .context = tape};
    return rtl_recording_open(path, tape->options->force, busy_ms, &facts, recording, tape->why, sizeof tape->why);
}

enum rtl_db_status rtl_tape_start(struct rtl_tape *tape, unsigned busy_ms)
{
    tape->last = open_recording(tape, RTL_RECORDING_SERIES, tape->path, busy_ms, &tape->recording);
    return tape->last;
}

enum rtl_db_status rtl_tape_add(struct rtl_tape *tape, const struct rtl_snapshot *snapshot, uint64_t real_ns,
                                bool exited)
{
    if (!tape->recording)
        return RTL_DB_OK;
    tape->last = rtl_recording_add(tape->recording, snapshot, real_ns, exited);
    if (tape->last)
        snprintf(tape->why, sizeof tape->why, "%s", rtl_recording_why(tape->recording));
    return tape->last;
}

void rtl_tape_stop(struct rtl_tape *tape)
{
    rtl_recording_close(tape->recording);
    tape->recording = NULL;
}

enum rtl_db_status rtl_tape_snapshot(struct rtl_tape *tape, const char *path, const struct rtl_snapshot *snapshot,
                                     uint64_t real_ns, unsigned busy_ms)
{
    struct rtl_recording *recording;
    enum rtl_db_status status = open_recording(tape, RTL_RECORDING_SNAPSHOT, path, busy_ms, &recording);
    if (!status) {
        status = rtl_recording_add(recording, snapshot, real_ns, false);
        if (status)
            snprintf(tape->why, sizeof tape->why, "%s", rtl_recording_why(recording));
        rtl_recording_close(recording);
    }
    return status;
}
