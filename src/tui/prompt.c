/* Prompts and menus. See prompt.h. */
#include "tui/prompt.h"
#include "model/labels.h"
#include "text/text.h"
#include "watch/player.h"
#include "tui/cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned rtl_prompt_open(struct rtl_ui *ui, int prompt)
{
    ui->prompt = (enum rtl_prompt)prompt;
    ui->typed[0] = 0;
    ui->manual |= ui->view == RTL_VIEW_HELP; /* the card has nothing to search */
    ui->help_from = ui->line_top[RTL_VIEW_HELP];
    ui->kept_columns = ui->columns;
    memcpy(ui->kept_places, ui->column_places, sizeof ui->kept_places);
    if (prompt == RTL_PROMPT_FILTER) {
        snprintf(ui->typed, sizeof ui->typed, "%s", ui->model->filter);
        snprintf(ui->kept_filter, sizeof ui->kept_filter, "%s", ui->model->filter);
    }
    if (prompt == RTL_PROMPT_RECORD || prompt == RTL_PROMPT_SNAPSHOT)
        snprintf(ui->typed, sizeof ui->typed, "%s", ui->path);
    ui->menu = rtl_ui_shows_calls(ui) ? (int)ui->model->hip_api.order : (int)ui->model->sort;
    if (prompt == RTL_PROMPT_MODE) {
        uint32_t mode = ui->model->latest->snapshot.mode;
        ui->menu = mode == RTL_MODE_CALLS ? RTL_MODE_DEFAULT : (int)mode; /* every mode records calls */
    }
    return RTL_UI_DRAW;
}

unsigned rtl_prompt_ask(struct rtl_ui *ui, unsigned request, const char *effect, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ui->question, sizeof ui->question, format, args);
    va_end(args);
    snprintf(ui->effect, sizeof ui->effect, "yes: %s", effect);
    ui->prompt = RTL_PROMPT_ASK;
    ui->request = request;
    ui->menu = false;
    return RTL_UI_DRAW;
}

void rtl_prompt_who(const struct rtl_ui *ui, char *out, size_t size)
{
    enum { TITLE_COLUMNS = 24 };
    const struct rtl_parts *parts = ui->model->latest->snapshot.parts;
    char title[160];
    rtl_text_cut(title, sizeof title, ui->title, TITLE_COLUMNS, 0, ui->ascii);
    if (parts)
        snprintf(out, size, "%u process%s", parts->member_count, parts->member_count == 1 ? "" : "es");
    else
        snprintf(out, size, "%d (%s)", (int)ui->pid, title);
}

static unsigned ask_for_mode(struct rtl_ui *ui)
{
#define MODE(sym, num, name, text) [num] = (text),
    static const char *const effects[RTL_MODE_COUNT] = {RTL_MODES(MODE)};
#undef MODE
    char who[200];
    const struct rtl_snapshot *s = &ui->model->latest->snapshot;
    uint32_t now = s->mode == RTL_MODE_CALLS ? RTL_MODE_DEFAULT : s->mode;
    if (!s->parts && (int)now == ui->menu)
        return rtl_ui_say(ui, "the mode is %s already", rtl_mode_label(s->mode));
    rtl_prompt_who(ui, who, sizeof who);
    ui->mode = ui->menu;
    const char *effect = ui->mode >= 0 && ui->mode < RTL_MODE_COUNT ? effects[ui->mode] : NULL;
    const char *wanted = rtl_mode_label((unsigned)ui->mode);
    return s->parts ? rtl_prompt_ask(ui, RTL_UI_MODE, effect ? effect : "", "Switch %s to %s?", who, wanted)
                    : rtl_prompt_ask(ui, RTL_UI_MODE, effect ? effect : "", "Switch %s from %s to %s?", who,
                                     rtl_mode_label(s->mode), wanted);
}

