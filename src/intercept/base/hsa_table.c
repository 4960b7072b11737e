/*
 * The layout of HsaApiTable on all known releases.
 *
 * The table is a root with pointers to tables of function pointers. Each table starts with a version whose "minor" is
 * the table's size in bytes in the loaded runtime, which may differ from the headers that we were compiled with. So
 * slots are found by number, and each is checked against the size.
 *
 * core: 125 slots that never moved. amd_ext, in slots behind the version:
 *  5.2: 48   5.5: 51   5.6, 5.7: 55   6.0: 67   6.1: 68   6.2: 70   6.4: 72   7.0: 74   later: 84
 *
 * Up to 5.5 the table only grew at its end. 5.6 inserted two slots behind hsa_amd_memory_async_copy (slot 15) and added
 * two at the end; later releases grew at the end again. No known release has 52 to 54 slots: their order would be
 * ambiguous, and calling a wrong slot is worse than not tracing.
 */
#include "intercept/base/hsa_table.h"

#include <stdio.h>
#include <string.h>

struct table_version { /* ApiTableVersion */
    uint32_t major, minor, step, reserved;
};

struct table_root { /* the used part of HsaApiTable; the same on all releases */
    struct table_version version;
    void *core;
    void *amd_ext;
};

enum { CORE, EXT, MOVED, LATER };

#define ROW(field, table, slot, needed)            {table, slot, offsetof(struct rtl_hsa, field), "hsa_" #field, needed},
#define TABLE_ROW(field, table, slot, arguments)   ROW(field, table, slot, true)
#define PROBING_ROW(field, table, slot, arguments) ROW(field, table, slot, false)
#define LATER_ROW(field, slot, arguments)          ROW(field, LATER, slot, false)
static const struct {
    int table;
    uint32_t slot;
    size_t offset;
    const char *name;
    bool needed; /* without it the library does nothing */
} functions[RTL_HSA_COUNT] = {RTL_HSA_FUNCTIONS(TABLE_ROW) RTL_HSA_ACTIONS(TABLE_ROW) RTL_HSA_INDICES(TABLE_ROW)
                                  RTL_HSA_PROBING(PROBING_ROW) RTL_HSA_LATER(LATER_ROW)};
#undef TABLE_ROW
#undef PROBING_ROW
#undef LATER_ROW
#undef ROW

int rtl_hsa_shift(uint32_t ext_bytes)
{
    if (ext_bytes < sizeof(struct table_version) || (ext_bytes - sizeof(struct table_version)) % sizeof(void *) != 0)
        return -1;
    size_t slots = (ext_bytes - sizeof(struct table_version)) / sizeof(void *);
    return slots <= 51 ? 0 : slots >= 55 ? 2 : -1;
}

bool rtl_hsa_may_batch(uint32_t ext_bytes)
{
    return ext_bytes > sizeof(struct table_version) + 74 * sizeof(void *);
}

/* Return the slot's address in the runtime's table, NULL if the table is too small. */
static char *slot_of(const struct table_root *root, enum rtl_hsa_function function)
{
    bool core = functions[function].table == CORE;
    char *table = core ? root->core : root->amd_ext;
    const struct table_version *version = (const void *)table;
    uint32_t slot = functions[function].slot;
    if (functions[function].table == LATER && rtl_hsa_shift(version->minor) != 2)
        return NULL; /* another function has this slot */
    if (functions[function].table == MOVED)
        slot += (uint32_t)rtl_hsa_shift(version->minor);
    size_t offset = sizeof *version + slot * sizeof(void *);
    return offset + sizeof(void *) <= version->minor ? table + offset : NULL;
}

bool rtl_hsa_save(const void *table, struct rtl_hsa *hsa, char *why, size_t why_bytes)
{
    const struct table_root *root = table;
    memset(hsa, 0, sizeof *hsa);
    if (!root || root->version.minor < sizeof *root || !root->core || !root->amd_ext) {
        snprintf(why, why_bytes, "the runtime handed over no complete API table");
        return false;
    }
    const struct table_version *core = root->core, *ext = root->amd_ext;
    hsa->root_major = root->version.major;
    hsa->core_bytes = core->minor;
    hsa->ext_bytes = ext->minor;
    hsa->ext_step = ext->step;
    /* Majors seen: 1 up to 5.7, then 2 (the root is at 3). A new major means a new layout. */
    if (core->major < 1 || core->major > 2 || ext->major < 1 || ext->major > 2 || rtl_hsa_shift(ext->minor) < 0) {
        snprintf(why, why_bytes,
                 "this runtime's API tables (core %u.%u, amd_ext %u.%u) are of a version not known here", core->major,
                 core->minor, ext->major, ext->minor);
        return false;
    }
    for (int i = 0; i < RTL_HSA_COUNT; i++) {
        const char *slot = slot_of(root, (enum rtl_hsa_function)i);
        if (slot)
            memcpy((char *)hsa + functions[i].offset, slot, sizeof(void *));
        void *found = NULL;
        memcpy(&found, (char *)hsa + functions[i].offset, sizeof found);
        if (!found && functions[i].needed) {
            snprintf(why, why_bytes, "this runtime has no %s", functions[i].name);
            return false;
        }
    }
    return true;
}

bool rtl_hsa_can_probe(const struct rtl_hsa *hsa)
{
#define HAS(field, table, slot, arguments) &&hsa->field
    return true RTL_HSA_PROBING(HAS);
#undef HAS
}

void rtl_hsa_hook(void *table, enum rtl_hsa_function function, void (*hook)(void))
{
    char *slot = slot_of(table, function);
    static const char none[sizeof(void *)];
    if (slot && memcmp(slot, none, sizeof none) != 0)
        memcpy(slot, &hook, sizeof hook);
}

void (**rtl_hsa_ext_slots(void *table, uint32_t *count))(void)
{
    const struct table_root *root = table;
    const struct table_version *version = root->amd_ext;
    *count = (version->minor - (uint32_t)sizeof *version) / (uint32_t)sizeof(void *);
    return (void (**)(void))((char *)root->amd_ext + sizeof *version);
}
