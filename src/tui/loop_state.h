/*
 * One screen as data, and what its parts offer each other: its loop (loop.c), what it writes (loop_record.c), its probe
 * (loop_probe.c). screens.c opens screens over screens. One thread.
 */
#ifndef RTL_TUI_LOOP_STATE_H
#define RTL_TUI_LOOP_STATE_H

#include "watch/frame_recorder.h"
#include "watch/player.h"
#include "watch/proc_scan.h"
#include "watch/process_set.h"
#include "tui/frame.h"
#include "tui/ui_state.h"

enum { RTL_WATCH_BUSY_MS = 300 }; /* how long the screen waits for another writer of a recording */

struct rtl_probe_session;
struct rtl_probe_rounds;

struct rtl_loop {
    const struct rtl_options *options;
    struct rtl_process_set *targets; /* live processes, or NULL */
    struct rtl_player *player;       /* of a recording, or NULL */
    uint32_t first_frame;            /* of the recording */
    struct rtl_frame_recorder recorder;
    struct rtl_ui ui;
    struct rtl_frame frame;
    uint64_t next_ns; /* when the next snapshot is due */
    uint64_t samples;
    uint64_t loading_shown_ns;                 /* when the screen last showed the progress of loading */
    const struct rtl_trace_status *background; /* NULL: none, or the screen has reported its trouble */
    bool ended;                                /* the last snapshot is shown; no other follows */
    bool out_of_memory;
    struct rtl_probe_session *probe; /* the probe that runs, or NULL */
    struct rtl_probe_rounds *stalls; /* a probe of waits that runs or is shown, or NULL */
    struct rtl_reader *probe_reader; /* of the probe that runs */
    bool others_begun;               /* the probe was armed; timed dispatches of its kernel until then: */
    uint64_t others_count, others_total_ns;
    struct rtl_model *held; /* receives snapshots during a pause, or NULL */
    struct rtl_untraced untraced;
    uint64_t untraced_ns; /* when to search untraced processes again */

    /* screens over screens; hidden ones go on sampling */
    struct rtl_loop *parent; /* the screen below, or NULL */
    struct rtl_loop *kept;   /* the last screen of one process that was left for this one; Enter resumes it; or NULL */
    bool begun;              /* the first frame was shown */
    bool back;               /* the loop ended: return to the parent; otherwise the user leaves all screens */
    bool visit;              /* the loop ended: open a screen over this one, */
    pid_t visit_pid;         /* of this process, or of all (0) */
    struct rtl_options own;  /* storage for `options` and `player` of a screen over another one */
    struct rtl_player own_player;
};

/* Return the next hidden screen: behind each screen lie the one that it keeps, its parent, and the one that the parent
 * keeps. Kept screens keep none. */
static inline struct rtl_loop *rtl_loop_next(const struct rtl_loop *w)
{
    if (w->kept)
        return w->kept;
    return w->parent && w->parent->kept == w ? w->parent->parent : w->parent;
}

/* --- screens.c --- */
/* Watch live processes; `background` is a recording of a trace that runs meanwhile, or NULL. Returns an exit status. */
int rtl_loop_live(const struct rtl_options *options, struct rtl_process_set *targets,
                  const struct rtl_trace_status *background);
/* Show a recording that the caller opens and closes. Returns an exit status. */
int rtl_loop_replay(const struct rtl_options *options, struct rtl_player *player);

/* --- loop.c --- */
/* Show a screen until the user leaves it, or (`visit`) opens another; returns an exit status. */
int rtl_loop_run(struct rtl_loop *w);
void rtl_loop_show_frame(struct rtl_loop *w, uint32_t frame); /* of a recording */

/* --- loop_record.c --- */
/* Add a frame to the recording of this screen, if one runs. */
void rtl_loop_record(struct rtl_loop *w, const struct rtl_snapshot *snapshot, uint64_t real_ns, bool exited);
void rtl_loop_toggle_record(struct rtl_loop *w);
void rtl_loop_write_snapshot(struct rtl_loop *w);
/* Set ui.record: the recording of this screen, otherwise of a hidden one. */
void rtl_loop_update_record(struct rtl_loop *w);
void rtl_loop_request_mode(struct rtl_loop *w);
/* Write the choices that keys can change to the configuration; keep the other settings of the file. */
void rtl_loop_save(struct rtl_loop *w);

/* --- loop_probe.c --- */
/* Start a probe of the selected kernel, or of its waits; or stop the one that runs. */
void rtl_loop_toggle_probe(struct rtl_loop *w, bool stalls);
/* Set ui.no_probe. */
void rtl_loop_check_probes(struct rtl_loop *w);
/* Advance the probes of this screen and of hidden ones; called a few times a second. */
void rtl_loop_step_probes(struct rtl_loop *w);
bool rtl_loop_has_probe(const struct rtl_loop *w); /* one of these runs */
void rtl_loop_drop_probes(struct rtl_loop *w);     /* stop all of these */
void rtl_loop_free_probe(struct rtl_loop *w);      /* stop it and free its results */

/* Rate and median of a kernel between the last two snapshots; 0: unknown. They ignore the window of the screen: how
 * many dispatches are probed must not depend on it. */
struct rtl_probe_pace {
    double per_second;
    uint64_t p50_ns;
};
struct rtl_probe_pace rtl_loop_probe_pace(const struct rtl_model *model, uint32_t kernel);

#endif
