/*
 * Small tables shared by the library, the viewer, the help, the man pages and the tests.
 *
 * Each is an X-macro: one line an entry, and no other place states anything about an entry. Numbers are part of the
 * segment's contract (segment.h): append, never renumber, never reuse.
 */
#ifndef RTL_SHM_TABLES_H
#define RTL_SHM_TABLES_H

/* X(symbol, number, name in RTL_MODE and on screen, meaning); 3 is RTL_MODE_FULL */
#define RTL_MODES(X)                                                                 \
    X(OFF, 0, "off", "loaded, counts nothing, costs next to nothing")                \
    X(LITE, 1, "lite", "times only kernels without a signal of the application")     \
    X(DEFAULT, 2, "default", "times every kernel dispatch that can be timed safely") \
    X(AUTO, 4, "auto", "counts every dispatch, times them only while a viewer watches")

/* X(other name, symbol of the mode it stands for) */
#define RTL_MODE_ALIASES(X) \
    X("standard", DEFAULT)  \
    X("full", DEFAULT)

/* In RTL_MODE only: as default, and a preloaded librtl-hip.so records HIP calls. */
#define RTL_MODE_HIP       "hip"
#define RTL_MODE_HIP_MEANS "as default, and the calls of HIP are recorded; a process has to begin in it"

/* The activity: how the library treats a dispatch now, under the mode in force. X(symbol, number, JSON key) */
#define RTL_ACTIVITIES(X)      \
    X(OFF, 0, "off")           \
    X(COUNTING, 1, "counting") \
    X(TIMING, 2, "timing")

/*
 * Why a counted dispatch was not timed. X(symbol, number, JSON key, text on screen, writer)
 * writer: DISPATCH = the thread that submits to the queue (numbers 0..7 and 16..20), WORKER = the completion worker
 * (numbers 8..15). The writer decides which cache line of rtl_queue the counter lives in (rtl_queue_untimed).
 * 6 was "format": a dispatch packet that could be counted only, and is decoded now.
 */
#define RTL_UNTIMED_REASONS(X)                                                                                        \
    X(OWN_SIGNAL, 0, "own_signal", "carries a completion signal of the application", DISPATCH)                        \
    X(NO_SIGNAL, 1, "no_signal", "no free signal: the pool was at its limit", DISPATCH)                               \
    X(BATCH, 2, "batch", "in a batch that this release of the runtime cannot rewrite safely", DISPATCH)               \
    X(SHUTDOWN, 3, "shutdown", "submitted while the library or the runtime was shutting down", DISPATCH)              \
    X(NO_WORKER, 4, "no_worker", "no completion worker: the thread could not be started", DISPATCH)                   \
    X(NO_ROOM, 5, "no_room", "too many dispatches in flight to track one more", DISPATCH)                             \
    X(UNSAFE_SIGNAL, 7, "unsafe_signal", "writes to its signal may go unseen: IPC, hand-made, plain queue", DISPATCH) \
    X(QUEUE_GONE, 8, "queue_gone", "the queue was destroyed before the kernel completed", WORKER)                     \
    X(BAD_TIME, 9, "bad_time", "the timestamps were missing, ran backwards or made no sense", WORKER)                 \
    X(ABANDONED, 10, "abandoned", "still in flight when the library was unloaded", WORKER)                            \
    X(NO_MEMORY, 11, "no_memory", "no memory for the kernel's histogram", WORKER)                                     \
    X(SHARED_SIGNAL, 12, "shared_signal", "its signal was on several packets or copies at once", WORKER)              \
    X(SIGNAL_GONE, 13, "signal_gone", "the application's signal was destroyed before it completed", WORKER)           \
    X(PROBED, 14, "probed", "ran a probe's copy of its kernel: counted separately", WORKER)                           \
    X(UNWATCHED, 16, "unwatched", "no viewer: auto only counts then", DISPATCH)                                       \
    X(DEMOTED, 17, "demoted", "its queue was demoted: another writer uses its index or doorbell", DISPATCH)           \
    X(LET_GO, 18, "let_go", "the thread that reserved it rang no doorbell: submitted unchanged", DISPATCH)            \
    X(OBSERVED, 19, "observed", "observed from outside: no signal had its times", DISPATCH)

/* How packets come to the library from a queue. X(symbol, number, JSON value, meaning) */
#define RTL_QUEUE_PATHS(X)                                                                         \
    X(INTERCEPT, 1, "intercept", "the runtime's intercept queue passes packets to the library")    \
    X(NATIVE, 2, "native", "the library virtualises the queue's write index and doorbell")         \
    X(DEMOTED, 3, "demoted", "the library reads the ring after the application: counts, no times") \
    X(OBSERVED, 4, "observed", "rtl-top reads the ring from outside the process")

