/*
 * Messages to the user outside of the screen: one line on standard error. Only this file of the viewer writes there.
 *
 * The finished line is escaped, because anybody may have chosen the file names, words of the command line and database
 * contents in it, and terminals obey control characters.
 */
#ifndef RTL_OPTIONS_COMPLAIN_H
#define RTL_OPTIONS_COMPLAIN_H

#include <stdarg.h>
#include <stdbool.h>

/* Prints "rtl-top: ..." and a newline. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the line without prefix and newline; the caller frees it. NULL without memory. */
char *rtl_complaint(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Flushes standard output. Complains and returns false if a write failed. A reader that has closed its pipe is no
 * error. */
bool rtl_stdout_written(void);

#endif
