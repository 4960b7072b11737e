/* The short name: find the rule for a kernel and make the pieces. See names_short.h. */
#include "text/names_short.h"
#include "text/names_expand.h"
#include "text/names_rules.h"
#include "text/names_user.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEELED_MAX = 4 };

static bool rule_fits(const char *pattern, struct rtl_name_span ident, struct rtl_name_span scoped)
{
    if (strstr(pattern, "::"))
        return rtl_name_pattern_fits(pattern, scoped.at, scoped.length);
    return rtl_name_pattern_fits(pattern, ident.at, ident.length);
}

/* Return the words to show of the first matching rule, or NULL, and set the family. The user's rules come first: the
 * first match sets the family, and if it has no words, the built-in rules choose them. */
static const char *find_words(const struct rtl_name_rules *user, struct rtl_name_span ident,
                              struct rtl_name_span scoped, enum rtl_name_family *family)
{
    bool chosen = false;
    *family = RTL_FAMILY_OTHER;
    for (size_t i = 0; !chosen && user && i < user->rules.count; i++) {
        const struct rtl_user_rule *rule = &user->rules.rule[i];
        chosen = rule_fits(rule->pattern, ident, scoped);
        if (chosen)
            *family = rule->family;
        if (chosen && rule->text)
            return rule->text;
    }
    for (size_t t = 0; t < rtl_name_table_count; t++)
        for (size_t i = 0; i < rtl_name_tables[t].count; i++)
            if (rule_fits(rtl_name_tables[t].rules[i].kernel, ident, scoped)) {
                *family = chosen ? *family : rtl_name_tables[t].family;
                return rtl_name_tables[t].rules[i].show;
            }
    for (size_t t = 0; t < rtl_name_table_count && !chosen; t++)
        for (const char *const *pattern = rtl_name_tables[t].patterns; *pattern; pattern++)
            if (rule_fits(*pattern, ident, scoped)) {
                *family = rtl_name_tables[t].family;
                return NULL;
            }
    return NULL;
}

/* True if a spelled name contains generic helpers: its pieces are more readable. */
static bool has_plumbing(const char *spelled)
{
    static const char *const words[] = {"{lambda", "operator()", "array<", "Calculator", "{unnamed", "_NS"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(spelled, words[i]))
            return true;
    return false;
}

static bool is_c_name(const char *name)
{
    return !strpbrk(name, "<({ ");
}

/* Make the pieces by the rules. Return false if no rule has words to show, so that the pieces are generic. */
static bool apply_rules(struct rtl_pieces *p, const struct rtl_name_rules *user, struct rtl_name_span name,
                        const char *raw, enum rtl_name_family *family)
{
    for (int peeled = 0;; peeled++) {
        struct rtl_name_part part = rtl_span_principal(name);
        const char *show = find_words(user, part.ident, name, family);
        struct rtl_facts facts;
        if (show && !strcmp(show, "@gemm") && rtl_gemm_pieces(p, raw))
            return true;
        if (show && !strcmp(show, "@triton") && rtl_triton_pieces(p, raw, family))
            return true;
        rtl_facts_of(&facts, name, part);
        if (show && *show == '=' && isdigit((unsigned char)show[1]) && peeled < PEELED_MAX) {
            unsigned n = (unsigned)(show[1] - '0');
            if (n < facts.argument_count) {
                name = facts.arguments[n];
                continue;
            }
        }
        bool said = show && *show != '@' && *show != '=',
             inner = peeled > 0; /* a wrapped kernel's pieces lack the wrapper, the spelled name has it */
        if (said)
            rtl_facts_show(p, &facts, show);
        if (!p->used)
            rtl_facts_show(p, &facts, part.has_arguments ? "$name $op $types | $more" : "$words $type $tile | $more");
        return said || inner;
    }
}

/* OpenMP loops: __omp_offloading_fe00_5366b4_main_l22 -> omp main:22. The numbers are the source's device and inode. */
static bool add_offload_pieces(struct rtl_pieces *p, const char *name)
{
    enum { FUNCTION_MOST = RTL_PIECE_MAX - 20 }; /* leaves room for the line number */
    static const char prefix[] = "__omp_offloading_";
    if (strncmp(name, prefix, sizeof prefix - 1))
        return false;
    const char *at = name + sizeof prefix - 1;
    for (int number = 0; number < 2; number++) {
        size_t digits = strspn(at, "0123456789abcdef");
        if (!digits || at[digits] != '_')
            return false;
        at += digits + 1;
    }
    size_t length = strcspn(at, ".$@~"), line = length; /* up to a suffix */
    while (line && isdigit((unsigned char)at[line - 1]))
        line--;
    if (line == length || line < 3 || strncmp(at + line - 2, "_l", 2))
        return false;
    char *function = strndup(at, line - 2), *plain = NULL;
    if (function && !strncmp(function, "_Z", 2)) { /* a mangled name is no OpenMP loop: no endless recursion */
        char *full = rtl_name_full(function, line - 2);
        plain = full ? rtl_name_short(function, full) : NULL;
        free(full);
    }
    const char *shown = plain ? plain : function;
    if (shown)
        rtl_pieces_add(p, 0, "omp %.*s:%.*s", FUNCTION_MOST, shown, (int)(length - line), at + line);
    if (shown)
        rtl_pieces_add(p, 1, "%s", at + length);
    free(plain);
    free(function);
    return shown != NULL;
}

