/* Tracks allocations (counters.h): a table from address to row, place and size; an address has 64 possible entries.
 * The wrapper adds an address before the application knows it and removes it before the runtime frees it, so an
 * address is in the table once at most. */
#include "hip/counters.h"

#include <stdatomic.h>

enum { ENTRIES = 1 << 18, PROBES = 64, SIZE_BITS = 48 };

static struct {
    _Atomic(uintptr_t) address; /* any: 0 = free; claimed with BUSY, stored last (release) */
    _Atomic(uint64_t) noted;    /* any: row << 56 | place << 48 | bytes */
} entries[ENTRIES];
static const uintptr_t BUSY = UINTPTR_MAX;

static uint32_t first_entry(uintptr_t address)
{
    return (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15ull >> 40) % ENTRIES;
}

static void count_in(struct rtl_hip_api *api, uint64_t noted)
{
    uint64_t bytes = noted & ((1ull << SIZE_BITS) - 1);
    struct rtl_hip_api_memory *m = &api->memory[noted >> SIZE_BITS & 0xff];
    uint64_t now = __atomic_add_fetch(&m->in_use, bytes, __ATOMIC_RELAXED);
    rtl_hip_api_raise(&m->peak, now);
    rtl_hip_api_add(&m->allocations, 1);
    rtl_hip_api_add(&api->rows[noted >> 56].in_use, bytes);
}

static void count_out(struct rtl_hip_api *api, uint64_t noted)
{
    uint64_t bytes = noted & ((1ull << SIZE_BITS) - 1);
    struct rtl_hip_api_memory *m = &api->memory[noted >> SIZE_BITS & 0xff];
    rtl_hip_api_add(&m->in_use, 0 - bytes);
    rtl_hip_api_add(&m->allocations, UINT64_MAX);
    rtl_hip_api_add(&api->rows[noted >> 56].in_use, 0 - bytes);
}

void rtl_memory_restore(struct rtl_hip_api *api, const void *address, uint64_t noted)
{
    uint32_t first = first_entry((uintptr_t)address);
    if (!noted || (uintptr_t)address == BUSY)
        return;
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (first + i) % ENTRIES;
        uintptr_t none = 0;
        if (atomic_load_explicit(&entries[at].address, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&entries[at].address, &none, BUSY))
            continue;
        atomic_store_explicit(&entries[at].noted, noted, memory_order_relaxed);
        count_in(api, noted);
        atomic_store_explicit(&entries[at].address, (uintptr_t)address, memory_order_release);
        return;
    }
    rtl_hip_api_add(&api->header->allocations_lost, 1);
}

void rtl_memory_add(struct rtl_hip_api *api, uint32_t row, const void *address, uint64_t bytes, uint32_t place)
{
    if (!address)
        return;
    if (bytes >> SIZE_BITS) {
        rtl_hip_api_add(&api->header->allocations_lost, 1);
        return;
    }
    place = place < RTL_HIP_API_PLACES ? place : RTL_HIP_API_GPUS - 1;
    rtl_memory_restore(api, address, (uint64_t)row << 56 | (uint64_t)place << SIZE_BITS | bytes);
}

uint64_t rtl_memory_remove(struct rtl_hip_api *api, const void *address)
{
    uint32_t first = first_entry((uintptr_t)address);
    for (uint32_t i = 0; address && (uintptr_t)address != BUSY && i < PROBES; i++) {
        uint32_t at = (first + i) % ENTRIES;
        uintptr_t is = (uintptr_t)address;
        if (atomic_load_explicit(&entries[at].address, memory_order_acquire) != is)
            continue;
        uint64_t noted = atomic_load(&entries[at].noted);
        if (!atomic_compare_exchange_strong(&entries[at].address, &is, 0))
            continue;
        count_out(api, noted);
        return noted;
    }
    return 0;
}

void rtl_memory_reset(struct rtl_hip_api *api, uint32_t place)
{
    for (uint32_t at = 0; at < ENTRIES; at++) {
        uintptr_t is = atomic_load_explicit(&entries[at].address, memory_order_acquire);
        if (is == BUSY)
            continue;
        uint64_t noted = is ? atomic_load(&entries[at].noted) : 0;
        if (is && (noted >> SIZE_BITS & 0xff) == place && atomic_compare_exchange_strong(&entries[at].address, &is, 0))
            count_out(api, noted);
    }
}
