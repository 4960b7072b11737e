/*
 * The runtime's switch for the times of copies (hsa_amd_profiling_async_copy_enable).
 *
 * The runtime times copies only on request: the first timed copy enables it. The application can't disable it until the
 * mode has changed and no timed copy is in flight; then its own setting applies. The cost is two small commands a copy
 * on the copy engine. The application sees only that hsa_amd_profiling_get_async_copy_time returns times.
 */
#ifndef RTL_INTERCEPT_COPY_PROFILING_H
#define RTL_INTERCEPT_COPY_PROFILING_H

#include <hsa/hsa.h>
#include <stdbool.h>

/* Any: true if the runtime times copies. Enables that once a load, and again after rtl_copy_profiling_release. */
bool rtl_copy_profiling_on(void);

/* Worker: no copy will be timed until the mode changes: restore the application's setting. */
void rtl_copy_profiling_release(void);

/* Any: the application enables or disables it. */
hsa_status_t rtl_copy_profiling_by_app(bool on);

void rtl_copy_profiling_forget(void);

#endif
