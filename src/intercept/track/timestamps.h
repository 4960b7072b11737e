/*
 * Reads the times of a kernel or copy from the application's signal that it carries.
 *
 * A dispatch or copy in flight on such a signal has a stand-in (signal_pool.h), which says which of the two it is,
 * because they leave their times in different places. A kernel's times are in the signal; a copy by a kernel leaves
 * them there, too. For copy engines the runtime keeps them in words of its own behind the signal's, the same on all
 * known releases, but undocumented. So these words are trusted only after one copy in each load whose times the runtime
 * itself confirmed; until then completed copies wait, for a second at most. We don't ask the runtime each time: it
 * takes a lock and sometimes a system call, and the signal may already be in use again on the dispatch path.
 */
#ifndef RTL_INTERCEPT_TIMESTAMPS_H
#define RTL_INTERCEPT_TIMESTAMPS_H

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_copy;
struct rtl_gpu;

struct rtl_times {
    uint64_t start, end; /* ticks of the agent that ran it */
};

/* Submitting thread: prepare reading the times of a copy on that GPU, which will be put on that signal. */
void rtl_copy_prepare(struct rtl_copy *copy, struct rtl_gpu *gpu, const amd_signal_t *signal);

/* True if the stand-in's kernel or copy is over and left its times in the signal. No stand-in: a packet that leaves
 * times like a kernel. Only for a thread that may read the signal's memory. */
bool rtl_times_read(const amd_signal_t *stand_in, const amd_signal_t *signal, struct rtl_times *times);

/* Ask the runtime about a completed copy, while the layout is unknown; later calls do nothing. Only for a thread
 * that may read the signal's memory. `use` is the signal's use if that may change meanwhile, else NULL. */
void rtl_times_compare(const amd_signal_t *stand_in, const _Atomic uintptr_t *use, const amd_signal_t *signal);

/* Any: true if times read of copies are right; if that is unknown so far. */
bool rtl_copy_times_are_right(void);
bool rtl_copy_times_are_unknown(void);

/* Load: the runtime is being unloaded. */
void rtl_times_forget(void);

#endif
