/*
 * The pieces of a brief name: made by the first rule that fits, put together for a width. See names_brief.h.
 */
#include "text/names_brief.h"
#include "text/demangle_partly.h"
#include "text/name_pieces.h"
#include "text/names_expand.h"
#include "text/names_rules.h"
#include "text/names_short.h"
#include "text/names_user.h"
#include "text/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEELED_MAX = 4, PIECE_LEAST = 9, PIECES_SHOWN = 64 };

static const char *next_piece(const char *piece)
{
    return piece + strlen(piece) + 1;
}

void rtl_pieces_add(struct rtl_pieces *p, int rank, const char *format, ...)
{
    char piece[RTL_PIECE_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n <= 0)
        return;
    size_t length = strlen(piece);
    if ((size_t)n > length) /* cut: not within a character */
        while (length && ((unsigned char)piece[length - 1] & 0xc0) == 0x80)
            length--;
    if ((size_t)n > length && length && (unsigned char)piece[length - 1] >= 0xc0)
        length--;
    if (!length || p->used + length + 3 > sizeof p->text)
        return;
    piece[length] = '\0';
    for (const char *other = p->text; p->used && *other; other = next_piece(other))
        if (!strcmp(other + 1, piece)) /* said already */
            return;
    p->text[p->used++] = (char)('0' + rank);
    memcpy(p->text + p->used, piece, length);
    p->used += length;
    p->text[p->used++] = '\0';
    p->text[p->used] = '\0';
}

/* All pieces, between blanks. */
static char *joined(const struct rtl_pieces *p)
{
    char *out = malloc(p->used + 1), *to = out;
    if (!out)
        return NULL;
    for (const char *piece = p->text; p->used && *piece; piece = next_piece(piece)) {
        if (to > out)
            *to++ = ' ';
        to = stpcpy(to, piece + 1);
    }
    *to = '\0';
    return out;
}

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

static bool rule_fits(const char *pattern, struct rtl_name_span ident, struct rtl_name_span scoped)
{
    if (strstr(pattern, "::"))
        return rtl_name_pattern_fits(pattern, scoped.at, scoped.length);
    return rtl_name_pattern_fits(pattern, ident.at, ident.length);
}

/*
 * The first rule for this kernel that says what to show, or else the first of all. The user's come first; one that says
 * no more than a family leaves what is shown to the others.
 */
static const struct rtl_name_rule *find_rule(const struct rtl_name_rules *user, struct rtl_name_span ident,
                                             struct rtl_name_span scoped, enum rtl_name_family *family)
{
    const struct rtl_name_rule *rule, *plain = NULL;
    bool chosen = false;
    *family = RTL_FAMILY_OTHER;
    for (size_t i = 0; (rule = rtl_name_rules_rule(user, i)); i++)
        if (rule_fits(rule->kernel, ident, scoped)) {
            if (!chosen)
                *family = rtl_name_rules_family(user, i);
            chosen = true;
            if (rule->show)
                return rule;
            break;
        }
    for (int shows = 1; shows >= 0; shows--)
        for (size_t t = 0; t < rtl_name_table_count; t++)
            for (size_t i = 0; i < rtl_name_tables[t].count && !plain; i++) {
                rule = &rtl_name_tables[t].rules[i];
                if ((rule->show != NULL) != (shows != 0) || !rule_fits(rule->kernel, ident, scoped))
                    continue;
                if (!chosen)
                    *family = rtl_name_tables[t].family;
                plain = rule;
            }
    return plain;
}

/* Text that says nothing about a kernel: where it stands, the name is shown by its pieces. */
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

/* Pieces by the rules. True if a rule said what to show; otherwise the pieces are what can be said of any name. */
static bool by_rules(struct rtl_pieces *p, const struct rtl_name_rules *user, struct rtl_name_span name,
                     const char *raw, enum rtl_name_family *family)
{
    for (int peeled = 0;; peeled++) {
        struct rtl_name_part part = rtl_span_principal(name);
        const struct rtl_name_rule *rule = find_rule(user, part.ident, name, family);
        const char *show = rule ? rule->show : NULL;
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
        bool said = show && *show != '@' && *show != '=', inner = peeled > 0; /* the whole name has the wrapper in it */
        if (said)
            rtl_facts_show(p, &facts, show);
        if (!p->used)
            rtl_facts_show(p, &facts, part.has_arguments ? "$name $op $types | $more" : "$words $type $tile | $more");
        return said || inner;
    }
}

