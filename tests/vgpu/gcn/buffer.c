/*
 * buffer.c - instructions that access memory through a buffer descriptor (MUBUF). Outside of the buffer, loads return 0
 * and stores do nothing. A wave's scratch is such a buffer too, with its work-items interleaved.
 */
#include "access.h"

struct descriptor {
    uint64_t base;
    uint32_t stride, records;
    bool swizzle, add_lane;
};

static struct descriptor descriptor_of(const struct gcn_wave *w, const struct gcn_inst *in)
{
    const uint32_t *s = &w->s[in->saddr];
    return (struct descriptor){.base = gcn_pair(w, in->saddr) & 0xffffffffffffull,
                               .stride = s[1] >> 16 & 0x3fff,
                               .records = s[2],
                               .swizzle = s[1] >> 31,
                               .add_lane = s[3] >> 23 & 1};
}

struct place {
    uint64_t index, offset; /* offset: without the scalar offset */
};

static struct place place_of(const struct gcn_wave *w, const struct gcn_inst *in, unsigned lane)
{
    unsigned r = in->src[0] - GCN_VGPR;
    struct place p = {0, (uint64_t)in->offset};
    if (in->idxen)
        p.index = w->v[r][lane].u;
    if (in->offen)
        p.offset += w->v[in->idxen ? (r + 1) & 511 : r][lane].u;
    return p;
}

/* Bounds check: without a stride `records` counts bytes, with one it counts records. */
static char *reach_buffer(struct gcn_wave *w, const struct descriptor *d, struct place p, uint32_t scalar,
                          unsigned part, unsigned bytes)
{
    uint64_t offset = p.offset + part * 4;
    if (d->stride ? p.index >= d->records : offset + scalar + bytes > d->records)
        return NULL;
    return gcn_reach(w, d->base + scalar + p.index * d->stride + offset, bytes);
}

/* The base of real scratch moves with the wave; here each wave has its own scratch, so the base is constant. */
static bool is_scratch(const struct descriptor *d)
{
    return d->swizzle && d->add_lane && d->base >= GCN_SCRATCH_BASE && d->base < GCN_SCRATCH_BASE + (1ull << 40);
}

static char *reach_scratch(struct gcn_wave *w, const struct descriptor *d, struct place p, uint32_t scalar,
                           unsigned part, unsigned lane)
{
    /* The scalar offset counts bytes of the wave, the other offsets bytes of a work-item. */
    uint64_t wave_offset = d->base - GCN_SCRATCH_BASE + scalar;
    return gcn_private(w, lane, p.offset + part * 4 + wave_offset / GCN_LANES);
}

static void buffer_transfer(struct gcn_wave *w, const struct gcn_inst *in)
{
    struct gcn_access what;
    gcn_access_of(in->op, &what);
    struct descriptor d = descriptor_of(w, in);
    uint32_t scalar = gcn_scalar(w, in, in->src[2]);
    uint64_t exec = gcn_exec(w);
    bool scratch = is_scratch(&d);
    if (!scratch && (d.swizzle || d.add_lane)) {
        gcn_not_modelled(w, in, "a buffer with a swizzle");
        return;
    }
    if (in->lds && !gcn_access_goes_to_lds(w, in, &what))
        return;
    unsigned parts = what.bytes < 4 ? 1 : what.bytes / 4, bytes = what.bytes < 4 ? what.bytes : 4;
    struct place p[GCN_LANES];
    for (unsigned l = 0; l < GCN_LANES; l++)
        p[l] = place_of(w, in, l);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        if (what.atomic) {
            char *at = scratch ? NULL : reach_buffer(w, &d, p[l], scalar, 0, what.bytes);
            if (at)
                gcn_access_atomic(w, in, &what, l, at);
            continue;
        }
        for (unsigned i = 0; i < parts; i++) {
            char *at = scratch ? reach_scratch(w, &d, p[l], scalar, i, l) : reach_buffer(w, &d, p[l], scalar, i, bytes);
            char nothing[4] = {0};
            if (in->lds)
                gcn_access_to_lds(w, in, &what, l, w->s[GCN_M0] & 0xffff, at);
            else if (at)
                gcn_access_part(w, in, &what, l, i, at);
            else if (!what.store)
                gcn_access_part(w, in, &what, l, i, nothing);
        }
        if (w->worker->end != GCN_DONE)
            return;
    }
}

static void no_effect(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

gcn_execute *gcn_buffer_execute(enum gcn_op op)
{
    struct gcn_access what;
    switch (op) {
    case GCN_buffer_wbinvl1:
    case GCN_buffer_wbinvl1_vol:
    case GCN_buffer_wbl2:
    case GCN_buffer_invl2:
    case GCN_buffer_inv:
        return no_effect;
    default:
        break;
    }
    if (op < GCN_buffer_load_format_x || op > GCN_buffer_atomic_dec_x2 || !gcn_access_of(op, &what))
        return NULL;
    return buffer_transfer;
}
