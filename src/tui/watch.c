/*
 * The screen's loop: wait for a key or for the next interval, change the state, draw. A recording is shown by the same
 * loop: its frames come out of a player in place of the reader, at the pace at which they were recorded.
 *
 * Intervals are counted from fixed points in time, so they don't drift; one that was missed (the machine slept, the
 * viewer was stopped) is left out.
 */
#include "tui/watch.h"
#include "base/clock.h"
#include "model/labels.h"
#include "model/member_past.h"
#include "model/merge.h"
#include "model/model_held.h"
#include "session/complain.h"
#include "session/config.h"
#include "session/player.h"
#include "session/frame_recorder.h"
#include "session/processes.h"
#include "session/targets.h"
#include "session/target.h"
#include "text/text.h"
#include "session/heartbeat.h"
#include "session/launch.h"
#include "tui/draw.h"
#include "tui/mouse.h"
#include "tui/save.h"
#include "tui/screen.h"
#include "tui/scroll.h"
#include "tui/ui.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct watch {
    const struct rtl_options *options;
    struct rtl_targets *targets; /* live processes, or NULL */
    struct rtl_player *player;   /* of a recording, or NULL */
    struct rtl_frame_recorder recorder;
    struct rtl_ui ui;
    struct rtl_frame frame;
    uint64_t next_ns; /* when the next snapshot is due */
    uint64_t samples;
    const struct rtl_background *background; /* until its trouble was reported; or NULL */
    bool ended;                              /* the last snapshot was taken: nothing more will come */
    bool out_of_memory;
    struct rtl_model *held; /* what comes in during a pause; or NULL */
    struct watch *parent;   /* the screen that this one was opened from, which goes on meanwhile; or NULL */
    bool back;              /* to the parent; else the user wants to leave altogether */
    int left;               /* the status with which a screen that was opened from here ended everything */
    struct rtl_untraced untraced;
    uint64_t untraced_ns; /* when to look for them again */
};

enum { SCREEN_BUSY_MS = 300 }; /* how long another writer of the recording may hold up the screen */

/* What the status line says about the recording. */
static void tell_record(struct watch *w)
{
    const struct rtl_recording *r = w->recorder.recording;
    const char *slash = strrchr(w->recorder.path, '/');
    if (!r)
        w->ui.record[0] = 0;
    else
        snprintf(w->ui.record, sizeof w->ui.record, "%s%.32s", w->recorder.last ? "FAILS " : "",
                 slash ? slash + 1 : w->recorder.path);
}

static void record(struct watch *w, const struct rtl_snapshot *snapshot, uint64_t real_ns, bool exited)
{
    enum rtl_db_status before = w->recorder.last;
    if (!w->recorder.recording)
        return;
    enum rtl_db_status now = rtl_frame_recorder_add(&w->recorder, snapshot, real_ns, exited);
    if (now && !before)
        rtl_ui_say(&w->ui, "recording: %s; it goes on when it can", w->recorder.why);
    if (before && !now)
        rtl_ui_say(&w->ui, "recording goes on: what was missed is in this frame");
    tell_record(w);
}

static void toggle_record(struct watch *w)
{
    if (w->recorder.recording) {
        rtl_ui_say(&w->ui, "recorded %llu frames into %s",
                   (unsigned long long)rtl_recording_frames(w->recorder.recording), w->recorder.path);
        rtl_frame_recorder_stop(&w->recorder);
    } else if (rtl_frame_recorder_start(&w->recorder, SCREEN_BUSY_MS)) {
        rtl_ui_say(&w->ui, "not recording: %s", w->recorder.why);
    } else {
        rtl_ui_say(&w->ui, "recording into %s", w->recorder.path);
        record(w, &w->ui.model->latest->snapshot, w->ui.model->latest->real_ns,
               w->ui.model->state == RTL_TARGET_EXITED);
    }
    tell_record(w);
}

