/*
 * scalar.c - scalar arithmetic, comparisons, branches and instructions that control a wave. scalar_ops.h defines what
 * the plain ones compute.
 */
#include "scalar_ops.h"
#include "wave.h"

#include <time.h>

static uint64_t gcn_field(uint64_t a, unsigned at, unsigned width, unsigned bits)
{
    a = bits == 32 ? (uint32_t)a >> at : a >> at;
    return width >= 64 ? a : a & ((1ull << width) - 1);
}

static int64_t gcn_signed_field(uint64_t a, unsigned at, unsigned width, unsigned bits)
{
    if (!width)
        return 0;
    if (width > bits - at)
        width = bits - at;
    return (int64_t)(a << (64 - at - width)) >> (64 - width);
}

static uint32_t gcn_reverse(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static uint32_t gcn_sign_bits(uint32_t a)
{
    return a == 0 || ~a == 0 ? UINT32_MAX : (uint32_t)__builtin_clz((int32_t)a < 0 ? ~a : a);
}

static uint64_t gcn_whole_quads(uint64_t a)
{
    uint64_t any = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111111111111111ull;
    return any * 15;
}

typedef uint32_t t32u;
typedef int32_t t32i;
typedef uint64_t t64u;
typedef int64_t t64i;

static uint32_t scalar_operand(const struct gcn_wave *w, const struct gcn_inst *in, unsigned n)
{
    return in->src[n] == GCN_NO_OPERAND ? 0 : gcn_scalar(w, in, in->src[n]);
}

static uint64_t scalar_operand64(const struct gcn_wave *w, const struct gcn_inst *in, unsigned n)
{
    return in->src[n] == GCN_NO_OPERAND ? 0 : gcn_scalar64(w, in, in->src[n], true);
}

#define S32(name, sign, result, carry)                                                                      \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)                                     \
    {                                                                                                       \
        t32##sign a = (t32##sign)scalar_operand(w, in, 0), b = (t32##sign)scalar_operand(w, in, 1), old, d; \
        old = (t32##sign)w->s[in->sdst];                                                                    \
        (void)b, (void)old;                                                                                 \
        d = (result);                                                                                       \
        w->scc = (carry);                                                                                   \
        w->s[in->sdst] = (uint32_t)d;                                                                       \
    }
#define SET64(name, sign, btype, bvalue, result, carry)                                                 \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)                                 \
    {                                                                                                   \
        t64##sign a = (t64##sign)scalar_operand64(w, in, 0), old = (t64##sign)gcn_pair(w, in->sdst), d; \
        btype b = bvalue;                                                                               \
        (void)b, (void)old;                                                                             \
        d = (result);                                                                                   \
        w->scc = (carry);                                                                               \
        gcn_set_pair(w, in->sdst, (uint64_t)d);                                                         \
    }
#define S64(name, sign, result, carry) \
    SET64(name, sign, t64##sign, (t64##sign)scalar_operand64(w, in, 1), result, carry)
#define S64B32(name, sign, result, carry) SET64(name, sign, uint32_t, scalar_operand(w, in, 1), result, carry)
#define S6432(name, result, carry)                                      \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in) \
    {                                                                   \
        uint64_t a = scalar_operand64(w, in, 0);                        \
        uint32_t d = (result);                                          \
        w->scc = (carry);                                               \
        w->s[in->sdst] = d;                                             \
    }
#define SAVE(name, result)                                                      \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)         \
    {                                                                           \
        uint64_t a = scalar_operand64(w, in, 0), e = gcn_exec(w), d = (result); \
        gcn_set_pair(w, in->sdst, e);                                           \
        gcn_set_pair(w, GCN_EXEC, d);                                           \
        w->scc = d != 0;                                                        \
    }
#define CMP32(name, sign, result)                                                                   \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)                             \
    {                                                                                               \
        t32##sign a = (t32##sign)scalar_operand(w, in, 0), b = (t32##sign)scalar_operand(w, in, 1); \
        w->scc = (result);                                                                          \
    }
#define CMP64(name, result)                                                      \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)          \
    {                                                                            \
        uint64_t a = scalar_operand64(w, in, 0), b = scalar_operand64(w, in, 1); \
        w->scc = (result);                                                       \
    }
#define K32(name, sign, type, result)                                   \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in) \
    {                                                                   \
        t32##sign a = (t32##sign)w->s[in->sdst], k = (type)in->literal; \
        w->scc = (result);                                              \
    }
GCN_SCALAR_32
GCN_SCALAR_64
GCN_SCALAR_64_TO_32
GCN_SCALAR_SAVEEXEC
GCN_SCALAR_COMPARE
GCN_SCALAR_CONSTANT
#undef S32
#undef S64
#undef S64B32
#undef S6432
#undef SAVE
#undef CMP32
#undef CMP64
#undef K32

static void bfm64(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint32_t a = scalar_operand(w, in, 0) & 63, b = scalar_operand(w, in, 1) & 63;
    gcn_set_pair(w, in->sdst, ((1ull << a) - 1) << b);
}

static void bitset64(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint64_t bit = 1ull << (scalar_operand(w, in, 0) & 63), old = gcn_pair(w, in->sdst);
    gcn_set_pair(w, in->sdst, in->op == GCN_s_bitset1_b64 ? old | bit : old & ~bit);
}

static void wrexec(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint64_t a = scalar_operand64(w, in, 0), e = gcn_exec(w), d = in->op == GCN_s_andn1_wrexec_b64 ? ~a & e : a & ~e;
    gcn_set_pair(w, GCN_EXEC, d);
    gcn_set_pair(w, in->sdst, d);
    w->scc = d != 0;
}

static void bitreplicate(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint32_t a = scalar_operand(w, in, 0);
    uint64_t d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (uint64_t)(a >> i & 1) * 3 << i * 2;
    gcn_set_pair(w, in->sdst, d);
}

static void literal_arithmetic(struct gcn_wave *w, const struct gcn_inst *in)
{
    int32_t k = (int32_t)in->literal, old = (int32_t)w->s[in->sdst], d;
    switch (in->op) {
    case GCN_s_cmovk_i32:
        d = w->scc ? k : old;
        break;
    case GCN_s_addk_i32:
        w->scc = __builtin_add_overflow(old, k, &d);
        break;
    case GCN_s_mulk_i32:
        d = (int32_t)((uint32_t)old * (uint32_t)k);
        break;
    default:
        d = k;
    }
    w->s[in->sdst] = (uint32_t)d;
}

/* Hardware registers: only the float mode and the wave's place (HW_ID, XCC_ID) are modelled. The others read as 0, as
 * does the die of a GPU with only one. */
static void hardware(struct gcn_wave *w, const struct gcn_inst *in)
{
    enum { MODE = 1, HW_ID = 4, XCC_ID = 20 };
    unsigned which = in->literal & 63, at = in->literal >> 6 & 31, bits = (in->literal >> 11 & 31) + 1;
    uint32_t field = bits == 32 ? UINT32_MAX : (1u << bits) - 1, value;
    if (in->op == GCN_s_getreg_b32) {
        value = which == MODE ? w->mode : which == HW_ID ? w->hw_id : which == XCC_ID ? w->die : 0;
        w->s[in->sdst] = value >> at & field;
        return;
    }
    value = in->op == GCN_s_setreg_imm32_b32 ? (uint32_t)in->offset : w->s[in->sdst];
    if (which == MODE)
        w->mode = (w->mode & ~(field << at)) | (value & field) << at;
}

static void jump(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint64_t to = in->op == GCN_s_getpc_b64 || in->op == GCN_s_call_b64 ? 0 : scalar_operand64(w, in, 0), pc = w->pc;
    if (in->op == GCN_s_call_b64)
        to = pc + (uint64_t)((int64_t)(int32_t)in->literal * 4);
    if (in->op != GCN_s_setpc_b64)
        gcn_set_pair(w, in->sdst, pc);
    if (in->op != GCN_s_getpc_b64)
        w->pc = to;
}

static void branch(struct gcn_wave *w, const struct gcn_inst *in)
{
    bool taken = true;
    switch (in->op) {
    case GCN_s_cbranch_scc0:
        taken = !w->scc;
        break;
    case GCN_s_cbranch_scc1:
        taken = w->scc;
        break;
    case GCN_s_cbranch_vccz:
        taken = !gcn_pair(w, GCN_VCC);
        break;
    case GCN_s_cbranch_vccnz:
        taken = gcn_pair(w, GCN_VCC);
        break;
    case GCN_s_cbranch_execz:
        taken = !gcn_exec(w);
        break;
    case GCN_s_cbranch_execnz:
        taken = gcn_exec(w);
        break;
    default:
        break;
    }
    if (taken)
        w->pc += (uint64_t)((int64_t)(int32_t)in->literal * 4);
}

static void do_nothing(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

static void end_wave(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)in;
    w->state = GCN_ENDED;
}

static void wave_barrier(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)in;
    w->state = GCN_AT_BARRIER;
}

static void yield(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)in;
    w->state = GCN_YIELDS;
}

static void refuse_trap(struct gcn_wave *w, const struct gcn_inst *in)
{
    gcn_not_modelled(w, in, "the kernel trapped (an assertion of its own, or abort)");
}

static void clock_of(struct gcn_wave *w, const struct gcn_inst *in)
{
    struct timespec t;
    uint64_t ns = w->worker->launch->counted_clock;
    if (ns) {
        ns += w->begun + w->instructions * GCN_CYCLES + w->waited;
    } else {
        clock_gettime(CLOCK_BOOTTIME, &t);
        ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    }
    gcn_set_pair(w, in->sdst, in->op == GCN_s_memrealtime ? ns / 10 : ns);
}

/* m0 is added to a register number. */
static void relative(struct gcn_wave *w, const struct gcn_inst *in)
{
    bool pair = in->op == GCN_s_movrels_b64 || in->op == GCN_s_movreld_b64;
    bool from = in->op == GCN_s_movrels_b32 || in->op == GCN_s_movrels_b64;
    unsigned source = (from ? in->src[0] + w->s[GCN_M0] : in->src[0]) % 126;
    unsigned to = (from ? in->sdst : in->sdst + w->s[GCN_M0]) % 126;
    uint64_t value = from ? gcn_pair(w, source) : scalar_operand64(w, in, 0);
    w->s[to] = (uint32_t)value;
    if (pair)
        w->s[to + 1] = (uint32_t)(value >> 32);
}

/* m0 is added to vector register numbers, which compilers use for arrays in registers. The instruction loop in run.c
 * applies it. */
static void index_mode(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint32_t m0 = w->s[GCN_M0];
    switch (in->op) {
    case GCN_s_set_gpr_idx_on:
        w->s[GCN_M0] = (m0 & ~0xf0ffu) | (scalar_operand(w, in, 0) & 0xff) | (in->src[1] & 15u) << 12;
        w->index_on = true;
        break;
    case GCN_s_set_gpr_idx_off:
        w->index_on = false;
        break;
    case GCN_s_set_gpr_idx_mode:
        w->s[GCN_M0] = (m0 & ~0xf000u) | (in->literal & 15) << 12;
        break;
    default:
        w->s[GCN_M0] = (m0 & ~0xffu) | (scalar_operand(w, in, 0) & 0xff);
    }
}

gcn_execute *gcn_scalar_execute(enum gcn_op op)
{
    switch (op) {
#define S32(name, ...) \
    case GCN_##name:   \
        return x_##name;
#define S64    S32
#define S64B32 S32
#define S6432  S32
#define SAVE   S32
#define CMP32  S32
#define CMP64  S32
#define K32    S32
        GCN_SCALAR_32 GCN_SCALAR_64 GCN_SCALAR_64_TO_32 GCN_SCALAR_SAVEEXEC GCN_SCALAR_COMPARE GCN_SCALAR_CONSTANT;
    case GCN_s_bfm_b64:
        return bfm64;
    case GCN_s_bitset0_b64:
    case GCN_s_bitset1_b64:
        return bitset64;
    case GCN_s_andn1_wrexec_b64:
    case GCN_s_andn2_wrexec_b64:
        return wrexec;
    case GCN_s_bitreplicate_b64_b32:
        return bitreplicate;
    case GCN_s_movk_i32:
    case GCN_s_cmovk_i32:
    case GCN_s_addk_i32:
    case GCN_s_mulk_i32:
        return literal_arithmetic;
    case GCN_s_getreg_b32:
    case GCN_s_setreg_b32:
    case GCN_s_setreg_imm32_b32:
        return hardware;
    case GCN_s_getpc_b64:
    case GCN_s_setpc_b64:
    case GCN_s_swappc_b64:
    case GCN_s_call_b64:
        return jump;
    case GCN_s_branch:
    case GCN_s_cbranch_scc0:
    case GCN_s_cbranch_scc1:
    case GCN_s_cbranch_vccz:
    case GCN_s_cbranch_vccnz:
    case GCN_s_cbranch_execz:
    case GCN_s_cbranch_execnz:
        return branch;
    case GCN_s_nop:
    case GCN_s_waitcnt:
    case GCN_s_setprio:
    case GCN_s_sendmsg:
    case GCN_s_icache_inv:
    case GCN_s_incperflevel:
    case GCN_s_decperflevel:
    case GCN_s_ttracedata:
    case GCN_s_wakeup:
    case GCN_s_dcache_inv:
    case GCN_s_dcache_wb:
    case GCN_s_dcache_inv_vol:
    case GCN_s_dcache_wb_vol:
        return do_nothing;
    case GCN_s_endpgm:
    case GCN_s_endpgm_saved:
        return end_wave;
    case GCN_s_barrier:
        return wave_barrier;
    case GCN_s_sleep:
        return yield;
    case GCN_s_trap:
        return refuse_trap;
    case GCN_s_memtime:
    case GCN_s_memrealtime:
        return clock_of;
    case GCN_s_movrels_b32:
    case GCN_s_movrels_b64:
    case GCN_s_movreld_b32:
    case GCN_s_movreld_b64:
        return relative;
    case GCN_s_set_gpr_idx_on:
    case GCN_s_set_gpr_idx_off:
    case GCN_s_set_gpr_idx_mode:
    case GCN_s_set_gpr_idx_idx:
        return index_mode;
    default:
        return NULL;
    }
}
