/*
 * The tables beside the kernels': columns of queues, GPUs and copies, from which headers and help are made, and the
 * words of the screens that stand in no other table, for the help.
 */
#ifndef RTL_TUI_SCREEN_TABLES_H
#define RTL_TUI_SCREEN_TABLES_H

/* X(header, width, least terminal width, meaning) in the order of the screen, in which draw_queues.c fills them */
#define RTL_QUEUE_COLUMNS(X)                                                                     \
    X("PID", 7, 0, "the process whose queue it is, where several are watched")                   \
    X("QUEUE", 8, 0, "the runtime's number of the queue; others: several that share a row")      \
    X("GPU", 4, 0, "the process's own number of the GPU")                                        \
    X("WAY", 9, 60, "how its packets come to the library, see RTL_QUEUES below")                 \
    X("DEPTH", 6, 0, "packets in flight: submitted and not completed")                           \
    X("DISP/s", 7, 34, "dispatches a second in the window, timed or not")                        \
    X("DISP", 7, 68, "dispatches since the start, timed or not")                                 \
    X("WAIT P50", 9, 78, "median of how long packets waited before they started, in the window") \
    X("WAIT P99", 9, 44, "99 % of the packets waited no longer than this")                       \
    X("GAP P50", 8, 87, "median of how long the queue stood empty between two kernels")          \
    X("GAP P99", 8, 54, "99 % of those gaps are no longer than this")                            \
    X("%UNTMD", 7, 96, "share of its dispatches that were counted, not timed")                   \
    X("SIZE", 7, 104, "packets that the queue has room for")                                     \
    X("PACKETS", 8, 124, "packets of any kind since the start")                                  \
    X("STATE", 10, 114, "live, or destroyed by the process")                                     \
    X("WHY", 15, RTL_REASON_FROM, "why it has its way; the lines below the queues have it in words")

/* From that many columns on each queue says why it is watched in its way. */
enum { RTL_REASON_FROM = 140 };
enum { RTL_PCI_FROM = 68, RTL_UUID_FROM = 103 };
/* The same for the GPUs; shares of the window by size of gap are between those in front and those behind */
#define RTL_GPU_COLUMNS_BEFORE(X)                                           \
    X("GPU", 4, 0, "the process's own number of the GPU")                   \
    X("PCI", 12, RTL_PCI_FROM, "the GPU's address, the same for everybody") \
    X("%BUSY", 5, 0, "share of the window in which at least one timed kernel ran")
#define RTL_GPU_COLUMNS_BEHIND(X)                                                              \
    X("CLOCK", 6, 74, "how far the GPU's time was off the host's when it was last compared")   \
    X("PPM", 6, 80, "parts per million that the GPU's clock runs faster or slower than rated") \
    X("GAPS/s", 6, 87, "gaps a second, of any length")
#define RTL_GPU_UUID       "UUID"
#define RTL_GPU_UUID_MEANS "the GPU's own number, if the runtime knows one"
#define RTL_GPU_IDLE_MEANS "share of the window that the GPU stood idle in gaps of that length"

/* Rates of bytes are decimal, as everybody's bandwidth is; sizes are binary. draw_copies.c fills them. */
#define RTL_COPIES_COLUMNS(X)                                                            \
    X("GPU", 4, 0, "the process's own number of the GPU")                                \
    X("COPY", 4, 0, "from where to where: the four below")                               \
    X("COPY/s", 6, 0, "copies a second in the window, timed or not")                     \
    X("B/s", 6, 0, "bytes a second over the whole window (k, M, G: thousands)")          \
    X("%TIME", 5, 32, "share of the window that they took; above 100: several at once")  \
    X("P50", 6, 52, "median duration in the window")                                     \
    X("P99", 6, 38, "99 % of the durations in the window are at most this")              \
    X("MEAN B", 6, 59, "bytes of a copy in the window, on the average (K, M, G: 1024s)") \
    X("SPEED", 6, 66, "bytes a second while a copy ran, of the timed ones")              \
    X("COPIES", 6, 73, "copies since the start")                                         \
    X("BYTES", 6, 80, "bytes since the start (K, M, G: 1024s)")                          \
    X("%UNTMD", 6, 87, "share of the copies that were counted, not timed")               \
    X("MIN", 6, 94, "shortest duration in the window")                                   \
    X("MAX", 6, 101, "longest duration in the window")

/* The calls of HIP, and the ranges and marks of roctx: X(header, width, least terminal width, what it is ranked by
 * (enum rtl_hip_api_order, -1: nothing), meaning). draw_calls.c fills them; the name takes what is left. */