static unsigned close_prompt(struct rtl_ui *ui, bool accept)
{
    enum rtl_prompt prompt = ui->prompt;
    ui->prompt = RTL_PROMPT_NONE;
    if (!accept) {
        if (prompt == RTL_PROMPT_FILTER)
            rtl_ui_set_filter(ui, ui->kept_filter);
        if (prompt == RTL_PROMPT_COLUMNS) {
            ui->columns = ui->kept_columns;
            memcpy(ui->column_places, ui->kept_places, sizeof ui->column_places);
        }
        if (prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
            ui->help_search[0] = 0;
            ui->line_top[RTL_VIEW_HELP] = ui->help_from;
        }
        return RTL_UI_DRAW;
    }
    if (prompt == RTL_PROMPT_INTERVAL) {
        uint64_t ns;
        if (!ui->typed[0])
            return RTL_UI_DRAW;
        if (!rtl_parse_interval(ui->typed, &ns))
            return rtl_ui_say(ui, "'%s' is not an interval: seconds from 0.05 to 3600, such as 0.5, 2 or 500ms",
                              ui->typed);
        ui->interval_ns = ns;
        return RTL_UI_DRAW | RTL_UI_SAMPLE;
    }
    if (prompt == RTL_PROMPT_RECORD || prompt == RTL_PROMPT_SNAPSHOT) {
        if (ui->typed[0])
            return RTL_UI_DRAW | (prompt == RTL_PROMPT_RECORD ? RTL_UI_RECORD : RTL_UI_SNAPSHOT);
        return rtl_ui_say(ui, "no file: nothing is written");
    }
    if (prompt == RTL_PROMPT_TIME) {
        if (!ui->typed[0])
            return RTL_UI_DRAW;
        if (!ui->model->latest || !rtl_parse_seek(ui->typed, ui->model->latest->real_ns, &ui->seek_ns))
            return rtl_ui_say(ui, "'%s' is not a time: 14:02, 14:02:31, +30, -5m", ui->typed);
        return RTL_UI_DRAW | RTL_UI_SEEK;
    }
    if (prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
        ui->help_find = RTL_FIND_HERE; /* a message follows if the help lacks the text */
        return RTL_UI_DRAW;
    }
    if (prompt == RTL_PROMPT_FIND && rtl_ui_shows_calls(ui))
        return rtl_ui_search_calls(ui, ui->typed, 0);
    if (prompt == RTL_PROMPT_FIND) {
        snprintf(ui->search, sizeof ui->search, "%.*s", (int)sizeof ui->search - 1, ui->typed);
        if (ui->search[0] && rtl_model_search(ui->model, ui->search, ui->position, 1) < 0)
            rtl_ui_say(ui, "no kernel name contains '%s'", ui->search);
    }
    struct rtl_model *m = ui->model;
    if (prompt == RTL_PROMPT_SORT && rtl_ui_shows_calls(ui))
        return rtl_ui_order_calls(ui, (enum rtl_hip_api_order)ui->menu,
                                  (int)m->hip_api.order == ui->menu && m->hip_api.reverse);
    if (prompt == RTL_PROMPT_SORT)
        return rtl_ui_sort(ui, (enum rtl_column)ui->menu, (int)m->sort == ui->menu && m->reverse);
    return prompt == RTL_PROMPT_MODE ? ask_for_mode(ui) : RTL_UI_DRAW;
}

/* --- menus --- */

static int column_place(const struct rtl_column_order *order, int column)
{
    int at = 0;
    while (at < RTL_COLUMN_COUNT - 1 && order->column[at] != column)
        at++;
    return at;
}

/* Move a column to the left or right. The name stays last, because it fills the line. */
static void move_column(struct rtl_ui *ui, struct rtl_column_order order, int at, int step)
{
    int to = at + step;
    if (at == RTL_COLUMN_NAME || to < 0 || to >= RTL_COLUMN_NAME) {
        rtl_ui_say(ui, "%s",
                   at == RTL_COLUMN_NAME || to > 0 ? "the name stays last: it fills the line"
                                                   : "this is the first column");
        return;
    }
    order.column[at] = order.column[to];
    order.column[to] = ui->menu;
    for (int i = 0; i < RTL_COLUMN_NAME; i++)
        ui->column_places[order.column[i]] = (uint8_t)(i + 1);
}

static void columns_key(struct rtl_ui *ui, uint32_t key)
{
    struct rtl_column_order order = rtl_column_order(ui->column_places);
    int at = column_place(&order, ui->menu);
    int from = key == RTL_KEY_HOME ? 0 : key == RTL_KEY_END || key == 'G' ? RTL_COLUMN_COUNT : at;
    if (key == '<' || key == '>' || key == RTL_KEY_LEFT || key == RTL_KEY_RIGHT) {
        move_column(ui, order, at, key == '<' || key == RTL_KEY_LEFT ? -1 : 1);
        return;
    }
    if (key == ' ' && ui->menu == RTL_COLUMN_NAME)
        rtl_ui_say(ui, "the name can't be hidden");
    else if (key == ' ')
        ui->columns = ((ui->columns ? ui->columns : ui->columns_shown) ^ 1u << ui->menu) | 1u << RTL_COLUMN_NAME;
    else if (key == 'a') {
        ui->columns = 0;
        for (int i = 0; i < RTL_COLUMN_COUNT; i++)
            ui->column_places[i] = 0;
    } else {
        ui->menu = order.column[rtl_clamp(from + rtl_key_step(key), 0, RTL_COLUMN_COUNT - 1)];
    }
}

