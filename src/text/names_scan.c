/* Brackets, scopes, arguments, types of a demangled name. See names_scan.h. */
#include "text/names_scan.h"

#include <ctype.h>
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

/* Length of the name without its parameter list: the last round bracket that opens at depth 0 behind a name. */
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
        /* a local entity: what we took for the end was the enclosing function's parameter list */
        if (!s.depth && cut < at && at + 2 < length &&
            (!strncmp(full + at, "::", 2) || (at + 8 < length && !strncmp(full + at, " const::", 8))))
            cut = length;
    }
    return s.lost ? length : cut;
}

/* Where the name starts behind its return type: after the last blank at depth 0. */
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

struct rtl_name_span rtl_span_trim(struct rtl_name_span span)
{
    while (span.length && *span.at == ' ') {
        span.at++;
        span.length--;
    }
    while (span.length && span.at[span.length - 1] == ' ')
        span.length--;
    return span;
}

/* Takes what stands before the first `mark` outside of brackets. */
static bool take_until(struct rtl_name_span *rest, const char *mark, struct rtl_name_span *piece)
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
    *piece = rtl_span_trim((struct rtl_name_span){rest->at, at});
    size_t taken = found ? at + n : at;
    rest->at += taken;
    rest->length -= taken;
    return true;
}

bool rtl_span_argument(struct rtl_name_span *rest, struct rtl_name_span *argument)
{
    return take_until(rest, ",", argument);
}

bool rtl_span_scope(struct rtl_name_span *rest, struct rtl_name_span *scope)
{
    return take_until(rest, "::", scope);
}

/* What stands in the bracket that opens at `at`; `*end` is behind it. */
static struct rtl_name_span bracket(struct rtl_name_span text, size_t at, size_t *end)
{
    struct rtl_scan s = {.depth = 0};
    size_t from = at + 1;
    do
        rtl_scan_step(&s, text.at, at);
    while (++at < text.length && s.depth && !s.lost);
    *end = at;
    return rtl_span_trim((struct rtl_name_span){text.at + from, at - from - (s.depth ? 0 : 1)});
}

struct rtl_name_part rtl_part_of(struct rtl_name_span scope)
{
    struct rtl_name_part part = {.ident = scope};
    size_t at = 0;
    if (rtl_span_starts(scope, "operator")) {
        at = rtl_operator_end(scope.at, 0);
    } else if (scope.length && (*scope.at == '(' || *scope.at == '{')) {
        bracket(scope, 0, &at); /* (anonymous namespace), {lambda(int)#1} */
    } else {
        while (at < scope.length && scope.at[at] != '<' && scope.at[at] != '(' && scope.at[at] != ' ')
            at++;
    }
    if (at > scope.length)
        at = scope.length;
    part.ident.length = at;
    if (at < scope.length && scope.at[at] == '<') {
        part.has_arguments = true;
        part.arguments = bracket(scope, at, &at);
    }
    if (at < scope.length && scope.at[at] == '(') {
        part.has_parameters = true;
        part.parameters = bracket(scope, at, &at);
    }
    return part;
}

struct rtl_name_part rtl_span_principal(struct rtl_name_span name)
{
    struct rtl_name_span rest, scope;
    struct rtl_name_part part = {.ident = name}, before = {.ident = name};
    name = rtl_span_trim(name);
    if (!memchr(name.at, ':', name.length) && !memchr(name.at, '<', name.length) &&
        !memchr(name.at, '(', name.length) && !memchr(name.at, '&', name.length)) { /* a name in C, which may be long */
        part.ident = name;
        return part;
    }
    if (name.length && *name.at == '&') {
        name.at++;
        name.length--;
    }
    if (name.length > 2 && *name.at == '(' && name.at[name.length - 1] == ')') {
        size_t end;
        struct rtl_name_span inner = bracket(name, 0, &end);
        if (end == name.length)
            name = rtl_span_declared(inner);
    }
    for (rest = name; rtl_span_scope(&rest, &scope);) {
        before = part;
        part = rtl_part_of(scope);
        if (part.has_parameters && rest.length)
            return rtl_span_starts(part.ident, "operator") && before.ident.length ? before : part;
    }
    return part;
}

/* Types by their last component. */
static const struct {
    const char *name, *brief;
} types[] = {
    {"__hip_bfloat16", "bf16"},
    {"hip_bfloat16", "bf16"},
    {"__nv_bfloat16", "bf16"},
    {"BFloat16", "bf16"},
    {"bfloat16_t", "bf16"},
    {"__bf16", "bf16"},
    {"bhalf_t", "bf16"},
    {"bfloat16", "bf16"},
    {"__half", "f16"},
    {"_Float16", "f16"},
    {"half", "f16"},
    {"half_t", "f16"},
    {"Half", "f16"},
    {"__fp16", "f16"},
    {"float16_t", "f16"},
    {"float", "f32"},
    {"double", "f64"},
    {"int", "i32"},
    {"unsigned int", "u32"},
    {"unsigned", "u32"},
    {"long", "i64"},
    {"unsigned long", "u64"},
    {"long long", "i64"},
    {"unsigned long long", "u64"},
    {"short", "i16"},
    {"unsigned short", "u16"},
    {"signed char", "i8"},
    {"unsigned char", "u8"},
    {"Float8_e4m3fn", "f8e4m3"},
    {"Float8_e4m3fnuz", "f8e4m3z"},
    {"Float8_e8m0fnu", "f8e8m0"},
    {"Float4_e2m1fn_x2", "f4e2m1"},
    {"quint8", "quint8"},
    {"qint8", "qint8"},
    {"qint32", "qint32"},
    {"quint4x2", "quint4x2"},
    {"quint2x4", "quint2x4"},
    {"bits8", "bits8"},
    {"bits16", "bits16"},
    {"bits1x8", "bits1x8"},
    {"bits2x4", "bits2x4"},
    {"bits4x2", "bits4x2"},
    {"Float8_e5m2", "f8e5m2"},
    {"Float8_e5m2fnuz", "f8e5m2z"},
    {"__hip_fp8_e4m3", "f8e4m3"},
    {"__hip_fp8_e4m3_fnuz", "f8e4m3z"},
    {"__hip_fp8_e5m2", "f8e5m2"},
    {"__hip_fp8_e5m2_fnuz", "f8e5m2z"},
    {"f8_fnuz_t", "f8e4m3z"},
    {"f8_ocp_t", "f8e4m3"},
    {"bf16", "bf16"},
    {"f16", "f16"},
    {"f32", "f32"},
    {"fp16", "f16"},
    {"fp8", "f8"},
    {"bf8", "bf8"},
    {"f8", "f8"},
    {"fp8_t", "f8"},
    {"f8_t", "f8"},
    {"bf8_t", "f8e5m2"},
    {"bf16_t", "bf16"},
    {"fp16_t", "f16"},
    {"fp32_t", "f32"},
    {"int8_t", "i8"},
    {"uint8_t", "u8"},
    {"int32_t", "i32"},
    {"int64_t", "i64"},
    {"__half2", "f16x2"},
    {"__hip_bfloat162", "bf16x2"},
    {"rocblas_bfloat16", "bf16"},
    {"rocblas_half", "f16"},
    {"hip_bfloat16_t", "bf16"},
};

const char *rtl_type_word(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !strncmp(types[i].name, word, length))
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
    for (bool again = true; again;) { /* "float const*": the type of what it points to */
        again = false;
        type = rtl_span_trim(type);
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
