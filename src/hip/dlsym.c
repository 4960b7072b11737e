/* Interposes dlsym, by which frameworks find HIP's functions. Names that aren't recorded go on to the next dlsym by
 * a jump, so that libc sees the original caller: RTLD_NEXT and RTLD_DEFAULT depend on it. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "hip/counters.h"
#include "hip/interpose.h"
#include "hip/resolve.h"
#include "hip/wrap.h"

__attribute__((used)) static struct rtl_dl_answer answer_dlsym(void *handle, const char *name, const void *unused,
                                                               const void *caller)
{
    static _Atomic(void *) behind;
    rtl_dlsym *real = rtl_real_dlsym();
    (void)unused;
    struct rtl_dl_answer pass = {.jump = rtl_find_behind(&behind, "dlsym")};
    if (!real || !name)
        return pass;
    enum rtl_hip_function function = rtl_function_of(name);
    if (function == RTL_FN_COUNT || handle == RTLD_NEXT)
        return pass;
    /* where ranges are recorded, roctx works without a library behind it */
    bool works = (function > RTL_FN_hipGetProcAddress && rtl_api()) || rtl_next(function, caller);
    if (handle == RTLD_DEFAULT) /* it would find our wrapper even without a HIP */
        return works ? pass : (struct rtl_dl_answer){.result = real(RTLD_NEXT, name)};
    void *found = real(handle, name);
    if (found && rtl_is_ours(found) && !works)
        return (struct rtl_dl_answer){.result = real(RTLD_NEXT, name)};
    return (struct rtl_dl_answer){.result = rtl_hand_out(function, found)};
}

#if defined(__x86_64__)
RTL_INTERPOSE_DL("dlsym", "answer_dlsym");
#endif
