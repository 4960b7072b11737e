/*
 * Columns of all tables but the kernels', and words of the screens that no other table has. Headers and help are made
 * from them.
 */
#ifndef RTL_TUI_SCREEN_TABLES_H
#define RTL_TUI_SCREEN_TABLES_H

/* For the tables below: elements of an array of struct rtl_table_column (table.h) */
#define RTL_TABLE_COLUMN(header, width, from, meaning) {header, width, from},

/* X(header, width, least terminal width, meaning) in the order of the screen; draw_queues.c fills them */
#define RTL_QUEUE_COLUMNS(X)                                                                   \
    X("PID", 7, 0, "process that owns the queue, when several are watched")                    \
    X("QUEUE", 8, 0, "the runtime's number of the queue; others: queues that share a row")     \
    X("GPU", 4, 0, "the process's own number of the GPU")                                      \
    X("DEPTH", 6, 0, "packets in flight: submitted and not completed")                         \
    X("DISP/s", 7, 34, "dispatches per second in the window, timed or not")                    \
    X("DISP", 7, 58, "dispatches since the start, timed or not")                               \
    X("WAIT P50", 9, 68, "median time that packets waited before they started, in the window") \
    X("WAIT P99", 9, 44, "99th percentile of these waits")                                     \
    X("GAP P50", 8, 77, "median time that the queue was empty between two kernels")            \
    X("GAP P99", 8, 54, "99th percentile of these gaps")                                       \
    X("%UNTMD", 7, 86, "share of its dispatches that were counted but not timed")              \
    X("SIZE", 7, 94, "capacity of the queue in packets")                                       \
    X("PACKETS", 8, 114, "packets of any kind since the start")                                \
    X("STATE", 10, 104, "live, failed (see the lines below), or destroyed by the process")

enum { RTL_PCI_FROM = 68, RTL_UUID_FROM = 89 };
/* Likewise for the GPUs; columns of idle time by length of gap stand between these two */
#define RTL_GPU_COLUMNS_BEFORE(X)                                                  \
    X("GPU", 4, 0, "the process's own number of the GPU")                          \
    X("PCI", 12, RTL_PCI_FROM, "the GPU's PCI address, the same in every process") \
    X("%BUSY", 5, 0, "share of the window in which at least one timed kernel ran")
#define RTL_GPU_COLUMNS_BEHIND(X) X("GAPS/s", 6, 74, "gaps per second, of any length")
#define RTL_GPU_UUID              "UUID"
#define RTL_GPU_UUID_MEANS        "the GPU's unique number, if the runtime knows one"
#define RTL_GPU_IDLE_MEANS        "share of the window that the GPU was idle in gaps of that length"

/* Rates of bytes are decimal, as bandwidths usually are; sizes are binary. draw_copies.c fills them. */
#define RTL_COPIES_COLUMNS(X)                                                                \
    X("GPU", 4, 0, "the process's own number of the GPU")                                    \
    X("COPY", 4, 0, "direction: one of the four below")                                      \
    X("COPY/s", 6, 0, "copies per second in the window, timed or not")                       \
    X("B/s", 6, 0, "bytes per second of the window (k, M, G: powers of 1000)")               \
    X("%TIME", 5, 32, "share of the window that copies ran; above 100 when several overlap") \
    X("P50", 6, 52, "median duration in the window")                                         \
    X("P99", 6, 38, "99th percentile of the durations in the window")                        \
    X("MEAN B", 6, 59, "mean bytes of a copy in the window (K, M, G: powers of 1024)")       \
    X("SPEED", 6, 66, "bytes per second while a timed copy ran")                             \
    X("COPIES", 6, 73, "copies since the start")                                             \
    X("BYTES", 6, 80, "bytes since the start (K, M, G: powers of 1024)")                     \
    X("%UNTMD", 6, 87, "share of copies that were counted but not timed")                    \
    X("MIN", 6, 94, "shortest duration in the window")                                       \
    X("MAX", 6, 101, "longest duration in the window")

/* HIP calls, roctx ranges and marks: X(header, width, least terminal width, enum rtl_hip_api_order or -1, meaning).
 * draw_calls.c fills them; the name fills the line. */
