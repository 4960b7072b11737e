/*
 * The screen as memory: a grid of cells, each a code point with a meaning (role). Pure; drawing knows no terminal.
 *
 * Every write is clipped to the frame, so drawing works at any size. With `ascii` every mark has an ASCII twin. Texts
 * are safe text (text/text.h).
 */
#ifndef RTL_TUI_FRAME_H
#define RTL_TUI_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(symbol, attribute, meaning)
 * attribute: enum rtl_theme_mark (themes.h), used without colours.
 * meaning: RTL_COLOUR_MEANINGS (themes.h), which decides the colour. No meaning is in a colour alone: there is also a
 * mark ("!", ">", "[STALE]").
 */
#define RTL_ROLES(X)             \
    X(NORMAL, NONE, TEXT)        \
    X(TITLE, BOLD, PRESS)        \
    X(LABEL, NONE, QUIET)        \
    X(VALUE, BOLD, TEXT)         \
    X(HEADER, REVERSE, HEAD)     \
    X(HEADER_SORT, BOLD, SORT)   \
    X(MENU, NONE, TEXT)          \
    X(SELECTED, REVERSE, CURSOR) \
    X(BAR, NONE, AMOUNT)         \
    X(SPARK, NONE, AMOUNT)       \
    X(GOOD, BOLD, WELL)          \
    X(WARN, BOLD, ACT)           \
    X(ALERT, REVERSE, STOPPED)   \
    X(DIM, DIM, QUIET)           \
    X(KEY, BOLD, PRESS)          \
    X(BUTTON, REVERSE, HEAD)     \
    X(STATUS, NONE, TEXT)        \
    X(PROMPT, BOLD, TEXT)        \
    X(WORSE, BOLD, ACT)          \
    X(BETTER, NONE, WELL)

#define RTL_ENUM_ROLE(sym, ...) RTL_ROLE_##sym,
enum rtl_role { RTL_ROLES(RTL_ENUM_ROLE) RTL_ROLE_COUNT };
#undef RTL_ENUM_ROLE

struct rtl_cell {
    uint32_t code;
    uint8_t role;
};

struct rtl_frame {
    int rows, cols;
    bool ascii;
    struct rtl_cell *cells;
    int cursor_row, cursor_col; /* place of the terminal's cursor */
    bool cursor_shown;          /* only in a prompt */
    int numbers_cut;            /* texts that rtl_frame_right cut since the last reset; tests expect 0 */
};

struct rtl_rect {
    int row, col, rows, cols;
};

/* Resize (1x1 to 1000x1000) and clear. False without memory; the frame is then empty. */
bool rtl_frame_reset(struct rtl_frame *frame, int rows, int cols, bool ascii);
void rtl_frame_free(struct rtl_frame *frame);

/* Write at most `width` columns from (row, col); "…" ends a text that is cut. Returns the columns written. */
int rtl_frame_put(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
/* Likewise without "…": the caller marks the cut, or the text continues elsewhere. */
int rtl_frame_put_part(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
int rtl_frame_printf(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Write right-aligned in `width` columns; the text must fit. */
void rtl_frame_right(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
void rtl_frame_fill(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, uint32_t code);
/* Draw a border with a title in its upper edge, blank inside; nothing below 2x2 cells. */
void rtl_frame_box(struct rtl_frame *frame, struct rtl_rect at, enum rtl_role role, const char *title);
/* Change the role of cells. */
void rtl_frame_paint(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role);

/* Draw a bar in eighths of a column ("#" in ASCII); values above 0 get at least one. */
void rtl_frame_bar(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, double value);
/* Draw one mark of a sparkline; level 0 to 7, -1 for none. */
void rtl_frame_spark(struct rtl_frame *frame, int row, int col, enum rtl_role role, int level);

#endif
