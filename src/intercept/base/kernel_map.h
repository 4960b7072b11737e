/*
 * kernel_object -> 64-bit value, looked up by dispatching threads without a lock while one writer changes it.
 *
 * Open addressing, linear probing. A key's slot never moves within a table, deleted keys leave a mark that insertion
 * reuses and that vanishes when nothing lies behind it, and growth publishes a new table. Old tables are kept, because
 * a reader may be in one; as each is half its successor, all of them together take less than the newest.
 */
#ifndef RTL_INTERCEPT_KERNEL_MAP_H
#define RTL_INTERCEPT_KERNEL_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"

struct rtl_map_entry {
    _Atomic uint64_t key;   /* writer stores (release), any thread loads (acquire) */
    _Atomic uint64_t value; /* writer stores, stored before the key; owner may compare-and-swap (kernel_rows.c) */
};

struct rtl_map_table { /* all but the entries constant once published */
    uint32_t mask, shift;
    struct rtl_map_table *older;
    struct rtl_map_entry entry[];
};

struct rtl_map {
    _Atomic(struct rtl_map_table *) table; /* writer stores (release), any thread loads (acquire) */
    uint32_t live, marks;                  /* writer only: keys, and marks of deleted ones */
};

/* Keys 0 and 1 are taken: kernel objects are addresses. */
#define RTL_MAP_EMPTY 0ull
#define RTL_MAP_MARK  1ull

static inline uint32_t rtl_map_slot(const struct rtl_map_table *table, uint64_t key)
{
    /* kernel descriptors lie on 64-byte boundaries: the low bits say nothing */
    return (uint32_t)(((key >> 6) * 0x9E3779B97F4A7C15ull) >> table->shift);
}

/* Any thread. The key's entry, or NULL. */
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

/* The one writer (the caller's lock). Sets the key's value, new or not. False when there is no memory. */
bool rtl_map_set(struct rtl_map *map, uint64_t key, uint64_t value);

/* The one writer. Removes the key if it is there. */
void rtl_map_remove(struct rtl_map *map, uint64_t key);

/* Frees all tables: only when no reader can be left (tests). */
void rtl_map_free(struct rtl_map *map);

#endif
