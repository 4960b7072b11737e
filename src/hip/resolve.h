/*
 * Where a call goes on to: the function that the application would have called without us. Nothing is ever loaded.
 */
#ifndef RTL_HIP_RESOLVE_H
#define RTL_HIP_RESOLVE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/likely.h"
#include "hip/functions.h"

/* What the code around `caller` would be bound to; NULL when there is no such function. The first time looks it up. */
void *rtl_next(enum rtl_hip_function function, const void *caller);

/* Ends the process as the dynamic linker would have ended it. */
_Noreturn void rtl_exit_missing_function(enum rtl_hip_function function, const void *caller);

/* rtl_next for what must be there. */
static inline void *rtl_next_or_end(enum rtl_hip_function function, const void *caller)
{
    void *f = rtl_next(function, caller);
    if (unlikely(!f))
        rtl_exit_missing_function(function, caller);
    return f;
}

/* libc's own dlsym; NULL where it can't be found. */
typedef void *rtl_dlsym(void *handle, const char *name);
rtl_dlsym *rtl_real_dlsym(void);

/* A function that somebody was handed by dlsym or hipGetProcAddress goes on to what these had found, not to what its
 * caller would be bound to. any: set once. */
extern _Atomic(void *) rtl_handed[RTL_FN_COUNT];

/*
 * Before a function is kept: its library stays loaded from here on, whoever closes it. False where that can't be had;
 * the function may be called now, then, but not be kept.
 */
bool rtl_pin(const void *f);

/* Whether an address lies in this library; in a HIP that calls go on to. */
bool rtl_is_ours(const void *address);
bool rtl_is_hip(const void *address);

const char *rtl_function_name(enum rtl_hip_function function);

#endif
