/*
 * The terminal. Only screen_curses.c knows curses; other files use this interface.
 *
 * The terminal is restored on every exit: rtl_screen_close, SIGTERM, SIGHUP, SIGINT and SIGQUIT (through
 * RTL_EVENT_SIGNAL), crashes (in the signal handler), and while Ctrl-Z stops the viewer.
 */
#ifndef RTL_TUI_SCREEN_H
#define RTL_TUI_SCREEN_H

#include "options/theme_names.h"
#include "tui/frame.h"

enum rtl_event_kind {
    RTL_EVENT_TIMEOUT,
    RTL_EVENT_KEY,
    RTL_EVENT_RESIZE, /* also after Ctrl-Z and fg: repaint */
    RTL_EVENT_SIGNAL, /* a signal that ends the viewer: close, then rtl_screen_die */
    RTL_EVENT_GONE,   /* the terminal went away */
};

struct rtl_event {
    enum rtl_event_kind kind;
    uint32_t key; /* RTL_KEY_* of tui/keys.h */
    bool at_once; /* the key was waiting already: it was typed or read together with the previous key */
    int signal;
};

/* False with one line in `why` if there is no usable terminal. */
bool rtl_screen_open(enum rtl_theme theme, bool mouse, char *why, size_t why_bytes);
void rtl_screen_close(void); /* does nothing when closed */

/* Return the name and version of the curses library. */
const char *rtl_screen_library(void);

void rtl_screen_size(int *rows, int *cols);

/* Send the cells that differ from the last frame; all of them with `repaint`. */
void rtl_screen_show(const struct rtl_frame *frame, bool repaint);

/* Wait for a key, a signal or the deadline (CLOCK_MONOTONIC). */
struct rtl_event rtl_screen_wait(uint64_t deadline_ns);

/* True when the user wants to leave a long operation, by q or a signal. Keys are kept for rtl_screen_wait. Cheap enough
 * for an inner loop. */
bool rtl_screen_leaving(void);

/* Copy text to the terminal's clipboard (OSC 52), if the terminal allows it. */
void rtl_screen_copy(const char *text);

/* End the process by the signal, after rtl_screen_close. */
_Noreturn void rtl_screen_die(int signal);

#endif
