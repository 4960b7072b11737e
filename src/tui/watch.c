/*
 * The screen's loop: wait for a key or for the next interval, change the state, draw.
 *
 * Intervals are counted from fixed points in time, so they don't drift; one that was missed (the machine slept, the
 * viewer was stopped) is left out.
 */
#include "tui/watch.h"
#include "tui/draw.h"
#include "tui/screen.h"
#include "tui/target.h"
#include "tui/ui.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct watch {
    const struct rtl_options *options;
    struct rtl_reader *reader;
    struct rtl_ui ui;
    struct rtl_frame frame;
    uint64_t next_ns; /* when the next snapshot is due */
    uint64_t samples;
    bool ended; /* the last snapshot was taken: nothing more will come */
    bool out_of_memory;
};

void rtl_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rtl-top: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void sample(struct watch *w)
{
    struct rtl_snapshot snapshot = {0};
    if (w->ended)
        return;
    w->ui.now_mono_ns = rtl_mono_ns();
    bool alive = rtl_reader_alive(w->reader); /* asked first: a snapshot after the end is the last state */
    if (w->ui.paused) {
        if (!alive)
            rtl_ui_say(&w->ui, "process %d has exited meanwhile; Space shows its last state", (int)w->ui.pid);
        return;
    }
    enum rtl_reader_status status = rtl_reader_snapshot(w->reader, &snapshot);
    if (status == RTL_READER_OK) {
        w->out_of_memory = !rtl_model_add(w->ui.model, &snapshot, rtl_real_ns());
        w->samples++;
    } else if (status == RTL_READER_VERSION) {
        w->ui.model->damaged = w->ended = true;
    } else {
        w->out_of_memory = true;
    }
    if (!alive) {
        rtl_model_exited(w->ui.model);
        w->ended = true;
    }
    if (w->out_of_memory)
        rtl_ui_say(&w->ui, "out of memory: the picture may be incomplete");
}

static void show(struct watch *w, bool repaint)
{
    int rows, cols;
    rtl_screen_size(&rows, &cols);
    w->ui.now_mono_ns = rtl_mono_ns();
    w->ui.now_real_s = (int64_t)(rtl_real_ns() / RTL_SEC);
    rtl_ui_fit(&w->ui, rows, cols);
    if (!rtl_frame_reset(&w->frame, rows, cols, w->ui.ascii))
        return;
    rtl_draw(&w->ui, &w->frame);
    rtl_screen_show(&w->frame, repaint);
}

/* False when the user wants to leave. */
static bool press(struct watch *w, uint32_t key)
{
    w->ui.now_mono_ns = rtl_mono_ns();
    unsigned asked = rtl_ui_key(&w->ui, key);
    if (asked & RTL_UI_QUIT)
        return false;
    if (asked & RTL_UI_SAMPLE) {
        sample(w);
        w->next_ns = rtl_mono_ns() + w->ui.interval_ns;
    }
    if (asked & RTL_UI_COPY)
        rtl_screen_copy(w->ui.copy);
    if (asked)
        show(w, asked & RTL_UI_REPAINT);
    return true;
}

static void tick(struct watch *w)
{
    uint64_t now = rtl_mono_ns();
    sample(w);
    show(w, false);
    w->next_ns += w->ui.interval_ns;
    if (w->next_ns <= now)
        w->next_ns = now + w->ui.interval_ns;
}

/* Between two samples of a long interval: the clock goes on, and the end of the process is not waited for. */
static void look(struct watch *w)
{
    if (!w->ended && !rtl_reader_alive(w->reader))
        sample(w);
    show(w, false);
}

static int run(struct watch *w)
{
    sample(w);
    if (!w->ui.model->latest)
        return RTL_READER_VERSION;
    show(w, true);
    w->next_ns = rtl_mono_ns() + w->ui.interval_ns;
    while (!w->options->frames || w->samples < w->options->frames || w->ended) {
        uint64_t soon = rtl_mono_ns() + RTL_SEC;
        struct rtl_event event = rtl_screen_wait(soon + RTL_SEC / 2 < w->next_ns ? soon : w->next_ns);
        switch (event.kind) {
        case RTL_EVENT_TIMEOUT:
            if (rtl_mono_ns() >= w->next_ns)
                tick(w);
            else
                look(w);
            break;
        case RTL_EVENT_KEY:
            if (!press(w, event.key))
                return 0;
            break;
        case RTL_EVENT_RESIZE:
            show(w, true);
            break;
        case RTL_EVENT_SIGNAL:
            rtl_screen_close();
            rtl_screen_die(event.signal);
        case RTL_EVENT_GONE:
            return RTL_READER_USAGE;
        }
    }
    return 0;
}

int rtl_watch(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid)
{
    struct watch w = {.options = options, .reader = reader};
    char why[256], title[sizeof w.ui.title];
    struct rtl_model *model = rtl_model_create();
    if (!model) {
        rtl_complain("out of memory");
        return RTL_READER_USAGE;
    }
    rtl_target_title(pid, "", title, sizeof title);
    rtl_ui_init(&w.ui, model, pid, title);
    w.ui.interval_ns = options->delay_ns;
    w.ui.names = options->names;
    w.ui.units = options->units;
    w.ui.ascii = options->ascii;
    model->window_ns = options->window_ns;
    model->sort = options->sort;
    model->reverse = options->reverse;
    snprintf(model->filter, sizeof model->filter, "%s", options->filter);
    if (!rtl_screen_open(!options->no_color, why, sizeof why)) {
        rtl_complain("%s", why);
        rtl_model_free(model);
        return RTL_READER_USAGE;
    }
    int status = run(&w);
    rtl_screen_close();
    if (status == RTL_READER_VERSION)
        rtl_complain("the segment of process %d is damaged: nothing in it can be shown", (int)pid);
    rtl_frame_free(&w.frame);
    rtl_model_free(model);
    return status;
}