static void take_snapshot(struct watch *w)
{
    const struct rtl_sample *latest = w->ui.model->latest;
    if (rtl_frame_recorder_snapshot(&w->recorder, w->recorder.path, &latest->snapshot, latest->real_ns, SCREEN_BUSY_MS))
        rtl_ui_say(&w->ui, "no snapshot: %s", w->recorder.why);
    else
        rtl_ui_say(&w->ui, "snapshot of %u kernels added to %s", latest->snapshot.kernel_count, w->recorder.path);
}

/* Whether the process took the mode up is on the coverage line of the next frames. */
static void ask_for_mode(struct watch *w)
{
    char why[256];
    int mode = w->ui.menu;
    if (mode < 0 || mode >= RTL_MODE_COUNT)
        return;
    if (rtl_targets_request_mode(w->targets, (enum rtl_mode)mode, why, sizeof why) != RTL_READER_OK) {
        rtl_ui_say(&w->ui, "%s", why);
        return;
    }
    rtl_targets_read_heartbeat(w->targets, w->ui.model);
    char who[40];
    snprintf(who, sizeof who, rtl_targets_only(w->targets) ? "process %u was" : "%u processes were",
             rtl_targets_only(w->targets) ? (unsigned)w->ui.pid : (unsigned)rtl_targets_count(w->targets));
    rtl_ui_say(&w->ui, "%s asked for mode %s%s", who, rtl_mode_label((unsigned)mode),
               w->ui.paused ? "; the screen is held and shows it after Space" : "");
}

/* The screen is held; the recording is not, nor what the screen shows afterwards. */
static void sample_paused(struct watch *w, bool alive)
{
    struct rtl_snapshot snapshot = {0};
    bool goes_on = w->held && w->held->state != RTL_TARGET_EXITED;
    if ((goes_on || w->recorder.recording) && rtl_targets_snapshot(w->targets, &snapshot) == RTL_READER_OK) {
        record(w, &snapshot, rtl_targets_real_ns(w->targets), !alive);
        if (goes_on)
            rtl_model_held_add(w->held, w->ui.model, &snapshot, rtl_targets_real_ns(w->targets));
        if (goes_on && !alive)
            rtl_model_exited(w->held);
    }
    rtl_snapshot_free(&snapshot);
    if (!alive) {
        rtl_frame_recorder_stop(&w->recorder);
        tell_record(w);
        rtl_ui_say(&w->ui, "process %d has exited meanwhile; Space shows its last state", (int)w->ui.pid);
    }
}

/* Shows a frame of the recording; what can't be read ends the replay where it is. A user who wants to leave is not kept
 * waiting: the event says how. */
static void show_frame(struct watch *w, uint32_t frame)
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
    if (w->player->group)
        snprintf(w->ui.title, sizeof w->ui.title, "%s", w->player->title);
    w->samples++;
}

/* How long the frame that is shown stays. */
static uint64_t frame_ns(const struct watch *w)
{
    double ns = (double)rtl_player_gap(w->player) / w->ui.speed;
    return ns < 0.02e9 ? RTL_SEC / 50 : ns < 3600e9 ? (uint64_t)ns : 3600 * RTL_SEC;
}

/* Now and then: it means a look at every process's files. */
static void look_for_untraced(struct watch *w)
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

