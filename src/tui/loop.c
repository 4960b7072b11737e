/*
 * The loop of one screen: wait for a key or the next interval, change the state, draw. A replay runs in the same loop:
 * a player supplies the frames at the recorded pace.
 *
 * Intervals are counted from fixed times, so they don't drift. An interval that was missed (the machine slept, the
 * viewer was stopped) is skipped.
 */
#include "base/clock.h"
#include "base/plain_file.h"
#include "launch/launch.h"
#include "tui/draw_views.h"
#include "tui/screen.h"
#include "tui/ui_state.h"
#include "tui/loop_state.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/* A pause holds only the screen: the recording and the model for the time after the pause go on. */
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
        rtl_ui_say(&w->ui, "process %d has exited; Space shows its last state", (int)w->ui.pid);
    }
}

/* Show a frame of the recording. A frame that can't be read ends the replay. Reading stops when the user wants to leave
 * (rtl_screen_leaving); rtl_screen_wait then returns the key or signal. */
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

/* Search processes that are not traced; limited in time, because it reads files of every process. */
static void find_untraced(struct rtl_loop *w)
{
    enum { SHARE = 100 }; /* at most one hundredth of the time */
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
    bool alive = rtl_process_set_alive(w->targets); /* before the snapshot: one after the end has the last state */
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
    const struct rtl_restart *restart = rtl_process_set_restart(w->targets);
    w->ui.restart = restart ? restart : w->ui.restart; /* the restart of an ended process stays on screen */
    if (w->ui.model->latest && w->ui.model->latest->snapshot.parts)
        rtl_process_set_title(w->targets, w->ui.title, sizeof w->ui.title);
    if (status == RTL_READER_OK && !w->out_of_memory)
        rtl_loop_record(w, &w->ui.model->latest->snapshot, w->ui.model->latest->real_ns, !alive);
    if (w->ended)
        rtl_frame_recorder_stop(&w->recorder);
    if (w->out_of_memory)
        rtl_ui_say(&w->ui, "out of memory: the screen may be incomplete");
}

static void sample_all(struct rtl_loop *w)
{
    rtl_loop_step_probes(w); /* before recording: frames contain the state of probes */
    for (struct rtl_loop *at = rtl_loop_next(w); at; at = rtl_loop_next(at))
        if (!at->player)
            sample_one(at);
    sample_one(w);
    if (!w->player)
        find_untraced(w);
}

static void read_caption(const char *file, char *out, size_t size)
{
    char line[256];
    struct stat st;
    int fd = rtl_plain_file_open(open(file, O_PATH | O_CLOEXEC), &st);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line) : 0;
    if (fd >= 0)
        close(fd);
    const char *end = n > 0 ? memchr(line, '\n', (size_t)n) : line;
    rtl_text_escape(out, size, line, end ? (size_t)(end - line) : (size_t)n);
}

static void show_screen(struct rtl_loop *w, bool repaint)
{
    int rows, cols;
    rtl_screen_size(&rows, &cols);
    w->ui.now_mono_ns = rtl_mono_ns();
    if (w->options->caption)
        read_caption(w->options->caption, w->ui.caption, sizeof w->ui.caption);
    rtl_loop_step_probes(w);
    rtl_loop_update_record(w);
    w->ui.now_real_s = (int64_t)((w->player ? rtl_player_time(w->player, w->player->at) : rtl_real_ns()) / RTL_SEC);
    rtl_ui_scroll_into_view(&w->ui, rows, cols);
    if (!rtl_frame_reset(&w->frame, rows, cols, w->ui.ascii))
        return;
    rtl_draw(&w->ui, &w->frame);
    rtl_screen_show(&w->frame, repaint);
}

static const uint64_t SLICE_NS = RTL_SEC / 60, LOADING_SHOWN_NS = RTL_SEC / 10;
static const uint64_t PROBE_NS = RTL_SEC / 5; /* between two steps of a probe that runs */

