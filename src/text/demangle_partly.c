/*
 * A small reader of mangled names (Itanium C++ ABI). See demangle_partly.h.
 *
 * It goes through the name once and appends what it reads to one text. What may be referred to later (S_, T_) is kept
 * as copies of that text. Every reference copies, which is how hostile names grow; the text and the copies have a fixed
 * size each, and the reader stops when one is full. What it doesn't know, it stops at, too.
 */
#include "text/demangle_partly.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 16 << 10,
    COPIES_MAX = 64 << 10,
    SUBSTITUTIONS_MAX = 512,
    ARGUMENTS_MAX = 64,
    DEPTH_MAX = 48,
};

struct copy {
    unsigned at, length; /* in `copies` */
};

struct reader {
    const char *at;
    bool stopped; /* at the end of a name that was cut, or at what is not understood */
    int depth;
    unsigned used, copied;
    unsigned substitution_count, argument_count;
    struct copy substitutions[SUBSTITUTIONS_MAX];
    struct copy arguments[ARGUMENTS_MAX]; /* of the outermost template that was read last */
    char text[TEXT_MAX], copies[COPIES_MAX];
};

static void type(struct reader *r);
static bool name(struct reader *r, bool *has_arguments);

static void put(struct reader *r, const char *text, size_t length)
{
    if (r->stopped || r->used + length >= TEXT_MAX - DEPTH_MAX * 8) {
        r->stopped = true;
        return;
    }
    memcpy(r->text + r->used, text, length);
    r->used += (unsigned)length;
}

static void puts_text(struct reader *r, const char *text)
{
    put(r, text, strlen(text));
}

