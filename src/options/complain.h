/*
 * Messages to the user outside of the screen, and the progress of long work: one line on standard error. Only this file
 * of the viewer writes there.
 *
 * The finished line is escaped, because anybody may have chosen the file names, words of the command line and database
 * contents in it, and terminals obey control characters.
 */
#ifndef RTL_OPTIONS_COMPLAIN_H
#define RTL_OPTIONS_COMPLAIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* Prints "rtl-top: ..." and a newline. rtl_refuse returns `status`. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
int rtl_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define RTL_WRONG(...) rtl_refuse(RTL_READER_USAGE, __VA_ARGS__)

/* Returns the line without prefix and newline; the caller frees it. NULL without memory. */
char *rtl_complaint(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Flushes standard output. Complains and returns false if a write failed. A reader that has closed its pipe is no
 * error. */
bool rtl_stdout_written(void);
/* Likewise; returns `status`, or RTL_DB_FULL if a write failed. */
int rtl_exit_status(int status);

/*
 * Progress is a line that is overwritten and finally cleared. rtl-top writes the line only to a terminal, and
 * after half a second of work.
 */

/* `what` describes the work, such as "diff: reading", `name` its object. Both are escaped. */
void rtl_progress_begin(const char *what, const char *name);

/* `done` of `total`; total 0 = unknown. */
void rtl_progress_at(uint64_t done, uint64_t total);

/* Updates the elapsed time. Cheap enough for rtl_db_stop_when; always returns false, which lets the work go on. */
bool rtl_progress_tick(void);

void rtl_progress_end(void);

#endif
