/*
 * Kernel names for people: demangled, shortened so that instances of one template stay apart, cut to a column.
 *
 * Statistics are keyed by the full name; this is only what is shown. The short form says first what a kernel does, then
 * of which type its numbers are and its tile, by rules for the known libraries (names_rules.h) and the user's own;
 * other names keep their template arguments, types shortened (bf16, f16, i32), without return type, parameters and
 * namespaces. In a column what says least is left out first. What would look like another row shows a word that tells
 * it apart, and
 * "~hash" of the full name only where no word does. A shown name never changes while the column keeps its width: it is
 * made at first sight, in the order of first sight.
 */
#ifndef RTL_TEXT_NAMES_H
#define RTL_TEXT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(symbol, name on the command line and on screen, what it shows) */
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

/* What kernels are for. X(symbol, name in the configuration and for programs, which kernels) */
#define RTL_NAME_FAMILIES(X)                                                                   \
    X(GEMM, "gemm", "matrix products and convolutions")                                        \
    X(ATTENTION, "attention", "attention, its caches and rotary embeddings")                   \
    X(COMM, "comm", "collectives and copies between GPUs")                                     \
    X(MOE, "moe", "routing to experts and their products")                                     \
    X(NORM, "norm", "normalization and softmax")                                               \
    X(ELEMENTWISE, "elementwise", "element by element: activations, arithmetic, quantization") \
    X(REDUCE, "reduce", "sums, maxima, scans, sorts")                                          \
    X(COPY, "copy", "copies, fills, transposes, gathers")                                      \
    X(SAMPLING, "sampling", "random numbers, sampling of tokens")                              \
    X(OTHER, "other", "all others")

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
/* A name for all kernels whose full or mangled name the pattern fits; `nickname` is safe text. */
bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname);
/* What rtl_names_create takes along from now on; NULL for none. They have to stay as long. */
void rtl_name_rules_use(const struct rtl_name_rules *rules);

/* --- pure: one name at a time; every result is safe text (text/text.h) that the caller frees, NULL without memory ---
 */
char *rtl_name_full(const char *raw, size_t length);     /* demangled if it can be, ".kd" dropped */
char *rtl_name_template(const char *full);               /* of a full name */
char *rtl_name_short(const char *raw, const char *full); /* of both: libraries encode facts in C names */
enum rtl_name_family rtl_name_family(const char *raw, const char *full);

/* --- the names of one process, by kernel id --- */
struct rtl_names;
struct rtl_names *rtl_names_create(void);
void rtl_names_free(struct rtl_names *names);

/* What a name is when there is no memory for it: this very string. */
extern const char rtl_name_missing[];

/* The name in one form, whole; owned by `names` and stable. `raw` has to outlive `names` (the reader's names do). */
const char *rtl_names_form(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form);

/*
 * The name in a column: at most `width` columns, different from every other name seen in that column, unless it is too
 * narrow to tell anything apart. Owned by `names`, valid until the geometry changes. RTL_NAMES_WHOLE asks for the uncut
 * form (with "~hash" only where two names are alike): titles and exports use it, and it has a geometry of its own.
 */
#define RTL_NAMES_WHOLE 0
const char *rtl_names_cell(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form, int width, bool ascii);

enum rtl_name_family rtl_names_family(struct rtl_names *names, uint32_t id, const char *raw, size_t length);

/* True if the needle stands in the full, short or mangled name. */
bool rtl_names_match(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *needle);

#endif
