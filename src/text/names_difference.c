/* The words that distinguish two names. See names_difference.h. */
#include "text/names_difference.h"
#include "text/names_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char word_edges[] = "<>(),:{}[]&* ";

static bool next_word(const char **at, struct rtl_name_span *word)
{
    *at += strspn(*at, word_edges);
    *word = (struct rtl_name_span){*at, strcspn(*at, word_edges)};
    *at += word->length;
    return word->length > 0;
}

/* Find a complete word in a spelled name, or between the underscores of a name in C. */
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

/* Find the next word of a name in C that the other name lacks. Long parts are mostly equal, so both are read in step.
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

/* Return the settings of a generated GEMM's name: from the tile on, behind the types. */
static const char *settings_of(const char *raw)
{
    const char *tile = strstr(raw, "Cijk_") ? strstr(raw, "_MT") : NULL;
    return tile && isdigit((unsigned char)tile[3]) ? tile + 1 : raw;
}

/* Find word `number` that only one of two names in C has: first settings that are not 0, then those that are. */
static bool c_name_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    const char *my_settings = settings_of(mine), *their_settings = settings_of(theirs);
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

/* Write a word of a spelled name without generic parts: "gpu_kernel_impl_nocast" -> "nocast". */
static void write_word(char *out, size_t size, struct rtl_name_span word)
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

static bool spelled_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    struct rtl_name_span word, other;
    const char *at = mine, *by = theirs;
    while (next_word(&at, &word))
        if (word.length > 1 && !rtl_span_is(word, "lambda") && !rtl_span_is(word, "operator") &&
            !find_word(theirs, word, true) && number-- == 0) {
            write_word(out, size, word);
            return true;
        }
    at = mine;
    for (int place = 0; next_word(&at, &word); place++) {
        bool there = next_word(&by, &other);
        if ((!there || other.length != word.length || strncmp(other.at, word.at, word.length) != 0) && number-- == 0) {
            bool marked = rtl_span_starts(word, "lambda#") || *word.at == '#';
            int n = marked ? 0 : snprintf(out, size, "arg%d=", place);
            write_word(out + n, size - (size_t)n, word);
            return true;
        }
        if (!there)
            break;
    }
    return false;
}

bool rtl_name_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    bool spelled = strpbrk(mine, "<(") != NULL;
    return spelled ? spelled_difference(out, size, mine, theirs, number)
                   : c_name_difference(out, size, mine, theirs, number);
}