enum rtl_column rtl_columns_beside(const struct rtl_ui *ui, enum rtl_column column, int step)
{
    struct rtl_column_order order = rtl_column_order(ui->column_places);
    int at = column_place(&order, (int)column);
    do
        at = (at + step + RTL_COLUMN_COUNT) % RTL_COLUMN_COUNT;
    while (rtl_columns[order.column[at]].order == RTL_ORDER_NO);
    return (enum rtl_column)order.column[at];
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
    if (at == count) /* a mode of a newer library */
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

/* Apply the text after each key: the list below the prompt shows the result. */
static unsigned apply_typed(struct rtl_ui *ui)
{
    if (ui->prompt == RTL_PROMPT_FILTER)
        rtl_ui_set_filter(ui, ui->typed);
    if (ui->prompt == RTL_PROMPT_FIND && ui->view == RTL_VIEW_HELP) {
        snprintf(ui->help_search, sizeof ui->help_search, "%s", ui->typed);
        ui->help_find = RTL_FIND_HERE;
    } else if (ui->prompt == RTL_PROMPT_FIND && rtl_ui_shows_calls(ui)) {
        rtl_ui_search_calls(ui, ui->typed, 0);
        ui->message[0] = 0; /* no message before Enter: the text is incomplete */
    } else if (ui->prompt == RTL_PROMPT_FIND && ui->typed[0]) {
        int at = rtl_model_search(ui->model, ui->typed, ui->position, 1);
        if (at >= 0)
            rtl_ui_select(ui, at);
    }
    return RTL_UI_DRAW;
}

static unsigned answer_leave(struct rtl_ui *ui, int answer)
{
    ui->prompt = RTL_PROMPT_NONE;
    return answer == RTL_LEAVE_RUNNING ? RTL_UI_QUIT : answer == RTL_LEAVE_END ? RTL_UI_DRAW | RTL_UI_END : RTL_UI_DRAW;
}

static unsigned leave_key(struct rtl_ui *ui, uint32_t key)
{
#define ANSWER(sym, key_, name, meaning, again) \
    if (key == (key_))                          \
        return answer_leave(ui, RTL_LEAVE_##sym);
    RTL_LEAVE_ANSWERS(ANSWER)
#undef ANSWER
    if (key == RTL_KEY_ESC || key == 'q')
        return answer_leave(ui, RTL_LEAVE_STAY);
    if (key == RTL_KEY_ENTER || key == '\n')
        return answer_leave(ui, ui->menu);
    ui->menu = rtl_clamp(ui->menu + rtl_key_step(key), 0, RTL_LEAVE_COUNT - 1);
    return RTL_UI_DRAW;
}

static unsigned ask_key(struct rtl_ui *ui, uint32_t key)
{
    bool chosen = key == RTL_KEY_ENTER || key == '\n';
    if (key == 'y' || key == 'n' || key == 'q' || key == RTL_KEY_ESC || chosen) {
        ui->prompt = RTL_PROMPT_NONE;
        return RTL_UI_DRAW | (key == 'y' || (chosen && ui->menu) ? ui->request : 0);
    }
    if (rtl_key_step(key))
        ui->menu = rtl_key_step(key) < 0; /* yes stands above no */
    return RTL_UI_DRAW;
}

unsigned rtl_prompt_key(struct rtl_ui *ui, uint32_t key)
{
    bool path = ui->prompt == RTL_PROMPT_RECORD || ui->prompt == RTL_PROMPT_SNAPSHOT;
    size_t length = strlen(ui->typed), most = path ? sizeof ui->typed : RTL_FILTER_MAX;
    if (ui->prompt == RTL_PROMPT_LEAVE)
        return leave_key(ui, key);
    if (ui->prompt == RTL_PROMPT_ASK)
        return ask_key(ui, key);
    if (key == RTL_KEY_ESC)
        return close_prompt(ui, false);
    if (key == RTL_KEY_ENTER || key == '\n')
        return close_prompt(ui, true);
    if (!rtl_ui_takes_text(ui)) {
        if (key == 'q')
            return close_prompt(ui, false);
        if (ui->prompt == RTL_PROMPT_COLUMNS)
            columns_key(ui, key);
        else if (rtl_key_step(key))
            step_menu(ui, rtl_key_step(key));
        return RTL_UI_DRAW;
    }
    if (key == RTL_KEY_BACKSPACE || key == 8) {
        while (length && ((unsigned char)ui->typed[length - 1] & 0xc0) == 0x80)
            length--;
        length -= length != 0;
    } else if (key == RTL_KEY_CTRL('U')) {
        length = 0;
    } else if (key < RTL_KEY_SPECIAL && rtl_text_code_is_safe(key) && length + 5 < most) {
        length += rtl_utf8_encode(ui->typed + length, key);
    } else {
        return 0;
    }
    ui->typed[length] = 0;
    return apply_typed(ui);
}
