/* Scanners for kernel names. See names_scan.h. */
#include "text/names_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void rtl_scan_step(struct rtl_scan *s, const char *text, size_t at)
{
    char c = text[at];
    if (c == '(' || c == '[' || c == '{' || c == '<') {
        if (s->depth == RTL_OPEN_MAX)
            s->lost = true;
        else
            s->open[s->depth++] = c;
    } else if (c == '>') {
        if (s->depth && s->open[s->depth - 1] == '<' && !(at && text[at - 1] == '-'))
            s->depth--;
    } else if (c == ')' || c == ']' || c == '}') {
        char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
        int d = s->depth;
        while (d && s->open[d - 1] != opener)
            d--;
        if (d)
            s->depth = d - 1;
    }
}

bool rtl_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

size_t rtl_operator_end(const char *text, size_t at)
{
    size_t end = at + 8;
    if (!strncmp(text + end, "()", 2) || !strncmp(text + end, "[]", 2))
        return end + 2;
    while (text[end] && strchr("<>=-+*/%&|^!~", text[end])) {
        if (text[end] == '<' && end > at + 8 && text[end - 1] != '<')
            break; /* operator==<int>: the second bracket opens arguments */
        end++;
    }
    return end;
}

bool rtl_operator_at(const char *text, size_t at, size_t length)
{
    return at + 8 < length && text[at] == 'o' && !strncmp(text + at, "operator", 8) &&
           (!at || !rtl_is_word(text[at - 1])) && !rtl_is_word(text[at + 8]);
}

/* Return the length without the parameter list: up to the last "(" at depth 0 behind a name. */
static size_t without_parameters(const char *full, size_t length)
{
    struct rtl_scan s = {.depth = 0};
    size_t cut = length;
    for (size_t at = 0; at < length && !s.lost;) {
        if (rtl_operator_at(full, at, length)) {
            at = rtl_operator_end(full, at);
            continue;
        }
        if (full[at] == '(' && !s.depth && at && full[at - 1] != ':' && full[at - 1] != ' ')
            cut = at;
        rtl_scan_step(&s, full, at);
        at++;
        /* a local entity follows: these were the parameters of the enclosing function */
        if (!s.depth && cut < at && at + 2 < length &&
            (!strncmp(full + at, "::", 2) || (at + 8 < length && !strncmp(full + at, " const::", 8))))
            cut = length;
    }
    return s.lost ? length : cut;
}

/* Return the start of the name behind its return type: after the last blank at depth 0. */
static size_t after_return_type(const char *full, size_t length)
{
    struct rtl_scan s = {.depth = 0};
    size_t start = 0;
    for (size_t at = 0; at < length;) {
        if (rtl_operator_at(full, at, length)) /* "operator int", "operator new": blanks belong to the name */
            return start;
        if (full[at] == ' ' && !s.depth && at + 1 < length && strncmp(full + at + 1, "const::", 7) != 0)
            start = at + 1;
        rtl_scan_step(&s, full, at);
        if (s.lost)
            return 0;
        at++;
    }
    return start;
}

struct rtl_name_span rtl_span_declared(struct rtl_name_span full)
{
    size_t length = without_parameters(full.at, full.length);
    while (length && full.at[length - 1] == ' ')
        length--;
    size_t start = after_return_type(full.at, length);
    if (start >= length)
        start = 0;
    return (struct rtl_name_span){full.at + start, length - start};
}

bool rtl_span_is(struct rtl_name_span span, const char *text)
{
    return strlen(text) == span.length && !strncmp(span.at, text, span.length);
}

bool rtl_span_starts(struct rtl_name_span span, const char *text)
{
    size_t n = strlen(text);
    return n <= span.length && !strncmp(span.at, text, n);
}

bool rtl_span_ends(struct rtl_name_span span, const char *text)
{
    size_t n = strlen(text);
    return n <= span.length && !strncmp(span.at + span.length - n, text, n);
}

bool rtl_span_drop_start(struct rtl_name_span *span, const char *text)
{
    size_t n = strlen(text);
    if (n >= span->length || !rtl_span_starts(*span, text))
        return false;
    span->at += n;
    span->length -= n;
    return true;
}

