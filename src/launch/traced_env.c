/* The environment of a traced process. See traced_env.h. */
#include "launch/traced_env.h"
#include "model/labels.h"
#include "launch/library.h"
#include "launch/preload_list.h"
#include "launch/tools_list.h"
#include "shm/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rtl_begin_parse(const char *name, int *begin)
{
    *begin = strcmp(name, RTL_MODE_HIP) == 0 ? RTL_BEGIN_HIP : rtl_mode_parse(name);
    return *begin >= 0;
}

bool rtl_begin_is_hip(int begin)
{
    const char *mode = getenv("RTL_MODE");
    return begin == RTL_BEGIN_HIP || (begin == RTL_BEGIN_AS_TOLD && mode && strcmp(mode, RTL_MODE_HIP) == 0);
}

static void add(struct rtl_traced_env *env, const char *name, char *value)
{
    env->variable[env->count].name = name;
    env->variable[env->count++].value = value;
}

bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, const struct rtl_traced_wish *wish, char *why,
                         size_t why_bytes)
{
    const char *tools = getenv("HSA_TOOLS_LIB"), *trace = getenv("RTL_TRACE"), *list = getenv("LD_PRELOAD");
    int begin = wish->begin;
    char hip[PATH_MAX];
    *env = (struct rtl_traced_env){0};
    if (tools && !rtl_tools_sane(tools)) {
        snprintf(why, why_bytes,
                 "HSA_TOOLS_LIB ends with a backslash, on which the HSA runtime hangs: unset it, or end it otherwise");
        return false;
    }
    if (rtl_begin_is_hip(begin) && !rtl_library_find_hip(library, hip, why, why_bytes))
        return false;
    if (wish->preload && !rtl_library_can_preload(library, why, why_bytes))
        return false;
    add(env, "HSA_TOOLS_LIB", rtl_tools_append(tools, library));
    add(env, RTL_PROFILER_BOTH, strdup("1")); /* older runtimes ignore this variable */
    if (begin != RTL_BEGIN_AS_TOLD)
        add(env, "RTL_MODE", strdup(begin == RTL_BEGIN_HIP ? RTL_MODE_HIP : rtl_mode_label((unsigned)begin)));
    char *preload = wish->preload ? rtl_preload_append(list, library) : NULL;
    if (rtl_begin_is_hip(begin) && (preload || !wish->preload)) {
        char *both = rtl_preload_append(preload ? preload : list, hip);
        free(preload);
        preload = both;
    }
    if (wish->preload || rtl_begin_is_hip(begin))
        add(env, "LD_PRELOAD", preload);
    if (wish->ring)
        add(env, "RTL_TRACE", strdup(trace && *trace && strcmp(trace, "0") != 0 ? trace : "1"));
    if (wish->probe)
        add(env, "RTL_PROBE", strdup("1"));
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
