/*
 * atomic.h - computes the result of atomic operations on memory and LDS.
 */
#ifndef VGPU_GCN_ATOMIC_H
#define VGPU_GCN_ATOMIC_H

#include "half.h"

#include <stdbool.h>

enum gcn_atomic {
    GCN_NO_ATOMIC,
    GCN_SWAP,
    GCN_CMPSWAP,
    GCN_ADD,
    GCN_SUB,
    GCN_RSUB,
    GCN_SMIN,
    GCN_UMIN,
    GCN_SMAX,
    GCN_UMAX,
    GCN_AND,
    GCN_OR,
    GCN_XOR,
    GCN_INC,
    GCN_DEC,
    GCN_FADD,
    GCN_FMIN,
    GCN_FMAX,
    GCN_PK_ADD_F16,
    GCN_PK_ADD_BF16
};

static inline uint32_t gcn_atomic32(enum gcn_atomic kind, uint32_t old, uint32_t data, uint32_t compare)
{
    float f = gcn_bits_float(old), g = gcn_bits_float(data);
    switch (kind) {
    case GCN_SWAP:
        return data;
    case GCN_CMPSWAP:
        return old == compare ? data : old;
    case GCN_ADD:
        return old + data;
    case GCN_SUB:
        return old - data;
    case GCN_RSUB:
        return data - old;
    case GCN_SMIN:
        return (int32_t)old < (int32_t)data ? old : data;
    case GCN_UMIN:
        return old < data ? old : data;
    case GCN_SMAX:
        return (int32_t)old > (int32_t)data ? old : data;
    case GCN_UMAX:
        return old > data ? old : data;
    case GCN_AND:
        return old & data;
    case GCN_OR:
        return old | data;
    case GCN_XOR:
        return old ^ data;
    case GCN_INC:
        return old >= data ? 0 : old + 1;
    case GCN_DEC:
        return old == 0 || old > data ? data : old - 1;
    case GCN_FADD:
        return gcn_float_bits(f + g);
    case GCN_FMIN:
        return g < f ? data : old;
    case GCN_FMAX:
        return g > f ? data : old;
    case GCN_PK_ADD_F16:
        return gcn_float_half(gcn_half_float(old & 0xffff) + gcn_half_float(data & 0xffff)) |
               gcn_float_half(gcn_half_float(old >> 16) + gcn_half_float(data >> 16)) << 16;
    case GCN_PK_ADD_BF16:
        return gcn_float_bf16(gcn_bf16_float(old & 0xffff) + gcn_bf16_float(data & 0xffff)) |
               gcn_float_bf16(gcn_bf16_float(old >> 16) + gcn_bf16_float(data >> 16)) << 16;
    default:
        return old;
    }
}

static inline uint64_t gcn_atomic64(enum gcn_atomic kind, uint64_t old, uint64_t data, uint64_t compare)
{
    double f, g;
    memcpy(&f, &old, sizeof f);
    memcpy(&g, &data, sizeof g);
    switch (kind) {
    case GCN_SWAP:
        return data;
    case GCN_CMPSWAP:
        return old == compare ? data : old;
    case GCN_ADD:
        return old + data;
    case GCN_SUB:
        return old - data;
    case GCN_RSUB:
        return data - old;
    case GCN_SMIN:
        return (int64_t)old < (int64_t)data ? old : data;
    case GCN_UMIN:
        return old < data ? old : data;
    case GCN_SMAX:
        return (int64_t)old > (int64_t)data ? old : data;
    case GCN_UMAX:
        return old > data ? old : data;
    case GCN_AND:
        return old & data;
    case GCN_OR:
        return old | data;
    case GCN_XOR:
        return old ^ data;
    case GCN_INC:
        return old >= data ? 0 : old + 1;
    case GCN_DEC:
        return old == 0 || old > data ? data : old - 1;
    case GCN_FADD:
        f += g;
        memcpy(&old, &f, sizeof old);
        return old;
    case GCN_FMIN:
        return g < f ? data : old;
    case GCN_FMAX:
        return g > f ? data : old;
    default:
        return old;
    }
}

/* For memory that other threads use as well. */
static inline uint32_t gcn_atomic_at32(enum gcn_atomic kind, void *at, uint32_t data, uint32_t compare)
{
    uint32_t *p = at, old = __atomic_load_n(p, __ATOMIC_RELAXED), new;
    do
        new = gcn_atomic32(kind, old, data, compare);
    while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

static inline uint64_t gcn_atomic_at64(enum gcn_atomic kind, void *at, uint64_t data, uint64_t compare)
{
    uint64_t *p = at, old = __atomic_load_n(p, __ATOMIC_RELAXED), new;
    do
        new = gcn_atomic64(kind, old, data, compare);
    while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

#endif
