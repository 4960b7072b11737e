/* Keys to state. See ui.h. */
#include "tui/ui.h"
#include "model/ranks.h"
#include "watch/player.h"
#include "text/text.h"
#include "tui/calls_keys.h"
#include "tui/columns_menu.h"
#include "tui/leave.h"
#include "tui/probe_key.h"
#include "tui/process_list.h"
#include "tui/views.h"

#include <stdio.h>
#include <string.h>

static const uint64_t windows[] = {RTL_WINDOW_INTERVAL, 5 * RTL_SEC,   10 * RTL_SEC,  30 * RTL_SEC,
                                   60 * RTL_SEC,        300 * RTL_SEC, RTL_WINDOW_ALL};
static const uint64_t intervals[] = {100000000ull, 200000000ull, 500000000ull, RTL_SEC,     2 * RTL_SEC,
                                     5 * RTL_SEC,  10 * RTL_SEC, 30 * RTL_SEC, 60 * RTL_SEC};

static unsigned step_window(struct rtl_ui *ui, int step)
{
    int count = (int)(sizeof windows / sizeof *windows), at = 0;
    while (at < count - 1 && windows[at] < ui->model->window_ns)
        at++;
    if (step < 0 || windows[at] == ui->model->window_ns)
        at += step;
    at = rtl_clamp(at, 0, count - 1);
    rtl_model_set_window(ui->model, windows[at]);
    return RTL_UI_DRAW;
}

/* In a replay the interval is the recorder's: what can be changed is how fast it plays. */
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

    int count = (int)(sizeof intervals / sizeof *intervals), at = 0;
    while (at < count - 1 && intervals[at] < ui->interval_ns)
        at++;
    if (step < 0 || intervals[at] == ui->interval_ns)
        at += step;
    ui->interval_ns = intervals[rtl_clamp(at, 0, count - 1)];
    return RTL_UI_DRAW | RTL_UI_SAMPLE;
}

static unsigned sort_by(struct rtl_ui *ui, enum rtl_column column)
{
    struct rtl_model *m = ui->model;
    rtl_model_sort(m, column, m->sort == column ? m->reverse : false);
    ui->top = 0;
    return RTL_UI_DRAW;
}

static unsigned open_prompt(struct rtl_ui *ui, enum rtl_prompt prompt)
{
    ui->prompt = prompt;
    ui->typed[0] = 0;
    ui->help_from = ui->help_top;
    ui->kept_columns = ui->columns;
    memcpy(ui->kept_places, ui->column_places, sizeof ui->kept_places);
    if (prompt == RTL_PROMPT_FILTER) {
        snprintf(ui->typed, sizeof ui->typed, "%s", ui->model->filter);
        snprintf(ui->kept_filter, sizeof ui->kept_filter, "%s", ui->model->filter);
    }
    ui->menu = rtl_ui_shows_calls(ui) ? (int)ui->model->hip_api.order : (int)ui->model->sort;
    if (prompt == RTL_PROMPT_MODE) {
        uint32_t mode = ui->model->latest->snapshot.mode;
        ui->menu = mode == RTL_MODE_CALLS ? RTL_MODE_DEFAULT : (int)mode; /* calls are recorded in all of them */
    }
    return RTL_UI_DRAW;
}

static unsigned open_modes(struct rtl_ui *ui)
{
    if (ui->replay || !ui->model->latest || ui->model->state == RTL_TARGET_EXITED) {
        rtl_ui_say(ui, ui->replay ? "this is a recording: its mode was what it was" : "there is no process any more");
        return RTL_UI_DRAW;
    }
    if (ui->model->latest->snapshot.mode == RTL_MODE_OBSERVED) {
        rtl_ui_say(ui, "only observed: without librtl.so there is no mode to ask for");
        return RTL_UI_DRAW;
    }
    return open_prompt(ui, RTL_PROMPT_MODE);
}

static void set_filter(struct rtl_ui *ui, const char *text)
{
    snprintf(ui->model->filter, sizeof ui->model->filter, "%s", text);
    ui->model->frozen_until_ns = 0; /* what appears belongs where it ranks, not at the end */
    rtl_model_refresh(ui->model);
    ui->top = 0;
}

