/*
 * lds.c - instructions on LDS, and those that move values between lanes through it. As on hardware, loads beyond the
 * workgroup's LDS return 0 and stores there do nothing.
 */
#include "access.h"
#include "bits.h"

struct lds_op {
    enum gcn_op op;
    uint8_t bytes; /* size of one value */
    bool store, sext, two;
    uint8_t stride; /* two: unit of its offsets, in values */
    uint8_t d16;
    enum gcn_atomic atomic;
    bool returns;
};

#define ATOMIC(name, type32, type64, kind)                                           \
    {GCN_ds_##name##_##type32, .bytes = 4, .atomic = kind},                          \
        {GCN_ds_##name##_rtn_##type32, .bytes = 4, .atomic = kind, .returns = true}, \
        {GCN_ds_##name##_##type64, .bytes = 8, .atomic = kind},                      \
    {                                                                                \
        GCN_ds_##name##_rtn_##type64, .bytes = 8, .atomic = kind, .returns = true    \
    }

static const struct lds_op ops[] = {
    {GCN_ds_read_b32, .bytes = 4},
    {GCN_ds_read_b64, .bytes = 8},
    {GCN_ds_read_b96, .bytes = 12},
    {GCN_ds_read_b128, .bytes = 16},
    {GCN_ds_read_i8, .bytes = 1, .sext = true},
    {GCN_ds_read_u8, .bytes = 1},
    {GCN_ds_read_i16, .bytes = 2, .sext = true},
    {GCN_ds_read_u16, .bytes = 2},
    {GCN_ds_read_u8_d16, .bytes = 1, .d16 = 1},
    {GCN_ds_read_u8_d16_hi, .bytes = 1, .d16 = 2},
    {GCN_ds_read_i8_d16, .bytes = 1, .sext = true, .d16 = 1},
    {GCN_ds_read_i8_d16_hi, .bytes = 1, .sext = true, .d16 = 2},
    {GCN_ds_read_u16_d16, .bytes = 2, .d16 = 1},
    {GCN_ds_read_u16_d16_hi, .bytes = 2, .d16 = 2},
    {GCN_ds_read2_b32, .bytes = 4, .two = true, .stride = 1},
    {GCN_ds_read2st64_b32, .bytes = 4, .two = true, .stride = 64},
    {GCN_ds_read2_b64, .bytes = 8, .two = true, .stride = 1},
    {GCN_ds_read2st64_b64, .bytes = 8, .two = true, .stride = 64},
    {GCN_ds_write_b32, .bytes = 4, .store = true},
    {GCN_ds_write_b64, .bytes = 8, .store = true},
    {GCN_ds_write_b96, .bytes = 12, .store = true},
    {GCN_ds_write_b128, .bytes = 16, .store = true},
    {GCN_ds_write_b8, .bytes = 1, .store = true},
    {GCN_ds_write_b16, .bytes = 2, .store = true},
    {GCN_ds_write_b8_d16_hi, .bytes = 1, .store = true, .d16 = 2},
    {GCN_ds_write_b16_d16_hi, .bytes = 2, .store = true, .d16 = 2},
    {GCN_ds_write2_b32, .bytes = 4, .store = true, .two = true, .stride = 1},
    {GCN_ds_write2st64_b32, .bytes = 4, .store = true, .two = true, .stride = 64},
    {GCN_ds_write2_b64, .bytes = 8, .store = true, .two = true, .stride = 1},
    {GCN_ds_write2st64_b64, .bytes = 8, .store = true, .two = true, .stride = 64},
    ATOMIC(add, u32, u64, GCN_ADD),
    ATOMIC(sub, u32, u64, GCN_SUB),
    ATOMIC(rsub, u32, u64, GCN_RSUB),
    ATOMIC(inc, u32, u64, GCN_INC),
    ATOMIC(dec, u32, u64, GCN_DEC),
    ATOMIC(min, i32, i64, GCN_SMIN),
    ATOMIC(max, i32, i64, GCN_SMAX),
    ATOMIC(min, u32, u64, GCN_UMIN),
    ATOMIC(max, u32, u64, GCN_UMAX),
    ATOMIC(and, b32, b64, GCN_AND),
    ATOMIC(or, b32, b64, GCN_OR),
    ATOMIC(xor, b32, b64, GCN_XOR),
    ATOMIC(cmpst, b32, b64, GCN_CMPSWAP),
    ATOMIC(min, f32, f64, GCN_FMIN),
    ATOMIC(max, f32, f64, GCN_FMAX),
    ATOMIC(add, f32, f64, GCN_FADD),
    {GCN_ds_pk_add_f16, .bytes = 4, .atomic = GCN_PK_ADD_F16},
    {GCN_ds_pk_add_rtn_f16, .bytes = 4, .atomic = GCN_PK_ADD_F16, .returns = true},
    {GCN_ds_pk_add_bf16, .bytes = 4, .atomic = GCN_PK_ADD_BF16},
    {GCN_ds_pk_add_rtn_bf16, .bytes = 4, .atomic = GCN_PK_ADD_BF16, .returns = true},
    {GCN_ds_wrxchg_rtn_b32, .bytes = 4, .atomic = GCN_SWAP, .returns = true},
    {GCN_ds_wrxchg_rtn_b64, .bytes = 8, .atomic = GCN_SWAP, .returns = true},
};

static const struct lds_op *row_of(enum gcn_op op)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].op == op)
            return &ops[i];
    return NULL;
}

