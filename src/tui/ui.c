/* Keys and their handlers: keys.h maps a key to an action, the table `handlers` an action to a function. See
 * ui_state.h. */
#include "tui/ui_state.h"
#include "model/ranks.h"
#include "text/text.h"
#include "tui/cursor.h"
#include "tui/draw_views.h"
#include "tui/process_list.h"
#include "tui/prompt.h"

#include <string.h>

static const uint64_t windows[] = {RTL_WINDOW_INTERVAL, 5 * RTL_SEC,   10 * RTL_SEC,  30 * RTL_SEC,
                                   60 * RTL_SEC,        300 * RTL_SEC, RTL_WINDOW_ALL};
static const uint64_t intervals[] = {100000000ull, 200000000ull, 500000000ull, RTL_SEC,     2 * RTL_SEC,
                                     5 * RTL_SEC,  10 * RTL_SEC, 30 * RTL_SEC, 60 * RTL_SEC};

/* Return the next value of a sorted list; a value between two of them goes to the nearest one in that direction. */
static uint64_t step_in(const uint64_t *values, int count, uint64_t value, int step)
{
    int at = 0;
    while (at < count - 1 && values[at] < value)
        at++;
    if (step < 0 || values[at] == value)
        at += step;
    return values[rtl_clamp(at, 0, count - 1)];
}

static unsigned step_window(struct rtl_ui *ui, int step)
{
    const int count = sizeof windows / sizeof *windows;
    rtl_model_set_window(ui->model, step_in(windows, count, ui->model->window_ns, step));
    return RTL_UI_DRAW;
}

/* A replay keeps the recorder's interval; its speed changes. */
static unsigned step_speed(struct rtl_ui *ui, int step)
{
    double speed = step > 0 ? ui->speed / 2 : ui->speed * 2;
    if (speed >= 0.1 && speed <= 1000)
        ui->speed = speed;
    return RTL_UI_DRAW | RTL_UI_SAMPLE;
}

static unsigned step_frame(struct rtl_ui *ui, int step)
{
    if (!ui->paused) {
        ui->paused = true;
        ui->paused_ns = ui->now_mono_ns;
    }
    ui->step = step;
    if (step < 0 ? !ui->frame : ui->frame + 1 >= ui->frames)
        rtl_ui_say(ui, step < 0 ? "this is the first frame" : "this is the last frame: , goes back, b to a time");
    return RTL_UI_DRAW | RTL_UI_STEP;
}

static unsigned step_interval(struct rtl_ui *ui, int step)
{
    if (ui->replay)
        return step_speed(ui, step);

    const int count = sizeof intervals / sizeof *intervals;
    ui->interval_ns = step_in(intervals, count, ui->interval_ns, step);
    return RTL_UI_DRAW | RTL_UI_SAMPLE;
}

/* --- order --- */

static unsigned sort_by(struct rtl_ui *ui, int column)
{
    static const enum rtl_hip_api_order orders[RTL_COLUMN_COUNT] = {[RTL_COLUMN_TIME] = RTL_HIP_API_BY_SHARE,
                                                                    [RTL_COLUMN_TOTAL] = RTL_HIP_API_BY_TOTAL,
                                                                    [RTL_COLUMN_CALLS] = RTL_HIP_API_BY_CALLS,
                                                                    [RTL_COLUMN_P99] = RTL_HIP_API_BY_P99};
    if (rtl_ui_shows_calls(ui))
        return rtl_ui_order_calls(ui, orders[column], false);
    return rtl_ui_sort(ui, (enum rtl_column)column, (int)ui->model->sort == column && ui->model->reverse);
}

static unsigned sort_beside(struct rtl_ui *ui, int step)
{
    struct rtl_model *m = ui->model;
    if (rtl_ui_shows_calls(ui)) {
        int order = rtl_clamp((int)m->hip_api.order + step, 0, RTL_HIP_API_BY_COUNT - 1);
        return rtl_ui_order_calls(ui, (enum rtl_hip_api_order)order, false);
    }
    if (ui->view != RTL_VIEW_PROCESSES)
        return sort_by(ui, (int)rtl_columns_beside(ui, m->sort, step));
    return rtl_process_sort_step(ui, step);
}

