/*
 * native_stress_any.h - the runtime functions that native_stress calls; where several differ only in memory order, it
 * picks one at random. Also its random numbers.
 */
#ifndef NATIVE_STRESS_ANY_H
#define NATIVE_STRESS_ANY_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

static uint64_t draw_random(uint64_t *random)
{
    uint64_t z = (*random += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static unsigned below(uint64_t *random, unsigned n)
{
    return (unsigned)((draw_random(random) >> 32) * n >> 32);
}

static bool chance(uint64_t *random, unsigned percent)
{
    return below(random, 100) < percent;
}

static void ring_bell(uint64_t *random, const hsa_queue_t *queue, uint64_t index)
{
    switch (below(random, 4)) {
    case 0:
        hsa_signal_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)index);
        break;
    case 1:
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
        break;
    case 2:
        hsa_signal_silent_store_relaxed(queue->doorbell_signal, (hsa_signal_value_t)index);
        break;
    default:
        hsa_signal_silent_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    }
}

static uint64_t add_index(uint64_t *random, const hsa_queue_t *queue, uint64_t n)
{
    switch (below(random, 4)) {
    case 0:
        return hsa_queue_add_write_index_relaxed(queue, n);
    case 1:
        return hsa_queue_add_write_index_scacquire(queue, n);
    case 2:
        return hsa_queue_add_write_index_screlease(queue, n);
    default:
        return hsa_queue_add_write_index_scacq_screl(queue, n);
    }
}

static uint64_t load_index(uint64_t *random, const hsa_queue_t *queue)
{
    return chance(random, 50) ? hsa_queue_load_write_index_relaxed(queue) : hsa_queue_load_write_index_scacquire(queue);
}

static uint64_t compare_and_swap(uint64_t *random, const hsa_queue_t *queue, uint64_t old, uint64_t new)
{
    switch (below(random, 4)) {
    case 0:
        return hsa_queue_cas_write_index_relaxed(queue, old, new);
    case 1:
        return hsa_queue_cas_write_index_scacquire(queue, old, new);
    case 2:
        return hsa_queue_cas_write_index_screlease(queue, old, new);
    default:
        return hsa_queue_cas_write_index_scacq_screl(queue, old, new);
    }
}

#endif