/* Index by op, built at first use from the list above. */
static const struct lds_op *rows[GCN_OPS];

static char *lds_at(struct gcn_wave *w, uint32_t address, unsigned bytes)
{
    struct gcn_worker *k = w->worker;
    return address < k->lds_bytes && bytes <= k->lds_bytes - address ? k->lds + address : NULL;
}

static void move_value(struct gcn_wave *w, const struct gcn_inst *in, const struct lds_op *row, unsigned lane,
                       unsigned which, uint32_t address)
{
    unsigned dwords = row->bytes < 4 ? 1 : row->bytes / 4;
    struct gcn_access what = {
        .bytes = row->bytes < 4 ? row->bytes : 4, .store = row->store, .sext = row->sext, .d16 = row->d16};
    struct gcn_inst part = {.dst = (uint16_t)(in->dst + which * dwords), .src = {0, in->src[1 + which], 0}};
    static const char zero[4];
    for (unsigned i = 0; i < dwords; i++) {
        char *p = lds_at(w, address + i * 4, what.bytes);
        if (p)
            gcn_access_part(w, &part, &what, lane, i, p);
        else if (!row->store) {
            char nothing[4];
            memcpy(nothing, zero, sizeof nothing);
            gcn_access_part(w, &part, &what, lane, i, nothing);
        }
    }
}

static void lds_transfer(struct gcn_wave *w, const struct gcn_inst *in)
{
    const struct lds_op *row = __atomic_load_n(&rows[in->op], __ATOMIC_ACQUIRE); /* filled in by any thread */
    uint64_t exec = gcn_exec(w);
    uint32_t offset = (uint32_t)in->offset | (uint32_t)in->offset1 << 8, address[GCN_LANES];
    /* Copy the address: the first of two results may overwrite it. */
    memcpy(address, w->v[in->src[0] - GCN_VGPR], sizeof address);
    if (row->bytes == 4 && !row->two && !row->d16) { /* the most frequent case */
        for (unsigned l = 0; l < GCN_LANES; l++) {
            if (!(exec >> l & 1))
                continue;
            char *p = lds_at(w, address[l] + offset, 4);
            if (row->store) {
                if (p)
                    memcpy(p, &w->v[in->src[1] - GCN_VGPR][l], 4);
            } else {
                w->v[in->dst - GCN_VGPR][l].u = 0;
                if (p)
                    memcpy(&w->v[in->dst - GCN_VGPR][l], p, 4);
            }
        }
        return;
    }
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        if (!row->two) {
            move_value(w, in, row, l, 0, address[l] + offset);
            continue;
        }
        unsigned unit = row->bytes * row->stride;
        move_value(w, in, row, l, 0, address[l] + (uint32_t)in->offset * unit);
        move_value(w, in, row, l, 1, address[l] + in->offset1 * unit);
    }
}