/* Return the user's nickname for a kernel, or NULL. The pattern may match the identifier as in rules, the full name
 * (which begins with the return type), or the mangled name. */
static const char *find_nickname(const struct rtl_name_rules *user, const char *raw, const char *full,
                                 struct rtl_name_span name)
{
    struct rtl_name_span ident = rtl_span_principal(name).ident;
    for (size_t i = 0; user && i < user->nicknames.count; i++) {
        const char *pattern = user->nicknames.rule[i].pattern;
        if (rule_fits(pattern, ident, name) || rtl_name_pattern_fits(pattern, full, strlen(full)) ||
            rtl_name_pattern_fits(pattern, raw, strlen(raw)))
            return user->nicknames.rule[i].text;
    }
    return NULL;
}

/* Return the suffix of a full name, "f(int) [clone .cold]" -> ".cold"; empty if it has none. */
static struct rtl_name_span clone_suffix(const char *full)
{
    static const char open[] = " [clone ";
    const char *clone = strstr(full, open), *at = clone ? clone + sizeof open - 1 : full;
    size_t length = clone && clone > full ? strlen(at) : 0;
    return (struct rtl_name_span){at, length - (length && at[length - 1] == ']')};
}

/* Append " suffix" to the text. NULL without memory; frees the text then. */
static char *join_suffix(char *text, struct rtl_name_span suffix)
{
    size_t used = strlen(text);
    char *both = suffix.length ? realloc(text, used + suffix.length + 2) : text;
    if (!both)
        free(text);
    else if (suffix.length)
        snprintf(both + used, suffix.length + 2, " %.*s", (int)suffix.length, suffix.at);
    return both;
}

bool rtl_brief_make(struct rtl_brief *brief, const struct rtl_name_rules *user, const char *raw, const char *full)
{
    struct rtl_pieces *p = malloc(sizeof *p);
    struct rtl_name_span suffix = clone_suffix(full);
    char *name = is_c_name(full) ? strdup(full) : rtl_name_template(full);
    *brief = (struct rtl_brief){.family = RTL_FAMILY_OTHER};
    if (!p || !name) {
        free(p);
        free(name);
        return false;
    }
    p->used = 0;
    p->text[0] = '\0';
    bool said = add_offload_pieces(p, full) ||
                apply_rules(p, user, (struct rtl_name_span){name, strlen(name)}, full, &brief->family);
    const char *nickname = find_nickname(user, raw, full, (struct rtl_name_span){name, strlen(name)});
    if (nickname) {
        p->used = 0;
        rtl_pieces_add(p, 0, "%s", nickname);
        said = true;
    }
    if (is_c_name(full)) {
        if (!said)
            brief->whole = strdup(full);
    } else {
        brief->spelled = rtl_name_spelled(name);
        brief->spelled = brief->spelled ? join_suffix(brief->spelled, suffix) : NULL;
        if (!said && brief->spelled && (!p->used || (strcmp(brief->spelled, "") && !has_plumbing(brief->spelled))))
            brief->whole = strdup(brief->spelled);
    }
    rtl_pieces_add(p, 1, "%.*s", (int)suffix.length, suffix.at);
    if (!brief->whole && p->used)
        brief->whole = rtl_pieces_join(p);
    if (!brief->whole)
        brief->whole = strdup(name);
    brief->pieces = malloc(p->used + 1);
    if (brief->pieces)
        memcpy(brief->pieces, p->text, p->used + 1);
    free(p);
    free(name);
    if (brief->whole && brief->pieces)
        return true;
    rtl_brief_free(brief);
    return false;
}

void rtl_brief_free(struct rtl_brief *brief)
{
    free(brief->whole);
    free(brief->pieces);
    free(brief->spelled);
    *brief = (struct rtl_brief){.family = RTL_FAMILY_OTHER};
}

char *rtl_name_short(const char *raw, const char *full)
{
    struct rtl_brief brief;
    if (!rtl_brief_make(&brief, NULL, raw, full))
        return NULL;
    char *whole = brief.whole;
    brief.whole = NULL;
    rtl_brief_free(&brief);
    return whole;
}

enum rtl_name_family rtl_name_family(const char *raw, const char *full)
{
    struct rtl_brief brief;
    if (!rtl_brief_make(&brief, NULL, raw, full))
        return RTL_FAMILY_OTHER;
    enum rtl_name_family family = brief.family;
    rtl_brief_free(&brief);
    return family;
}
