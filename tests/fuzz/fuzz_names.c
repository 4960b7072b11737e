/*
 * libFuzzer target: kernel names, which another process chooses, demangled, shortened, escaped and cut to a column.
 *
 * The input is a geometry (form, width, ASCII or not) and names separated by bytes 0. The result is safe text, at most
 * a small multiple of the input long, fits its column, is the same on a second call, and differs where the names
 * differ. The input also selects a real mangled name and chains of suffixes for it.
 *
 * fuzz: -timeout=10 -rss_limit_mb=768 -max_len=4096
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text/demangle.h"
#include "text/names.h"
#include "text/text.h"

enum {
    NAMES_MAX = 24,
    DISTINCT_FROM = 16, /* from this width on all names differ */
    SUFFIXED_FROM = 4,  /* names that differ in a suffix only */
    CHAIN_MAX = 8,
    DEMANGLED_MAX = 64 << 10 /* text/demangle.c */
};

static void check_safe(const char *text, size_t raw)
{
    size_t length = strlen(text);
    MUST(length <= 4 * (raw > DEMANGLED_MAX ? raw : DEMANGLED_MAX) + 64);
    for (const char *end = text + length; text < end;) {
        uint32_t code = 0;
        size_t n = rtl_utf8_decode(text, (size_t)(end - text), &code);
        MUST(n && (rtl_text_code_is_safe(code) || code == 0x2026)); /* the ellipsis */
        text += n;
    }
}

/* The pure functions, one name at a time. */
static void check_one(const char *raw, size_t length)
{
    char *full = rtl_name_full(raw, length);
    MUST(full);
    char *plain = rtl_name_template(full), *brief = rtl_name_short(raw, full);
    MUST(plain && brief);
    check_safe(full, length);
    check_safe(plain, length);
    check_safe(brief, length);
    MUST(*brief || !*full);
    MUST(rtl_name_family(raw, full) < RTL_FAMILY_COUNT);
    for (int width = 0; width < 40; width += 3) {
        char cut[200];
        rtl_text_cut(cut, sizeof cut, full, width, width % 5, width % 2);
        check_safe(cut, length);
        MUST(rtl_text_columns(cut) <= width);
    }
    char small[16];
    size_t written = rtl_text_escape(small, sizeof small, raw, length);
    MUST(written < sizeof small && written == strlen(small));
    check_safe(small, length);
    free(full);
    free(plain);
    free(brief);
}

/* Names as compilers make them; the third has more references than the viewer demangles itself. */
static const char *const bases[] = {
    "_Z6kernelPfi",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "_Z3bigI1AILi1EES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_EvT_T0_T1_",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    "_ZN12_GLOBAL__N_15scaleIfEEvT_",
    "_Z1fIiEvT_",
    "_Z1fIZ1gvEUlfE2_EvT_",
    "_ZZ1gvENKUlvE_clEv",
};
static const char *const suffixes[] = {".constprop.0",
                                       ".isra.0",
                                       ".part.3",
                                       ".cold",
                                       ".kd",
                                       ".llvm.9013257",
                                       ".internalized",
                                       ".intern.0a1b2c3d4e5f6071",
                                       "__amdgpu_device",
                                       "_clone_0",
                                       "$jit$5f3a9c01$",
                                       "$v2$",
                                       "_v1",
                                       ".LTHUNK0",
                                       "~0123456789abcdef",
                                       "@@ROCM_6",
                                       ".",
                                       "$"};