#define RTL_CALL_COLUMNS(X)                                                                                            \
    X("%TIME", 5, 0, RTL_HIP_API_BY_SHARE, "share of the window that threads were in it; above 100 when several were") \
    X("CALL/s", 6, 0, -1, "calls per second in the window")                                                            \
    X("P50", 6, 46, -1, "median duration in the window")                                                               \
    X("P99", 6, 32, RTL_HIP_API_BY_P99, "99th percentile of the durations in the window")                              \
    X("ERRORS", 6, 56, -1, "calls since the start that returned an error (except not ready)")                          \
    X("B/s", 6, 64, -1, "bytes per second copied, set or allocated (k, M, G: powers of 1000)")                         \
    X("CALLS", 6, 74, RTL_HIP_API_BY_CALLS, "calls since the start")                                                   \
    X("TOTAL", 6, 90, RTL_HIP_API_BY_TOTAL, "time that threads were in it since the start")                            \
    X("BYTES", 6, 98, -1, "bytes since the start (K, M, G: powers of 1024)")                                           \
    X("IN USE", 6, 106, -1, "memory that it allocated and that is not freed")                                          \
    X("MAX", 6, 114, -1, "longest duration in the window")
#define RTL_CALL_NAME       "FUNCTION"
#define RTL_CALL_NAME_MEANS "the HIP function"
#define RTL_RANGE_COLUMNS(X)                                                                                           \
    X("%TIME", 5, 0, RTL_HIP_API_BY_SHARE, "share of the window that threads were in it; above 100 when several were") \
    X("COUNT/s", 7, 0, -1, "ended ranges or marks of this name, per second in the window")                             \
    X("P50", 6, 60, -1, "median duration of the ranges of this name in the window")                                    \
    X("P99", 6, 32, RTL_HIP_API_BY_P99, "99th percentile of these durations")                                          \
    X("%GPU", 5, 40, -1, "share of the window that kernels called in it or in its inner ranges ran")                   \
    X("OPEN", 5, 66, -1, "ranges that began and have not ended")                                                       \
    X("COUNT", 6, 72, RTL_HIP_API_BY_CALLS, "ranges that ended since the start")                                       \
    X("TOTAL", 6, 78, RTL_HIP_API_BY_TOTAL, "time of these ranges since the start")                                    \
    X("GPU", 6, 90, -1, "time of the range's kernels since the start")                                                 \
    X("MAX", 6, 98, -1, "longest duration of the ranges of this name in the window")
#define RTL_RANGE_NAME       "RANGE"
#define RTL_RANGE_NAME_MEANS "name of the range or mark"

/* The processes; draw_processes.c fills them. The command fills the line. */
#define RTL_PROCESS_COLUMNS(X)                                                                     \
    X("PID", 7, 0, "process id, for -p")                                                           \
    X("RANK", 5, 0, "rank of the worker, from its name, environment or arguments")                 \
    X("GPU", 10, 34, "address of the GPU that it used; with several, the first and how many more") \
    X("%BUSY", 5, 42, "share of the window in which its timed kernels ran on its GPUs")            \
    X("DISP/s", 6, 0, "dispatches per second in the window, timed or not")                         \
    X("P99", 6, 56, "highest p99 of its kernels in the window")                                    \
    X("MODE", 7, 78, "its present mode; or stale, or exited")                                      \
    X("AGE", 6, 86, "time since the library was loaded")                                           \
    X("CONTAINER", 12, 130, "container in which it runs")
#define RTL_PROCESS_TOP           "TOP KERNEL"
#define RTL_PROCESS_TOP_MEANS     "kernel with the most time in the window"
#define RTL_PROCESS_COMMAND       "COMMAND"
#define RTL_PROCESS_COMMAND_MEANS "its command line without the folder"

/* Parts of a step; draw_steps.c fills them. The name fills the line. */
#define RTL_STEP_COLUMNS(X)                                                                                      \
    X("A STEP", 8, 0, "time per step: of kernels on all GPUs of a process; of a rank from one step to the next") \
    X("%STEP", 5, 0, "share of the step's time on these GPUs; of a rank the share that its kernels ran")         \
    X("RUNS", 6, 36, "dispatches per step, timed or not")                                                        \
    X("CHANGE", 6, 46, "time per step against the window before; = when the difference may be chance")

/* One kernel in each process; draw_processes.c fills them. */
#define RTL_RANK_COLUMNS(X)                                           \
    X("PID", 7, 0, "process id")                                      \
    X("RANK", 6, 0, "rank of the worker")                             \
    X("GPU", 10, 60, "the GPU that it used")                          \
    X("CALLS", 7, 50, "dispatches of the kernel in the window")       \
    X("MEAN", 7, 30, "mean duration in the window")                   \
    X("P50", 7, 44, "median duration in the window")                  \
    X("P99", 7, 37, "99th percentile of the durations in the window") \
    X("VS MEDIAN", 9, 0,                                              \
      "its mean, or p50 of a collective, over the median of the others; last: arrives last in a collective")

