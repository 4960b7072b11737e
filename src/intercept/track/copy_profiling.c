/* Switches the runtime's profiling of copies (copy_profiling.h). */
#include "intercept/track/copy_profiling.h"

#include <pthread.h>
#include <stdatomic.h>

#include "intercept/base/tool.h"

enum copy_profiling { OFF, ON, REFUSED };
static _Atomic int profiling; /* under the lock; any: OFF -> ON or REFUSED; worker: ON -> OFF, when nothing is timed */
static bool app_profiles;     /* any, under the lock: the application itself enabled it */
/* held over the calls, so that these variables match the runtime */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool rtl_copy_profiling_on(void)
{
    int was = atomic_load_explicit(&profiling, memory_order_acquire);
    if (was == OFF) {
        pthread_mutex_lock(&lock);
        was = atomic_load_explicit(&profiling, memory_order_relaxed);
        if (was == OFF)
            was = rtl_tool.hsa.amd_profiling_async_copy_enable(true) == HSA_STATUS_SUCCESS ? ON : REFUSED;
        atomic_store_explicit(&profiling, was, memory_order_release);
        pthread_mutex_unlock(&lock);
    }
    return was == ON;
}

void rtl_copy_profiling_release(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&profiling, memory_order_relaxed) == ON) {
        atomic_store_explicit(&profiling, OFF, memory_order_release);
        if (!app_profiles)
            rtl_tool.hsa.amd_profiling_async_copy_enable(false);
    }
    pthread_mutex_unlock(&lock);
}

/* The application can't disable what we enabled; its wish takes effect when we release it. */
hsa_status_t rtl_copy_profiling_by_app(bool on)
{
    pthread_mutex_lock(&lock);
    bool ours = !on && atomic_load_explicit(&profiling, memory_order_relaxed) == ON;
    hsa_status_t status = ours ? HSA_STATUS_SUCCESS : rtl_tool.hsa.amd_profiling_async_copy_enable(on);
    if (status == HSA_STATUS_SUCCESS)
        app_profiles = on;
    pthread_mutex_unlock(&lock);
    return status;
}

void rtl_copy_profiling_forget(void)
{
    atomic_store(&profiling, OFF);
    app_profiles = false;
}
