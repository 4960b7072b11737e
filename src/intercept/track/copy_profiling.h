/*
 * The runtime's switch for the times of copies (hsa_amd_profiling_async_copy_enable).
 *
 * The runtime has copies timed only when it is asked to: the first copy that is to be timed does so, and the
 * application can't switch it off again, until the mode has changed and none is in flight any more: then it is as the
 * application wants it. It costs two small commands a copy on the copy engine; the application sees nothing of it but
 * that hsa_amd_profiling_get_async_copy_time answers.
 */
#ifndef RTL_INTERCEPT_COPY_PROFILING_H
#define RTL_INTERCEPT_COPY_PROFILING_H

#include <hsa/hsa.h>
#include <stdbool.h>

/* Any: the runtime has copies timed. Asks it to, once a load, and again after rtl_copy_profiling_release. */
bool rtl_copy_profiling_on(void);

/* Worker: no copy is timed now, nor will be until the mode changes: the switch is as the application wants it. */
void rtl_copy_profiling_release(void);

/* Any: the application switches it on or off. */
hsa_status_t rtl_copy_profiling_by_app(bool on);

/* Load: the runtime is going. */
void rtl_copy_profiling_forget(void);

#endif