static unsigned reverse_order(struct rtl_ui *ui)
{
    struct rtl_model *m = ui->model;
    if (rtl_ui_shows_calls(ui))
        return rtl_ui_order_calls(ui, m->hip_api.order, !m->hip_api.reverse);
    if (ui->view == RTL_VIEW_PROCESSES)
        ui->process_reverse = !ui->process_reverse;
    else
        rtl_model_sort(m, m->sort, !m->reverse);
    return RTL_UI_DRAW;
}

static unsigned clear_filter(struct rtl_ui *ui)
{
    ui->search[0] = 0;
    rtl_model_leave_range(ui->model);
    return rtl_ui_set_filter(ui, "");
}

/* Mark steps by the kernel or range under the cursor. A second press, or a press on the screen of steps, returns to the
 * automatic choice. */
static unsigned mark_step(struct rtl_ui *ui)
{
    struct rtl_model *m = ui->model;
    const struct rtl_row *row = ui->view == RTL_VIEW_RANGES ? NULL : rtl_ui_selected(ui);
    char range[4 * RTL_HIP_API_TEXT + 1] = "";
    const char *name = range;
    int count, at = ui->line_at[ui->view];
    if (ui->view == RTL_VIEW_RANGES) {
        const struct rtl_hip_api_model_row *rows = rtl_ui_call_rows(ui, &count);
        if (at < count && rows[at].call->kind == RTL_HIP_API_RANGE)
            rtl_text_escape(range, sizeof range, rows[at].call->name, rows[at].call->name_bytes);
    } else if (ui->view != RTL_VIEW_STEPS && row && !row->kernels) {
        name = rtl_model_form(m, row, RTL_NAME_MANGLED);
    }
    bool automatic = ui->view == RTL_VIEW_STEPS || (m->step && !strcmp(m->step, name));
    if (!*name && !automatic)
        return rtl_ui_say(ui, "only a single kernel, or a range that is pushed and popped, can mark a step");
    if (!rtl_model_mark_step(m, automatic ? NULL : name))
        return rtl_ui_say(ui, "out of memory");
    if (automatic)
        return rtl_ui_say(ui, "steps are marked automatically");
    return rtl_ui_say(ui, "each run of this %s is a step; X undoes it, t shows the cost",
                      name == range ? "range" : "kernel");
}

/* The cursor goes to the family of its kernel, and returns to the kernel when the families go. */
static unsigned toggle_families(struct rtl_ui *ui)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    struct rtl_model *m = ui->model;
    uint32_t family = row ? RTL_KERNELS_MAX + rtl_family_of(m, row) : 0;
    rtl_model_group(m, !m->families);
    if (m->families && row && !ui->following && rtl_model_position(m, ui->selected) < 0)
        ui->selected = family;
    ui->top = 0;
    return RTL_UI_DRAW;
}

static unsigned scroll_names(struct rtl_ui *ui, int step)
{
    enum { COLUMNS = 8, COLUMNS_MAX = 1 << 16 }; /* rtl_ui_scroll_into_view knows where the names end */
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->model->families && row && (row->kernels || (step < 0 && !ui->name_left)))
        return rtl_ui_open_family(ui, row, step > 0);
    ui->name_left = rtl_clamp(ui->name_left + step * COLUMNS, 0, COLUMNS_MAX);
    return RTL_UI_DRAW;
}

/* --- views --- */

/* Ask first while a command that rtl-top run started still runs. */
static unsigned quit(struct rtl_ui *ui)
{
    if (ui->launched == RTL_LAUNCHED_NO)
        return RTL_UI_QUIT;
    ui->prompt = RTL_PROMPT_LEAVE;
    ui->menu = RTL_LEAVE_RUNNING;
    return RTL_UI_DRAW;
}

