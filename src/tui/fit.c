/* Columns of a table that have room. See fit.h. */
#include "tui/fit.h"

int rtl_columns_fit(int *width, const int *from, int count, int kept, int begin, int cols, int reserve, int *at)
{
    int used = begin;
    for (int i = 0; i < count; i++) {
        width[i] = from[i] <= cols ? width[i] : 0;
        used += width[i] ? width[i] + 1 : 0;
    }
    while (used - 1 > cols - reserve) {
        int least = -1;
        for (int i = 0; i < count; i++)
            if (width[i] && i != kept && (least < 0 || from[i] >= from[least]))
                least = i;
        if (least < 0)
            least = kept;
        if (!width[least])
            break;
        used -= width[least] + 1;
        width[least] = 0;
    }
    used = begin;
    for (int i = 0; i < count; i++) {
        at[i] = used;
        used += width[i] ? width[i] + 1 : 0;
    }
    return used;
}