static unsigned close_prompt(struct rtl_ui *ui, bool accept)
{
    enum rtl_prompt prompt = ui->prompt;
    ui->prompt = RTL_PROMPT_NONE;
    if (!accept) {
        if (prompt == RTL_PROMPT_FILTER)
            set_filter(ui, ui->kept_filter);
        if (prompt == RTL_PROMPT_COLUMNS) {
            ui->columns = ui->kept_columns;
            memcpy(ui->column_places, ui->kept_places, sizeof ui->column_places);
        }
        if (prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
            ui->help_search[0] = 0;
            ui->help_top = ui->help_from;
        }
        return RTL_UI_DRAW;
    }
    if (prompt == RTL_PROMPT_INTERVAL) {
        uint64_t ns;
        if (!ui->typed[0])
            return RTL_UI_DRAW;
        if (!rtl_parse_interval(ui->typed, &ns)) {
            rtl_ui_say(ui, "'%s' is not an interval: seconds from 0.05 to 3600, such as 0.5, 2 or 500ms", ui->typed);
            return RTL_UI_DRAW;
        }
        ui->interval_ns = ns;
        return RTL_UI_DRAW | RTL_UI_SAMPLE;
    }
    if (prompt == RTL_PROMPT_TIME) {
        if (!ui->typed[0])
            return RTL_UI_DRAW;
        if (!ui->model->latest || !rtl_parse_seek(ui->typed, ui->model->latest->real_ns, &ui->seek_ns)) {
            rtl_ui_say(ui, "'%s' is not a time: 14:02, 14:02:31, +30, -5m", ui->typed);
            return RTL_UI_DRAW;
        }
        return RTL_UI_DRAW | RTL_UI_SEEK;
    }
    if (prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
        ui->help_find = RTL_FIND_HERE; /* it was found while it was typed, or is told now not to be there */
        return RTL_UI_DRAW;
    }
    if (prompt == RTL_PROMPT_FIND && rtl_ui_shows_calls(ui))
        return rtl_ui_search_calls(ui, ui->typed, 0);
    if (prompt == RTL_PROMPT_FIND) {
        snprintf(ui->search, sizeof ui->search, "%s", ui->typed);
        if (ui->search[0] && rtl_model_search(ui->model, ui->search, ui->position, 1) < 0)
            rtl_ui_say(ui, "no kernel name has '%s'", ui->search);
    }
    if (prompt == RTL_PROMPT_SORT && rtl_ui_shows_calls(ui))
        return rtl_ui_order_calls(ui, (enum rtl_hip_api_order)ui->menu);
    if (prompt == RTL_PROMPT_SORT)
        return sort_by(ui, (enum rtl_column)ui->menu);
    return RTL_UI_DRAW | (prompt == RTL_PROMPT_MODE ? RTL_UI_MODE : 0);
}

static int step_mode(int mode, int step)
{
#define MODE(sym, num, name, text) num,
    static const int modes[] = {RTL_MODES(MODE)};
#undef MODE
    const int count = sizeof modes / sizeof *modes;
    int at = 0;
    while (at < count && modes[at] != mode)
        at++;
    if (at == count) /* one of a newer library */
        return RTL_MODE_AUTO;
    return modes[rtl_clamp(at + step, 0, count - 1)];
}

static void step_menu(struct rtl_ui *ui, int step)
{
    if (ui->prompt == RTL_PROMPT_SORT && rtl_ui_shows_calls(ui))
        ui->menu = rtl_clamp(ui->menu + step, 0, RTL_HIP_API_BY_COUNT - 1);
    else if (ui->prompt == RTL_PROMPT_SORT)
        ui->menu = (int)rtl_column_step((enum rtl_column)ui->menu, step);
    else
        ui->menu = step_mode(ui->menu, step);
}

