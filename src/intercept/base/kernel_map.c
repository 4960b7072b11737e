/* The writer's side of the kernel map (kernel_map.h). */
#include "intercept/base/kernel_map.h"

#include <stdlib.h>

enum { START = 1024 }; /* slots of the first table; a power of two */

static struct rtl_map_table *make_table(uint32_t slots, struct rtl_map_table *older)
{
    struct rtl_map_table *table = calloc(1, sizeof *table + slots * sizeof table->entry[0]);
    if (!table)
        return NULL;
    table->mask = slots - 1;
    table->shift = 64 - (uint32_t)__builtin_ctz(slots);
    table->older = older;
    return table;
}

static uint64_t key_at(const struct rtl_map_table *table, uint32_t slot)
{
    return atomic_load_explicit(&table->entry[slot].key, memory_order_relaxed);
}

static void store_entry(struct rtl_map_table *table, uint32_t slot, uint64_t key, uint64_t value)
{
    atomic_store_explicit(&table->entry[slot].value, value, memory_order_relaxed);
    atomic_store_explicit(&table->entry[slot].key, key, memory_order_release);
}

/* If a dispatching thread completes a value in the old table meanwhile, another will complete it in the new one. */
static bool grow_map(struct rtl_map *map, struct rtl_map_table *old)
{
    struct rtl_map_table *table = make_table(old ? 2 * (old->mask + 1) : START, old);
    if (!table)
        return false;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint64_t key = key_at(old, i);
        if (key <= RTL_MAP_MARK)
            continue;
        uint32_t slot = rtl_map_slot(table, key);
        while (key_at(table, slot) != RTL_MAP_EMPTY)
            slot = (slot + 1) & table->mask;
        store_entry(table, slot, key, atomic_load_explicit(&old->entry[i].value, memory_order_relaxed));
    }
    map->marks = 0;
    atomic_store_explicit(&map->table, table, memory_order_release);
    return true;
}

bool rtl_map_set(struct rtl_map *map, uint64_t key, uint64_t value)
{
    struct rtl_map_entry *entry = rtl_map_find(map, key);
    if (entry) {
        atomic_store_explicit(&entry->value, value, memory_order_release);
        return true;
    }
    struct rtl_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    /* at most half full, so that probes are short; without memory an almost full table still works */
    if (!table || 2 * (map->live + map->marks + 1) > table->mask + 1) {
        if (!grow_map(map, table) && (!table || map->live + map->marks + 2 > table->mask))
            return false;
        table = atomic_load_explicit(&map->table, memory_order_relaxed);
    }
    uint32_t slot = rtl_map_slot(table, key);
    while (key_at(table, slot) > RTL_MAP_MARK)
        slot = (slot + 1) & table->mask;
    map->marks -= key_at(table, slot) == RTL_MAP_MARK;
    map->live++;
    store_entry(table, slot, key, value);
    return true;
}

void rtl_map_remove(struct rtl_map *map, uint64_t key)
{
    struct rtl_map_entry *entry = rtl_map_find(map, key);
    if (!entry)
        return;
    struct rtl_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    uint32_t slot = (uint32_t)(entry - table->entry);
    atomic_store_explicit(&entry->key, RTL_MAP_MARK, memory_order_release);
    map->live--;
    map->marks++;
    /* The next slot is empty, so no probe passes here: the marks before it become empty. */
    if (key_at(table, (slot + 1) & table->mask) != RTL_MAP_EMPTY)
        return;
    while (key_at(table, slot) == RTL_MAP_MARK) {
        atomic_store_explicit(&table->entry[slot].key, RTL_MAP_EMPTY, memory_order_release);
        map->marks--;
        slot = (slot - 1) & table->mask;
    }
}
