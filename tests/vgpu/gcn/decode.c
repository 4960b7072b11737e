/*
 * decode.c - decodes instructions. The formats are those of AMD's "Vega", "CDNA 2" and "CDNA 3" manuals.
 */
#include "isa.h"

#include <stdio.h>
#include <string.h>

#define BITS(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

/* Instruction numbers to names, one table for each format and target. */
struct numbers {
    uint16_t sop2[128], sopk[32], sop1[256], sopc[128], sopp[128], smem[256], vop2[64], vop1[256], vopc[256];
    uint16_t vop3[1024], vop3p[128], ds[256], flat[128], mubuf[128], mtbuf[16];
};

#define FILL                                                                                            \
    {                                                                                                   \
        .sop2 = {GCN_SOP2_OPS}, .sopk = {GCN_SOPK_OPS}, .sop1 = {GCN_SOP1_OPS}, .sopc = {GCN_SOPC_OPS}, \
        .sopp = {GCN_SOPP_OPS}, .smem = {GCN_SMEM_OPS}, .vop2 = {GCN_VOP2_OPS}, .vop1 = {GCN_VOP1_OPS}, \
        .vopc = {GCN_VOPC_OPS}, .vop3 = {GCN_VOP3_OPS}, .vop3p = {GCN_VOP3P_OPS}, .ds = {GCN_DS_OPS},   \
        .flat = {GCN_FLAT_OPS}, .mubuf = {GCN_MUBUF_OPS}, .mtbuf = {GCN_MTBUF_OPS},                     \
    }
#define ON(format, number, name) [number] = GCN_##name,
#define OFF(format, number, name)
#define X   ON
#define X6  ON
#define XA  OFF
#define X2  OFF
#define X6A ON
#define XA2 OFF
#define XS  OFF
static const struct numbers gfx906 = FILL;
#undef X6
#undef XA
#undef XA2
#undef XS
#define X6  OFF
#define XA  ON
#define XA2 ON
#define XS  ON
static const struct numbers gfx90a = FILL;
#undef XA
#undef X2
#undef X6A
#define XA  OFF
#define X2  ON
#define X6A OFF
static const struct numbers gfx942 = FILL;
#undef X
#undef X6
#undef XA
#undef X2
#undef X6A
#undef XA2
#undef XS

static const char *const names[GCN_OPS] = {[GCN_UNKNOWN] = "unknown",
#define X(format, number, name) [GCN_##name] = #name,
#define X6                      X
#define XA                      X
#define X2                      X
#define X6A                     X
#define XA2                     X
#define XS                      OFF
                                           GCN_ALL_OPS
#undef X
#undef X6
#undef XA
#undef X2
#undef X6A
#undef XA2
#undef XS
};

const char *gcn_op_name(enum gcn_op op)
{
    return op < GCN_OPS ? names[op] : names[GCN_UNKNOWN];
}

/* The assembler adds no suffix to these, because they have one encoding. */
static bool one_encoding(enum gcn_op op)
{
    switch (op) {
    case GCN_v_nop:
    case GCN_v_clrexcp:
    case GCN_v_readfirstlane_b32:
    case GCN_v_swap_b32:
    case GCN_v_accvgpr_mov_b32:
    case GCN_v_madmk_f32:
    case GCN_v_madak_f32:
    case GCN_v_madmk_f16:
    case GCN_v_madak_f16:
    case GCN_v_fmamk_f32:
    case GCN_v_fmaak_f32:
        return true;
    default:
        return false;
    }
}

void gcn_inst_name(const struct gcn_inst *in, char *name, size_t size)
{
    static const char *const segments[] = {"flat", "scratch", "global", "flat"};
    const char *base = gcn_op_name(in->op), *suffix = "";
    if (in->format == GCN_FLAT && in->op != GCN_UNKNOWN) {
        snprintf(name, size, "%s%s", segments[in->segment], base + strlen("flat"));
        return;
    }
    bool vector = in->format == GCN_VOP1 || in->format == GCN_VOP2 || in->format == GCN_VOPC;
    if (vector && in->op != GCN_UNKNOWN && !one_encoding(in->op))
        suffix = in->sub == GCN_BY_SDWA ? "_sdwa" : in->sub == GCN_BY_DPP ? "_dpp" : "_e32";
    else if (in->format == GCN_VOP3 && BITS(in->raw[0], 25, 16) < 448 && in->op != GCN_UNKNOWN && in->op != GCN_v_nop &&
             in->op != GCN_v_clrexcp)
        suffix = "_e64";
    snprintf(name, size, "%s%s", base, suffix);
}

