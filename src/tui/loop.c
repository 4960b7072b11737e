/*
 * The screen's loop: wait for a key or for the next interval, change the state, draw. A recording is shown by the same
 * loop: its frames come out of a player in place of the reader, at the pace at which they were recorded.
 *
 * Intervals are counted from fixed points in time, so they don't drift; one that was missed (the machine slept, the
 * viewer was stopped) is left out.
 */
#include "tui/loop.h"
#include "base/clock.h"
#include "model/merge.h"
#include "model/model_pause.h"
#include "options/complain.h"
#include "options/config.h"
#include "watch/player.h"
#include "watch/frame_recorder.h"
#include "watch/proc_scan.h"
#include "watch/process_set.h"
#include "watch/proc_title.h"
#include "text/text.h"
#include "watch/heartbeat.h"
#include "launch/launch.h"
#include "tui/draw.h"
#include "tui/mouse.h"
#include "tui/save.h"
#include "tui/screen.h"
#include "tui/scroll.h"
#include "tui/ui.h"
#include "tui/loop_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The screen is held; the recording is not, nor what the screen shows afterwards. */
static void sample_paused(struct rtl_loop *w, bool alive)
{
    struct rtl_snapshot snapshot = {0};
    bool goes_on = w->held && w->held->state != RTL_TARGET_EXITED;
    if ((goes_on || w->recorder.recording) && rtl_process_set_snapshot(w->targets, &snapshot) == RTL_READER_OK) {
        rtl_loop_record(w, &snapshot, rtl_process_set_real_ns(w->targets), !alive);
        if (goes_on)
            rtl_model_pause_add(w->held, w->ui.model, &snapshot, rtl_process_set_real_ns(w->targets));
        if (goes_on && !alive)
            rtl_model_exited(w->held);
    }
    rtl_snapshot_free(&snapshot);
    if (!alive) {
        rtl_frame_recorder_stop(&w->recorder);
        rtl_ui_say(&w->ui, "process %d has exited meanwhile; Space shows its last state", (int)w->ui.pid);
    }
}

/* Shows a frame of the recording; what can't be read ends the replay where it is. A user who wants to leave is not kept
 * waiting: the event says how. */
void rtl_loop_show_frame(struct rtl_loop *w, uint32_t frame)
{
    w->ui.now_mono_ns = rtl_mono_ns();
    enum rtl_db_status status = rtl_player_show(w->player, frame);
    if (status == RTL_DB_STOPPED) {
        w->ui.frame = w->player->at;
        return;
    }
    if (status) {
        rtl_ui_say(&w->ui, "%s", rtl_player_why(w->player));
        w->ui.model->damaged = w->ended = true;
    }
    w->ui.frame = w->player->at;
    w->ui.probe = w->player->probe;
    if (*w->player->left_out)
        rtl_ui_say(&w->ui, "%s", w->player->left_out);
    w->player->left_out[0] = 0;
    if (w->player->group)
        snprintf(w->ui.title, sizeof w->ui.title, "%s", w->player->title);
    w->samples++;
}

/* How long the frame that is shown stays. */
static uint64_t frame_ns(const struct rtl_loop *w)
{
    double ns = (double)rtl_player_gap(w->player) / w->ui.speed;
    return ns < 0.02e9 ? RTL_SEC / 50 : ns < 3600e9 ? (uint64_t)ns : 3600 * RTL_SEC;
}

/* Now and then: it means a look at every process's files. */
static void look_for_untraced(struct rtl_loop *w)
{
    enum { SHARE = 100 }; /* of the time, at most one part in so many */
    uint64_t from = rtl_mono_ns();
    if (w->ui.view != RTL_VIEW_PROCESSES || from < w->untraced_ns)
        return;
    struct rtl_process_row *rows = calloc(RTL_MEMBERS_MAX, sizeof *rows);
    if (rows)
        rtl_untraced_find(&w->untraced, rows, rtl_process_rows(w->ui.model, rows, RTL_MEMBERS_MAX));
    free(rows);
    w->ui.untraced = &w->untraced;
    uint64_t pause = (rtl_mono_ns() - from) * SHARE;
    w->untraced_ns = rtl_mono_ns() + (pause > 2 * RTL_SEC ? pause : 2 * RTL_SEC);
}

