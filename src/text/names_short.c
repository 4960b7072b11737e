/*
 * Shortening one kernel name. Pure: a demangled name in, a shorter one out. See names.h for the rules.
 *
 * A demangled name is not C++ that a parser could rely on, and it comes from another process. So this is a scanner with
 * a bounded stack of open brackets; whatever it does not understand stays as it is.
 */
#include "text/names.h"
#include "text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 256, NESTED_MAX = 8 };

/* Open brackets of a scan. A closing round bracket also closes angles left open inside it: (a > b) is an expression. */
struct scan {
    char open[OPEN_MAX];
    int depth;
    bool lost; /* deeper than we follow */
};

static void scan_step(struct scan *s, const char *text, size_t at)
{
    char c = text[at];
    if (c == '(' || c == '[' || c == '{' || c == '<') {
        if (s->depth == OPEN_MAX)
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

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Skips the signs of an operator's name behind "operator", so that they are not taken for brackets. */
static size_t operator_end(const char *text, size_t at)
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

static bool operator_at(const char *text, size_t at)
{
    return text[at] == 'o' && !strncmp(text + at, "operator", 8) && (!at || !is_word(text[at - 1])) &&
           !is_word(text[at + 8]);
}

/* Length of the name without its parameter list: the last round bracket that opens at depth 0 behind a name. */
static size_t without_parameters(const char *full, size_t length)
{
    struct scan s = {.depth = 0};
    size_t cut = length;
    for (size_t at = 0; at < length && !s.lost;) {
        if (operator_at(full, at)) {
            at = operator_end(full, at);
            continue;
        }
        if (full[at] == '(' && !s.depth && at && full[at - 1] != ':' && full[at - 1] != ' ')
            cut = at;
        scan_step(&s, full, at);
        at++;
        /* a local entity: what we took for the end was the enclosing function's parameter list */
        if (!s.depth && cut < at && at < length && !strncmp(full + at, "::", 2))
            cut = length;
    }
    return s.lost ? length : cut;
}

/* Where the name starts behind its return type: after the last blank at depth 0. */
static size_t after_return_type(const char *full, size_t length)
{
    struct scan s = {.depth = 0};
    size_t start = 0;
    for (size_t at = 0; at < length;) {
        if (operator_at(full, at)) /* "operator int", "operator new": blanks belong to the name */
            return start;
        if (full[at] == ' ' && !s.depth && at + 1 < length && strncmp(full + at + 1, "const::", 7))
            start = at + 1;
        scan_step(&s, full, at);
        if (s.lost)
            return 0;
        at++;
    }
    return start;
}

char *rtl_name_template(const char *full)
{
    size_t length = strlen(full);
    /* " [clone .x]" is the compiler's remark, not a part of the name */
    const char *clone = strstr(full, " [clone");
    if (clone)
        length = (size_t)(clone - full);
    length = without_parameters(full, length);
    while (length && full[length - 1] == ' ')
        length--;
    size_t start = after_return_type(full, length);
    if (start >= length)
        start = 0;
    return length ? strndup(full + start, length - start) : strdup(full); /* no compiler's: nothing but a remark */
}

/* Types by their last component, inside template arguments only: a kernel may well be called "half". */
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
    {"Float8_e5m2", "f8e5m2"},
    {"Float8_e5m2fnuz", "f8e5m2z"},
    {"__hip_fp8_e4m3", "f8e4m3"},
    {"__hip_fp8_e4m3_fnuz", "f8e4m3z"},
};

static const char *type_brief(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !strncmp(types[i].name, word, length))
            return types[i].brief;
    return NULL;
}

static bool is_builtin_word(const char *word, size_t length)
{
    static const char *const words[] = {"unsigned", "signed", "long", "int", "short", "char"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncmp(words[i], word, length))
            return true;
    return false;
}

