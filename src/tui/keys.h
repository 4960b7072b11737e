/*
 * The keys: one row each, from which handlers, key line, help and the tests of the manual are made.
 *
 * A key is a Unicode code point as the terminal sends it, or an RTL_KEY_* above them. Every function key has a letter
 * twin, because tmux, ssh and editors intercept function keys.
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
#define RTL_KEY_F(n)          (RTL_KEY_F0 + (n))
#define RTL_KEY_CTRL(letter)  ((letter)&0x1f)

/* Views in which a key is bound, bits. */
enum {
    RTL_IN_KERNELS = 1,
    RTL_IN_QUEUES = 2,
    RTL_IN_DETAIL = 4,
    RTL_IN_HELP = 8,
    RTL_IN_REPLAY = 16,
    RTL_IN_COPIES = 32,
    RTL_IN_PROCESSES = 64,
    RTL_IN_RANKS = 128,
    RTL_IN_CALLS = 256,  /* HIP calls and roctx ranges */
    RTL_IN_RANGES = 512, /* only ranges */
};
#define RTL_IN_TABLES (RTL_IN_KERNELS | RTL_IN_QUEUES | RTL_IN_COPIES | RTL_IN_PROCESSES | RTL_IN_RANKS | RTL_IN_CALLS)
#define RTL_IN_RANKED (RTL_IN_KERNELS | RTL_IN_CALLS)
#define RTL_IN_DATA   (RTL_IN_TABLES | RTL_IN_DETAIL)
#define RTL_IN_ALL    (RTL_IN_DATA | RTL_IN_HELP)
#define RTL_ANY       (~0u) /* every view of the key */

/*
 * X(symbol, key, second key, third key, views, rank in the key line, views of the key line, label there, meaning)
 * The first row that fits key and view decides. Keys of a replay come first, so a replay hides their other meanings.
 * The key line shows as many keys as fit, in the order of the ranks; it never shows rank 0. In a label such as ">Sort"
 * the sign is a second key of the same label.
 */
