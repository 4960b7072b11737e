/*
 * reach.c - translates addresses to host pointers, with all checks; and ends a dispatch early.
 */
#include "access.h"

#include <stdio.h>

static void end_dispatch(struct gcn_wave *w, enum gcn_end end)
{
    struct gcn_worker *k = w->worker;
    if (k->end != GCN_DONE)
        return;
    k->end = end;
    k->report.pc = w->at;
}

char *gcn_reach_all(struct gcn_wave *w, uint64_t va, uint64_t bytes)
{
    struct gcn_worker *k = w->worker;
    for (unsigned i = 0; i < GCN_SPANS; i++) {
        const struct gcn_span *s = &k->spans[i];
        if (va - s->va < s->bytes && s->bytes - (va - s->va) >= bytes)
            return s->host + (va - s->va);
    }
    struct gcn_span found;
    if (k->launch->find(va, &found) && va - found.va < found.bytes && found.bytes - (va - found.va) >= bytes) {
        k->spans[k->next_span++ % GCN_SPANS] = found;
        return found.host + (va - found.va);
    }
    return NULL;
}

char *gcn_reach(struct gcn_wave *w, uint64_t va, uint32_t bytes)
{
    struct gcn_worker *k = w->worker;
    char *at = gcn_reach_all(w, va, bytes);
    if (at)
        return at;
    if (k->end == GCN_DONE)
        k->report.address = va;
    end_dispatch(w, GCN_FAULT);
    return NULL;
}

void gcn_not_modelled(struct gcn_wave *w, const struct gcn_inst *in, const char *what)
{
    struct gcn_report *r = &w->worker->report;
    if (w->worker->end != GCN_DONE)
        return;
    memcpy(r->raw, in->raw, sizeof r->raw);
    r->words = in->bytes / 4;
    snprintf(r->what, sizeof r->what, "%s", what);
    end_dispatch(w, GCN_NOT_MODELLED);
}

/* Interleaved by dwords like the hardware, so that swizzled buffers reach the same bytes. */
char *gcn_private(struct gcn_wave *w, unsigned lane, uint64_t offset)
{
    uint64_t at = offset / 4 * (GCN_LANES * 4) + lane * 4 + offset % 4;
    if (at >= w->worker->scratch_bytes) {
        if (w->worker->end == GCN_DONE)
            w->worker->report.address = GCN_PRIVATE_APERTURE + offset;
        end_dispatch(w, GCN_FAULT);
        return NULL;
    }
    return w->scratch + at;
}

#define LOADS(prefix)                                                    \
    case GCN_##prefix##_load_ubyte:                                      \
        *what = (struct gcn_access){.bytes = 1};                         \
        break;                                                           \
    case GCN_##prefix##_load_sbyte:                                      \
        *what = (struct gcn_access){.bytes = 1, .sext = true};           \
        break;                                                           \
    case GCN_##prefix##_load_ushort:                                     \
        *what = (struct gcn_access){.bytes = 2};                         \
        break;                                                           \
    case GCN_##prefix##_load_sshort:                                     \
        *what = (struct gcn_access){.bytes = 2, .sext = true};           \
        break;                                                           \
    case GCN_##prefix##_load_ubyte_d16:                                  \
        *what = (struct gcn_access){.bytes = 1, .d16 = 1};               \
        break;                                                           \
    case GCN_##prefix##_load_ubyte_d16_hi:                               \
        *what = (struct gcn_access){.bytes = 1, .d16 = 2};               \
        break;                                                           \
    case GCN_##prefix##_load_sbyte_d16:                                  \
        *what = (struct gcn_access){.bytes = 1, .sext = true, .d16 = 1}; \
        break;                                                           \
    case GCN_##prefix##_load_sbyte_d16_hi:                               \
        *what = (struct gcn_access){.bytes = 1, .sext = true, .d16 = 2}; \
        break;                                                           \
    case GCN_##prefix##_load_short_d16:                                  \
        *what = (struct gcn_access){.bytes = 2, .d16 = 1};               \
        break;                                                           \
    case GCN_##prefix##_load_short_d16_hi:                               \
        *what = (struct gcn_access){.bytes = 2, .d16 = 2};               \
        break;                                                           \
    case GCN_##prefix##_load_dword:                                      \
        *what = (struct gcn_access){.bytes = 4};                         \
        break;                                                           \
    case GCN_##prefix##_load_dwordx2:                                    \
        *what = (struct gcn_access){.bytes = 8};                         \
        break;                                                           \
    case GCN_##prefix##_load_dwordx3:                                    \
        *what = (struct gcn_access){.bytes = 12};                        \
        break;                                                           \
    case GCN_##prefix##_load_dwordx4:                                    \
        *what = (struct gcn_access){.bytes = 16};                        \
        break;
#define LOADS_LDS                                              \
    case GCN_flat_load_lds_ubyte:                              \
        *what = (struct gcn_access){.bytes = 1};               \
        break;                                                 \
    case GCN_flat_load_lds_sbyte:                              \
        *what = (struct gcn_access){.bytes = 1, .sext = true}; \
        break;                                                 \
    case GCN_flat_load_lds_ushort:                             \
        *what = (struct gcn_access){.bytes = 2};               \
        break;                                                 \
    case GCN_flat_load_lds_sshort:                             \
        *what = (struct gcn_access){.bytes = 2, .sext = true}; \
        break;                                                 \
    case GCN_flat_load_lds_dword:                              \
        *what = (struct gcn_access){.bytes = 4};               \
        break;
