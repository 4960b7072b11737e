/*
 * The keys: one row each, from which handlers, key line, help and the tests of the manual are made.
 *
 * A key is a Unicode code point as the terminal sends it, or an RTL_KEY_* above them. Every function key has a letter
 * twin, because tmux, ssh and editors intercept function keys.
 */
#ifndef RTL_TUI_KEYS_H
#define RTL_TUI_KEYS_H

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
    RTL_KEY_IGNORED, /* an unknown sequence */
    RTL_KEY_F0 = RTL_KEY_SPECIAL + 0x100,
};
/* An event of the mouse is a key, too: kind, row and column from 0. */
enum { RTL_MOUSE_UP, RTL_MOUSE_DOWN, RTL_MOUSE_CLICK };
#define RTL_KEY_MOUSE 0x80000000u
#define RTL_MOUSE_EVENT(kind, row, col) \
    (RTL_KEY_MOUSE | (uint32_t)(kind) << 24 | (uint32_t)(row) << 12 | (uint32_t)(col))
#define RTL_MOUSE_KIND(event) ((event) >> 24 & 0x7f)
#define RTL_MOUSE_ROW(event)  ((int)((event) >> 12 & 0xfff))
#define RTL_MOUSE_COL(event)  ((int)((event)&0xfff))
#define RTL_KEY_PASTED        0x40000000u /* with the code point of a character that was pasted */
#define RTL_KEY_F(n)          (RTL_KEY_F0 + (n))
#define RTL_KEY_CTRL(letter)  ((letter)&0x1f)

/* X(symbol): GPU shows why a GPU is idle. RTL_IN_*: views in which a key is bound, bits; CALLS also has the ranges. */
#define RTL_VIEWS(X) \
    X(KERNELS) X(QUEUES) X(COPIES) X(DETAIL) X(HELP) X(PROCESSES) X(RANKS) X(CALLS) X(RANGES) X(STEPS) X(GPU)
#define RTL_ENUM_VIEW(sym) RTL_VIEW_##sym,
#define RTL_ENUM_IN(sym)   RTL_IN_##sym = 1 << RTL_VIEW_##sym,
enum rtl_view { RTL_VIEWS(RTL_ENUM_VIEW) RTL_VIEW_COUNT };
enum { RTL_VIEWS(RTL_ENUM_IN) RTL_IN_REPLAY = 1 << RTL_VIEW_COUNT };
#undef RTL_ENUM_VIEW
#undef RTL_ENUM_IN
#define RTL_IN_TABLES                                                                                                 \
    (RTL_IN_KERNELS | RTL_IN_QUEUES | RTL_IN_COPIES | RTL_IN_PROCESSES | RTL_IN_RANKS | RTL_IN_CALLS | RTL_IN_STEPS | \
     RTL_IN_GPU)
#define RTL_IN_RANKED (RTL_IN_KERNELS | RTL_IN_CALLS)
#define RTL_IN_DATA   (RTL_IN_TABLES | RTL_IN_DETAIL)
#define RTL_IN_ALL    (RTL_IN_DATA | RTL_IN_HELP)

/*
 * X(symbol, key, second key, third key, views, rank in the key bar, label, meaning)
 * A key has one meaning in all views; Enter opens what the cursor is on. The key bar shows as many keys as fit, in the
 * order of the ranks; it never shows rank 0. The help card shows all keys of a view. A row without a label shares the
 * one before it: "<>Sort beside". F9 is free, because other programs end a process with it.
 */
