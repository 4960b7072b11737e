/* Writes frames into a stream without a terminal: -b, --csv, --json, live or of a recording. Also --snapshot. */
#include "command/output.h"
#include "base/clock.h"
#include "base/write_all.h"
#include "command/run.h"
#include "record/outfile.h"
#include "options/complain.h"
#include "watch/player.h"
#include "watch/frame_recorder.h"
#include "watch/process_set.h"
#include "watch/restart.h"
#include "text/text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 200 * 1000000 }; /* longest time until a process's end is noticed */

/* Waits for the deadline; false once all processes have ended. */
static bool wait_until(struct rtl_process_set *set, struct rtl_model *model, uint64_t deadline, bool watched)
{
    for (;;) {
        uint64_t now = rtl_mono_ns();
        if (watched)
            rtl_process_set_send_heartbeat(set, model);
        if (!rtl_process_set_alive(set))
            return false;
        if (now >= deadline)
            return true;
        uint64_t until = deadline - now > POLL_NS ? now + POLL_NS : deadline;
        struct timespec t = {.tv_sec = (time_t)(until / RTL_SEC), .tv_nsec = (long)(until % RTL_SEC)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

/* The output: a file of the user, or standard output. */
struct frame_stream {
    const char *name;
    struct rtl_outfile *file; /* NULL = standard output */
    int fd;
    off_t good; /* length of the file's complete frames */
};

static bool write_frame(const struct rtl_output_frame *frame, FILE *out)
{
    switch (frame->options->output) {
    case RTL_OUTPUT_JSON:
        return rtl_output_json(frame, out);
    case RTL_OUTPUT_CSV:
        return rtl_output_csv(frame, out);
    default:
        return rtl_output_text(frame, out);
    }
}

/* Writes a frame. Returns 0, an exit status after a complaint, or -1 if the pipe's reader has closed it, which is no
 * error. The file gets its name with its first frame and never keeps half of one. */
static int put_frame(const struct rtl_output_frame *frame, struct frame_stream *s)
{
    char *bytes = NULL, why[512];
    size_t size = 0;
    FILE *memory = open_memstream(&bytes, &size);
    bool made = memory && write_frame(frame, memory);
    if (memory && fclose(memory))
        made = false;
    bool written = made && rtl_write_all(s->fd, bytes, size);
    int error = errno;
    free(bytes);
    if (!made)
        return RTL_WRONG("out of memory");
    if (!written && error == EPIPE)
        return -1;
    if (!written) {
        rtl_complain("cannot write to %s: %s", s->name, strerror(error));
        if (s->file && rtl_outfile_is_file(s->file) && ftruncate(s->fd, s->good))
            rtl_complain("%s ends with half a frame: %s", s->name, strerror(errno));
        return RTL_DB_FULL;
    }
    s->good += (off_t)size;
    if (s->file && !rtl_outfile_place(s->file, why, sizeof why))
        return rtl_refuse(RTL_DB_PATH, "%s", why);
    return 0;
}

/* Reports once that processes are left out. */
static void report_left_out(const struct rtl_process_set *set, bool *reported)
{
    char text[256];
    if (*reported || !rtl_process_set_left_out(set))
        return;
    *reported = true;
    rtl_process_set_explain_left_out(set, text, sizeof text);
    rtl_complain("%s", text);
}

/* Adds a frame to the recording, if any. Reports the first of successive failures; frames and recording continue. */
static void record_frame(struct rtl_frame_recorder *recorder, const struct rtl_sample *sample, bool exited)
{
    enum rtl_db_status before = recorder->last;
    if (rtl_frame_recorder_add(recorder, &sample->snapshot, sample->real_ns, exited) && !before)
        rtl_complain("recording: %s", recorder->why);
}

static int write_frames(struct rtl_output_frame *frame, struct rtl_process_set *set,
                        struct rtl_frame_recorder *recorder, struct frame_stream *out, char *title, size_t title_bytes)
{
    const struct rtl_options *o = frame->options;
    uint64_t next = rtl_mono_ns();
    /* A single frame shows the interval that begins now. A recorded one has no window, like its replay. */
    bool wait = o->frames == 1 && o->window_ns != RTL_WINDOW_ALL && !o->write;
    if (o->frames == 1) /* a script that reads one frame must not switch mode auto to timing */
        rtl_process_set_read_heartbeat(set, frame->model);
    else
        rtl_process_set_send_heartbeat(set, frame->model);
    bool reported = false;
    for (bool alive = true;;) {
        struct rtl_snapshot snapshot = {0};
        alive = alive && rtl_process_set_alive(set);
        enum rtl_reader_status status = rtl_process_set_snapshot(set, &snapshot);
        if (status == RTL_READER_VERSION)
            return rtl_refuse(RTL_READER_VERSION, "the segment of process %d is damaged: nothing more can be shown",
                              (int)frame->pid);
        if (status != RTL_READER_OK || !rtl_model_add(frame->model, &snapshot, rtl_process_set_real_ns(set)))
            return RTL_WRONG("out of memory");
        if (wait && alive) {
            wait = false;
            next += o->delay_ns;
            alive = wait_until(set, frame->model, next, false);
            continue;
        }
        if (!alive)
            rtl_model_exited(frame->model);
        record_frame(recorder, frame->model->latest, !alive);
        report_left_out(set, &reported);
        if (!frame->number && o->frames != 1 && frame->model->no_heartbeat[0] &&
            frame->model->latest->snapshot.mode == RTL_MODE_AUTO)
            rtl_complain("mode auto counts without timing: %s", frame->model->no_heartbeat);
        if (frame->model->latest->snapshot.parts)
            rtl_process_set_title(set, title, title_bytes);
        const struct rtl_restart *restart = rtl_process_set_restart(set);
        frame->restart = restart ? restart->whole : frame->restart;
        int wrong = put_frame(frame, out);
        if (wrong)
            return wrong < 0 ? 0 : wrong;
        if (!alive)
            return RTL_READER_EXITED;
        if (++frame->number == o->frames)
            return 0;
        next += o->delay_ns;
        uint64_t now = rtl_mono_ns();
        if (next < now)
            next = now;
        alive = wait_until(set, frame->model, next, true);
    }
}

static struct rtl_model *make_model(const struct rtl_options *options)
{
    struct rtl_model *model = rtl_model_create();
    if (!model || (options->step && !rtl_model_mark_step(model, options->step))) {
        rtl_complain("out of memory");
        rtl_model_free(model);
        return NULL;
    }
    model->window_ns = options->window_ns;
    model->sort = options->sort;
    model->reverse = options->reverse;
    snprintf(model->filter, sizeof model->filter, "%s", options->filter);
    return model;
}

static bool open_output(const struct rtl_options *o, struct frame_stream *s)
{
    /* the output must not overwrite a file that is read or recorded into */
    const struct rtl_outfile_options options = {.force = o->force, .others = {o->replay, o->write, o->trace}};
    char why[512];
    signal(SIGPIPE, SIG_IGN); /* write then fails with EPIPE */
    *s = (struct frame_stream){.name = o->file ? o->file : "standard output", .fd = STDOUT_FILENO};
    if (!o->file)
        return true;
    s->file = rtl_outfile_open(o->file, &options, why, sizeof why);
    if (s->file)
        s->fd = rtl_outfile_fd(s->file);
    else
        rtl_complain("%s", why);
    return s->file != NULL;
}

int rtl_batch(const struct rtl_options *options, struct rtl_process_set *set)
{
    char title[160];
    pid_t pid = rtl_process_set_pid(set);
    struct rtl_frame_recorder recorder;
    struct frame_stream out;
    if (!open_output(options, &out))
        return RTL_DB_PATH;
    struct rtl_output_frame frame = {.model = make_model(options), .options = options, .pid = pid, .title = title};
    int status = RTL_READER_USAGE;
    if (frame.model) {
        rtl_process_set_title(set, title, sizeof title);
        rtl_frame_recorder_init(&recorder, frame.model, options, pid, title);
        recorder.set = set;
        if (options->write && rtl_frame_recorder_start(&recorder, 0)) {
            status = rtl_refuse((int)recorder.last, "%s", recorder.why);
        } else {
            status = write_frames(&frame, set, &recorder, &out, title, sizeof title);
            if (recorder.last && (!status || status == RTL_READER_EXITED))
                status = (int)recorder.last; /* the recording lacks the last frame */
            rtl_frame_recorder_stop(&recorder);
        }
        rtl_model_free(frame.model);
    }
    rtl_outfile_close(out.file);
    return status;
}

/* Writes all frames of a recording as fast as possible. */
int rtl_batch_replay(const struct rtl_options *options, struct rtl_player *player)
{
    struct frame_stream out;
    if (!open_output(options, &out))
        return RTL_DB_PATH;
    struct rtl_output_frame frame = {.model = make_model(options),
                                     .options = options,
                                     .pid = player->pid,
                                     .title = player->title,
                                     .probe = &player->probe};
    int status = frame.model ? 0 : RTL_READER_USAGE;
    player->model = frame.model;
    if (!status) {
        rtl_player_names(player, options->ascii);
        rtl_player_mark_step(player, options);
    }
    bool beside = options->file || !isatty(STDOUT_FILENO); /* on the terminal, frames show the progress */
    if (beside)
        rtl_progress_begin("writing the frames of", options->replay);
    while (!status && frame.number < player->frames && (!options->frames || frame.number < options->frames)) {
        status = (int)rtl_player_show(player, (uint32_t)frame.number);
        if (status)
            rtl_complain("%s", rtl_player_why(player));
        else
            status = put_frame(&frame, &out);
        if (*player->left_out)
            rtl_complain("%s", player->left_out);
        player->left_out[0] = 0;
        frame.number++;
        rtl_progress_at(frame.number, player->frames);
    }
    rtl_progress_end();
    rtl_model_free(frame.model);
    rtl_outfile_close(out.file);
    return status < 0 ? 0 : status;
}

/* Prints to standard error if a started command owns standard output. */
static void report_written(unsigned kernels, pid_t pid, unsigned processes, bool observed,
                           const struct rtl_options *options)
{
    const char *plural = kernels == 1 ? "" : "s";
    char name[4 * PATH_MAX + 1], who[40]; /* longer names can't be opened */
    rtl_text_line(name, sizeof name, options->snapshot, strlen(options->snapshot));
    if (processes)
        snprintf(who, sizeof who, "%u process%s", processes, processes == 1 ? "" : "es");
    else
        snprintf(who, sizeof who, "process %d", (int)pid);
    const char *how = observed ? ", seen from outside: calls exact, times as far as they are known" : "";
    if (options->launch)
        rtl_complain("%u kernel%s of %s written to %s%s", kernels, plural, who, name, how);
    else
        printf("%u kernel%s of %s written to %s%s\n", kernels, plural, who, name, how);
}

int rtl_write_snapshot(const struct rtl_options *options, struct rtl_process_set *set)
{
    char title[160];
    pid_t pid = rtl_process_set_pid(set);
    struct rtl_frame_recorder recorder;
    struct rtl_snapshot snapshot = {0};
    struct rtl_model *model = make_model(options);
    int status = RTL_READER_USAGE;
    if (!model)
        return status;
    rtl_process_set_title(set, title, sizeof title);
    rtl_frame_recorder_init(&recorder, model, options, pid, title);
    recorder.set = set;
    status = (int)rtl_process_set_snapshot(set, &snapshot);
    if (status == RTL_READER_VERSION) {
        rtl_complain("the segment of process %d is damaged: nothing in it can be recorded", (int)pid);
    } else if (status) {
        rtl_complain("out of memory");
    } else {
        status =
            (int)rtl_frame_recorder_snapshot(&recorder, options->snapshot, &snapshot, rtl_process_set_real_ns(set), 0);
        if (status)
            rtl_complain("%s", recorder.why);
        else
            report_written(recorder.saved_kernels, pid, recorder.saved_processes, rtl_is_observed(&snapshot), options);
    }
    if (!status)
        report_left_out(set, &(bool){false});
    rtl_snapshot_free(&snapshot);
    rtl_model_free(model);
    return status;
}
