/*
 * Finds slots by trying (slot_probe.h).
 *
 * The slots get other functions for a moment, the exported one is called with nothing but zeros, and which of them it
 * reached tells a digit of its slot's number.
 */
#include "intercept/base/table_slot_check.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "intercept/base/hsa_table.h"

enum {
    SLOTS_TRIED = 256,
    ROUNDS = 8,      /* two to the power of rounds is the slots */
    SLOTS_KNOWN = 74 /* of release 7.0; the branches agree on those */
};
_Static_assert(1 << ROUNDS == SLOTS_TRIED, "each slot has a number of its own");

/* What was reached last; written by the functions below, read by the thread that calls them. */
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

/*
 * With more arguments than any function of the table has: it may look at them on its way there, and those that lie on
 * the stack are its own to write to.
 */
static int call_exported(void (*exported)(void))
{
    typedef uint64_t z;
    typedef hsa_status_t (*with_zeros)(z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z);
    atomic_store_explicit(&reached, NEITHER, memory_order_relaxed);
    ((with_zeros)exported)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return atomic_load_explicit(&reached, memory_order_relaxed);
}

/* The slot, `first` or behind it, through which that function goes; -1 when there is none, or nothing in it. */
static int slot_behind(void (**slots)(void), uint32_t end, void (*exported)(void), uint32_t first)
{
    void (*before[SLOTS_TRIED])(void);
    uint32_t found = 0;
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

/*
 * In the runtime's own file, in which its tables lie: a function of that name elsewhere is another's. False when that
 * file can't be found (the runtime is part of a program without a symbol table, say).
 */
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