/* Errors that stop a queue, by the runtime's status (hsa_status_t), which a reader doesn't trust. X(status, JSON key,
 * text) */
#define RTL_QUEUE_ERRORS(X)                                             \
    X(0x0029, "memory_aperture", "access outside all memory apertures") \
    X(0x002a, "illegal_instruction", "illegal instruction")             \
    X(0x002b, "memory_fault", "memory access fault")                    \
    X(0x002d, "registers", "too many registers")                        \
    X(0x1000, "gpu", "GPU error")                                       \
    X(0x1001, "workgroup", "workgroup too large")                       \
    X(0x1003, "group_memory", "too much LDS")                           \
    X(0x1008, "scratch", "no memory for scratch")                       \
    X(0x1009, "packet", "invalid packet")                               \
    X(0x100d, "grid", "invalid grid")                                   \
    X(0x100f, "isa", "code of another GPU, or too many registers")      \
    X(0x1010, "code_object", "invalid code object")                     \
    X(0x1016, "exception", "exception")

/* Why a queue has its path; 2 to 4 are retired. X(symbol, number, JSON key, text on screen) */
#define RTL_PATH_REASONS(X)                                                                     \
    X(ASKED_FOR, 1, "asked_for", "RTL_QUEUES says so")                                          \
    X(OTHER_TOOL, 5, "other_tool", "another tool made the queue")                               \
    X(NO_INTERCEPT, 6, "no_intercept", "the queue can't be an intercept queue")                 \
    X(INDEX_MOVED, 7, "index_moved", "another writer moves the queue's index")                  \
    X(RINGS_ITSELF, 8, "rings_itself", "the application rings the hardware's doorbell itself")  \
    X(RING_ELSEWHERE, 9, "ring_elsewhere", "the application wants the ring on the GPU")         \
    X(NOT_LOADED, 10, "not_loaded", "the process was started without the library")              \
    X(RUNTIMES_OWN, 11, "runtimes_own", "the runtime's own queue: copies and fills by kernels") \
    X(PAST_LIBRARY, 12, "past_library", "the library doesn't see it: counted from outside")     \
    X(DEFAULT, 13, "default", "queues are native by default")

/* When the read index of a queue moves, as the observer judges it from outside. X(symbol, number, JSON value, text on
 * screen) */
#define RTL_CONVENTIONS(X)                                                   \
    X(UNKNOWN, 0, "unknown", "not known so far which packet runs: no times") \
    X(LATE, 1, "late", "when a packet has ended")                            \
    X(EARLY, 2, "early", "when a packet was launched")

/* Directions of copies. X(symbol, number, JSON value, text on screen, meaning) */
#define RTL_DIRECTIONS(X)                   \
    X(H2D, 0, "h2d", "H2D", "host to GPU")  \
    X(D2H, 1, "d2h", "D2H", "GPU to host")  \
    X(D2D, 2, "d2d", "D2D", "within a GPU") \
    X(P2P, 3, "p2p", "P2P", "to another GPU; counted with the one it comes from")

/* Why a counted copy was not timed. X(symbol, number, JSON key, text on screen, writer)
 * writer: CALLER = any thread, when it copies (numbers 0..7), WORKER = the completion worker (numbers 8..15). */
#define RTL_COPY_REASONS(X)                                                                                         \
    X(LITE, 0, "lite", "mode lite leaves the application's signals alone", CALLER)                                  \
    X(UNSAFE_SIGNAL, 1, "unsafe_signal", "writes to its signal may go unseen: IPC, hand-made, plain queue", CALLER) \
    X(ON_SEVERAL, 2, "on_several", "its signal was still in use by another packet or copy", CALLER)                 \
    X(NOT_PROFILED, 3, "not_profiled", "the runtime would not time copies", CALLER)                                 \
    X(NO_WORKER, 4, "no_worker", "no completion worker: the thread could not be started", CALLER)                   \
    X(NO_ROOM, 5, "no_room", "too many copies in flight to track one more", CALLER)                                 \
    X(SHUTDOWN, 6, "shutdown", "submitted while the library or the runtime was shutting down", CALLER)              \
    X(UNWATCHED, 7, "unwatched", "no viewer: auto only counts then", CALLER)                                        \
    X(SHARED_SIGNAL, 8, "shared_signal", "its signal was used again before the copy completed", WORKER)             \
    X(SIGNAL_GONE, 9, "signal_gone", "its signal was destroyed before it completed", WORKER)                        \
    X(BAD_TIME, 10, "bad_time", "the timestamps were missing, ran backwards or made no sense", WORKER)              \
    X(ABANDONED, 11, "abandoned", "still in flight when the library was unloaded", WORKER)                          \
    X(NO_MEMORY, 12, "no_memory", "no memory for its histogram", WORKER)

