/*
 * A small reader of mangled names (Itanium C++ ABI). See demangle_partly.h.
 *
 * The reader parses the name once and appends to one text. It keeps copies of the parts that a substitution (S_) or
 * template parameter (T_) may refer to. Each reference appends a copy, which makes hostile names grow; text and copies
 * have a fixed size, and the reader stops when one is full. It also stops at unknown syntax.
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

struct text_copy {
    unsigned at, length; /* in `copies` */
};

struct mangled_reader {
    const char *at;
    bool stopped; /* the name ended early, its syntax is unknown, or a buffer is full */
    int depth;
    unsigned used, copied;
    unsigned substitution_count, argument_count;
    struct text_copy substitutions[SUBSTITUTIONS_MAX];
    struct text_copy arguments[ARGUMENTS_MAX]; /* of the last outermost template */
    char text[TEXT_MAX], copies[COPIES_MAX];
};

static void read_type(struct mangled_reader *r);
static bool read_entity_name(struct mangled_reader *r, bool *has_arguments);

static void append_bytes(struct mangled_reader *r, const char *text, size_t length)
{
    if (r->stopped || r->used + length >= TEXT_MAX - DEPTH_MAX * 8) {
        r->stopped = true;
        return;
    }
    memcpy(r->text + r->used, text, length);
    r->used += (unsigned)length;
}

static void append_string(struct mangled_reader *r, const char *text)
{
    append_bytes(r, text, strlen(text));
}

static bool accept_text(struct mangled_reader *r, const char *text)
{
    size_t n = strlen(text);
    if (r->stopped || strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect_text(struct mangled_reader *r, const char *text)
{
    if (!accept_text(r, text))
        r->stopped = true;
}

static struct text_copy copy_output(struct mangled_reader *r, unsigned from)
{
    unsigned length = r->used - from;
    if (r->copied + length > COPIES_MAX) {
        r->stopped = true;
        return (struct text_copy){0, 0};
    }
    memcpy(r->copies + r->copied, r->text + from, length);
    r->copied += length;
    return (struct text_copy){r->copied - length, length};
}

static void add_substitution(struct mangled_reader *r, unsigned from)
{
    if (r->stopped)
        return;
    if (r->substitution_count == SUBSTITUTIONS_MAX)
        r->stopped = true;
    else
        r->substitutions[r->substitution_count++] = copy_output(r, from);
}

/* Read the number in S_, S0_, SA_ or T_, T0_, and the underscore: 0 without digits, else 1 + the digits' value. */
static bool read_reference(struct mangled_reader *r, unsigned base, unsigned *number)
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
    return accept_text(r, "_");
}

static void append_copy(struct mangled_reader *r, const struct text_copy *from, unsigned count, unsigned number)
{
    if (number < count)
        append_bytes(r, r->copies + from[number].at, from[number].length);
    else
        r->stopped = true;
}

static bool read_source_name(struct mangled_reader *r)
{
    size_t length = 0;
    while (isdigit((unsigned char)*r->at) && length < TEXT_MAX)
        length = length * 10 + (size_t)(*r->at++ - '0');
    size_t there = strnlen(r->at, length);
    if (!length || isdigit((unsigned char)*r->at) || ((unsigned char)r->at[there] & 0xc0) == 0x80) {
        r->stopped = true; /* an identifier that ends within a character is not a compiler's */
        return false;
    }
    if (!strncmp(r->at, "_GLOBAL__N", 10))
        append_string(r, "(anonymous namespace)");
    else
        append_bytes(r, r->at, there);
    r->at += there;
    if (there < length)
        r->stopped = true;
    return true;
}

static void skip_digits(struct mangled_reader *r)
{
    while (isdigit((unsigned char)*r->at))
        r->at++;
    expect_text(r, "_");
}

/* "_" is the first lambda of a function, "0_" the second. */
static void read_entity_number(struct mangled_reader *r)
{
    unsigned number;
    char digits[12];
    if (!read_reference(r, 10, &number)) {
        r->stopped = true;
        return;
    }
    snprintf(digits, sizeof digits, "%u", number + 1);
    append_string(r, digits);
}

/* Read types up to 'E', and separate them by commas; a single void stands for no types. */
static void read_types(struct mangled_reader *r)
{
    for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
        if (first && r->at[0] == 'v' && r->at[1] == 'E') {
            r->at++;
            break;
        }
        if (!first)
            append_string(r, ", ");
        read_type(r);
    }
    expect_text(r, "E");
}

