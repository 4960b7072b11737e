/* Keys and their handlers: keys.h maps a key to an action, the table `handlers` an action to a function. See ui.h. */
#include "tui/ui.h"
#include "model/ranks.h"
#include "tui/cursor.h"
#include "tui/process_list.h"
#include "tui/prompt.h"

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
        rtl_ui_say(ui, step < 0 ? "this is the first frame" : "this is the last frame: T goes back, b to a time");
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
                                                                    [RTL_COLUMN_P99] = RTL_HIP_API_BY_P99,
                                                                    [RTL_COLUMN_NAME] = RTL_HIP_API_BY_NAME};
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
    rtl_process_sort_step(ui, step);
    return RTL_UI_DRAW;
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

static unsigned find_next(struct rtl_ui *ui, int step)
{
    if (step < 0 && !ui->search[0] && ui->view != RTL_VIEW_HELP)
        return sort_by(ui, RTL_COLUMN_NAME);
    return rtl_ui_shows_calls(ui) ? rtl_ui_search_calls(ui, ui->search, step) : rtl_ui_search(ui, step);
}

static unsigned clear_filter(struct rtl_ui *ui)
{
    ui->search[0] = 0;
    rtl_model_leave_range(ui->model);
    rtl_ui_set_filter(ui, "");
    return RTL_UI_DRAW;
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

static void leave_range(struct rtl_ui *ui)
{
    rtl_model_leave_range(ui->model);
    rtl_ui_open_view(ui, RTL_VIEW_RANGES);
}

/* Show only the kernels of the range under the cursor. */
static unsigned enter_range(struct rtl_ui *ui)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    int at = ui->line_at[RTL_VIEW_RANGES];
    if (at < 0 || at >= (int)(calls->tree_count ? calls->tree_count : calls->ranges))
        return 0;
    if (!calls->tree_count || !calls->tree[at].node) {
        rtl_ui_say(ui, "no kernels: only ranges that are pushed and popped have kernels");
        return RTL_UI_DRAW;
    }
    if (!rtl_model_enter_range(ui->model, &calls->tree[at])) {
        rtl_ui_say(ui, "out of memory");
        return RTL_UI_DRAW;
    }
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
    if (ui->view == RTL_VIEW_HELP)
        ui->view = ui->before;
    else if (ui->view == RTL_VIEW_KERNELS && ui->model->range)
        leave_range(ui);
    else if (ui->opened && !ui->under_count && !scrolled)
        return RTL_UI_DRAW | RTL_UI_PROCESSES;
    else
        rtl_ui_close_view(ui);
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
    if (ui->view == RTL_VIEW_HELP)
        return go_back(ui);
    ui->before = ui->view;
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
    rtl_ui_say(ui, "this process is not traced, or has ended");
    return RTL_UI_DRAW;
}

static unsigned show_detail(struct rtl_ui *ui, int step)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_KERNELS) {
        if (!row)
            return 0;
        if (row->kernels)
            return rtl_ui_open_family(ui, row, !rtl_family_is_open(ui->model, rtl_family_of(ui->model, row)));
        ui->selected = row->id;
        ui->following = false;
        rtl_ui_open_view(ui, RTL_VIEW_DETAIL);
        return RTL_UI_DRAW;
    }
    int at = rtl_model_position(ui->model, ui->selected);
    for (at = (at < 0 ? ui->position : at) + step; at >= 0 && at < (int)ui->model->shown; at += step)
        if (!ui->model->rows[ui->model->order[at]].kernels) { /* families have no detail */
            rtl_ui_select(ui, at);
            break;
        }
    return RTL_UI_DRAW;
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

static unsigned ask_for_recording(struct rtl_ui *ui, int request)
{
    if (!ui->replay)
        return RTL_UI_DRAW | (unsigned)request;
    rtl_ui_say(ui, "this is a recording: it can't be recorded again");
    return RTL_UI_DRAW;
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
                                                                           : "";
    bool ours = ui->probe.runs && !ui->replay;
    if (*why && !ours)
        rtl_ui_say(ui, "%s", why);
    return RTL_UI_DRAW | (*why && !ours ? 0 : (unsigned)request);
}

static unsigned open_modes(struct rtl_ui *ui)
{
    if (ui->replay || !ui->model->latest || ui->model->state == RTL_TARGET_EXITED) {
        rtl_ui_say(ui, ui->replay ? "this is a recording: its mode can't change" : "the process has exited");
        return RTL_UI_DRAW;
    }
    if (ui->model->latest->snapshot.mode == RTL_MODE_OBSERVED) {
        rtl_ui_say(ui, "only observed: modes need librtl.so in the process");
        return RTL_UI_DRAW;
    }
    return rtl_prompt_open(ui, RTL_PROMPT_MODE);
}

static unsigned ask_for_interval(struct rtl_ui *ui)
{
    if (!ui->replay)
        return rtl_prompt_open(ui, RTL_PROMPT_INTERVAL);
    rtl_ui_say(ui, "a recording keeps its interval: + and - change the speed");
    return RTL_UI_DRAW;
}

static unsigned set_zero(struct rtl_ui *ui)
{
    rtl_model_zero(ui->model);
    return RTL_UI_DRAW;
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

static unsigned only_ask(struct rtl_ui *ui, int request)
{
    (void)ui;
    return RTL_UI_DRAW | (unsigned)request;
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
    WITH(FIND_NEXT, find_next, 1),
    WITH(FIND_BEFORE, find_next, -1),
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
    WITH(KERNEL_BEFORE, show_detail, -1),
    WITH(KERNEL_NEXT, show_detail, 1),
    WITH(LOG, toggle_flag, offsetof(struct rtl_ui, log_bars)),
    WITH(PROBE, ask_for_probe, RTL_UI_PROBE),
    WITH(STALLS, ask_for_probe, RTL_UI_STALLS),
    DO(GO_IN, go_in),
    DO(PROCESSES, toggle_processes),
    DO(RANKS, show_ranks),
    WITH(QUEUES, rtl_ui_toggle_view, RTL_VIEW_QUEUES),
    WITH(COPIES, rtl_ui_toggle_view, RTL_VIEW_COPIES),
    WITH(CALLS, rtl_ui_toggle_view, RTL_VIEW_CALLS),
    WITH(RANGES, rtl_ui_toggle_view, RTL_VIEW_RANGES),
    WITH(WINDOW_SHORTER, step_window, -1),
    WITH(WINDOW_LONGER, step_window, 1),
    DO(ZERO, set_zero),
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
    WITH(RECORD, ask_for_recording, RTL_UI_RECORD),
    WITH(SNAPSHOT, ask_for_recording, RTL_UI_SNAPSHOT),
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
    WITH(REDRAW, only_ask, RTL_UI_REPAINT),
    WITH(SAVE, only_ask, RTL_UI_SAVE),
    DO(QUIT, quit),
};

/* Say what the key does on other screens. */
static unsigned nothing_here(struct rtl_ui *ui, uint32_t key)
{
    enum rtl_action action = rtl_key_action(key, RTL_IN_ALL | (ui->replay ? RTL_IN_REPLAY : 0));
    if (action != RTL_ACTION_NONE)
        rtl_ui_say(ui, "not on this screen: %s, %s", rtl_key_name(key).text, rtl_keys[action].meaning);
    return action != RTL_ACTION_NONE ? RTL_UI_DRAW : 0;
}

unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key)
{
    unsigned asked;
    if (key == RTL_KEY_IGNORED || key == RTL_KEY_NONE)
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
