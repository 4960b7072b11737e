/*
 * memory.c - scalar loads and stores, flat, global and scratch instructions.
 */
#include "access.h"
#include "bits.h"

/* ---- scalar ---- */

static unsigned dwords_of(enum gcn_op op)
{
    switch (op) {
    case GCN_s_load_dword:
    case GCN_s_buffer_load_dword:
    case GCN_s_store_dword:
        return 1;
    case GCN_s_load_dwordx2:
    case GCN_s_buffer_load_dwordx2:
    case GCN_s_store_dwordx2:
        return 2;
    case GCN_s_load_dwordx4:
    case GCN_s_buffer_load_dwordx4:
    case GCN_s_store_dwordx4:
        return 4;
    case GCN_s_load_dwordx8:
    case GCN_s_buffer_load_dwordx8:
        return 8;
    default:
        return 16;
    }
}

static uint64_t scalar_offset(const struct gcn_wave *w, const struct gcn_inst *in)
{
    return (uint64_t)(int64_t)in->offset + (in->src[2] == GCN_NO_OPERAND ? 0 : gcn_scalar(w, in, in->src[2]));
}

static void scalar_load(struct gcn_wave *w, const struct gcn_inst *in)
{
    unsigned n = dwords_of(in->op);
    uint64_t va = (gcn_pair(w, in->saddr) + scalar_offset(w, in)) & ~3ull;
    const char *at = gcn_reach(w, va, n * 4);
    if (at && in->sdst + n <= 128)
        memcpy(&w->s[in->sdst], at, n * 4);
}

static void scalar_store(struct gcn_wave *w, const struct gcn_inst *in)
{
    unsigned n = dwords_of(in->op);
    uint64_t va = (gcn_pair(w, in->saddr) + scalar_offset(w, in)) & ~3ull;
    char *at = gcn_reach(w, va, n * 4);
    if (at && in->sdst + n <= 128)
        memcpy(at, &w->s[in->sdst], n * 4);
}

/* Loads beyond the buffer's end return 0. */
static void scalar_buffer_load(struct gcn_wave *w, const struct gcn_inst *in)
{
    unsigned n = dwords_of(in->op), stride = w->s[in->saddr + 1] >> 16 & 0x3fff;
    uint64_t base = gcn_pair(w, in->saddr) & 0xffffffffffffull, records = w->s[in->saddr + 2];
    uint64_t size = stride ? records * stride : records, offset = scalar_offset(w, in) & ~3ull;
    for (unsigned i = 0; i < n && in->sdst + n <= 128; i++, offset += 4) {
        const char *at = offset + 4 <= size ? gcn_reach(w, base + offset, 4) : NULL;
        uint32_t value = 0;
        if (at)
            memcpy(&value, at, 4);
        w->s[in->sdst + i] = value;
    }
}

/* ---- by lane ---- */

enum place { MEMORY, LDS, PRIVATE };

/* Kind of memory of a lane's address; *va becomes the offset in LDS or in private memory. */
static enum place place_of(const struct gcn_wave *w, const struct gcn_inst *in, unsigned lane, uint64_t base,
                           uint64_t *va)
{
    unsigned r = in->src[0] - GCN_VGPR;
    if (in->segment == 1) {
        *va = (uint32_t)base + (in->src[0] != GCN_NO_OPERAND ? w->v[r][lane].u : 0) + (uint32_t)in->offset;
        return PRIVATE;
    }
    if (in->saddr != GCN_NO_OPERAND)
        *va = base + w->v[r][lane].u;
    else
        *va = w->v[r][lane].u | (uint64_t)w->v[(r + 1) & 511][lane].u << 32;
    *va += (uint64_t)(int64_t)in->offset;
    if (in->segment)
        return MEMORY;
    if (*va >> 32 == GCN_SHARED_APERTURE >> 32) {
        *va = (uint32_t)*va;
        return LDS;
    }
    if (*va >> 32 == GCN_PRIVATE_APERTURE >> 32) {
        *va = (uint32_t)*va;
        return PRIVATE;
    }
    return MEMORY;
}

static char *reach_place(struct gcn_wave *w, enum place place, uint64_t va, unsigned bytes)
{
    if (place == MEMORY)
        return gcn_reach(w, va, bytes);
    if (va + bytes <= w->worker->lds_bytes)
        return w->worker->lds + va;
    return gcn_reach(w, GCN_SHARED_APERTURE | va, bytes); /* out of bounds: report the fault */
}

static uint64_t base_of(const struct gcn_wave *w, const struct gcn_inst *in)
{
    if (in->saddr == GCN_NO_OPERAND)
        return 0;
    return in->segment == 1 ? gcn_scalar(w, in, in->saddr) : gcn_pair(w, in->saddr);
}

/* If all active lanes access one allocation, look it up only once. va gets the addresses by lane (arbitrary for
 * inactive lanes), *from the address of the result. NULL: more than one allocation. */
static char *reach_lanes(struct gcn_wave *w, const struct gcn_inst *in, uint64_t base, unsigned bytes,
                         uint64_t va[GCN_LANES], uint64_t *from)
{
    uint64_t exec = gcn_exec(w), offset = (uint64_t)(int64_t)in->offset;
    if (in->segment == 1 || !exec)
        return NULL;
    unsigned r = in->src[0] - GCN_VGPR;
    const union gcn_lane *low = w->v[r], *high = w->v[(r + 1) & 511];
    if (in->saddr != GCN_NO_OPERAND)
        for (unsigned l = 0; l < GCN_LANES; l++)
            va[l] = base + offset + low[l].u;
    else
        for (unsigned l = 0; l < GCN_LANES; l++)
            va[l] = (low[l].u | (uint64_t)high[l].u << 32) + offset;
    if (exec != UINT64_MAX) {
        uint64_t some = va[__builtin_ctzll(exec)];
        for (unsigned l = 0; l < GCN_LANES; l++)
            va[l] = exec >> l & 1 ? va[l] : some;
    }
    /* Signed, because vectors have no unsigned comparison. Addresses for which this matters are unmapped. */
    int64_t least = (int64_t)va[0], most = least;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        int64_t one = (int64_t)va[l];
        least = one < least ? one : least;
        most = one > most ? one : most;
    }
    if (least < 0 || most >= (int64_t)GCN_SHARED_APERTURE)
        return NULL;
    *from = (uint64_t)least;
    return gcn_reach_all(w, (uint64_t)least, (uint64_t)(most - least) + bytes);
}

