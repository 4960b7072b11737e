/* What puts text into a terminal's clipboard (OSC 52), if the terminal lets it. Pure. */
#ifndef RTL_TUI_CLIPBOARD_H
#define RTL_TUI_CLIPBOARD_H

#include <stddef.h>

/* The bytes to write; to be freed, NULL without memory. */
char *rtl_clipboard_sequence(const char *text, size_t *length);

#endif
