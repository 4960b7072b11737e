/*
 * kernel_object -> 64-bit value. Dispatching threads look it up without a lock while one writer changes it.
 *
 * Open addressing, linear probing. A key's slot never moves within a table. A deleted key leaves a mark, which
 * insertion reuses and which goes away when the next slot is empty. Growing publishes a new table. Old tables are kept
 * because a reader may still be in one; each is half as large as the next, so all of them take less than the newest.
 */
#ifndef RTL_INTERCEPT_KERNEL_MAP_H
#define RTL_INTERCEPT_KERNEL_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"

struct rtl_map_entry {
    _Atomic uint64_t key; /* writer stores (release), any thread loads (acquire) */
    _Atomic uint64_t
        value; /* writer stores it before the key; the row's first dispatch may compare-and-swap it (kernel_rows.c) */
};

struct rtl_map_table { /* constant once published, except for the entries */
    uint32_t mask, shift;
    struct rtl_map_table *older;
    struct rtl_map_entry entry[];
};

struct rtl_map {
    _Atomic(struct rtl_map_table *) table; /* writer stores (release), any thread loads (acquire) */
    uint32_t live, marks;                  /* writer: keys, and marks of deleted keys */
};

/* No key: kernel objects are addresses. */
#define RTL_MAP_EMPTY 0ull
#define RTL_MAP_MARK  1ull

static inline uint32_t rtl_map_slot(const struct rtl_map_table *table, uint64_t key)
{
    /* kernel descriptors are aligned to 64 bytes */
    return (uint32_t)(((key >> 6) * 0x9E3779B97F4A7C15ull) >> table->shift);
}

/* Any thread. Return the key's entry, or NULL. */
static inline struct rtl_map_entry *rtl_map_find(struct rtl_map *map, uint64_t key)
{
    struct rtl_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (unlikely(!table || key <= RTL_MAP_MARK))
        return NULL;
    uint32_t slot = rtl_map_slot(table, key);
    for (uint32_t probes = 0; probes <= table->mask; probes++) {
        struct rtl_map_entry *entry = &table->entry[slot];
        uint64_t found = atomic_load_explicit(&entry->key, memory_order_acquire);
        if (found == key)
            return entry;
        if (found == RTL_MAP_EMPTY)
            return NULL;
        slot = (slot + 1) & table->mask;
    }
    return NULL;
}

/* The one writer (under the caller's lock). Add or change a key. False when there is no memory. */
bool rtl_map_set(struct rtl_map *map, uint64_t key, uint64_t value);

/* The one writer. Remove the key if it is in the map. */
void rtl_map_remove(struct rtl_map *map, uint64_t key);

#endif
