/* What stands in the arguments of a kernel's name: operations, types, numbers. Pure; texts are written into `out`. */
#ifndef RTL_TEXT_NAMES_FACTS_H
#define RTL_TEXT_NAMES_FACTS_H

#include <stdbool.h>

#include "text/names_pieces.h"
#include "text/names_scan.h"

enum { RTL_RUN_MAX = 8 };

/* What a functor does, looked through what wraps it: "silu"; "" when it doesn't say. `deep` is 0. */
void rtl_operation_of(struct rtl_name_span functor, int deep, char *out, size_t size);

/* The type of its numbers: of floating point if there is one, or "2B" for what is only so wide. `deep` is 0. */
bool rtl_type_in(struct rtl_name_span name, int deep, char *out, size_t size);

bool rtl_type_is_floating(const char *brief); /* "bf16", "f32", "c64"; false for NULL */

bool rtl_is_number(struct rtl_name_span argument);
int rtl_digits_of(struct rtl_name_span number); /* without its "ul" */

/* The first four or more numbers that follow one another, wherever they stand; sequences are none. `deep` is 0. */
bool rtl_find_run(struct rtl_name_span arguments, int deep, struct rtl_name_span run[RTL_RUN_MAX], unsigned *count);
/* The arguments of sequence<...> number `*number`, wherever it stands. */
bool rtl_find_sequence(struct rtl_name_span arguments, int deep, int *number, struct rtl_name_span *found);
/* "(ns::Rmsnorm2dFusedAddEnum)1" -> "FusedAdd=1": enumerators that are not 0, wherever they stand. */
void rtl_enumerators_in(struct rtl_name_span text, char *out, size_t size);

#endif
