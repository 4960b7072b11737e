/*
 * Going through a demangled name: brackets, scopes, arguments, types. Pure.
 *
 * A demangled name is not C++ that a parser could rely on, and it comes from another process. So these are scanners
 * with a bounded stack of open brackets, over spans of one text; whatever they do not understand stays as it is.
 */
#ifndef RTL_TEXT_NAMES_SCAN_H
#define RTL_TEXT_NAMES_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text that lives elsewhere. */
struct rtl_name_span {
    const char *at;
    size_t length;
};

enum { RTL_OPEN_MAX = 256 };

/* Open brackets of a scan. A closing round bracket also closes angles left open inside it: (a > b) is an expression. */
struct rtl_scan {
    char open[RTL_OPEN_MAX];
    int depth;
    bool lost; /* deeper than we follow */
};
void rtl_scan_step(struct rtl_scan *s, const char *text, size_t at);

bool rtl_is_word(char c); /* of an identifier; letters of all scripts */

/* "operator()", "operator<<" at `at`: what looks like a bracket there is none. */
bool rtl_operator_at(const char *text, size_t at, size_t length);
size_t rtl_operator_end(const char *text, size_t at);

/* A function as it is declared -> its name with scopes and arguments: no return type, no parameters. */
struct rtl_name_span rtl_span_declared(struct rtl_name_span full);

bool rtl_span_is(struct rtl_name_span span, const char *text);
bool rtl_span_starts(struct rtl_name_span span, const char *text);
bool rtl_span_ends(struct rtl_name_span span, const char *text);
/* Drop the text at the start or end; false if the span has no such text, or nothing else. */
bool rtl_span_drop_start(struct rtl_name_span *span, const char *text);
bool rtl_span_drop_end(struct rtl_name_span *span, const char *text);
struct rtl_name_span rtl_span_trim(struct rtl_name_span span); /* drops blanks on both sides */

/* Takes the first piece off `rest`: up to a comma between arguments, up to "::" between scopes. False at the end. */
bool rtl_span_argument(struct rtl_name_span *rest, struct rtl_name_span *argument);
bool rtl_span_scope(struct rtl_name_span *rest, struct rtl_name_span *scope);

/* What stands between two scope marks: ident<arguments>(parameters). */
struct rtl_name_part {
    struct rtl_name_span ident, arguments, parameters;
    bool has_arguments, has_parameters;
};
struct rtl_name_part rtl_part_of(struct rtl_name_span scope);

/*
 * What a name is about: its last scope; of an entity within a function ("f<T>(int)::{lambda(int)#1}::operator()") the
 * outermost function. The address of a function, "&(void f<T>(int))", is about that function.
 */
struct rtl_name_part rtl_span_principal(struct rtl_name_span name);

/* "bf16" for "c10::BFloat16 const*"; NULL for what is no type of numbers. */
const char *rtl_type_brief(struct rtl_name_span type);
/* By the last component alone, as it stands. */
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