/* Length of a word; of several when they make one type together ("unsigned long"). */
static size_t word_length(const char *text)
{
    size_t n = 0;
    while (is_word(text[n]))
        n++;
    size_t end = n;
    while (is_builtin_word(text + end - n, n) && text[end] == ' ') {
        size_t next = 0;
        while (is_word(text[end + 1 + next]))
            next++;
        if (!is_builtin_word(text + end + 1, next))
            break;
        end += 1 + next;
        n = next;
    }
    return end;
}

/* What a scan writes: never longer than what it reads, so a buffer of the input's size is enough. */
struct shortened {
    char *text;
    size_t length;
    int nested; /* functions within functions */
};

/* Drops the scope that was just written, because "::" follows. True when the separator has to stay. */
static bool drop_scope(struct shortened *o)
{
    for (int guard = 0; guard < 4; guard++) {
        while (o->length && o->text[o->length - 1] == ' ')
            o->length--;
        if (!o->length)
            return false;
        char last = o->text[o->length - 1];
        if (last == '>' || last == '}')
            return true; /* arguments tell instances apart */
        if (last == ')') {
            size_t at = o->length;
            int depth = 0;
            while (at) {
                at--;
                if (o->text[at] == ')')
                    depth++;
                else if (o->text[at] == '(' && !--depth)
                    break;
            }
            if (depth)
                return true;
            o->length = at;
            /* "(anonymous namespace)" stands alone; a parameter list has its function before it: that stays */
            if (!at || !is_word(o->text[at - 1]))
                return at && (o->text[at - 1] == '>' || o->text[at - 1] == '}');
            return true;
        }
        size_t start = o->length;
        while (start && is_word(o->text[start - 1]))
            start--;
        if (start == o->length)
            return true;
        bool qualifier = o->length - start == 5 && !strncmp(o->text + start, "const", 5);
        o->length = start;
        if (!qualifier)
            return false;
    }
    return true;
}

/* "(ns::Enum)3" at text: writes "Enum=3"'s first part ("" for plain integer types) and returns what it read. */
static size_t take_cast(struct shortened *o, const char *text)
{
    size_t end = 1, last = 1;
    while (is_word(text[end]) || text[end] == ':' || text[end] == ' ') {
        if (text[end] == ':')
            last = end + 1;
        end++;
    }
    if (text[end] != ')' || end == 1 || !(isdigit((unsigned char)text[end + 1]) || text[end + 1] == '-'))
        return 0;
    size_t first = 0;
    while (is_word(text[last + first]))
        first++;
    if (!is_builtin_word(text + last, first) && !(first == 4 && !strncmp(text + last, "bool", 4))) {
        memcpy(o->text + o->length, text + last, end - last);
        o->length += end - last;
        o->text[o->length++] = '=';
    }
    return end + 1;
}

static size_t take_number(struct shortened *o, const char *text)
{
    size_t end = 0;
    while (is_word(text[end]) || (text[end] == '.' && isdigit((unsigned char)text[end + 1])))
        end++;
    size_t keep = end;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    while (!hex && keep > 1 && (text[keep - 1] == 'u' || text[keep - 1] == 'l'))
        keep--;
    memcpy(o->text + o->length, text, keep);
    o->length += keep;
    return end;
}

static void shorten(struct shortened *o, const char *text);

/*
 * A function as a template argument, "&(float ns::silu<float>(float const&))": writes its short name and returns what
 * it read; 0 if it is something else. `text` is at the round bracket.
 */
static size_t take_function(struct shortened *o, const char *text)
{
    struct scan s = {.depth = 0};
    size_t end = 0;
    if (o->nested >= NESTED_MAX)
        return 0;
    do
        scan_step(&s, text, end);
    while (text[++end] && s.depth && !s.lost);
    if (s.depth || s.lost || end < 4 || text[end - 2] != ')')
        return 0;
    char *inner = strndup(text + 1, end - 2), *name = inner ? rtl_name_template(inner) : NULL;
    bool shorter = name && *name && strlen(name) < strlen(inner) && *name != '(';
    if (shorter) {
        if (o->length && o->text[o->length - 1] == '&')
            o->length--;
        o->nested++;
        shorten(o, name);
        o->nested--;
    }
    free(inner);
    free(name);
    return shorter ? end : 0;
}