bool rtl_span_drop_end(struct rtl_name_span *span, const char *text)
{
    size_t n = strlen(text);
    if (n >= span->length || !rtl_span_ends(*span, text))
        return false;
    span->length -= n;
    return true;
}

/* Drop blanks on both sides. */
static struct rtl_name_span trim_span(struct rtl_name_span span)
{
    while (span.length && *span.at == ' ') {
        span.at++;
        span.length--;
    }
    while (span.length && span.at[span.length - 1] == ' ')
        span.length--;
    return span;
}

/* Split the text before the first `mark` outside of brackets off `rest`. */
static bool split_at(struct rtl_name_span *rest, const char *mark, struct rtl_name_span *piece)
{
    struct rtl_scan s = {.depth = 0};
    size_t n = strlen(mark), at = 0;
    if (!rest->length)
        return false;
    while (at < rest->length) {
        if (rtl_operator_at(rest->at, at, rest->length)) {
            at = rtl_operator_end(rest->at, at);
            continue;
        }
        if (!s.depth && at + n <= rest->length && !strncmp(rest->at + at, mark, n))
            break;
        rtl_scan_step(&s, rest->at, at);
        at++;
    }
    bool found = at < rest->length;
    if (at > rest->length)
        at = rest->length;
    *piece = trim_span((struct rtl_name_span){rest->at, at});
    size_t taken = found ? at + n : at;
    rest->at += taken;
    rest->length -= taken;
    return true;
}

bool rtl_span_argument(struct rtl_name_span *rest, struct rtl_name_span *argument)
{
    return split_at(rest, ",", argument);
}

bool rtl_span_scope(struct rtl_name_span *rest, struct rtl_name_span *scope)
{
    return split_at(rest, "::", scope);
}

/* Return the contents of the bracket that opens at `at`; *end is the index behind it. */
static struct rtl_name_span inside_bracket(struct rtl_name_span text, size_t at, size_t *end)
{
    struct rtl_scan s = {.depth = 0};
    size_t from = at + 1;
    do
        rtl_scan_step(&s, text.at, at);
    while (++at < text.length && s.depth && !s.lost);
    *end = at;
    return trim_span((struct rtl_name_span){text.at + from, at - from - (s.depth ? 0 : 1)});
}

static struct rtl_name_part part_of_scope(struct rtl_name_span scope)
{
    struct rtl_name_part part = {.ident = scope};
    size_t at = 0;
    if (rtl_span_starts(scope, "operator")) {
        at = rtl_operator_end(scope.at, 0);
    } else if (scope.length && (*scope.at == '(' || *scope.at == '{')) {
        inside_bracket(scope, 0, &at); /* (anonymous namespace), {lambda(int)#1} */
    } else {
        while (at < scope.length && scope.at[at] != '<' && scope.at[at] != '(' && scope.at[at] != ' ')
            at++;
    }
    if (at > scope.length)
        at = scope.length;
    part.ident.length = at;
    if (at < scope.length && scope.at[at] == '<') {
        part.has_arguments = true;
        part.arguments = inside_bracket(scope, at, &at);
    }
    if (at < scope.length && scope.at[at] == '(') {
        part.has_parameters = true;
        part.parameters = inside_bracket(scope, at, &at);
    }
    return part;
}

struct rtl_name_part rtl_span_principal(struct rtl_name_span name)
{
    struct rtl_name_span rest, scope;
    struct rtl_name_part part = {.ident = name}, before = {.ident = name};
    name = trim_span(name);
    if (!memchr(name.at, ':', name.length) && !memchr(name.at, '<', name.length) &&
        !memchr(name.at, '(', name.length) &&
        !memchr(name.at, '&', name.length)) { /* a name in C, which may be too long for the scan below */
        part.ident = name;
        return part;
    }
    if (name.length && *name.at == '&') {
        name.at++;
        name.length--;
    }
    if (name.length > 2 && *name.at == '(' && name.at[name.length - 1] == ')') {
        size_t end;
        struct rtl_name_span inner = inside_bracket(name, 0, &end);
        if (end == name.length)
            name = rtl_span_declared(inner);
    }
    for (rest = name; rtl_span_scope(&rest, &scope);) {
        before = part;
        part = part_of_scope(scope);
        if (part.has_parameters && rest.length)
            return rtl_span_starts(part.ident, "operator") && before.ident.length ? before : part;
    }
    return part;
}