/* Things that the user has to know about the whole process. X(symbol, bit, JSON key, text on screen)
 * Bits are only ever set. */
#define RTL_NOTES(X)                                                                                             \
    X(QUEUE_NOT_INTERCEPTED, 0, "queue_not_intercepted", "a queue could not be intercepted: not counted")        \
    X(BATCH_UNSAFE, 1, "batch_unsafe", "intercept queues overwrite memory here (ROCm 7.2.0-7.2.4): not used")    \
    X(KERNELS_FULL, 2, "kernels_full", "more kernels than rows: further ones count as '(other kernels)'")        \
    X(NAMES_FULL, 3, "names_full", "no room for more names: further kernels count as '(other kernels)'")         \
    X(CHUNKS_FULL, 4, "chunks_full", "no room for more histogram chunks: some quantiles are coarse")             \
    X(QUEUES_SHARED, 5, "queues_shared", "more queues than slots: further ones share one line")                  \
    X(UNKNOWN_KERNEL, 6, "unknown_kernel", "kernels were dispatched whose loading the library missed")           \
    X(NOT_PROFILED, 7, "not_profiled", "profiling could not be switched on for a queue")                         \
    X(FORKED, 8, "forked", "the process forked: children are not traced until they exec")                        \
    X(MODE_UNKNOWN, 9, "mode_unknown", "RTL_MODE was not understood: default is used")                           \
    X(COPIES_UNSEEN, 10, "copies_unseen", "copies in batches may be missing from the counts")                    \
    X(RING_MOVED, 11, "ring_moved", "a queue's ring is in host memory; the application asked for the GPU's")     \
    X(QUEUE_DEMOTED, 12, "queue_demoted", "a queue with another writer is only counted")                         \
    X(PACKETS_UNSEEN, 13, "packets_unseen", "packets were overwritten in their queues before they were counted") \
    X(RING_ON_DEVICE, 14, "ring_on_device", "a queue's ring is in the GPU's memory: not observed from outside")  \
    X(MEMORY_UNSEARCHED, 15, "memory_unsearched", "not all memory was searched for queues: there may be more")   \
    X(ANOTHER_RUNTIME, 16, "another_runtime", "a second HSA runtime is not traced, only observed")

/* Variables that the library publishes at load, because a program may overwrite its environment with a title later.
 * X(name, use): RANK = the process's number in its job, most reliable variable first; DEVICES = a list of the GPUs that
 * the process sees; SETTING = explains the numbers. */
#define RTL_ENVIRONMENT(X)             \
    X("RANK", RANK)                    \
    X("LOCAL_RANK", RANK)              \
    X("OMPI_COMM_WORLD_RANK", RANK)    \
    X("PMIX_RANK", RANK)               \
    X("PMI_RANK", RANK)                \
    X("MV2_COMM_WORLD_RANK", RANK)     \
    X("SLURM_PROCID", RANK)            \
    X("FLUX_TASK_RANK", RANK)          \
    X("PALS_RANKID", RANK)             \
    X("ROCR_VISIBLE_DEVICES", DEVICES) \
    X("HIP_VISIBLE_DEVICES", DEVICES)  \
    X("CUDA_VISIBLE_DEVICES", DEVICES) \
    X("GPU_DEVICE_ORDINAL", DEVICES)   \
    X("AMD_SERIALIZE_KERNEL", SETTING) \
    X("AMD_SERIALIZE_COPY", SETTING)   \
    X("HIP_LAUNCH_BLOCKING", SETTING)  \
    X("GPU_MAX_HW_QUEUES", SETTING)    \
    X("HSA_ENABLE_SDMA", SETTING)      \
    X("ROC_GLOBAL_CU_MASK", SETTING)   \
    X("HSA_CU_MASK", SETTING)          \
    X("HSA_XNACK", SETTING)
enum { RTL_ENVIRONMENT_VALUE_MAX = 512 }; /* bytes of a value; a longer one is cut and ends in "..." */

/* Size classes of idle times of a GPU. X(number, shorter than so many ns, header on screen). Ascending; the last one
 * has no bound. */
#define RTL_IDLE_CLASSES(X)      \
    X(0, 10000ull, "<10µs")      \
    X(1, 100000ull, "<100µs")    \
    X(2, 1000000ull, "<1ms")     \
    X(3, 10000000ull, "<10ms")   \
    X(4, 100000000ull, "<100ms") \
    X(5, UINT64_MAX, "more")

/* Causes of a GPU's idle time. A gap of 10 us or more is divided: copies that ran in it; the part before its next
 * kernel was submitted (NO_WORK); the part after that. X(symbol, number, JSON key, words on screen) */
