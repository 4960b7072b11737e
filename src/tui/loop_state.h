/*
 * A screen that watches, as data, and what its parts do for one another: the loop (watch.c), what it writes
 * (watch_record.c), its probe
 * (watch_probe.c), screens that are opened from it (watch_visit.c). One thread; only the files watch*.c use it.
 */
#ifndef RTL_TUI_LOOP_STATE_H
#define RTL_TUI_LOOP_STATE_H

#include "watch/trace_status.h"
#include "watch/frame_recorder.h"
#include "watch/player.h"
#include "watch/proc_scan.h"
#include "watch/process_set.h"
#include "tui/frame.h"
#include "tui/ui_state.h"

enum { RTL_WATCH_BUSY_MS = 300 }; /* how long another writer of a recording may hold up the screen */

struct rtl_probe_session;
struct rtl_probe_rounds;

struct rtl_loop {
    const struct rtl_options *options;
    struct rtl_process_set *targets; /* live processes, or NULL */
    struct rtl_player *player;       /* of a recording, or NULL */
    uint32_t first_frame;            /* of the recording, to begin with */
    struct rtl_frame_recorder recorder;
    struct rtl_ui ui;
    struct rtl_frame frame;
    uint64_t next_ns; /* when the next snapshot is due */
    uint64_t samples;
    uint64_t loading_shown_ns;                 /* when the screen last said how far loading is */
    const struct rtl_trace_status *background; /* until its trouble was reported; or NULL */
    bool ended;                                /* the last snapshot was taken: nothing more will come */
    bool out_of_memory;
    struct rtl_probe_session *probe; /* that runs; or NULL */
    struct rtl_probe_rounds *stalls; /* one of waits, that runs or is shown; or NULL */
    struct rtl_reader *probe_reader; /* of the one that runs */
    bool others_begun;               /* it was armed; the kernel's timed dispatches until then: */
    uint64_t others_count, others_total_ns;
    struct rtl_model *held; /* what comes in during a pause; or NULL */
    struct rtl_untraced untraced;
    uint64_t untraced_ns; /* when to look for them again */

    /* Screens over screens: those that can't be seen go on. */
    struct rtl_loop *parent; /* the one that this was opened from; or NULL */
    struct rtl_loop *kept;   /* of one process, opened from here and left again: Enter goes on with it; or NULL */
    bool back;               /* to the parent; else the user wants to leave altogether */
    int left;                /* the status with which a screen that was opened from here ended everything */
    struct rtl_options own;  /* what `options` points to, and so on, of one that was opened from another */
    struct rtl_player own_player;
};

/* Into the recording that is made here, if there is one. */
void rtl_loop_record(struct rtl_loop *watch, const struct rtl_snapshot *snapshot, uint64_t real_ns, bool exited);
void rtl_loop_toggle_record(struct rtl_loop *watch);
void rtl_loop_take_snapshot(struct rtl_loop *watch);
void rtl_loop_ask_for_mode(struct rtl_loop *watch);
/* A probe on the selected kernel, or on its waits; or the end of the one that runs. */
void rtl_loop_toggle_probe(struct rtl_loop *watch, bool stalls);
/* Carries on those of this screen, of all behind it, and of those that were left: a few times a second. */
void rtl_loop_step_probes(struct rtl_loop *watch);
bool rtl_loop_has_probe(const struct rtl_loop *watch);
void rtl_loop_drop_probe(struct rtl_loop *watch);
void rtl_loop_free_probe(struct rtl_loop *watch);  /* with what it has shown */
void rtl_loop_drop_probes(struct rtl_loop *watch); /* of the same screens */
/* What the screen says of recordings: its own, else one that is made behind it. */
void rtl_loop_tell_record(struct rtl_loop *watch);

/* The model and what is shown of it; false without memory. */
bool rtl_loop_prepare(struct rtl_loop *watch, pid_t pid, const char *title);
void rtl_loop_release(struct rtl_loop *watch);
/* Until the user leaves: an exit status. */
int rtl_loop_run(struct rtl_loop *watch);
void rtl_loop_show(struct rtl_loop *watch, bool repaint);
void rtl_loop_show_frame(struct rtl_loop *watch, uint32_t frame); /* of a recording */

/* A screen over this one: of one process alone, or (pid 0) of all. False when the user wants to leave altogether. */
bool rtl_loop_visit(struct rtl_loop *watch, pid_t pid);
void rtl_loop_drop_kept(struct rtl_loop *watch);

#endif
