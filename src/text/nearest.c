/* The distance between words. See nearest.h. */
#include "text/nearest.h"

#include <string.h>

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Only the last three rows of the table of distances between prefixes are needed. */
unsigned rtl_word_distance(const char *a, const char *b)
{
    size_t rows = strnlen(a, RTL_NEAREST_MAX + 1), columns = strnlen(b, RTL_NEAREST_MAX + 1);
    unsigned table[3][RTL_NEAREST_MAX + 1];
    if (rows > RTL_NEAREST_MAX || columns > RTL_NEAREST_MAX)
        return RTL_NEAREST_MAX;
    for (size_t j = 0; j <= columns; j++)
        table[0][j] = (unsigned)j;
    for (size_t i = 1; i <= rows; i++) {
        unsigned *row = table[i % 3], *above = table[(i + 2) % 3], *two_above = table[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = smaller(above[j - 1] + (a[i - 1] != b[j - 1]), smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return table[rows % 3][columns];
}

unsigned rtl_word_meant(const char *word, const char *known)
{
    size_t length = strnlen(word, RTL_NEAREST_MAX + 1);
    if (length > 2 && length <= RTL_NEAREST_MAX && !strncmp(word, known, length) && known[length])
        return 1;
    unsigned distance = rtl_word_distance(word, known);
    return length > 1 && distance && distance <= (length + 2) / 3 ? 1 + distance : 0;
}
