/*
 * The terminal. screen_curses.c is the only file that knows curses; this is all that the rest sees of it.
 *
 * The terminal is restored on every way out: rtl_screen_close, SIGTERM, SIGHUP, SIGINT and SIGQUIT (through the event
 * below), crashes (in the signal handler itself), and while the viewer is stopped with Ctrl-Z.
 */
#ifndef RTL_TUI_SCREEN_H
#define RTL_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/theme_names.h"
#include "tui/frame.h"

enum rtl_event_kind {
    RTL_EVENT_TIMEOUT, /* the deadline has passed */
    RTL_EVENT_KEY,
    RTL_EVENT_RESIZE, /* also after Ctrl-Z and fg: draw afresh */
    RTL_EVENT_SIGNAL, /* a signal that ends the viewer: close and raise it again */
    RTL_EVENT_GONE,   /* the terminal went away */
};

struct rtl_event {
    enum rtl_event_kind kind;
    uint32_t key; /* RTL_KEY_* of tui/keys.h */
    int signal;
};

/* False, with one line in `why`, when there is no terminal that can be drawn on. */
bool rtl_screen_open(enum rtl_theme theme, bool mouse, char *why, size_t why_bytes);
void rtl_screen_close(void); /* does nothing when it is not open */

/* What draws, and its version. */
const char *rtl_screen_library(void);

void rtl_screen_size(int *rows, int *cols);

/* Sends what differs from the last frame; everything with `repaint`. */
void rtl_screen_show(const struct rtl_frame *frame, bool repaint);

/* Waits for a key, a signal or the deadline (CLOCK_MONOTONIC). */
struct rtl_event rtl_screen_wait(uint64_t deadline_ns);

/* While something takes long: whether the user wants to leave, by q or by a signal. What is typed meanwhile is kept for
 * rtl_screen_wait. Cheap enough to be asked all the time. */
bool rtl_screen_leaving(void);

/* Puts text into the terminal's clipboard (OSC 52), if the terminal lets it. */
void rtl_screen_copy(const char *text);

/* Ends the process as the signal would have, after rtl_screen_close. */
_Noreturn void rtl_screen_die(int signal);

#endif
