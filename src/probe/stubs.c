/* Stubs, assembled by hand; tests/e2e/probe-patch.t has LLVM read them back. See stubs.h. */
#include "probe/stubs.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "shm/probe.h"

/* operands: registers have their numbers, small constants 128 + n, vector registers as sources 256 + n */
enum { VCC = 106, EXEC = 126, CONSTANT = 128, LITERAL = 255, VECTOR = 256 };
enum { S_NOP = 0, S_ENDPGM = 1, S_BRANCH = 2, S_CBRANCH_SCC1 = 5, S_WAITCNT = 12, S_GPR_IDX_OFF = 28 };
enum { S_MEMTIME = 36, S_MEMREALTIME = 37 };
enum {
    S_ADD_U32 = 0,
    S_SUB_U32 = 1,
    S_ADDC_U32 = 4,
    S_SUBB_U32 = 5,
    S_CSELECT_B32 = 10,
    S_AND_B32 = 12,
    S_OR_B32 = 14,
    S_LSHL_B32 = 28,
    S_LSHR_B64 = 31,
    S_MUL_I32 = 36
};
enum { S_CMP_LG_U32 = 7, S_CMP_EQ_U64 = 18 };
enum { S_MOV_B32 = 0, S_MOV_B64 = 1, S_FLBIT_I32_B64 = 19 };
enum { ATOMIC_ADD = 66, ATOMIC_SWAP_X2 = 96, ATOMIC_ADD_X2 = 98, ATOMIC_UMIN_X2 = 101, ATOMIC_UMAX_X2 = 103 };
enum { LGKMCNT_0 = 0xc07f, ALL_0 = 0 };
/* registers kept for waits, from `kept` on */
enum { BEFORE = RTL_STUB_KEPT, BEHIND = BEFORE + 2, SCC = BEHIND + 2, CLOCK = SCC + 1, WAITS = CLOCK + 1 };
/* hardware registers: HW_ID is 4 (8 bits from bit 8 on; the lowest 6 bits); XCC_ID is 20 (as many bits as dies have
 * pages) */
enum { HW_ID_UNIT = 7 << 11 | 8 << 6 | 4, HW_ID_SLOT = 5 << 11 | 4, XCC_ID = 2 << 11 | 20 };
static_assert(RTL_PROBE_DIES == 1 << ((XCC_ID >> 11) + 1) && RTL_PROBE_BLOCK_BYTES == 1 << 12, "pages of dies");

struct stub_out {
    uint32_t *words;
    unsigned count;
};

static void put_word(struct stub_out *o, uint32_t word)
{
    o->words[o->count++] = word;
}

static void sopp(struct stub_out *o, unsigned op, unsigned immediate)
{
    put_word(o, 0xbf800000u | op << 16 | (immediate & 0xffff));
}

static void sop1(struct stub_out *o, unsigned op, unsigned to, unsigned from)
{
    put_word(o, 0xbe800000u | to << 16 | op << 8 | from);
}

static void sop2(struct stub_out *o, unsigned op, unsigned to, unsigned a, unsigned b)
{
    put_word(o, 0x80000000u | op << 23 | to << 16 | b << 8 | a);
}

static void s_load_literal(struct stub_out *o, unsigned to, uint32_t value)
{
    sop1(o, S_MOV_B32, to, LITERAL);
    put_word(o, value);
}

static void s_clock(struct stub_out *o, unsigned op, unsigned to)
{
    put_word(o, 0xc0000000u | op << 18 | to << 6);
    put_word(o, 0);
}

static void v_mov(struct stub_out *o, unsigned to, unsigned from)
{
    put_word(o, 0x7e000200u | to << 17 | from);
}

static void v_readfirstlane(struct stub_out *o, unsigned to, unsigned from)
{
    put_word(o, 0x7e000400u | to << 17 | VECTOR | from);
}

/* operate on s[0:1] + v0 + offset with v[2:3] or v2 */
static void atomic(struct stub_out *o, unsigned op, size_t offset)
{
    put_word(o, 0xdc008000u | op << 18 | (uint32_t)offset);
    put_word(o, 2 << 8);
}