/* Show only the kernels of the range under the cursor. */
static unsigned enter_range(struct rtl_ui *ui)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    int at = ui->line_at[RTL_VIEW_RANGES];
    if (at < 0 || at >= (int)(calls->tree_count ? calls->tree_count : calls->ranges))
        return 0;
    if (!calls->tree_count || !calls->tree[at].node)
        return rtl_ui_say(ui, "no kernels: only ranges that are pushed and popped have kernels");
    if (!rtl_model_enter_range(ui->model, &calls->tree[at]))
        return rtl_ui_say(ui, "out of memory");
    rtl_ui_open_view(ui, RTL_VIEW_KERNELS);
    ui->under_count = 0;
    ui->top = 0;
    ui->following = true;
    return RTL_UI_DRAW;
}

static unsigned go_back(struct rtl_ui *ui)
{
    bool scrolled = ui->name_left && ui->view == RTL_VIEW_KERNELS;
    ui->name_left = 0;
    if (ui->view == RTL_VIEW_HELP) {
        ui->view = ui->before;
    } else if (ui->view == RTL_VIEW_KERNELS && ui->model->range) {
        rtl_model_leave_range(ui->model);
        rtl_ui_open_view(ui, RTL_VIEW_RANGES);
    } else if (ui->opened && !ui->under_count && !scrolled) {
        return RTL_UI_DRAW | RTL_UI_PROCESSES;
    } else {
        rtl_ui_close_view(ui);
    }
    return RTL_UI_DRAW;
}

/* Return the line of the process that stands out; rtl_ui_scroll_into_view limits it to the end of the list. */
static int outlier_line(const struct rtl_ui *ui, const struct rtl_row *row)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    struct rtl_slowest slowest;
    uint32_t count = rtl_ranks(ui->model, row, false, ranks, RTL_MEMBERS_MAX);
    for (uint32_t i = 0; rtl_slowest(ui->model, row, &slowest) && i < count; i++)
        if (ranks[i].member == slowest.rank.member)
            return (int)i;
    return 0;
}

static unsigned show_ranks(struct rtl_ui *ui)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_RANKS) {
        rtl_ui_close_view(ui);
    } else if (!ui->model->latest || !ui->model->latest->snapshot.parts) {
        rtl_ui_say(ui, "only one process: nothing to compare");
    } else if (ui->model->range) {
        rtl_ui_say(ui, "kernels of a range can't be compared across processes: Esc leaves the range");
    } else if (row && row->kernels) {
        rtl_ui_say(ui, "this is a family: open it (Enter) and choose a kernel");
    } else if (row) {
        ui->selected = row->id;
        ui->following = false;
        ui->line_top[RTL_VIEW_RANKS] = outlier_line(ui, row);
        rtl_ui_open_view(ui, RTL_VIEW_RANKS);
    }
    return RTL_UI_DRAW;
}

static unsigned toggle_help(struct rtl_ui *ui)
{
    if (ui->view == RTL_VIEW_HELP && ui->manual)
        return go_back(ui);
    ui->manual = ui->view == RTL_VIEW_HELP;
    ui->before = ui->manual ? ui->before : ui->view;
    ui->view = RTL_VIEW_HELP;
    ui->line_top[RTL_VIEW_HELP] = 0;
    ui->help_line = -1;
    ui->help_search[0] = 0;
    return RTL_UI_DRAW;
}

static unsigned toggle_processes(struct rtl_ui *ui)
{
    const struct rtl_sample *latest = ui->model->latest;
    bool several = latest && latest->snapshot.parts;
    if (ui->opened && (ui->view == RTL_VIEW_PROCESSES || !several))
        return RTL_UI_DRAW | RTL_UI_PROCESSES;
    if (!latest || (!several && ui->replay))
        rtl_ui_say(ui, "this is a recording of one process");
    else if (!several)
        return RTL_UI_DRAW | RTL_UI_PROCESSES;
    else
        rtl_ui_toggle_view(ui, RTL_VIEW_PROCESSES);
    rtl_model_leave_range(ui->model); /* the kernels of a range are not known by process */
    return RTL_UI_DRAW;
}