static void sample_one(struct rtl_loop *w)
{
    struct rtl_snapshot snapshot = {0};
    if (w->ended || w->ui.loading)
        return;
    if (w->player) {
        if (!w->ui.paused && w->player->at + 1 < w->player->frames)
            rtl_loop_show_frame(w, w->player->at + 1);
        return;
    }
    w->ui.now_mono_ns = rtl_mono_ns();
    rtl_process_set_send_heartbeat(w->targets, w->ui.model);
    bool alive = rtl_process_set_alive(w->targets); /* asked first: a snapshot after the end is the last state */
    if (w->ui.paused) {
        sample_paused(w, alive);
        return;
    }
    enum rtl_reader_status status = rtl_process_set_snapshot(w->targets, &snapshot);
    if (status == RTL_READER_OK) {
        w->out_of_memory = !rtl_model_add(w->ui.model, &snapshot, rtl_process_set_real_ns(w->targets));
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
    if (w->ui.model->latest && w->ui.model->latest->snapshot.parts)
        rtl_process_set_title(w->targets, w->ui.title, sizeof w->ui.title);
    if (status == RTL_READER_OK && !w->out_of_memory)
        rtl_loop_record(w, &w->ui.model->latest->snapshot, w->ui.model->latest->real_ns, !alive);
    if (w->ended)
        rtl_frame_recorder_stop(&w->recorder);
    if (w->out_of_memory)
        rtl_ui_say(&w->ui, "out of memory: the picture may be incomplete");
}

/* Those that can't be seen go on: what lies behind this one, and what was left, here or there; until one says true. */
static bool each_unseen(struct rtl_loop *w, bool (*visit)(struct rtl_loop *))
{
    for (struct rtl_loop *at = w; at; at = at->parent) {
        if (at != w && visit(at))
            return true;
        if (at->kept && visit(at->kept))
            return true;
    }
    return false;
}

static bool sample_unseen(struct rtl_loop *w)
{
    if (!w->player)
        sample_one(w);
    return false;
}

static void sample(struct rtl_loop *w)
{
    rtl_loop_step_probes(w); /* what is recorded has what is known by now */
    each_unseen(w, sample_unseen);
    sample_one(w);
    if (!w->player)
        look_for_untraced(w);
}

void rtl_loop_show(struct rtl_loop *w, bool repaint)
{
    int rows, cols;
    rtl_screen_size(&rows, &cols);
    w->ui.now_mono_ns = rtl_mono_ns();
    rtl_loop_step_probes(w);
    rtl_loop_tell_record(w);
    w->ui.now_real_s = (int64_t)((w->player ? rtl_player_time(w->player, w->player->at) : rtl_real_ns()) / RTL_SEC);
    rtl_ui_scroll_into_view(&w->ui, rows, cols);
    if (!rtl_frame_reset(&w->frame, rows, cols, w->ui.ascii))
        return;
    rtl_draw(&w->ui, &w->frame);
    rtl_screen_show(&w->frame, repaint);
}

static const uint64_t SLICE_NS = RTL_SEC / 60, LOADING_SHOWN_NS = RTL_SEC / 10;
static const uint64_t PROBE_NS = RTL_SEC / 5; /* between two looks at a probe that runs */

/* A slice of what many processes have, between which keys are answered; the last one is the first whole frame. */
static void load(struct rtl_loop *w)
{
    w->ui.loading = rtl_process_set_load_slice(w->targets, SLICE_NS);
    w->ui.loaded = rtl_process_set_loaded(w->targets);
    w->ui.loaded_of = rtl_process_set_count(w->targets);
    if (w->ui.loading) {
        if (rtl_mono_ns() - w->loading_shown_ns < LOADING_SHOWN_NS)
            return;
        w->loading_shown_ns = rtl_mono_ns();
    } else {
        rtl_model_pause_free(w->held); /* there was nothing to hold */
        w->held = NULL;
        w->ui.paused = false;
        rtl_model_forget(w->ui.model, 0);
        sample(w);
        w->next_ns = rtl_mono_ns() + w->ui.interval_ns;
    }
    rtl_loop_show(w, false);
}

/* The first frame: of as many processes as can be had in a moment. */
static void begin(struct rtl_loop *w)
{
    struct rtl_snapshot snapshot = {0};
    if (!rtl_process_set_load_slice(w->targets, SLICE_NS)) {
        sample(w);
        return;
    }
    w->ui.now_mono_ns = rtl_mono_ns();
    rtl_process_set_send_heartbeat(w->targets, w->ui.model);
    if (rtl_process_set_snapshot_partial(w->targets, &snapshot) == RTL_READER_OK)
        w->ui.loading = rtl_model_add(w->ui.model, &snapshot, rtl_process_set_real_ns(w->targets));
    if (!w->ui.loading)
        sample(w);
    w->ui.loaded = rtl_process_set_loaded(w->targets);
    w->ui.loaded_of = rtl_process_set_count(w->targets);
}

/* A pause begins, or is over: then the screen has what came in meanwhile. */
static void hold(struct rtl_loop *w)
{
    if (w->player || w->ui.paused == (w->held != NULL))
        return;
    if (w->ui.paused) {
        w->held = w->ended ? NULL : rtl_model_pause(w->ui.model);
        return;
    }
    w->out_of_memory = !rtl_model_resume(w->ui.model, w->held);
    w->held = NULL;
    w->ended |= w->ui.model->state == RTL_TARGET_EXITED;
}

static uint64_t interval(const struct rtl_loop *w)
{
    return w->player ? frame_ns(w) : w->ui.interval_ns;
}

/* What has become of the command that we started; false when it is over, as the user wanted. */
static bool look_at_launched(struct rtl_loop *w)
{
    struct rtl_launch *launch = w->options->launch;
    if (!launch)
        return true;
    bool ended = rtl_launch_ended(launch);
    w->ui.launched = ended ? RTL_LAUNCHED_NO : launch->end_requests ? RTL_LAUNCHED_ENDING : RTL_LAUNCHED_RUNS;
    return !ended || !launch->end_requests;
}

static void end_launched(struct rtl_loop *w)
{
    rtl_launch_terminate(w->options->launch);
    rtl_ui_say(&w->ui, "process %d was told to end: the screen goes when it has; q asks again",
               (int)w->options->launch->pid);
}

/* False when the user wants to leave. */
static bool press(struct rtl_loop *w, uint32_t key)
{
    w->ui.now_mono_ns = rtl_mono_ns();
    if (!look_at_launched(w))
        return false;
    unsigned asked =
        key & RTL_KEY_MOUSE ? rtl_ui_mouse(&w->ui, key, w->frame.rows, w->frame.cols) : rtl_ui_key(&w->ui, key);
    if (asked & RTL_UI_QUIT)
        return false;
    hold(w);
    if (asked & RTL_UI_SAMPLE) {
        if (!w->player)
            sample(w);
        w->next_ns = rtl_mono_ns() + interval(w);
    }
    if (asked & RTL_UI_STEP && (w->ui.step > 0 || w->player->at))
        rtl_loop_show_frame(w, w->player->at + (uint32_t)w->ui.step);
    if (asked & RTL_UI_SEEK)
        rtl_loop_show_frame(w, rtl_player_find(w->player, w->ui.seek_ns));
    if (asked & RTL_UI_RECORD)
        rtl_loop_toggle_record(w);
    if (asked & RTL_UI_SNAPSHOT)
        rtl_loop_take_snapshot(w);
    if (asked & RTL_UI_MODE && !w->player)
        rtl_loop_ask_for_mode(w);
    if (asked & (RTL_UI_PROBE | RTL_UI_STALLS))
        rtl_loop_toggle_probe(w, asked & RTL_UI_STALLS);
    if (asked & RTL_UI_END)
        end_launched(w);
    if (asked & RTL_UI_SAVE)
        rtl_ui_save(&w->ui, w->options);
    if (asked & RTL_UI_COPY)
        rtl_screen_copy(w->ui.copy);
    if (asked & RTL_UI_PROCESSES && w->parent)
        return !(w->back = true);
    if (asked & (RTL_UI_GO_IN | RTL_UI_PROCESSES) && !rtl_loop_visit(w, asked & RTL_UI_GO_IN ? w->ui.go_in : 0))
        return false;
    look_for_untraced(w);
    if (asked)
        rtl_loop_show(w, asked & RTL_UI_REPAINT);
    return true;
}

static void check_background(struct rtl_loop *w)
{
    struct rtl_loop *first = w;
    while (first->parent)
        first = first->parent;
    const char *trouble = first->background ? first->background->trouble(first->background->context) : NULL;
    if (!trouble)
        return;
    rtl_ui_say(&w->ui, "the trace has ended: %s", trouble);
    first->background = NULL;
}

static bool read_some(struct rtl_loop *w)
{
    return w->targets && !w->ended && !w->ui.loading && rtl_process_set_read_slice(w->targets, SLICE_NS);
}

/* A slice of what the next frame needs, between which keys are answered. False when all of it has been read. */
static bool read_slice(struct rtl_loop *w)
{
    return each_unseen(w, read_some) || read_some(w);
}

static void next_frame(struct rtl_loop *w)
{
    uint64_t now = rtl_mono_ns();
    if (read_slice(w))
        return; /* it stays due */
    sample(w);
    check_background(w);
    rtl_loop_show(w, false);
    w->next_ns += interval(w);
    if (w->next_ns <= now)
        w->next_ns = now + interval(w);
}

/* Between two samples of a long interval: the clock goes on, and the end of the process is not waited for. */
static void between_frames(struct rtl_loop *w)
{
    if (!w->player && !w->ended) {
        rtl_process_set_send_heartbeat(w->targets, w->ui.model);
        if (!rtl_process_set_alive(w->targets))
            sample(w);
    }
    check_background(w);
    rtl_loop_show(w, false);
}

/* The frames that were asked for are shown; of one that has ended the last stays. */
static bool has_enough(const struct rtl_loop *w)
{
    for (; w; w = w->parent)
        if (w->options->frames && w->samples >= w->options->frames && !w->ended)
            return true;
    return false;
}

/* Waits until then, or for a key; what the next key may need is made meanwhile, in slices that nobody notices. */
static struct rtl_event wait_for_event(struct rtl_loop *w, uint64_t until)
{
    enum { NAMES_AT_ONCE = 200 };
    for (;;) {
        bool more = rtl_model_prepare(w->ui.model, NAMES_AT_ONCE);
        struct rtl_event event = rtl_screen_wait(more ? 0 : until);
        if (!more || event.kind != RTL_EVENT_TIMEOUT || rtl_mono_ns() >= until)
            return event;
    }
}

int rtl_loop_run(struct rtl_loop *w)
{
    if (w->player)
        rtl_loop_show_frame(w, w->first_frame);
    else if (!w->samples) /* one that is come back to has gone on */
        begin(w);
    if (!w->ui.model->latest && w->player && !w->ended) { /* left before the first frame */
        struct rtl_event event = rtl_screen_wait(0);
        rtl_screen_close();
        if (event.kind == RTL_EVENT_SIGNAL)
            rtl_screen_die(event.signal);
        return 0;
    }
    if (!w->ui.model->latest)
        return w->player ? (int)RTL_DB_CORRUPT : (int)RTL_READER_VERSION;
    rtl_loop_show(w, true);
    if (w->next_ns <= rtl_mono_ns())
        w->next_ns = rtl_mono_ns() + interval(w);
    while (!has_enough(w)) {
        if (!look_at_launched(w))
            return 0;
        uint64_t soon = rtl_mono_ns() + (w->ui.launched == RTL_LAUNCHED_ENDING ? RTL_SEC / 20
                                         : rtl_loop_has_probe(w)               ? PROBE_NS
                                                                               : RTL_SEC);
        struct rtl_event event = wait_for_event(w, w->ui.loading                     ? 0
                                                   : soon + RTL_SEC / 2 < w->next_ns ? soon
                                                                                     : w->next_ns);
        switch (event.kind) {
        case RTL_EVENT_TIMEOUT:
            if (w->ui.loading)
                load(w);
            else if (rtl_mono_ns() >= w->next_ns)
                next_frame(w);
            else
                between_frames(w);
            break;
        case RTL_EVENT_KEY:
            if (!press(w, event.key))
                return w->left;
            break;
        case RTL_EVENT_RESIZE:
            rtl_loop_show(w, true);
            break;
        case RTL_EVENT_SIGNAL:
            rtl_screen_close();
            rtl_loop_drop_probes(w);
            if (w->options->launch)
                rtl_launch_report(w->options->launch);
            rtl_screen_die(event.signal);
        case RTL_EVENT_GONE:
            return RTL_READER_USAGE;
        }
    }
    return 0;
}

bool rtl_loop_prepare(struct rtl_loop *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    struct rtl_model *model = rtl_model_create();
    if (!model)
        return false;
    rtl_ui_init(&w->ui, model, pid, title);
    w->ui.columns = options->columns;
    memcpy(w->ui.column_places, options->column_places, sizeof w->ui.column_places);
    w->ui.now_mono_ns = rtl_mono_ns();
    if (*rtl_config_trouble()) /* it was told before the screen, which hides that */
        rtl_ui_say(&w->ui, "%s", rtl_config_trouble());
    w->ui.interval_ns = options->delay_ns;
    w->ui.names = options->names;
    w->ui.units = options->units;
    w->ui.ascii = options->ascii;
    model->window_ns = options->window_ns;
    model->sort = options->sort;
    model->reverse = options->reverse;
    snprintf(model->filter, sizeof model->filter, "%s", options->filter);
    if (options->launch) {
        rtl_text_escape(w->ui.log, sizeof w->ui.log, options->launch->log, strlen(options->launch->log));
        w->ui.now_mono_ns = rtl_mono_ns();
        rtl_ui_say(&w->ui, "its output goes into %s", w->ui.log);
    }
    if (options->list_first)
        w->ui.view = RTL_VIEW_PROCESSES;
    if (w->player) {
        w->player->model = model;
        w->ui.replay = true;
        const char *path = options->replay, *slash = strrchr(path, '/');
        rtl_text_escape(w->ui.file, sizeof w->ui.file, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
        w->ui.frames = w->player->frames;
        w->ui.interval_ns = rtl_player_interval(w->player);
        rtl_player_names(w->player, options->ascii);
    }
    rtl_frame_recorder_init(&w->recorder, model, options, pid, w->ui.title);
    w->recorder.set = w->targets;
    return true;
}

void rtl_loop_release(struct rtl_loop *w)
{
    rtl_loop_free_probe(w);
    rtl_frame_recorder_stop(&w->recorder);
    rtl_frame_free(&w->frame);
    rtl_model_pause_free(w->held);
    rtl_model_free(w->ui.model);
    rtl_untraced_free(&w->untraced);
}

static int watch(struct rtl_loop *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    char why[256];
    if (!rtl_loop_prepare(w, pid, title)) {
        rtl_complain("out of memory");
        return RTL_READER_USAGE;
    }
    int status = 0;
    if (options->write && rtl_frame_recorder_start(&w->recorder, RTL_WATCH_BUSY_MS)) {
        rtl_complain("%s", w->recorder.why);
        status = (int)w->recorder.last;
    } else if (!rtl_screen_open(options->theme, !options->no_mouse, why, sizeof why)) {
        rtl_complain("%s", why);
        status = RTL_READER_USAGE;
    } else {
        rtl_db_stop_when(rtl_screen_leaving);
        status = rtl_loop_run(w);
        rtl_db_stop_when(NULL);
        rtl_screen_close();
        rtl_loop_drop_kept(w);
        rtl_frame_recorder_stop(&w->recorder);
        if (w->recorder.missing) {
            rtl_complain("the end of the recording is missing: %s", w->recorder.missing_why);
            status = (int)w->recorder.missing;
        }
        if (status == RTL_READER_VERSION)
            rtl_complain("the segment of process %d is damaged: nothing in it can be shown", (int)pid);
        if (w->player && rtl_player_why(w->player)[0]) {
            rtl_complain("%s", rtl_player_why(w->player));
            status = RTL_DB_CORRUPT;
        }
    }
    rtl_loop_drop_kept(w);
    rtl_loop_release(w);
    return status;
}

int rtl_loop_live(const struct rtl_options *options, struct rtl_process_set *targets,
                  const struct rtl_trace_status *background)
{
    struct rtl_loop w = {.options = options, .targets = targets, .background = background};
    char title[sizeof w.ui.title];
    rtl_process_set_title(targets, title, sizeof title);
    return watch(&w, rtl_process_set_pid(targets), title);
}

int rtl_loop_replay(const struct rtl_options *options, struct rtl_player *player)
{
    struct rtl_loop w = {.options = options, .player = player};
    return watch(&w, player->pid, player->title);
}
