/* Expands the "$" words of a rule. See names_expand.h and names_rules.h. */
#include "text/names_expand.h"
#include "text/names_facts.h"
#include "text/names_forms.h"
#include "text/names_rules.h"
#include "text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = RTL_PIECE_MAX, TYPES_MAX = 3 };

void rtl_facts_of(struct rtl_facts *f, struct rtl_name_span name, struct rtl_name_part part)
{
    struct rtl_name_span rest = part.arguments, one;
    f->name = name;
    f->part = part;
    f->argument_count = f->word_count = 0;
    f->shown_arguments = f->shown_words = 0;
    while (f->argument_count < RTL_TEMPLATE_ARGUMENTS_MAX && rtl_span_argument(&rest, &one))
        f->arguments[f->argument_count++] = one;
    for (rest = part.ident; f->word_count < RTL_WORDS_MAX && rtl_span_word(&rest, &one, false);)
        f->words[f->word_count++] = one;
}

static void mark_argument(struct rtl_facts *f, unsigned number)
{
    f->shown_arguments |= (uint64_t)1 << number;
}

static void spell_argument(struct rtl_name_span argument, char *out, size_t size)
{
    static const char head[] = "x<"; /* rtl_name_spelled shortens types only inside "<>" */
    char *text = malloc(argument.length + sizeof head + 1), *brief = NULL;
    *out = '\0';
    if (text) {
        sprintf(text, "%s%.*s>", head, (int)argument.length, argument.at);
        brief = rtl_name_spelled(text);
    }
    size_t length = brief ? strlen(brief) : 0;
    if (length > 3) {
        brief[length - 1] = '\0';
        rtl_text_cut(out, size, brief + 2, VALUE_MAX / 2, 0, true);
    }
    free(text);
    free(brief);
}

static void expand_name(struct rtl_name_span ident, char *out, size_t size)
{
    static const char *const tails[] = {"_kernel", "_impl", "Kernel", "_cuda", "_device", "_kernel_"};
    static const char *const heads[] = {"kernel_", "__", "_"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        rtl_span_drop_start(&ident, heads[i]);
    for (size_t i = 0; i < sizeof tails / sizeof *tails;)
        i = rtl_span_drop_end(&ident, tails[i]) ? 0 : i + 1;
    snprintf(out, size, "%.*s", (int)ident.length, ident.at);
}

static bool may_be_an_index(const char *brief)
{
    return !strcmp(brief, "i32") || !strcmp(brief, "u32") || !strcmp(brief, "i64") || !strcmp(brief, "u64");
}

/* Write the types of the arguments; omit possible index types if one type is of floating point. */
static void expand_types(struct rtl_facts *f, char *out, size_t size)
{
    size_t used = 0;
    const char *before = NULL;
    int count = 0;
    bool floating = false;
    *out = '\0';
    for (unsigned i = 0; i < f->argument_count && !floating; i++)
        floating = rtl_type_is_floating(rtl_type_brief(f->arguments[i]));
    for (unsigned i = 0; i < f->argument_count; i++) {
        const char *brief = rtl_type_brief(f->arguments[i]);
        if (!brief || (floating && may_be_an_index(brief)))
            continue;
        mark_argument(f, i);
        if ((before && !strcmp(before, brief)) || count == TYPES_MAX)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "/" : "", brief);
        before = brief;
        count++;
    }
    if (!used)
        rtl_type_in(f->name, 0, out, size);
}

static void expand_int(struct rtl_facts *f, int number, char *out, size_t size)
{
    unsigned from = 0;
    for (unsigned i = 0; i < f->argument_count; i++)
        if (!rtl_is_number(f->arguments[i]) && !rtl_span_is(f->arguments[i], "true") &&
            !rtl_span_is(f->arguments[i], "false") && (rtl_type_brief(f->arguments[i]) || *f->arguments[i].at == '('))
            from = i + 1;
    for (unsigned i = from; i < f->argument_count; i++)
        if (rtl_is_number(f->arguments[i]) && number-- == 0) {
            snprintf(out, size, "%.*s", rtl_digits_of(f->arguments[i]), f->arguments[i].at);
            mark_argument(f, i);
            return;
        }
}

static void expand_run(const struct rtl_facts *f, unsigned from, char *out, size_t size)
{
    struct rtl_name_span run[8];
    unsigned count;
    if (rtl_find_run(f->part.arguments, 0, run, &count) && from + 3 <= count)
        snprintf(out, size, "%.*sx%.*sx%.*s", rtl_digits_of(run[from]), run[from].at, rtl_digits_of(run[from + 1]),
                 run[from + 1].at, rtl_digits_of(run[from + 2]), run[from + 2].at);
}

static void expand_sequence(const struct rtl_facts *f, int number, bool last, char *out, size_t size)
{
    struct rtl_name_span rest, one;
    size_t used = 0;
    if (!rtl_find_sequence(f->part.arguments, 0, &number, &rest))
        return;
    while (rtl_span_argument(&rest, &one) && used < 40) {
        if (last)
            used = 0;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? "x" : "", rtl_digits_of(one), one.at);
    }
}