static unsigned go_in(struct rtl_ui *ui)
{
    ui->go_in = rtl_ui_process(ui);
    if (ui->go_in)
        return RTL_UI_DRAW | RTL_UI_GO_IN;
    return rtl_ui_say(ui, "this process is not traced, or has ended");
}

unsigned rtl_ui_show_gpu(struct rtl_ui *ui, int n)
{
    if (n < 0 || n >= (int)ui->model->gpu_count)
        return 0;
    ui->gpu = ui->model->gpus[n].agent->gpu;
    ui->line_top[RTL_VIEW_GPU] = 0;
    return rtl_ui_open_view(ui, RTL_VIEW_GPU);
}

/* Return the GPU under the cursor, or the first one. */
static unsigned toggle_evidence(struct rtl_ui *ui)
{
    if (ui->view == RTL_VIEW_GPU)
        return rtl_ui_toggle_view(ui, RTL_VIEW_GPU);
    if (!ui->model->gpu_count)
        rtl_ui_say(ui, "no GPU was used yet");
    return RTL_UI_DRAW | rtl_ui_show_gpu(ui, ui->view == RTL_VIEW_KERNELS && ui->gpu_line ? ui->gpu_line - 1 : 0);
}

static unsigned show_gpu_of_queues(struct rtl_ui *ui)
{
    int gpus = (int)ui->model->gpu_count, n = ui->line_at[RTL_VIEW_QUEUES] - (rtl_draw_queue_lines(ui) - gpus);
    if (n >= 0)
        return rtl_ui_show_gpu(ui, n);
    return rtl_ui_say(ui, "not on this screen: Enter opens only the rows of GPUs, below the queues");
}

static unsigned show_detail(struct rtl_ui *ui, int step)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_KERNELS && ui->gpu_line)
        return rtl_ui_show_gpu(ui, ui->gpu_line - 1);
    if (ui->view == RTL_VIEW_KERNELS) {
        if (!row)
            return 0;
        if (row->kernels)
            return rtl_ui_open_family(ui, row, !rtl_family_is_open(ui->model, rtl_family_of(ui->model, row)));
        ui->selected = row->id;
        ui->following = false;
        return rtl_ui_open_view(ui, RTL_VIEW_DETAIL);
    }
    int at = rtl_model_position(ui->model, ui->selected);
    for (at = (at < 0 ? ui->position : at) + step; at >= 0 && at < (int)ui->model->shown; at += step)
        if (!ui->model->rows[ui->model->order[at]].kernels) /* families have no detail */
            return rtl_ui_select(ui, at);
    return RTL_UI_DRAW;
}

static unsigned show_next(struct rtl_ui *ui, int step)
{
    if (ui->view != RTL_VIEW_GPU)
        return show_detail(ui, step);
    const struct rtl_gpu_row *gpu = rtl_ui_evidence(ui);
    return gpu ? rtl_ui_show_gpu(ui, (int)(gpu - ui->model->gpus) + step) : 0;
}

static unsigned toggle_pause(struct rtl_ui *ui)
{
    ui->paused = !ui->paused;
    ui->paused_ns = ui->now_mono_ns;
    return RTL_UI_DRAW | (ui->paused ? 0 : RTL_UI_SAMPLE);
}

static unsigned copy_name(struct rtl_ui *ui)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (!row)
        return 0;
    ui->copy = rtl_model_form(ui->model, row, RTL_NAME_FULL);
    rtl_ui_say(ui, "full name sent to the terminal's clipboard");
    return RTL_UI_DRAW | RTL_UI_COPY;
}

/* --- recordings, modes, choices --- */

static unsigned ask_for_recording(struct rtl_ui *ui, int prompt)
{
    if (ui->records && prompt == RTL_PROMPT_RECORD)
        return RTL_UI_DRAW | RTL_UI_RECORD; /* stop */
    if (!ui->replay)
        return rtl_prompt_open(ui, prompt);
    return rtl_ui_say(ui, "this is a recording: it can't be recorded again");
}

