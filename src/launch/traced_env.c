/* The environment of a traced process. See traced_env.h. */
#include "launch/traced_env.h"
#include "model/labels.h"
#include "launch/library.h"
#include "launch/library_list.h"
#include "shm/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rtl_start_mode_parse(const char *name, int *start_mode)
{
    *start_mode = strcmp(name, RTL_MODE_HIP) == 0 ? RTL_START_HIP : rtl_mode_parse(name);
    return *start_mode >= 0;
}

bool rtl_start_mode_is_hip(int start_mode)
{
    const char *mode = getenv("RTL_MODE");
    return start_mode == RTL_START_HIP || (start_mode == RTL_START_FROM_ENV && mode && strcmp(mode, RTL_MODE_HIP) == 0);
}

static void add_variable(struct rtl_traced_env *env, const char *name, char *value)
{
    env->variable[env->count].name = name;
    env->variable[env->count++].value = value;
}

bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, const struct rtl_traced_request *request,
                         char *why, size_t why_bytes)
{
    const char *tools = getenv("HSA_TOOLS_LIB"), *trace = getenv("RTL_TRACE"), *list = getenv("LD_PRELOAD");
    int start_mode = request->start_mode;
    char hip[PATH_MAX];
    *env = (struct rtl_traced_env){0};
    if (tools && !rtl_tools_sane(tools)) {
        snprintf(
            why, why_bytes,
            "HSA_TOOLS_LIB ends with a backslash, on which the HSA runtime hangs: unset it, or remove the backslash");
        return false;
    }
    if (rtl_start_mode_is_hip(start_mode) && !rtl_library_find_hip(library, hip, why, why_bytes))
        return false;
    if (request->preload && !rtl_library_can_preload(library, why, why_bytes))
        return false;
    add_variable(env, "HSA_TOOLS_LIB", rtl_tools_append(tools, library));
    add_variable(env, RTL_PROFILER_BOTH, strdup("1")); /* older runtimes ignore this variable */
    if (start_mode != RTL_START_FROM_ENV)
        add_variable(env, "RTL_MODE",
                     strdup(start_mode == RTL_START_HIP ? RTL_MODE_HIP : rtl_mode_label((unsigned)start_mode)));
    char *preload = request->preload ? rtl_preload_append(list, library) : NULL;
    if (rtl_start_mode_is_hip(start_mode) && (preload || !request->preload)) {
        char *both = rtl_preload_append(preload ? preload : list, hip);
        free(preload);
        preload = both;
    }
    if (request->preload || rtl_start_mode_is_hip(start_mode))
        add_variable(env, "LD_PRELOAD", preload);
    if (request->ring)
        add_variable(env, "RTL_TRACE", strdup(trace && *trace && strcmp(trace, "0") != 0 ? trace : "1"));
    if (request->probe)
        add_variable(env, "RTL_PROBE", strdup("1"));
    for (unsigned i = 0; i < env->count; i++)
        if (!env->variable[i].value) {
            snprintf(why, why_bytes, "out of memory");
            rtl_traced_env_free(env);
            return false;
        }
    return true;
}

void rtl_traced_env_free(struct rtl_traced_env *env)
{
    for (unsigned i = 0; i < env->count; i++)
        free(env->variable[i].value);
    env->count = 0;
}
