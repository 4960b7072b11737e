/*
 * libFuzzer target: kernel names, which another process chooses, demangled, shortened, escaped and cut to a column.
 *
 * The input is a geometry (form, width, ASCII or not) and names separated by bytes 0. The result is safe text, at most
 * a small multiple of the input long, fits its column, is the same on a second call, and differs where the names
 * differ.
 *
 * fuzz: -timeout=10 -rss_limit_mb=768 -max_len=4096
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text/demangle.h"
#include "text/demangle_partly.h"
#include "text/names.h"
#include "text/text.h"

enum {
    NAMES_MAX = 24,
    DISTINCT_FROM = 16,       /* from this width on two names never look alike */
    DEMANGLED_MAX = 64 << 10, /* text/demangle.c */
    PARTLY_MAX = 16 << 10     /* text/demangle_partly.c */
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
    char *partly = rtl_demangle_partly(full);
    MUST(!partly || strlen(partly) <= PARTLY_MAX);
    if (partly)
        check_safe(partly, length);
    free(partly);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *raw[NAMES_MAX];
    size_t length[NAMES_MAX];
    const char *cell[NAMES_MAX];
    int count = 0;
    if (size < 2)
        return 0;
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
