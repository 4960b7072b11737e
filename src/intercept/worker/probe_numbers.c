/* Sums up a probe's blocks (probe_numbers.h). */
#include "intercept/worker/probe_numbers.h"

#include <stdbool.h>

enum { WAVE = 64 };

uint64_t rtl_probe_waves_of(const uint32_t grid[3], const uint16_t workgroup[3])
{
    /* workgroups at the far edges of a grid that isn't a multiple of their size are smaller: eight kinds of
     * workgroups */
    uint64_t waves = 0, whole[3], rest[3], size[3];
    for (int i = 0; i < 3; i++) {
        size[i] = workgroup[i] ? workgroup[i] : 1;
        uint64_t items = grid[i] ? grid[i] : 1;
        whole[i] = items / size[i];
        rest[i] = items % size[i];
    }
    for (int kind = 0; kind < 8; kind++) {
        uint64_t groups = 1, items = 1;
        for (int i = 0; i < 3; i++) {
            bool cut = kind >> i & 1;
            groups *= cut ? rest[i] != 0 : whole[i];
            items *= cut ? rest[i] : size[i];
        }
        waves += groups * ((items + WAVE - 1) / WAVE);
    }
    return waves;
}

static unsigned highest_bit(uint64_t value)
{
    return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
}

/* Return the ticks from the step in which half of the waves had ended to the last one's end. Steps are counted
 * modulo 256, from the one of the first wave's start. False if the counts are ambiguous. */
static bool tail_of(const struct rtl_probe_block *block, uint32_t shift, uint64_t *ticks)
{
    uint64_t first = block->first_start >> shift, ended = 0;
    if (!block->waves || block->last_end < block->first_start || (block->last_end >> shift) - first >= RTL_PROBE_ENDS)
        return false;
    for (uint64_t step = 0; step < RTL_PROBE_ENDS; step++) {
        ended += block->ends[(first + step) % RTL_PROBE_ENDS];
        if (2 * ended < block->waves)
            continue;
        uint64_t from = (first + step) << shift;
        from = from < block->first_start ? block->first_start : from;
        *ticks = from < block->last_end ? block->last_end - from : 0;
        return ended <= block->waves;
    }
    return false; /* waves are missing */
}

uint64_t rtl_probe_waves_in(const struct rtl_probe_block *pages, uint32_t dies)
{
    uint64_t waves = 0;
    for (uint32_t die = 0; die < dies; die++)
        waves += pages[die].waves;
    return waves;
}

/* Add each die's own numbers to the state, and all others into one block. */
static void gather(struct rtl_probe_state *state, const struct rtl_probe_block *pages, uint32_t dies,
                   struct rtl_probe_block *all)
{
    rtl_probe_block_clear(all);
    for (uint32_t die = 0; die < dies; die++) {
        uint64_t *busy = die ? state->die[die - 1].busy : state->busy;
        rtl_probe_block_add(all, &pages[die]);
        for (int i = 0; i < RTL_PROBE_UNITS; i++)
            busy[i] += pages[die].busy[i];
    }
}

void rtl_probe_add(struct rtl_probe_state *state, const struct rtl_probe_block *pages, uint32_t dies,
                   const struct rtl_tick_rate *rate, uint64_t duration_ns, uint64_t waves_expected)
{
    uint64_t ticks = 0;
    struct rtl_probe_block all, *block = &all;
    gather(state, pages, dies, block);
    if (!state->recorded || duration_ns < state->duration_min_ns)
        state->duration_min_ns = duration_ns;
    if (duration_ns > state->duration_max_ns)
        state->duration_max_ns = duration_ns;
    state->duration_total_ns += duration_ns;
    state->recorded++;
    state->waves_expected += waves_expected;
    if (block->waves) {
        if (!state->waves || block->min < state->min)
            state->min = block->min;
        if (block->max > state->max)
            state->max = block->max;
    }
    state->waves += block->waves;
    state->sum += block->sum;
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++)
        state->durations[i] += block->durations[i];
    state->gap_sum += block->gap_sum;
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++)
        state->gaps[i] += block->gaps[i];
    if (!rate->hz || !tail_of(block, state->ends_shift, &ticks))
        return;
    uint64_t ns = rtl_ticks_to_ns(rate, ticks);
    state->tails++;
    state->tail_total_ns += ns;
    if (ns > state->tail_max_ns)
        state->tail_max_ns = ns;
    state->tail_ns[highest_bit(ns)]++;
}
