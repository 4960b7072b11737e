/*
 * The code that a probe adds to a kernel: what runs before its first instruction, instead of each s_endpgm, and instead
 * of reading the program counter. Words for gfx906, gfx90a and gfx942, which agree in all of these, but for what gfx942
 * has to do because it has several dies. Pure.
 *
 * What they rely on. When a kernel begins, the registers above those that the packet processor fills hold nothing; when
 * it ends, none holds anything that is still wanted, nor does vcc. So nothing is saved. In between four registers above
 * all that the kernel uses keep when the wave began. EXEC is changed only at the end. Of vector registers v0 to v3 are
 * written, which every kernel has: they are handed out by fours.
 *
 * Hazards: s_memtime returns out of order with loads, so lgkmcnt(0) follows; what the kernel has still under way to
 * registers (loads, matrix products) is waited for before registers are written; vector instructions are not renumbered
 * (s_set_gpr_idx_off). gfx942 wants two instructions between one that writes a scalar register as a vector one and one
 * that reads it so (v_readfirstlane, v_mov), and has them.
 */
#ifndef RTL_PROBE_STUBS_H
#define RTL_PROBE_STUBS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RTL_STUB_ENTRY_WORDS_MAX = 64,
    RTL_STUB_EXIT_WORDS_MAX = 128,
    RTL_STUB_EXIT_WAIT_WORDS = 8, /* of the exit stub: so many more for each wait, and for the clock's own cycles */
    RTL_STUB_WAIT_WORDS = 16,     /* a line of the instruction cache: nothing is fetched between its two clocks */
    RTL_STUB_PC_WORDS = 5,
    RTL_STUB_SCRATCH = 8,    /* the exit stub writes registers below this one */
    RTL_STUB_KEPT = 4,       /* registers from `kept` on: cycles and ticks when the wave began */
    RTL_STUB_WAITS_KEPT = 6, /* with waits, from kept + 4 on: two clocks, SCC, the clock's own cycles; then of each: */
    RTL_STUB_WAIT_KEPT = 3,  /* cycles, of 64 bits, and how often a wave came by */
    RTL_STUB_WAITS_MAX = 16,
    RTL_STUB_ENDS_SHIFT_MAX = 40
};

/* s_branch, from the word at `from` to the word at `to`. The caller has checked that it reaches. */
uint32_t rtl_stub_branch(uint32_t from, uint32_t to);

/* Reads the clocks into s[kept] and following, an even number, and goes on at word `to`; `at` is where it stands.
 * `waits`: so many are timed, 0: the copy isn't of that kind. How many words. */
unsigned rtl_stub_entry(uint32_t words[RTL_STUB_ENTRY_WORDS_MAX], uint32_t at, uint32_t to, unsigned kept,
                        unsigned waits);

/* Where a wave is recorded: the block (src/shm/probe.h). */
struct rtl_stub_place {
    uint64_t block; /* its address */
    bool gaps;      /* it has the table of slots; not with waits */
    bool dies;      /* it has a page and a table for each */
};

/* Records the wave, and ends it. How many words: room for rtl_stub_exit_words(waits). */
unsigned rtl_stub_exit(uint32_t *words, const struct rtl_stub_place *place, unsigned kept, unsigned waits,
                       unsigned ends_shift);
static inline unsigned rtl_stub_exit_words(unsigned waits)
{
    return RTL_STUB_EXIT_WORDS_MAX + (waits ? waits + 1 : 0) * RTL_STUB_EXIT_WAIT_WORDS;
}

/*
 * Instead of an s_waitcnt: waits as that word says, adds what passed meanwhile to wait `number` of the copy, and goes
 * on at word `to`. In the middle of a kernel everything is in use but the kept registers: SCC is what it was behind it.
 *
 * What is measured: from one clock to the other, with the wait alone between them. The first clock is an operation
 * of lgkmcnt itself. The ISA documents have scalar memory count 1 for one dword and 2 for more, which a clock is, and
 * come back in any order. So a wait for lgkmcnt(0) or (1) takes no less than reading the clock does; one for lgkmcnt(2)
 * or more is over once the clock is there, or before that when two operations more are done than it had to wait for:
 * later than without the clock perhaps, never earlier. The second clock can only be waited for with all that lgkmcnt
 * counts: that falls on nobody's sum, but what the wave had under way is done with then, and the waits behind are
 * shorter.
 */
void rtl_stub_wait(uint32_t words[RTL_STUB_WAIT_WORDS], uint32_t at, uint32_t to, uint32_t wait, unsigned kept,
                   unsigned number);

static inline unsigned rtl_stub_kept(unsigned waits)
{
    return RTL_STUB_KEPT + (waits ? RTL_STUB_WAITS_KEPT + (waits * RTL_STUB_WAIT_KEPT + 1) / 2 * 2 : 0);
}

/* Loads a pair of registers with what s_getpc_b64 would have read, and goes on at word `to`. */
void rtl_stub_pc(uint32_t words[RTL_STUB_PC_WORDS], uint32_t at, uint32_t to, unsigned destination, uint64_t pc);

#endif
