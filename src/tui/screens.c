/*
 * Screens over screens: one process of several, or from one process to all of them. Hidden screens go on sampling, so
 * that history and choices are complete when the user returns. See loop_state.h.
 */
#include "base/clock.h"
#include "options/complain.h"
#include "options/config.h"
#include "launch/launch.h"
#include "text/text.h"
#include "tui/loop_state.h"
#include "tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool prepare_screen(struct rtl_loop *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    struct rtl_model *model = rtl_model_create();
    if (!model)
        return false;
    rtl_ui_init(&w->ui, model, pid, title);
    w->ui.columns = options->columns;
    memcpy(w->ui.column_places, options->column_places, sizeof w->ui.column_places);
    w->ui.now_mono_ns = rtl_mono_ns();
    if (*rtl_config_trouble()) /* the screen hides what was printed before */
        rtl_ui_say(&w->ui, "%s", rtl_config_trouble());
    w->ui.interval_ns = options->delay_ns;
    w->ui.names = options->names;
    w->ui.units = options->units;
    w->ui.ascii = options->ascii;
    char settings[PATH_MAX];
    if (rtl_config_path(settings))
        rtl_text_escape(w->ui.settings, sizeof w->ui.settings, settings, strlen(settings));
    model->window_ns = options->window_ns;
    model->sort = options->sort;
    model->reverse = options->reverse;
    snprintf(model->filter, sizeof model->filter, "%s", options->filter);
    rtl_model_mark_step(model, options->step); /* without memory steps are chosen automatically */
    if (options->launch) {
        rtl_text_escape(w->ui.log, sizeof w->ui.log, options->launch->log, strlen(options->launch->log));
        rtl_ui_say(&w->ui, "command output: %s", w->ui.log);
    }
    if (options->list_first)
        w->ui.view = RTL_VIEW_PROCESSES;
    if (w->player) {
        w->player->model = model;
        w->ui.replay = true;
        const char *path = options->replay, *slash = strrchr(path, '/');
        rtl_text_escape(w->ui.file, sizeof w->ui.file, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
        w->ui.frames = w->player->frames;
        w->ui.interval_ns = rtl_replay_info(w->player->replay)->interval_ns;
        rtl_player_names(w->player, options->ascii);
        rtl_player_mark_step(w->player, options);
    }
    rtl_frame_recorder_init(&w->recorder, model, options, pid, w->ui.title);
    w->recorder.set = w->targets;
    rtl_loop_check_probes(w);
    return true;
}

static void release_screen(struct rtl_loop *w)
{
    rtl_loop_free_probe(w);
    rtl_frame_recorder_stop(&w->recorder);
    rtl_frame_free(&w->frame);
    rtl_model_pause_free(w->held);
    rtl_model_free(w->ui.model);
    rtl_untraced_free(&w->untraced);
}

/* Start the history of a screen of one process with the history that the screen of all has of it. */
static void copy_history(struct rtl_loop *alone, const struct rtl_loop *all, pid_t pid)
{
    const struct rtl_model *model = all->held ? all->held : all->ui.model;
    const struct rtl_parts *parts = model->latest ? model->latest->snapshot.parts : NULL;
    struct rtl_snapshot own = {0};
    for (uint32_t i = 0; parts && i < parts->member_count; i++) {
        const struct rtl_member *member = &parts->members[i];
        if (member->info.pid != pid || member->ended || rtl_process_set_snapshot(alone->targets, &own) != RTL_READER_OK)
            continue;
        if (!own.parts)
            rtl_model_begin_with_history(alone->ui.model, model, member->number, &own);
        rtl_snapshot_free(&own);
        return;
    }
}

static void copy_choices(struct rtl_options *options, const struct rtl_loop *w, pid_t pid)
{
    *options = *w->options;
    options->write = options->trace = options->process = NULL;
    options->frames = 0;
    options->pid = options->pids[0] = pid;
    options->pid_count = pid != 0;
    if (!pid && w->targets) /* observed processes are not found as traced ones */
        options->pid_count = rtl_process_set_observed_pids(w->targets, options->pids, RTL_PIDS_MAX);
    options->no_children = pid != 0;
    options->all = options->apart = options->list_first = pid == 0;
    options->delay_ns = w->ui.interval_ns;
    options->names = w->ui.names;
    options->units = w->ui.units;
    options->window_ns = w->ui.model->window_ns;
    options->sort = w->ui.model->sort;
    options->reverse = w->ui.model->reverse;
    options->filter = "";
    options->step = w->ui.model->step;
}

/* Close a screen over another one. The first screen reports frames that are missing in recordings, after it closed. */
static void close_screen(struct rtl_loop *n)
{
    struct rtl_frame_recorder *own = &n->recorder, *parents = &n->parent->recorder;
    if (n->kept)
        close_screen(n->kept);
    rtl_frame_recorder_stop(own);
    if (own->missing && !parents->missing) {
        parents->missing = own->missing;
        memcpy(parents->missing_why, own->missing_why, sizeof parents->missing_why);
    }
    release_screen(n);
    rtl_process_set_close(n->targets);
    if (n->player)
        rtl_player_close(n->player);
    free(n);
}

static void drop_kept(struct rtl_loop *w)
{
    if (w->kept)
        close_screen(w->kept);
    w->kept = NULL;
}