static void sample(struct watch *w)
{
    struct rtl_snapshot snapshot = {0};
    if (w->parent)
        sample(w->parent);
    if (w->ended)
        return;
    if (w->player) {
        if (!w->ui.paused && w->player->at + 1 < w->player->frames)
            show_frame(w, w->player->at + 1);
        return;
    }
    w->ui.now_mono_ns = rtl_mono_ns();
    rtl_targets_heartbeat(w->targets, w->ui.model);
    bool alive = rtl_targets_alive(w->targets); /* asked first: a snapshot after the end is the last state */
    if (w->ui.paused) {
        sample_paused(w, alive);
        return;
    }
    enum rtl_reader_status status = rtl_targets_snapshot(w->targets, &snapshot);
    if (status == RTL_READER_OK) {
        w->out_of_memory = !rtl_model_add(w->ui.model, &snapshot, rtl_targets_real_ns(w->targets));
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
        rtl_targets_title(w->targets, w->ui.title, sizeof w->ui.title);
    if (status == RTL_READER_OK && !w->out_of_memory)
        record(w, &w->ui.model->latest->snapshot, w->ui.model->latest->real_ns, !alive);
    if (w->ended)
        rtl_frame_recorder_stop(&w->recorder);
    look_for_untraced(w);
    if (w->out_of_memory)
        rtl_ui_say(&w->ui, "out of memory: the picture may be incomplete");
}

static void show(struct watch *w, bool repaint)
{
    int rows, cols;
    rtl_screen_size(&rows, &cols);
    w->ui.now_mono_ns = rtl_mono_ns();
    w->ui.now_real_s = (int64_t)((w->player ? rtl_player_time(w->player, w->player->at) : rtl_real_ns()) / RTL_SEC);
    rtl_ui_fit(&w->ui, rows, cols);
    if (!rtl_frame_reset(&w->frame, rows, cols, w->ui.ascii))
        return;
    rtl_draw(&w->ui, &w->frame);
    rtl_screen_show(&w->frame, repaint);
}

/* A pause begins, or is over: then the screen has what came in meanwhile. */
static void hold(struct watch *w)
{
    if (w->player || w->ui.paused == (w->held != NULL))
        return;
    if (w->ui.paused) {
        w->held = w->ended ? NULL : rtl_model_hold_back(w->ui.model);
        return;
    }
    w->out_of_memory = !rtl_model_let_go(w->ui.model, w->held);
    w->held = NULL;
    w->ended |= w->ui.model->state == RTL_TARGET_EXITED;
}

static uint64_t interval(const struct watch *w)
{
    return w->player ? frame_ns(w) : w->ui.interval_ns;
}

/* What has become of the command that we started; false when it is over, as the user wanted. */
static bool look_at_launched(struct watch *w)
{
    struct rtl_launch *launch = w->options->launch;
    if (!launch)
        return true;
    bool ended = rtl_launch_ended(launch);
    w->ui.launched = ended ? RTL_LAUNCHED_NO : launch->told_to_end ? RTL_LAUNCHED_ENDING : RTL_LAUNCHED_RUNS;
    return !ended || !launch->told_to_end;
}

static void end_launched(struct watch *w)
{
    rtl_launch_end(w->options->launch);
    rtl_ui_say(&w->ui, "process %d was told to end: the screen goes when it has; q asks again",
               (int)w->options->launch->pid);
}

static bool go(struct watch *w, pid_t pid);

/* False when the user wants to leave. */
static bool press(struct watch *w, uint32_t key)
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
        show_frame(w, w->player->at + (uint32_t)w->ui.step);
    if (asked & RTL_UI_SEEK)
        show_frame(w, rtl_player_find(w->player, w->ui.seek_ns));
    if (asked & RTL_UI_RECORD)
        toggle_record(w);
    if (asked & RTL_UI_SNAPSHOT)
        take_snapshot(w);
    if (asked & RTL_UI_MODE && !w->player)
        ask_for_mode(w);
    if (asked & RTL_UI_END)
        end_launched(w);
    if (asked & RTL_UI_SAVE)
        rtl_ui_save(&w->ui, w->options);
    if (asked & RTL_UI_COPY)
        rtl_screen_copy(w->ui.copy);
    if (asked & RTL_UI_PROCESSES && w->parent)
        return !(w->back = true);
    if (asked & (RTL_UI_GO_IN | RTL_UI_PROCESSES) && !go(w, asked & RTL_UI_GO_IN ? w->ui.go_in : 0))
        return false;
    look_for_untraced(w);
    if (asked)
        show(w, asked & RTL_UI_REPAINT);
    return true;
}

static void check_background(struct watch *w)
{
    const char *trouble = w->background ? w->background->trouble(w->background->context) : NULL;
    if (!trouble)
        return;
    rtl_ui_say(&w->ui, "the trace has ended: %s", trouble);
    w->background = NULL;
}

static void next_frame(struct watch *w)
{
    uint64_t now = rtl_mono_ns();
    sample(w);
    check_background(w);
    show(w, false);
    w->next_ns += interval(w);
    if (w->next_ns <= now)
        w->next_ns = now + interval(w);
}