static unsigned ask_for_probe(struct rtl_ui *ui, int request)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_row *row = rtl_ui_selected(ui);
    const char *why = ui->replay                                    ? "a recording can't be probed"
                      : !m->latest || m->state == RTL_TARGET_EXITED ? "the process has exited"
                      : m->latest->snapshot.parts ? "probes need a screen of one process: p chooses it"
                      : m->latest->snapshot.mode == RTL_MODE_OBSERVED
                          ? "only observed: probes need librtl.so in the process"
                      : !row || row->kernels || row->id < RTL_KERNEL_FIRST ? "this is not a single kernel"
                      : ui->no_probe                                       ? ui->no_probe
                                                                           : "";
    if (ui->probe.runs && !ui->replay)
        return RTL_UI_DRAW | (unsigned)request; /* stop */
    if (*why)
        return rtl_ui_say(ui, "%s", why);
    char who[200];
    rtl_prompt_who(ui, who, sizeof who);
    return rtl_prompt_ask(ui, (unsigned)request,
                          request == RTL_UI_PROBE ? "some dispatches run a changed copy that measures its waves"
                                                  : "changed copies run, one after another, that time its waits",
                          "Probe this kernel in %s?", who);
}

static unsigned open_modes(struct rtl_ui *ui)
{
    if (ui->replay || !ui->model->latest || ui->model->state == RTL_TARGET_EXITED)
        return rtl_ui_say(ui, ui->replay ? "this is a recording: its mode can't change" : "the process has exited");
    if (ui->model->latest->snapshot.mode == RTL_MODE_OBSERVED)
        return rtl_ui_say(ui, "only observed: modes need librtl.so in the process");
    return rtl_prompt_open(ui, RTL_PROMPT_MODE);
}

static unsigned ask_to_save(struct rtl_ui *ui)
{
    if (!ui->settings[0])
        return RTL_UI_DRAW | RTL_UI_SAVE; /* without a file the loop reports why */
    return rtl_prompt_ask(ui, RTL_UI_SAVE, ui->settings, "Write sort, columns, window, units and interval?");
}

static unsigned ask_for_interval(struct rtl_ui *ui)
{
    if (!ui->replay)
        return rtl_prompt_open(ui, RTL_PROMPT_INTERVAL);
    return rtl_ui_say(ui, "a recording keeps its interval: + and - change the speed");
}

static unsigned set_zero(struct rtl_ui *ui)
{
    rtl_model_zero(ui->model);
    return rtl_ui_say(ui, "counting from now; Z undoes");
}

static unsigned undo_zero(struct rtl_ui *ui)
{
    return rtl_ui_say(ui, "%s",
                      rtl_model_undo_zero(ui->model) ? "counting as before z" : "nothing to undo: z counts from now");
}

static unsigned toggle_idle(struct rtl_ui *ui)
{
    ui->model->hide_idle = !ui->model->hide_idle;
    rtl_model_refresh(ui->model);
    return RTL_UI_DRAW;
}

static unsigned step_names(struct rtl_ui *ui)
{
    ui->names = (enum rtl_name_form)((ui->names + 1) % RTL_NAME_FORM_COUNT);
    return RTL_UI_DRAW;
}

static unsigned step_units(struct rtl_ui *ui)
{
    ui->units = (enum rtl_unit)((ui->units + 1) % RTL_UNIT_COUNT);
    return RTL_UI_DRAW;
}

static unsigned toggle_flag(struct rtl_ui *ui, int offset)
{
    bool *flag = (bool *)((char *)ui + offset);
    *flag = !*flag;
    return RTL_UI_DRAW;
}

static unsigned move_home(struct rtl_ui *ui)
{
    rtl_ui_move(ui, -(1 << 20));
    if (ui->view == RTL_VIEW_KERNELS)
        ui->following = true;
    return RTL_UI_DRAW;
}

static unsigned move_page(struct rtl_ui *ui, int pages)
{
    return rtl_ui_move(ui, pages * ui->page);
}

