/*
 * One kernel name in its forms, what kernels are for, and the user's rules: what the names of a process (names.h) and
 * the files that make one of them have in common.
 */
#ifndef RTL_TEXT_NAME_FORMS_H
#define RTL_TEXT_NAME_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* What kernels are for. X(symbol, name in the configuration and for programs, which kernels) */
#define RTL_NAME_FAMILIES(X)                                                                  \
    X(GEMM, "gemm", "matrix products and convolutions")                                       \
    X(ATTENTION, "attention", "attention, its caches and rotary embeddings")                  \
    X(COMM, "comm", "collectives and copies between GPUs")                                    \
    X(MOE, "moe", "routing to experts, and their matrix products")                            \
    X(NORM, "norm", "normalization and softmax")                                              \
    X(ELEMENTWISE, "elementwise", "element-wise work: activations, arithmetic, quantization") \
    X(REDUCE, "reduce", "sums, maxima, scans, sorts")                                         \
    X(COPY, "copy", "copies, fills, transposes, gathers")                                     \
    X(SAMPLING, "sampling", "random numbers, sampling of tokens")                             \
    X(OTHER, "other", "all other kernels")

#define RTL_ENUM_FAMILY(sym, name, text) RTL_FAMILY_##sym,
enum rtl_name_family { RTL_NAME_FAMILIES(RTL_ENUM_FAMILY) RTL_FAMILY_COUNT };
#undef RTL_ENUM_FAMILY

const char *rtl_name_family_name(enum rtl_name_family family);
bool rtl_name_family_parse(const char *name, enum rtl_name_family *family);

/* --- the user's rules: patterns and what to show as in names_rules.h; they come before the built-in ones --- */
enum { RTL_USER_RULES_MAX = 256 };
struct rtl_name_rules;
struct rtl_name_rules *rtl_name_rules_create(void);
void rtl_name_rules_free(struct rtl_name_rules *rules);
/* False when there are RTL_USER_RULES_MAX, or without memory. `show` NULL or "": only the family. */
bool rtl_name_rules_add(struct rtl_name_rules *rules, enum rtl_name_family family, const char *pattern,
                        const char *show);
/* A name for all kernels whose own, full or mangled name the pattern fits; `nickname` is safe text. */
bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname);
/* What rtl_names_create takes along from now on; NULL for none. They have to stay as long. */
void rtl_name_rules_use(const struct rtl_name_rules *rules);

/* --- pure: one name at a time; every result is safe text (text/text.h) that the caller frees, NULL without memory ---
 */
char *rtl_name_full(const char *raw, size_t length);     /* demangled if it can be, ".kd" dropped */
char *rtl_name_template(const char *full);               /* of a full name */
char *rtl_name_short(const char *raw, const char *full); /* of both: libraries encode facts in C names */
enum rtl_name_family rtl_name_family(const char *raw, const char *full);

#endif