#define RTL_KEYS(X)                                                                                                    \
    X(STEP_NEXT, 't', 0, 0, RTL_IN_REPLAY, 1, RTL_ANY, "Next", "next frame")                                           \
    X(STEP_BEFORE, 'T', 0, 0, RTL_IN_REPLAY, 1, RTL_ANY, "Before", "previous frame")                                   \
    X(SEEK, 'b', 0, 0, RTL_IN_REPLAY, 1, RTL_ANY, "Time", "go to a time: 14:02:31, +30, -5m")                          \
    X(HELP, '?', 'h', RTL_KEY_F(1), RTL_IN_ALL, 1, RTL_ANY, "Help", "show this help")                                  \
    X(BACK, RTL_KEY_ESC, 0, 0, RTL_IN_ALL, 0, RTL_ANY, "", "return to the previous screen; never quits")               \
    X(FIND, '/', RTL_KEY_F(3), 0, RTL_IN_RANKED | RTL_IN_HELP, 2, RTL_ANY, "Find",                                     \
      "find a kernel, call or range by part of its name, or text in the help")                                         \
    X(FIND_NEXT, 'n', 0, 0, RTL_IN_RANKED | RTL_IN_HELP, 0, RTL_ANY, "", "next match")                                 \
    X(FIND_BEFORE, 'N', 0, 0, RTL_IN_RANKED | RTL_IN_HELP, 0, RTL_ANY, "",                                             \
      "previous match; without a search: sort by name")                                                                \
    X(FILTER, '\\', 'f', RTL_KEY_F(4), RTL_IN_KERNELS, 3, RTL_ANY, "Filter",                                           \
      "show only kernels whose name contains the text")                                                                \
    X(CLEAR, '=', 0, 0, RTL_IN_KERNELS, 0, RTL_ANY, "", "clear filter and search, leave the range")                    \
    X(SORT_MENU, 's', RTL_KEY_F(6), 0, RTL_IN_RANKED, 4, RTL_ANY, "Sort", "choose the column to sort by")              \
    X(SORT_LEFT, '<', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 6, RTL_IN_CALLS | RTL_IN_PROCESSES, ">Sort",             \
      "sort by the column to the left")                                                                                \
    X(SORT_RIGHT, '>', 0, 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 0, RTL_ANY, "", "sort by the column to the right")      \
    X(SORT_TIME, 'P', 0, 0, RTL_IN_RANKED, 6, RTL_IN_CALLS, "Time", "sort by share of time")                           \
    X(SORT_TOTAL, 'T', 0, 0, RTL_IN_RANKED, 6, RTL_IN_CALLS, "Total", "sort by total time")                            \
    X(SORT_CALLS, 'C', 0, 0, RTL_IN_RANKED, 6, RTL_IN_CALLS, "Count", "sort by calls")                                 \
    X(SORT_P99, 'L', 0, 0, RTL_IN_RANKED, 6, RTL_IN_CALLS, "P99", "sort by p99")                                       \
    X(COLUMNS, 'o', RTL_KEY_F(2), 0, RTL_IN_KERNELS, 8, RTL_ANY, "Cols", "choose the columns; W saves them")           \
    X(REVERSE, 'R', 'I', 0, RTL_IN_RANKED | RTL_IN_PROCESSES, 0, RTL_ANY, "", "reverse the order")                     \
    X(DETAIL, RTL_KEY_ENTER, 0, 0, RTL_IN_KERNELS, 5, RTL_ANY, "Detail",                                               \
      "show histogram and quantiles of the kernel, or open a family")                                                  \
    X(RANGE_KERNELS, RTL_KEY_ENTER, 0, 0, RTL_IN_RANGES, 5, RTL_ANY, "Kernels",                                        \
      "show only the kernels of this range; Esc returns")                                                              \
    X(KERNEL_BEFORE, '[', 0, 0, RTL_IN_DETAIL, 5, RTL_ANY, "]Kernel", "previous kernel")                               \
    X(KERNEL_NEXT, ']', 0, 0, RTL_IN_DETAIL, 0, RTL_ANY, "", "next kernel")                                            \
    X(LOG, 'L', 0, 0, RTL_IN_DETAIL, 6, RTL_ANY, "Log/Lin", "switch histogram bars: logarithmic or linear")            \
    X(PROBE, 'P', 0, 0, RTL_IN_DETAIL, 8, RTL_ANY, "Probe", "start or stop a probe of this kernel's waves")            \
    X(STALLS, 's', 0, 0, RTL_IN_DETAIL, 8, RTL_ANY, "Stalls", "start or stop a probe of this kernel's waits")          \
    X(GO_IN, RTL_KEY_ENTER, 0, 0, RTL_IN_PROCESSES, 5, RTL_ANY, "Go in",                                               \
      "show only the kernels of this process; p returns")                                                              \
    X(PROCESSES, 'p', 0, 0, RTL_IN_DATA, 7, RTL_ANY, "Procs", "show processes that use a GPU, or kernels again")       \
    X(RANKS, 'e', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL | RTL_IN_RANKS, 18, RTL_ANY, "Ranks",                           \
      "compare a kernel across processes: which one is slow")                                                          \
    X(QUEUES, RTL_KEY_TAB, 'v', 0, RTL_IN_TABLES, 12, RTL_ANY, "Queues", "show queues, or kernels again")              \
    X(COPIES, 'm', 0, 0, RTL_IN_TABLES, 11, RTL_ANY, "Copies", "show copies from and to GPUs, or kernels again")       \
    X(CALLS, 'a', 0, 0, RTL_IN_TABLES, 9, RTL_ANY, "Calls", "show HIP calls and memory in use, or kernels again")      \
    X(RANGES, 'A', 0, 0, RTL_IN_TABLES, 10, RTL_ANY, "Ranges", "show roctx ranges and marks, or kernels again")        \
    X(WINDOW_SHORTER, '{', 0, 0, RTL_IN_DATA, 17, RTL_ANY, "}Window", "shorter window")                                \
    X(WINDOW_LONGER, '}', 0, 0, RTL_IN_DATA, 0, RTL_ANY, "", "longer window")                                          \
    X(ZERO, 'z', 'r', 0, RTL_IN_DATA, 16, RTL_ANY, "Zero", "count from now on (the process's counters do not change)") \
    X(PAUSE, ' ', 'Z', 0, RTL_IN_DATA, 14, RTL_ANY, "Pause", "pause or resume the screen")                             \
    X(INTERVAL, 'd', 0, 0, RTL_IN_DATA, 0, RTL_ANY, "", "set the interval between frames")                             \
    X(SLOWER, '+', 0, 0, RTL_IN_DATA, 23, RTL_ANY, "-Interval", "longer interval")                                     \
    X(FASTER, '-', 0, 0, RTL_IN_DATA, 0, RTL_ANY, "", "shorter interval")                                              \
    X(NAMES, 'c', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 20, RTL_ANY, "Names",                                          \
      "switch names: short, template, full or mangled")                                                                \
    X(WRAP, 'w', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 24, RTL_ANY, "Wrap",                                            \
      "show the complete name of the kernel, wrapped")                                                                 \
    X(UNITS, 'E', 'u', 0, RTL_IN_DATA, 19, RTL_ANY, "Units", "switch units of times: auto, ns, us, ms or s")           \
    X(IDLE, 'i', 0, 0, RTL_IN_KERNELS, 21, RTL_ANY, "Idle", "hide or show kernels that were not called in the window") \
    X(GPU_LINES, '1', 0, 0, RTL_IN_TABLES, 0, RTL_ANY, "", "show one GPU per line, or several")                        \
    X(COPY, 'y', 0, 0, RTL_IN_KERNELS | RTL_IN_DETAIL, 0, RTL_ANY, "", "copy the full name (OSC 52)")                  \
    X(RECORD, 'x', 0, 0, RTL_IN_DATA, 15, RTL_ANY, "Rec", "start or stop recording (file of -w, or rtl-top-PID.db)")   \
    X(SNAPSHOT, 'S', 0, 0, RTL_IN_DATA, 25, RTL_ANY, "Snapshot", "add a snapshot to the recording file")               \
    X(MODE, 'M', 0, 0, RTL_IN_DATA, 22, RTL_ANY, "Mode", "switch the process to another mode")                         \
    X(UP, RTL_KEY_UP, 'k', 0, RTL_IN_ALL, 0, RTL_ANY, "", "one line up")                                               \
    X(DOWN, RTL_KEY_DOWN, 'j', 0, RTL_IN_ALL, 0, RTL_ANY, "", "one line down")                                         \
    X(PAGE_UP, RTL_KEY_PAGE_UP, RTL_KEY_CTRL('B'), 0, RTL_IN_ALL, 0, RTL_ANY, "", "one page up")                       \
    X(PAGE_DOWN, RTL_KEY_PAGE_DOWN, RTL_KEY_CTRL('F'), 0, RTL_IN_ALL, 0, RTL_ANY, "", "one page down")                 \
    X(FAMILIES, 'g', RTL_KEY_F(5), 0, RTL_IN_KERNELS, 13, RTL_ANY, "Families",                                         \
      "group kernels by family: gemm, attention, comm ...")                                                            \
    X(NAMES_LEFT, RTL_KEY_LEFT, 0, 0, RTL_IN_KERNELS, 0, RTL_ANY, "", "scroll names left; close the family")           \
    X(NAMES_RIGHT, RTL_KEY_RIGHT, 0, 0, RTL_IN_KERNELS, 0, RTL_ANY, "", "scroll names right; open the family")         \
    X(HOME, RTL_KEY_HOME, 0, 0, RTL_IN_ALL, 0, RTL_ANY, "", "move to the top, and stay there")                         \
    X(END, RTL_KEY_END, 'G', 0, RTL_IN_ALL, 0, RTL_ANY, "", "move to the end")                                         \
    X(REDRAW, RTL_KEY_CTRL('L'), 0, 0, RTL_IN_ALL, 0, RTL_ANY, "", "redraw the screen")                                \
    X(SAVE, 'W', RTL_KEY_F(12), 0, RTL_IN_ALL, 26, RTL_ANY, "Save", "save the present choices in the configuration")   \
    X(QUIT, 'q', RTL_KEY_F(10), 0, RTL_IN_ALL, 1, RTL_ANY, "Quit", "quit")

#define RTL_ENUM_ACTION(sym, ...) RTL_ACTION_##sym,
enum rtl_action { RTL_ACTION_NONE, RTL_KEYS(RTL_ENUM_ACTION) RTL_ACTION_COUNT };
#undef RTL_ENUM_ACTION

struct rtl_key_info {
    uint32_t keys[3];
    unsigned where;
    unsigned rank, shown; /* in the key line */
    const char *label, *meaning;
};
extern const struct rtl_key_info rtl_keys[RTL_ACTION_COUNT]; /* [RTL_ACTION_NONE] is empty */

enum rtl_action rtl_key_action(uint32_t key, unsigned where);

/* In menus: -1 for Up and k, 1 for Down and j, else 0. */
int rtl_key_step(uint32_t key);

/* Fill in the actions of the key line `where`, in order, without Quit; returns their number. */
int rtl_key_line(unsigned where, enum rtl_action actions[RTL_ACTION_COUNT]);

/* "q", "Space", "F10", "Ctrl-L", "PgUp". */
struct rtl_key_name {
    char text[12];
};
struct rtl_key_name rtl_key_name(uint32_t key);

#endif
