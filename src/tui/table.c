/* Tables of numbers. See table.h. */
#include "tui/table.h"
#include "model/cells.h"
#include "text/text.h"

struct rtl_table rtl_table_begin(const struct rtl_table_column *columns, int count)
{
    struct rtl_table t = {.columns = columns, .count = count};
    for (int i = 0; i < count; i++)
        t.width[i] = columns[i].width;
    return t;
}

void rtl_table_widen(struct rtl_table *t, const struct rtl_number *cells)
{
    for (int i = 0; i < t->count; i++)
        t->width[i] = rtl_cell_width(t->width[i], rtl_text_columns(cells[i].text));
}

static void place_from(struct rtl_table *t, int column)
{
    t->end = column;
    for (int i = 0; i < t->count; i++) {
        t->at[i] = t->end;
        t->end += t->width[i] ? t->width[i] + 1 : 0;
    }
}

static void hide_wide(struct rtl_table *t, int cols)
{
    for (int i = 0; i < t->count; i++)
        t->width[i] = t->columns[i].from <= cols ? t->width[i] : 0;
}

void rtl_table_place(struct rtl_table *t, int cols, int room)
{
    hide_wide(t, cols);
    place_from(t, 1);
    for (int i = 0; i < t->count; i++)
        if (t->at[i] + t->width[i] > room) {
            t->width[i] = 0;
            place_from(t, 1);
        }
}

void rtl_table_fit(struct rtl_table *t, int kept, int cols, int reserve)
{
    hide_wide(t, cols);
    place_from(t, 2);
    while (t->end - 1 > cols - reserve) {
        int least = kept;
        for (int i = 0; i < t->count; i++)
            if (t->width[i] && i != kept && (least == kept || t->columns[i].from >= t->columns[least].from))
                least = i;
        if (!t->width[least])
            break;
        t->width[least] = 0;
        place_from(t, 2);
    }
}

void rtl_table_cell(const struct rtl_table *t, struct rtl_frame *frame, int line, enum rtl_role role, int column,
                    const char *text)
{
    if (t->width[column])
        rtl_frame_right(frame, line, t->at[column], t->width[column], role, text);
}

void rtl_table_draw(const struct rtl_table *t, struct rtl_frame *frame, int line, enum rtl_role role,
                    const struct rtl_number *cells)
{
    for (int i = 0; i < t->count; i++)
        rtl_table_cell(t, frame, line, role, i, cells[i].text);
}

void rtl_table_head(const struct rtl_table *t, struct rtl_frame *frame, int line, int sorted)
{
    for (int i = 0; i < t->count; i++)
        rtl_table_cell(t, frame, line, i == sorted ? RTL_ROLE_HEADER_SORT : RTL_ROLE_HEADER, i, t->columns[i].header);
}
