/*
 * Operations, types and numbers in the arguments of a kernel's name. Pure; texts are written into `out`. The recursion
 * is bounded: callers pass 0 as `deep`.
 */
#ifndef RTL_TEXT_NAMES_FACTS_H
#define RTL_TEXT_NAMES_FACTS_H

#include <stdbool.h>

#include "text/names_pieces.h"
#include "text/names_scan.h"

enum { RTL_RUN_MAX = 8 };

/* The operation of a functor, without its wrappers: "silu"; "" if its name has none. */
void rtl_operation_of(struct rtl_name_span functor, int deep, char *out, size_t size);

/* The number type: a floating point type if the name has one; "2B" for an opaque type of that width. */
bool rtl_type_in(struct rtl_name_span name, int deep, char *out, size_t size);

bool rtl_type_is_floating(const char *brief); /* "bf16", "f32", "c64"; false for NULL */

bool rtl_is_number(struct rtl_name_span argument);
int rtl_digits_of(struct rtl_name_span number); /* length without the suffix "ul" */

/* The first four or more adjacent numbers among arguments at any depth, sequence<...> excepted. */
bool rtl_find_run(struct rtl_name_span arguments, int deep, struct rtl_name_span run[RTL_RUN_MAX], unsigned *count);
/* The arguments of sequence<...> number `*number`, at any depth. */
bool rtl_find_sequence(struct rtl_name_span arguments, int deep, int *number, struct rtl_name_span *found);
/* "(ns::Rmsnorm2dFusedAddEnum)1" -> "FusedAdd=1": all enumerators that are not 0. */
void rtl_enumerators_in(struct rtl_name_span text, char *out, size_t size);

#endif
