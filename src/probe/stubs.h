/*
 * The code that a probe adds to a kernel: before its first instruction, instead of each s_endpgm, and instead of
 * reading the program counter. Words for gfx906, gfx90a and gfx942, which agree in all of these; gfx942 needs extra
 * code for its several dies. Pure.
 *
 * Assumptions. At the begin of a kernel the registers above those that the packet processor fills are unused; at its
 * end no register is needed any more, nor vcc. So the stubs save nothing. In between, four registers above all that the
 * kernel uses keep the wave's begin. EXEC changes only at the end. The stubs write vector registers v0 to v3, which
 * every kernel has: they are allocated by fours.
 *
 * Hazards: s_memtime returns out of order with loads, so lgkmcnt(0) follows; before writing registers, the stubs wait
 * for loads and matrix products that the kernel has in flight to them; vector instructions are not renumbered
 * (s_set_gpr_idx_off). gfx942 needs two instructions between a vector write of a scalar register and a vector read of
 * it (v_readfirstlane, v_mov), and has them.
 */
#ifndef RTL_PROBE_STUBS_H
#define RTL_PROBE_STUBS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RTL_STUB_ENTRY_WORDS_MAX = 64,
    RTL_STUB_EXIT_WORDS_MAX = 128,
    RTL_STUB_EXIT_WAIT_WORDS = 8, /* of the exit stub: so many more for each wait, and for the clock's own cycles */
    RTL_STUB_WAIT_WORDS = 16,     /* a line of the instruction cache, so no fetch falls between the two clocks */
    RTL_STUB_PC_WORDS = 5,
    RTL_STUB_SCRATCH = 8, /* the exit stub writes registers below this one */
    RTL_STUB_KEPT = 4,    /* registers from `kept` on: cycles and ticks of the wave's begin */
    RTL_STUB_WAITS_KEPT =
        6, /* with waits, from kept + 4 on: two clocks, SCC, the clock's own cycles; then for each wait: */
    RTL_STUB_WAIT_KEPT = 3, /* 64-bit cycles, and how often the wave passed */
    RTL_STUB_WAITS_MAX = 16,
    RTL_STUB_ENDS_SHIFT_MAX = 40
};

/* Encode s_branch from word `from` to word `to`. The caller has checked the distance. */
uint32_t rtl_stub_branch(uint32_t from, uint32_t to);

/* Write code for word `at` that reads the clocks into s[kept] and following (`kept` is even) and branches to word `to`.
 * `waits`: number of timed waits; 0: the copy times none. Returns the number of words. */
unsigned rtl_stub_entry(uint32_t words[RTL_STUB_ENTRY_WORDS_MAX], uint32_t at, uint32_t to, unsigned kept,
                        unsigned waits);

/* Where a wave records its numbers: the block (src/shm/probe.h). */
struct rtl_stub_place {
    uint64_t block; /* address of the block */
    bool gaps;      /* the block has a table of slots; not with waits */
    bool dies;      /* the block has a page and a table for each die */
};

/* Write code that records and ends the wave. Returns the number of words; needs room for rtl_stub_exit_words(waits). */
unsigned rtl_stub_exit(uint32_t *words, const struct rtl_stub_place *place, unsigned kept, unsigned waits,
                       unsigned ends_shift);
static inline unsigned rtl_stub_exit_words(unsigned waits)
{
    return RTL_STUB_EXIT_WORDS_MAX + (waits ? waits + 1 : 0) * RTL_STUB_EXIT_WAIT_WORDS;
}

/*
 * Write code that replaces an s_waitcnt: it waits as that word says, adds the time to wait `number` of the copy, and
 * branches to word `to`. In the middle of a kernel all registers except the kept ones are in use; SCC is preserved.
 *
 * It measures from one clock to the other, with only the wait in between. The first clock is itself an operation of
 * lgkmcnt. According to the ISA documents scalar memory counts 1 for one dword and 2 for more, which a clock is, and
 * returns in any order. So a wait for lgkmcnt(0) or (1) takes at least as long as reading the clock; a wait for
 * lgkmcnt(2) or more ends once the clock has returned, or earlier, once two operations more are done than needed:
 * perhaps later than without the clock, never earlier. The second clock can only be awaited with everything else that
 * lgkmcnt counts: that time is in no sum, but the wave's operations are done then, and its later waits are shorter.
 */
void rtl_stub_wait(uint32_t words[RTL_STUB_WAIT_WORDS], uint32_t at, uint32_t to, uint32_t wait, unsigned kept,
                   unsigned number);

static inline unsigned rtl_stub_kept(unsigned waits)
{
    return RTL_STUB_KEPT + (waits ? RTL_STUB_WAITS_KEPT + (waits * RTL_STUB_WAIT_KEPT + 1) / 2 * 2 : 0);
}

/* Write code that loads a pair of registers with the value of s_getpc_b64 and branches to word `to`. */
void rtl_stub_pc(uint32_t words[RTL_STUB_PC_WORDS], uint32_t at, uint32_t to, unsigned destination, uint64_t pc);

#endif