static const char *const letters[26] = {['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
                                        ['c' - 'a'] = "char",        ['d' - 'a'] = "double",
                                        ['e' - 'a'] = "long double", ['f' - 'a'] = "float",
                                        ['g' - 'a'] = "__float128",  ['h' - 'a'] = "unsigned char",
                                        ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
                                        ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
                                        ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
                                        ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
                                        ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
                                        ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
                                        ['z' - 'a'] = "..."};
static const struct {
    const char *code, *name;
} builtins[] = {{"DF16b", "__bf16"}, {"DF16_", "_Float16"}, {"Dh", "_Float16"}, {"Da", "auto"},
                {"Di", "char32_t"},  {"Ds", "char16_t"},    {"Du", "char8_t"},  {"Dn", "decltype(nullptr)"}};

static bool read_builtin(struct mangled_reader *r)
{
    if (*r->at >= 'a' && *r->at <= 'z' && letters[*r->at - 'a'] && !r->stopped) {
        append_string(r, letters[*r->at++ - 'a']);
        return true;
    }
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (accept_text(r, builtins[i].code)) {
            append_string(r, builtins[i].name);
            return true;
        }
    bool plain = accept_text(r, "DB"), bits = plain || accept_text(r, "DU");
    if (!bits)
        return false;
    append_string(r, plain ? "_BitInt(" : "unsigned _BitInt(");
    for (; isdigit((unsigned char)*r->at); r->at++)
        append_bytes(r, r->at, 1);
    expect_text(r, "_");
    append_string(r, ")");
    return true;
}

/* L <type> <value> E, or L_Z <encoding> E. */
static void read_literal(struct mangled_reader *r)
{
    unsigned from = r->used;
    bool has_arguments;
    if (accept_text(r, "_Z")) {
        read_entity_name(r, &has_arguments);
        unsigned end = r->used;
        while (!r->stopped && *r->at && *r->at != 'E') /* skip the parameters */
            read_type(r);
        if (r->used > end)
            r->used = end;
        accept_text(r, "E");
        return;
    }
    char kind = *r->at;
    read_type(r);
    bool integer = kind && strchr("ijlmxystahc", kind), truth = kind == 'b';
    if (integer || truth)
        r->used = from;
    else if (!r->stopped) { /* (ns::Enum)3, as the runtime's demangler writes it */
        append_string(r, ")");
        if (r->used - from < TEXT_MAX - r->used) {
            memmove(r->text + from + 1, r->text + from, r->used - from);
            r->text[from] = '(';
            r->used++;
        }
    }
    if (accept_text(r, "n"))
        append_string(r, "-");
    const char *digits = r->at;
    while (isalnum((unsigned char)*r->at) && *r->at != 'E')
        r->at++;
    if (truth)
        append_string(r, *digits == '1' ? "true" : "false");
    else
        append_bytes(r, digits, (size_t)(r->at - digits));
    expect_text(r, "E");
}

static void read_argument(struct mangled_reader *r)
{
    bool has_arguments;
    if (accept_text(r, "Tn") || accept_text(r, "Tt") || accept_text(r, "Ty")) { /* the kind of parameter: not shown */
        unsigned end = r->used;
        if (r->at[-1] == 'n')
            read_type(r);
        else if (r->at[-1] == 't')
            read_types(r);
        if (r->stopped && r->used > end)
            return;
        r->used = end;
    }
    if (accept_text(r, "L")) {
        read_literal(r);
    } else if (accept_text(r, "J")) {
        for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
            if (!first)
                append_string(r, ", ");
            read_argument(r);
        }
        expect_text(r, "E");
    } else if (accept_text(r, "X")) { /* an expression: only the address of a function is supported */
        accept_text(r, "ad");
        if (accept_text(r, "L"))
            read_literal(r);
        else if (accept_text(r, "sr") || !read_entity_name(r, &has_arguments))
            r->stopped = true;
        expect_text(r, "E");
    } else {
        read_type(r);
    }
}