/* Read a slice of many processes; keys are handled between slices. The last slice completes the first frame. */
static void load_slice(struct rtl_loop *w)
{
    w->ui.loading = rtl_process_set_load_slice(w->targets, SLICE_NS);
    w->ui.loaded = rtl_process_set_loaded(w->targets);
    w->ui.loaded_of = rtl_process_set_count(w->targets);
    if (w->ui.loading) {
        if (rtl_mono_ns() - w->loading_shown_ns < LOADING_SHOWN_NS)
            return;
        w->loading_shown_ns = rtl_mono_ns();
    } else {
        rtl_model_pause_free(w->held); /* a pause during loading holds nothing */
        w->held = NULL;
        w->ui.paused = false;
        rtl_model_forget(w->ui.model, 0);
        sample_all(w);
        w->next_ns = rtl_mono_ns() + w->ui.interval_ns;
    }
    show_screen(w, false);
}

/* Show the first frame with the processes that one slice of time can read. */
static void show_first_frame(struct rtl_loop *w)
{
    struct rtl_snapshot snapshot = {0};
    if (!rtl_process_set_load_slice(w->targets, SLICE_NS)) {
        sample_all(w);
        return;
    }
    w->ui.now_mono_ns = rtl_mono_ns();
    rtl_process_set_send_heartbeat(w->targets, w->ui.model);
    if (rtl_process_set_snapshot_partial(w->targets, &snapshot) == RTL_READER_OK)
        w->ui.loading = rtl_model_add(w->ui.model, &snapshot, rtl_process_set_real_ns(w->targets));
    if (!w->ui.loading)
        sample_all(w);
    w->ui.loaded = rtl_process_set_loaded(w->targets);
    w->ui.loaded_of = rtl_process_set_count(w->targets);
}

/* Begin a pause, or end it: the model then gets the snapshots of the pause. */
static void apply_pause(struct rtl_loop *w)
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

/* Return the time from this frame to the next one. */
static uint64_t frame_interval(const struct rtl_loop *w)
{
    if (!w->player)
        return w->ui.interval_ns;
    double ns = (double)rtl_player_gap(w->player) / w->ui.speed;
    return ns < 0.02e9 ? RTL_SEC / 50 : ns < 3600e9 ? (uint64_t)ns : 3600 * RTL_SEC;
}

/* Update the state of the command that rtl-top run started. False: it ended after the user asked for that. */
static bool check_launched(struct rtl_loop *w)
{
    struct rtl_launch *launch = w->options->launch;
    if (!launch)
        return true;
    bool ended = rtl_launch_ended(launch);
    if (ended && w->ui.prompt == RTL_PROMPT_LEAVE) { /* the command that it asks about has ended */
        w->ui.prompt = RTL_PROMPT_NONE;
        rtl_ui_say(&w->ui, "the command has ended; q quits");
    }
    w->ui.launched = ended ? RTL_LAUNCHED_NO : launch->end_requests ? RTL_LAUNCHED_ENDING : RTL_LAUNCHED_RUNS;
    return !ended || !launch->end_requests;
}

