/*
 * isa.h - GCN instructions of gfx906, gfx90a and gfx942: the names (enum gcn_op) and the decoded form.
 *
 * Only the tables isa_*.h contain instruction numbers. A decoded instruction has everything that its execution needs,
 * so that code is decoded once and run often.
 */
#ifndef VGPU_GCN_ISA_H
#define VGPU_GCN_ISA_H

#include "isa_memory.h"
#include "isa_scalar.h"
#include "isa_vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GCN_ALL_OPS                                                                                         \
    GCN_SOP2_OPS GCN_SOPK_OPS GCN_SOP1_OPS GCN_SOPC_OPS GCN_SOPP_OPS GCN_SMEM_OPS GCN_VOP2_OPS GCN_VOP1_OPS \
        GCN_VOPC_OPS GCN_VOP3_OPS GCN_VOP3P_OPS GCN_DS_OPS GCN_FLAT_OPS GCN_MUBUF_OPS GCN_MTBUF_OPS

enum gcn_op {
    GCN_UNKNOWN,
#define X(format, number, name)   GCN_##name,
#define X6                        X
#define XA                        X
#define X2                        X
#define X6A                       X
#define XA2                       X
#define XS(format, number, name)  /* gfx90a and gfx942: a second number of an instruction that the tables already have \
                                   */
    GCN_ALL_OPS
#undef X
#undef X6
#undef XA
#undef X2
#undef X6A
#undef XA2
#undef XS
        GCN_OPS
};

enum gcn_target { GCN_GFX906, GCN_GFX90A, GCN_GFX942 };

enum gcn_format {
    GCN_SOP2,
    GCN_SOPK,
    GCN_SOP1,
    GCN_SOPC,
    GCN_SOPP,
    GCN_SMEM,
    GCN_VOP2,
    GCN_VOP1,
    GCN_VOPC,
    GCN_VOP3,
    GCN_VOP3P,
    GCN_DS,
    GCN_FLAT,
    GCN_MUBUF,
    GCN_MTBUF,
    GCN_OTHER, /* images, exports, interpolation: never in a compute kernel of these targets */
};

/* Operand codes: as encoded up to 511, then the accumulation registers of gfx90a and gfx942. */
enum {
    GCN_FLAT_SCRATCH = 102,
    GCN_XNACK_MASK = 104,
    GCN_VCC = 106,
    GCN_M0 = 124,
    GCN_EXEC = 126,
    GCN_INLINE_INT = 128, /* 0 to 64, then -1 to -16 */
    GCN_SHARED_BASE = 235,
    GCN_SHARED_LIMIT = 236,
    GCN_PRIVATE_BASE = 237,
    GCN_PRIVATE_LIMIT = 238,
    GCN_INLINE_FLOAT = 240,
    GCN_SDWA = 249,
    GCN_DPP = 250,
    GCN_VCCZ = 251,
    GCN_EXECZ = 252,
    GCN_SCC = 253,
    GCN_LITERAL = 255,
    GCN_VGPR = 256,
    GCN_AGPR = 512,
    GCN_NO_OPERAND = 0xffff
};

enum gcn_sub { GCN_PLAIN, GCN_BY_SDWA, GCN_BY_DPP };
enum { GCN_SEL_BYTE0, GCN_SEL_BYTE1, GCN_SEL_BYTE2, GCN_SEL_BYTE3, GCN_SEL_WORD0, GCN_SEL_WORD1, GCN_SEL_DWORD };

struct gcn_inst {
    uint16_t op;     /* enum gcn_op */
    uint8_t format;  /* enum gcn_format */
    uint8_t bytes;   /* 4, 8 or 12 */
    uint32_t raw[3]; /* the encoded words */
    /* Operands. Memory: src[0] address (scratch_ may have none), src[1] data, src[2] second data (DS) or offset
     * register. */
    uint16_t dst, sdst, src[3];
    uint16_t saddr;                   /* FLAT: base register; buffers: first register of the descriptor */
    uint32_t literal;                 /* a 32-bit constant, or a sign-extended 16-bit one */
    int32_t offset;                   /* memory offset; DS: offset0 */
    uint8_t offset1;                  /* DS: the second of two addresses */
    uint8_t neg, abs;                 /* bit n: source n; VOP3P: negation of the low and of the high half */
    uint8_t op_sel, op_sel_hi;        /* bit n: source n; bit 3: the destination */
    uint8_t clamp, omod;              /* omod: 0, 1: *2, 2: *4, 3: /2 */
    uint8_t sub;                      /* enum gcn_sub */
    uint8_t sel[2], sext, dst_sel;    /* SDWA */
    uint8_t dst_unused;               /* SDWA: 0 zero, 1 sign extend, 2 preserve */
    uint16_t dpp;                     /* DPP control */
    uint8_t row_mask, bank_mask;      /* DPP */
    bool bound_ctrl;                  /* DPP: lanes without a source read 0 */
    uint8_t segment;                  /* FLAT: 0 flat, 1 scratch, 2 global */
    bool glc, lds, offen, idxen, imm; /* glc: sc0 of gfx942; imm: SMEM's offset is a constant */
    uint8_t cbsz, abid, blgp;         /* MFMA */
    uint8_t dfmt, nfmt;               /* MTBUF */
};

/* Decode the instruction at `code`, of which `words` may be read (at most 3 are). false: it is truncated. An unknown
 * instruction has the op GCN_UNKNOWN; its length is right if its encoding states it. */
bool gcn_decode(enum gcn_target target, const uint32_t *code, unsigned words, struct gcn_inst *in);
const char *gcn_op_name(enum gcn_op op);
/* The assembler's name, with the encoding's suffix. */
void gcn_inst_name(const struct gcn_inst *in, char *name, size_t size);

#endif