static void read_arguments(struct mangled_reader *r)
{
    struct text_copy mine[ARGUMENTS_MAX];
    unsigned count = 0;
    if (++r->depth > DEPTH_MAX) {
        r->stopped = true;
        return;
    }
    append_string(r, "<");
    if (r->depth == 1)
        r->argument_count = 0;
    for (bool first = true; !r->stopped && *r->at && *r->at != 'E'; first = false) {
        if (!first)
            append_string(r, ", ");
        unsigned from = r->used;
        read_argument(r);
        if (!r->stopped && count < ARGUMENTS_MAX) {
            mine[count] = copy_output(r, from);
            if (r->depth == 1) {
                r->arguments[count] = mine[count];
                r->argument_count = count + 1;
            }
            count++;
        }
    }
    expect_text(r, "E");
    if (r->stopped && r->used + 8 < TEXT_MAX) {
        memcpy(r->text + r->used, "...", 3);
        r->used += r->text[r->used - 1] == '.' ? 0 : 3;
    }
    if (r->used + 1 < TEXT_MAX) /* append_bytes() leaves room for it */
        r->text[r->used++] = '>';
    r->depth--;
}

/* Append a substitution: S_, S0_, St, Sa... False if it refers to nothing. */
static bool read_substitution(struct mangled_reader *r)
{
    static const struct {
        const char *code, *name;
    } known[] = {{"t", "std"}, {"a", "std::allocator"}, {"b", "std::basic_string"}, {"s", "std::string"}};
    unsigned number;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (accept_text(r, known[i].code)) {
            append_string(r, known[i].name);
            return true;
        }
    if (!read_reference(r, 36, &number)) {
        r->stopped = true;
        return false;
    }
    append_copy(r, r->substitutions, r->substitution_count, number);
    return !r->stopped;
}

static void read_template_parameter(struct mangled_reader *r)
{
    unsigned number;
    if (!read_reference(r, 10, &number))
        r->stopped = true;
    else if (number < r->argument_count)
        append_copy(r, r->arguments, r->argument_count, number);
    else
        append_string(r, "auto");
}

/* One component of a name: an identifier, a lambda, an operator. */
static bool read_component(struct mangled_reader *r)
{
    if (*r->at == 'L' && isdigit((unsigned char)r->at[1]))
        r->at++; /* internal linkage */
    if (isdigit((unsigned char)*r->at))
        return read_source_name(r);
    if (accept_text(r, "Ul")) {
        append_string(r, "{lambda(");
        read_types(r);
        append_string(r, ")#");
        read_entity_number(r);
        append_string(r, "}");
    } else if (accept_text(r, "Ut")) {
        skip_digits(r);
        append_string(r, "{unnamed type}");
    } else if (accept_text(r, "cl")) {
        append_string(r, "operator()");
    } else if (accept_text(r, "C1") || accept_text(r, "C2")) {
        append_string(r, "constructor");
    } else {
        r->stopped = true;
    }
    while (accept_text(r, "B")) { /* an ABI tag */
        unsigned end = r->used;
        read_source_name(r);
        r->used = end;
    }
    return !r->stopped;
}

static bool read_nested_name(struct mangled_reader *r, bool *has_arguments)
{
    unsigned from = r->used;
    bool first = true;
    while (accept_text(r, "K") || accept_text(r, "V") || accept_text(r, "r"))
        ;
    while (!r->stopped && *r->at != 'E') {
        if (!*r->at) {
            r->stopped = true;
            break;
        }
        *has_arguments = *r->at == 'I';
        if (accept_text(r, "I")) {
            read_arguments(r);
            if (!r->stopped && *r->at != 'E') /* read_type adds the complete name */
                add_substitution(r, from);
            continue;
        }
        if (!first)
            append_string(r, "::");
        bool again = accept_text(r, "S");
        if (again)
            read_substitution(r);
        else if (accept_text(r, "T"))
            read_template_parameter(r);
        else
            read_component(r);
        first = false;
        if (!r->stopped && !again && *r->at != 'E')
            add_substitution(r, from);
    }
    accept_text(r, "E");
    return r->used > from;
}

/* Z <encoding> E <name>: an entity within a function. */
static bool read_local_name(struct mangled_reader *r, bool *has_arguments)
{
    bool inner = false;
    if (!read_entity_name(r, &inner))
        return false;
    append_string(r, "(");
    if (inner && !r->stopped && *r->at != 'E') { /* a template's return type comes first */
        unsigned end = r->used;
        read_type(r);
        if (!r->stopped)
            r->used = end;
    }
    read_types(r);
    append_string(r, ")::");
    if (accept_text(r, "s")) {
        append_string(r, "string literal");
        return true;
    }
    if (accept_text(r, "d"))
        skip_digits(r);
    return read_entity_name(r, has_arguments);
}