/* Between two samples of a long interval: the clock goes on, and the end of the process is not waited for. */
static void between_frames(struct watch *w)
{
    if (!w->player && !w->ended) {
        rtl_targets_heartbeat(w->targets, w->ui.model);
        if (!rtl_targets_alive(w->targets))
            sample(w);
    }
    check_background(w);
    show(w, false);
}

/* The frames that were asked for are shown; of one that has ended the last stays. */
static bool has_enough(const struct watch *w)
{
    for (; w; w = w->parent)
        if (w->options->frames && w->samples >= w->options->frames && !w->ended)
            return true;
    return false;
}

/* Waits until then, or for a key; what the next key may need is made meanwhile, in slices that nobody notices. */
static struct rtl_event wait_for_event(struct watch *w, uint64_t until)
{
    enum { NAMES_AT_ONCE = 200 };
    for (;;) {
        bool more = rtl_model_prepare(w->ui.model, NAMES_AT_ONCE);
        struct rtl_event event = rtl_screen_wait(more ? 0 : until);
        if (!more || event.kind != RTL_EVENT_TIMEOUT || rtl_mono_ns() >= until)
            return event;
    }
}

static int run(struct watch *w)
{
    if (w->player)
        show_frame(w, 0);
    else
        sample(w);
    if (!w->ui.model->latest && w->player && !w->ended) { /* left before the first frame */
        struct rtl_event event = rtl_screen_wait(0);
        rtl_screen_close();
        if (event.kind == RTL_EVENT_SIGNAL)
            rtl_screen_die(event.signal);
        return 0;
    }
    if (!w->ui.model->latest)
        return w->player ? (int)RTL_DB_CORRUPT : (int)RTL_READER_VERSION;
    show(w, true);
    w->next_ns = rtl_mono_ns() + interval(w);
    while (!has_enough(w)) {
        if (!look_at_launched(w))
            return 0;
        uint64_t soon = rtl_mono_ns() + (w->ui.launched == RTL_LAUNCHED_ENDING ? RTL_SEC / 20 : RTL_SEC);
        struct rtl_event event = wait_for_event(w, soon + RTL_SEC / 2 < w->next_ns ? soon : w->next_ns);
        switch (event.kind) {
        case RTL_EVENT_TIMEOUT:
            if (rtl_mono_ns() >= w->next_ns)
                next_frame(w);
            else
                between_frames(w);
            break;
        case RTL_EVENT_KEY:
            if (!press(w, event.key))
                return w->left;
            break;
        case RTL_EVENT_RESIZE:
            show(w, true);
            break;
        case RTL_EVENT_SIGNAL:
            rtl_screen_close();
            if (w->options->launch)
                rtl_launch_tell(w->options->launch);
            rtl_screen_die(event.signal);
        case RTL_EVENT_GONE:
            return RTL_READER_USAGE;
        }
    }
    return 0;
}

static bool prepare(struct watch *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    struct rtl_model *model = rtl_model_create();
    if (!model)
        return false;
    rtl_ui_init(&w->ui, model, pid, title);
    w->ui.columns = options->columns;
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
    rtl_frame_recorder_init(&w->recorder, model, options, pid, w->ui.title);
    w->recorder.targets = w->targets;
    return true;
}

static void release(struct watch *w)
{
    rtl_frame_recorder_stop(&w->recorder);
    rtl_frame_free(&w->frame);
    rtl_model_held_free(w->held);
    rtl_model_free(w->ui.model);
    rtl_untraced_free(&w->untraced);
}

/* What this screen has seen of the process is the beginning of the one that shows it alone. */
static void begin_with_past(struct watch *alone, const struct watch *all, pid_t pid)
{
    const struct rtl_model *model = all->held ? all->held : all->ui.model;
    const struct rtl_parts *parts = model->latest ? model->latest->snapshot.parts : NULL;
    struct rtl_snapshot own = {0};
    for (uint32_t i = 0; parts && i < parts->member_count; i++) {
        const struct rtl_member *member = &parts->members[i];
        if (member->info.pid != pid || member->ended || rtl_targets_snapshot(alone->targets, &own) != RTL_READER_OK)
            continue;
        if (!own.parts)
            rtl_model_begin_with_past(alone->ui.model, model, member->number, &own);
        rtl_snapshot_free(&own);
        return;
    }
}

