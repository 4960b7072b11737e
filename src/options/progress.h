/*
 * How far long work has got: a line on standard error that is written over and cleared at the end. Only where that is
 * a terminal, and from half a second on; elsewhere nothing is ever written.
 */
#ifndef RTL_OPTIONS_PROGRESS_H
#define RTL_OPTIONS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* `what` is being done, such as "diff: reading a.db"; whatever stands in it is escaped. */
void rtl_progress_begin(const char *what, const char *name);

/* So much of `total` is done; 0 when nobody knows how much it is. */
void rtl_progress_at(uint64_t done, uint64_t total);

/* The same, time alone: cheap enough to be asked all the time, as rtl_db_stop_when does. Always false: goes on. */
bool rtl_progress_tick(void);

/* Clears the line for something else; it comes back. */
void rtl_progress_hide(void);
void rtl_progress_end(void);

#endif