static bool take(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    if (r->stopped || strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static struct copy keep(struct reader *r, unsigned from)
{
    unsigned length = r->used - from;
    if (r->copied + length > COPIES_MAX) {
        r->stopped = true;
        return (struct copy){0, 0};
    }
    memcpy(r->copies + r->copied, r->text + from, length);
    r->copied += length;
    return (struct copy){r->copied - length, length};
}

static void remember(struct reader *r, unsigned from)
{
    if (r->stopped)
        return;
    if (r->substitution_count == SUBSTITUTIONS_MAX)
        r->stopped = true;
    else
        r->substitutions[r->substitution_count++] = keep(r, from);
}

/* The number in S_, S0_, SA_ or T_, T0_: 0 for none; the underscore is read, too. */
static bool reference(struct reader *r, unsigned base, unsigned *number)
{
    unsigned value = 0;
    bool any = false;
    for (; isdigit((unsigned char)*r->at) || (base == 36 && isupper((unsigned char)*r->at)); r->at++, any = true) {
        unsigned digit = (unsigned)(isdigit((unsigned char)*r->at) ? *r->at - '0' : *r->at - 'A' + 10);
        if (value > 100000)
            return false;
        value = value * base + digit;
    }
    *number = any ? value + 1 : 0;
    return take(r, "_");
}

static void put_copy(struct reader *r, const struct copy *from, unsigned count, unsigned number)
{
    if (number < count)
        put(r, r->copies + from[number].at, from[number].length);
    else
        r->stopped = true;
}

static bool source_name(struct reader *r)
{
    size_t length = 0;
    while (isdigit((unsigned char)*r->at) && length < TEXT_MAX)
        length = length * 10 + (size_t)(*r->at++ - '0');
    size_t there = strnlen(r->at, length);
    if (!length || isdigit((unsigned char)*r->at) || ((unsigned char)r->at[there] & 0xc0) == 0x80) {
        r->stopped = true; /* no compiler's: the name would end within a character */
        return false;
    }
    if (!strncmp(r->at, "_GLOBAL__N", 10))
        puts_text(r, "(anonymous namespace)");
    else
        put(r, r->at, there);
    r->at += there;
    if (there < length)
        r->stopped = true;
    return true;
}

static void skip_to_digits_end(struct reader *r)
{
    while (isdigit((unsigned char)*r->at))
        r->at++;
    if (!take(r, "_"))
        r->stopped = true;
}

/* "_" is the first lambda of a function, "0_" the second. */
static void entity_number(struct reader *r)
{
    unsigned number;
    char digits[12];
    if (!reference(r, 10, &number)) {
        r->stopped = true;
        return;
    }
    snprintf(digits, sizeof digits, "%u", number + 1);
    puts_text(r, digits);
}

/* Types up to 'E', between commas; void alone is none. */
static void types(struct reader *r)
{
    for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
        if (first && r->at[0] == 'v' && r->at[1] == 'E') {
            r->at++;
            break;
        }
        if (!first)
            puts_text(r, ", ");
        type(r);
    }
    if (!take(r, "E"))
        r->stopped = true;
}

static const struct {
    const char *code, *name;
} builtins[] = {
    {"v", "void"},
    {"b", "bool"},
    {"c", "char"},
    {"a", "signed char"},
    {"h", "unsigned char"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"n", "__int128"},
    {"o", "unsigned __int128"},
    {"f", "float"},
    {"d", "double"},
    {"e", "long double"},
    {"g", "__float128"},
    {"w", "wchar_t"},
    {"z", "..."},
    {"DF16b", "__bf16"},
    {"DF16_", "_Float16"},
    {"Dh", "_Float16"},
    {"Da", "auto"},
    {"Di", "char32_t"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
    {"Dn", "decltype(nullptr)"},
};

static bool builtin(struct reader *r)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (take(r, builtins[i].code)) {
            puts_text(r, builtins[i].name);
            return true;
        }
    bool plain = take(r, "DB"), bits = plain || take(r, "DU");
    if (!bits)
        return false;
    puts_text(r, plain ? "_BitInt(" : "unsigned _BitInt(");
    for (; isdigit((unsigned char)*r->at); r->at++)
        put(r, r->at, 1);
    if (!take(r, "_"))
        r->stopped = true;
    puts_text(r, ")");
    return true;
}

/* L <type> <value> E, or L_Z <encoding> E. */
static void literal(struct reader *r)
{
    unsigned from = r->used;
    bool has_arguments;
    if (take(r, "_Z")) {
        name(r, &has_arguments);
        unsigned end = r->used;
        while (!r->stopped && *r->at && *r->at != 'E') /* parameters: which function it is stands before */
            type(r);
        if (r->used > end)
            r->used = end;
        take(r, "E");
        return;
    }
    char kind = *r->at;
    type(r);
    bool integer = kind && strchr("ijlmxystahc", kind), truth = kind == 'b';
    if (integer || truth)
        r->used = from;
    else if (!r->stopped) { /* (ns::Enum)3, as the runtime's demangler has it */
        puts_text(r, ")");
        if (r->used - from < TEXT_MAX - r->used) {
            memmove(r->text + from + 1, r->text + from, r->used - from);
            r->text[from] = '(';
            r->used++;
        }
    }
    if (take(r, "n"))
        puts_text(r, "-");
    const char *digits = r->at;
    while (isalnum((unsigned char)*r->at) && *r->at != 'E')
        r->at++;
    if (truth)
        puts_text(r, *digits == '1' ? "true" : "false");
    else
        put(r, digits, (size_t)(r->at - digits));
    if (!take(r, "E"))
        r->stopped = true;
}

static void argument(struct reader *r)
{
    bool has_arguments;
    if (take(r, "Tn") || take(r, "Tt") || take(r, "Ty")) { /* says what parameter the argument is for */
        unsigned end = r->used;
        if (r->at[-1] == 'n')
            type(r);
        else if (r->at[-1] == 't')
            types(r);
        if (r->stopped && r->used > end)
            return;
        r->used = end;
    }
    if (take(r, "L")) {
        literal(r);
    } else if (take(r, "J")) {
        for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
            if (!first)
                puts_text(r, ", ");
            argument(r);
        }
        if (!take(r, "E"))
            r->stopped = true;
    } else if (take(r, "X")) { /* an expression: the address of a function, or nothing that is read here */
        take(r, "ad");
        if (take(r, "L"))
            literal(r);
        else if (take(r, "sr") || !name(r, &has_arguments))
            r->stopped = true;
        if (!take(r, "E"))
            r->stopped = true;
    } else {
        type(r);
    }
}