#define RTL_CAUSES(X)                                                 \
    X(SHORT, 0, "between_kernels", "gaps below 10µs between kernels") \
    X(NO_WORK, 1, "no_work", "no kernel queued: the host is late")    \
    X(COPIES, 2, "copies", "copies ran")                              \
    X(BARRIER, 3, "barrier", "a kernel waited behind a barrier")      \
    X(QUEUED, 4, "queued", "a queued kernel started late")            \
    X(UNKNOWN, 5, "unknown", "time of submission not known")

#define RTL_ENUM_CAUSE(sym, num, key, words) RTL_CAUSE_##sym = (num),
enum rtl_cause { RTL_CAUSES(RTL_ENUM_CAUSE) RTL_CAUSE_COUNT, RTL_CAUSE_LIMIT = 8 };
#undef RTL_ENUM_CAUSE

#define RTL_ONE_IDLE(...) +1
enum { RTL_IDLE_COUNT = 0 RTL_IDLE_CLASSES(RTL_ONE_IDLE), RTL_IDLE_LIMIT = 8 };
#undef RTL_ONE_IDLE

/* X(symbol, number, name): the life of a segment, written by the library only. */
#define RTL_STATES(X)          \
    X(STARTING, 0, "starting") \
    X(LIVE, 1, "live")         \
    X(UNLOADED, 2, "unloaded")

#define RTL_ENUM_MODE(sym, num, name, text) RTL_MODE_##sym = (num),
enum rtl_mode { RTL_MODES(RTL_ENUM_MODE) RTL_MODE_COUNT, RTL_MODE_FULL = 3 };
#undef RTL_ENUM_MODE

/* FULL was a mode of its own and did what DEFAULT does; old segments, control pages and recordings have it. */
static inline unsigned rtl_mode_read(unsigned mode)
{
    return mode == RTL_MODE_FULL ? RTL_MODE_DEFAULT : mode;
}

#define RTL_ENUM_REASON(sym, num, key, text, writer) RTL_UNTIMED_##sym = (num),
enum rtl_untimed_reason { RTL_UNTIMED_REASONS(RTL_ENUM_REASON) RTL_UNTIMED_LIMIT = 21 };
#undef RTL_ENUM_REASON

#define RTL_ENUM_WAY(sym, num, key, text) RTL_PATH_##sym = (num),
enum rtl_queue_path { RTL_QUEUE_PATHS(RTL_ENUM_WAY) };
#undef RTL_ENUM_WAY

#define RTL_ENUM_WHY(sym, num, key, text) RTL_REASON_##sym = (num),
enum rtl_path_reason { RTL_PATH_REASONS(RTL_ENUM_WHY) };
#undef RTL_ENUM_WHY

#define RTL_ONE_ERROR(...) +1
enum { RTL_QUEUE_ERROR_COUNT = 0 RTL_QUEUE_ERRORS(RTL_ONE_ERROR) };
#undef RTL_ONE_ERROR

#define RTL_ENUM_CONVENTION(sym, num, json, text) RTL_CONVENTION_##sym = (num),
enum rtl_convention { RTL_CONVENTIONS(RTL_ENUM_CONVENTION) };
#undef RTL_ENUM_CONVENTION

#define RTL_ENUM_DIRECTION(sym, num, key, text, meaning) RTL_COPY_##sym = (num),
enum rtl_direction { RTL_DIRECTIONS(RTL_ENUM_DIRECTION) RTL_DIRECTION_COUNT };
#undef RTL_ENUM_DIRECTION

#define RTL_ENUM_COPY_REASON(sym, num, key, text, writer) RTL_COPY_UNTIMED_##sym = (num),
enum rtl_copy_reason { RTL_COPY_REASONS(RTL_ENUM_COPY_REASON) RTL_COPY_UNTIMED_LIMIT = 16 };
#undef RTL_ENUM_COPY_REASON

#define RTL_ENUM_ACTIVITY(sym, num, key) RTL_ACTIVITY_##sym = (num),
enum rtl_activity { RTL_ACTIVITIES(RTL_ENUM_ACTIVITY) };
#undef RTL_ENUM_ACTIVITY

#define RTL_ENUM_NOTE(sym, bit, key, text) RTL_NOTE_##sym = 1u << (bit),
enum rtl_note { RTL_NOTES(RTL_ENUM_NOTE) };
#undef RTL_ENUM_NOTE

#define RTL_ENUM_STATE(sym, num, name) RTL_STATE_##sym = (num),
enum rtl_state { RTL_STATES(RTL_ENUM_STATE) };
#undef RTL_ENUM_STATE

#endif
