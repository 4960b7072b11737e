/* The columns as data. See columns.h. */
#include "model/columns.h"

#include <string.h>

_Static_assert(RTL_COLUMN_NAME == RTL_COLUMN_COUNT - 1, "the name is the last one");

#define COLUMN(sym, key_, header_, width_, from, order_, meaning_) \
    [RTL_COLUMN_##sym] = {.key = key_,                             \
                          .header = header_,                       \
                          .meaning = meaning_,                     \
                          .width = width_,                         \
                          .from_cols = from,                       \
                          .order = RTL_ORDER_##order_},
const struct rtl_column_info rtl_columns[RTL_COLUMN_COUNT] = {RTL_COLUMNS(COLUMN)};
#undef COLUMN

bool rtl_column_parse(const char *key, enum rtl_column *column, bool *reverse)
{
    bool minus = key[0] == '-';
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (!strcmp(rtl_columns[i].key, key + minus) && rtl_columns[i].order != RTL_ORDER_NO) {
            *column = (enum rtl_column)i;
            *reverse = minus;
            return true;
        }
    return false;
}

struct rtl_column_order rtl_column_order(const uint8_t *places)
{
    struct rtl_column_order order;
    int count = 0;
    for (int place = 1; places && place <= UINT8_MAX && count < RTL_COLUMN_NAME; place++)
        for (int i = 0; i < RTL_COLUMN_NAME; i++)
            if (places[i] == place)
                order.column[count++] = i;
    for (int i = 0; i < RTL_COLUMN_NAME; i++)
        if (!places || !places[i])
            order.column[count++] = i;
    order.column[count] = RTL_COLUMN_NAME;
    return order;
}

enum rtl_column rtl_column_step(enum rtl_column column, int step)
{
    int at = (int)column;
    do
        at = (at + step + RTL_COLUMN_COUNT) % RTL_COLUMN_COUNT;
    while (rtl_columns[at].order == RTL_ORDER_NO);
    return (enum rtl_column)at;
}