static void arguments(struct reader *r)
{
    struct copy mine[ARGUMENTS_MAX];
    unsigned count = 0;
    if (++r->depth > DEPTH_MAX) {
        r->stopped = true;
        return;
    }
    puts_text(r, "<");
    if (r->depth == 1)
        r->argument_count = 0;
    for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
        if (!first)
            puts_text(r, ", ");
        unsigned from = r->used;
        argument(r);
        if (!r->stopped && count < ARGUMENTS_MAX) {
            mine[count] = keep(r, from);
            if (r->depth == 1) {
                r->arguments[count] = mine[count];
                r->argument_count = count + 1;
            }
            count++;
        }
    }
    if (!take(r, "E"))
        r->stopped = true;
    if (r->stopped && r->used + 8 < TEXT_MAX) {
        memcpy(r->text + r->used, "...", 3);
        r->used += r->text[r->used - 1] == '.' ? 0 : 3;
    }
    if (r->used + 1 < TEXT_MAX) /* put() leaves room for it */
        r->text[r->used++] = '>';
    r->depth--;
}

/* S_, S0_, St, Sa...; false without memory of it. */
static bool substitution(struct reader *r)
{
    static const struct {
        const char *code, *name;
    } known[] = {{"t", "std"}, {"a", "std::allocator"}, {"b", "std::basic_string"}, {"s", "std::string"}};
    unsigned number;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (take(r, known[i].code)) {
            puts_text(r, known[i].name);
            return true;
        }
    if (!reference(r, 36, &number)) {
        r->stopped = true;
        return false;
    }
    put_copy(r, r->substitutions, r->substitution_count, number);
    return !r->stopped;
}

static void template_parameter(struct reader *r)
{
    unsigned number;
    if (!reference(r, 10, &number))
        r->stopped = true;
    else if (number < r->argument_count)
        put_copy(r, r->arguments, r->argument_count, number);
    else
        puts_text(r, "auto");
}

/* One component of a name: an identifier, a lambda, an operator. */
static bool component(struct reader *r)
{
    if (*r->at == 'L' && isdigit((unsigned char)r->at[1]))
        r->at++; /* internal linkage */
    if (isdigit((unsigned char)*r->at))
        return source_name(r);
    if (take(r, "Ul")) {
        puts_text(r, "{lambda(");
        types(r);
        puts_text(r, ")#");
        entity_number(r);
        puts_text(r, "}");
    } else if (take(r, "Ut")) {
        skip_to_digits_end(r);
        puts_text(r, "{unnamed type}");
    } else if (take(r, "cl")) {
        puts_text(r, "operator()");
    } else if (take(r, "C1") || take(r, "C2")) {
        puts_text(r, "constructor");
    } else {
        r->stopped = true;
    }
    while (take(r, "B")) { /* an ABI tag */
        unsigned end = r->used;
        source_name(r);
        r->used = end;
    }
    return !r->stopped;
}

static bool nested_name(struct reader *r, bool *has_arguments)
{
    unsigned from = r->used;
    bool first = true;
    while (take(r, "K") || take(r, "V") || take(r, "r"))
        ;
    while (!r->stopped && *r->at != 'E') {
        if (!*r->at) {
            r->stopped = true;
            break;
        }
        *has_arguments = *r->at == 'I';
        if (take(r, "I")) {
            arguments(r);
            if (!r->stopped && *r->at != 'E') /* the whole of it is noted where it is a type */
                remember(r, from);
            continue;
        }
        if (!first)
            puts_text(r, "::");
        bool again = take(r, "S");
        if (again)
            substitution(r);
        else if (take(r, "T"))
            template_parameter(r);
        else
            component(r);
        first = false;
        if (!r->stopped && !again && *r->at != 'E')
            remember(r, from);
    }
    take(r, "E");
    return r->used > from;
}