static void lds_atomic(struct gcn_wave *w, const struct gcn_inst *in)
{
    const struct lds_op *row = __atomic_load_n(&rows[in->op], __ATOMIC_ACQUIRE); /* filled in by any thread */
    uint64_t exec = gcn_exec(w);
    uint32_t offset = (uint32_t)in->offset | (uint32_t)in->offset1 << 8;
    unsigned d0 = in->src[1] - GCN_VGPR, d1 = in->src[2] - GCN_VGPR, to = in->dst - GCN_VGPR;
    /* Compare-and-store has its operands in reverse order: the comparand first. */
    if (row->atomic == GCN_CMPSWAP) {
        unsigned t = d0;
        d0 = d1;
        d1 = t;
    }
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        char *p = lds_at(w, w->v[in->src[0] - GCN_VGPR][l].u + offset, row->bytes);
        uint64_t old = 0, new;
        if (p) {
            memcpy(&old, p, row->bytes);
            new = row->bytes == 4
                      ? gcn_atomic32(row->atomic, (uint32_t)old, w->v[d0][l].u, w->v[d1][l].u)
                      : gcn_atomic64(row->atomic, old, w->v[d0][l].u | (uint64_t)w->v[(d0 + 1) & 511][l].u << 32,
                                     w->v[d1][l].u | (uint64_t)w->v[(d1 + 1) & 511][l].u << 32);
            memcpy(p, &new, row->bytes);
        }
        if (row->returns) {
            w->v[to][l].u = (uint32_t)old;
            if (row->bytes == 8)
                w->v[(to + 1) & 511][l].u = (uint32_t)(old >> 32);
        }
    }
}

/* Inactive lanes yield 0. */
static void bpermute(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane out[GCN_LANES];
    const union gcn_lane *address = w->v[in->src[0] - GCN_VGPR], *data = w->v[in->src[1] - GCN_VGPR];
    uint32_t offset = (uint32_t)in->offset | (uint32_t)in->offset1 << 8, on[GCN_LANES];
    gcn_bits_lanes(gcn_exec(w), on);
    for (unsigned l = 0; l < GCN_LANES; l++)
        on[l] &= data[l].u;
    for (unsigned l = 0; l < GCN_LANES; l++)
        out[l].u = on[(address[l].u + offset) / 4 % GCN_LANES];
    gcn_put32(w, in, out);
}

static void permute(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane out[GCN_LANES];
    const union gcn_lane *address = w->v[in->src[0] - GCN_VGPR], *data = w->v[in->src[1] - GCN_VGPR];
    uint64_t exec = gcn_exec(w);
    uint32_t offset = (uint32_t)in->offset | (uint32_t)in->offset1 << 8;
    memset(out, 0, sizeof out);
    for (unsigned l = 0; l < GCN_LANES; l++)
        if (exec >> l & 1)
            out[(address[l].u + offset) / 4 % GCN_LANES].u = data[l].u;
    gcn_put32(w, in, out);
}

static void swizzle(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane out[GCN_LANES];
    const union gcn_lane *data = w->v[in->src[0] - GCN_VGPR];
    uint64_t exec = gcn_exec(w);
    uint32_t pattern = (uint32_t)in->offset | (uint32_t)in->offset1 << 8;
    if (pattern >= 0xc000) {
        gcn_not_modelled(w, in, "a swizzle that rotates or orders for an FFT");
        return;
    }
    for (unsigned l = 0; l < GCN_LANES; l++) {
        unsigned from = pattern & 0x8000
                            ? (l & ~3u) | (pattern >> (l & 3) * 2 & 3)
                            : (l & 32) | ((((l & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
        out[l].u = exec >> from & 1 ? data[from].u : 0;
    }
    gcn_put32(w, in, out);
}

/* A counter in LDS, used by these instructions only, that the active lanes increment or decrement. */
static void count_in_lds(struct gcn_wave *w, const struct gcn_inst *in)
{
    char *p = lds_at(w, (w->s[GCN_M0] >> 16) + ((uint32_t)in->offset | (uint32_t)in->offset1 << 8), 4);
    uint32_t old = 0, n = (uint32_t)__builtin_popcountll(gcn_exec(w)), new;
    union gcn_lane out[GCN_LANES];
    if (p) {
        memcpy(&old, p, 4);
        new = in->op == GCN_ds_append ? old + n : old - n;
        memcpy(p, &new, 4);
    }
    for (unsigned l = 0; l < GCN_LANES; l++)
        out[l].u = old;
    gcn_put32(w, in, out);
}

static void no_effect(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

gcn_execute *gcn_lds_execute(enum gcn_op op)
{
    switch (op) {
    case GCN_ds_bpermute_b32:
        return bpermute;
    case GCN_ds_permute_b32:
        return permute;
    case GCN_ds_swizzle_b32:
        return swizzle;
    case GCN_ds_append:
    case GCN_ds_consume:
        return count_in_lds;
    case GCN_ds_nop:
        return no_effect;
    default:
        break;
    }
    const struct lds_op *row = row_of(op);
    if (!row)
        return NULL;
    __atomic_store_n(&rows[op], row, __ATOMIC_RELEASE);
    return row->atomic ? lds_atomic : lds_transfer;
}
