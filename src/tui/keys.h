/*
 * The keys: one line each, from which handling, key line, help screen and the tests of the manual are made.
 *
 * A key is a Unicode code point as the terminal sends it, or one of the RTL_KEY_* above them. Every function key has a
 * letter twin, because tmux, ssh and editors eat function keys.
 */
#ifndef RTL_TUI_KEYS_H
#define RTL_TUI_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define RTL_KEY_SPECIAL 0x110000u
enum {
    RTL_KEY_NONE = 0,
    RTL_KEY_TAB = 9,
    RTL_KEY_ENTER = 13,
    RTL_KEY_ESC = 27,
    RTL_KEY_BACKSPACE = 127,
    RTL_KEY_UP = RTL_KEY_SPECIAL,
    RTL_KEY_DOWN,
    RTL_KEY_LEFT,
    RTL_KEY_RIGHT,
    RTL_KEY_PAGE_UP,
    RTL_KEY_PAGE_DOWN,
    RTL_KEY_HOME,
    RTL_KEY_END,
    RTL_KEY_IGNORED, /* a sequence that we don't know: swallowed whole */
    RTL_KEY_F0 = RTL_KEY_SPECIAL + 0x100,
};
/* An event of the mouse is a key, too: what it was, and where, from 0. */
enum { RTL_MOUSE_UP, RTL_MOUSE_DOWN, RTL_MOUSE_CLICK };
#define RTL_KEY_MOUSE 0x80000000u
#define RTL_MOUSE_EVENT(kind, row, col) \
    (RTL_KEY_MOUSE | (uint32_t)(kind) << 24 | (uint32_t)(row) << 12 | (uint32_t)(col))
#define RTL_MOUSE_KIND(event) ((event) >> 24 & 0x7f)
#define RTL_MOUSE_ROW(event)  ((int)((event) >> 12 & 0xfff))
#define RTL_MOUSE_COL(event)  ((int)((event)&0xfff))
#define RTL_KEY_F(n)          (RTL_KEY_F0 + (n))
#define RTL_KEY_CTRL(letter)  ((letter)&0x1f)

/* Where a key is bound, bits. */
enum {
    RTL_IN_KERNELS = 1,
    RTL_IN_QUEUES = 2,
    RTL_IN_DETAIL = 4,
    RTL_IN_HELP = 8,
    RTL_IN_REPLAY = 16,
    RTL_IN_COPIES = 32,
    RTL_IN_PROCESSES = 64,
    RTL_IN_RANKS = 128,
    RTL_IN_CALLS = 256, /* of HIP, and ranges of roctx */
};
#define RTL_IN_TABLES (RTL_IN_KERNELS | RTL_IN_QUEUES | RTL_IN_COPIES | RTL_IN_PROCESSES | RTL_IN_RANKS | RTL_IN_CALLS)
#define RTL_IN_RANKED (RTL_IN_KERNELS | RTL_IN_CALLS)
#define RTL_IN_DATA   (RTL_IN_TABLES | RTL_IN_DETAIL)
#define RTL_IN_ALL    (RTL_IN_DATA | RTL_IN_HELP)

