/*
 * Scanners for kernel names: brackets, scopes, arguments and types of demangled names; words of names in C. Pure.
 *
 * A demangled name is not valid C++, and it comes from another process. The scanners work on spans of one text, with a
 * bounded stack of open brackets. They leave unknown syntax unchanged.
 */
#ifndef RTL_TEXT_NAMES_SCAN_H
#define RTL_TEXT_NAMES_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text. The span does not own the text. */
struct rtl_name_span {
    const char *at;
    size_t length;
};

enum { RTL_OPEN_MAX = 256 };

/* Open brackets of a scan. A closing bracket also closes angles left open inside it, as in the expression (a < b). */
struct rtl_scan {
    char open[RTL_OPEN_MAX];
    int depth;
    bool lost; /* more than RTL_OPEN_MAX are open */
};
void rtl_scan_step(struct rtl_scan *s, const char *text, size_t at);

bool rtl_is_word(char c); /* may be in an identifier; letters of all scripts */

/* "operator()", "operator<<" at `at`: its symbols are no brackets. */
bool rtl_operator_at(const char *text, size_t at, size_t length);
size_t rtl_operator_end(const char *text, size_t at);

/* Reduce a function's declaration to its name with scopes and arguments: no return type, no parameters. */
struct rtl_name_span rtl_span_declared(struct rtl_name_span full);

bool rtl_span_is(struct rtl_name_span span, const char *text);
bool rtl_span_starts(struct rtl_name_span span, const char *text);
bool rtl_span_ends(struct rtl_name_span span, const char *text);
/* Drop the text at the start or end; false if the span has no such text, or nothing else. */
bool rtl_span_drop_start(struct rtl_name_span *span, const char *text);
bool rtl_span_drop_end(struct rtl_name_span *span, const char *text);

/* Split the first argument (up to a comma) or scope (up to "::") off `rest`. False if `rest` is empty. */
bool rtl_span_argument(struct rtl_name_span *rest, struct rtl_name_span *argument);
bool rtl_span_scope(struct rtl_name_span *rest, struct rtl_name_span *scope);

/* The text between two "::": ident<arguments>(parameters). */
struct rtl_name_part {
    struct rtl_name_span ident, arguments, parameters;
    bool has_arguments, has_parameters;
};

/* Return the principal part of a name: its last scope, or the outermost function of an entity within a function
 * ("f<T>(int)::{lambda(int)#1}::operator()"). For the address of a function, "&(void f<T>(int))", that function. */
struct rtl_name_part rtl_span_principal(struct rtl_name_span name);

/* "bf16" for "c10::BFloat16 const*"; NULL if the text is no number type. */
const char *rtl_type_brief(struct rtl_name_span type);
/* As above, for the last component of a type's name. */
const char *rtl_type_word(const char *word, size_t length);
bool rtl_is_builtin_word(const char *word, size_t length);

/* Match a pattern: "*" stands for any text, ASCII case is ignored. */
bool rtl_name_pattern_fits(const char *pattern, const char *text, size_t length);

/* --- names in C: words between underscores --- */

/* Split the next word off `rest`. If `joined`, a part that begins with a digit belongs to the word before ("WG16_4_4").
 */
bool rtl_span_word(struct rtl_name_span *rest, struct rtl_name_span *word, bool joined);

/* Read a word that names types: "bf16" for "bf16" or "bf16xbf16", "bf16/mxfp4" for "bf16xbf16xmxfp4". */
bool rtl_word_type(struct rtl_name_span word, char *out, size_t size);
bool rtl_word_tile(struct rtl_name_span word); /* "128x64x32" */

#endif