/* What is typed takes effect at once, so that the list under it is the answer. */
static unsigned typed(struct rtl_ui *ui)
{
    if (ui->prompt == RTL_PROMPT_FILTER)
        set_filter(ui, ui->typed);
    if (ui->prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
        snprintf(ui->help_search, sizeof ui->help_search, "%s", ui->typed);
        ui->help_find = RTL_FIND_HERE;
    } else if (ui->prompt == RTL_PROMPT_FIND && rtl_ui_shows_calls(ui)) {
        rtl_ui_search_calls(ui, ui->typed, 0);
        ui->message[0] = 0; /* it is not whole yet */
    } else if (ui->prompt == RTL_PROMPT_FIND && ui->typed[0]) {
        int at = rtl_model_search(ui->model, ui->typed, ui->position, 1);
        if (at >= 0)
            rtl_ui_select(ui, at);
    }
    return RTL_UI_DRAW;
}

/* A command that we started is not left without a word about it. */
static unsigned ask_to_leave(struct rtl_ui *ui)
{
    if (ui->launched == RTL_LAUNCHED_NO)
        return RTL_UI_QUIT;
    ui->prompt = RTL_PROMPT_LEAVE;
    ui->menu = RTL_LEAVE_RUNNING;
    return RTL_UI_DRAW;
}

static unsigned answer_leave(struct rtl_ui *ui, enum rtl_leave_answer answer)
{
    if (answer != RTL_LEAVE_COUNT)
        ui->prompt = RTL_PROMPT_NONE;
    return answer == RTL_LEAVE_RUNNING ? RTL_UI_QUIT : answer == RTL_LEAVE_END ? RTL_UI_DRAW | RTL_UI_END : RTL_UI_DRAW;
}

static unsigned prompt_key(struct rtl_ui *ui, uint32_t key)
{
    size_t length = strlen(ui->typed);
    if (ui->prompt == RTL_PROMPT_LEAVE)
        return answer_leave(ui, rtl_leave_key(key, &ui->menu));
    if (key == RTL_KEY_ESC)
        return close_prompt(ui, false);
    if (key == RTL_KEY_ENTER || key == '\n')
        return close_prompt(ui, true);
    if (ui->prompt == RTL_PROMPT_COLUMNS)
        return key == 'q' ? close_prompt(ui, false) : (rtl_columns_menu_key(ui, key), RTL_UI_DRAW);
    if (ui->prompt == RTL_PROMPT_SORT || ui->prompt == RTL_PROMPT_MODE) {
        int step = key == RTL_KEY_UP || key == 'k' ? -1 : key == RTL_KEY_DOWN || key == 'j' ? 1 : 0;
        if (step)
            step_menu(ui, step);
        return key == 'q' ? close_prompt(ui, false) : RTL_UI_DRAW;
    }
    if (key == RTL_KEY_BACKSPACE || key == 8) {
        while (length && ((unsigned char)ui->typed[length - 1] & 0xc0) == 0x80)
            length--;
        ui->typed[length ? length - 1 : 0] = 0;
        return typed(ui);
    }
    if (key == RTL_KEY_CTRL('U')) {
        ui->typed[0] = 0;
        return typed(ui);
    }
    if (key < RTL_KEY_SPECIAL && rtl_text_code_is_safe(key) && length + 5 < sizeof ui->typed) {
        length += rtl_utf8_encode(ui->typed + length, key);
        ui->typed[length] = 0;
        return typed(ui);
    }
    return 0;
}

static unsigned go_back(struct rtl_ui *ui)
{
    bool scrolled = ui->name_left && ui->view == RTL_VIEW_KERNELS;
    ui->name_left = 0;
    if (ui->view == RTL_VIEW_HELP)
        ui->view = ui->before;
    else if (ui->view == RTL_VIEW_KERNELS && ui->model->range)
        rtl_ui_leave_range(ui);
    else if (ui->opened && !ui->under_count && !scrolled)
        return RTL_UI_DRAW | RTL_UI_PROCESSES;
    else
        rtl_ui_close_view(ui);
    return RTL_UI_DRAW;
}