/*
 * Loops that a compiler left to the GPU: __omp_offloading_fe00_5366b4_main_l22 -> omp main:22. The two numbers are the
 * source file's device and inode, which say nothing to anybody.
 */
static bool offloaded_pieces(struct rtl_pieces *p, const char *name)
{
    enum { FUNCTION_MOST = RTL_PIECE_MAX - 20 }; /* the line is behind it */
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
    size_t length = strlen(at), line = length;
    while (line && isdigit((unsigned char)at[line - 1]))
        line--;
    if (line == length || line < 3 || strncmp(at + line - 2, "_l", 2))
        return false;
    char *function = strndup(at, line - 2), *plain = NULL;
    if (function && !strncmp(function, "_Z", 2)) { /* so it can't be one of these itself */
        char *full = rtl_name_full(function, line - 2);
        plain = full ? rtl_name_short(function, full) : NULL;
        free(full);
    }
    const char *shown = plain ? plain : function;
    if (shown)
        rtl_pieces_add(p, 0, "omp %.*s:%s", FUNCTION_MOST, shown, at + line);
    free(plain);
    free(function);
    return shown != NULL;
}

/*
 * The user's name for a kernel, or NULL. Its own name is tried as with rules: what is seen on the screen is found,
 * without the return type that the full one begins with.
 */
static const char *nickname_of(const struct rtl_name_rules *user, const char *raw, const char *full,
                               struct rtl_name_span name)
{
    const char *nickname, *pattern;
    struct rtl_name_span ident = rtl_span_principal(name).ident;
    for (size_t i = 0; (nickname = rtl_name_rules_nickname(user, i, &pattern)); i++)
        if (rule_fits(pattern, ident, name) || rtl_name_pattern_fits(pattern, full, strlen(full)) ||
            rtl_name_pattern_fits(pattern, raw, strlen(raw)))
            return nickname;
    return NULL;
}

