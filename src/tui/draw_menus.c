/* Menus and questions over a view. */
#include "tui/draw_views.h"
#include "text/text.h"
#include "tui/prompt.h"

#include <stdio.h>

struct menu_line {
    const char *name, *meaning;
    int number; /* value of ui->menu */
};

/* Draw a menu, with a border where it fits, scrolled to the chosen line. */
static void draw_menu_lines(struct rtl_frame *frame, const struct menu_line *line, int lines, int choice,
                            const char *title)
{
    int chosen = 0, names = 0, width = 0;
    for (int i = 0; i < lines; i++) {
        int columns = rtl_text_columns(line[i].name);
        names = columns > names ? columns : names;
        chosen = line[i].number == choice ? i : chosen;
    }
    for (int i = 0; i < lines; i++) {
        int columns = 2 + names + 1 + rtl_text_columns(line[i].meaning) + 1;
        width = columns > width ? columns : width;
    }
    int title_columns = rtl_text_columns(title) + 4;
    width = title_columns > width ? title_columns : width;
    bool bordered = frame->rows >= 8 && frame->cols >= 24;
    int border = bordered ? 1 : 0, room = frame->rows - (bordered ? 4 : 1); /* the status line stays visible */
    width = width + 2 * border > frame->cols ? frame->cols - 2 * border : width;
    int shown = lines < room ? lines : room;
    int top = chosen >= shown ? chosen - shown + 1 : 0;
    int row = (frame->rows - 1 - shown) / 3, col = bordered ? (frame->cols - width) / 2 : 0;
    row = row < border ? border : row;
    char head[240];
    snprintf(head, sizeof head, shown < lines ? " %s, %d of %d " : " %s ", title, chosen + 1, lines);
    if (bordered)
        rtl_frame_box(frame, (struct rtl_rect){row - 1, col - 1, shown + 2, width + 2}, RTL_ROLE_MENU, head);
    for (int at = 0; at < shown; at++) {
        const struct menu_line *l = &line[top + at];
        bool is_chosen = top + at == chosen;
        enum rtl_role role = is_chosen ? RTL_ROLE_SELECTED : RTL_ROLE_MENU;
        rtl_frame_fill(frame, row + at, col, width, role, ' ');
        rtl_frame_printf(frame, row + at, col, width, role, "%c %-*s %s", is_chosen ? '>' : ' ',
                         rtl_text_pad(l->name, names), l->name, l->meaning);
        if (is_chosen) {
            frame->cursor_row = row + at;
            frame->cursor_col = col;
        }
    }
}

static void draw_sort_menu(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    static const struct menu_line calls[] = {
#define ORDER(sym, header, meaning) {header, meaning, RTL_HIP_API_BY_##sym},
        RTL_HIP_API_ORDERS(ORDER)
#undef ORDER
    };
    struct menu_line line[RTL_COLUMN_COUNT];
    int lines = 0;
    if (rtl_ui_shows_calls(ui)) {
        draw_menu_lines(frame, calls, sizeof calls / sizeof *calls, ui->menu, "sort by");
        return;
    }
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (rtl_columns[i].order != RTL_ORDER_NO)
            line[lines++] = (struct menu_line){rtl_columns[i].header, rtl_columns[i].meaning, i};
    draw_menu_lines(frame, line, lines, ui->menu, "sort by");
}

static void draw_columns_menu(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    struct menu_line line[RTL_COLUMN_COUNT];
    char names[RTL_COLUMN_COUNT][24];
    uint32_t shown = ui->columns ? ui->columns : ui->columns_shown;
    struct rtl_column_order order = rtl_column_order(ui->column_places);
    for (int at = 0; at < RTL_COLUMN_COUNT; at++) {
        int i = order.column[at];
        snprintf(names[i], sizeof names[i], "[%c] %.18s", shown >> i & 1 ? 'x' : ' ', rtl_columns[i].header);
        line[at] = (struct menu_line){names[i], rtl_columns[i].meaning, i};
    }
    draw_menu_lines(frame, line, RTL_COLUMN_COUNT, ui->menu, ui->columns ? "columns" : "columns that fit");
}

static void draw_mode_menu(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    const struct rtl_sample *now = ui->model->latest;
    bool calls = now && now->snapshot.hip_api; /* calls stay recorded in mode default, which is then called hip */
    const struct menu_line line[] = {
#define MODE(sym, num, name, text) {calls && (num) == RTL_MODE_DEFAULT ? RTL_MODE_HIP : name, text, num},
        RTL_MODES(MODE)
#undef MODE
    };
    draw_menu_lines(frame, line, sizeof line / sizeof *line, ui->menu, "mode of the process");
}

static void draw_question(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    const struct menu_line line[] = {{"y", ui->effect, true}, {"n", "no: change nothing", false}};
    draw_menu_lines(frame, line, sizeof line / sizeof *line, ui->menu, ui->question);
}

static void draw_leave_menu(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    bool again = ui->launched == RTL_LAUNCHED_ENDING;
    const struct menu_line line[] = {
#define ANSWER(sym, key, name, meaning, when_told) {name, again ? when_told : meaning, RTL_LEAVE_##sym},
        RTL_LEAVE_ANSWERS(ANSWER)
#undef ANSWER
    };
    draw_menu_lines(frame, line, sizeof line / sizeof *line, ui->menu,
                    ui->model->state == RTL_TARGET_EXITED ? "the traced process has ended; the command still runs"
                                                          : "the command still runs");
}

void rtl_draw_menu(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    if (ui->prompt == RTL_PROMPT_SORT)
        draw_sort_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_MODE)
        draw_mode_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_COLUMNS)
        draw_columns_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_LEAVE)
        draw_leave_menu(ui, frame);
    else if (ui->prompt == RTL_PROMPT_ASK)
        draw_question(ui, frame);
}
