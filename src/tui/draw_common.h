/* Pieces that several views draw. All functions are pure. */
#ifndef RTL_TUI_DRAW_COMMON_H
#define RTL_TUI_DRAW_COMMON_H

#include "tui/cursor.h"
#include "tui/frame.h"

/* Mark of a recording, in the first line of every view. */
#define RTL_RECORD_MARK "REC"
/* Mark before the name of a kernel of which some dispatches run a probed copy. */
#define RTL_PROBED_MARK "probed "

/* Append "label value" to a line that has grown to *col. If the piece doesn't fit, draw nothing and return false: a
 * number that is cut would look like another number. */
bool rtl_draw_piece(struct rtl_frame *frame, struct rtl_rect at, int *col, enum rtl_role role, const char *label,
                    const char *value);
/* A fact "label text". Draw as many as fit into the lines; returns the lines used. */
struct rtl_draw_fact {
    const char *label;
    char text[96];
};
int rtl_draw_facts(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_draw_fact *facts, int count,
                   int lines);
/* Format a time in the chosen units, or RTL_NONE. */
struct rtl_number rtl_draw_time(const struct rtl_ui *ui, bool measured, uint64_t ns);
void rtl_draw_header(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const char *title);
/* Draw status, message or prompt. */
void rtl_draw_status(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
void rtl_draw_coverage(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
/* Draw the sums in one line, and the first kernels below it where there are rows. */
void rtl_draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
/* Draw the complete name, wrapped. */
void rtl_draw_name(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row);
/* Draw the name in its column, scrolled sideways by ui->name_left. */
void rtl_draw_name_cell(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int col, int width,
                        enum rtl_role role, const struct rtl_row *row);
/* Mark the line of the cursor. */
void rtl_draw_cursor(struct rtl_frame *frame, int line, int cols);

/* Compare probed dispatches with the kernel's other ones: those at the same time, or in recordings all since the start:
 * "110µs: x1.07". False when neither is known. */
bool rtl_draw_others(const struct rtl_ui *ui, const struct rtl_row *row, uint64_t probed_ns, char *out, size_t size);

/* --- the key bar (key_bar.c) --- */
enum { RTL_KEY_BUTTONS_MAX = 2 * RTL_ACTION_COUNT };
/* A key at a column; its label follows the key's name. Keys that share a label show it once, after the last key. */
struct rtl_key_button {
    uint32_t key;
    int col, cols;
    const char *label;
};
/* Place the keys that fit; returns their number. */
int rtl_key_bar(const struct rtl_ui *ui, int cols, struct rtl_key_button buttons[RTL_KEY_BUTTONS_MAX]);
void rtl_draw_keys(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at);
/* False for a key that does nothing for these processes: no probe, no other rank, no HIP call was recorded ... */
bool rtl_key_is_useful(const struct rtl_ui *ui, enum rtl_action action);

#endif
