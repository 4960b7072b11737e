/*
 * The forms of one kernel name, and the families of kernels. Pure.
 *
 * names.c has the steps from a raw name to a table cell. Every result is safe text (text.h) that the caller frees; NULL
 * without memory.
 */
#ifndef RTL_TEXT_NAMES_FORMS_H
#define RTL_TEXT_NAMES_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* X(symbol, name on the command line and on screen, meaning) */
#define RTL_NAME_FORMS(X)                                                              \
    X(SHORT, "short", "what it does, on which type and tile, and what tells it apart") \
    X(TEMPLATE, "template", "without return type and parameters")                      \
    X(FULL, "full", "all that the compiler knew")                                      \
    X(MANGLED, "mangled", "as it stands in the code object")

#define RTL_ENUM_NAME_FORM(sym, name, text) RTL_NAME_##sym,
enum rtl_name_form { RTL_NAME_FORMS(RTL_ENUM_NAME_FORM) RTL_NAME_FORM_COUNT };
#undef RTL_ENUM_NAME_FORM

const char *rtl_name_form_name(enum rtl_name_form form);
bool rtl_name_form_parse(const char *name, enum rtl_name_form *form);

/* The purposes of kernels. X(symbol, name in the configuration and for programs, which kernels) */
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

char *rtl_name_mangled(const char *raw, size_t length); /* without ".kd" */
char *rtl_name_full(const char *raw, size_t length);    /* demangled where possible */
char *rtl_name_template(const char *full);

/* Spell a template name briefly: "ns::f<(ns::Kind)3, unsigned long>" -> "f<Kind=3,u64>". The result is never longer
 * than the name. */
char *rtl_name_spelled(const char *name);

#endif
