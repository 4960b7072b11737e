/*
 * The help card: the keys of the view below it, the meanings of the colours, marks and units, on one screen of 80x24.
 * The manual (draw_help.c) explains every word.
 */
#include "tui/draw_views.h"
#include "text/text.h"
#include "tui/themes.h"

#include <stdio.h>
#include <string.h>

enum { CELL_COLS = 26, KEY_COLS = 10, CELLS_MAX = RTL_ACTION_COUNT };

struct card_cell {
    enum rtl_role key_role, role;
    char key[KEY_COLS + 1]; /* key or mark; "" = only the text */
    char text[64];
};

/* Draw cells column by column from `line` of the card on; returns the line behind them. Without a frame only count. */
static int draw_card_cells(struct rtl_frame *frame, int cols, int top, int line, const struct card_cell *cells,
                           int count)
{
    int columns = rtl_clamp((cols - 1) / CELL_COLS, 1, CELLS_MAX), lines = (count + columns - 1) / columns;
    for (int i = 0; frame && i < count; i++) {
        int row = line + i % lines - top, width = (cols - 1) / columns, col = 1 + i / lines * width;
        int skip = *cells[i].key ? KEY_COLS + 1 : 0;
        if (row < 0 || row >= frame->rows - 2)
            continue;
        rtl_frame_put(frame, row + 1, col, KEY_COLS, cells[i].key_role, cells[i].key);
        rtl_frame_put(frame, row + 1, col + skip, width - skip - 1, cells[i].role, cells[i].text);
    }
    return line + lines;
}

/* Append a key's name, if there is room. */
static void add_key(char names[KEY_COLS + 1], uint32_t key)
{
    struct rtl_key_name name = rtl_key_name(key);
    size_t used = strlen(names);
    if (key && used + (used != 0) + strlen(name.text) <= KEY_COLS)
        rtl_text_append(names, KEY_COLS + 1, "%s%s", used ? " " : "", name.text);
}

static struct card_cell key_cell(const struct rtl_ui *ui, enum rtl_action action)
{
    const struct rtl_key_info *k = &rtl_keys[action];
    bool useful = rtl_key_is_useful(ui, action);
    struct card_cell cell = {useful ? RTL_ROLE_KEY : RTL_ROLE_DIM, useful ? RTL_ROLE_NORMAL : RTL_ROLE_DIM, "", ""};
    int sharers = rtl_key_sharers(action);
    for (int i = 0; i < sharers; i++)
        add_key(cell.key, rtl_keys[action + i].keys[0]);
    for (int i = 1; i < 3 && sharers == 1; i++) /* other second keys are in the manual */
        add_key(cell.key, k->keys[i] > RTL_KEY_F0 ? k->keys[i] : RTL_KEY_NONE);
    snprintf(cell.text, sizeof cell.text, "%s", action == RTL_ACTION_HELP ? "Manual" : k->label);
    return cell;
}

/* Return the lines of the card, and draw those from `top` on into the frame, if there is one. */
static int draw_card(const struct rtl_ui *ui, struct rtl_frame *frame, int cols, int top)
{
    static const struct card_cell marks[] = {
        {RTL_ROLE_WARN, RTL_ROLE_NORMAL, "!", "worse; held up"},
        {RTL_ROLE_VALUE, RTL_ROLE_NORMAL, "~", "an estimate"},
        {RTL_ROLE_VALUE, RTL_ROLE_NORMAL, "-", "not measured"},
        {RTL_ROLE_VALUE, RTL_ROLE_NORMAL, "<", "at most"},
        {RTL_ROLE_VALUE, RTL_ROLE_NORMAL, "k M G", "powers of 1000"},
        {RTL_ROLE_VALUE, RTL_ROLE_NORMAL, "KiB MiB", "powers of 1024"},
    };
    struct card_cell cells[CELLS_MAX];
    struct rtl_ui below = *ui;
    int count = 0, line;
    below.view = ui->before;
    unsigned where = rtl_ui_context(&below);
    for (int i = 1; i < RTL_ACTION_COUNT; i++)
        if (rtl_keys[i].where & where && rtl_keys[i].label[0])
            cells[count++] = key_cell(&below, (enum rtl_action)i);
    line = draw_card_cells(frame, cols, top, 0, cells, count);
    for (count = 0; count < RTL_MEANING_COUNT; count++) { /* the beginning of each meaning, in its colour */
        const struct rtl_colour_meaning *meaning = &rtl_colour_meanings[count];
        cells[count] = (struct card_cell){.role = meaning->role};
        snprintf(cells[count].text, sizeof cells[count].text, "%.*s", (int)strcspn(meaning->text, ":;,"),
                 meaning->text);
    }
    const struct card_cell title = {RTL_ROLE_TITLE, RTL_ROLE_TITLE, "", "Colours, marks, units"};
    line = draw_card_cells(frame, cols, top, line, &title, 1);
    line = draw_card_cells(frame, cols, top, line, cells, count);
    return draw_card_cells(frame, cols, top, line, marks, sizeof marks / sizeof *marks);
}

int rtl_draw_card_lines(const struct rtl_ui *ui, int cols)
{
    return draw_card(ui, NULL, cols, 0);
}

void rtl_draw_card(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    draw_card(ui, frame, frame->cols, ui->line_top[RTL_VIEW_HELP]);
}
