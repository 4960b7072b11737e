/*
 * observe_past_preload.c - a tool that makes queues past the tools loaded after it, as profilers do for themselves. It
 * is loaded with HSA_TOOLS_LIB before librtl.so and stores the address of the runtime's own function in PAST_LIBRARY
 * for the program (observe_play).
 */
#include <stdlib.h>

#include "intercept/base/hsa_table.c" /* only this file knows the layout */

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

static struct rtl_hsa hsa;

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    char why[200], text[32];
    (void)version;
    (void)failed;
    (void)names;
    if (!rtl_hsa_save(table, &hsa, why, sizeof why)) {
        fprintf(stderr, "past: %s\n", why);
        return 1;
    }
    snprintf(text, sizeof text, "%p", (void *)(uintptr_t)hsa.queue_create);
    setenv("PAST_LIBRARY", text, 1);
    return 1;
}

void OnUnload(void)
{
}
