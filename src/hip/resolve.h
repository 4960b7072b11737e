/* Finds the function that the application would have called without us. Never loads a library. */
#ifndef RTL_HIP_RESOLVE_H
#define RTL_HIP_RESOLVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "hip/functions.h"

/* Return the function that the code at `caller` would be bound to; NULL when there is none. The first call searches. */
void *rtl_next(enum rtl_hip_function function, const void *caller);

/* End the process as the dynamic linker would. */
_Noreturn void rtl_exit_missing_function(enum rtl_hip_function function, const void *caller);

/* rtl_next for a function that must exist. */
static inline void *rtl_next_or_end(enum rtl_hip_function function, const void *caller)
{
    void *f = rtl_next(function, caller);
    if (unlikely(!f))
        rtl_exit_missing_function(function, caller);
    return f;
}

/* Return libc's own function of that name and keep it in *found; NULL if not found. */
void *rtl_find_libc(_Atomic(void *) *found, const char *name);

/* Return the next function of that name behind this library and keep it in *found: another library may wrap it, too.
 * For calls of the application. NULL if not found. */
void *rtl_find_behind(_Atomic(void *) *found, const char *name);

/* Call libc's own dlopen. It searches from this library, so don't pass a name without a slash. */
void *rtl_real_dlopen(const char *file, int flags);

/* Return the handle's function if it isn't ours; otherwise NULL, with the linker's error set. */
void *rtl_search_handle(void *handle, enum rtl_hip_function function);

/* Keep results, whose libraries are pinned, for calls from an object at these addresses. A NULL result is searched for
 * at the first call. False: the table of callers is full. */
bool rtl_keep_results(uintptr_t from, uintptr_t to, void *const found[RTL_FN_COUNT]);

/* libc's own dlsym; NULL if not found. */
typedef void *rtl_dlsym(void *handle, const char *name);
rtl_dlsym *rtl_real_dlsym(void);

/* A wrapper that dlsym or hipGetProcAddress handed out goes on to the function that they found. any: set once. */
extern _Atomic(void *) rtl_handed[RTL_FN_COUNT];

/* Pin a function's library before its address is kept. False: not possible; the function may be called now, but not
 * kept. */
bool rtl_pin(const void *f);

/* Is an address in this library; in a HIP that calls go on to? */
bool rtl_is_ours(const void *address);
bool rtl_is_hip(const void *address);

const char *rtl_function_name(enum rtl_hip_function function);

#endif
