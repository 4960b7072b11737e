/* JSON strings and CSV cells. See quote.h. */
#include "text/quote.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

void rtl_quote_to_file(void *to, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, to);
}

/* Write the leading bytes that need no escape: printable ASCII except the `special` characters. Return their number. */
static size_t quote_plain(rtl_quote_put *put, void *to, const char *text, size_t left, const char *special)
{
    size_t plain = 0;
    while (plain < left && text[plain] >= 0x20 && text[plain] < 0x7f && !strchr(special, text[plain]))
        plain++;
    if (plain)
        put(to, text, plain);
    return plain;
}

static void quote_code(rtl_quote_put *put, void *to, uint32_t code)
{
    char piece[16];
    if (code < 0x10000)
        put(to, piece, (size_t)snprintf(piece, sizeof piece, "\\u%04x", code));
    else
        put(to, piece,
            (size_t)snprintf(piece, sizeof piece, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                             0xdc00 + (code & 0x3ff)));
}

/* Write text of JSON. `escape` precedes the special characters; if it is "", they are escaped by their numbers. */
static void quote_text(rtl_quote_put *put, void *to, const char *text, size_t left, const char *special,
                       const char *escape)
{
    while (left) {
        size_t plain = quote_plain(put, to, text, left, special);
        text += plain;
        left -= plain;
        if (!left)
            break;
        uint32_t code = 0xfffd;
        size_t step = rtl_utf8_decode(text, left, &code);
        bool is_special = *text && strchr(special, *text);
        if (is_special && *escape)
            put(to, escape, 1);
        if (step && rtl_text_code_is_printable(code) && (!is_special || *escape))
            put(to, text, step);
        else
            quote_code(put, to, code);
        step = step ? step : 1;
        text += step;
        left -= step;
    }
}

void rtl_quote_json(rtl_quote_put *put, void *to, const char *text)
{
    put(to, "\"", 1);
    quote_text(put, to, text, strlen(text), "\"\\", "\\");
    put(to, "\"", 1);
}

void rtl_quote_script(rtl_quote_put *put, void *to, const char *json, size_t length)
{
    quote_text(put, to, json, length, "<>&", "");
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
        size_t plain = quote_plain(put, to, text, left, "\"");
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

void rtl_quote_shell(char *out, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    bool bare = *word && !word[strspn(word, plain)], safe = !strchr(word, '\'');
    size_t step = 1;
    for (const char *at = word; *at && safe; at += step) {
        uint32_t code;
        step = rtl_utf8_decode(at, strlen(at), &code);
        safe = step && rtl_text_code_is_safe(code);
    }
    rtl_text_append(out, size, bare ? "%s" : safe ? "'%s'" : "$'", word);
    for (const char *at = word; *at && !safe; at++)
        rtl_text_append(out, size, *at < ' ' || *at > '~' || *at == '\'' || *at == '\\' ? "\\x%02x" : "%c",
                        (unsigned char)*at);
    rtl_text_append(out, size, "%s", safe ? "" : "'");
}
