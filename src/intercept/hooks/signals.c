/* The hooks on creating and destroying signals (signals.h). */
#include "intercept/hooks/signals.h"

#include <errno.h>

#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/hot_line.h"

static hsa_status_t hook_signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                       hsa_signal_t *signal)
{
    int held = rtl_cancel_hold();
    hsa_status_t status = rtl_tool.hsa.signal_create(value, n, consumers, signal);
    rtl_cancel_let(held);
    if (status == HSA_STATUS_SUCCESS && rtl_recording()) {
        int error = errno;
        rtl_app_signal_add(*signal);
        errno = error;
    }
    return status;
}

static hsa_status_t hook_amd_signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                           uint64_t attributes, hsa_signal_t *signal)
{
    int held = rtl_cancel_hold();
    hsa_status_t status = rtl_tool.hsa.amd_signal_create(value, n, consumers, attributes, signal);
    rtl_cancel_let(held);
    /* a signal that another process may use can be put on packets that aren't seen; attributes of later releases may
     * mean anything */
    if (status == HSA_STATUS_SUCCESS && rtl_recording() && (attributes & ~(uint64_t)HSA_AMD_SIGNAL_AMD_GPU_ONLY) == 0) {
        int error = errno;
        rtl_app_signal_add(*signal);
        errno = error;
    }
    return status;
}

static hsa_status_t hook_signal_destroy(hsa_signal_t signal)
{
    /* before it goes, because its address may be another's as soon as it has gone */
    if (rtl_recording()) {
        int error = errno;
        rtl_app_signal_remove(signal);
        errno = error;
    }
    int held = rtl_cancel_hold();
    hsa_status_t status = rtl_tool.hsa.signal_destroy(signal);
    rtl_cancel_let(held);
    return status;
}

void rtl_signals_hook(void *table)
{
#define HOOK(function, hook) rtl_hsa_hook(table, RTL_HSA_##function, (void (*)(void))(hook))
    HOOK(signal_create, hook_signal_create);
    HOOK(amd_signal_create, hook_amd_signal_create);
    HOOK(signal_destroy, hook_signal_destroy);
#undef HOOK
}