/* Handle a key or an event of the mouse. False: leave this screen (`back`, `visit` or for good). */
static bool handle_key(struct rtl_loop *w, uint32_t key)
{
    w->ui.now_mono_ns = rtl_mono_ns();
    if (!check_launched(w))
        return false;
    unsigned asked =
        key & RTL_KEY_MOUSE ? rtl_ui_mouse(&w->ui, key, w->frame.rows, w->frame.cols) : rtl_ui_key(&w->ui, key);
    if (asked & RTL_UI_QUIT)
        return false;
    apply_pause(w);
    if (asked & RTL_UI_SAMPLE) {
        if (!w->player)
            sample_all(w);
        w->next_ns = rtl_mono_ns() + frame_interval(w);
    }
    if (asked & RTL_UI_STEP && (w->ui.step > 0 || w->player->at))
        rtl_loop_show_frame(w, w->player->at + (uint32_t)w->ui.step);
    if (asked & RTL_UI_SEEK)
        rtl_loop_show_frame(w, rtl_player_find(w->player, w->ui.seek_ns));
    if (asked & RTL_UI_RECORD)
        rtl_loop_toggle_record(w);
    if (asked & RTL_UI_SNAPSHOT)
        rtl_loop_write_snapshot(w);
    if (asked & RTL_UI_MODE && !w->player)
        rtl_loop_request_mode(w);
    if (asked & (RTL_UI_PROBE | RTL_UI_STALLS))
        rtl_loop_toggle_probe(w, asked & RTL_UI_STALLS);
    if (asked & RTL_UI_END) {
        rtl_launch_terminate(w->options->launch);
        rtl_ui_say(&w->ui, "asked process %d to end: the screen closes when it has; q asks again",
                   (int)w->options->launch->pid);
    }
    if (asked & RTL_UI_SAVE)
        rtl_loop_save(w);
    if (asked & RTL_UI_COPY)
        rtl_screen_copy(w->ui.copy);
    if (asked & RTL_UI_PROCESSES && w->parent)
        w->back = true;
    else if (asked & (RTL_UI_GO_IN | RTL_UI_PROCESSES)) {
        w->visit = true;
        w->visit_pid = asked & RTL_UI_GO_IN ? w->ui.go_in : 0;
    }
    if (w->back || w->visit)
        return false;
    find_untraced(w);
    if (asked)
        show_screen(w, asked & RTL_UI_REPAINT);
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

/* Read a slice of the next frame, hidden screens first; keys are handled between slices. False: everything is read. */
static bool read_slice(struct rtl_loop *w)
{
    for (struct rtl_loop *at = rtl_loop_next(w);; at = rtl_loop_next(at)) {
        struct rtl_loop *one = at ? at : w;
        if (one->targets && !one->ended && !one->ui.loading && rtl_process_set_read_slice(one->targets, SLICE_NS))
            return true;
        if (!at)
            return false;
    }
}

static void next_frame(struct rtl_loop *w)
{
    uint64_t now = rtl_mono_ns();
    if (read_slice(w))
        return; /* the frame stays due */
    sample_all(w);
    check_background(w);
    show_screen(w, false);
    w->next_ns += frame_interval(w);
    if (w->next_ns <= now)
        w->next_ns = now + frame_interval(w);
}

/* Between two samples of a long interval: update the clock, and notice the end of the process. */
static void between_frames(struct rtl_loop *w)
{
    if (!w->player && !w->ended) {
        rtl_process_set_send_heartbeat(w->targets, w->ui.model);
        if (!rtl_process_set_alive(w->targets))
            sample_all(w);
    }
    check_background(w);
    show_screen(w, false);
}

/* True when the number of frames (option -n) was shown. The last frame of an ended process stays. */
static bool has_enough(const struct rtl_loop *w)
{
    for (; w; w = w->parent)
        if (w->options->frames && w->samples >= w->options->frames && !w->ended)
            return true;
    return false;
}

/* Wait for a key or the deadline. Meanwhile prepare names that the next key may need, in short slices. */
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
    const bool begins = !w->begun; /* otherwise the user returned to it; it went on sampling */
    w->begun = true;
    if (begins && w->player)
        rtl_loop_show_frame(w, w->first_frame);
    else if (begins)
        show_first_frame(w);
    if (!w->ui.model->latest && w->player && !w->ended) { /* the user quit before the first frame */
        struct rtl_event event = rtl_screen_wait(0);
        rtl_screen_close();
        if (event.kind == RTL_EVENT_SIGNAL)
            rtl_screen_die(event.signal);
        return 0;
    }
    if (!w->ui.model->latest)
        return w->player ? (int)RTL_DB_CORRUPT : (int)RTL_READER_VERSION;
    if (!begins)
        find_untraced(w);
    show_screen(w, true);
    if (begins)
        w->next_ns = rtl_mono_ns() + frame_interval(w);
    while (!has_enough(w)) {
        if (!check_launched(w))
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
                load_slice(w);
            else if (rtl_mono_ns() >= w->next_ns)
                next_frame(w);
            else
                between_frames(w);
            break;
        case RTL_EVENT_KEY:
            w->ui.at_once = event.at_once;
            if (!handle_key(w, event.key))
                return 0;
            break;
        case RTL_EVENT_RESIZE:
            show_screen(w, true);
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