/* Write how a wrapper modifies the operation inside it: "gpu_kernel_impl_nocast" -> "nocast". */
static void expand_variant(struct rtl_name_span argument, char *out, size_t size)
{
    struct rtl_name_part part = rtl_span_principal(argument);
    static const char head[] = "gpu_kernel_impl_";
    if (rtl_span_starts(part.ident, head))
        snprintf(out, size, "%.*s", (int)(part.ident.length - strlen(head)), part.ident.at + strlen(head));
    else if (rtl_span_is(part.ident, "apply"))
        snprintf(out, size, "broadcast");
}

static void expand_lambda(struct rtl_name_span argument, char *out, size_t size)
{
    const char *mark = memrchr(argument.at, '#', argument.length);
    size_t n = 1;
    if (!mark || !rtl_span_ends(argument, "}"))
        return;
    while (mark + n < argument.at + argument.length && isdigit((unsigned char)mark[n]))
        n++;
    snprintf(out, size, "%.*s", (int)n, mark);
}

static void expand_words(struct rtl_facts *f, char *out, size_t size)
{
    size_t used = 0;
    char type[VALUE_MAX];
    *out = '\0';
    for (unsigned i = 0; i < f->word_count && used + 1 < size; i++) {
        if (i && (rtl_word_type(f->words[i], type, sizeof type) || rtl_word_tile(f->words[i])))
            break;
        f->shown_words |= (uint64_t)1 << i;
        if (i && rtl_span_is(f->words[i], "kernel"))
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? "_" : "", (int)f->words[i].length,
                                 f->words[i].at);
    }
}

/* Write the first word that is a tile, or a type. */
static void expand_word(struct rtl_facts *f, bool tile, char *out, size_t size)
{
    char type[VALUE_MAX];
    for (unsigned i = 1; i < f->word_count; i++)
        if (tile ? rtl_word_tile(f->words[i]) : rtl_word_type(f->words[i], type, sizeof type)) {
            if (tile)
                snprintf(out, size, "%.*s", (int)f->words[i].length, f->words[i].at);
            else
                snprintf(out, size, "%s", type);
            f->shown_words |= (uint64_t)1 << i;
            return;
        }
}

static void expand_prefix(struct rtl_facts *f, const char *prefix, size_t length, char *out, size_t size)
{
    for (unsigned i = 0; i < f->word_count; i++)
        if (f->words[i].length > length && !strncmp(f->words[i].at, prefix, length) &&
            isdigit((unsigned char)f->words[i].at[length])) {
            snprintf(out, size, "%.*s", (int)(f->words[i].length - length), f->words[i].at + length);
            f->shown_words |= (uint64_t)1 << i;
            return;
        }
}

/* A longer name precedes its prefixes: "types" before "type". */
enum variable {
    V_LAMBDA,
    V_VARIANT,
    V_SEQLAST,
    V_WORDS,
    V_TYPES,
    V_NAME,
    V_TYPE,
    V_TILE,
    V_ENUM,
    V_SEQ,
    V_RUN,
    V_INT,
    V_OP,
    V_W,
    V_COUNT
};
static const char *const variables[V_COUNT] = {"lambda", "variant", "seqlast", "words", "types", "name", "type",
                                               "tile",   "enum",    "seq",     "run",   "int",   "op",   "w"};