static const char *add_suffixes(char *out, size_t size, const char *base, const uint8_t *data, size_t count)
{
    size_t used = (size_t)snprintf(out, size, "%s", base), begins = used;
    for (size_t i = 0; i < count; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s", suffixes[data[i] % (sizeof suffixes / sizeof *suffixes)]);
    return out + begins;
}

/* Check a real name with a chain of suffixes: the name is demangled as without it, and the suffixes follow. */
static void check_suffix(const char *base, const char *raw, const char *suffix)
{
    char shown[600], *whole = rtl_name_full(base, strlen(base)), *full = rtl_name_full(raw, strlen(raw));
    size_t kept = strlen(suffix);
    MUST(whole && full && *whole != '_');
    if (kept >= 3 && !strcmp(suffix + kept - 3, ".kd")) /* every kernel's descriptor has it */
        kept -= 3;
    snprintf(shown, sizeof shown, kept ? "%s [clone %.*s]" : "%s", whole, (int)kept, suffix);
    MUST(!strcmp(full, shown));
    char *brief = rtl_name_short(raw, full), *without = rtl_name_short(base, whole);
    snprintf(shown, sizeof shown, kept ? "%s %.*s" : "%s", without, (int)kept, suffix);
    MUST(brief && !strcmp(brief, shown));
    free(whole);
    free(full);
    free(brief);
    free(without);
}

static void check_suffixes(const uint8_t *data, size_t size)
{
    char raw[3][400];
    const char *base = bases[data[0] % (sizeof bases / sizeof *bases)];
    size_t first = data[1] % CHAIN_MAX, second;
    first = first < size - 2 ? first : size - 2;
    second = size - 2 - first < CHAIN_MAX ? size - 2 - first : CHAIN_MAX;
    snprintf(raw[0], sizeof raw[0], "%s", base);
    check_suffix(base, raw[1], add_suffixes(raw[1], sizeof raw[1], base, data + 2, first));
    check_suffix(base, raw[2], add_suffixes(raw[2], sizeof raw[2], base, data + 2 + first, second));
    struct rtl_names *names = rtl_names_create();
    MUST(names);
    for (int n = 0; n < 4; n++) {
        char cell[3][200];
        int width = SUFFIXED_FROM + (data[1] >> 3) + 9 * n;
        for (int i = 0; i < 3; i++) {
            const char *text = rtl_names_cell(names, (uint32_t)i + 2, raw[i], strlen(raw[i]),
                                              (enum rtl_name_form)(data[0] >> 4 & 3), width, data[0] & 0x80);
            MUST(rtl_text_columns(text) <= width && strlen(text) < sizeof cell[i]);
            strcpy(cell[i], text);
            for (int j = 0; j < i; j++)
                MUST(!strcmp(raw[i], raw[j]) || strcmp(cell[i], cell[j]) != 0);
        }
    }
    rtl_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *raw[NAMES_MAX];
    size_t length[NAMES_MAX];
    const char *cell[NAMES_MAX];
    int count = 0;
    if (size < 2)
        return 0;
    check_suffixes(data, size);
    enum rtl_name_form form = (enum rtl_name_form)(data[0] % RTL_NAME_FORM_COUNT);
    bool ascii = data[0] & 0x80;
    int width = data[1] % 100;
    struct rtl_names *names = rtl_names_create();
    MUST(names);
    for (size_t at = 2; at < size && count < NAMES_MAX;) {
        const uint8_t *zero = memchr(data + at, 0, size - at);
        size_t bytes = zero ? (size_t)(zero - data) - at : size - at;
        raw[count] = malloc(bytes + 1); /* terminated, like the reader's names */
        MUST(raw[count]);
        memcpy(raw[count], data + at, bytes);
        raw[count][bytes] = '\0';
        length[count++] = bytes;
        at += bytes + 1;
    }
    for (int i = 0; i < count; i++) {
        check_one(raw[i], length[i]);
        cell[i] = rtl_names_cell(names, (uint32_t)i + 2, raw[i], length[i], form, width, ascii);
        check_safe(cell[i], length[i]);
        MUST(width == RTL_NAMES_WHOLE || rtl_text_columns(cell[i]) <= width);
        rtl_names_match(names, (uint32_t)i + 2, raw[i], length[i], i ? raw[i - 1] : "x");
    }
    for (int i = 0; i < count; i++) {
        MUST(!strcmp(cell[i], rtl_names_cell(names, (uint32_t)i + 2, raw[i], length[i], form, width, ascii)));
        for (int j = 0; j < i; j++)
            MUST((width && width < DISTINCT_FROM) || strcmp(cell[i], cell[j]) != 0);
    }
    rtl_names_free(names);
    for (int i = 0; i < count; i++)
        free(raw[i]);
    return 0;
}