#define RTL_CALL_ERRORS "ERRORS"
#define RTL_CALL_COLUMNS(X)                                                                                   \
    X("%TIME", 5, 0, RTL_HIP_API_BY_SHARE, "share of the window that threads were in it; above 100: several") \
    X("CALL/s", 6, 0, -1, "calls a second in the window")                                                     \
    X("P50", 6, 46, -1, "median duration in the window")                                                      \
    X("P99", 6, 32, RTL_HIP_API_BY_P99, "99 % of the durations in the window are at most this")               \
    X(RTL_CALL_ERRORS, 6, 56, -1, "calls since the start that returned an error (not ready is none)")         \
    X("B/s", 6, 64, -1, "bytes a second that they copied, set or allocated (k, M, G: thousands)")             \
    X("CALLS", 6, 74, RTL_HIP_API_BY_CALLS, "calls since the start")                                          \
    X("TOTAL", 6, 90, RTL_HIP_API_BY_TOTAL, "time since the start that threads were in it")                   \
    X("BYTES", 6, 98, -1, "bytes since the start (K, M, G: 1024s)")                                           \
    X("IN USE", 6, 106, -1, "memory that it has allocated and nobody has given back")                         \
    X("MAX", 6, 114, -1, "longest duration in the window")
#define RTL_CALL_NAME       "FUNCTION"
#define RTL_CALL_NAME_MEANS "the function of HIP"
#define RTL_RANGE_COLUMNS(X)                                                                                  \
    X("%TIME", 5, 0, RTL_HIP_API_BY_SHARE, "share of the window that threads were in it; above 100: several") \
    X("COUNT/s", 7, 0, -1, "ranges of the name that ended there, or marks, a second in the window")           \
    X("P50", 6, 60, -1, "median duration in the window, of all ranges of the name")                           \
    X("P99", 6, 32, RTL_HIP_API_BY_P99, "99 % of those durations are at most this")                           \
    X("%GPU", 5, 40, -1, "share of the window that kernels ran whose calls were in it, or in one in it")      \
    X("OPEN", 5, 66, -1, "ranges that have begun and not ended")                                              \
    X("COUNT", 6, 72, RTL_HIP_API_BY_CALLS, "how many have ended since the start")                            \
    X("TOTAL", 6, 78, RTL_HIP_API_BY_TOTAL, "their time since the start")                                     \
    X("GPU", 6, 90, -1, "time since the start of those kernels")                                              \
    X("MAX", 6, 98, -1, "longest duration in the window, of all ranges of the name")
#define RTL_RANGE_NAME       "RANGE"
#define RTL_RANGE_NAME_MEANS "what the program calls it"

/* The processes; draw_processes.c fills them. The command takes what is left. */
#define RTL_PROCESS_COLUMNS(X)                                                                          \
    X("PID", 7, 0, "the process, as -p takes it")                                                       \
    X("RANK", 5, 0, "which worker it is: of its name, environment or arguments")                        \
    X("GPU", 10, 34, "address of the GPU that it had work on; of several the first, and how many more") \
    X("%BUSY", 5, 42, "share of the window in which a timed kernel of its own ran on its GPUs")         \
    X("DISP/s", 6, 0, "dispatches a second in the window, timed or not")                                \
    X("P99", 6, 56, "the highest p99 of its kernels in the window")                                     \
    X("MODE", 7, 78, "the mode in force in it, stale or exited")                                        \
    X("AGE", 6, 86, "since the library was loaded")                                                     \
    X("CONTAINER", 12, 130, "the container that it runs in")
#define RTL_PROCESS_TOP           "TOP KERNEL"
#define RTL_PROCESS_TOP_MEANS     "where most of its time in the window went"
#define RTL_PROCESS_COMMAND       "COMMAND"
#define RTL_PROCESS_COMMAND_MEANS "its command line, without the folder"

/* A kernel in each process; draw_processes.c fills them. */
#define RTL_RANK_COLUMNS(X)                                                 \
    X("PID", 7, 0, "the process")                                           \
    X("RANK", 6, 0, "which worker it is")                                   \
    X("GPU", 10, 60, "the GPU that it had work on")                         \
    X("CALLS", 7, 50, "dispatches of the kernel in the window")             \
    X("MEAN", 7, 30, "mean duration in the window")                         \
    X("P50", 7, 44, "median duration in the window")                        \
    X("P99", 7, 37, "99 % of the durations in the window are at most this") \
    X("VS MEDIAN", 9, 0, "its mean, how many times the median of the others'; last: arrives last in a collective")

