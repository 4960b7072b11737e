/*
 * The question when the screen of a command is left that rtl-top itself has started (rtl-top run): what shall become of
 * it? Pure.
 */
#ifndef RTL_TUI_LEAVE_H
#define RTL_TUI_LEAVE_H

#include <stdint.h>

/* X(symbol, key, name on the menu, what happens, what happens when it was told to end before) */
#define RTL_LEAVE_ANSWERS(X)                                                                      \
    X(RUNNING, 'l', "l", "leave it running", "leave it to end by itself")                         \
    X(END, 'e', "e", "end it (SIGTERM), and leave when it has ended", "end it at once (SIGKILL)") \
    X(STAY, 's', "s", "stay here", "stay here")

#define RTL_ENUM_ANSWER(sym, ...) RTL_LEAVE_##sym,
enum rtl_leave_answer { RTL_LEAVE_ANSWERS(RTL_ENUM_ANSWER) RTL_LEAVE_COUNT };
#undef RTL_ENUM_ANSWER

/* A key on the question, whose chosen line is *menu: the answer, or RTL_LEAVE_COUNT while there is none. */
enum rtl_leave_answer rtl_leave_key(uint32_t key, int *menu);

#endif
