/* Keys of the menu of columns. See columns_menu.h. */
#include "tui/columns_menu.h"
#include "tui/layout.h"

static int place_of(const struct rtl_column_order *order, int column)
{
    int at = 0;
    while (at < RTL_COLUMN_COUNT - 1 && order->column[at] != column)
        at++;
    return at;
}

/* To the left or right; the name, which takes what is left, stays where it is. */
static void move(struct rtl_ui *ui, struct rtl_column_order order, int at, int step)
{
    int to = at + step;
    if (at == RTL_COLUMN_NAME || to < 0 || to >= RTL_COLUMN_NAME) {
        rtl_ui_say(ui, "%s",
                   at == RTL_COLUMN_NAME || to > 0 ? "the name is the last one: it takes what is left"
                                                   : "this is the first one");
        return;
    }
    order.column[at] = order.column[to];
    order.column[to] = ui->menu;
    for (int i = 0; i < RTL_COLUMN_NAME; i++)
        ui->column_places[order.column[i]] = (uint8_t)(i + 1);
}

void rtl_columns_menu_key(struct rtl_ui *ui, uint32_t key)
{
    struct rtl_column_order order = rtl_column_order(ui->column_places);
    int at = place_of(&order, ui->menu);
    int from = key == RTL_KEY_HOME ? 0 : key == RTL_KEY_END || key == 'G' ? RTL_COLUMN_COUNT : at;
    if (key == '<' || key == '>' || key == RTL_KEY_LEFT || key == RTL_KEY_RIGHT) {
        move(ui, order, at, key == '<' || key == RTL_KEY_LEFT ? -1 : 1);
        return;
    }
    if (key == ' ' && ui->menu == RTL_COLUMN_NAME)
        rtl_ui_say(ui, "the name stays: without it the others say nothing");
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
    int at = place_of(&order, (int)column);
    do
        at = (at + step + RTL_COLUMN_COUNT) % RTL_COLUMN_COUNT;
    while (rtl_columns[order.column[at]].order == RTL_ORDER_NO);
    return (enum rtl_column)order.column[at];
}
