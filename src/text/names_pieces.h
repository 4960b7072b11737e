/*
 * The pieces of a short name. A piece has a rank: pieces of rank 0 are always shown; the others are shown by rank, then
 * order, while there is room. Pure.
 */
#ifndef RTL_TEXT_NAMES_PIECES_H
#define RTL_TEXT_NAMES_PIECES_H

#include <stdbool.h>
#include <stddef.h>

enum { RTL_PIECE_MAX = 160, RTL_PIECES_BYTES = 3000 };
struct rtl_pieces {
    char text[RTL_PIECES_BYTES]; /* each: a digit (its rank), its text, '\0'; ends with an empty one */
    size_t used;
};

/* Append a piece if it is not empty, not repeated, and fits into the buffer. */
void rtl_pieces_add(struct rtl_pieces *p, int rank, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Return all pieces in one text, separated by blanks. The caller frees it; NULL without memory. */
char *rtl_pieces_join(const struct rtl_pieces *p);

/* Fit pieces (rtl_pieces.text) into `width` columns, with the text `must` (or "") at the end. If the pieces of rank 0
 * are too wide, the longest of them is cut in the middle; in very narrow columns the result itself is cut. */
void rtl_pieces_fit(char *out, size_t size, const char *pieces, int width, const char *must, bool ascii);

#endif