bool rtl_brief_make(struct rtl_brief *brief, const struct rtl_name_rules *user, const char *raw, const char *full)
{
    struct rtl_pieces *p = malloc(sizeof *p);
    char *partly = strcmp(raw, full) != 0 ? NULL : rtl_demangle_partly(raw);
    char *name = partly ? partly : is_c_name(full) ? strdup(full) : rtl_name_template(full);
    *brief = (struct rtl_brief){.family = RTL_FAMILY_OTHER};
    if (!p || !name) {
        free(p);
        free(name);
        return false;
    }
    p->used = 0;
    p->text[0] = '\0';
    bool said = offloaded_pieces(p, full) ||
                by_rules(p, user, (struct rtl_name_span){name, strlen(name)}, full, &brief->family);
    const char *nickname = nickname_of(user, raw, full, (struct rtl_name_span){name, strlen(name)});
    if (nickname) {
        p->used = 0;
        rtl_pieces_add(p, 0, "%s", nickname);
        said = true;
    }
    if (is_c_name(full) && !partly) {
        if (!said)
            brief->whole = strdup(full); /* a C name has nothing to shorten */
    } else {
        brief->spelled = rtl_name_spelled(name);
        if (!said && brief->spelled && (!p->used || (strcmp(brief->spelled, "") && !has_plumbing(brief->spelled))))
            brief->whole = strdup(brief->spelled);
    }
    if (!brief->whole && p->used)
        brief->whole = joined(p);
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

/*
 * What matters most doesn't fit: its longest piece is cut, and what stands last is left out as long as nothing readable
 * would be left of that. Returns the piece to cut.
 */
static int give_way(const char *const *shown, bool *take, int count, int *core, int room)
{
    int longest = -1;
    for (int i = 0; i < count; i++)
        if (take[i] && (longest < 0 || rtl_text_columns(shown[i]) > rtl_text_columns(shown[longest])))
            longest = i;
    for (int i = count - 1; longest >= 0 && i >= 0; i--) {
        int columns = rtl_text_columns(shown[longest] + 1);
        if (*core <= room || columns - (*core - room) >= (columns < PIECE_LEAST ? columns : PIECE_LEAST))
            break;
        if (take[i] && i != longest) {
            take[i] = false;
            *core -= rtl_text_columns(shown[i] + 1) + 1;
        }
    }
    return *core > room ? longest : -1;
}

void rtl_brief_fit(char *out, size_t size, const char *pieces, int width, const char *must, bool ascii)
{
    const char *shown[PIECES_SHOWN];
    bool take[PIECES_SHOWN] = {false};
    int count = 0, room = width - (*must ? rtl_text_columns(must) + 1 : 0), core = 0, cores = 0;
    for (const char *piece = pieces; *piece && count < PIECES_SHOWN; piece = next_piece(piece))
        shown[count++] = piece;
    for (int i = 0; i < count; i++)
        if (*shown[i] == '0') {
            core += rtl_text_columns(shown[i] + 1) + (cores++ > 0);
            take[i] = true;
        }
    int cut = -1;
    if (core <= room) {
        int used = core;
        for (char rank = '1'; rank <= '9'; rank++)
            for (int i = 0; i < count; i++) {
                int more = *shown[i] == rank ? rtl_text_columns(shown[i] + 1) + (used > 0) : 0;
                if (more && used + more <= room && strcmp(shown[i] + 1, must) != 0) {
                    take[i] = true;
                    used += more;
                }
            }
    } else {
        cut = give_way(shown, take, count, &core, room);
    }
    size_t used = 0;
    for (int i = 0; i < count && used + 1 < size; i++) {
        if (!take[i])
            continue;
        if (used)
            out[used++] = ' ';
        if (i == cut) {
            int columns = rtl_text_columns(shown[i] + 1) - (core - room);
            rtl_text_cut(out + used, size - used, shown[i] + 1, columns > 0 ? columns : 0, 0, ascii);
        } else {
            snprintf(out + used, size - used, "%s", shown[i] + 1);
        }
        used += strlen(out + used);
    }
    out[used] = '\0';
    if (*must && used + 1 < size)
        snprintf(out + used, size - used, "%s%s", used ? " " : "", must);
    if (rtl_text_columns(out) > width) { /* so narrow that nothing fits */
        char *whole = strdup(out);
        rtl_text_cut(out, size, whole ? whole : "", width, 0, ascii);
        free(whole);
    }
}

/* --- what tells two names apart --- */

static const char word_edges[] = "<>(),:{}[]&* ";

/* The next word of a spelled name: between brackets, commas, colons and blanks. */
static bool next_word(const char **at, struct rtl_name_span *word)
{
    *at += strspn(*at, word_edges);
    *word = (struct rtl_name_span){*at, strcspn(*at, word_edges)};
    *at += word->length;
    return word->length > 0;
}

/* Where the word stands in the text as a whole one: of a spelled name, or between the underscores of a name in C. */
static const char *find_word(const char *text, struct rtl_name_span word, bool spelled)
{
    const char *at = text, *end = text + strlen(text);
    while ((at = memmem(at, (size_t)(end - at), word.at, word.length))) {
        char before = at == text ? '\0' : at[-1], behind = at[word.length];
        bool joined = behind == '_' && isdigit((unsigned char)at[word.length + 1]); /* "WG16_4" of "WG16_4_4" */
        if (spelled ? (!before || strchr(word_edges, before)) && (!behind || strchr(word_edges, behind))
                    : (!before || before == '_') && (!behind || behind == '_' || behind == '.') && !joined)
            return at;
        at++;
    }
    return NULL;
}

/* The next word of a name in C that the other name has not. Most names are alike for long: both are read side by side.
 */
static bool next_own_word(struct rtl_name_span *rest, const char *other, struct rtl_name_span *beside,
                          struct rtl_name_span *word)
{
    while (rtl_span_word(rest, word, true)) {
        struct rtl_name_span theirs, before = *beside;
        if (rtl_span_word(beside, &theirs, true) && theirs.length == word->length &&
            !memcmp(theirs.at, word->at, word->length))
            continue;
        *beside = before;
        const char *found = find_word(other, *word, false);
        if (!found)
            return true;
        *beside = (struct rtl_name_span){found + word->length, strlen(found + word->length)};
    }
    return false;
}

static bool is_default(struct rtl_name_span word)
{
    return word.length && word.at[word.length - 1] == '0' &&
           (word.length < 2 || !isdigit((unsigned char)word.at[word.length - 2]));
}

/* Behind the tile of a generated GEMM's name: the types before it are no settings. */
static const char *behind_tile(const char *raw)
{
    const char *tile = strstr(raw, "Cijk_") ? strstr(raw, "_MT") : NULL;
    return tile && isdigit((unsigned char)tile[3]) ? tile + 1 : raw;
}

/* Words of one name in C that the other has not: those that are set first, then those that are 0. */
static bool raw_differs(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    const char *my_settings = behind_tile(mine), *their_settings = behind_tile(theirs);
    for (int pass = 0; pass < 6; pass++) {
        bool settings = pass < 4, missing = pass % 4 / 2 || pass == 5;
        const char *from = missing ? (settings ? their_settings : theirs) : (settings ? my_settings : mine);
        const char *other = missing ? (settings ? my_settings : mine) : (settings ? their_settings : theirs);
        struct rtl_name_span rest = {from, strlen(from)}, beside = {other, strlen(other)}, word;
        while (next_own_word(&rest, other, &beside, &word))
            if ((!settings || is_default(word) == (pass % 2 == 1)) && number-- == 0) {
                snprintf(out, size, "%s%.*s", missing ? "-" : "", (int)word.length, word.at);
                return true;
            }
    }
    return false;
}

/* A word of a spelled name, for people: what helpers are called says nothing, but which of them it is may. */
static void tell_word(char *out, size_t size, struct rtl_name_span word)
{
    static const char helper[] = "gpu_kernel_impl";
    if (rtl_span_starts(word, "lambda#")) {
        snprintf(out, size, "%.*s", (int)(word.length - 6), word.at + 6);
    } else if (rtl_span_starts(word, helper)) {
        struct rtl_name_span kind = {word.at + sizeof helper,
                                     word.length > sizeof helper ? word.length - sizeof helper : 0};
        snprintf(out, size, "%.*s", kind.length ? (int)kind.length : 4, kind.length ? kind.at : "cast");
    } else if (rtl_span_ends(word, "_kernel")) {
        snprintf(out, size, "%.*s", (int)word.length - 7, word.at);
    } else {
        snprintf(out, size, "%.*s", (int)word.length, word.at);
    }
}

static bool spelled_differs(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    struct rtl_name_span word, other;
    const char *at = mine, *by = theirs;
    while (next_word(&at, &word))
        if (word.length > 1 && !rtl_span_is(word, "lambda") && !rtl_span_is(word, "operator") &&
            !find_word(theirs, word, true) && number-- == 0) {
            tell_word(out, size, word);
            return true;
        }
    at = mine;
    for (int place = 0; next_word(&at, &word); place++) {
        bool there = next_word(&by, &other);
        if ((!there || other.length != word.length || strncmp(other.at, word.at, word.length) != 0) && number-- == 0) {
            bool marked = rtl_span_starts(word, "lambda#") || *word.at == '#';
            int n = marked ? 0 : snprintf(out, size, "arg%d=", place);
            tell_word(out + n, size - (size_t)n, word);
            return true;
        }
        if (!there)
            break;
    }
    return false;
}

bool rtl_brief_differs(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    bool spelled = strpbrk(mine, "<(") != NULL;
    return spelled ? spelled_differs(out, size, mine, theirs, number) : raw_differs(out, size, mine, theirs, number);
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
