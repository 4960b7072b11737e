/*
 * One kernel name in few words: an operation, a type, a tile, then what else tells kernels apart. Pure, made by the
 * rules of names_rules.h.
 *
 * It is a list of pieces. Those of rank 0 matter most; the others are shown where there is room, by rank and order.
 */
#ifndef RTL_TEXT_NAMES_BRIEF_H
#define RTL_TEXT_NAMES_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "text/name_forms.h"

struct rtl_brief {
    char *whole;   /* what is shown where there is room: the pieces, or the name as it is spelled */
    char *pieces;  /* each: a digit (its rank), its text, '\0'; ends with an empty one */
    char *spelled; /* NULL, or the name as it is spelled: where to look for what tells it from another one */
    enum rtl_name_family family;
};

/* `raw` as it stands in the code object, `full` demangled if it could be; both safe text. False without memory. */
bool rtl_brief_make(struct rtl_brief *brief, const struct rtl_name_rules *user, const char *raw, const char *full);
void rtl_brief_free(struct rtl_brief *brief);

/*
 * At most `width` columns of it, with `must` (or "") at the end. Pieces that don't fit are left out; when those of rank
 * 0 don't fit, the first is cut in the middle, and at last all of it.
 */
void rtl_brief_fit(char *out, size_t size, const char *pieces, int width, const char *must, bool ascii);

/*
 * What `mine` has and `theirs` has not, the `number`th of it, as it can be shown: a word, "-word" for one that is
 * missing, "arg3=16". False when there is no more. `raw` tells the names of generated GEMMs apart, `spelled` all
 * others.
 */
bool rtl_brief_differs(char *out, size_t size, const char *mine, const char *theirs, int number);

#endif