/* The line of the one that it is all about; rtl_ui_scroll_into_view scrolls no further than it has to. */
static int who_stands_out(const struct rtl_ui *ui, const struct rtl_row *row)
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
        rtl_ui_say(ui, "there is one process only: nobody to compare it with");
    } else if (ui->model->range) {
        rtl_ui_say(ui, "of a range processes aren't compared: Esc leaves it");
    } else if (row && row->kernels) {
        rtl_ui_say(ui, "this is a family: a kernel of it (Enter) is compared");
    } else if (row) {
        ui->selected = row->id;
        ui->following = false;
        ui->rank_top = who_stands_out(ui, row);
        rtl_ui_open_view(ui, RTL_VIEW_RANKS);
    }
    return RTL_UI_DRAW;
}

static unsigned show_detail(struct rtl_ui *ui, int step)
{
    const struct rtl_row *row = rtl_ui_selected(ui);
    if (ui->view == RTL_VIEW_KERNELS) {
        if (!row)
            return 0;
        if (row->kernels)
            return rtl_ui_open(ui, row, !rtl_family_is_open(ui->model, rtl_family_of(ui->model, row)));
        ui->selected = row->id;
        ui->following = false;
        rtl_ui_open_view(ui, RTL_VIEW_DETAIL);
        return RTL_UI_DRAW;
    }
    int at = rtl_model_position(ui->model, ui->selected);
    for (at = (at < 0 ? ui->position : at) + step; at >= 0 && at < (int)ui->model->shown; at += step)
        if (!ui->model->rows[ui->model->order[at]].kernels) { /* of a family there is no detail */
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

static unsigned order_processes(struct rtl_ui *ui, enum rtl_action action)
{
    if (action == RTL_ACTION_REVERSE)
        ui->process_reverse = !ui->process_reverse;
    else if (action == RTL_ACTION_SORT_LEFT || action == RTL_ACTION_SORT_RIGHT)
        rtl_process_sort_step(ui, action == RTL_ACTION_SORT_LEFT ? -1 : 1);
    else
        return 0;
    return RTL_UI_DRAW;
}

static unsigned act_on_table(struct rtl_ui *ui, enum rtl_action action)
{
    struct rtl_model *m = ui->model;
    if (ui->view == RTL_VIEW_PROCESSES)
        return order_processes(ui, action);
    switch (action) {
    case RTL_ACTION_FIND_NEXT:
        return rtl_ui_search(ui, 1);
    case RTL_ACTION_FIND_BEFORE:
        return ui->search[0] || ui->view == RTL_VIEW_HELP ? rtl_ui_search(ui, -1) : sort_by(ui, RTL_COLUMN_NAME);
    case RTL_ACTION_FILTER:
        return open_prompt(ui, RTL_PROMPT_FILTER);
    case RTL_ACTION_CLEAR:
        ui->search[0] = 0;
        rtl_model_leave_range(m);
        set_filter(ui, "");
        return RTL_UI_DRAW;
    case RTL_ACTION_COLUMNS:
        return open_prompt(ui, RTL_PROMPT_COLUMNS);
    case RTL_ACTION_SORT_LEFT:
        return sort_by(ui, rtl_columns_beside(ui, m->sort, -1));
    case RTL_ACTION_SORT_RIGHT:
        return sort_by(ui, rtl_columns_beside(ui, m->sort, 1));
    case RTL_ACTION_SORT_TIME:
        return sort_by(ui, RTL_COLUMN_TIME);
    case RTL_ACTION_SORT_TOTAL:
        return sort_by(ui, RTL_COLUMN_TOTAL);
    case RTL_ACTION_SORT_CALLS:
        return sort_by(ui, RTL_COLUMN_CALLS);
    case RTL_ACTION_SORT_P99:
        return sort_by(ui, RTL_COLUMN_P99);
    case RTL_ACTION_REVERSE:
        rtl_model_sort(m, m->sort, !m->reverse);
        return RTL_UI_DRAW;
    case RTL_ACTION_FAMILIES:
        return rtl_ui_group(ui);
    case RTL_ACTION_NAMES_LEFT:
        return rtl_ui_sideways(ui, -1);
    case RTL_ACTION_NAMES_RIGHT:
        return rtl_ui_sideways(ui, 1);
    case RTL_ACTION_IDLE:
        m->hide_idle = !m->hide_idle;
        rtl_model_refresh(m);
        return RTL_UI_DRAW;
    default:
        return 0;
    }
}

static unsigned act(struct rtl_ui *ui, enum rtl_action action)
{
    struct rtl_model *m = ui->model;
    switch (action) {
    case RTL_ACTION_QUIT:
        return ask_to_leave(ui);
    case RTL_ACTION_BACK:
        return go_back(ui);
    case RTL_ACTION_HELP:
        if (ui->view == RTL_VIEW_HELP)
            return go_back(ui);
        ui->before = ui->view;
        ui->view = RTL_VIEW_HELP;
        ui->help_top = 0;
        ui->help_line = -1;
        ui->help_search[0] = 0;
        return RTL_UI_DRAW;
    case RTL_ACTION_FIND:
        return open_prompt(ui, RTL_PROMPT_FIND);
    case RTL_ACTION_SORT_MENU:
        return open_prompt(ui, RTL_PROMPT_SORT);
    case RTL_ACTION_DETAIL:
        return show_detail(ui, 0);
    case RTL_ACTION_RANGE_KERNELS:
        return rtl_ui_enter_range(ui);
    case RTL_ACTION_KERNEL_BEFORE:
        return show_detail(ui, -1);
    case RTL_ACTION_KERNEL_NEXT:
        return show_detail(ui, 1);
    case RTL_ACTION_LOG:
        ui->log_bars = !ui->log_bars;
        return RTL_UI_DRAW;
    case RTL_ACTION_QUEUES:
        rtl_ui_toggle_view(ui, RTL_VIEW_QUEUES);
        return RTL_UI_DRAW;
    case RTL_ACTION_CALLS:
        rtl_ui_toggle_view(ui, RTL_VIEW_CALLS);
        return RTL_UI_DRAW;
    case RTL_ACTION_RANGES:
        rtl_ui_toggle_view(ui, RTL_VIEW_RANGES);
        return RTL_UI_DRAW;
    case RTL_ACTION_COPIES:
        rtl_ui_toggle_view(ui, RTL_VIEW_COPIES);
        return RTL_UI_DRAW;
    case RTL_ACTION_PROCESSES:
        if (ui->opened && (ui->view == RTL_VIEW_PROCESSES || !m->latest || !m->latest->snapshot.parts))
            return RTL_UI_DRAW | RTL_UI_PROCESSES;
        if (!m->latest || (!m->latest->snapshot.parts && ui->replay))
            rtl_ui_say(ui, "this is a recording of one process");
        else if (!m->latest->snapshot.parts)
            return RTL_UI_DRAW | RTL_UI_PROCESSES;
        else
            rtl_ui_toggle_view(ui, RTL_VIEW_PROCESSES);
        rtl_model_leave_range(m); /* of a range it isn't known whose they are */
        return RTL_UI_DRAW;
    case RTL_ACTION_RANKS:
        return show_ranks(ui);
    case RTL_ACTION_GO_IN:
        ui->go_in = rtl_ui_process(ui);
        if (!ui->go_in)
            rtl_ui_say(ui, "it can't be watched: it isn't traced, or has ended");
        else
            return RTL_UI_DRAW | RTL_UI_GO_IN;
        return RTL_UI_DRAW;
    case RTL_ACTION_WINDOW_SHORTER:
        return step_window(ui, -1);
    case RTL_ACTION_WINDOW_LONGER:
        return step_window(ui, 1);
    case RTL_ACTION_ZERO:
        rtl_model_zero(m);
        return RTL_UI_DRAW;
    case RTL_ACTION_PAUSE:
        return toggle_pause(ui);
    case RTL_ACTION_STEP_NEXT:
        return step_frame(ui, 1);
    case RTL_ACTION_STEP_BEFORE:
        return step_frame(ui, -1);
    case RTL_ACTION_SEEK:
        return open_prompt(ui, RTL_PROMPT_TIME);
    case RTL_ACTION_RECORD:
    case RTL_ACTION_SNAPSHOT:
        if (ui->replay) {
            rtl_ui_say(ui, "this is a recording: nothing is recorded of it");
            return RTL_UI_DRAW;
        }
        return RTL_UI_DRAW | (action == RTL_ACTION_RECORD ? RTL_UI_RECORD : RTL_UI_SNAPSHOT);
    case RTL_ACTION_PROBE:
        return rtl_ui_ask_for_probe(ui, RTL_UI_PROBE);
    case RTL_ACTION_STALLS:
        return rtl_ui_ask_for_probe(ui, RTL_UI_STALLS);
    case RTL_ACTION_MODE:
        return open_modes(ui);
    case RTL_ACTION_INTERVAL:
        if (ui->replay) {
            rtl_ui_say(ui, "the interval is the recorder's: + and - change the speed");
            return RTL_UI_DRAW;
        }
        return open_prompt(ui, RTL_PROMPT_INTERVAL);
    case RTL_ACTION_SLOWER:
        return step_interval(ui, 1);
    case RTL_ACTION_FASTER:
        return step_interval(ui, -1);
    case RTL_ACTION_NAMES:
        ui->names = (enum rtl_name_form)((ui->names + 1) % RTL_NAME_FORM_COUNT);
        return RTL_UI_DRAW;
    case RTL_ACTION_WRAP:
        ui->wrap = !ui->wrap;
        return RTL_UI_DRAW;
    case RTL_ACTION_UNITS:
        ui->units = (enum rtl_unit)((ui->units + 1) % RTL_UNIT_COUNT);
        return RTL_UI_DRAW;
    case RTL_ACTION_GPU_LINES:
        ui->gpu_lines = !ui->gpu_lines;
        return RTL_UI_DRAW;
    case RTL_ACTION_END_PROCESS:
        rtl_ui_say(ui, "rtl-top only watches and ends nothing: in a shell, kill %d asks that process to end",
                   (int)ui->pid);
        return RTL_UI_DRAW;
    case RTL_ACTION_COPY:
        return copy_name(ui);
    case RTL_ACTION_UP:
        return rtl_ui_move(ui, -1);
    case RTL_ACTION_DOWN:
        return rtl_ui_move(ui, 1);
    case RTL_ACTION_PAGE_UP:
        return rtl_ui_move(ui, -ui->page);
    case RTL_ACTION_PAGE_DOWN:
        return rtl_ui_move(ui, ui->page);
    case RTL_ACTION_END:
        return rtl_ui_move(ui, 1 << 20);
    case RTL_ACTION_HOME:
        rtl_ui_move(ui, -(1 << 20));
        if (ui->view == RTL_VIEW_KERNELS)
            ui->following = true;
        return RTL_UI_DRAW;
    case RTL_ACTION_SAVE:
        return RTL_UI_DRAW | RTL_UI_SAVE;
    case RTL_ACTION_REDRAW:
        return RTL_UI_DRAW | RTL_UI_REPAINT;
    default:
        return rtl_ui_shows_calls(ui) ? rtl_ui_act_on_calls(ui, action) : act_on_table(ui, action);
    }
}

/* A key that means something on other screens is not left without a word. */
static unsigned nothing_here(struct rtl_ui *ui, uint32_t key)
{
    enum rtl_action action = rtl_key_action(key, RTL_IN_ALL | (ui->replay ? RTL_IN_REPLAY : 0));
    if (action != RTL_ACTION_NONE)
        rtl_ui_say(ui, "not on this screen: %s, %s", rtl_key_name(key).text, rtl_keys[action].meaning);
    return action != RTL_ACTION_NONE ? RTL_UI_DRAW : 0;
}

unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key)
{
    if (key == RTL_KEY_IGNORED || key == RTL_KEY_NONE)
        return 0;
    bool had_message = ui->message[0];
    ui->message[0] = 0;
    enum rtl_action action = rtl_key_action(key, rtl_ui_context(ui));
    unsigned asked = ui->prompt != RTL_PROMPT_NONE ? prompt_key(ui, key)
                     : action == RTL_ACTION_NONE   ? nothing_here(ui, key)
                                                   : act(ui, action);
    return asked | (had_message ? RTL_UI_DRAW : 0);
}