static bool read_entity_name(struct mangled_reader *r, bool *has_arguments)
{
    unsigned from = r->used;
    bool known = false;
    *has_arguments = false;
    if (r->stopped || ++r->depth > DEPTH_MAX) {
        r->stopped = true;
        return false;
    }
    r->depth--; /* arguments and local names count their depth themselves */
    if (accept_text(r, "N"))
        return read_nested_name(r, has_arguments);
    if (accept_text(r, "Z")) {
        r->depth++;
        bool any = read_local_name(r, has_arguments);
        r->depth--;
        return any;
    }
    if (accept_text(r, "St")) {
        append_string(r, "std::");
        read_component(r);
    } else if (accept_text(r, "S")) {
        known = true;
        read_substitution(r);
    } else {
        read_component(r);
    }
    if (!r->stopped && *r->at == 'I') {
        if (!known)
            add_substitution(r, from);
        r->at++;
        read_arguments(r);
        *has_arguments = true;
    }
    return r->used > from;
}

/* Read a number and the type of the elements: arrays and vectors. */
static void read_counted_type(struct mangled_reader *r, const char *open, const char *close)
{
    const char *digits = r->at;
    while (isdigit((unsigned char)*r->at))
        r->at++;
    size_t n = (size_t)(r->at - digits);
    expect_text(r, "_");
    read_type(r);
    append_string(r, open);
    append_bytes(r, digits, n);
    append_string(r, close);
}

static void read_type(struct mangled_reader *r)
{
    unsigned from = r->used;
    bool has_arguments;
    if (r->stopped)
        return;
    if (++r->depth > DEPTH_MAX || !*r->at) {
        r->stopped = true;
    } else if (accept_text(r, "P") || accept_text(r, "R") || accept_text(r, "O") || accept_text(r, "K") ||
               accept_text(r, "V")) {
        char mark = r->at[-1];
        read_type(r);
        append_string(r, mark == 'P'   ? "*"
                         : mark == 'R' ? "&"
                         : mark == 'O' ? "&&"
                         : mark == 'K' ? " const"
                                       : " volatile");
        add_substitution(r, from);
    } else if (accept_text(r, "F")) {
        read_type(r);
        append_string(r, " (");
        read_types(r);
        append_string(r, ")");
        add_substitution(r, from);
    } else if (accept_text(r, "A")) {
        read_counted_type(r, " [", "]");
        add_substitution(r, from);
    } else if (accept_text(r, "Dp")) {
        read_type(r);
    } else if (accept_text(r, "Dv")) {
        read_counted_type(r, " __vector(", ")");
        add_substitution(r, from);
    } else if (accept_text(r, "T")) {
        read_template_parameter(r);
        add_substitution(r, from);
        if (accept_text(r, "I"))
            read_arguments(r);
    } else if (accept_text(r, "u")) {
        read_source_name(r);
        add_substitution(r, from);
    } else if (!read_builtin(r)) {
        bool again = *r->at == 'S' && r->at[1] != 't';
        read_entity_name(r, &has_arguments);
        if (!r->stopped && (!again || has_arguments))
            add_substitution(r, from);
    }
    r->depth--;
}

bool rtl_may_begin_suffix(char c)
{
    return c && strchr("._$@~", c);
}

/* Read the types behind the name, without output, up to a suffix. Return the suffix, or NULL. */
static const char *find_suffix(struct mangled_reader *r)
{
    unsigned end = r->used;
    while (!r->stopped && *r->at && !rtl_may_begin_suffix(*r->at)) {
        read_type(r);
        r->used = end;
    }
    return r->stopped || !*r->at ? NULL : r->at;
}

char *rtl_demangle_partly(const char *mangled, size_t *end)
{
    bool has_arguments;
    *end = strlen(mangled);
    if (strncmp(mangled, "_Z", 2) != 0)
        return NULL;
    struct mangled_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->at = mangled + 2;
    read_entity_name(r, &has_arguments);
    char *text = r->used ? strndup(r->text, r->used) : NULL;
    const char *suffix = find_suffix(r);
    if (suffix)
        *end = (size_t)(suffix - mangled);
    free(r);
    return text;
}
