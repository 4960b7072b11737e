/*
 * Rules for the short names of known libraries' kernels. names_tables.c has them, one table a family.
 *
 * A rule has a pattern and a list of words to show. The pattern is compared with the kernel's identifier
 * ("vectorized_..._kernel", without scopes and arguments), or with the scoped name if the pattern contains "::". "*"
 * stands for any text; case is ignored. The first matching rule applies, in the order of the tables. Other patterns of
 * a table, and a user's rule without words, set only the family.
 *
 * A word with "$" shows a part of the name, and is omitted if the name has no such part. Round brackets keep words
 * together. The words before "|" are always shown; those behind it while there is room.
 *
 *   $name       the kernel's identifier, without "kernel", "_impl" and the like
 *   $type       its number type, anywhere in the name ("bf16"); $type1: in argument 1 (counted from 0)
 *   $types      the types among its arguments: "bf16/f8"
 *   $1          argument 1
 *   $op1        the operation of argument 1, a functor: "silu"
 *   $variant1   how argument 1 differs from others with the same operation: "nocast"
 *   $lambda1    the number of argument 1, a lambda: "#3"
 *   $int1       number 1 (counted from 0) behind the last type or enumerator among the arguments
 *   $run1       three numbers, beginning with number 1 of the first four or more adjacent numbers: "128x64x32"
 *   $seq0       sequence<...> number 0: "1x3072"; $seqlast0: its last number
 *   $enum       the enumerators that are not 0: "FusedAdd=1"
 *   $w1         word 1 of a name in C (between "_"); $words: the words before the first type or tile
 *   ${bt}       the rest of the word that begins with "bt", in a name in C: 128x128x32
 *   $tile       the first word of a name in C that is a tile
 *   $more       all arguments, or words, that are not shown yet
 *
 * "=1" shows argument 1 as if it were the kernel. "@gemm" and "@triton" call names_gemm.c and names_triton.c.
 */
#ifndef RTL_TEXT_NAMES_RULES_H
#define RTL_TEXT_NAMES_RULES_H

#include <stddef.h>

#include "text/names_forms.h"

struct rtl_name_rule {
    const char *kernel, *show;
};

struct rtl_name_table {
    enum rtl_name_family family;
    const struct rtl_name_rule *rules;
    size_t count;
    const char *const *patterns; /* other kernels of the family; ends with NULL */
};
extern const struct rtl_name_table rtl_name_tables[];
extern const size_t rtl_name_table_count;

/* Check what a rule shows: return an error message, or NULL. */
const char *rtl_name_show_wrong(const char *show);

#endif