/* X(word, meaning): words of a probe in the detail (draw_probe.c, draw_stalls.c) */
#define RTL_PROBE_WORDS(X)                                                                                 \
    X("PROBE", "a copy whose waves record their durations (B); over: ended, the results stay")             \
    X("STALLS", "copies, one after another, that time each s_waitcnt (Y)")                                 \
    X("armed", "the copy is loaded, and dispatches run it")                                                \
    X("waves", "waves that ended, of all waves in the grids of probed dispatches")                         \
    X("p50 cyc", "median cycles of a wave, to a power of two; p99 cyc likewise")                           \
    X("imbalance", "highest wave cycles of a compute unit, divided by the mean of the busy ones")          \
    X("dies", "on a GPU with several dies: dies that had waves, and their imbalance")                      \
    X("on CUs", "compute units that had waves")                                                            \
    X("hottest", "compute unit with the most wave cycles; then: the next ones")                            \
    X("slot gaps", "share of time that a wave slot was empty between two waves, and the median gap")       \
    X("tail p50", "median time in which the last half of a dispatch's waves ended; tail max: the longest") \
    X("mean", "mean duration of the probed dispatches")                                                    \
    X("others", "mean duration of other dispatches; x: how many times longer the probed ones took")        \
    X("waits", "s_waitcnt that were timed, of all in the kernel")                                          \
    X("clock", "cycles to read the clock: a wait of about that long did not wait")                         \
    X("%WAVES", "share of the waves' cycles that the wait took")                                           \
    X("CYCLES", "cycles of the wait per pass; PASSES: passes of all waves")                                \
    X("AT", "offset from the kernel's entry; WAIT, WAITS FOR: counters that it waits for")

/* X(word, meaning): words of the screens that no table has */
#define RTL_WORDS(X)                                                                                     \
    X("G0", "a GPU, by the process's own number; the queues (Tab) have the address")                     \
    X("busy", "share of the window in which a timed kernel ran; the mean of several GPUs")               \
    X("wait p99", "99th percentile of the time that a GPU's packets waited to start")                    \
    X("copy", "share of the window that copies from and to the GPU took")                                \
    X("!", "p50 or p99 grew by a tenth or more since the previous window; a GPU is held up")             \
    X("~", "an estimate, for a process observed from outside (OBSERVED)")                                \
    X("signals", "the library's signals in use, when near their limit")                                  \
    X("disp/s", "dispatches per second, timed or not")                                                   \
    X("─", "in TREND: p99 is at its median")                                                             \
    X("win", "the time window of the table")                                                             \
    X("BEFORE", "a family's share of time in the previous window")                                       \
    X("drop", "dispatches that should have been timed but were not, in the window or before it")         \
    X("<88%", "at most: sum of several processes on that GPU, whose times may overlap")                  \
    X("age", "time since the library last wrote, if it is long")                                         \
    X("REC", "a recording runs, here or behind this screen; rec: its file")                              \
    X("LOADING", "processes read so far, of many; keys work meanwhile")                                  \
    X("pid", "process id; inside: its id in its own container")                                          \
    X("p99.9", "99.9th percentile of the durations; p50, p90, p99 likewise")                             \
    X("min, max", "the shortest and the longest duration")                                               \
    X("P99 over time", "the upper line; the lower line shows P50. interval: the length of every sample") \
    X("DURATION", "in the detail: shortest duration of a row; CALLS: dispatches of the row")             \
    X("IN WINDOW", "values of the sliding window, keys { and }")                                         \
    X("SINCE START", "since the process was first traced; SINCE ZERO: since key z")                      \
    X("grid", "work-items of the last dispatch; wg: of a workgroup")                                     \
    X("lds", "local memory of a workgroup, in bytes")                                                    \
    X("scratch", "private memory of a work-item beyond its registers, in bytes")                         \
    X("launch", "median and p99 time from the call to the kernel's start, in the window; see LAUNCH")    \
    X("lin", "key l: bars of the histogram linear, or logarithmic (log)")                                \
    X("[?]", "the line is cut; a wider terminal shows it all, this help its figures")                    \
    X("-", "not measured (never the same as 0)")

#endif
