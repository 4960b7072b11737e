/* Words of names in C, between underscores: types, tiles. See names_brief.h. */
#include "text/name_pieces.h"
#include "text/names_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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
        if (n > 1 && word.length > 4 && n + 1 < word.length && word.at[0] == 'm') /* "mxfp4" has an x of its own */
            n = n > 4 ? n : word.length;
        const char *brief = one_word_type((struct rtl_name_span){word.at, n});
        if (!brief && n < word.length) { /* the rest as one: "mxfp4" */
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
