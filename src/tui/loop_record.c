/* Writing from a screen: recordings, snapshots, the configuration, the mode of the process. See loop_state.h. */
#include "model/labels.h"
#include "options/config.h"
#include "text/text.h"
#include "tui/loop_state.h"

#include <stdio.h>
#include <string.h>

void rtl_loop_update_record(struct rtl_loop *w)
{
    const struct rtl_loop *of = w;
    while (of && !of->recorder.recording)
        of = rtl_loop_next(of);
    w->ui.record[0] = 0;
    w->ui.records = w->recorder.recording;
    rtl_text_escape(w->ui.path, sizeof w->ui.path, w->recorder.path, strlen(w->recorder.path));
    if (!of)
        return;
    const char *slash = strrchr(of->recorder.path, '/');
    snprintf(w->ui.record, sizeof w->ui.record, "%s%.32s", of->recorder.last ? "FAILS " : "",
             slash ? slash + 1 : of->recorder.path);
}

/* Report once that frames lack the probe. */
static bool say_left_out(struct rtl_loop *w)
{
    if (!*w->recorder.left_out)
        return false;
    rtl_ui_say(&w->ui, "recorded without its probe: %s", w->recorder.left_out);
    w->recorder.left_out[0] = 0;
    return true;
}

/* Return the probe of a process: its screen may be this one or hidden. The one in front is the newest. */
static const struct rtl_probe_told *probe_of(const void *context, pid_t pid)
{
    for (const struct rtl_loop *w = context; w; w = w->parent) {
        const struct rtl_loop *of[] = {w->kept, w};
        for (int i = 0; i < 2; i++)
            if (of[i] && of[i]->ui.pid == pid && of[i]->ui.probe.there && !of[i]->ui.stalls)
                return &of[i]->ui.probe;
    }
    return NULL;
}

void rtl_loop_record(struct rtl_loop *w, const struct rtl_snapshot *snapshot, uint64_t real_ns, bool exited)
{
    enum rtl_db_status before = w->recorder.last;
    if (!w->recorder.recording)
        return;
    enum rtl_db_status now = rtl_frame_recorder_add(&w->recorder, snapshot, real_ns, exited);
    if (now && !before)
        rtl_ui_say(&w->ui, "not recorded: %s; the next frame tries again", w->recorder.why);
    if (before && !now)
        rtl_ui_say(&w->ui, "recording again: this frame contains what was missed");
    say_left_out(w);
}

/* Write the first frame at once, so that a short recording has one. The model of several processes has only sums:
 * read the processes again. */
static void record_first(struct rtl_loop *w)
{
    struct rtl_snapshot now = {0};
    const struct rtl_sample *latest = w->ui.model->latest;
    bool exited = w->ui.model->state == RTL_TARGET_EXITED;
    if (latest->snapshot.parts && !exited && rtl_process_set_snapshot(w->targets, &now) == RTL_READER_OK)
        rtl_loop_record(w, &now, rtl_process_set_real_ns(w->targets), false);
    else
        rtl_loop_record(w, &latest->snapshot, latest->real_ns, exited);
    rtl_snapshot_free(&now);
}

/* Return the file that the user chose. The prompt shows the recorder's path as safe text. */
static const char *chosen_path(const struct rtl_loop *w)
{
    return strcmp(w->ui.typed, w->ui.path) ? w->ui.typed : w->recorder.path;
}

void rtl_loop_toggle_record(struct rtl_loop *w)
{
    const char *path = chosen_path(w);
    if (!w->recorder.recording && path != w->recorder.path)
        snprintf(w->recorder.path, sizeof w->recorder.path, "%s", path);
    if (w->recorder.recording) {
        unsigned long long frames = rtl_recording_frames(w->recorder.recording);
        const char *plural = frames == 1 ? "" : "s";
        if (w->recorder.last)
            rtl_ui_say(&w->ui, "recorded %llu frame%s, the end is missing: %s", frames, plural, w->recorder.why);
        else
            rtl_ui_say(&w->ui, "recorded %llu frame%s into %s", frames, plural, w->recorder.path);
        rtl_frame_recorder_stop(&w->recorder);
    } else if (rtl_frame_recorder_start(&w->recorder, RTL_WATCH_BUSY_MS)) {
        rtl_ui_say(&w->ui, "not recording: %s", w->recorder.why);
    } else {
        rtl_ui_say(&w->ui, "recording into %s", w->recorder.path);
        record_first(w);
    }
}

