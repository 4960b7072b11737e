/*
 * State of the screen: keys change it, drawing (tui/draw_views.h) reads it. Neither needs a terminal, so tests press
 * keys and compare frames.
 */
#ifndef RTL_TUI_UI_STATE_H
#define RTL_TUI_UI_STATE_H

#include "model/model.h"
#include "record/probe_told.h"
#include "probing/stall_costs.h"
#include "text/units.h"
#include "tui/keys.h"

/* Requests to the loop, bits: the results of rtl_ui_key and rtl_ui_mouse. */
enum {
    RTL_UI_DRAW = 1, /* the state changed: draw */
    RTL_UI_QUIT = 2,
    RTL_UI_SAMPLE =
        4, /* the interval changed, or a pause ended: read a snapshot now and count the interval from here */
    RTL_UI_REPAINT = 8,      /* send every cell again */
    RTL_UI_COPY = 16,        /* copy ui->copy to the terminal's clipboard */
    RTL_UI_RECORD = 32,      /* stop recording, or start it into the file ui->typed */
    RTL_UI_SNAPSHOT = 64,    /* add a snapshot to the file ui->typed */
    RTL_UI_STEP = 128,       /* replay: go ui->step frames forward */
    RTL_UI_SEEK = 256,       /* replay: go to ui->seek_ns */
    RTL_UI_MODE = 512,       /* request the mode ui->mode from the process */
    RTL_UI_SAVE = 1024,      /* write the configuration */
    RTL_UI_GO_IN = 2048,     /* show only the process ui->go_in */
    RTL_UI_PROCESSES = 4096, /* from a screen of one process to a screen of all */
    RTL_UI_END = 8192,       /* end the command that rtl-top run started (prompt.h) */
    RTL_UI_PROBE = 16384,    /* start a probe of the selected kernel, or stop the one that runs */
    RTL_UI_STALLS = 32768,   /* likewise a probe of its waits */
};

#define RTL_MESSAGE_NS (5 * RTL_SEC)
#define RTL_TYPING_NS  (RTL_SEC + RTL_SEC / 2) /* a longer pause ends the typing of a text */

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
    RTL_PROMPT_RECORD,
    RTL_PROMPT_SNAPSHOT,
    RTL_PROMPT_ASK, /* yes or no, before something changes outside the screen */
};
/* The command that rtl-top run started: none or ended; running; running after the user asked to end it. */
enum rtl_launched { RTL_LAUNCHED_NO, RTL_LAUNCHED_RUNS, RTL_LAUNCHED_ENDING };

/* The next search in the help. */
enum { RTL_FIND_BEFORE = -1, RTL_FIND_NOTHING, RTL_FIND_NEXT, RTL_FIND_HERE };

struct rtl_untraced;
struct rtl_restart;

struct rtl_ui {
    struct rtl_model *model;
    pid_t pid;
    char title[160];                   /* the process's command line, safe text */
    char caption[256];                 /* first line of the file of --caption, safe text */
    const struct rtl_restart *restart; /* of an observed process, or NULL */
    uint64_t interval_ns;

    enum rtl_view view, before;          /* `before`: the view that the help returns to */
    enum rtl_view under[RTL_VIEW_COUNT]; /* the views that this one was opened from, the first one first */
    int under_count;
    enum rtl_name_form names;
    enum rtl_unit units;
    bool gpu_lines, wrap, log_bars, ascii;
    uint32_t columns;                        /* of the kernels, bits by enum rtl_column; 0 = as many as fit */
    uint8_t column_places[RTL_COLUMN_COUNT]; /* columns.h */
    uint32_t columns_shown;                  /* columns that fitted at the last rtl_ui_scroll_into_view */

    bool following;    /* the cursor stays on the first row; a cursor that the user moved stays on its kernel */
    uint32_t selected; /* kernel id */
    int position;      /* last position of the selected kernel */
    int top;           /* first row of the kernels on screen */
    int line_at[RTL_VIEW_COUNT],
        line_top[RTL_VIEW_COUNT]; /* line of the cursor, first line shown; not of the kernels */
    int page;                     /* rows of the table at the last rtl_ui_scroll_into_view */
    uint32_t gpu;                 /* number of the GPU that RTL_VIEW_GPU shows */
    int gpu_line;                 /* line of the GPUs that has the cursor instead of a kernel, from 1; 0: none */
    int name_left;                /* columns that the names are scrolled by */
    /* order of the processes, and the member of the merge under the cursor (process_list.h) */
    bool process_sorted, process_reverse, process_held;
    int process_sort;
    uint32_t process_selected;
    pid_t process_from; /* move the cursor to this process when the list has it; 0: none */
    pid_t go_in;
    const char *no_probe;                /* why the process accepts no probes, or NULL; the loop sets it */
    bool opened;                         /* opened from another screen: Esc and p return to that */
    const struct rtl_untraced *untraced; /* processes that use a GPU and aren't traced, or NULL */

    bool manual; /* the help shows the manual, not the card */
    char help_search[RTL_FILTER_MAX];
    int help_line; /* line of the last match in the help; -1 = none */
    int help_from; /* first line when the search began */
    int help_find; /* RTL_FIND_*; rtl_ui_scroll_into_view searches, because it knows the lines */