/* Writes a template's name without scopes, blanks and long type names. */
static void shorten(struct shortened *o, const char *text)
{
    int angles = 0;
    for (size_t at = 0; text[at];) {
        const char *here = text + at;
        if (operator_at(text, at)) {
            size_t end = operator_end(text, at);
            memcpy(o->text + o->length, here, end - at);
            o->length += end - at;
            at = end;
        } else if (!strncmp(here, "::", 2)) {
            if (drop_scope(o)) {
                o->text[o->length++] = ':';
                o->text[o->length++] = ':';
            }
            at += 2;
        } else if (!strncmp(here, "{lambda(", 8)) {
            /* parameters of a lambda repeat what its arguments say; its number is what tells it apart */
            const char *close = strchr(here, '}'), *mark = close;
            while (mark && mark > here && *mark != '#')
                mark--;
            if (!close || mark == here) {
                o->text[o->length++] = *here;
                at++;
                continue;
            }
            memcpy(o->text + o->length, "{lambda", 7);
            o->length += 7;
            memcpy(o->text + o->length, mark, (size_t)(close - mark) + 1);
            o->length += (size_t)(close - mark) + 1;
            at = (size_t)(close - text) + 1;
        } else if (*here == '(' && angles) {
            size_t read = take_cast(o, here);
            if (!read)
                read = take_function(o, here);
            if (!read) {
                o->text[o->length++] = *here;
                read = 1;
            }
            at += read;
        } else if (isdigit((unsigned char)*here)) {
            at += take_number(o, here);
        } else if (is_word(*here)) {
            size_t length = word_length(here);
            const char *brief = angles && strncmp(here + length, "::", 2) ? type_brief(here, length) : NULL;
            size_t n = brief ? strlen(brief) : length;
            if (n > length) { /* never longer than what was read */
                brief = NULL;
                n = length;
            }
            memcpy(o->text + o->length, brief ? brief : here, n);
            o->length += n;
            at += length;
        } else {
            char before = o->length ? o->text[o->length - 1] : 0;
            angles += *here == '<';
            angles -= *here == '>' && angles;
            if (*here != ' ' || (is_word(before) && is_word(here[1])))
                o->text[o->length++] = *here;
            at++;
        }
    }
    o->text[o->length] = 0;
}

static bool starts_with_number(const char *token, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length > n && !strncmp(token, prefix, n) && isdigit((unsigned char)token[n]);
}

/*
 * Names of generated GEMM kernels: Cijk_Alik_Bljk_BBS_..._MT256x256x64_MI16x16x1_..._SK3 -> gemm TN BBS MT.. MI.. SK3.
 * An operand is transposed when the summation index l comes before its free one for A, behind it for B.
 */
static char *gemm_name(const char *raw)
{
    const char *c = strstr(raw, "Cijk_A");
    if (!c || (c != raw && c[-1] != '_'))
        return NULL;
    const char *b = strchr(c + 6, '_');
    if (!b || b[1] != 'B')
        return NULL;
    const char *rest = strchr(b + 1, '_');
    if (!rest)
        return NULL;
    char transposed_a = c[6] == 'l' ? 'T' : 'N', transposed_b = b[2] == 'l' ? 'N' : 'T';
    size_t types_length = strcspn(rest + 1, "_");
    size_t size = strlen(raw) + 16, used;
    char *out = malloc(size);
    if (!out)
        return NULL;
    used = (size_t)snprintf(out, size, "gemm %c%c %.*s", transposed_a, transposed_b, (int)types_length, rest + 1);
    bool tile = false;
    for (const char *token = rest + 1 + types_length; *token == '_';) {
        token++;
        size_t n = strcspn(token, "_");
        bool macro_tile = starts_with_number(token, n, "MT");
        if (macro_tile || starts_with_number(token, n, "MI") || starts_with_number(token, n, "SK") ||
            starts_with_number(token, n, "GSU"))
            used += (size_t)snprintf(out + used, size - used, " %.*s", (int)n, token);
        tile |= macro_tile;
        token += n;
    }
    if (tile)
        return out;
    free(out);
    return NULL;
}

