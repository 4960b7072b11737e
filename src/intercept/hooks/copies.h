/*
 * Counts the application's copies and, if the mode wants it, times them.
 *
 * The hooks on hsa_amd_memory_async_copy, _rect, _on_engine and hsa_amd_memory_async_batch_copy count every copy that
 * the runtime accepts, by GPU and direction. Like a kernel, a copy is timed by the application's own signal
 * (app_signals.h): the signal stays on the copy, and the runtime stores the times behind it. The worker reads them, or
 * a thread that is about to use the signal again. A copy in flight has a stand-in (copy_slots.h) of another kind than a
 * kernel's, because its times are elsewhere (timestamps.h).
 */
#ifndef RTL_INTERCEPT_COPIES_H
#define RTL_INTERCEPT_COPIES_H

#include <stdbool.h>

/* Load: the runtime is being unloaded. */
void rtl_copies_forget(void);

/* Load: install the hooks. False if this runtime may copy in batches that can't be hooked: those aren't seen. */
bool rtl_copies_hook(void *table);

#endif