/* exchange v[2:3] with memory at s[0:1] + v1; `back`: v[2:3] get the old value */
static void exchange(struct stub_out *o, bool back)
{
    put_word(o, 0xdc008000u | ATOMIC_SWAP_X2 << 18 | (uint32_t)back << 16);
    put_word(o, 2u << 24 | 2 << 8 | 1);
}

static void s_getreg(struct stub_out *o, unsigned to, unsigned what)
{
    put_word(o, 0xb8800000u | to << 16 | what);
}

/* compute four times the number of the highest bit set in a pair of registers: an offset in a histogram */
static void s_power(struct stub_out *o, unsigned to, unsigned of)
{
    sop1(o, S_FLBIT_I32_B64, to, of); /* number of leading zeros, -1 for 0 */
    sop2(o, S_SUB_U32, to, CONSTANT + 63, to);
    sop2(o, S_AND_B32, to, to, CONSTANT + 63);
    sop2(o, S_LSHL_B32, to, to, CONSTANT + 2);
}

/* copy the pair of registers into v[2:3] */
static void v_pair(struct stub_out *o, unsigned from)
{
    v_mov(o, 2, from);
    v_mov(o, 3, from + 1);
}

uint32_t rtl_stub_branch(uint32_t from, uint32_t to)
{
    return 0xbf800000u | S_BRANCH << 16 | ((to - from - 1) & 0xffff);
}

unsigned rtl_stub_entry(uint32_t words[RTL_STUB_ENTRY_WORDS_MAX], uint32_t at, uint32_t to, unsigned kept,
                        unsigned waits)
{
    struct stub_out o = {words, 0};
    if (waits) { /* cost of a wait for nothing but the clock */
        s_clock(&o, S_MEMTIME, kept + BEFORE);
        sopp(&o, S_WAITCNT, LGKMCNT_0);
        s_clock(&o, S_MEMTIME, kept + BEHIND);
        sopp(&o, S_WAITCNT, LGKMCNT_0);
        sop2(&o, S_SUB_U32, kept + CLOCK, kept + BEHIND, kept + BEFORE);
    }
    for (unsigned i = 0; i < waits * RTL_STUB_WAIT_KEPT; i += 2)
        sop1(&o, S_MOV_B64, kept + WAITS + i, CONSTANT);
    s_clock(&o, S_MEMTIME, kept);
    s_clock(&o, S_MEMREALTIME, kept + 2);
    sopp(&o, S_WAITCNT, LGKMCNT_0);
    put_word(&o, rtl_stub_branch(at + o.count, to));
    return o.count;
}

void rtl_stub_wait(uint32_t words[RTL_STUB_WAIT_WORDS], uint32_t at, uint32_t to, uint32_t wait, unsigned kept,
                   unsigned number)
{
    const unsigned before = kept + BEFORE, behind = kept + BEHIND, sum = kept + WAITS + number * RTL_STUB_WAIT_KEPT;
    struct stub_out o = {words, 0};
    s_clock(&o, S_MEMTIME, before);
    put_word(&o, wait);
    s_clock(&o, S_MEMTIME, behind);
    sop2(&o, S_CSELECT_B32, kept + SCC, CONSTANT + 1, CONSTANT);
    sopp(&o, S_WAITCNT, LGKMCNT_0);
    sop2(&o, S_SUB_U32, behind, behind, before);
    sop2(&o, S_SUBB_U32, behind + 1, behind + 1, before + 1);
    sop2(&o, S_ADD_U32, sum, sum, behind);
    sop2(&o, S_ADDC_U32, sum + 1, sum + 1, behind + 1);
    sop2(&o, S_ADD_U32, sum + 2, sum + 2, CONSTANT + 1);
    put_word(&o, 0xbf000000u | S_CMP_LG_U32 << 16 | CONSTANT << 8 | (kept + SCC));
    put_word(&o, rtl_stub_branch(at + o.count, to));
}

