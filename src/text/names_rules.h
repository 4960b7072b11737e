/*
 * What is shown for the kernels of known libraries: rules, one table a family, each rule with an example.
 *
 * A rule has a pattern and what to show. The pattern is compared with the kernel's own name ("vectorized_..._kernel",
 * without scopes and arguments), or with scopes when it has "::" in it; "*" stands for anything, case is ignored. The
 * first rule that fits is the one, in the order of the tables in names_tables.c.
 *
 * What to show is a list of words. A word with "$" takes a part of the name, and is left out when there is none; round
 * brackets keep words together. The words before "|" are always shown, as far as there is room; those behind it where
 * there is more. Without anything to show, a rule says no more than the family.
 *
 *   $name       the kernel's own name, without "kernel", "_impl" and their like
 *   $type       the type of its numbers, wherever it stands ("bf16"); $type1: in argument 1 (counted from 0)
 *   $types      the types among its arguments: "bf16/f8"
 *   $1          argument 1
 *   $op1        the operation that argument 1, a functor, carries out: "silu"
 *   $variant1   how argument 1 differs from others with the same operation: "nocast"
 *   $lambda1    the number of the lambda that argument 1 is: "#3"
 *   $int1       number 1 of those behind the last type or enumerator among the arguments
 *   $run1       three numbers from number 1 on, of the first four or more that follow one another: "128x64x32"
 *   $seq0       sequence 0: "1x3072"; $seqlast0: its last number
 *   $enum       the enumerators that are not 0: "FusedAdd=1"
 *   $w1         word 1 of a name in C (between "_"); $words: those before the first type or tile
 *   ${bt}       what follows "bt" in the word of a C name that begins so: 128x128x32
 *   $tile       the first word of a C name that is a tile
 *   $more       what was not shown yet: arguments, or words
 *
 * "=1" goes on with argument 1 as if that were the kernel. "@gemm" and "@triton" are readers of their own
 * (names_gemm.c, names_triton.c).
 */
#ifndef RTL_TEXT_NAMES_RULES_H
#define RTL_TEXT_NAMES_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/names_forms.h"

struct rtl_name_rule {
    const char *kernel, *show; /* `show` is NULL for a rule that only names the family */
};

struct rtl_name_table {
    enum rtl_name_family family;
    const struct rtl_name_rule *rules;
    size_t count;
};
extern const struct rtl_name_table rtl_name_tables[];
extern const size_t rtl_name_table_count;

/* Check what a rule shows: return an error message, or NULL. */
const char *rtl_name_show_wrong(const char *show);

#endif
