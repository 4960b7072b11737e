/*
 * Escapes, measures and cuts untrusted text for the terminal. Pure.
 *
 * "Safe text" is UTF-8 in which every code point takes exactly one column and none controls the terminal. Everything
 * else is escaped: \x1b for bytes, \u{202e} for code points.
 */
#ifndef RTL_TEXT_TEXT_H
#define RTL_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decode one code point of at most `left` bytes; return its length, or 0 for invalid UTF-8. */
size_t rtl_utf8_decode(const char *text, size_t left, uint32_t *code);
/* Encode one code point; return its length (1..4). `out` has room for 4 bytes and gets no terminator. */
size_t rtl_utf8_encode(char *out, uint32_t code);

/* True for code points that take exactly one column in every terminal and control nothing. */
bool rtl_text_code_is_safe(uint32_t code);

/* Return the number of leading bytes that are printable ASCII, which needs no escape. */
size_t rtl_text_plain(const char *bytes, size_t length);

/* Untrusted bytes -> safe text, terminated, never cutting an escape in two. Returns the bytes written. */
size_t rtl_text_escape(char *out, size_t size, const char *bytes, size_t length);

/* True for printable characters of any width: no control character, no mark that hides or reorders text. */
bool rtl_text_code_is_printable(uint32_t code);

/* Untrusted bytes -> a line for a stream, where width doesn't matter: printable characters stay, others are escaped.
 * At most 4 bytes per byte. For file names and messages; the screen shows safe text. */
size_t rtl_text_line(char *out, size_t size, const char *bytes, size_t length);

/* Convert the first code point of `bytes`: copy it if `stays` returns true, else write its escape. Return the bytes
 * read; `piece` gets `*length` bytes, no terminator. */
enum { RTL_TEXT_PIECE = 16 };
size_t rtl_text_piece(const char *bytes, size_t left, bool stays(uint32_t), char piece[RTL_TEXT_PIECE], size_t *length);

/* Columns that safe text takes. */
int rtl_text_columns(const char *text);
/* Return the width for printf's %*s, which counts bytes, so that safe text takes `columns`. */
int rtl_text_pad(const char *text, int columns);
/* Return the byte offset of a column in safe text, or the length of a shorter text. */
size_t rtl_text_offset(const char *text, int column);

/* Cut safe text in the middle to at most `width` columns. `keep_end` is the length of the part behind the cut (0: two
 * fifths of the width); the cut moves to a nearby edge between tokens. It shows as "…", or ".." with `ascii`. */
void rtl_text_cut(char *out, size_t size, const char *text, int width, int keep_end, bool ascii);

/* Append to a string in a buffer of `size` bytes; cut what does not fit. */
void rtl_text_append(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ASCII case is ignored. An empty needle is found everywhere. */
bool rtl_text_contains(const char *text, const char *needle);
bool rtl_text_begins(const char *text, const char *needle);

#endif