static uint16_t find_op(const uint16_t *table, size_t size, uint32_t number)
{
    return number < size ? table[number] : GCN_UNKNOWN;
}
#define FIND(table, number) find_op(n->table, sizeof n->table / sizeof *n->table, number)

/* The word after a vector instruction that selects parts of its operands. */
static void decode_sdwa(struct gcn_inst *in, uint32_t w)
{
    in->sub = GCN_BY_SDWA;
    in->src[0] = (uint16_t)(BITS(w, 7, 0) + (BITS(w, 23, 23) ? 0 : GCN_VGPR));
    if (in->src[1] != GCN_NO_OPERAND)
        in->src[1] = (uint16_t)(in->src[1] % 256 + (BITS(w, 31, 31) ? 0 : GCN_VGPR));
    in->sel[0] = BITS(w, 18, 16);
    in->sel[1] = BITS(w, 26, 24);
    in->sext = (uint8_t)(BITS(w, 19, 19) | BITS(w, 27, 27) << 1);
    in->neg = (uint8_t)(BITS(w, 20, 20) | BITS(w, 28, 28) << 1);
    in->abs = (uint8_t)(BITS(w, 21, 21) | BITS(w, 29, 29) << 1);
    if (in->format == GCN_VOPC) {
        in->sdst = BITS(w, 15, 15) ? BITS(w, 14, 8) : GCN_VCC;
        return;
    }
    in->dst_sel = BITS(w, 10, 8);
    in->dst_unused = BITS(w, 12, 11);
    in->clamp = BITS(w, 13, 13);
    in->omod = BITS(w, 15, 14);
}

static void decode_dpp(struct gcn_inst *in, uint32_t w)
{
    in->sub = GCN_BY_DPP;
    in->src[0] = (uint16_t)(BITS(w, 7, 0) + GCN_VGPR);
    in->dpp = BITS(w, 16, 8);
    in->bound_ctrl = BITS(w, 19, 19);
    in->neg = (uint8_t)(BITS(w, 20, 20) | BITS(w, 22, 22) << 1);
    in->abs = (uint8_t)(BITS(w, 21, 21) | BITS(w, 23, 23) << 1);
    in->bank_mask = BITS(w, 27, 24);
    in->row_mask = BITS(w, 31, 28);
}

/* Length in words: the first source may announce one more word. */
static unsigned behind_source(struct gcn_inst *in, const uint32_t *w, unsigned words)
{
    if (in->src[0] != GCN_LITERAL && in->src[0] != GCN_SDWA && in->src[0] != GCN_DPP)
        return 1;
    if (words < 2)
        return 2;
    if (in->src[0] == GCN_LITERAL)
        in->literal = w[1];
    else if (in->src[0] == GCN_SDWA)
        decode_sdwa(in, w[1]);
    else
        decode_dpp(in, w[1]);
    return 2;
}

static unsigned decode_scalar(const struct numbers *n, struct gcn_inst *in, const uint32_t *w, unsigned words)
{
    uint32_t a = w[0];
    unsigned len = 1;
    in->sdst = BITS(a, 22, 16);
    if (BITS(a, 31, 23) == 0x17f) {
        in->format = GCN_SOPP;
        in->op = FIND(sopp, BITS(a, 22, 16));
        in->literal = (uint32_t)(int16_t)a;
        return 1;
    }
    if (BITS(a, 31, 28) == 0xb && BITS(a, 27, 23) < 29) {
        in->format = GCN_SOPK;
        in->op = FIND(sopk, BITS(a, 27, 23));
        in->literal = (uint32_t)(int16_t)a;
        if (in->op == GCN_s_setreg_imm32_b32)
            len = 2;
        return len;
    }
    in->src[0] = BITS(a, 7, 0);
    if (BITS(a, 31, 23) == 0x17d) {
        in->format = GCN_SOP1;
        in->op = FIND(sop1, BITS(a, 15, 8));
    } else {
        in->src[1] = BITS(a, 15, 8);
        in->format = BITS(a, 31, 23) == 0x17e ? GCN_SOPC : GCN_SOP2;
        in->op = in->format == GCN_SOPC ? FIND(sopc, BITS(a, 22, 16)) : FIND(sop2, BITS(a, 29, 23));
    }
    if (in->src[0] == GCN_LITERAL || in->src[1] == GCN_LITERAL) {
        len = 2;
        in->literal = words < 2 ? 0 : w[1];
    }
    return len;
}