void rtl_stub_pc(uint32_t words[RTL_STUB_PC_WORDS], uint32_t at, uint32_t to, unsigned destination, uint64_t pc)
{
    struct stub_out o = {words, 0};
    s_load_literal(&o, destination, (uint32_t)pc);
    s_load_literal(&o, destination + 1, (uint32_t)(pc >> 32));
    put_word(&o, rtl_stub_branch(at + o.count, to));
}

#define AT(field) offsetof(struct rtl_probe_block, field)
static_assert((int)RTL_STUB_WAITS_MAX < (int)RTL_PROBE_PAIRS && AT(busy) + (RTL_STUB_WAITS_MAX + 1) * 16 <= 4095,
              "what an instruction's offset reaches");

/* Add cycles (64 or 32 bits) and a count from registers to a pair of the block; v0 is 0. */
static void add_pair(struct stub_out *o, unsigned pair, unsigned cycles, bool wide, unsigned passes)
{
    v_mov(o, 2, cycles);
    v_mov(o, 3, wide ? cycles + 1 : CONSTANT);
    atomic(o, ATOMIC_ADD_X2, AT(busy) + pair * 16ul);
    v_mov(o, 2, passes);
    v_mov(o, 3, CONSTANT);
    atomic(o, ATOMIC_ADD_X2, AT(busy) + pair * 16ul + 8);
}

/* Emit a branch with an open distance and return its place; s_arrive sets the distance to here. */
static unsigned s_skip(struct stub_out *o, unsigned op)
{
    sopp(o, op, 0);
    return o->count - 1;
}

static void s_arrive(struct stub_out *o, unsigned from)
{
    o->words[from] |= o->count - from - 1;
}

/* Add the time since the end of the wave before in this slot. v1 keeps the slot's offset. Not counted: the first wave
 * of a slot, and a wave that began before the other had ended, which only a damaged table says. */
static void add_gap(struct stub_out *o, bool dies, unsigned kept)
{
    s_getreg(o, 7, HW_ID_SLOT);
    sop2(o, S_LSHL_B32, VCC, 6, CONSTANT + 6);
    sop2(o, S_OR_B32, 7, 7, VCC);
    sop2(o, S_LSHL_B32, 7, 7, CONSTANT + 3);
    sop2(o, S_ADD_U32, 7, 7, LITERAL);
    put_word(o, dies ? RTL_PROBE_DIES_SLOTS_AT : RTL_PROBE_SLOTS_AT);
    if (dies) { /* relative to this die's page */
        s_getreg(o, VCC, XCC_ID);
        sop2(o, S_MUL_I32, VCC, VCC, LITERAL);
        put_word(o, RTL_PROBE_SLOTS * 8 - RTL_PROBE_BLOCK_BYTES);
        sop2(o, S_ADD_U32, 7, 7, VCC);
    }
    v_mov(o, 1, 7);
    v_mov(o, 2, CONSTANT);
    v_mov(o, 3, CONSTANT);
    exchange(o, true);
    sopp(o, S_WAITCNT, ALL_0);
    v_readfirstlane(o, VCC, 2);
    v_readfirstlane(o, VCC + 1, 3);
    put_word(o, 0xbf000000u | S_CMP_EQ_U64 << 16 | CONSTANT << 8 | VCC);
    unsigned none = s_skip(o, S_CBRANCH_SCC1);
    sop2(o, S_SUB_U32, VCC, kept, VCC);
    sop2(o, S_SUBB_U32, VCC + 1, kept + 1, VCC + 1);
    unsigned early = s_skip(o, S_CBRANCH_SCC1);
    v_mov(o, 0, CONSTANT);
    v_pair(o, VCC);
    atomic(o, ATOMIC_ADD_X2, AT(gap_sum));
    s_power(o, 7, VCC);
    v_mov(o, 0, 7);
    v_mov(o, 2, CONSTANT + 1);
    atomic(o, ATOMIC_ADD, AT(gaps));
    s_arrive(o, none);
    s_arrive(o, early);
}