/* Keys of a replay come first in the table: there they are asked before those that mean something else elsewhere. */
/* X(symbol, key, second key, third key, where, label in the key line ("" = not there), meaning) */
#define RTL_KEYS(X)                                                                                                   \
    X(STEP_NEXT, 't', 0, 0, RTL_IN_REPLAY, "Next", "the next frame")                                                  \
    X(STEP_BEFORE, 'T', 0, 0, RTL_IN_REPLAY, "Before", "the frame before")                                            \
    X(SEEK, 'b', 0, 0, RTL_IN_REPLAY, "Time", "go to a time: 14:02:31, +30, -5m")                                     \
    X(HELP, '?', 'h', RTL_KEY_F(1), RTL_IN_ALL, "Help", "this help")                                                  \
    X(BACK, RTL_KEY_ESC, 0, 0, RTL_IN_ALL, "", "back to the screen before; never quits")                              \
    X(FIND, '/', RTL_KEY_F(3), 0, RTL_IN_KERNELS | RTL_IN_HELP, "Find",                                               \
      "find a kernel by a part of its name, or a text in the help")                                                   \
    X(FIND_NEXT, 'n', 0, 0, RTL_IN_KERNELS | RTL_IN_HELP, "", "next match")                                           \
    X(FIND_BEFORE, 'N', 0, 0, RTL_IN_KERNELS | RTL_IN_HELP, "",                                                       \
      "match before; among kernels before any search: sort by name")                                                  \
    X(FILTER, '\\', 'f', RTL_KEY_F(4), RTL_IN_KERNELS, "Filter", "show only kernels whose name has the text")         \
    X(CLEAR, '=', 0, 0, RTL_IN_KERNELS, "", "clear filter and search")                                                \
    X(SORT_MENU, 's', RTL_KEY_F(6), 0, RTL_IN_KERNELS, "Sort", "choose the column to sort by")                        \
    X(SORT_LEFT, '<', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, "", "sort by the column to the left")                   \
    X(SORT_RIGHT, '>', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, "", "sort by the column to the right")                 \
    X(SORT_TIME, 'P', 0, 0, RTL_IN_RANKED, "", "sort by share of time")                                               \
    X(SORT_TOTAL, 'T', 0, 0, RTL_IN_RANKED, "", "sort by total time")                                                 \
    X(SORT_CALLS, 'C', 0, 0, RTL_IN_RANKED, "", "sort by calls")                                                      \
    X(SORT_P99, 'L', 0, 0, RTL_IN_RANKED, "", "sort by p99")                                                          \
    X(COLUMNS, 'o', RTL_KEY_F(2), 0, RTL_IN_KERNELS, "", "choose the columns; W keeps them")                          \
    X(REVERSE, 'R', 'I', 0, RTL_IN_RANKED | RTL_IN_PROCESSES, "", "reverse the order")                                \
    X(DETAIL, RTL_KEY_ENTER, 0, 0, RTL_IN_KERNELS, "Detail", "histogram and quantiles of the kernel; opens a family") \
    X(KERNEL_BEFORE, '[', 0, 0, RTL_IN_DETAIL, "Before", "kernel before")                                             \
    X(KERNEL_NEXT, ']', 0, 0, RTL_IN_DETAIL, "Next", "next kernel")                                                   \
    X(LOG, 'L', 0, 0, RTL_IN_DETAIL, "Log/Lin", "bars of the histogram logarithmic or linear")                        \
    X(GO_IN, RTL_KEY_ENTER, 0, 0, RTL_IN_PROCESSES, "Go in", "the kernels of this process alone; p comes back")       \
    X(PROCESSES, 'p', 0, 0, RTL_IN_DATA, "", "the processes that use a GPU, or back to the kernels")                  \
    X(RANKS, 'e', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL | RTL_IN_RANKS, "", "a kernel in each process: who is slow")   \
    X(QUEUES, RTL_KEY_TAB, 'v', 0, RTL_IN_TABLES, "Queues", "queues or kernels")                                      \
    X(COPIES, 'm', 0, 0, RTL_IN_TABLES, "Copies", "copies from and to the GPUs, or kernels")                          \
    X(CALLS, 'a', 0, 0, RTL_IN_TABLES, "", "calls of HIP and memory in use, or kernels")                              \
    X(RANGES, 'A', 0, 0, RTL_IN_TABLES, "", "ranges and marks of roctx, or kernels")                                  \
    X(WINDOW_SHORTER, '{', 0, 0, RTL_IN_DATA, "", "shorter window")                                                   \
    X(WINDOW_LONGER, '}', 0, 0, RTL_IN_DATA, "", "longer window")                                                     \
    X(ZERO, 'z', 'r', 0, RTL_IN_DATA, "Zero", "count from now on (the target's counters are not touched)")            \
    X(PAUSE, ' ', 'Z', 0, RTL_IN_DATA, "Pause", "hold the screen, or go on")                                          \
    X(INTERVAL, 'd', 0, 0, RTL_IN_DATA, "", "set the interval between frames")                                        \
    X(SLOWER, '+', 0, 0, RTL_IN_DATA, "", "longer interval")                                                          \
    X(FASTER, '-', 0, 0, RTL_IN_DATA, "", "shorter interval")                                                         \
    X(NAMES, 'c', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, "", "names short, template, full or mangled")                 \
    X(WRAP, 'w', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, "", "the whole name of the kernel, wrapped")                   \
    X(UNITS, 'E', 'u', 0, RTL_IN_DATA, "Units", "times in automatic units, ns, us, ms or s")                          \
    X(IDLE, 'i', 0, 0, RTL_IN_KERNELS, "", "hide or show kernels that were not called in the window")                 \
    X(GPU_LINES, '1', 0, 0, RTL_IN_TABLES, "", "one line a GPU, or several in a line")                                \
    X(COPY, 'y', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, "", "copy the full name (OSC 52)")                             \
    X(RECORD, 'x', 0, 0, RTL_IN_DATA, "Rec", "record on or off (into the file of -w, or rtl-top-PID.db)")             \
    X(SNAPSHOT, 'S', 0, 0, RTL_IN_DATA, "", "add a snapshot to that file")                                            \
    X(MODE, 'M', 0, 0, RTL_IN_DATA, "", "have the process go on in another mode")                                     \
    X(UP, RTL_KEY_UP, 'k', 0, RTL_IN_ALL, "", "up")                                                                   \
    X(DOWN, RTL_KEY_DOWN, 'j', 0, RTL_IN_ALL, "", "down")                                                             \
    X(PAGE_UP, RTL_KEY_PAGE_UP, RTL_KEY_CTRL('B'), 0, RTL_IN_ALL, "", "a page up")                                    \
    X(PAGE_DOWN, RTL_KEY_PAGE_DOWN, RTL_KEY_CTRL('F'), 0, RTL_IN_ALL, "", "a page down")                              \
    X(FAMILIES, 'g', RTL_KEY_F(5), 0, RTL_IN_KERNELS, "Families",                                                     \
      "kernels by family with sums: gemm, attention, comm ...")                                                       \
    X(NAMES_LEFT, RTL_KEY_LEFT, 0, 0, RTL_IN_KERNELS, "", "scroll the names back; close the family")                  \
    X(NAMES_RIGHT, RTL_KEY_RIGHT, 0, 0, RTL_IN_KERNELS, "",                                                           \
      "scroll the names sideways, to their ends; open the family")                                                    \
    X(END_PROCESS, 'K', RTL_KEY_F(9), 0, RTL_IN_DATA, "", "why no process is ended from here, and what ends one")     \
    X(HOME, RTL_KEY_HOME, 0, 0, RTL_IN_ALL, "", "to the top, and stay there")                                         \
    X(END, RTL_KEY_END, 'G', 0, RTL_IN_ALL, "", "to the end")                                                         \
    X(REDRAW, RTL_KEY_CTRL('L'), 0, 0, RTL_IN_ALL, "", "draw the screen afresh")                                      \
    X(SAVE, 'W', RTL_KEY_F(12), 0, RTL_IN_ALL, "", "write what was chosen here to the configuration")                 \
    X(QUIT, 'q', RTL_KEY_F(10), 0, RTL_IN_ALL, "Quit", "quit")

#define RTL_ENUM_ACTION(sym, ...) RTL_ACTION_##sym,
enum rtl_action { RTL_ACTION_NONE, RTL_KEYS(RTL_ENUM_ACTION) RTL_ACTION_COUNT };
#undef RTL_ENUM_ACTION

struct rtl_key_info {
    uint32_t keys[3];
    unsigned where;
    const char *label, *meaning;
};
extern const struct rtl_key_info rtl_keys[RTL_ACTION_COUNT]; /* [RTL_ACTION_NONE] is empty */

enum rtl_action rtl_key_action(uint32_t key, unsigned where);

/* "q", "Space", "F10", "Ctrl-L", "PgUp". */
struct rtl_key_name {
    char text[12];
};
struct rtl_key_name rtl_key_name(uint32_t key);

#endif
