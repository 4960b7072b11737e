/* JSON strings and CSV cells. See quote.h. */
#include "text/quote.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

/* Write the leading bytes that need no escape: printable ASCII except the quote and `other`. Return their number. */
static size_t quote_plain(rtl_quote_put *put, void *to, const char *text, size_t left, char other)
{
    size_t plain = 0;
    while (plain < left && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' && text[plain] != other)
        plain++;
    if (plain)
        put(to, text, plain);
    return plain;
}

void rtl_quote_json(rtl_quote_put *put, void *to, const char *text)
{
    size_t left = strlen(text);
    put(to, "\"", 1);
    while (left) {
        size_t plain = quote_plain(put, to, text, left, '\\');
        text += plain;
        left -= plain;
        if (!left)
            break;
        char piece[16];
        uint32_t code = 0xfffd;
        size_t step = rtl_utf8_decode(text, left, &code);
        if (*text == '"' || *text == '\\')
            put(to, "\\", 1);
        if (step && rtl_text_code_is_printable(code))
            put(to, text, step);
        else if (code < 0x10000)
            put(to, piece, (size_t)snprintf(piece, sizeof piece, "\\u%04x", code));
        else
            put(to, piece,
                (size_t)snprintf(piece, sizeof piece, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                                 0xdc00 + (code & 0x3ff)));
        step = step ? step : 1;
        text += step;
        left -= step;
    }
    put(to, "\"", 1);
}

/* True if a spreadsheet would read a formula: = + - @ or one of their wide forms. */
static bool begins_formula(const char *text)
{
    uint32_t code = 0;
    rtl_utf8_decode(text, strlen(text), &code);
    return code == '=' || code == '+' || code == '-' || code == '@' || code == 0xff1d || code == 0xff0b ||
           code == 0xff0d || code == 0xff20;
}

void rtl_quote_csv(rtl_quote_put *put, void *to, const char *text)
{
    size_t left = strlen(text);
    bool quoted = strpbrk(text, ",\";'") != NULL || *text == ' ';
    if (quoted)
        put(to, "\"", 1);
    if (begins_formula(text))
        put(to, "'", 1);
    while (left) {
        size_t plain = quote_plain(put, to, text, left, '"');
        text += plain;
        left -= plain;
        if (!left)
            break;
        char piece[RTL_TEXT_PIECE];
        size_t n, step = rtl_text_piece(text, left, rtl_text_code_is_printable, piece, &n);
        if (*text == '"')
            put(to, "\"", 1);
        put(to, piece, n);
        text += step;
        left -= step;
    }
    if (quoted)
        put(to, "\"", 1);
}
