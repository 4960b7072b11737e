/*
 * The layout of HsaApiTable on every release that is known, and nothing else.
 *
 * The table is a root with pointers to tables of function pointers. Each starts with a version whose "minor" is the
 * size of that table in bytes in the runtime that is loaded, which need not be the one whose headers were at hand when
 * this was compiled. So slots are found by number and each is checked against the size.
 *
 * core: 125 slots that never moved. amd_ext, in slots behind the version:
 *     5.2: 48   5.5: 51   5.6, 5.7: 55   6.0: 67   6.1: 68   6.2: 70   6.4: 72   7.0: 74   later: 84
 * Up to 5.5 it only grew at its end. 5.6 inserted two slots right behind hsa_amd_memory_async_copy (slot 15), with
 * two more at the end; all releases after it grew at the end again. No release is known with 52 to 54 slots: there
 * the order can't be told, and calling the wrong slot is worse than not tracing.
 */
#include "intercept/hsa_table.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct version { /* ApiTableVersion */
    uint32_t major, minor, step, reserved;
};

struct root { /* the part of HsaApiTable that is used; the same on all releases */
    struct version version;
    void *core;
    void *amd_ext;
};

enum { CORE, EXT, MOVED, LATER };

#define TABLE_ROW(field, table, slot, arguments) {table, slot, offsetof(struct rtl_hsa, field), "hsa_" #field},
#define LATER_ROW(field, slot, arguments)        TABLE_ROW(field, LATER, slot, arguments)
static const struct {
    int table;
    uint32_t slot;
    size_t offset;
    const char *name;
} functions[RTL_HSA_COUNT] = {RTL_HSA_FUNCTIONS(TABLE_ROW) RTL_HSA_ACTIONS(TABLE_ROW) RTL_HSA_INDICES(TABLE_ROW)
                                  RTL_HSA_LATER(LATER_ROW)};
#undef TABLE_ROW
#undef LATER_ROW

int rtl_hsa_shift(uint32_t ext_bytes)
{
    if (ext_bytes < sizeof(struct version) || (ext_bytes - sizeof(struct version)) % sizeof(void *) != 0)
        return -1;
    size_t slots = (ext_bytes - sizeof(struct version)) / sizeof(void *);
    return slots <= 51 ? 0 : slots >= 55 ? 2 : -1;
}

bool rtl_hsa_may_batch(uint32_t ext_bytes)
{
    return ext_bytes > sizeof(struct version) + 74 * sizeof(void *);
}

/* The slot's address in the runtime's table, or NULL when the table is too small to have it. */
static char *slot_of(const struct root *root, enum rtl_hsa_function function)
{
    bool core = functions[function].table == CORE;
    char *table = core ? root->core : root->amd_ext;
    const struct version *version = (const void *)table;
    uint32_t slot = functions[function].slot;
    if (functions[function].table == LATER && rtl_hsa_shift(version->minor) != 2)
        return NULL; /* another function is there */
    if (functions[function].table == MOVED)
        slot += (uint32_t)rtl_hsa_shift(version->minor);
    size_t offset = sizeof *version + slot * sizeof(void *);
    return offset + sizeof(void *) <= version->minor ? table + offset : NULL;
}

bool rtl_hsa_save(const void *table, struct rtl_hsa *hsa, char *why, size_t why_bytes)
{
    const struct root *root = table;
    memset(hsa, 0, sizeof *hsa);
    if (!root || root->version.minor < sizeof *root || !root->core || !root->amd_ext) {
        snprintf(why, why_bytes, "the runtime handed over no complete API table");
        return false;
    }
    const struct version *core = root->core, *ext = root->amd_ext;
    hsa->root_major = root->version.major;
    hsa->core_bytes = core->minor;
    hsa->ext_bytes = ext->minor;
    hsa->ext_step = ext->step;
    /* Majors seen: 1 up to 5.7, then 2 (the root went on to 3). A new one means that the layout is another. */
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
        if (!found && functions[i].table != LATER) {
            snprintf(why, why_bytes, "this runtime has no %s", functions[i].name);
            return false;
        }
    }
    return true;
}