/* Advance s[0:1] to this die's page. */
static void go_to_die(struct stub_out *o)
{
    s_getreg(o, 7, XCC_ID);
    sop2(o, S_LSHL_B32, 7, 7, CONSTANT + 12);
    sop2(o, S_ADD_U32, 0, 0, 7);
    sop2(o, S_ADDC_U32, 1, 1, CONSTANT);
}

/* Store the end of the wave, last of all, so that the stub's own time is in no gap. Nothing waits for the store: the
 * slot's next wave finds it, because one compute unit's operations on one address arrive in order. */
static void leave_slot(struct stub_out *o)
{
    s_clock(o, S_MEMTIME, 2);
    sopp(o, S_WAITCNT, LGKMCNT_0);
    v_pair(o, 2);
    exchange(o, false);
}

unsigned rtl_stub_exit(uint32_t *words, const struct rtl_stub_place *place, unsigned kept, unsigned waits,
                       unsigned ends_shift)
{
    /* s[0:1]: the block or this die's page; s[2:3]: cycles; s[4:5]: ticks; s6: compute unit; s7 and vcc: scratch */
    struct stub_out o = {words, 0};
    sopp(&o, S_WAITCNT, LGKMCNT_0); /* a pending load would delay the clock */
    s_clock(&o, S_MEMTIME, 2);
    s_clock(&o, S_MEMREALTIME, 4);
    sopp(&o, S_WAITCNT, ALL_0);
    sopp(&o, S_GPR_IDX_OFF, 0);
    sopp(&o, S_NOP, 15); /* a matrix product to v0, v2 or v3 may be in flight */
    sopp(&o, S_NOP, 3);
    s_getreg(&o, 6, HW_ID_UNIT);
    sop2(&o, S_SUB_U32, 2, 2, kept);
    sop2(&o, S_SUBB_U32, 3, 3, kept + 1);
    s_load_literal(&o, 0, (uint32_t)place->block);
    s_load_literal(&o, 1, (uint32_t)(place->block >> 32));
    if (place->dies)
        go_to_die(&o);
    sop1(&o, S_MOV_B64, EXEC, CONSTANT + 1);
    if (place->gaps)
        add_gap(&o, place->dies, kept);

    v_mov(&o, 0, CONSTANT);
    v_mov(&o, 2, CONSTANT + 1);
    v_mov(&o, 3, CONSTANT);
    atomic(&o, ATOMIC_ADD_X2, AT(waves));
    v_pair(&o, 2);
    atomic(&o, ATOMIC_ADD_X2, AT(sum));
    atomic(&o, ATOMIC_UMIN_X2, AT(min));
    atomic(&o, ATOMIC_UMAX_X2, AT(max));
    if (waits) {
        add_pair(&o, 0, kept + CLOCK, false, CONSTANT + 1);
    } else {
        sop2(&o, S_LSHL_B32, 6, 6, CONSTANT + 3);
        v_mov(&o, 0, 6);
        atomic(&o, ATOMIC_ADD_X2, AT(busy));
        v_mov(&o, 0, CONSTANT);
    }
    for (unsigned i = 0, at = kept + WAITS; i < waits; i++, at += RTL_STUB_WAIT_KEPT)
        add_pair(&o, i + 1, at, true, at + 2);
    v_pair(&o, kept + 2);
    atomic(&o, ATOMIC_UMIN_X2, AT(first_start));
    v_pair(&o, 4);
    atomic(&o, ATOMIC_UMAX_X2, AT(last_end));

    s_power(&o, 7, 2);
    v_mov(&o, 0, 7);
    v_mov(&o, 2, CONSTANT + 1);
    atomic(&o, ATOMIC_ADD, AT(durations));
    sop2(&o, S_LSHR_B64, 4, 4, CONSTANT + ends_shift);
    sop2(&o, S_AND_B32, 4, 4, LITERAL);
    put_word(&o, RTL_PROBE_ENDS - 1);
    sop2(&o, S_LSHL_B32, 4, 4, CONSTANT + 2);
    v_mov(&o, 0, 4);
    atomic(&o, ATOMIC_ADD, AT(ends));
    if (place->gaps)
        leave_slot(&o);
    sopp(&o, S_ENDPGM, 0);
    return o.count;
}
