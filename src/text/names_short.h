/*
 * The short name of one kernel: operation, type, tile, then other properties. The rules of names_rules.h make it. Pure.
 */
#ifndef RTL_TEXT_NAMES_SHORT_H
#define RTL_TEXT_NAMES_SHORT_H

#include <stdbool.h>

#include "text/names_forms.h"

struct rtl_name_rules;

struct rtl_brief {
    char *whole;   /* the uncut short name: the joined pieces, or `spelled` */
    char *pieces;  /* rtl_pieces.text */
    char *spelled; /* NULL for a name in C; else the spelled name, in which names.c finds differences */
    enum rtl_name_family family;
};

/* Make a short name from the mangled and the full form. `user` may be NULL. False without memory. */
bool rtl_brief_make(struct rtl_brief *brief, const struct rtl_name_rules *user, const char *raw, const char *full);
void rtl_brief_free(struct rtl_brief *brief);

/* The short name and the family by the built-in rules. The caller frees the name; NULL without memory. */
char *rtl_name_short(const char *raw, const char *full);
enum rtl_name_family rtl_name_family(const char *raw, const char *full);

#endif