/* Loads of complete dwords, straight into the registers. Each dword is read at once, as on the GPU. If another wave
 * writes it at the same time (a flag that a kernel polls, say), that is the kernel's race and not the interpreter's. */
__attribute__((no_sanitize("thread"))) static void load_lanes(struct gcn_wave *w, const struct gcn_inst *in,
                                                              unsigned parts, const char *at, uint64_t from,
                                                              const uint64_t va[GCN_LANES])
{
    uint64_t exec = gcn_exec(w);
    for (unsigned i = 0; i < parts; i++) {
        union gcn_lane *to = w->v[(in->dst - GCN_VGPR + i) & 511], value[GCN_LANES];
        for (unsigned l = 0; l < GCN_LANES; l++)
            memcpy(&value[l], at + (va[l] - from) + i * 4, 4);
        gcn_either(exec, value, to, to);
    }
}

static void flat_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what)
{
    uint64_t exec = gcn_exec(w), base = base_of(w, in), va;
    uint32_t to = w->s[GCN_M0] & 0x3fffc;
    if (!gcn_access_goes_to_lds(w, in, what))
        return;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        enum place place = place_of(w, in, l, base, &va);
        const char *at = place == PRIVATE ? gcn_private(w, l, va) : reach_place(w, place, va, what->bytes);
        if (!at)
            return;
        gcn_access_to_lds(w, in, what, l, to, at);
    }
}

static void flat_transfer(struct gcn_wave *w, const struct gcn_inst *in)
{
    struct gcn_access what;
    gcn_access_of(in->op, &what);
    uint64_t exec = gcn_exec(w), base = base_of(w, in), va[GCN_LANES];
    enum place place[GCN_LANES];
    unsigned parts = what.bytes < 4 ? 1 : what.bytes / 4;
    if (in->lds) {
        flat_to_lds(w, in, &what);
        return;
    }
    uint64_t from;
    char *all = reach_lanes(w, in, base, what.bytes, va, &from);
    if (all && !what.store && what.bytes >= 4) {
        load_lanes(w, in, parts, all, from, va);
        return;
    }
    if (all) {
        for (unsigned l = 0; l < GCN_LANES; l++)
            for (unsigned i = 0; i < parts && exec >> l & 1; i++)
                gcn_access_part(w, in, &what, l, i, all + (va[l] - from) + i * 4);
        return;
    }
    /* Compute all addresses before the first result, which may overwrite them. */
    for (unsigned l = 0; l < GCN_LANES; l++)
        if (exec >> l & 1)
            place[l] = place_of(w, in, l, base, &va[l]);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        if (place[l] == PRIVATE) {
            for (unsigned i = 0; i < parts; i++) {
                char *at = gcn_private(w, l, va[l] + i * 4);
                if (at)
                    gcn_access_part(w, in, &what, l, i, at);
            }
            continue;
        }
        char *at = reach_place(w, place[l], va[l], what.bytes);
        if (!at)
            return;
        for (unsigned i = 0; i < parts; i++)
            gcn_access_part(w, in, &what, l, i, at + i * 4);
    }
}

static void flat_atomic(struct gcn_wave *w, const struct gcn_inst *in)
{
    struct gcn_access what;
    gcn_access_of(in->op, &what);
    uint64_t exec = gcn_exec(w), base = base_of(w, in), va[GCN_LANES];
    enum place place[GCN_LANES];
    for (unsigned l = 0; l < GCN_LANES; l++)
        if (exec >> l & 1)
            place[l] = place_of(w, in, l, base, &va[l]);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        if (!(exec >> l & 1))
            continue;
        if (place[l] == PRIVATE) {
            gcn_not_modelled(w, in, "an atomic operation on a work-item's own memory");
            return;
        }
        char *at = reach_place(w, place[l], va[l], what.bytes);
        if (!at)
            return;
        gcn_access_atomic(w, in, &what, l, at);
    }
}

gcn_execute *gcn_memory_execute(enum gcn_op op)
{
    struct gcn_access what;
    switch (op) {
    case GCN_s_load_dword:
    case GCN_s_load_dwordx2:
    case GCN_s_load_dwordx4:
    case GCN_s_load_dwordx8:
    case GCN_s_load_dwordx16:
        return scalar_load;
    case GCN_s_buffer_load_dword:
    case GCN_s_buffer_load_dwordx2:
    case GCN_s_buffer_load_dwordx4:
    case GCN_s_buffer_load_dwordx8:
    case GCN_s_buffer_load_dwordx16:
        return scalar_buffer_load;
    case GCN_s_store_dword:
    case GCN_s_store_dwordx2:
    case GCN_s_store_dwordx4:
        return scalar_store;
    default:
        break;
    }
    if (op < GCN_flat_load_ubyte || op > GCN_flat_atomic_dec_x2 || !gcn_access_of(op, &what))
        return NULL;
    return what.atomic ? flat_atomic : flat_transfer;
}
