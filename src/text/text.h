/*
 * Text that is safe to put on a terminal: what arrives from another process is escaped, measured and cut here. Pure.
 *
 * "Safe text" below is UTF-8 in which every code point takes exactly one column and none controls the terminal.
 * Everything else is shown as an escape: \x1b for bytes, \u{202e} for code points.
 */
#ifndef RTL_TEXT_TEXT_H
#define RTL_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one code point of at most `left` bytes; returns its length, or 0 when the bytes are not valid UTF-8. */
size_t rtl_utf8_decode(const char *text, size_t left, uint32_t *code);
/* Encodes one code point; returns its length (1..4). `out` has room for 4 bytes and gets no terminator. */
size_t rtl_utf8_encode(char *out, uint32_t code);

/* True for code points that take exactly one column in every terminal and control nothing. */
bool rtl_text_code_is_safe(uint32_t code);

/* How many bytes from the first are printable ASCII, which needs no escape. */
size_t rtl_text_plain(const char *bytes, size_t length);

/* Untrusted bytes -> safe text, terminated, never cutting an escape in two. Returns the bytes written. */
size_t rtl_text_escape(char *out, size_t size, const char *bytes, size_t length);

/* True for what is printed and nothing else: letters of all scripts, however wide; no control, no mark that hides. */
bool rtl_text_code_is_printable(uint32_t code);

/* Untrusted bytes -> a line for a stream, where width doesn't matter: what is printable stays, the rest is escaped as
 * above. At most 4 bytes for each. For file names and messages; names of kernels on the screen are safe text. */
size_t rtl_text_line(char *out, size_t size, const char *bytes, size_t length);

/* One step of both: the code point that `bytes` begins with, as it is if it `stays`, or its escape. Returns how many
 * bytes it took; `piece` gets `*length` bytes, no terminator. */
enum { RTL_TEXT_PIECE = 16 };
size_t rtl_text_piece(const char *bytes, size_t left, bool stays(uint32_t), char piece[RTL_TEXT_PIECE], size_t *length);

/* Columns that safe text takes. */
int rtl_text_columns(const char *text);
/* What printf's %*s needs as a width for safe text to take `columns`, which it counts in bytes. */
int rtl_text_pad(const char *text, int columns);
/* Byte offset of a column in safe text; the length when the text is shorter. */
size_t rtl_text_offset(const char *text, int column);

/*
 * Cuts safe text in the middle to at most `width` columns, keeping `keep_end` columns at its end at least, and prefers
 * to cut between tokens. The cut shows as "…", or ".." with `ascii`. Text that fits is copied as it is.
 */
void rtl_text_cut(char *out, size_t size, const char *text, int width, int keep_end, bool ascii);

/* Where a token of a kernel name ends: true when a cut between the two bytes leaves both parts readable. */
bool rtl_text_token_edge(char before, char after);

/* Appends to a string of bounded size, as far as there is room. */
void rtl_text_append(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ASCII case is ignored. An empty needle is found everywhere. */
bool rtl_text_contains(const char *text, const char *needle);
bool rtl_text_begins(const char *text, const char *needle);

#endif
