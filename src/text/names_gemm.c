/*
 * Names of generated GEMM kernels (Tensile): Cijk_Alik_Bljk_BBS_BH_..._MT256x256x64_MI16x16x1_..._SK3
 * -> gemm TN bf16 256x256x64 MI16x16x1 SK3.
 *
 * The summation index is l. Operand A is transposed if l precedes its free index, B if l follows it. Behind the indices
 * are the types, one or two letters each: of A and B, of the result, of the sums. Hundreds of settings follow. A few
 * important ones are shown while there is room, unless they have their usual value. write_difference of names.c finds
 * others when two kernels look alike.
 */
#include "text/names_expand.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SYMBOLS_MAX = 6 };

static const struct {
    const char *letters, *type;
} symbols[] = {
    {"4xi8", "i8"}, {"F8N", "f8z"}, {"B8N", "bf8z"}, {"I8", "i8"}, {"F8", "f8"},  {"B8", "bf8"},
    {"F6", "f6"},   {"B6", "bf6"},  {"F4", "f4"},    {"S", "f32"}, {"D", "f64"},  {"C", "c64"},
    {"Z", "c128"},  {"H", "f16"},   {"B", "bf16"},   {"I", "i32"}, {"X", "xf32"},
};

/* Important settings in the order of display, and the usual value, which is not shown. */
static const struct {
    const char *name, *usual;
} settings[] = {{"MI", NULL},    {"SK", "0"},     {"GSU", "1"}, {"WG", NULL}, {"MIWT", NULL}, {"LDSB", "0"},
                {"GRVWA", NULL}, {"GRVWB", NULL}, {"PGR", "2"}, {"NTA", "0"}, {"NTB", "0"},   {"NTD", "0"}};

enum { SETTINGS = sizeof settings / sizeof *settings };

static bool type_symbols(struct rtl_name_span text, const char *found[SYMBOLS_MAX], int *count)
{
    while (text.length) {
        size_t before = text.length;
        for (size_t i = 0; i < sizeof symbols / sizeof *symbols && *count < SYMBOLS_MAX; i++)
            if (rtl_span_starts(text, symbols[i].letters)) {
                found[(*count)++] = symbols[i].type;
                text.at += strlen(symbols[i].letters);
                text.length -= strlen(symbols[i].letters);
                break;
            }
        if (text.length == before)
            return false;
    }
    return *count > 0;
}

/*
 * Read the words with types: BBS_BH, B_BS_BH, F8B8BS_BH. In older names the "B" of a batch and the "H" of higher
 * precision end the same word: SB, HBH. A kernel that is no product (`product` false) has only the types of the sums
 * and of the result. On success `rest` begins behind these words.
 */
static bool tensile_types(struct rtl_name_span *rest, bool product, char *out, size_t size)
{
    struct rtl_name_span look = *rest, word, behind = *rest;
    const char *found[SYMBOLS_MAX];
    int count = 0, words = 0;
    bool marked = false;
    for (int i = 0; i < 4 && rtl_span_word(&look, &word, false); i++)
        if (i && (rtl_span_is(word, "BH") || rtl_span_is(word, "B") || rtl_span_is(word, "H"))) {
            marked = true;
            words = i;
            break;
        }
    if (marked && rtl_span_word(&behind, &word, false) && words > 1) { /* "B" "BS" "BH": is that "B" a mark? */
        look = *rest;
        marked = false;
        for (int i = 0; i < 4 && rtl_span_word(&look, &word, false); i++)
            if (i && rtl_span_is(word, "BH")) {
                marked = true;
                words = i;
            }
    }
    look = *rest;
    for (int i = 0; i < (marked ? words : 1); i++) {
        if (!rtl_span_word(&look, &word, false))
            return false;
        if (!marked && product && word.length > 1) {
            if (rtl_span_ends(word, "BH") && word.length > 2)
                word.length -= 2;
            else if (rtl_span_ends(word, "B"))
                word.length--;
        }
        if (!type_symbols(word, found, &count))
            return false;
    }
    *rest = look;
    /* the last type is that of the sums, which is not shown */
    int shown = !product ? count : count > 2 ? count - 1 : 1;
    size_t used = 0;
    const char *before = NULL;
    for (int i = 0; i < shown; i++) {
        if (before && !strcmp(before, found[i]))
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "/" : "", found[i]);
        before = found[i];
    }
    return true;
}

static bool is_setting(struct rtl_name_span word, const char *name, const char *usual)
{
    size_t n = strlen(name);
    if (!rtl_span_starts(word, name) || word.length == n)
        return false;
    if (!isdigit((unsigned char)word.at[n]))
        return !strcmp(name, "GSU") && !rtl_span_is(word, "GSUAMB") && !rtl_span_starts(word, "GSUAS"); /* GSUAMBSK */
    return !usual || !rtl_span_is((struct rtl_name_span){word.at + n, word.length - n}, usual);
}

bool rtl_gemm_pieces(struct rtl_pieces *p, const char *raw)
{
    const char *at = strstr(raw, "Cijk_");
    char types[64];
    char transposed[2] = {0, 0};
    struct rtl_name_span rest, word, look;
    if (!at || (at != raw && at[-1] != '_'))
        return false;
    rest = (struct rtl_name_span){at + 5, strlen(at + 5)};
    for (look = rest; rtl_span_word(&look, &word, false) && word.length == 4; rest = look) {
        if (*word.at == 'A')
            transposed[0] = word.at[1] == 'l' ? 'T' : 'N';
        else if (*word.at == 'B' && islower((unsigned char)word.at[1]))
            transposed[1] = word.at[1] == 'l' ? 'N' : 'T';
        else if (*word.at != 'D' || !islower((unsigned char)word.at[1]))
            break;
    }
    if (!transposed[0] != !transposed[1] || !tensile_types(&rest, transposed[0], types, sizeof types))
        return false;
    struct rtl_name_span tile = {NULL, 0};
    const char *side = NULL; /* a kernel that prepares or finishes the result */
    for (look = rest; rtl_span_word(&look, &word, true);) {
        if (rtl_span_starts(word, "MT") && word.length > 2 && isdigit((unsigned char)word.at[2]))
            tile = (struct rtl_name_span){word.at + 2, word.length - 2};
        if (rtl_span_starts(word, "PostGSU"))
            side = "post-GSU";
    }
    if (!transposed[0] && !side)
        side = "beta";
    if (transposed[0] && !tile.length && !side)
        return false;
    rtl_pieces_add(p, 0, "gemm");
    if (transposed[0])
        rtl_pieces_add(p, 0, "%c%c", transposed[0], transposed[1]);
    else
        rtl_pieces_add(p, 0, "%s", side);
    rtl_pieces_add(p, 0, "%s", types);
    if (tile.length)
        rtl_pieces_add(p, 0, "%.*s", (int)tile.length, tile.at);
    else
        for (look = rest; rtl_span_word(&look, &word, true);)
            rtl_pieces_add(p, 1, "%.*s", (int)word.length, word.at);
    struct rtl_name_span shown[SETTINGS] = {{NULL, 0}};
    for (look = rest; tile.length && rtl_span_word(&look, &word, true);)
        for (size_t i = 0; i < SETTINGS; i++)
            if (*word.at == *settings[i].name && !shown[i].length &&
                is_setting(word, settings[i].name, settings[i].usual))
                shown[i] = word;
    for (size_t i = 0; i < SETTINGS; i++)
        rtl_pieces_add(p, i < 3 ? 1 : 2, "%.*s", (int)shown[i].length, shown[i].length ? shown[i].at : "");
    return true;
}