/* A screen over this one: of one process alone, or (pid 0) of all. False when the user wants to leave altogether. */
static bool go(struct watch *w, pid_t pid)
{
    struct rtl_options options = *w->options;
    struct watch *n = calloc(1, sizeof *n);
    char why[512] = "out of memory", title[sizeof w->ui.title];
    options.write = options.trace = options.process = NULL;
    options.frames = 0;
    options.pid = options.pids[0] = pid;
    options.pid_count = pid != 0;
    options.no_children = pid != 0;
    options.all = options.apart = options.list_first = pid == 0;
    options.delay_ns = w->ui.interval_ns;
    options.names = w->ui.names;
    options.units = w->ui.units;
    options.window_ns = w->ui.model->window_ns;
    options.sort = w->ui.model->sort;
    options.reverse = w->ui.model->reverse;
    options.filter = "";
    if (!n || rtl_targets_open(&options, &n->targets, why, sizeof why) != RTL_READER_OK) {
        rtl_ui_say(&w->ui, "%s", why);
        free(n);
        return true;
    }
    n->options = &options;
    n->parent = w;
    rtl_targets_title(n->targets, title, sizeof title);
    bool stays = true;
    if (prepare(n, rtl_targets_pid(n->targets), title)) {
        begin_with_past(n, w, pid);
        int status = run(n);
        stays = n->back || (!n->ui.model->latest && status);
        w->left = status;
        release(n);
    } else {
        rtl_ui_say(&w->ui, "out of memory");
    }
    rtl_targets_close(n->targets);
    free(n);
    if (stays)
        show(w, true);
    return stays;
}

static int watch(struct watch *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    char why[256];
    if (!prepare(w, pid, title)) {
        rtl_complain("out of memory");
        return RTL_READER_USAGE;
    }
    struct rtl_model *model = w->ui.model;
    if (w->player) {
        w->player->model = model;
        w->ui.replay = true;
        w->ui.frames = w->player->frames;
        w->ui.interval_ns = rtl_player_interval(w->player);
        rtl_player_names(w->player, options->ascii);
    }
    int status = 0;
    if (options->write && rtl_frame_recorder_start(&w->recorder, SCREEN_BUSY_MS)) {
        rtl_complain("%s", w->recorder.why);
        status = (int)w->recorder.last;
    } else if (!rtl_screen_open(options->theme, !options->no_mouse, why, sizeof why)) {
        rtl_complain("%s", why);
        status = RTL_READER_USAGE;
    } else {
        rtl_db_stop_when(rtl_screen_leaving);
        status = run(w);
        rtl_db_stop_when(NULL);
        rtl_screen_close();
        if (w->recorder.recording && w->recorder.last) {
            rtl_complain("the end of the recording is missing: %s", w->recorder.why);
            status = (int)w->recorder.last;
        }
        if (status == RTL_READER_VERSION)
            rtl_complain("the segment of process %d is damaged: nothing in it can be shown", (int)pid);
        if (w->player && rtl_player_why(w->player)[0]) {
            rtl_complain("%s", rtl_player_why(w->player));
            status = RTL_DB_CORRUPT;
        }
    }
    release(w);
    return status;
}

int rtl_watch(const struct rtl_options *options, struct rtl_targets *targets, const struct rtl_background *background)
{
    struct watch w = {.options = options, .targets = targets, .background = background};
    char title[sizeof w.ui.title];
    rtl_targets_title(targets, title, sizeof title);
    return watch(&w, rtl_targets_pid(targets), title);
}

int rtl_watch_replay(const struct rtl_options *options, struct rtl_player *player)
{
    struct watch w = {.options = options, .player = player};
    return watch(&w, player->pid, player->title);
}
