/* The columns as data. See columns.h. */
#include "model/columns.h"

#include <string.h>

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

enum rtl_column rtl_column_step(enum rtl_column column, int step)
{
    int at = (int)column;
    do
        at = (at + step + RTL_COLUMN_COUNT) % RTL_COLUMN_COUNT;
    while (rtl_columns[at].order == RTL_ORDER_NO);
    return (enum rtl_column)at;
}