static void decode_smem(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b)
{
    in->format = GCN_SMEM;
    in->op = FIND(smem, BITS(a, 25, 18));
    in->sdst = BITS(a, 12, 6);
    in->saddr = (uint16_t)(BITS(a, 5, 0) * 2);
    in->glc = BITS(a, 16, 16);
    in->imm = BITS(a, 17, 17);
    in->offset = in->imm ? (int32_t)(b << 11) >> 11 : 0;
    if (BITS(a, 14, 14))
        in->src[2] = BITS(b, 31, 25);
    else if (!in->imm)
        in->src[2] = BITS(b, 6, 0);
}

static unsigned decode_vop12c(const struct numbers *n, struct gcn_inst *in, const uint32_t *w, unsigned words)
{
    uint32_t a = w[0];
    in->src[0] = BITS(a, 8, 0);
    in->dst = (uint16_t)(BITS(a, 24, 17) + GCN_VGPR);
    if (BITS(a, 30, 25) == 0x3f) {
        in->format = GCN_VOP1;
        in->op = FIND(vop1, BITS(a, 16, 9));
        if (in->op == GCN_v_readfirstlane_b32) {
            in->sdst = BITS(a, 24, 17);
            in->dst = GCN_NO_OPERAND;
        }
        return behind_source(in, w, words);
    }
    in->src[1] = (uint16_t)(BITS(a, 16, 9) + GCN_VGPR);
    in->sdst = GCN_VCC;
    if (BITS(a, 30, 25) == 0x3e) {
        in->format = GCN_VOPC;
        in->op = FIND(vopc, BITS(a, 24, 17));
        in->dst = GCN_NO_OPERAND;
        return behind_source(in, w, words);
    }
    in->format = GCN_VOP2;
    in->op = FIND(vop2, BITS(a, 30, 25));
    in->src[2] = GCN_VCC; /* instructions that read a carry or select by it */
    switch (in->op) {
    case GCN_v_madmk_f32:
    case GCN_v_madak_f32:
    case GCN_v_madmk_f16:
    case GCN_v_madak_f16:
    case GCN_v_fmamk_f32:
    case GCN_v_fmaak_f32:
        in->literal = words < 2 ? 0 : w[1];
        in->src[2] = GCN_LITERAL;
        if (in->op == GCN_v_madmk_f32 || in->op == GCN_v_madmk_f16 || in->op == GCN_v_fmamk_f32) { /* src0 * K + src1 */
            in->src[2] = in->src[1];
            in->src[1] = GCN_LITERAL;
        }
        return 2;
    default:
        return behind_source(in, w, words);
    }
}

static bool two_results(enum gcn_op op)
{
    switch (op) {
    case GCN_v_add_co_u32:
    case GCN_v_sub_co_u32:
    case GCN_v_subrev_co_u32:
    case GCN_v_addc_co_u32:
    case GCN_v_subb_co_u32:
    case GCN_v_subbrev_co_u32:
    case GCN_v_div_scale_f32:
    case GCN_v_div_scale_f64:
    case GCN_v_mad_u64_u32:
    case GCN_v_mad_i64_i32:
        return true;
    default:
        return false;
    }
}

static void decode_vop3(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b)
{
    uint32_t number = BITS(a, 25, 16);
    in->format = GCN_VOP3;
    in->op = number < 256   ? n->vopc[number]
             : number < 320 ? n->vop2[number - 256]
             : number < 448 ? n->vop1[number - 320]
                            : n->vop3[number];
    in->src[0] = BITS(b, 8, 0);
    in->src[1] = BITS(b, 17, 9);
    in->src[2] = BITS(b, 26, 18);
    in->neg = BITS(b, 31, 29);
    in->omod = BITS(b, 28, 27);
    in->clamp = BITS(a, 15, 15);
    in->dst = (uint16_t)(BITS(a, 7, 0) + GCN_VGPR);
    if (two_results(in->op)) {
        in->sdst = BITS(a, 14, 8);
        return;
    }
    in->abs = BITS(a, 10, 8);
    in->op_sel = BITS(a, 14, 11);
    if (number < 256 || in->op == GCN_v_readlane_b32 || in->op == GCN_v_readfirstlane_b32) {
        in->sdst = BITS(a, 7, 0);
        in->dst = GCN_NO_OPERAND;
    }
}

