/* The environment of a traced process. See traced_env.h. */
#include "session/traced_env.h"
#include "model/labels.h"
#include "session/tools_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct rtl_traced_env *env, const char *name, char *value)
{
    env->variable[env->count].name = name;
    env->variable[env->count++].value = value;
}

bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, int mode, bool ring, char *why,
                         size_t why_bytes)
{
    const char *tools = getenv("HSA_TOOLS_LIB"), *trace = getenv("RTL_TRACE");
    *env = (struct rtl_traced_env){0};
    if (tools && !rtl_tools_sane(tools)) {
        snprintf(why, why_bytes,
                 "HSA_TOOLS_LIB ends with a backslash, on which the HSA runtime hangs: unset it, or end it otherwise");
        return false;
    }
    add(env, "HSA_TOOLS_LIB", rtl_tools_append(tools, library));
    if (mode >= 0)
        add(env, "RTL_MODE", strdup(rtl_mode_label((unsigned)mode)));
    if (ring)
        add(env, "RTL_TRACE", strdup(trace && *trace && strcmp(trace, "0") != 0 ? trace : "1"));
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
