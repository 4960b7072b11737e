/* Frames into a stream, without a terminal: -b, --csv, --json. */
#include "tui/output.h"
#include "tui/target.h"
#include "tui/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NS = 200 * 1000000 }; /* how soon the end of the process is noticed in a long interval */

/* Waits for the deadline; false once the process has ended. */
static bool wait_until(struct rtl_reader *reader, uint64_t deadline)
{
    for (;;) {
        uint64_t now = rtl_mono_ns();
        if (!rtl_reader_alive(reader))
            return false;
        if (now >= deadline)
            return true;
        uint64_t until = deadline - now > LOOK_NS ? now + LOOK_NS : deadline;
        struct timespec t = {.tv_sec = (time_t)(until / RTL_SEC), .tv_nsec = (long)(until % RTL_SEC)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

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

/* 0, or the exit status after an error was reported; -1 when the reader of a pipe went away, which is no error. */
static int flush(FILE *out, const char *name)
{
    errno = 0;
    if (!fflush(out) && !ferror(out))
        return 0;
    if (errno == EPIPE)
        return -1;
    rtl_complain("cannot write to %s: %s", name, errno ? strerror(errno) : "write error");
    return RTL_READER_USAGE;
}

static int run(struct rtl_output_frame *frame, struct rtl_reader *reader, FILE *out, const char *name)
{
    const struct rtl_options *o = frame->options;
    uint64_t next = rtl_mono_ns();
    for (bool alive = true;;) {
        struct rtl_snapshot snapshot = {0};
        alive = alive && rtl_reader_alive(reader);
        enum rtl_reader_status status = rtl_reader_snapshot(reader, &snapshot);
        if (status == RTL_READER_VERSION) {
            rtl_complain("the segment of process %d is damaged: nothing more can be shown", (int)frame->pid);
            return RTL_READER_VERSION;
        }
        if (status != RTL_READER_OK || !rtl_model_add(frame->model, &snapshot, rtl_real_ns())) {
            rtl_complain("out of memory");
            return RTL_READER_USAGE;
        }
        if (!alive)
            rtl_model_exited(frame->model);
        if (!write_frame(frame, out)) {
            rtl_complain("out of memory");
            return RTL_READER_USAGE;
        }
        int wrong = flush(out, name);
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
        alive = wait_until(reader, next);
    }
}

int rtl_batch(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid)
{
    char title[160];
    const char *name = options->file ? options->file : "standard output";
    signal(SIGPIPE, SIG_IGN); /* an error of the stream tells more */
    FILE *out = options->file ? fopen(options->file, "we") : stdout;
    if (!out) {
        rtl_complain("cannot open %s: %s", options->file, strerror(errno));
        return RTL_READER_USAGE;
    }
    struct rtl_output_frame frame = {.model = rtl_model_create(), .options = options, .pid = pid, .title = title};
    int status = RTL_READER_USAGE;
    if (frame.model) {
        rtl_target_title(pid, "", title, sizeof title);
        frame.model->window_ns = options->window_ns;
        frame.model->sort = options->sort;
        frame.model->reverse = options->reverse;
        snprintf(frame.model->filter, sizeof frame.model->filter, "%s", options->filter);
        status = run(&frame, reader, out, name);
        rtl_model_free(frame.model);
    } else {
        rtl_complain("out of memory");
    }
    if (options->file && fclose(out) && (!status || status == RTL_READER_EXITED)) {
        rtl_complain("cannot write to %s: %s", name, strerror(errno));
        status = RTL_READER_USAGE;
    }
    return status;
}
