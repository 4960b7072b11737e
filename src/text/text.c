/* Escaping, measuring and cutting text. See text.h. */
#include "text/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t rtl_utf8_decode(const char *text, size_t left, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    if (!left)
        return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t length = s[0] >= 0xf0 && s[0] <= 0xf4  ? 4
                    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                                  : 0;
    if (!length || length > left)
        return 0;
    uint32_t c = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return length;
}

size_t rtl_utf8_encode(char *out, uint32_t code)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; --i; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}

bool rtl_text_code_is_safe(uint32_t code)
{
    if (code >= 0x20 && code < 0x7f)
        return true;
    /* Latin, Greek, Cyrillic and Armenian letters take one column everywhere. The width of combining marks, wide
     * scripts, right-to-left and format characters depends on the terminal. */
    if (code == 0xad || (code >= 0x300 && code < 0x370) || (code >= 0x483 && code < 0x48a))
        return false;
    return code >= 0xa1 && code < 0x557;
}

size_t rtl_text_plain(const char *bytes, size_t length)
{
    size_t n = 0;
    while (n < length && bytes[n] >= 0x20 && bytes[n] < 0x7f)
        n++;
    return n;
}

bool rtl_text_code_is_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    /* marks that change the direction, join, hide or break text: the line would look like another one */
    static const uint32_t hidden[][2] = {{0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
                                         {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},
                                         {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i][0] && code <= hidden[i][1])
            return false;
    return (code & 0xfffe) != 0xfffe;
}

size_t rtl_text_piece(const char *bytes, size_t left, bool stays(uint32_t), char piece[RTL_TEXT_PIECE], size_t *length)
{
    uint32_t code = 0;
    size_t step = rtl_utf8_decode(bytes, left, &code);
    if (step && stays(code)) {
        memcpy(piece, bytes, step);
        *length = step;
    } else if (step && code >= 0x80) {
        *length = (size_t)snprintf(piece, RTL_TEXT_PIECE, "\\u{%x}", code);
    } else {
        step = 1;
        *length = (size_t)snprintf(piece, RTL_TEXT_PIECE, "\\x%02x", (unsigned char)*bytes);
    }
    return step;
}

static size_t escape_text(char *out, size_t size, const char *bytes, size_t length, bool stays(uint32_t))
{
    size_t used = 0, at = 0;
    if (!size)
        return 0;
    while (at < length) {
        size_t plain = rtl_text_plain(bytes + at, length - at < size - used ? length - at : size - used - 1);
        memcpy(out + used, bytes + at, plain); /* fast path: most names are plain */
        used += plain;
        at += plain;
        if (at == length)
            break;
        char piece[RTL_TEXT_PIECE];
        size_t n, step = rtl_text_piece(bytes + at, length - at, stays, piece, &n);
        if (used + n + 1 > size)
            break;
        memcpy(out + used, piece, n);
        used += n;
        at += step;
    }
    out[used] = 0;
    return used;
}

size_t rtl_text_escape(char *out, size_t size, const char *bytes, size_t length)
{
    return escape_text(out, size, bytes, length, rtl_text_code_is_safe);
}

size_t rtl_text_line(char *out, size_t size, const char *bytes, size_t length)
{
    return escape_text(out, size, bytes, length, rtl_text_code_is_printable);
}

int rtl_text_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

int rtl_text_pad(const char *text, int columns)
{
    return columns + (int)strlen(text) - rtl_text_columns(text);
}

size_t rtl_text_offset(const char *text, int column)
{
    size_t at = 0;
    while (text[at]) {
        if (((unsigned char)text[at] & 0xc0) != 0x80 && column-- <= 0)
            break;
        at++;
    }
    return at;
}

/* True if a token of a kernel name ends between the two bytes, so that a cut leaves both parts readable. */
static bool token_edge(char before, char after)
{
    bool word_before = isalnum((unsigned char)before) || (before & 0x80);
    bool word_after = isalnum((unsigned char)after) || (after & 0x80);
    if (word_before != word_after)
        return true;
    return !word_before; /* between two marks; inside a word only after a mark */
}

/* Return the end of a token nearest to `from`, at most 6 bytes away and within least..most; else `from`. */
static size_t edge_near(const char *text, size_t from, size_t least, size_t most)
{
    for (size_t away = 0; away <= 6; away++) {
        if (from >= least + away && from - away > 0 && token_edge(text[from - away - 1], text[from - away]))
            return from - away;
        if (from + away <= most && token_edge(text[from + away - 1], text[from + away]))
            return from + away;
    }
    return from;
}

void rtl_text_cut(char *out, size_t size, const char *text, int width, int keep_end, bool ascii)
{
    const char *mark = ascii ? ".." : "…";
    int mark_columns = ascii ? 2 : 1;
    int columns = rtl_text_columns(text);
    if (!size)
        return;
    if (width < 0)
        width = 0;
    if (columns <= width) {
        snprintf(out, size, "%s", text);
        return;
    }
    if (width <= mark_columns + 1) { /* too narrow for a mark */
        snprintf(out, size, "%.*s", (int)rtl_text_offset(text, width), text);
        return;
    }
    int room = width - mark_columns;
    int tail = keep_end > 0 ? keep_end : room * 2 / 5;
    if (tail > room - 1)
        tail = room - 1;
    /* Move the start of the tail to the end of a token (the tail may only shrink). The head gets the columns that
     * remain, and ends with a token, too. */
    size_t tail_at = rtl_text_offset(text, columns - tail);
    size_t end = strlen(text);
    size_t most = tail_at + 6 < end ? tail_at + 6 : end - 1;
    tail_at = edge_near(text, tail_at, tail_at, most > tail_at ? most : tail_at);
    while (tail_at < end &&
           (((unsigned char)text[tail_at] & 0xc0) == 0x80 || text[tail_at] == ',' || text[tail_at] == ' '))
        tail_at++; /* no incomplete character, no leading separator */
    tail = rtl_text_columns(text + tail_at);
    size_t head_end = rtl_text_offset(text, room - tail);
    size_t least = head_end > 6 ? head_end - 6 : 1;
    head_end = edge_near(text, head_end, least, head_end);
    while (head_end > 0 && ((unsigned char)text[head_end] & 0xc0) == 0x80)
        head_end--;
    snprintf(out, size, "%.*s%s%s", (int)head_end, text, mark, text + tail_at);
}

bool rtl_text_begins(const char *text, const char *needle)
{
    while (*needle && tolower((unsigned char)*text) == tolower((unsigned char)*needle))
        text++, needle++;
    return !*needle;
}

bool rtl_text_contains(const char *text, const char *needle)
{
    for (; *text; text++)
        if (rtl_text_begins(text, needle))
            return true;
    return !*needle;
}

void rtl_text_append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}
