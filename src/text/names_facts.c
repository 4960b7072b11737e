/*
 * Operations, types and numbers in the arguments of a kernel's name. See names_facts.h.
 *
 * The operation of a PyTorch kernel is an argument of an argument, inside of generic helpers (`wrappers`).
 */
#include "text/names_facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP_MAX = 12 };

/* Functors around functors: which argument is the inner one, and the text that the wrapper adds to its operation. */
enum { LAST = -1 };
static const struct {
    const char *ident;
    int argument;
    const char *before, *behind;
} wrappers[] = {
    {"gpu_kernel_impl", 0, "", ""},
    {"gpu_kernel_impl_nocast", 0, "", ""},
    {"gpu_index_kernel", 0, "", ""},
    {"gpu_kernel", 0, "", ""},
    {"apply", 0, "", ""},
    {"AUnaryFunctor", LAST, "scalar_", ""},
    {"BUnaryFunctor", LAST, "", "_scalar"},
    {"BinaryFunctor", LAST, "", ""},
    {"func_wrapper_t", LAST, "", ""},
    {"ReduceOp", 1, "", ""},
    {"convert_binary_result_type_wrapper", 0, "", ""},
};

static int find_wrapper(struct rtl_name_span ident)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (rtl_span_is(ident, wrappers[i].ident))
            return (int)i;
    return -1;
}

static bool argument_at(struct rtl_name_span arguments, int number, struct rtl_name_span *argument)
{
    bool any = false;
    while (rtl_span_argument(&arguments, argument)) {
        any = true;
        if (number-- == 0)
            return true;
    }
    return any && number < 0; /* LAST */
}

