/* The progress of long work: a line on standard error that is overwritten and finally cleared. It is written only to a
 * terminal, and after half a second of work. */
#ifndef RTL_OPTIONS_PROGRESS_H
#define RTL_OPTIONS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* `what` describes the work, such as "diff: reading", `name` its object. Both are escaped. */
void rtl_progress_begin(const char *what, const char *name);

/* `done` of `total`; total 0 = unknown. */
void rtl_progress_at(uint64_t done, uint64_t total);

/* Updates the elapsed time. Cheap enough for rtl_db_stop_when; always returns false, which lets the work go on. */
bool rtl_progress_tick(void);

/* Clears the line for other output. The next update draws it again. */
void rtl_progress_hide(void);
void rtl_progress_end(void);

#endif
