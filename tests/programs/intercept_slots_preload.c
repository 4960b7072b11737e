/*
 * intercept_slots_preload.c - a tool that finds the table slots of the runtime's exported functions, as the library
 * does for one function whose slot no version implies, and prints them with the slots that the library knows. It
 * includes the library's source.
 */
#include <dlfcn.h>

#include "intercept/base/hsa_table.c"
#include "intercept/base/table_slot_check.c"

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    const struct table_root *root = table;
    uint32_t bytes = ((const struct table_version *)root->amd_ext)->minor;
    char before[4096], after[4096];
    uint32_t count = 0;
    void (**slots)(void) = rtl_hsa_ext_slots(table, &count);
    (void)version, (void)failed, (void)names;
    memcpy(before, root->amd_ext, bytes);
    for (int i = 0; i < RTL_HSA_COUNT; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, functions[i].name);
        void (*exported)(void);
        memcpy(&exported, &symbol, sizeof exported);
        if (functions[i].table == CORE || !symbol)
            continue; /* the tool interface is not exported */
        int known = (int)functions[i].slot + (functions[i].table == MOVED ? rtl_hsa_shift(bytes) : 0);
        if (functions[i].table == LATER && !slot_of(root, (enum rtl_hsa_function)i))
            known = -1;
        for (uint32_t first = 0; first < 16; first += 5) /* the result must not depend on where the search starts */
            printf("%s: slot %d, found %d\n", functions[i].name, known, slot_behind(slots, count, exported, first));
    }
    void *core = dlsym(RTLD_DEFAULT, "hsa_queue_destroy");
    void (*exported)(void);
    memcpy(&exported, &core, sizeof exported);
    printf("hsa_queue_destroy, of the other table: found %d\n", slot_behind(slots, count, exported, 0));
    memcpy(after, root->amd_ext, bytes);
    printf("the table is %s\n", memcmp(before, after, bytes) ? "changed" : "as it was");
    fflush(stdout);
    return 1;
}

void OnUnload(void)
{
}