/* Z <encoding> E <name>: an entity within a function. */
static bool local_name(struct reader *r, bool *has_arguments)
{
    bool inner = false;
    if (!name(r, &inner))
        return false;
    puts_text(r, "(");
    if (inner && !r->stopped && *r->at != 'E') { /* a template's return type comes first */
        unsigned end = r->used;
        type(r);
        if (!r->stopped)
            r->used = end;
    }
    types(r);
    puts_text(r, ")::");
    if (take(r, "s")) {
        puts_text(r, "string literal");
        return true;
    }
    if (take(r, "d")) {
        skip_to_digits_end(r);
    }
    return name(r, has_arguments);
}

static bool name(struct reader *r, bool *has_arguments)
{
    unsigned from = r->used;
    bool known = false;
    *has_arguments = false;
    if (r->stopped || ++r->depth > DEPTH_MAX) {
        r->stopped = true;
        return false;
    }
    r->depth--; /* brackets and names count together: only what is open deepens */
    if (take(r, "N"))
        return nested_name(r, has_arguments);
    if (take(r, "Z")) {
        r->depth++;
        bool any = local_name(r, has_arguments);
        r->depth--;
        return any;
    }
    if (take(r, "St")) {
        puts_text(r, "std::");
        component(r);
    } else if (take(r, "S")) {
        known = true;
        substitution(r);
    } else {
        component(r);
    }
    if (!r->stopped && *r->at == 'I') {
        if (!known)
            remember(r, from);
        r->at++;
        arguments(r);
        *has_arguments = true;
    }
    return r->used > from;
}

/* A number, then the type that there are so many of: arrays and vectors. */
static void counted_type(struct reader *r, const char *open, const char *close)
{
    const char *digits = r->at;
    while (isdigit((unsigned char)*r->at))
        r->at++;
    size_t n = (size_t)(r->at - digits);
    if (!take(r, "_"))
        r->stopped = true;
    type(r);
    puts_text(r, open);
    put(r, digits, n);
    puts_text(r, close);
}

static void type(struct reader *r)
{
    unsigned from = r->used;
    bool has_arguments;
    if (r->stopped)
        return;
    if (++r->depth > DEPTH_MAX || !*r->at) {
        r->stopped = true;
    } else if (take(r, "P") || take(r, "R") || take(r, "O") || take(r, "K") || take(r, "V")) {
        char mark = r->at[-1];
        type(r);
        puts_text(r, mark == 'P' ? "*" : mark == 'R' ? "&" : mark == 'O' ? "&&" : mark == 'K' ? " const" : " volatile");
        remember(r, from);
    } else if (take(r, "F")) {
        type(r);
        puts_text(r, " (");
        types(r);
        puts_text(r, ")");
        remember(r, from);
    } else if (take(r, "A")) {
        counted_type(r, " [", "]");
        remember(r, from);
    } else if (take(r, "Dp")) {
        type(r);
    } else if (take(r, "Dv")) {
        counted_type(r, " __vector(", ")");
        remember(r, from);
    } else if (take(r, "T")) {
        template_parameter(r);
        remember(r, from);
        if (take(r, "I"))
            arguments(r);
    } else if (take(r, "u")) {
        source_name(r);
        remember(r, from);
    } else if (!builtin(r)) {
        bool again = *r->at == 'S' && r->at[1] != 't';
        name(r, &has_arguments);
        if (!r->stopped && (!again || has_arguments))
            remember(r, from);
    }
    r->depth--;
}

char *rtl_demangle_partly(const char *mangled)
{
    bool has_arguments;
    if (strncmp(mangled, "_Z", 2) != 0)
        return NULL;
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->at = mangled + 2;
    name(r, &has_arguments);
    char *text = r->used ? strndup(r->text, r->used) : NULL;
    free(r);
    return text;
}
