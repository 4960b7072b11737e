/* The clock that librtl.so sets, and the system's (now.h). */
#include "hip/now.h"

#include "base/clock.h"

struct rtl_hip_api_clock rtl_hip_clock; /* the worker of librtl.so, if there is one */

__attribute__((cold)) uint64_t rtl_hip_system_ns(void)
{
    return rtl_mono_ns();
}
