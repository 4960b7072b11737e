/* The functions of this folder whose files have no header of their own. */
#ifndef RTL_INTERCEPT_HOOKS_H
#define RTL_INTERCEPT_HOOKS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/hsa_table.h"

/* Learn kernels' names when executables are frozen and destroyed (executables.c, track/kernel_rows.h). */
hsa_status_t rtl_executable_freeze(hsa_executable_t executable, const char *options);
hsa_status_t rtl_executable_destroy(hsa_executable_t executable);

/* Load: learn the application's signals when they are created and destroyed (signals.c, track/app_signals.h). */
void rtl_signals_hook(void *table);

/* Load: install the hooks on hsa_amd_queue_create, by which HIP of the newest releases makes all its queues, and those
 * on hsa_amd_counted_queue_acquire and _release, for counted queues (descriptors.c), if this runtime has the functions.
 * False if it may have them and hooking is impossible: such queues aren't seen, and the state of the application's
 * signals becomes uncertain. */
bool rtl_descriptors_hook(void *table);

/*
 * Count the application's copies and, if the mode wants it, time them (copies.c).
 *
 * The hooks on hsa_amd_memory_async_copy, _rect, _on_engine and hsa_amd_memory_async_batch_copy count every copy that
 * the runtime accepts, by GPU and direction. Like a kernel, a copy is timed by the application's own signal
 * (app_signals.h): the signal stays on the copy, and the runtime stores the times behind it. The worker reads them, or
 * a thread that is about to use the signal again. A copy in flight has a stand-in (copy_slots.h) of another kind than a
 * kernel's, because its times are elsewhere (timestamps.h).
 */

/* Load: the runtime is being unloaded. */
void rtl_copies_forget(void);

/* Load: install the hooks. False if this runtime may copy in batches that can't be hooked: those aren't seen. */
bool rtl_copies_hook(void *table);

/* Handle packets of the runtime's intercept queues (intercept_queue.c). The application's thread calls this for each
 * doorbell or each packet: no lock, no allocation, no syscall. `data` is the queue's struct rtl_tracker. */
void rtl_dispatch(const void *packets, uint64_t count, uint64_t user_index, void *data, rtl_packet_writer writer);

#endif
