/*
 * The key bar: the last line of a view names the most useful keys, each with its label on a coloured block. A click on
 * one presses it.
 */
#include "tui/draw_common.h"

#include <string.h>

bool rtl_key_is_useful(const struct rtl_ui *ui, enum rtl_action action)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_snapshot *s = m->latest ? &m->latest->snapshot : NULL;
    bool live = s && !ui->replay && m->state != RTL_TARGET_EXITED;
    switch (action) {
    case RTL_ACTION_RANKS:
        return s && s->parts && !m->range;
    case RTL_ACTION_PROCESSES:
        return s && (s->parts || !ui->replay);
    case RTL_ACTION_COPIES:
        return m->copies_count > 0;
    case RTL_ACTION_CALLS:
        return m->hip_api.functions > 0;
    case RTL_ACTION_RANGES:
        return m->hip_api.ranges > 0;
    case RTL_ACTION_PROBE:
    case RTL_ACTION_STALLS:
        return live && !ui->no_probe && !s->parts && s->mode != RTL_MODE_OBSERVED;
    case RTL_ACTION_MODE:
        return live && s->mode != RTL_MODE_OBSERVED;
    case RTL_ACTION_RECORD:
    case RTL_ACTION_SNAPSHOT:
    case RTL_ACTION_INTERVAL:
        return !ui->replay;
    case RTL_ACTION_STEPS:
        return m->steps.known || m->steps.trouble;
    case RTL_ACTION_UNZERO:
        return m->zero != NULL;
    default:
        return true;
    }
}

static const char *bar_name(uint32_t key, struct rtl_key_name *name)
{
    *name = rtl_key_name(key);
    return key == ' ' ? "Spc" : name->text;
}

/* Place one key at `col`; returns the column behind it. */
static int place_key(struct rtl_key_button *button, int col, uint32_t key, const char *label)
{
    struct rtl_key_name name;
    int columns = (int)strlen(bar_name(key, &name)) + (*label ? (int)strlen(label) + 1 : 0);
    *button = (struct rtl_key_button){.key = key, .col = col, .cols = columns, .label = label};
    return col + columns;
}

int rtl_key_bar(const struct rtl_ui *ui, int cols, struct rtl_key_button buttons[RTL_KEY_BUTTONS_MAX])
{
    /* Quit always has its place at the end; others are shown as far as they fit */
    const struct rtl_key_info *quit = &rtl_keys[RTL_ACTION_QUIT];
    enum rtl_action actions[RTL_ACTION_COUNT];
    int count = 0, col = 0, end = cols - (int)strlen(quit->label) - 2;
    if (end < 0)
        return 0;
    if (ui->view != RTL_VIEW_KERNELS || ui->opened || ui->model->range) {
        int next = place_key(&buttons[0], col, RTL_KEY_ESC, rtl_keys[RTL_ACTION_BACK].label);
        count += next <= end;
        col = next <= end ? next : col;
    }
    int action_count = rtl_key_line(rtl_ui_context(ui), actions);
    for (int i = 0; i < action_count; i++) {
        int next = col, sharers = rtl_key_sharers(actions[i]);
        if (!rtl_key_is_useful(ui, actions[i]))
            continue;
        for (int k = 0; k < sharers; k++)
            next = place_key(&buttons[count + k], next, rtl_keys[actions[i] + k].keys[0],
                             k + 1 < sharers ? "" : rtl_keys[actions[i]].label);
        if (next > end)
            continue;
        count += sharers;
        col = next;
    }
    place_key(&buttons[count++], end, quit->keys[0], quit->label);
    return count;
}

void rtl_draw_keys(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    struct rtl_key_button buttons[RTL_KEY_BUTTONS_MAX];
    if (!at.rows || ui->prompt != RTL_PROMPT_NONE) /* a prompt names its keys itself */
        return;
    int count = rtl_key_bar(ui, at.cols, buttons);
    for (int i = 0; i < count; i++) {
        const struct rtl_key_button *b = &buttons[i];
        struct rtl_key_name name;
        int columns = rtl_frame_put(frame, at.row, b->col, b->cols, RTL_ROLE_KEY, bar_name(b->key, &name));
        rtl_frame_fill(frame, at.row, b->col + columns, b->cols - columns, RTL_ROLE_BUTTON, ' ');
        rtl_frame_put(frame, at.row, b->col + columns, b->cols - columns, RTL_ROLE_BUTTON, b->label);
    }
}
