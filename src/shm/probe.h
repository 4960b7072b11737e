/*
 * The block that a probed kernel's waves write: a page of GPU memory for each probe, followed by a table of wave slots;
 * on a GPU of several dies a page for each die, followed by a table for each. This header is the contract.
 *
 * The block lies in the GPU's own memory: no bus to the host carries 64-bit minima and maxima.
 *
 * One lane of each wave writes it once, in the exit stub (src/probe/stubs.h), with atomic operations without a return
 * value: additions, minima and maxima. Nothing is lost, and no counter overflows soon; a reader during writes sees some
 * numbers of a wave before others. The maker of the block fills it with rtl_probe_block_clear, and may do so again
 * while no probed dispatch is in flight.
 *
 * Two clocks. Durations are in cycles of the shader clock (s_memtime): fine, but its frequency varies, and cycles are
 * comparable only within one compute unit. Begins and ends of waves are in ticks of the agent clock (s_memrealtime),
 * which also times dispatches.
 *
 * A wave that ends in a called function, by a trap, or with the process is in none of the numbers: compare `waves` with
 * the dispatch's grid to see how many are missing.
 *
 * Waits. A copy that times the kernel's waits (s_waitcnt) uses `busy` differently, as pairs: cycles spent at one place,
 * and how often a wave passed it. Pair 0 is the cost of reading the clock, once a wave; the copy's waits follow from
 * pair 1. Only the maker of the copy needs to know its kind: adding up blocks works the same. Such a copy writes
 * neither gaps nor the table.
 *
 * Gaps. A wave slot runs one wave after another; HW_ID holds a wave's slot. An ending wave exchanges the slot's entry
 * in the table for 0 and, as its last action, stores the clock there. So the slot's next wave finds the end of the wave
 * before; the time until its own begin is a gap. 0: first wave of the slot, or the wave before did not store its end.
 * Only times between two waves of one dispatch count as gaps: the table is cleared with the block, and one probed
 * dispatch runs at a time.
 * Libraries before minor version 8 of the segment have only the page: rtl_probe_state.block_bytes is the size, and a
 * copy made for less than RTL_PROBE_BLOCK_ALL writes only the page.
 *
 * Dies. Numbers in HW_ID count within one die of gfx942; XCC_ID holds the die. The stub uses three bits of it, so that
 * no wave writes beyond the last page or table, whatever the hardware returns. A copy for gfx942 writes to its die's
 * page and table and needs RTL_PROBE_BLOCK_DIES, which libraries have from minor version 9 on, for GPUs of that kind
 * only; no other copy can use that layout.
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
    RTL_PROBE_SLOTS_AT = RTL_PROBE_BLOCK_BYTES, /* cycles, 64 bits each: by unit, within it by slot */
    RTL_PROBE_BLOCK_ALL = RTL_PROBE_SLOTS_AT + RTL_PROBE_SLOTS * 8,
    /* with dies: all pages, then all tables */
    RTL_PROBE_DIES = 8,
    RTL_PROBE_DIES_SLOTS_AT = RTL_PROBE_DIES * RTL_PROBE_BLOCK_BYTES,
    RTL_PROBE_BLOCK_DIES = RTL_PROBE_DIES_SLOTS_AT + RTL_PROBE_DIES * RTL_PROBE_SLOTS * 8,
    RTL_PROBE_UNITS_ALL =
        RTL_PROBE_DIES * RTL_PROBE_UNITS, /* unit number: die * RTL_PROBE_UNITS + number within the die */
};

struct rtl_probe_block {
    uint64_t waves;                 /* ended waves */
    uint64_t sum, min, max;         /* their cycles; min is UINT64_MAX before the first */
    uint64_t first_start, last_end; /* ticks; first_start is UINT64_MAX before the first */
    uint64_t reserved[2];
    uint32_t durations[RTL_PROBE_DURATIONS]; /* waves by the highest bit set in their cycles; [0]: 0 and 1 */
    /* cycles of waves by the compute unit that they ended on: bits 8 to 15 of HW_ID, which are its number in the shader
     * array (4 bits), the array (1), the shader engine (3) */
    uint64_t busy[RTL_PROBE_UNITS];
    /* waves by the tick of their end, shifted right by the patch's ends_shift, modulo 256: for one dispatch shorter
     * than 256 such steps this says when waves ended, counted from first_start */
    uint32_t ends[RTL_PROBE_ENDS];
    uint64_t gap_sum;                   /* cycles of empty slots between waves */
    uint32_t gaps[RTL_PROBE_DURATIONS]; /* gaps by the highest bit set in their cycles; [0]: 0 and 1 */
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

/* Add one die's page of the same dispatch to a sum; `busy` stays separate for each die. */
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