static void say_saved(struct rtl_loop *w, const char *path)
{
    char of[40] = "";
    uint32_t kernels = w->recorder.saved_kernels, processes = w->recorder.saved_processes;
    if (processes)
        snprintf(of, sizeof of, " of %u process%s", processes, processes == 1 ? "" : "es");
    rtl_ui_say(&w->ui, "snapshot of %u kernel%s%s added to %s", kernels, kernels == 1 ? "" : "s", of, path);
}

void rtl_loop_write_snapshot(struct rtl_loop *w)
{
    const struct rtl_sample *latest = w->ui.model->latest;
    const char *path = chosen_path(w);
    w->recorder.probe_of = probe_of;
    w->recorder.probe_context = w;
    if (rtl_frame_recorder_snapshot(&w->recorder, path, &latest->snapshot, latest->real_ns, RTL_WATCH_BUSY_MS))
        rtl_ui_say(&w->ui, "no snapshot: %s", w->recorder.why);
    else if (!say_left_out(w))
        say_saved(w, path);
}

/* The coverage line of the next frames shows the mode that the process has. */
void rtl_loop_request_mode(struct rtl_loop *w)
{
    char why[256];
    uint32_t asked;
    int mode = w->ui.mode;
    if (mode < 0 || mode >= RTL_MODE_COUNT)
        return;
    if (rtl_process_set_request_mode(w->targets, (enum rtl_mode)mode, &asked, why, sizeof why) != RTL_READER_OK) {
        rtl_ui_say(&w->ui, "%s", why);
        return;
    }
    rtl_process_set_read_heartbeat(w->targets, w->ui.model);
    char who[40];
    if (rtl_process_set_is_single(w->targets))
        snprintf(who, sizeof who, "process %d was", (int)w->ui.pid);
    else
        snprintf(who, sizeof who, "%u process%s", (unsigned)asked, asked == 1 ? " was" : "es were");
    rtl_ui_say(&w->ui, "%s asked for mode %s%s", who, rtl_mode_label((unsigned)mode),
               w->ui.paused ? "; the paused screen shows it after Space" : "");
}

void rtl_loop_save(struct rtl_loop *w)
{
    struct rtl_ui *ui = &w->ui;
    const struct rtl_options *options = w->options;
    char path[PATH_MAX], why[PATH_MAX + 200], safe[4 * PATH_MAX + 1];
    struct rtl_settings s = *rtl_config_settings();
    s.sort = ui->model->sort;
    s.reverse = ui->model->reverse;
    s.window_ns = ui->model->window_ns;
    s.units = ui->units;
    s.has[RTL_SETTING_SORT] = s.has[RTL_SETTING_WINDOW] = s.has[RTL_SETTING_UNITS] = true;
    s.columns = ui->columns;
    memcpy(s.column_places, ui->column_places, sizeof s.column_places);
    s.has[RTL_SETTING_COLUMNS] |= ui->columns != 0; /* 0 is the default */
    if (!ui->replay) {                              /* a replay has the recorder's interval */
        s.interval_ns = ui->interval_ns;
        s.has[RTL_SETTING_INTERVAL] = true;
    }
    if (rtl_option_asked(options, RTL_OPTION_THEME)) {
        s.theme = options->theme;
        s.has[RTL_SETTING_THEME] = true;
    }
    if (rtl_option_asked(options, RTL_OPTION_NO_MOUSE)) {
        s.mouse = false;
        s.has[RTL_SETTING_MOUSE] = true;
    }
    bool saved = rtl_config_save(&s, path, why, sizeof why);
    rtl_text_escape(safe, sizeof safe, saved ? path : why, strlen(saved ? path : why));
    rtl_ui_say(ui, "%s%s", saved ? "settings written to " : "not written: ", safe);
}
