/*
 * The block that a probed kernel's waves write: a page of GPU memory a probe, and a table of wave slots behind it; of a
 * GPU of several dies as many pages, and behind them as many tables. The contract, whole.
 *
 * It lies in the GPU's own memory: minima and maxima of 64 bits are operations that no bus to the host carries.
 *
 * Written by the exit stub (src/probe/stubs.h), once a wave, by one lane, with atomic operations that return nothing:
 * additions, minima and maxima. Nothing is lost and nothing overflows soon; a reader that reads while waves end sees
 * some of a wave's numbers before the others. Whoever makes the block fills it with rtl_probe_block_clear's numbers,
 * and may do so again when no probed dispatch is in flight.
 *
 * Two clocks. Durations are in cycles of the shader clock (s_memtime): fine, but as fast as the clock happens to be,
 * and comparable only on one compute unit. When waves begin and end is in ticks of the agent clock (s_memrealtime),
 * which dispatches are timed with.
 *
 * A wave that ends in a function that the kernel calls, by a trap, or with the process is in none of the numbers:
 * `waves` beside the dispatch's grid says how many are missing.
 *
 * A copy that times the kernel's waits (s_waitcnt) writes `busy` otherwise, and all else as any copy does: pairs of the
 * cycles that passed at one place and how often a wave came by there. Pair 0 is what reading the clock takes by itself,
 * once a wave; the waits of this copy follow from pair 1 on. Who made the copy knows which kind it is, and nobody else
 * has to: whoever adds up blocks adds these as well. It leaves the gaps and the table alone.
 *
 * Gaps. A wave slot runs one wave after another; which slot a wave has is in HW_ID. When a wave ends it takes what the
 * slot's place in the table has and leaves 0 there (an exchange), and as the last thing that it does it puts the clock
 * there. So the next wave of that slot finds when the one before it ended; what passed until it began itself is a gap.
 * 0: it is the first one, or the one before didn't get to that. Nothing is taken for a gap that isn't between two waves
 * of one dispatch, because the table is cleared with the block, and one probed dispatch runs at a time.
 * Libraries before minor version 8 of the segment have the page alone: rtl_probe_state.block_bytes says how much there
 * is, and a copy that is made for less than RTL_PROBE_BLOCK_ALL writes the page alone.
 *
 * Dies. The numbers of HW_ID are those within one die of gfx942; which die is in XCC_ID, of which three bits are taken:
 * whatever the hardware says, nobody writes behind the last page or table. A copy for gfx942 writes to its die's page
 * and table, and is made for no less than RTL_PROBE_BLOCK_DIES, which libraries have from minor version 9 on, on GPUs
 * of that kind; only there is a block of that size, and it is laid out for no other copy.
 */
#ifndef RTL_SHM_PROBE_H
#define RTL_SHM_PROBE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTL_PROBE_BLOCK_BYTES = 4096,
    RTL_PROBE_DURATIONS = 64,
    RTL_PROBE_UNITS = 256,
    RTL_PROBE_ENDS = 256,
    RTL_PROBE_PAIRS = RTL_PROBE_UNITS / 2,
    RTL_PROBE_UNIT_SLOTS = 64, /* bits 0 to 5 of HW_ID: the slot on its SIMD (4 bits), the SIMD (2) */
    RTL_PROBE_SLOTS = RTL_PROBE_UNITS * RTL_PROBE_UNIT_SLOTS,
    RTL_PROBE_SLOTS_AT = RTL_PROBE_BLOCK_BYTES, /* in cycles, 64 bits each: by unit, within it by slot */
    RTL_PROBE_BLOCK_ALL = RTL_PROBE_SLOTS_AT + RTL_PROBE_SLOTS * 8,
    /* with dies: their pages, then their tables */
    RTL_PROBE_DIES = 8,
    RTL_PROBE_DIES_SLOTS_AT = RTL_PROBE_DIES * RTL_PROBE_BLOCK_BYTES,
    RTL_PROBE_BLOCK_DIES = RTL_PROBE_DIES_SLOTS_AT + RTL_PROBE_DIES * RTL_PROBE_SLOTS * 8,
    RTL_PROBE_UNITS_ALL =
        RTL_PROBE_DIES * RTL_PROBE_UNITS, /* a unit's number: its die's times RTL_PROBE_UNITS, and that there */
};

struct rtl_probe_block {
    uint64_t waves;                 /* that have ended */
    uint64_t sum, min, max;         /* cycles that they lasted; min is UINT64_MAX before the first */
    uint64_t first_start, last_end; /* ticks; first_start is UINT64_MAX before the first */
    uint64_t reserved[2];
    uint32_t durations[RTL_PROBE_DURATIONS]; /* waves by the highest bit set in their cycles; [0]: 0 and 1 */
    /* cycles of the waves that ended on a compute unit, which is bits 8 to 15 of the register HW_ID: its number in the
     * shader array (4 bits), the array (1), the shader engine (3) */
    uint64_t busy[RTL_PROBE_UNITS];
    /* waves by the tick at which they ended, shifted right as the patch was told to, modulo 256: of one dispatch that
     * lasts less than 256 of these steps it says when they ended, from first_start on */
    uint32_t ends[RTL_PROBE_ENDS];
    uint64_t gap_sum;                   /* cycles that slots were empty between waves */
    uint32_t gaps[RTL_PROBE_DURATIONS]; /* how often, by the highest bit set in them; [0]: 0 and 1 */
    uint8_t rest[440];
};
static_assert(sizeof(struct rtl_probe_block) == RTL_PROBE_BLOCK_BYTES, "a page");
static_assert(offsetof(struct rtl_probe_block, sum) == 8 && offsetof(struct rtl_probe_block, first_start) == 32 &&
                  offsetof(struct rtl_probe_block, durations) == 64 && offsetof(struct rtl_probe_block, busy) == 320 &&
                  offsetof(struct rtl_probe_block, ends) == 2368 && offsetof(struct rtl_probe_block, gap_sum) == 3392 &&
                  offsetof(struct rtl_probe_block, gaps) == 3400,
              "the block's layout");

static inline void rtl_probe_block_clear(struct rtl_probe_block *block)
{
    *block = (struct rtl_probe_block){.min = UINT64_MAX, .first_start = UINT64_MAX};
}

/* Adds one die's page to the sum of others, of the same dispatch; but for `busy`, which is each die's own. */
static inline void rtl_probe_block_add(struct rtl_probe_block *sum, const struct rtl_probe_block *die)
{
    sum->waves += die->waves;
    sum->sum += die->sum;
    sum->min = die->min < sum->min ? die->min : sum->min;
    sum->max = die->max > sum->max ? die->max : sum->max;
    sum->first_start = die->first_start < sum->first_start ? die->first_start : sum->first_start;
    sum->last_end = die->last_end > sum->last_end ? die->last_end : sum->last_end;
    sum->gap_sum += die->gap_sum;
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++) {
        sum->durations[i] += die->durations[i];
        sum->gaps[i] += die->gaps[i];
    }
    for (int i = 0; i < RTL_PROBE_ENDS; i++)
        sum->ends[i] += die->ends[i];
}

static inline size_t rtl_probe_block_bytes(uint32_t dies)
{
    return dies > 1 ? RTL_PROBE_BLOCK_DIES : RTL_PROBE_BLOCK_ALL;
}

#endif