#define STORE(prefix, name, size, half)                                         \
    case GCN_##prefix##_store_##name:                                           \
        *what = (struct gcn_access){.bytes = size, .store = true, .d16 = half}; \
        break;
#define STORES(prefix)                \
    STORE(prefix, byte, 1, 0)         \
    STORE(prefix, byte_d16_hi, 1, 2)  \
    STORE(prefix, short, 2, 0)        \
    STORE(prefix, short_d16_hi, 2, 2) \
    STORE(prefix, dword, 4, 0)        \
    STORE(prefix, dwordx2, 8, 0)      \
    STORE(prefix, dwordx3, 12, 0)     \
    STORE(prefix, dwordx4, 16, 0)
#define ONE(prefix, name, size, kind)                               \
    case GCN_##prefix##_atomic_##name:                              \
        *what = (struct gcn_access){.bytes = size, .atomic = kind}; \
        break;
#define BOTH(prefix, name, kind) ONE(prefix, name, 4, kind) ONE(prefix, name##_x2, 8, kind)
#define ATOMICS(prefix)                        \
    BOTH(prefix, swap, GCN_SWAP)               \
    BOTH(prefix, cmpswap, GCN_CMPSWAP)         \
    BOTH(prefix, add, GCN_ADD)                 \
    BOTH(prefix, sub, GCN_SUB)                 \
    BOTH(prefix, smin, GCN_SMIN)               \
    BOTH(prefix, umin, GCN_UMIN)               \
    BOTH(prefix, smax, GCN_SMAX)               \
    BOTH(prefix, umax, GCN_UMAX)               \
    BOTH(prefix, and, GCN_AND)                 \
    BOTH(prefix, or, GCN_OR)                   \
    BOTH(prefix, xor, GCN_XOR)                 \
    BOTH(prefix, inc, GCN_INC)                 \
    BOTH(prefix, dec, GCN_DEC)                 \
    ONE(prefix, add_f32, 4, GCN_FADD)          \
    ONE(prefix, pk_add_f16, 4, GCN_PK_ADD_F16) \
    ONE(prefix, add_f64, 8, GCN_FADD)          \
    ONE(prefix, min_f64, 8, GCN_FMIN)          \
    ONE(prefix, max_f64, 8, GCN_FMAX)

bool gcn_access_of(enum gcn_op op, struct gcn_access *what)
{
    switch (op) {
        LOADS(flat)
        LOADS_LDS
        STORES(flat)
        ATOMICS(flat)
        ONE(flat, pk_add_bf16, 4, GCN_PK_ADD_BF16)
        LOADS(buffer)
        STORES(buffer)
        ATOMICS(buffer)
    default:
        return false;
    }
    return true;
}

/* Load a value of at most a dword, extended to a dword. */
static uint32_t loaded(const struct gcn_access *what, const char *at)
{
    unsigned size = what->bytes < 4 ? what->bytes : 4;
    uint32_t value = 0;
    memcpy(&value, at, size);
    return what->sext ? (uint32_t)((int32_t)(value << (32 - size * 8)) >> (32 - size * 8)) : value;
}

void gcn_access_part(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                     unsigned part, char *at)
{
    if (what->store) {
        unsigned size = what->bytes < 4 ? what->bytes : 4;
        uint32_t value = w->v[(in->src[1] - GCN_VGPR + part) & 511][lane].u;
        if (what->d16 == 2)
            value >>= 16;
        memcpy(at, &value, size);
        return;
    }
    union gcn_lane *to = &w->v[(in->dst - GCN_VGPR + part) & 511][lane];
    uint32_t value = loaded(what, at);
    if (what->d16 == 1)
        value = (to->u & 0xffff0000) | (value & 0xffff);
    else if (what->d16 == 2)
        value = (to->u & 0xffff) | value << 16;
    to->u = value;
}

bool gcn_access_goes_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what)
{
    if (what->bytes <= 4 && !what->store && !what->d16 && !what->atomic)
        return true;
    gcn_not_modelled(w, in, "a transfer between memory and LDS that is more than a load of a dword");
    return false;
}

/* The instruction's offset applies to LDS too. Stores beyond the end of LDS are dropped. */
void gcn_access_to_lds(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       uint32_t base, const char *at)
{
    uint32_t to = base + (uint32_t)in->offset + lane * 4, value = at ? loaded(what, at) : 0;
    if (to < w->worker->lds_bytes && w->worker->lds_bytes - to >= sizeof value)
        memcpy(w->worker->lds + to, &value, sizeof value);
}

/* Data registers: the new value, then the comparand. With glc the old value is returned. */
void gcn_access_atomic(struct gcn_wave *w, const struct gcn_inst *in, const struct gcn_access *what, unsigned lane,
                       char *at)
{
    unsigned data = in->src[1] - GCN_VGPR, to = in->dst - GCN_VGPR;
    uint32_t word[4];
    for (unsigned i = 0; i < 4; i++)
        word[i] = w->v[(data + i) & 511][lane].u;
    if (what->bytes == 4) {
        uint32_t old = gcn_atomic_at32(what->atomic, at, word[0], word[1]);
        if (in->glc)
            w->v[to][lane].u = old;
        return;
    }
    uint64_t old =
        gcn_atomic_at64(what->atomic, at, word[0] | (uint64_t)word[1] << 32, word[2] | (uint64_t)word[3] << 32);
    if (in->glc) {
        w->v[to][lane].u = (uint32_t)old;
        w->v[(to + 1) & 511][lane].u = (uint32_t)(old >> 32);
    }
}