static unsigned redraw(struct rtl_ui *ui)
{
    (void)ui;
    return RTL_UI_DRAW | RTL_UI_REPAINT;
}

/* --- actions --- */

#define DO(action, function)          [RTL_ACTION_##action] = {.act = function}
#define WITH(action, function, value) [RTL_ACTION_##action] = {.act_with = function, .argument = value}
static const struct {
    unsigned (*act)(struct rtl_ui *ui);
    unsigned (*act_with)(struct rtl_ui *ui, int argument);
    int argument;
} handlers[RTL_ACTION_COUNT] = {
    WITH(STEP_NEXT, step_frame, 1),
    WITH(STEP_BEFORE, step_frame, -1),
    WITH(SEEK, rtl_prompt_open, RTL_PROMPT_TIME),
    DO(HELP, toggle_help),
    DO(BACK, go_back),
    WITH(FIND, rtl_prompt_open, RTL_PROMPT_FIND),
    WITH(FIND_NEXT, rtl_ui_search, 1),
    WITH(FIND_BEFORE, rtl_ui_search, -1),
    WITH(FILTER, rtl_prompt_open, RTL_PROMPT_FILTER),
    DO(CLEAR, clear_filter),
    WITH(SORT_MENU, rtl_prompt_open, RTL_PROMPT_SORT),
    WITH(SORT_LEFT, sort_beside, -1),
    WITH(SORT_RIGHT, sort_beside, 1),
    WITH(SORT_TIME, sort_by, RTL_COLUMN_TIME),
    WITH(SORT_TOTAL, sort_by, RTL_COLUMN_TOTAL),
    WITH(SORT_CALLS, sort_by, RTL_COLUMN_CALLS),
    WITH(SORT_P99, sort_by, RTL_COLUMN_P99),
    WITH(COLUMNS, rtl_prompt_open, RTL_PROMPT_COLUMNS),
    DO(REVERSE, reverse_order),
    WITH(DETAIL, show_detail, 0),
    DO(RANGE_KERNELS, enter_range),
    WITH(BEFORE, show_next, -1),
    WITH(NEXT, show_next, 1),
    WITH(LOG, toggle_flag, offsetof(struct rtl_ui, log_bars)),
    WITH(PROBE, ask_for_probe, RTL_UI_PROBE),
    WITH(STALLS, ask_for_probe, RTL_UI_STALLS),
    DO(GO_IN, go_in),
    WITH(STEPS, rtl_ui_toggle_view, RTL_VIEW_STEPS),
    DO(MARK_STEP, mark_step),
    DO(PROCESSES, toggle_processes),
    DO(RANKS, show_ranks),
    DO(GPU_OF_QUEUES, show_gpu_of_queues),
    DO(EVIDENCE, toggle_evidence),
    WITH(QUEUES, rtl_ui_toggle_view, RTL_VIEW_QUEUES),
    WITH(COPIES, rtl_ui_toggle_view, RTL_VIEW_COPIES),
    WITH(CALLS, rtl_ui_toggle_view, RTL_VIEW_CALLS),
    WITH(RANGES, rtl_ui_toggle_view, RTL_VIEW_RANGES),
    WITH(WINDOW_SHORTER, step_window, -1),
    WITH(WINDOW_LONGER, step_window, 1),
    DO(ZERO, set_zero),
    DO(UNZERO, undo_zero),
    DO(PAUSE, toggle_pause),
    DO(INTERVAL, ask_for_interval),
    WITH(SLOWER, step_interval, 1),
    WITH(FASTER, step_interval, -1),
    DO(NAMES, step_names),
    WITH(WRAP, toggle_flag, offsetof(struct rtl_ui, wrap)),
    DO(UNITS, step_units),
    DO(IDLE, toggle_idle),
    WITH(GPU_LINES, toggle_flag, offsetof(struct rtl_ui, gpu_lines)),
    DO(COPY, copy_name),
    WITH(RECORD, ask_for_recording, RTL_PROMPT_RECORD),
    WITH(SNAPSHOT, ask_for_recording, RTL_PROMPT_SNAPSHOT),
    DO(MODE, open_modes),
    WITH(UP, rtl_ui_move, -1),
    WITH(DOWN, rtl_ui_move, 1),
    WITH(PAGE_UP, move_page, -1),
    WITH(PAGE_DOWN, move_page, 1),
    DO(FAMILIES, toggle_families),
    WITH(NAMES_LEFT, scroll_names, -1),
    WITH(NAMES_RIGHT, scroll_names, 1),
    DO(HOME, move_home),
    WITH(END, rtl_ui_move, 1 << 20),
    DO(REDRAW, redraw),
    DO(SAVE, ask_to_save),
    DO(QUIT, quit),
};

