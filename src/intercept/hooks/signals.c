/* The hooks on creating and destroying signals (hooks.h). */
#include "intercept/hooks/hooks.h"

#include <errno.h>

#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"

static void add_signal(hsa_signal_t signal)
{
    int error = errno;
    if (rtl_recording())
        rtl_app_signal_add(signal);
    errno = error;
}

static hsa_status_t hook_signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                       hsa_signal_t *signal)
{
    int held = rtl_cancel_disable();
    hsa_status_t status = rtl_tool.hsa.signal_create(value, n, consumers, signal);
    rtl_cancel_restore(held);
    if (status == HSA_STATUS_SUCCESS)
        add_signal(*signal);
    return status;
}

static hsa_status_t hook_amd_signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                           uint64_t attributes, hsa_signal_t *signal)
{
    int held = rtl_cancel_disable();
    hsa_status_t status = rtl_tool.hsa.amd_signal_create(value, n, consumers, attributes, signal);
    rtl_cancel_restore(held);
    /* a signal for other processes can be put on packets that aren't seen; unknown attributes may mean anything */
    if (status == HSA_STATUS_SUCCESS && (attributes & ~(uint64_t)HSA_AMD_SIGNAL_AMD_GPU_ONLY) == 0)
        add_signal(*signal);
    return status;
}

static hsa_status_t hook_signal_destroy(hsa_signal_t signal)
{
    /* before it is destroyed, because its address may be reused at once */
    if (rtl_recording()) {
        int error = errno;
        rtl_app_signal_remove(signal);
        errno = error;
    }
    int held = rtl_cancel_disable();
    hsa_status_t status = rtl_tool.hsa.signal_destroy(signal);
    rtl_cancel_restore(held);
    return status;
}

void rtl_signals_hook(void *table)
{
    RTL_HSA_HOOK_FIELD(signal_create)
    RTL_HSA_HOOK_FIELD(amd_signal_create)
    RTL_HSA_HOOK_FIELD(signal_destroy)
}
