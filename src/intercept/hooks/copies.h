/*
 * Copies that the application asks the runtime for: counted and, where the mode wants it, timed.
 *
 * The hooks on hsa_amd_memory_async_copy, _rect, _on_engine and hsa_amd_memory_async_batch_copy count every
 * copy that the runtime takes, by GPU and direction. A copy is timed by the application's own signal, as a kernel is
 * (app_signals.h): the signal stays on the copy, the runtime has its times written behind it, and they are read by the
 * worker, or by whoever is about to use the signal for something else. A copy in flight has a stand-in (copy_slots.h),
 * as a kernel has, but of another kind, because its times are elsewhere (timestamps.h).
 */
#ifndef RTL_INTERCEPT_COPIES_H
#define RTL_INTERCEPT_COPIES_H

#include <stdbool.h>

/* Load: the runtime is going. */
void rtl_copies_forget(void);

/* Load: puts the hooks in. False when this runtime may copy in batches that can't be hooked: those aren't seen. */
bool rtl_copies_hook(void *table);

#endif