/* "GeluCUDAKernelImpl" -> "gelu", "direct_copy_kernel_cuda" -> "copy", "ArgMaxOps" -> "argmax" */
static void operation_word(struct rtl_name_span ident, char *out, size_t size)
{
    static const char *const heads[] = {
        "CUDAFunctor_", "CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "launch_", "direct_", "kernel_", "_"};
    static const char *const shown[] = {"", "self_", "other_", "", "", "", ""};
    static const char *const tails[] = {"_kernel",        "_cuda_out",  "_cuda", "_impl",  "_functor",
                                        "Functor",        "KernelImpl", "CUDA",  "Kernel", "Ops",
                                        "_and_transform", "Op",         "_t"};
    const char *prefix = "";
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (rtl_span_drop_start(&ident, heads[i])) {
            prefix = shown[i];
            break;
        }
    for (size_t i = 0; i < sizeof tails / sizeof *tails;)
        i = rtl_span_drop_end(&ident, tails[i]) ? 0 : i + 1;
    size_t used = (size_t)snprintf(out, size, "%s", prefix);
    for (size_t i = 0; i < ident.length && used + 3 < size; i++) {
        char c = ident.at[i];
        bool lower_before = i && islower((unsigned char)ident.at[i - 1]);
        if (isupper((unsigned char)c) && lower_before && !rtl_span_starts(ident, "Arg"))
            out[used++] = '_';
        out[used++] = (char)tolower((unsigned char)c);
    }
    out[used] = '\0';
}

void rtl_operation_of(struct rtl_name_span name, int deep, char *out, size_t size)
{
    struct rtl_name_part part = rtl_span_principal(name);
    struct rtl_name_span inner;
    int w = find_wrapper(part.ident);
    *out = '\0';
    if (deep < DEEP_MAX && w >= 0 && argument_at(part.arguments, wrappers[w].argument, &inner)) {
        char word[RTL_PIECE_MAX];
        rtl_operation_of(inner, deep + 1, word, sizeof word);
        if (*word)
            snprintf(out, size, "%s%s%s", wrappers[w].before, word, wrappers[w].behind);
        return;
    }
    if (part.ident.length && rtl_is_word(*part.ident.at) && !isdigit((unsigned char)*part.ident.at))
        operation_word(part.ident, out, size);
}

/* --- types --- */

bool rtl_type_is_floating(const char *brief)
{
    return brief && (*brief == 'f' || !strncmp(brief, "bf", 2) || *brief == 'c');
}

/* Return the type to show: floating point before integers, integers before bool, else the first. */
static const char *better_type(const char *first, const char *second)
{
    if (!first || !second)
        return first ? first : second;
    int rank[2] = {rtl_type_is_floating(first) ? 2 : strcmp(first, "bool") != 0,
                   rtl_type_is_floating(second) ? 2 : strcmp(second, "bool") != 0};
    return rank[1] > rank[0] ? second : first;
}

/* Return the best type among a lambda's parameters. */
static const char *type_of_lambda(struct rtl_name_span scope)
{
    const char *found = NULL;
    struct rtl_name_span rest = {scope.at + 8, 0}, parameter;
    while (rest.length + 8 < scope.length && scope.at[8 + rest.length] != ')')
        rest.length++;
    while (rtl_span_argument(&rest, &parameter))
        found = better_type(found, rtl_type_brief(parameter));
    return found;
}

static bool opaque_type(struct rtl_name_part part, char *out, size_t size)
{
    if (!rtl_span_is(part.ident, "OpaqueType") || !part.arguments.length || !isdigit((unsigned char)*part.arguments.at))
        return false;
    snprintf(out, size, "%dB", atoi(part.arguments.at));
    return true;
}

bool rtl_type_in(struct rtl_name_span name, int deep, char *out, size_t size)
{
    const char *brief = rtl_type_brief(name);
    struct rtl_name_span rest, scope = {NULL, 0}, argument;
    if (brief) {
        snprintf(out, size, "%s", brief);
        return true;
    }
    struct rtl_name_part part = rtl_span_principal(name);
    if (opaque_type(part, out, size))
        return true;
    for (rest = part.arguments; find_wrapper(part.ident) < 0 && rtl_span_argument(&rest, &argument);)
        if (opaque_type(rtl_span_principal(argument), out, size))
            return true;
    if (deep >= DEEP_MAX)
        return false;
    if (find_wrapper(part.ident) < 0 || !part.has_arguments) {
        for (rest = name; rtl_span_scope(&rest, &scope);)
            ;
        brief = rtl_span_starts(scope, "{lambda(") ? type_of_lambda(scope) : NULL;
    }
    for (rest = part.arguments; !brief && rtl_span_argument(&rest, &argument);)
        brief = rtl_type_brief(argument);
    if (brief && (rtl_type_is_floating(brief) || deep)) {
        snprintf(out, size, "%s", brief);
        return true;
    }
    for (rest = part.arguments; rtl_span_argument(&rest, &argument);)
        if (memchr(argument.at, '<', argument.length) || memchr(argument.at, '{', argument.length)) {
            char inner[16];
            if (rtl_type_in(argument, deep + 1, inner, sizeof inner)) {
                bool opaque_inner = isdigit((unsigned char)*inner);
                snprintf(out, size, "%s", brief && (opaque_inner || !rtl_type_is_floating(inner)) ? brief : inner);
                return true;
            }
        }
    if (brief)
        snprintf(out, size, "%s", brief);
    return brief != NULL;
}

/* --- numbers --- */

bool rtl_is_number(struct rtl_name_span s)
{
    size_t at = s.length && *s.at == '-' ? 1 : 0, digits = at;
    while (at < s.length && isdigit((unsigned char)s.at[at]))
        at++;
    if (at == digits)
        return false;
    while (at < s.length && (s.at[at] == 'u' || s.at[at] == 'l'))
        at++;
    return at == s.length;
}

int rtl_digits_of(struct rtl_name_span s)
{
    int n = 0;
    while ((size_t)n < s.length && (isdigit((unsigned char)s.at[n]) || (!n && s.at[n] == '-')))
        n++;
    return n;
}

static bool is_sequence(struct rtl_name_part part)
{
    return rtl_span_is(part.ident, "sequence") || rtl_span_is(part.ident, "Sequence");
}

bool rtl_find_run(struct rtl_name_span arguments, int deep, struct rtl_name_span run[8], unsigned *count)
{
    struct rtl_name_span rest = arguments, argument;
    for (*count = 0; rtl_span_argument(&rest, &argument);) {
        if (rtl_is_number(argument)) {
            if (*count < 8)
                run[(*count)++] = argument;
        } else {
            if (*count >= 4)
                return true;
            *count = 0;
        }
    }
    if (*count >= 4)
        return true;
    for (rest = arguments; deep < DEEP_MAX && rtl_span_argument(&rest, &argument);) {
        struct rtl_name_part part = rtl_span_principal(argument);
        if (part.has_arguments && !is_sequence(part) && rtl_find_run(part.arguments, deep + 1, run, count))
            return true;
    }
    return false;
}

bool rtl_find_sequence(struct rtl_name_span arguments, int deep, int *number, struct rtl_name_span *found)
{
    struct rtl_name_span rest = arguments, argument;
    while (rtl_span_argument(&rest, &argument)) {
        struct rtl_name_part part = rtl_span_principal(argument);
        if (!part.has_arguments)
            continue;
        if (is_sequence(part)) {
            if ((*number)-- == 0) {
                *found = part.arguments;
                return true;
            }
        } else if (deep < DEEP_MAX && rtl_find_sequence(part.arguments, deep + 1, number, found)) {
            return true;
        }
    }
    return false;
}

void rtl_enumerators_in(struct rtl_name_span text, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t at = 0; at + 3 < text.length; at++) {
        if (text.at[at] != '(' || !at || (text.at[at - 1] != ' ' && text.at[at - 1] != '<' && text.at[at - 1] != ','))
            continue;
        size_t close = at + 1, last = at + 1;
        while (close < text.length && (rtl_is_word(text.at[close]) || text.at[close] == ':')) {
            if (text.at[close] == ':')
                last = close + 1;
            close++;
        }
        if (close + 1 >= text.length || text.at[close] != ')' || !isdigit((unsigned char)text.at[close + 1]) ||
            text.at[close + 1] == '0')
            continue;
        struct rtl_name_span word = {text.at + last, close - last};
        if (rtl_span_ends(word, "Enum"))
            word.length -= 4;
        for (size_t i = word.length, capitals = 0; i-- && capitals < 2;) /* keep the last two words */
            if (isupper((unsigned char)word.at[i]) && ++capitals == 2) {
                word.at += i;
                word.length -= i;
            }
        int n = snprintf(out + used, size - used, "%s%.*s=%c", used ? "," : "", (int)word.length, word.at,
                         text.at[close + 1]);
        if (n < 0 || used + (size_t)n >= size || used > 24)
            break;
        used += (size_t)n;
    }
}