static void decode_vop3p(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b)
{
    in->format = GCN_VOP3P;
    in->op = FIND(vop3p, BITS(a, 22, 16));
    in->dst = (uint16_t)(BITS(a, 7, 0) + GCN_VGPR);
    in->src[0] = BITS(b, 8, 0);
    in->src[1] = BITS(b, 17, 9);
    in->src[2] = BITS(b, 26, 18);
    if (BITS(a, 22, 16) >= 62) { /* matrix products and their accumulation registers */
        in->cbsz = BITS(a, 10, 8);
        in->abid = BITS(a, 14, 11);
        in->blgp = BITS(b, 31, 29);
        if (in->op == GCN_v_accvgpr_write_b32) {
            in->dst += GCN_AGPR - GCN_VGPR;
            return;
        }
        if (in->op == GCN_v_accvgpr_read_b32) {
            in->src[0] += GCN_AGPR - GCN_VGPR;
            return;
        }
        for (unsigned i = 0; i < 2; i++)
            if (BITS(b, 27 + i, 27 + i) && in->src[i] >= GCN_VGPR)
                in->src[i] += GCN_AGPR - GCN_VGPR;
        if (BITS(a, 15, 15)) {
            in->dst += GCN_AGPR - GCN_VGPR;
            /* For sparse products src2 holds the elements' indices, not an accumulator. */
            if (in->src[2] >= GCN_VGPR && strncmp(gcn_op_name(in->op), "v_smfmac", strlen("v_smfmac")) != 0)
                in->src[2] += GCN_AGPR - GCN_VGPR;
        }
        return;
    }
    in->clamp = BITS(a, 15, 15);
    in->op_sel = BITS(a, 13, 11);
    in->op_sel_hi = (uint8_t)(BITS(b, 28, 27) | BITS(a, 14, 14) << 2);
    in->neg = BITS(b, 31, 29);
    in->abs = BITS(a, 10, 8);
}

static void decode_ds(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b, bool agprs)
{
    uint16_t data = agprs && BITS(a, 25, 25) ? GCN_AGPR : GCN_VGPR;
    in->format = GCN_DS;
    in->op = FIND(ds, BITS(a, 24, 17));
    in->src[0] = (uint16_t)(BITS(b, 7, 0) + GCN_VGPR);
    in->src[1] = (uint16_t)(BITS(b, 15, 8) + data);
    in->src[2] = (uint16_t)(BITS(b, 23, 16) + data);
    in->dst = (uint16_t)(BITS(b, 31, 24) + data);
    in->offset = (int32_t)BITS(a, 7, 0);
    in->offset1 = BITS(a, 15, 8);
}

static void decode_flat(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b, enum gcn_target target)
{
    uint16_t data = target != GCN_GFX906 && BITS(b, 23, 23) ? GCN_AGPR : GCN_VGPR;
    in->format = GCN_FLAT;
    in->op = FIND(flat, BITS(a, 24, 18));
    in->segment = BITS(a, 15, 14);
    in->glc = BITS(a, 16, 16);
    in->offset = in->segment ? (int32_t)(a << 19) >> 19 : (int32_t)BITS(a, 11, 0);
    in->src[0] = (uint16_t)(BITS(b, 7, 0) + GCN_VGPR);
    in->src[1] = (uint16_t)(BITS(b, 15, 8) + data);
    in->dst = (uint16_t)(BITS(b, 31, 24) + data);
    if (in->segment && BITS(b, 22, 16) != 0x7f)
        in->saddr = BITS(b, 22, 16);
    /* gfx942 encodes whether scratch_ has a vector register; the other targets have one if there is no scalar
     * register. */
    bool vector = BITS(a, 13, 13);
    if (target == GCN_GFX942) {
        in->lds = in->op >= GCN_flat_load_lds_ubyte && in->op <= GCN_flat_load_lds_dword;
    } else {
        in->lds = vector;
        vector = in->saddr == GCN_NO_OPERAND;
    }
    if (in->segment == 1 && !vector)
        in->src[0] = GCN_NO_OPERAND;
}