#define RTL_KEYS(X)                                                                                                    \
    X(STEP_NEXT, '.', 0, 0, RTL_IN_REPLAY, 1, "Frame", "next frame of a recording")                                    \
    X(STEP_BEFORE, ',', 0, 0, RTL_IN_REPLAY, 0, "", "previous frame")                                                  \
    X(SEEK, 'b', 0, 0, RTL_IN_REPLAY, 1, "Time", "go to a time of a recording: 14:02:31, +30, -5m")                    \
    X(HELP, '?', 'h', RTL_KEY_F(1), RTL_IN_ALL, 1, "Help",                                                             \
      "show the keys and colours of this screen; again: this manual")                                                  \
    X(BACK, RTL_KEY_ESC, 0, 0, RTL_IN_ALL, 0, "Back", "return to the previous screen; never quits")                    \
    X(FIND, '/', RTL_KEY_F(3), 0, RTL_IN_RANKED | RTL_IN_HELP, 2, "Find",                                              \
      "find a kernel, call or range by part of its name, or text in the help")                                         \
    X(FIND_NEXT, 'n', 0, 0, RTL_IN_RANKED | RTL_IN_HELP, 0, "Next match", "next match")                                \
    X(FIND_BEFORE, 'N', 0, 0, RTL_IN_RANKED | RTL_IN_HELP, 0, "", "previous match")                                    \
    X(FILTER, '\\', 'f', RTL_KEY_F(4), RTL_IN_KERNELS, 3, "Filter", "show only kernels whose name contains the text")  \
    X(CLEAR, '=', 0, 0, RTL_IN_KERNELS, 0, "Clear filter", "clear filter and search, leave the range")                 \
    X(SORT_MENU, 's', RTL_KEY_F(6), 0, RTL_IN_RANKED, 4, "Sort", "choose the column to sort by")                       \
    X(SORT_LEFT, '<', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 14, "Sort beside", "sort by the column to the left")     \
    X(SORT_RIGHT, '>', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 0, "", "sort by the column to the right")               \
    X(SORT_TIME, 'P', 0, 0, RTL_IN_RANKED, 27, "Sort at once", "sort by share of time")                                \
    X(SORT_TOTAL, 'T', 0, 0, RTL_IN_RANKED, 0, "", "sort by total time")                                               \
    X(SORT_CALLS, 'C', 0, 0, RTL_IN_RANKED, 0, "", "sort by calls")                                                    \
    X(SORT_P99, 'L', 0, 0, RTL_IN_RANKED, 0, "", "sort by p99")                                                        \
    X(COLUMNS, 'o', RTL_KEY_F(2), 0, RTL_IN_KERNELS, 14, "Columns", "choose the columns; W saves them")                \
    X(REVERSE, 'R', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 0, "Reverse", "reverse the order")                         \
    X(DETAIL, RTL_KEY_ENTER, 0, 0, RTL_IN_KERNELS, 5, "Detail",                                                        \
      "show histogram and quantiles of the kernel, or open a family")                                                  \
    X(RANGE_KERNELS, RTL_KEY_ENTER, 0, 0, RTL_IN_RANGES, 5, "Kernels",                                                 \
      "show only the kernels of this range; Esc returns")                                                              \
    X(BEFORE, '[', 0, 0, RTL_IN_DETAIL | RTL_IN_GPU, 5, "Next", "previous kernel or GPU")                              \
    X(NEXT, ']', 0, 0, RTL_IN_DETAIL | RTL_IN_GPU, 0, "", "next kernel or GPU")                                        \
    X(LOG, 'l', 0, 0, RTL_IN_DETAIL, 6, "Log/Lin", "switch histogram bars: logarithmic or linear")                     \
    X(PROBE, 'B', 0, 0, RTL_IN_DETAIL, 11, "Probe", "start or stop a probe of this kernel's waves; asks first")        \
    X(STALLS, 'Y', 0, 0, RTL_IN_DETAIL, 11, "Waits", "start or stop a probe of this kernel's waits; asks first")       \
    X(GO_IN, RTL_KEY_ENTER, 0, 0, RTL_IN_PROCESSES, 5, "Go in", "show only the kernels of this process; p returns")    \
    X(QUEUES, RTL_KEY_TAB, 0, 0, RTL_IN_TABLES, 7, "Queues", "show queues, or kernels again")                          \
    X(FAMILIES, 'g', RTL_KEY_F(5), 0, RTL_IN_KERNELS, 8, "Families",                                                   \
      "group kernels by family: gemm, attention, comm ...")                                                            \
    X(RANKS, 'e', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL | RTL_IN_RANKS, 9, "Ranks",                                     \
      "compare a kernel across processes: which one is slow")                                                          \
    X(STEPS, 't', 0, 0, RTL_IN_TABLES, 9, "Steps", "show the cost of a step (token, iteration), or kernels again")     \
    X(MARK_STEP, 'X', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL | RTL_IN_RANGES | RTL_IN_STEPS, 0, "Mark step",             \
      "let this kernel or range mark a step; again: automatic")                                                        \
    X(PROCESSES, 'p', 0, 0, RTL_IN_DATA, 10, "Procs", "show processes that use a GPU, or kernels again")               \
    X(GPU_OF_QUEUES, RTL_KEY_ENTER, 0, 0, RTL_IN_QUEUES, 0, "Why idle", "on a GPU's row: show why that GPU is idle")   \
    X(EVIDENCE, 'v', 0, 0, RTL_IN_TABLES, 9, "Why idle",                                                               \
      "show why a GPU is idle: causes and longest gaps; or kernels again")                                             \
    X(COPIES, 'm', 0, 0, RTL_IN_TABLES, 12, "Copies", "show copies from and to GPUs, or kernels again")                \
    X(CALLS, 'a', 0, 0, RTL_IN_TABLES, 11, "Calls", "show HIP calls and memory in use, or kernels again")              \
    X(RANGES, 'A', 0, 0, RTL_IN_TABLES, 11, "Ranges", "show roctx ranges and marks, or kernels again")                 \
    X(WINDOW_SHORTER, '{', RTL_KEY_F(7), 0, RTL_IN_DATA, 18, "Window", "shorter window")                               \
    X(WINDOW_LONGER, '}', RTL_KEY_F(8), 0, RTL_IN_DATA, 0, "", "longer window")                                        \
    X(ZERO, 'z', 0, 0, RTL_IN_DATA, 17, "Zero", "count from now on (the process's counters do not change)")            \
    X(UNZERO, 'Z', 0, 0, RTL_IN_DATA, 13, "Undo zero", "undo z: count as before")                                      \
    X(PAUSE, ' ', 0, 0, RTL_IN_DATA, 15, "Pause", "pause or resume the screen")                                        \
    X(INTERVAL, 'd', 0, 0, RTL_IN_DATA, 23, "Interval", "set the interval between frames")                             \
    X(SLOWER, '+', 0, 0, RTL_IN_DATA, 0, "", "longer interval")                                                        \
    X(FASTER, '-', 0, 0, RTL_IN_DATA, 0, "", "shorter interval")                                                       \
    X(NAMES, 'c', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 20, "Names", "switch names: short, template, full or mangled") \
    X(WRAP, 'w', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 24, "Full name",                                                \
      "show the complete name of the kernel, wrapped")                                                                 \
    X(UNITS, 'E', 0, 0, RTL_IN_DATA, 19, "Units", "switch units of times: auto, ns, us, ms or s")                      \
    X(IDLE, 'i', 0, 0, RTL_IN_KERNELS, 21, "Hide idle", "hide or show kernels that were not called in the window")     \
    X(GPU_LINES, '1', 0, 0, RTL_IN_TABLES, 0, "GPUs beside", "show one GPU per line, or several")                      \
    X(COPY, 'y', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 0, "Copy name", "copy the full name (OSC 52)")                  \
    X(RECORD, 'x', 0, 0, RTL_IN_DATA, 16, "Record", "start or stop recording; asks for the file first")                \
    X(SNAPSHOT, 'S', 0, 0, RTL_IN_DATA, 25, "Snapshot", "add a snapshot to a recording file; asks for the file first") \
    X(MODE, 'M', 0, 0, RTL_IN_DATA, 22, "Mode", "switch the process to another mode; asks first")                      \
    X(UP, RTL_KEY_UP, 'k', 0, RTL_IN_ALL, 0, "Move", "one line up")                                                    \
    X(DOWN, RTL_KEY_DOWN, 'j', 0, RTL_IN_ALL, 0, "", "one line down")                                                  \
    X(PAGE_UP, RTL_KEY_PAGE_UP, RTL_KEY_CTRL('B'), 0, RTL_IN_ALL, 0, "", "one page up")                                \
    X(PAGE_DOWN, RTL_KEY_PAGE_DOWN, RTL_KEY_CTRL('F'), 0, RTL_IN_ALL, 0, "", "one page down")                          \
    X(NAMES_LEFT, RTL_KEY_LEFT, 0, 0, RTL_IN_KERNELS, 0, "Scroll names", "scroll names left; close the family")        \
    X(NAMES_RIGHT, RTL_KEY_RIGHT, 0, 0, RTL_IN_KERNELS, 0, "", "scroll names right; open the family")                  \
    X(HOME, RTL_KEY_HOME, 0, 0, RTL_IN_ALL, 0, "First, last", "move to the top, and stay there")                       \
    X(END, RTL_KEY_END, 'G', 0, RTL_IN_ALL, 0, "", "move to the end")                                                  \
    X(REDRAW, RTL_KEY_CTRL('L'), 0, 0, RTL_IN_ALL, 0, "Redraw", "redraw the screen")                                   \
    X(SAVE, 'W', RTL_KEY_F(12), 0, RTL_IN_ALL, 26, "Save settings",                                                    \
      "save the present choices in the configuration; asks first")                                                     \
    X(QUIT, 'q', RTL_KEY_F(10), 0, RTL_IN_ALL, 1, "Quit", "quit")

#define RTL_ENUM_ACTION(sym, ...) RTL_ACTION_##sym,
enum rtl_action { RTL_ACTION_NONE, RTL_KEYS(RTL_ENUM_ACTION) RTL_ACTION_COUNT };
#undef RTL_ENUM_ACTION

struct rtl_key_info {
    uint32_t keys[3];
    unsigned where;
    unsigned rank; /* in the key bar */
    const char *label, *meaning;
};
extern const struct rtl_key_info rtl_keys[RTL_ACTION_COUNT]; /* [RTL_ACTION_NONE] is empty */

enum rtl_action rtl_key_action(uint32_t key, unsigned where);

/* In menus: -1 for Up and k, 1 for Down and j, else 0. */
int rtl_key_step(uint32_t key);

/* Fill in the actions of the key bar `where`, in order, without Quit; returns their number. */
int rtl_key_line(unsigned where, enum rtl_action actions[RTL_ACTION_COUNT]);

/* Return how many rows, from this one on, share its label. */
int rtl_key_sharers(enum rtl_action action);

/* "q", "Space", "F10", "Ctrl-L", "PgUp". */
struct rtl_key_name {
    char text[12];
};
struct rtl_key_name rtl_key_name(uint32_t key);

#endif
