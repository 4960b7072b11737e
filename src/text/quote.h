/*
 * Text in the formats that programs read, written piece by piece: a string of JSON, a cell of CSV. What controls a
 * terminal doesn't come through either.
 *
 * Where whole objects of JSON are made json-c writes them. For a trace, with several strings a row, it would take up to
 * 4 times as long for each, and it lets DEL, control characters of two bytes and what is no UTF-8 through.
 */
#ifndef RTL_TEXT_QUOTE_H
#define RTL_TEXT_QUOTE_H

#include <stddef.h>

/* Where it goes, piece by piece. */
typedef void rtl_quote_put(void *to, const char *bytes, size_t count);

/* With its quotes. What is not printable is \uXXXX, what is no UTF-8 is U+FFFD. */
void rtl_quote_json(rtl_quote_put *put, void *to, const char *text);

/*
 * A cell of text (RFC 4180), quoted where it has to be. What is not printable, line ends too, stands as the escapes of
 * text.h, so that a line is a record. A cell that a spreadsheet would take for a formula (it begins with = + - or @)
 * gets an apostrophe before it; no name of a kernel begins so, but a file from elsewhere may hold anything.
 */
void rtl_quote_csv(rtl_quote_put *put, void *to, const char *text);

#endif