/*
 * A mangled name that the demangler does not know (it may be older than the compiler): the last identifier of the
 * nested name, then the rest as it stands: _ZN4vllm18act_and_mul_kernelIN3c10.. -> act_and_mul_kernel IN3c10..
 */
static char *undemangled_name(const char *raw)
{
    size_t at = 2, last = 0, last_length = 0;
    if (strncmp(raw, "_Z", 2))
        return NULL;
    if (raw[at] == 'N')
        at++;
    while (isdigit((unsigned char)raw[at])) {
        size_t length = 0;
        while (isdigit((unsigned char)raw[at]) && length < 10000)
            length = length * 10 + (size_t)(raw[at++] - '0');
        if (!length || length > strlen(raw + at) || isdigit((unsigned char)raw[at]))
            return NULL;
        last = at;
        last_length = length;
        at += length;
        if (((unsigned char)raw[at] & 0xc0) == 0x80) /* no compiler's: the name would end within a character */
            return NULL;
    }
    char *out = last ? malloc(last_length + strlen(raw + at) + 2) : NULL;
    if (out)
        sprintf(out, "%.*s%s%s", (int)last_length, raw + last, raw[at] ? " " : "", raw + at);
    return out;
}

/*
 * Loops that a compiler left to the GPU: __omp_offloading_fe00_5366b4_main_l22 -> omp main:22. The two numbers are the
 * source file's device and inode, which say nothing to anybody.
 */
static char *offloaded_name(const char *name)
{
    static const char prefix[] = "__omp_offloading_";
    if (strncmp(name, prefix, sizeof prefix - 1))
        return NULL;
    const char *at = name + sizeof prefix - 1;
    for (int number = 0; number < 2; number++) {
        size_t digits = strspn(at, "0123456789abcdef");
        if (!digits || at[digits] != '_')
            return NULL;
        at += digits + 1;
    }
    size_t length = strlen(at), line = length;
    while (line && isdigit((unsigned char)at[line - 1]))
        line--;
    if (line == length || line < 3 || strncmp(at + line - 2, "_l", 2))
        return NULL;
    char *function = strndup(at, line - 2), *plain = NULL, *out = NULL;
    if (function && !strncmp(function, "_Z", 2)) { /* so it can't be one of these itself */
        char *full = rtl_name_full(function, line - 2);
        plain = full ? rtl_name_short(function, full) : NULL;
        free(full);
    }
    const char *shown = plain ? plain : function;
    size_t size = shown ? strlen(shown) + length + 8 : 0;
    if (shown && (out = malloc(size)))
        snprintf(out, size, "omp %s:%s", shown, at + line);
    free(plain);
    free(function);
    return out;
}

char *rtl_name_short(const char *raw, const char *full)
{
    char *offloaded = offloaded_name(full);
    if (offloaded)
        return offloaded;
    char *unknown = strcmp(raw, full) ? NULL : undemangled_name(raw);
    if (unknown)
        return unknown;
    char *gemm = gemm_name(full);
    if (gemm)
        return gemm;
    /* a C name has nothing to shorten; "foo<int>" can't come from one */
    if (strncmp(raw, "_Z", 2) && !strchr(full, '<') && !strchr(full, '('))
        return strdup(full);
    char *template = rtl_name_template(full);
    if (!template)
        return NULL;
    struct shortened o = {.text = malloc(strlen(template) + 1)};
    if (o.text)
        shorten(&o, template);
    if (o.text && !o.length) {
        free(o.text);
        return template;
    }
    free(template);
    return o.text;
}
