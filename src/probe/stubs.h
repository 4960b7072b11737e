/*
 * The code that a probe adds to a kernel: what runs before its first instruction, instead of each s_endpgm, and instead
 * of reading the program counter. Words for gfx906 and gfx90a, which agree in all of these. Pure.
 *
 * What they rely on. When a kernel begins, the registers above those that the packet processor fills hold nothing; when
 * it ends, none holds anything that is still wanted. So nothing is saved. In between four registers above all that the
 * kernel uses keep when the wave began. EXEC is changed only at the end. Of vector registers v0, v2 and v3 are written,
 * which every kernel has: they are handed out by fours.
 *
 * Hazards: s_memtime returns out of order with loads, so lgkmcnt(0) follows; what the kernel has still under way to
 * registers (loads, matrix products) is waited for before registers are written; vector instructions are not renumbered
 * (s_set_gpr_idx_off).
 */
#ifndef RTL_PROBE_STUBS_H
#define RTL_PROBE_STUBS_H

#include <stdint.h>

enum {
    RTL_STUB_ENTRY_WORDS = 6,
    RTL_STUB_EXIT_WORDS_MAX = 64,
    RTL_STUB_PC_WORDS = 5,
    RTL_STUB_SCRATCH = 8, /* the exit stub writes registers below this one */
    RTL_STUB_KEPT = 4,    /* registers from `kept` on: cycles and ticks when the wave began */
    RTL_STUB_ENDS_SHIFT_MAX = 40
};

/* s_branch, from the word at `from` to the word at `to`. The caller has checked that it reaches. */
uint32_t rtl_stub_branch(uint32_t from, uint32_t to);

/* Reads the clocks into s[kept] and following, an even number, and goes on at word `to`; `at` is where it stands. */
void rtl_stub_entry(uint32_t words[RTL_STUB_ENTRY_WORDS], uint32_t at, uint32_t to, unsigned kept);

/* Records the wave in the block (src/shm/probe.h) at this address, and ends it. How many words. */
unsigned rtl_stub_exit(uint32_t words[RTL_STUB_EXIT_WORDS_MAX], uint64_t block, unsigned kept, unsigned ends_shift);

/* Loads a pair of registers with what s_getpc_b64 would have read, and goes on at word `to`. */
void rtl_stub_pc(uint32_t words[RTL_STUB_PC_WORDS], uint32_t at, uint32_t to, unsigned destination, uint64_t pc);

#endif
