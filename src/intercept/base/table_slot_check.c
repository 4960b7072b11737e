/*
 * Finds a slot of the runtime's table by calling an exported function (hsa_table.h).
 *
 * For a moment the slots point to two functions of ours. The exported function is called with zeros; which of the two
 * it reaches gives one bit of its slot's number.
 */
#include "intercept/base/hsa_table.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SLOTS_TRIED = 256,
    ROUNDS = 8,      /* 2^ROUNDS slots */
    SLOTS_KNOWN = 74 /* of release 7.0; all branches agree on them */
};
_Static_assert(1 << ROUNDS == SLOTS_TRIED, "each slot has a number of its own");

/* The function reached last: reach_zero and reach_one store it, the calling thread reads it. */
enum { NEITHER, ZERO, ONE };
static atomic_int reached;

static hsa_status_t reach_zero(void)
{
    atomic_store_explicit(&reached, ZERO, memory_order_relaxed);
    return HSA_STATUS_ERROR;
}

static hsa_status_t reach_one(void)
{
    atomic_store_explicit(&reached, ONE, memory_order_relaxed);
    return HSA_STATUS_ERROR;
}

/* Passes more arguments than any function of the table has: the callee may read them all, and owns those on the
 * stack. */
static int call_exported(void (*exported)(void))
{
    typedef uint64_t z;
    typedef hsa_status_t (*with_zeros)(z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z);
    atomic_store_explicit(&reached, NEITHER, memory_order_relaxed);
    ((with_zeros)exported)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return atomic_load_explicit(&reached, memory_order_relaxed);
}

/* Return the slot, `first` or later, that the exported function goes through; -1 if none, or if it is NULL. */
static int slot_behind(void (**slots)(void), uint32_t end, void (*exported)(void), uint32_t first)
{
    void (*before[SLOTS_TRIED])(void);
    uint32_t found = 0;
    if (end > first + SLOTS_TRIED)
        end = first + SLOTS_TRIED;
    if (first >= end)
        return -1;
    memcpy(before, slots + first, (end - first) * sizeof *slots);

    /* a round for each bit of the slot's number, and one in which only that slot is a one */
    bool through = true;
    for (int round = 0; through && round <= ROUNDS; round++) {
        for (uint32_t i = 0; i < end - first; i++) {
            bool one = round < ROUNDS ? i >> round & 1 : i == found;
            slots[first + i] = (void (*)(void))(one ? reach_one : reach_zero);
        }
        int now = call_exported(exported);
        through = round < ROUNDS ? now != NEITHER : now == ONE;
        if (round < ROUNDS)
            found |= (uint32_t)(now == ONE) << round;
    }
    memcpy(slots + first, before, (end - first) * sizeof *slots);
    return through && found < end - first && before[found] ? (int)(first + found) : -1;
}

/* Find an exported function in the file that contains the runtime's tables: elsewhere a function of that name is
 * another one. False if that file isn't found (the runtime is part of a program without a symbol table, say). */
static bool find_exported(const void *slots, const char *name, void (**function)(void))
{
    Dl_info runtime;
    void *library = dladdr(slots, &runtime) ? dlopen(runtime.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof *function);
    if (library)
        dlclose(library);
    return library != NULL;
}

void (*rtl_hsa_hook_exported(void *table, const char *name, void (*hook)(void), bool *maybe))(void)
{
    uint32_t count = 0;
    void (**slots)(void) = rtl_hsa_ext_slots(table, &count);
    void (*function)(void);
    *maybe = false;
    if (!find_exported(slots, name, &function)) {
        *maybe = count > SLOTS_KNOWN;
        return NULL;
    }
    int slot = function ? slot_behind(slots, count, function, SLOTS_KNOWN) : -1;
    if (slot < 0) {
        *maybe = function != NULL;
        return NULL;
    }
    void (*before)(void) = slots[slot];
    slots[slot] = hook;
    return before;
}
