/*
 * intercept_newer_preload.c - a tool that makes the runtime's table look, to tools loaded after it, like one of a
 * release that may pass batches to handlers. So code for such releases also runs on a real runtime. For releases from
 * 5.6 on.
 */
#include <stdint.h>

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    struct {
        uint32_t version[4];
        void *core;
        uint32_t *amd_ext; /* begins with its version, whose second number is the table's size */
    } *root = table;
    (void)version;
    (void)failed;
    (void)names;
    if (root->amd_ext[1] >= 16 + 55 * 8 && root->amd_ext[1] < 16 + 75 * 8)
        root->amd_ext[1] = 16 + 75 * 8;
    return 1;
}

void OnUnload(void)
{
}