/* Open the recording of one process of a group, at the time of the frame that is shown. */
static bool open_recorded(struct rtl_loop *n, const struct rtl_loop *w, pid_t pid, char *why, size_t why_bytes)
{
    int64_t recording = w->player->group ? rtl_replay_group_recording(w->player->group, pid) : 0;
    if (!recording) {
        snprintf(why, why_bytes, "process %d is not in this recording", (int)pid);
        return false;
    }
    if (rtl_player_open(&n->own_player, w->options->replay, pid, recording, why, why_bytes))
        return false;
    n->player = &n->own_player;
    n->first_frame = rtl_player_find(n->player, rtl_player_time(w->player, w->player->at));
    return true;
}

/* Returns NULL with one line in `why` on failure. */
static struct rtl_loop *open_screen(struct rtl_loop *w, pid_t pid, char *why, size_t why_bytes)
{
    struct rtl_loop *n = calloc(1, sizeof *n);
    char title[sizeof w->ui.title];
    if (!n) {
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    copy_choices(&n->own, w, pid);
    n->options = &n->own;
    n->parent = w;
    bool opened = w->player ? open_recorded(n, w, pid, why, why_bytes)
                            : rtl_process_set_open(&n->own, &n->targets, why, why_bytes) == RTL_READER_OK;
    if (!opened) {
        free(n);
        return NULL;
    }
    if (n->player)
        snprintf(title, sizeof title, "%s", n->player->title);
    else
        rtl_process_set_title(n->targets, title, sizeof title);
    if (!prepare_screen(n, n->player ? pid : rtl_process_set_pid(n->targets), title)) {
        snprintf(why, why_bytes, "out of memory");
        close_screen(n);
        return NULL;
    }
    n->ui.opened = true;
    if (!pid)
        n->ui.process_from = w->ui.pid;
    if (!n->player)
        copy_history(n, w, pid);
    n->ui.speed = w->ui.speed;
    if (n->player && w->ui.paused) {
        n->ui.paused = true;
        n->ui.paused_ns = w->ui.paused_ns;
    }
    return n;
}

/* Return to this screen from `n`; a replay continues at the time that `n` showed. */
static void come_back(struct rtl_loop *w, struct rtl_loop *n, pid_t pid)
{
    char lost[sizeof w->ui.message] = "";
    if (w->kept && w->kept->recorder.recording)
        snprintf(lost, sizeof lost, "the recording of process %d has ended: only one hidden screen goes on",
                 (int)w->kept->ui.pid);
    w->next_ns = n->next_ns;
    if (w->player) {
        rtl_loop_show_frame(w, rtl_player_find(w->player, rtl_player_time(n->player, n->player->at)));
        w->ui.speed = n->ui.speed;
        w->ui.paused = n->ui.paused;
        w->ui.paused_ns = n->ui.paused_ns;
    }
    drop_kept(w);
    /* keep no screen of all processes: it would make all of them time their dispatches */
    if (pid && !n->player && !n->ended) {
        drop_kept(n);
        n->back = false;
        w->kept = n;
    } else {
        close_screen(n);
    }
    if (*lost)
        rtl_ui_say(&w->ui, "%s", lost);
}

static int run_screen(struct rtl_loop *w);

/* Open a screen over this one: of one process, or (pid 0) of all. False when the user leaves all screens. */
static bool visit_screen(struct rtl_loop *w, pid_t pid, int *status)
{
    char why[512] = "";
    struct rtl_loop *n = NULL, *parent = w->parent;
    if (pid && parent && parent->targets && rtl_process_set_is_single(parent->targets) && parent->ui.pid == pid) {
        w->back = true; /* the screen below shows this process */
        return true;
    }
    if (pid && w->kept && w->kept->ui.pid == pid && !w->kept->ended) {
        n = w->kept;
        w->kept = NULL;
        n->next_ns = w->next_ns;
    } else {
        n = open_screen(w, pid, why, sizeof why);
    }
    if (!n) {
        rtl_ui_say(&w->ui, "%s", why);
        return true;
    }
    *status = run_screen(n);
    bool failed = !n->ui.model->latest && *status;
    if (!n->back && !failed) {
        close_screen(n);
        return false;
    }
    come_back(w, n, pid);
    if (failed && !*w->ui.message)
        rtl_ui_say(&w->ui, "process %d can't be shown: its segment is damaged", (int)pid);
    return true;
}

/* Run a screen and the screens that the user opens from it; returns the exit status. */
static int run_screen(struct rtl_loop *w)
{
    for (;;) {
        int status = rtl_loop_run(w);
        if (!w->visit)
            return status;
        w->visit = false;
        if (!visit_screen(w, w->visit_pid, &status))
            return status;
        if (w->back)
            return 0;
    }
}

static int run_first_screen(struct rtl_loop *w, pid_t pid, const char *title)
{
    const struct rtl_options *options = w->options;
    char why[256];
    if (!prepare_screen(w, pid, title)) {
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
        status = run_screen(w);
        rtl_db_stop_when(NULL);
        rtl_screen_close();
        drop_kept(w);
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
    release_screen(w);
    return status;
}

int rtl_loop_live(const struct rtl_options *options, struct rtl_process_set *targets,
                  const struct rtl_trace_status *background)
{
    struct rtl_loop w = {.options = options, .targets = targets, .background = background};
    char title[sizeof w.ui.title];
    rtl_process_set_title(targets, title, sizeof title);
    return run_first_screen(&w, rtl_process_set_pid(targets), title);
}

int rtl_loop_replay(const struct rtl_options *options, struct rtl_player *player)
{
    struct rtl_loop w = {.options = options, .player = player};
    return run_first_screen(&w, player->pid, player->title);
}
