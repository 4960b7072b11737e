/* The hooks on freezing and destroying executables (hooks.h). */
#include "intercept/hooks/hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "intercept/base/cancel.h"
#include "intercept/base/tool.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/kernel_rows.h"
#include "intercept/track/probe_gate.h"

struct loaded_kernels { /* the kernels among an executable's symbols */
    struct rtl_loaded_kernel *kernel;
    uint32_t count, capacity;
};

static hsa_status_t append_kernel(hsa_executable_t executable, hsa_executable_symbol_t symbol, void *data)
{
    struct loaded_kernels *found = data;
    hsa_status_t (*ask)(hsa_executable_symbol_t, hsa_executable_symbol_info_t, void *) =
        rtl_tool.hsa.executable_symbol_get_info;
    hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
    uint32_t length = 0;
    uint64_t object = 0;
    hsa_agent_t agent = {0};
    (void)executable;

    if (ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind) != HSA_STATUS_SUCCESS || kind != HSA_SYMBOL_KIND_KERNEL ||
        ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length) != HSA_STATUS_SUCCESS || length == 0 ||
        ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object) != HSA_STATUS_SUCCESS || object == 0 ||
        !rtl_grow(&found->kernel, &found->capacity, found->count + (size_t)1, sizeof *found->kernel))
        return HSA_STATUS_SUCCESS;
    char *name = calloc(1, (size_t)length + 1);
    if (!name || ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name) != HSA_STATUS_SUCCESS) {
        free(name);
        return HSA_STATUS_SUCCESS;
    }
    if (!rtl_tool.segment.probe || ask(symbol, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &agent) != HSA_STATUS_SUCCESS)
        agent.handle = 0;
    found->kernel[found->count++] =
        (struct rtl_loaded_kernel){object, name, strnlen(name, length), .agent = agent.handle};
    return HSA_STATUS_SUCCESS;
}

/* Give the executable's kernels their map entries. */
static void load_kernels(hsa_executable_t executable)
{
    int error = errno;
    struct loaded_kernels found = {NULL, 0, 0};
    rtl_tool.hsa.executable_iterate_symbols(executable, append_kernel, &found);
    if (found.count)
        rtl_kernels_load(executable.handle, found.kernel, found.count);
    for (uint32_t i = 0; i < found.count; i++) {
        union { /* the struct's const name was allocated here */
            const char *constant;
            char *ours;
        } name = {found.kernel[i].name};
        free(name.ours);
    }
    free(found.kernel);
    rtl_kernels_populate();
    errno = error;
}

hsa_status_t rtl_executable_freeze(hsa_executable_t executable, const char *options)
{
    int held = rtl_cancel_disable();
    hsa_status_t status = rtl_tool.hsa.executable_freeze(executable, options);
    if (status == HSA_STATUS_SUCCESS && rtl_recording())
        load_kernels(executable);
    rtl_cancel_restore(held);
    return status;
}

hsa_status_t rtl_executable_destroy(hsa_executable_t executable)
{
    int held = rtl_cancel_disable();
    /* first, while the runtime can't reuse their addresses */
    if (rtl_recording())
        rtl_kernels_forget(executable.handle);
    rtl_probe_gate_forget();
    hsa_status_t status = rtl_tool.hsa.executable_destroy(executable);
    rtl_cancel_restore(held);
    return status;
}
