/*
 * What the screen shows, as data: the state that keys change (tui/ui.h) and drawing reads (tui/draw.h).
 */
#ifndef RTL_TUI_UI_STATE_H
#define RTL_TUI_UI_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/model.h"
#include "record/probe_told.h"
#include "probing/stall_costs.h"
#include "text/units.h"

/* What rtl_ui_key asks for, bits. */
enum {
    RTL_UI_DRAW = 1, /* the picture changed */
    RTL_UI_QUIT = 2,
    RTL_UI_SAMPLE = 4,  /* the interval changed, or a pause is over: take a snapshot at once and count from there */
    RTL_UI_REPAINT = 8, /* send every cell again */
    RTL_UI_COPY = 16,   /* copy ui->copy to the terminal's clipboard */
    RTL_UI_RECORD = 32, /* start or stop recording */
    RTL_UI_SNAPSHOT = 64,
    RTL_UI_STEP = 128,       /* replay: ui->step frames further */
    RTL_UI_SEEK = 256,       /* replay: to ui->seek_ns */
    RTL_UI_MODE = 512,       /* ask the process for the mode ui->menu */
    RTL_UI_SAVE = 1024,      /* write the configuration */
    RTL_UI_GO_IN = 2048,     /* watch ui->go_in alone */
    RTL_UI_PROCESSES = 4096, /* from one process alone to all of them */
    RTL_UI_END = 8192,       /* end the command that was started (leave.h) */
    RTL_UI_PROBE = 16384,    /* probe the selected kernel, or take the probe back */
    RTL_UI_STALLS = 32768,   /* the same with a probe of its waits */
};

#define RTL_MESSAGE_NS (5 * RTL_SEC)

enum rtl_view {
    RTL_VIEW_KERNELS,
    RTL_VIEW_QUEUES,
    RTL_VIEW_COPIES,
    RTL_VIEW_DETAIL,
    RTL_VIEW_HELP,
    RTL_VIEW_PROCESSES,
    RTL_VIEW_RANKS,
    RTL_VIEW_CALLS,
    RTL_VIEW_RANGES,
    RTL_VIEW_COUNT
};
enum rtl_prompt {
    RTL_PROMPT_NONE,
    RTL_PROMPT_FIND,
    RTL_PROMPT_FILTER,
    RTL_PROMPT_INTERVAL,
    RTL_PROMPT_SORT,
    RTL_PROMPT_TIME,
    RTL_PROMPT_MODE,
    RTL_PROMPT_LEAVE,
    RTL_PROMPT_COLUMNS,
};
/* Of the command that we started: there is none (any more), it runs, it was told to end. */
enum rtl_launched { RTL_LAUNCHED_NO, RTL_LAUNCHED_RUNS, RTL_LAUNCHED_ENDING };

/* A search in the help that is still to be made. */
enum { RTL_FIND_BEFORE = -1, RTL_FIND_NOTHING, RTL_FIND_NEXT, RTL_FIND_HERE };

struct rtl_untraced;

struct rtl_ui {
    struct rtl_model *model;
    pid_t pid;
    char title[160]; /* the process's command line, safe text */
    uint64_t interval_ns;

    enum rtl_view view, before;          /* `before`: where help goes back to */
    enum rtl_view under[RTL_VIEW_COUNT]; /* the screens that this one was opened from, from the first on (views.h) */
    int under_count;
    enum rtl_name_form names;
    enum rtl_unit units;
    bool gpu_lines, wrap, log_bars, ascii;
    uint32_t columns; /* of the kernels, bits by enum rtl_column; 0 = as many as there is room for */
    uint8_t column_places[RTL_COLUMN_COUNT]; /* columns.h */
    uint32_t columns_shown;                  /* those that had room, from the last rtl_ui_scroll_into_view */

    bool following;    /* the cursor stays at the top until it is moved; then it stays with its kernel */
    uint32_t selected; /* kernel id */
    int position;      /* where it was seen last */
    int top;           /* first row of the table on screen */
    int queue_top, copies_top, help_top;
    int queue_at, copies_at;               /* the line with the cursor */
    int calls_at[2], calls_top[2];         /* of the calls, and of the ranges */
    int page;                              /* rows of the table, from the last rtl_ui_scroll_into_view */
    int name_left;                         /* columns that the names are scrolled by */
    int process_at, process_top, rank_top; /* process_at: the cursor's line */
    /* the processes' order, and the member of the merge that the cursor is on (process_list.h) */
    bool process_sorted, process_reverse, process_held;
    int process_sort;
    uint32_t process_selected;
    pid_t process_from; /* the process that one came from, where the cursor goes when it is in the list; 0: none, any
                           more */
    pid_t go_in;
    bool opened;                         /* from another screen, to which Esc and p go back from here */
    const struct rtl_untraced *untraced; /* processes that use a GPU and aren't traced, or NULL */

    char help_search[RTL_FILTER_MAX];
    int help_line; /* of the help, where what was searched for stands; -1 = nowhere yet */
    int help_from; /* where the search began */
    int help_find; /* what rtl_ui_scroll_into_view, which knows the lines, has to look for: see RTL_FIND_* */

    bool replay; /* frames of a recording are shown: number `frame` of `frames` */
    uint32_t frame, frames;
    double speed;
    int step;
    uint64_t seek_ns;           /* since 1970 */
    bool loading;               /* of many processes only some are shown so far */
    uint32_t loaded, loaded_of; /* how many, of how many */
    char file[48];              /* of the recording that is shown; "" = none */
    char record[48];            /* what is being recorded into, for the status line; "" = nothing */

    bool paused;
    uint64_t paused_ns; /* monotonic */

    enum rtl_prompt prompt;
    char typed[RTL_FILTER_MAX];
    char kept_filter[RTL_FILTER_MAX]; /* what Esc in the filter prompt goes back to */
    uint32_t kept_columns;            /* likewise in the menu of columns */
    uint8_t kept_places[RTL_COLUMN_COUNT];
    char search[RTL_FILTER_MAX];
    int menu; /* chosen line of a menu: a column to sort by, or a mode */

    char message[160];                      /* one line for the user, until the next key or for RTL_MESSAGE_NS */
    uint64_t message_ns;                    /* monotonic */
    struct rtl_probe_told probe;            /* of this process, or recorded */
    uint64_t others_ns;                     /* mean of the kernel's other dispatches while it was armed; 0: not known */
    const struct rtl_stalls_report *stalls; /* it is one of waits: what is known of them; else NULL */
    int stall_at;                           /* of them, the line with the cursor; 0: the hottest, whichever it is */
    uint32_t stall_place;                   /* its place in the code */
    const char *copy;
    enum rtl_launched launched;
    char log[200]; /* where its output goes, safe text; "" = nothing was started */

    /* set by the caller before each frame */
    uint64_t now_mono_ns;
    int64_t now_real_s;
};

void rtl_ui_say(struct rtl_ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
