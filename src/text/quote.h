/*
 * Writes strings of JSON and cells of CSV, piece by piece, without terminal control characters.
 *
 * json-c writes complete JSON objects elsewhere. For the many strings of a trace it is up to 4 times slower, and it
 * does not escape DEL, control characters of two bytes, and invalid UTF-8.
 */
#ifndef RTL_TEXT_QUOTE_H
#define RTL_TEXT_QUOTE_H

#include <stddef.h>

/* JavaScript and jq before 1.7 read numbers as doubles, which round integers from here on. In all JSON that rtl-top
 * writes, the twin KEY_text follows an integer KEY of this value or more: the same digits as a string. */
#define RTL_JSON_EXACT (1ull << 53)
#define RTL_JSON_TWIN  "_text"

/* The caller's function that receives the pieces. */
typedef void rtl_quote_put(void *to, const char *bytes, size_t count);
rtl_quote_put rtl_quote_to_file; /* `to` is a FILE */

/* Write a string with its quotes. Unprintable characters become \uXXXX, invalid UTF-8 becomes U+FFFD. */
void rtl_quote_json(rtl_quote_put *put, void *to, const char *text);

/*
 * Write a JSON text, on one line, as the content of a script element in an HTML page. The text keeps its meaning, but
 * contains no "<", ">" or "&", so no string in it can end the element or begin another one. Unprintable characters and
 * invalid UTF-8 are escaped as above: all of them lie in strings.
 */
void rtl_quote_script(rtl_quote_put *put, void *to, const char *json, size_t length);

/*
 * Write a cell (RFC 4180), quoted if necessary. Unprintable characters and line ends are escaped as in text.h, so each
 * record is one line. An apostrophe precedes a cell that a spreadsheet would read as a formula (it begins with = + - or
 * @); no kernel's name begins so, but a file may contain anything.
 */
void rtl_quote_csv(rtl_quote_put *put, void *to, const char *text);

/* Append a word of a shell's command line to a string in a buffer of `size` bytes, as safe text (text.h): quoted where
 * necessary, with $'...' (bash, zsh) around a quote or unsafe bytes. */
void rtl_quote_shell(char *out, size_t size, const char *word);

#endif