    bool replay; /* shows a recording: frame number `frame` of `frames` */
    uint32_t frame, frames;
    double speed;
    int step;
    uint64_t seek_ns;           /* since 1970 */
    bool loading;               /* the first frame lacks some of many processes */
    uint32_t loaded, loaded_of; /* processes read, processes in all */
    char file[48];              /* recording that is replayed; "" = none */
    char record[48];            /* recording that is written, for the status line; "" = none */
    bool records;               /* this screen writes it, not a hidden one */
    char path[512];             /* file that x and S offer, safe text */
    char settings[512];         /* file that W writes, safe text; "" = unknown */

    bool paused;
    uint64_t paused_ns; /* monotonic */

    enum rtl_prompt prompt;
    char typed[512];
    char question[160], effect[600];  /* of RTL_PROMPT_ASK: title, and what yes does; safe text */
    unsigned request;                 /* RTL_UI_* on yes */
    int mode;                         /* requested by RTL_UI_MODE */
    bool ignoring;                    /* typed text is ignored, because no prompt expects it */
    uint64_t ignored_until_ns;        /* that text ends then if no character follows; monotonic, 0: none */
    bool at_once;                     /* the key was read together with the one before; the loop sets it */
    char kept_filter[RTL_FILTER_MAX]; /* Esc in the filter prompt restores it */
    uint32_t kept_columns;            /* Esc in the menu of columns restores these */
    uint8_t kept_places[RTL_COLUMN_COUNT];
    char search[RTL_FILTER_MAX];
    int menu; /* chosen line of a menu: a column to sort by, a mode, an answer */

    char message[160];                      /* shown until the next key or for RTL_MESSAGE_NS */
    uint64_t message_ns;                    /* monotonic */
    struct rtl_probe_told probe;            /* of this process, or recorded */
    uint64_t others_ns;                     /* mean of the kernel's other dispatches while it was armed; 0: unknown */
    const struct rtl_stalls_report *stalls; /* results of a probe of waits; NULL: the probe is not one of waits */
    int stall_at;                           /* line of the cursor in these; 0: always the hottest */
    uint32_t stall_place;                   /* code offset of the wait under the cursor */
    const char *copy;
    enum rtl_launched launched;
    char log[200]; /* file with the output of the started command, safe text; "" = no command */

    /* the loop sets these before each frame */
    uint64_t now_mono_ns;
    int64_t now_real_s;
};

/* Set the defaults; the caller sets choices of options afterwards. */
void rtl_ui_init(struct rtl_ui *ui, struct rtl_model *model, pid_t pid, const char *title);
/* Show a message; returns RTL_UI_DRAW, which a key's handler returns then. */
unsigned rtl_ui_say(struct rtl_ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return the keys that are bound now: RTL_IN_* (keys.h). */
unsigned rtl_ui_context(const struct rtl_ui *ui);
/* True for tables without a cursor, which scroll: ranks, steps, a GPU's evidence. */
bool rtl_ui_scrolls(const struct rtl_ui *ui);

/* Views lie on each other, the kernels at the bottom. Open a view, or return to it if it lies below. Returns
 * RTL_UI_DRAW. */
unsigned rtl_ui_open_view(struct rtl_ui *ui, enum rtl_view view);
/* Return to the view below. */
void rtl_ui_close_view(struct rtl_ui *ui);
/* Open a view; if it is open, return to the kernels. */
unsigned rtl_ui_toggle_view(struct rtl_ui *ui, int view);

/* True while a prompt takes text. */
bool rtl_ui_takes_text(const struct rtl_ui *ui);
/* True in the views of HIP calls and of roctx ranges. */
bool rtl_ui_shows_calls(const struct rtl_ui *ui);
/* Return the rows of that view. */
const struct rtl_hip_api_model_row *rtl_ui_call_rows(const struct rtl_ui *ui, int *count);

/* A probe of this kernel has something to show; it still runs; it is one of waits. */
bool rtl_ui_has_probe(const struct rtl_ui *ui, const struct rtl_row *row);
bool rtl_ui_is_probed(const struct rtl_ui *ui, const struct rtl_row *row);
bool rtl_ui_has_stalls(const struct rtl_ui *ui, const struct rtl_row *row);

/* --- keys and the mouse: each changes the state --- */

/* Handle one key; returns requests to the loop, RTL_UI_*. */
unsigned rtl_ui_key(struct rtl_ui *ui, uint32_t key);

/*
 * Handle one event of the mouse, an RTL_KEY_MOUSE of keys.h, on a screen of that size (mouse.c); returns RTL_UI_*. The
 * wheel scrolls. A click on a header sorts, the next one reverses; a click on a row selects it, the next one opens it.
 */
unsigned rtl_ui_mouse(struct rtl_ui *ui, uint32_t event, int rows, int cols);

/* Show why the model's n-th GPU is idle. */
unsigned rtl_ui_show_gpu(struct rtl_ui *ui, int n);

/* Keep the cursor on its kernel and in sight (scroll.c); call after new data, a key or a resize. */
void rtl_ui_scroll_into_view(struct rtl_ui *ui, int rows, int cols);

#endif