static bool is_text(uint32_t key)
{
    return key >= ' ' && key < RTL_KEY_SPECIAL && key != RTL_KEY_BACKSPACE;
}

/* Show what the key does on other screens, and ignore the text that begins with it. */
static unsigned nothing_here(struct rtl_ui *ui, uint32_t key)
{
    enum rtl_action action = rtl_key_action(key, RTL_IN_ALL | RTL_IN_REPLAY | RTL_IN_RANGES);
    bool asks = action == RTL_ACTION_FIND || action == RTL_ACTION_FILTER || action == RTL_ACTION_SEEK;
    ui->ignoring = is_text(key);
    ui->ignored_until_ns = asks ? ui->now_mono_ns + RTL_TYPING_NS : 0;
    if (key == RTL_KEY_F(9))
        rtl_ui_say(ui, "rtl-top ends no process; q quits");
    else if (action != RTL_ACTION_NONE)
        rtl_ui_say(ui, "not on this screen: %s (%s)%s", rtl_key_name(key).text, rtl_keys[action].label,
                   asks ? "; the text you type is ignored" : "");
    return RTL_UI_DRAW;
}

/*
 * Text that is typed where no input is expected must not act as keys. After a key that this screen lacks, ignore the
 * characters that arrived together with it; after one that asks for a text elsewhere, also those typed without a pause.
 */
static bool ignores(struct rtl_ui *ui, uint32_t key)
{
    bool goes_on = ui->at_once || ui->now_mono_ns < ui->ignored_until_ns;
    if (!ui->ignoring)
        return false;
    ui->ignoring = goes_on && is_text(key) && ui->prompt == RTL_PROMPT_NONE;
    if (ui->ignored_until_ns)
        ui->ignored_until_ns = ui->now_mono_ns + RTL_TYPING_NS;
    return ui->ignoring || (goes_on && key == RTL_KEY_ENTER);
}

/* Pasted text goes only into a prompt; line ends and control characters are left out. */
static unsigned paste(struct rtl_ui *ui, uint32_t key)
{
    if (rtl_ui_takes_text(ui))
        return is_text(key) ? rtl_prompt_key(ui, key) : 0;
    static const char ignored[] = "pasted text is ignored: nothing asks for a text";
    bool goes_on = !strcmp(ui->message, ignored) && ui->now_mono_ns - ui->message_ns < RTL_SEC;
    ui->ignoring = false;
    rtl_ui_say(ui, "%s", ignored);
    return goes_on ? 0 : RTL_UI_DRAW;
}

unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key)
{
    unsigned asked;
    if (key == RTL_KEY_IGNORED || key == RTL_KEY_NONE)
        return 0;
    if (key & RTL_KEY_PASTED)
        return paste(ui, key & ~RTL_KEY_PASTED);
    if (ignores(ui, key))
        return 0;
    bool had_message = ui->message[0];
    ui->message[0] = 0;
    enum rtl_action action = rtl_key_action(key, rtl_ui_context(ui));
    if (ui->prompt != RTL_PROMPT_NONE)
        asked = rtl_prompt_key(ui, key);
    else if (handlers[action].act)
        asked = handlers[action].act(ui);
    else if (handlers[action].act_with)
        asked = handlers[action].act_with(ui, handlers[action].argument);
    else
        asked = nothing_here(ui, key);
    return asked | (had_message ? RTL_UI_DRAW : 0);
}