/* X(word, what it means): what a probe has in the detail; draw_probe.c and draw_stalls.c draw it. */
#define RTL_PROBE_WORDS(X)                                                                                           \
    X("PROBE", "a copy whose waves record how long they take (P); over: it has ended, its numbers stay")             \
    X("STALLS", "one copy after another that times what each s_waitcnt costs its waves (s)")                         \
    X("armed", "the copy is loaded, and dispatches run it")                                                          \
    X("waves", "how many have ended, of how many the probed dispatches' grids have")                                 \
    X("p50 cyc", "median of the cycles that a wave lasted, to a power of two; p99 cyc likewise")                     \
    X("imbalance", "the most cycles that a compute unit had waves for, over the mean of those that had any")         \
    X("dies", "of GPUs that have several: how many had waves, and their imbalance")                                  \
    X("on CUs", "compute units that had waves")                                                                      \
    X("hottest", "the compute unit with the most cycles of waves; then: the ones behind it")                         \
    X("slot gaps", "share of the time that a wave's slot was empty between two waves, and the median of one gap")    \
    X("tail p50", "median of the time from half of a dispatch's waves' ends to the last one; tail max: the longest") \
    X("mean", "mean duration of the probed dispatches")                                                              \
    X("others", "that of dispatches that weren't probed; x: how many times longer the probed ones took")             \
    X("waits", "s_waitcnt that were timed, of those that the kernel has")                                            \
    X("clock", "what reading the clock takes: a wait of about so many cycles waited for nothing")                    \
    X("%WAVES", "share of the cycles of its waves that a wait took")                                                 \
    X("CYCLES", "cycles that waves stood at it, a pass; PASSES: of all waves, how often")                            \
    X("AT", "where it is behind the kernel's entry; WAIT, WAITS FOR: the counters that it waits for")

/* X(word, what it means): what stands on the screens and in no table. */
#define RTL_WORDS(X)                                                                                             \
    X("G0", "a GPU, by the process's own number; the queues (Tab) have the address")                             \
    X("busy", "share of the window in which a timed kernel ran; on several GPUs their mean")                     \
    X("wait p99", "99 % of a GPU's packets waited at most that long to start")                                   \
    X("copy", "share of the window that copies from and to the GPU took")                                        \
    X("!", "p50 or p99 is longer than in the window before by a tenth or more; a GPU is held up")                \
    X("~", "an estimate: of a process that is seen from outside (OBSERVED)")                                     \
    X("signals", "of ours in use, when nearly all that there may be are")                                        \
    X("disp/s", "dispatches a second, timed or not")                                                             \
    X("▄1x █2x", "marks of a trend: the median of what is shown, and twice that or more")                        \
    X("win", "the window: the span of time that the table is about")                                             \
    X("drop", "dispatches of the window that should have been timed and were not; earlier: before it")           \
    X("<88%", "at most: the times of several processes on that GPU added up, which may overlap")                 \
    X("age", "how long ago the library last wrote anything, when that is late")                                  \
    X("REC", "a recording is made, here or behind this screen; rec: into which file")                            \
    X("LOADING", "of many processes those that have been read so far; keys are answered meanwhile")              \
    X("pid", "the process; inside: its number in its own container")                                             \
    X("p99.9", "99.9 % of the durations are at most this; p50, p90, p99 likewise")                               \
    X("min, max", "the shortest and the longest duration")                                                       \
    X("P99 over time", "on its P50, the body; coloured where it is more than twice that. interval: of a sample") \
    X("DURATION", "in the detail: a row's shortest one; CALLS: how many were that long")                         \
    X("IN WINDOW", "the sliding window, keys { and }")                                                           \
    X("SINCE START", "since the process was first traced; SINCE ZERO: since key z")                              \
    X("grid", "of the last dispatch: work-items in all")                                                         \
    X("wg", "workgroup of the last dispatch: work-items that run together")                                      \
    X("lds", "local memory of a workgroup, bytes")                                                               \
    X("scratch", "private memory of a work-item that doesn't fit its registers, bytes")                          \
    X("launch", "of a kernel: median and p99 from its call's begin to its start, in the window; see LAUNCH")     \
    X("lin", "key L: bars of the histogram linear, or logarithmic (log)")                                        \
    X("[?]", "the line goes on: it stands whole in a wider terminal, its figures in this help")                  \
    X("-", "not measured (never the same as 0)")

#endif
