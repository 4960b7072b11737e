/* The interface for librtl.so of the same process (shm/hip_api_link.h): our only export that isn't HIP's or roctx's;
 * and the clock of calls (now.h), which that library sets. */
#include <stdlib.h>

#include "base/clock.h"
#include "hip/counters.h"
#include "hip/now.h"

struct rtl_hip_api_clock rtl_hip_clock; /* written by the worker of librtl.so, if there is one */

__attribute__((cold)) uint64_t rtl_hip_system_ns(void)
{
    return rtl_mono_ns();
}

__attribute__((visibility("default"))) rtl_hip_api_link_function rtl_api_link;

static struct rtl_hip_api_call *call_of_this_thread(void)
{
    return &rtl_hip_thread.call;
}

/* OnLoad calls it, under the runtime's lock: one thread at a time. */
const struct rtl_hip_api_link *rtl_api_link(void)
{
    static struct rtl_hip_api_link link;
    struct rtl_hip_api *api = rtl_api();
    const char *direct = getenv("AMD_DIRECT_DISPATCH");
    if (!api)
        return NULL;
    if (direct && direct[0] == '0')
        __atomic_fetch_or(&api->header->flags, RTL_HIP_API_FLAG_INDIRECT, __ATOMIC_RELAXED);
    link = (struct rtl_hip_api_link){RTL_HIP_API_LINK_VERSION, sizeof link, call_of_this_thread, api->header,
                                     &rtl_hip_clock};
    return &link;
}