static void decode_buffer(const struct numbers *n, struct gcn_inst *in, uint32_t a, uint32_t b, bool agprs)
{
    uint16_t data = agprs && BITS(b, 23, 23) ? GCN_AGPR : GCN_VGPR;
    in->format = BITS(a, 31, 26) == 0x38 ? GCN_MUBUF : GCN_MTBUF;
    if (in->format == GCN_MUBUF) {
        in->op = FIND(mubuf, BITS(a, 24, 18));
        in->lds = BITS(a, 16, 16);
    } else {
        in->op = FIND(mtbuf, BITS(a, 18, 15));
        in->dfmt = BITS(a, 22, 19);
        in->nfmt = BITS(a, 25, 23);
    }
    in->glc = BITS(a, 14, 14);
    in->idxen = BITS(a, 13, 13);
    in->offen = BITS(a, 12, 12);
    in->offset = (int32_t)BITS(a, 11, 0);
    in->src[0] = (uint16_t)(BITS(b, 7, 0) + GCN_VGPR);
    in->src[1] = in->dst = (uint16_t)(BITS(b, 15, 8) + data);
    in->saddr = (uint16_t)(BITS(b, 20, 16) * 4);
    in->src[2] = BITS(b, 31, 24);
}

/* The destination's old value is the third source. */
static bool accumulates(enum gcn_op op)
{
    switch (op) {
    case GCN_v_mac_f32:
    case GCN_v_mac_f16:
    case GCN_v_fmac_f32:
    case GCN_v_fmac_f64:
    case GCN_v_pk_fmac_f16:
    case GCN_v_dot2c_f32_f16:
    case GCN_v_dot2c_i32_i16:
    case GCN_v_dot4c_i32_i8:
    case GCN_v_dot8c_i32_i4:
    case GCN_v_cvt_sr_fp8_f32:
    case GCN_v_cvt_sr_bf8_f32:
        return true;
    default:
        return false;
    }
}

bool gcn_decode(enum gcn_target target, const uint32_t *code, unsigned words, struct gcn_inst *in)
{
    static const struct numbers *const targets[] = {&gfx906, &gfx90a, &gfx942};
    const struct numbers *n = targets[target];
    bool agprs = target != GCN_GFX906;
    if (!words)
        return false;
    memset(in, 0, sizeof *in);
    in->format = GCN_OTHER;
    in->dst = in->sdst = in->saddr = in->src[0] = in->src[1] = in->src[2] = GCN_NO_OPERAND;
    in->sel[0] = in->sel[1] = in->dst_sel = GCN_SEL_DWORD;
    in->row_mask = in->bank_mask = 0xf;
    in->raw[0] = code[0];
    unsigned len = 2;
    uint32_t a = code[0], b = words > 1 ? code[1] : 0;
    if (!(a >> 31)) {
        len = decode_vop12c(n, in, code, words);
    } else if (a >> 30 == 2) {
        len = decode_scalar(n, in, code, words);
    } else {
        switch (BITS(a, 31, 26)) {
        case 0x30:
            decode_smem(n, in, a, b);
            break;
        case 0x34:
            if (BITS(a, 31, 23) == 0x1a7)
                decode_vop3p(n, in, a, b);
            else
                decode_vop3(n, in, a, b);
            break;
        case 0x35: /* interpolation */
            len = 1;
            break;
        case 0x36:
            decode_ds(n, in, a, b, agprs);
            break;
        case 0x37:
            decode_flat(n, in, a, b, target);
            break;
        case 0x38:
        case 0x3a:
            decode_buffer(n, in, a, b, agprs);
            break;
        default:
            break;
        }
    }
    if (len > words)
        return false;
    if (len > 1)
        in->raw[1] = code[1];
    if (accumulates(in->op))
        in->src[2] = in->dst;
    if (in->op == GCN_s_setreg_imm32_b32)
        in->offset = (int32_t)code[1]; /* the register is in the literal */
    in->bytes = (uint8_t)(len * 4);
    return true;
}