void rtl_hsa_hook(void *table, enum rtl_hsa_function function, void (*hook)(void))
{
    char *slot = slot_of(table, function);
    static const char none[sizeof(void *)];
    if (slot && memcmp(slot, none, sizeof none) != 0)
        memcpy(slot, &hook, sizeof hook);
}

/*
 * --- slots found by trying ---
 *
 * The slots get other functions for a moment, the exported one is called with nothing but zeros, and which of them it
 * reached tells a digit of its slot's number.
 */

enum {
    SLOTS_TRIED = 256,
    ROUNDS = 8,      /* two to the power of rounds is the slots */
    SLOTS_KNOWN = 74 /* of release 7.0; the branches agree on those */
};
_Static_assert(1 << ROUNDS == SLOTS_TRIED, "each slot has a number of its own");

/* What was reached last; written by the functions below, read by the thread that calls them. */
enum { NEITHER, ZERO, ONE };
static atomic_int reached;

static hsa_status_t be_zero(void)
{
    atomic_store_explicit(&reached, ZERO, memory_order_relaxed);
    return HSA_STATUS_ERROR;
}

static hsa_status_t be_one(void)
{
    atomic_store_explicit(&reached, ONE, memory_order_relaxed);
    return HSA_STATUS_ERROR;
}

/*
 * With more arguments than any function of the table has: it may look at them on its way there, and those that lie on
 * the stack are its own to write to.
 */
static int reach(void (*exported)(void))
{
    typedef uint64_t z;
    typedef hsa_status_t (*with_zeros)(z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z);
    atomic_store_explicit(&reached, NEITHER, memory_order_relaxed);
    ((with_zeros)exported)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return atomic_load_explicit(&reached, memory_order_relaxed);
}

/* The slot, `first` or behind it, through which that function goes; -1 when there is none, or nothing in it. */
static int slot_behind(void *table, void (*exported)(void), uint32_t first)
{
    const struct root *root = table;
    const struct version *version = root->amd_ext;
    void (**slots)(void) = (void (**)(void))((char *)root->amd_ext + sizeof *version);
    void (*before[SLOTS_TRIED])(void);
    uint32_t end = (version->minor - (uint32_t)sizeof *version) / (uint32_t)sizeof *slots, found = 0;
    if (end > first + SLOTS_TRIED)
        end = first + SLOTS_TRIED;
    if (first >= end)
        return -1;
    memcpy(before, slots + first, (end - first) * sizeof *slots);

    /* a round for each digit of the slot's number, and one in which only it is a one */
    bool through = true;
    for (int round = 0; through && round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < end - first; i++) {
            bool one = round < ROUNDS ? i >> round & 1 : i == found;
            slots[first + i] = (void (*)(void))(one ? be_one : be_zero);
        }
        int now = reach(exported);
        through = round < ROUNDS ? now != NEITHER : now == ONE;
        if (round < ROUNDS)
            found |= (uint32_t)(now == ONE) << round;
    }
    memcpy(slots + first, before, (end - first) * sizeof *slots);
    return through && found < end - first && before[found] ? (int)(first + found) : -1;
}

/*
 * In the runtime's own file, in which its tables lie: a function of that name elsewhere is another's. False when that
 * file can't be found (the runtime is part of a program without a symbol table, say).
 */
static bool find_exported(const void *ext, const char *name, void (**function)(void))
{
    Dl_info runtime;
    void *library = dladdr(ext, &runtime) ? dlopen(runtime.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof *function);
    if (library)
        dlclose(library);
    return library != NULL;
}

void (*rtl_hsa_hook_exported(void *table, const char *name, void (*hook)(void), bool *maybe))(void)
{
    const struct root *root = table;
    const struct version *version = root->amd_ext;
    void (**slots)(void) = (void (**)(void))((char *)root->amd_ext + sizeof *version);
    void (*function)(void);
    *maybe = false;
    if (!find_exported(root->amd_ext, name, &function)) {
        *maybe = version->minor > sizeof *version + SLOTS_KNOWN * sizeof *slots;
        return NULL;
    }
    int slot = function ? slot_behind(table, function, SLOTS_KNOWN) : -1;
    if (slot < 0) {
        *maybe = function != NULL;
        return NULL;
    }
    void (*before)(void) = slots[slot];
    slots[slot] = hook;
    return before;
}