/* Parse the "$" word at `show`; return its length, or 0 if it is unknown. Write its value, unless `f` is NULL. */
static size_t expand_variable(struct rtl_facts *f, const char *show, char *value, size_t size)
{
    const char *at = show + 1;
    *value = '\0';
    if (*at == '{') {
        const char *close = strchr(at, '}');
        if (!close || close == at + 1)
            return 0;
        if (f)
            expand_prefix(f, at + 1, (size_t)(close - at - 1), value, size);
        return (size_t)(close + 1 - show);
    }
    int which = -1;
    for (int i = 0; i < V_COUNT && which < 0; i++)
        if (!strncmp(at, variables[i], strlen(variables[i])))
            which = i;
    if (which >= 0)
        at += strlen(variables[which]);
    bool numbered = isdigit((unsigned char)*at);
    unsigned n = 0;
    for (int digits = 0; digits < 2 && isdigit((unsigned char)*at); digits++)
        n = n * 10 + (unsigned)(*at++ - '0');
    if (which < 0 && !numbered)
        return 0;
    bool argument =
        which < 0 || (numbered && (which == V_LAMBDA || which == V_VARIANT || which == V_TYPE || which == V_OP));
    if (!f || (argument && n >= f->argument_count))
        return (size_t)(at - show);
    if (argument)
        mark_argument(f, n);
    if (which < 0)
        spell_argument(f->arguments[n], value, size);
    else if (which == V_LAMBDA && argument)
        expand_lambda(f->arguments[n], value, size);
    else if (which == V_VARIANT && argument)
        expand_variant(f->arguments[n], value, size);
    else if (which == V_OP && argument)
        rtl_operation_of(f->arguments[n], 0, value, size);
    else if (which == V_TYPE && argument)
        rtl_type_in(f->arguments[n], 0, value, size);
    else if (which == V_TYPE && f->part.has_arguments)
        rtl_type_in(f->name, 0, value, size);
    else if (which == V_TYPE || which == V_TILE)
        expand_word(f, which == V_TILE, value, size);
    else if (which == V_TYPES)
        expand_types(f, value, size);
    else if (which == V_NAME)
        expand_name(f->part.ident, value, size);
    else if (which == V_WORDS)
        expand_words(f, value, size);
    else if (which == V_INT)
        expand_int(f, (int)n, value, size);
    else if (which == V_RUN)
        expand_run(f, n, value, size);
    else if (which == V_SEQ || which == V_SEQLAST)
        expand_sequence(f, (int)n, which == V_SEQLAST, value, size);
    else if (which == V_ENUM)
        rtl_enumerators_in(f->name, value, size);
    else if (which == V_W && n < f->word_count) {
        snprintf(value, size, "%.*s", (int)f->words[n].length, f->words[n].at);
        f->shown_words |= (uint64_t)1 << n;
    } else if (which == V_OP) { /* the first operation among the arguments that are functions */
        for (unsigned i = 0; i < f->argument_count && !*value; i++)
            if (*f->arguments[i].at == '&' || rtl_span_starts(f->arguments[i], "op_") ||
                (rtl_span_ends(f->arguments[i], ")") && *f->arguments[i].at != '(')) {
                rtl_operation_of(f->arguments[i], 0, value, size);
                mark_argument(f, i);
            }
    }
    return (size_t)(at - show);
}

/* Append the arguments, or the words of a name in C, that are not shown yet. */
static void expand_more(struct rtl_pieces *p, struct rtl_facts *f, int rank)
{
    char value[VALUE_MAX];
    for (unsigned i = 0; i < f->argument_count; i++) {
        if (f->shown_arguments >> i & 1)
            continue;
        spell_argument(f->arguments[i], value, sizeof value);
        bool off = !strcmp(value, "false") || !strcmp(value, "0") || strstr(value, "config");
        if (*value && !strpbrk(value, "{(") && strncmp(value, "array<", 6) != 0 && !strstr(value, "Calculator"))
            rtl_pieces_add(p, off ? rank + 1 : rank, "%s", value);
    }
    for (unsigned i = 1; i < f->word_count && !f->part.has_arguments; i++) /* word 0 names the kernel */
        if (!(f->shown_words >> i & 1))
            rtl_pieces_add(p, rank, "%.*s", (int)f->words[i].length, f->words[i].at);
}

/* Return the end of a word of `show`: a blank outside of round brackets. */
static const char *word_end(const char *show)
{
    int depth = 0;
    while (*show && (depth || *show != ' ')) {
        depth += *show == '(';
        depth -= *show == ')';
        show++;
    }
    return show;
}

void rtl_facts_show(struct rtl_pieces *p, struct rtl_facts *f, const char *show)
{
    int rank = 0;
    while (*(show += strspn(show, " "))) {
        const char *end = word_end(show);
        char piece[VALUE_MAX];
        size_t used = 0;
        bool missing = false;
        if (*show == '|') {
            rank = 1;
            show++;
            continue;
        }
        if (!strncmp(show, "$more", 5)) {
            expand_more(p, f, rank);
            show = end;
            continue;
        }
        for (const char *at = show; at < end && used + 1 < sizeof piece;) {
            char value[VALUE_MAX];
            size_t n = *at == '$' ? expand_variable(f, at, value, sizeof value) : 0;
            if (!n) {
                piece[used++] = *at++;
                continue;
            }
            missing |= !*value;
            used += (size_t)snprintf(piece + used, sizeof piece - used, "%s", value);
            at += n;
        }
        piece[used < sizeof piece ? used : sizeof piece - 1] = '\0';
        if (!missing)
            rtl_pieces_add(p, rank, "%s", piece);
        show = end;
    }
}

const char *rtl_name_show_wrong(const char *show)
{
    char value[VALUE_MAX];
    int depth = 0;
    if (*show == '=')
        return isdigit((unsigned char)show[1]) && !show[2] ? NULL : "'=' wants the number of an argument, as in =1";
    if (*show == '@')
        return !strcmp(show, "@gemm") || !strcmp(show, "@triton") ? NULL : "there is @gemm and @triton";
    for (const char *at = show; *at; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth < 0)
            break;
        if (*at == '$' && strncmp(at, "$more", 5) != 0 && !expand_variable(NULL, at, value, sizeof value))
            return "there is no such '$'";
    }
    return depth ? "a round bracket is not closed" : NULL;
}
