/* Prompts on the status line and menus over a view: open one, handle its keys. Both functions return RTL_UI_*. */
#ifndef RTL_TUI_PROMPT_H
#define RTL_TUI_PROMPT_H

#include "tui/ui_state.h"

/* Answers to the question at the end of rtl-top run, while the command runs:
 * X(symbol, key, name on the menu, effect, effect after the first SIGTERM) */
#define RTL_LEAVE_ANSWERS(X)                                                                      \
    X(RUNNING, 'l', "l", "leave it running", "leave it to end by itself")                         \
    X(END, 'e', "e", "end it (SIGTERM), and leave when it has ended", "end it at once (SIGKILL)") \
    X(STAY, 's', "s", "stay here", "stay here")

#define RTL_ENUM_ANSWER(sym, ...) RTL_LEAVE_##sym,
enum rtl_leave_answer { RTL_LEAVE_ANSWERS(RTL_ENUM_ANSWER) RTL_LEAVE_COUNT };
#undef RTL_ENUM_ANSWER

/* Ask before a request that changes something outside the screen. `effect`: what yes does. Both are safe text. */
unsigned rtl_prompt_ask(struct rtl_ui *ui, unsigned request, const char *effect, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Write the process or processes of the screen: "4711 (serve)", "8 processes". */
void rtl_prompt_who(const struct rtl_ui *ui, char *out, size_t size);
unsigned rtl_prompt_open(struct rtl_ui *ui, int prompt);
unsigned rtl_prompt_key(struct rtl_ui *ui, uint32_t key);

/* Return the next column to the right (step 1) or left (-1), as they stand on the screen, that can be sorted by. */
enum rtl_column rtl_columns_beside(const struct rtl_ui *ui, enum rtl_column column, int step);

#endif
