/*
 * Screens over a screen: a process of several alone, or all processes from one alone. What can't be seen goes on, so
 * that nothing is missing when it is come back to: not the history, and not what was chosen there. See watch_state.h.
 */
#include "model/member_snapshot.h"
#include "model/model.h"
#include "model/model_pause.h"
#include "tui/loop_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this screen has seen of the process is the beginning of the one that shows it alone. */
static void begin_with_past(struct rtl_loop *alone, const struct rtl_loop *all, pid_t pid)
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

static void choose_as(struct rtl_options *options, const struct rtl_loop *w, pid_t pid)
{
    *options = *w->options;
    options->write = options->trace = options->process = NULL;
    options->frames = 0;
    options->pid = options->pids[0] = pid;
    options->pid_count = pid != 0;
    if (!pid && w->targets) /* what is only observed would not be among all */
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
}

/* What is missing of its recording is told when all is over, by the first screen. */
static void close_watch(struct rtl_loop *n)
{
    struct rtl_frame_recorder *own = &n->recorder, *parents = &n->parent->recorder;
    rtl_loop_drop_kept(n);
    rtl_frame_recorder_stop(own);
    if (own->missing && !parents->missing) {
        parents->missing = own->missing;
        memcpy(parents->missing_why, own->missing_why, sizeof parents->missing_why);
    }
    rtl_loop_release(n);
    rtl_process_set_close(n->targets);
    if (n->player)
        rtl_player_close(n->player);
    free(n);
}

void rtl_loop_drop_kept(struct rtl_loop *w)
{
    if (w->kept)
        close_watch(w->kept);
    w->kept = NULL;
}

/* Of a recording of several processes: one of them, at the moment that is shown. */
static bool open_recorded(struct rtl_loop *n, const struct rtl_loop *w, pid_t pid, char *why, size_t why_bytes)
{
    int64_t recording = w->player->group ? rtl_replay_group_recording(w->player->group, pid) : 0;
    if (!recording) {
        snprintf(why, why_bytes, "process %d is not in the recording any more", (int)pid);
        return false;
    }
    if (rtl_player_open(&n->own_player, w->options->replay, pid, recording, why, why_bytes))
        return false;
    n->player = &n->own_player;
    n->first_frame = rtl_player_find(n->player, rtl_player_time(w->player, w->player->at));
    return true;
}

/* NULL, and one line in `why`. */
static struct rtl_loop *open_watch(struct rtl_loop *w, pid_t pid, char *why, size_t why_bytes)
{
    struct rtl_loop *n = calloc(1, sizeof *n);
    char title[sizeof w->ui.title];
    if (!n) {
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    choose_as(&n->own, w, pid);
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
    if (!rtl_loop_prepare(n, n->player ? pid : rtl_process_set_pid(n->targets), title)) {
        snprintf(why, why_bytes, "out of memory");
        close_watch(n);
        return NULL;
    }
    n->ui.opened = true;
    if (!pid)
        n->ui.process_from = w->ui.pid;
    if (!n->player)
        begin_with_past(n, w, pid);
    n->ui.speed = w->ui.speed;
    if (n->player && w->ui.paused) {
        n->ui.paused = true;
        n->ui.paused_ns = w->ui.paused_ns;
    }
    return n;
}

/* Back on this screen: where the other one left off. */
static void come_back(struct rtl_loop *w, struct rtl_loop *n, pid_t pid)
{
    char lost[sizeof w->ui.message] = "";
    if (w->kept && w->kept->recorder.recording)
        snprintf(lost, sizeof lost, "the recording of process %d has ended: of screens left behind one goes on",
                 (int)w->kept->ui.pid);
    w->next_ns = n->next_ns;
    if (w->player) {
        rtl_loop_show_frame(w, rtl_player_find(w->player, rtl_player_time(n->player, n->player->at)));
        w->ui.speed = n->ui.speed;
        w->ui.paused = n->ui.paused;
        w->ui.paused_ns = n->ui.paused_ns;
    }
    rtl_loop_drop_kept(w);
    /* one of all processes has each of them time its dispatches: it goes on only while it is looked at */
    if (pid && !n->player && !n->ended) {
        rtl_loop_drop_kept(n);
        n->back = false;
        w->kept = n;
    } else {
        close_watch(n);
    }
    if (*lost)
        rtl_ui_say(&w->ui, "%s", lost);
}

bool rtl_loop_visit(struct rtl_loop *w, pid_t pid)
{
    char why[512] = "";
    struct rtl_loop *n = NULL, *parent = w->parent;
    if (pid && parent && parent->targets && rtl_process_set_is_single(parent->targets) && parent->ui.pid == pid)
        return !(w->back = true); /* it lies behind this one */
    if (pid && w->kept && w->kept->ui.pid == pid && !w->kept->ended) {
        n = w->kept;
        w->kept = NULL;
        n->next_ns = w->next_ns;
    } else {
        n = open_watch(w, pid, why, sizeof why);
    }
    if (!n) {
        rtl_ui_say(&w->ui, "%s", why);
        return true;
    }
    w->left = rtl_loop_run(n);
    bool failed = !n->ui.model->latest && w->left;
    if (n->back || failed) {
        w->left = 0; /* that is over: it is not how this screen ends */
        come_back(w, n, pid);
        if (failed && !*w->ui.message)
            rtl_ui_say(&w->ui, "process %d can't be shown: its segment is damaged", (int)pid);
        rtl_loop_show(w, true);
        return true;
    }
    close_watch(n);
    return false;
}
