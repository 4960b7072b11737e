/* The clock of calls (now.h). */
#include "hip/now.h"

#include "base/clock.h"

struct rtl_api_clock rtl_hip_clock; /* written by the worker of librtl.so, if there is one */

__attribute__((cold)) uint64_t rtl_hip_system_ns(void)
{
    return rtl_mono_ns();
}
