/* Expands the "$" words of a rule (names_rules.h) for one name. Pure. */
#ifndef RTL_TEXT_NAMES_EXPAND_H
#define RTL_TEXT_NAMES_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "text/names_forms.h"
#include "text/names_pieces.h"
#include "text/names_scan.h"

enum { RTL_TEMPLATE_ARGUMENTS_MAX = 64, RTL_WORDS_MAX = 48 };

struct rtl_facts {
    struct rtl_name_span name; /* with scopes and arguments */
    struct rtl_name_part part; /* its principal part */
    struct rtl_name_span arguments[RTL_TEMPLATE_ARGUMENTS_MAX];
    unsigned argument_count;
    struct rtl_name_span words[RTL_WORDS_MAX]; /* of a name in C */
    unsigned word_count;
    uint64_t shown_arguments, shown_words; /* one bit each: already shown by a "$" word */
};

void rtl_facts_of(struct rtl_facts *facts, struct rtl_name_span name, struct rtl_name_part part);

/* Append the pieces that `show` describes. */
void rtl_facts_show(struct rtl_pieces *p, struct rtl_facts *facts, const char *show);

/* "@gemm": append the pieces of a generated GEMM's name (Tensile); false if `raw` is no such name. */
bool rtl_gemm_pieces(struct rtl_pieces *p, const char *raw);
/* "@triton": append the pieces of a Triton name, and set the family if known; false if `raw` is no such name. */
bool rtl_triton_pieces(struct rtl_pieces *p, const char *raw, enum rtl_name_family *family);

#endif