/* Types by the last component of their names. */
static const struct {
    const char *brief, *names; /* the names stand between "|" */
} types[] = {
    {"bf16", "|__hip_bfloat16|hip_bfloat16|__nv_bfloat16|BFloat16|bfloat16_t|__bf16|bhalf_t|bfloat16|bf16|bf16_t|"
             "rocblas_bfloat16|hip_bfloat16_t|"},
    {"f16", "|__half|_Float16|half|half_t|Half|__fp16|float16_t|f16|fp16|fp16_t|rocblas_half|"},
    {"f32", "|float|f32|fp32_t|"},
    {"f64", "|double|"},
    {"i32", "|int|int32_t|"},
    {"u32", "|unsigned int|unsigned|"},
    {"i64", "|long|long long|int64_t|"},
    {"u64", "|unsigned long|unsigned long long|"},
    {"i16", "|short|"},
    {"u16", "|unsigned short|"},
    {"i8", "|signed char|int8_t|"},
    {"u8", "|unsigned char|uint8_t|"},
    {"f8e4m3", "|Float8_e4m3fn|__hip_fp8_e4m3|f8_ocp_t|"},
    {"f8e4m3z", "|Float8_e4m3fnuz|__hip_fp8_e4m3_fnuz|f8_fnuz_t|"},
    {"f8e8m0", "|Float8_e8m0fnu|"},
    {"f4e2m1", "|Float4_e2m1fn_x2|"},
    {"quint8", "|quint8|"},
    {"qint8", "|qint8|"},
    {"qint32", "|qint32|"},
    {"quint4x2", "|quint4x2|"},
    {"quint2x4", "|quint2x4|"},
    {"bits8", "|bits8|"},
    {"bits16", "|bits16|"},
    {"bits1x8", "|bits1x8|"},
    {"bits2x4", "|bits2x4|"},
    {"bits4x2", "|bits4x2|"},
    {"f8e5m2", "|Float8_e5m2|__hip_fp8_e5m2|bf8_t|"},
    {"f8e5m2z", "|Float8_e5m2fnuz|__hip_fp8_e5m2_fnuz|"},
    {"f8", "|fp8|f8|fp8_t|f8_t|"},
    {"bf8", "|bf8|"},
    {"f16x2", "|__half2|"},
    {"bf16x2", "|__hip_bfloat162|"},
};

const char *rtl_type_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (const char *at = types[i].names + 1; *at; at += strcspn(at, "|") + 1)
            if (strcspn(at, "|") == length && !strncmp(at, word, length))
                return types[i].brief;
    return NULL;
}

bool rtl_is_builtin_word(const char *word, size_t length)
{
    static const char *const words[] = {"unsigned", "signed", "long", "int", "short", "char"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncmp(words[i], word, length))
            return true;
    return false;
}

const char *rtl_type_brief(struct rtl_name_span type)
{
    for (bool again = true; again;) { /* "float const*" is shown as the type that it points to */
        again = false;
        type = trim_span(type);
        if (rtl_span_ends(type, "*") || rtl_span_ends(type, "&")) {
            type.length--;
            again = true;
        } else if (rtl_span_ends(type, " const")) {
            type.length -= 6;
            again = true;
        }
    }
    if (rtl_span_is(type, "bool"))
        return "bool";
    if (rtl_span_ends(type, "complex<float>"))
        return "c64";
    if (rtl_span_ends(type, "complex<double>"))
        return "c128";
    if (rtl_span_ends(type, "complex<c10::Half>"))
        return "c32";
    if (memchr(type.at, '<', type.length) || memchr(type.at, '(', type.length))
        return NULL;
    size_t from = type.length;
    while (from && type.at[from - 1] != ':')
        from--;
    return rtl_type_word(type.at + from, type.length - from);
}

/* --- names in C --- */

