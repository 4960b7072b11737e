/*
 * What is told to the user outside of the screen: one line on standard error. Nothing else in the viewer writes there.
 *
 * The finished line is escaped, whatever was put into it: names of files, words of the command line, what SQLite says
 * of a database and what stands in one may come from anybody, and a terminal obeys.
 */
#ifndef RTL_OPTIONS_COMPLAIN_H
#define RTL_OPTIONS_COMPLAIN_H

#include <stdarg.h>
#include <stdbool.h>

/* Prints "rtl-top: ..." and a newline. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line alone, without prefix and newline; the caller frees it. NULL without memory. */
char *rtl_complaint(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Writes out what standard output holds. False when some of it couldn't be written, which was told then; that the
 * reader has gone away is no error. */
bool rtl_stdout_written(void);

#endif
