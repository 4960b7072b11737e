/* What has to be in the environment of a process that is to be traced: HSA_TOOLS_LIB, RTL_MODE, RTL_TRACE. */
#ifndef RTL_SESSION_TRACED_ENV_H
#define RTL_SESSION_TRACED_ENV_H

#include <stdbool.h>
#include <stddef.h>

enum { RTL_TRACED_ENV_MAX = 3 };

struct rtl_traced_env {
    unsigned count;
    struct {
        const char *name;
        char *value; /* allocated */
    } variable[RTL_TRACED_ENV_MAX];
};

/*
 * `mode`: to start in (enum rtl_mode), or -1 for what the environment says; `ring`: with an event ring, for traces.
 * What HSA_TOOLS_LIB lists now stays in it, and a size in RTL_TRACE too. False and one line in `why` when that can't be
 * done; there is nothing to free then.
 */
bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, int mode, bool ring, char *why,
                         size_t why_bytes);
void rtl_traced_env_free(struct rtl_traced_env *env);

#endif