bool rtl_name_pattern_fits(const char *pattern, const char *text, size_t length)
{
    const char *star = NULL;
    size_t at = 0, from = 0;
    while (at < length) {
        if (*pattern == '*') {
            star = ++pattern;
            from = at;
        } else if (*pattern && tolower((unsigned char)*pattern) == tolower((unsigned char)text[at])) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star;
            at = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

bool rtl_span_word(struct rtl_name_span *rest, struct rtl_name_span *word, bool joined)
{
    while (rest->length && (*rest->at == '_' || *rest->at == '.')) {
        rest->at++;
        rest->length--;
    }
    size_t n = 0;
    while (n < rest->length) {
        const char *end = memchr(rest->at + n, '_', rest->length - n);
        n = end ? (size_t)(end - rest->at) : rest->length;
        if (!joined || n + 1 >= rest->length || !isdigit((unsigned char)rest->at[n + 1]))
            break;
        n++;
    }
    *word = (struct rtl_name_span){rest->at, n};
    rest->at += n;
    rest->length -= n;
    return n > 0;
}

static const char *one_word_type(struct rtl_name_span word)
{
    static const struct {
        const char *name, *brief;
    } spellings[] = {{"bf16", "bf16"},   {"bfp16", "bf16"},  {"fp16", "f16"},       {"f16", "f16"},
                     {"half", "f16"},    {"fp32", "f32"},    {"f32", "f32"},        {"float", "f32"},
                     {"fp64", "f64"},    {"f64", "f64"},     {"double", "f64"},     {"fp8", "f8"},
                     {"f8", "f8"},       {"bf8", "bf8"},     {"i8", "i8"},          {"int8", "i8"},
                     {"u8", "u8"},       {"i32", "i32"},     {"u32", "u32"},        {"i64", "i64"},
                     {"int4", "i4"},     {"i4", "i4"},       {"u4", "u4"},          {"fp4", "f4"},
                     {"mxfp4", "mxfp4"}, {"mxfp8", "mxfp8"}, {"fp8e4m3", "f8e4m3"}, {"fp8e5m2", "f8e5m2"},
                     {"u64", "u64"},     {"i16", "i16"},     {"bfloat16", "bf16"},  {"float16", "f16"},
                     {"float32", "f32"}, {"int32", "i32"},   {"a8w8", "a8w8"},      {"a16w16", "a16w16"},
                     {"a4w4", "a4w4"},   {"a8w4", "a8w4"},   {"a16w4", "a16w4"},    {"fp16bf16", "f16/bf16"}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strlen(spellings[i].name) == word.length && rtl_name_pattern_fits(spellings[i].name, word.at, word.length))
            return spellings[i].brief;
    return NULL;
}

bool rtl_word_type(struct rtl_name_span word, char *out, size_t size)
{
    const char *before = NULL;
    size_t used = 0;
    *out = '\0';
    while (word.length) {
        size_t n = 0;
        while (n < word.length && word.at[n] != 'x')
            n++;
        if (n > 1 && word.length > 4 && n + 1 < word.length &&
            word.at[0] == 'm') /* the x of "mxfp4" does not separate types */
            n = n > 4 ? n : word.length;
        const char *brief = one_word_type((struct rtl_name_span){word.at, n});
        if (!brief && n < word.length) { /* one type that contains an x: "mxfp4" */
            n = word.length;
            brief = one_word_type(word);
        }
        if (!brief)
            return false;
        if (!before || strcmp(before, brief) != 0)
            used += (size_t)snprintf(out + used, used < size ? size - used : 0, "%s%s", used ? "/" : "", brief);
        before = brief;
        word.at += n < word.length ? n + 1 : n;
        word.length -= n < word.length ? n + 1 : n;
        if (used + 1 >= size)
            return false;
    }
    return before != NULL;
}

bool rtl_word_tile(struct rtl_name_span word)
{
    int numbers = 0;
    for (size_t at = 0; at < word.length;) {
        if (!isdigit((unsigned char)word.at[at]))
            return false;
        while (at < word.length && isdigit((unsigned char)word.at[at]))
            at++;
        numbers++;
        if (at < word.length && (word.at[at++] != 'x' || at == word.length))
            return false;
    }
    return numbers > 1;
}
