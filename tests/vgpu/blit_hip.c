/*
 * blit_hip.c - HIP's own kernels, whose work the model does itself: copies, fills, waits and writes of memory.
 *
 * HIP compiles them from source at first use. The model recognises them by name (__amd_rocclr_*). Their arguments
 * differ in two generations: HIP 5 passes origins in elements, HIP 6 passes plain addresses and the end. The argument
 * values themselves tell the generations apart without ambiguity (see below).
 */
#include "vgpu.h"

#include <string.h>

static uint64_t arg_u64(const void *args, unsigned byte)
{
    uint64_t v;
    memcpy(&v, (const char *)args + byte, sizeof v);
    return v;
}

static uint32_t arg_u32(const void *args, unsigned byte)
{
    uint32_t v;
    memcpy(&v, (const char *)args + byte, sizeof v);
    return v;
}

static enum vg_blit_result copy_bytes(uint64_t dst, uint64_t src, uint64_t n, uint64_t *bytes, uint64_t *bad)
{
    *bytes = n;
    return vg_gpu_copy(dst, src, n, bad) ? VG_BLIT_DONE : VG_BLIT_FAULT;
}

static enum vg_blit_result copy_buffer(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t src = arg_u64(args, 0), dst = arg_u64(args, 8), size = arg_u64(args, 16);
    uint32_t rest = arg_u32(args, 24), unit = arg_u32(args, 28);
    /* HIP 6: size, remainder, unit of 4 or 16, and the end that follows from them. HIP 5 has a count where HIP 6 has
     * the end. */
    if ((unit == 4 || unit == 16) && arg_u64(args, 32) == dst + size - rest)
        return copy_bytes(dst, src, size, bytes, bad);
    /* HIP 5: origins, number of dwords including an incomplete last one, and that one's bytes. 8: all are single
     * bytes. */
    uint64_t count = arg_u64(args, 32);
    rest = arg_u32(args, 40);
    size = rest == 8 ? count : count ? (count - 1) * 4 + rest : 0;
    return copy_bytes(dst + arg_u64(args, 24), src + arg_u64(args, 16), size, bytes, bad);
}

static enum vg_blit_result copy_buffer_aligned(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t unit = arg_u32(args, 40) == 16 ? 16 : 4;
    return copy_bytes(arg_u64(args, 8) + arg_u64(args, 24) * unit, arg_u64(args, 0) + arg_u64(args, 16) * unit,
                      arg_u64(args, 32) * unit, bytes, bad);
}

/* Rectangles: row pitch, slice pitch, start at 32 and 64; width, height, depth, unit at 96. All lengths are in
 * units. */
static enum vg_blit_result copy_rect(const void *args, uint64_t unit, uint64_t *bytes, uint64_t *bad)
{
    uint64_t nx = arg_u64(args, 96), ny = arg_u64(args, 104), nz = arg_u64(args, 112);
    for (uint64_t z = 0; z < nz; z++)
        for (uint64_t y = 0; y < ny; y++) {
            uint64_t s = arg_u64(args, 48) + y * arg_u64(args, 32) + z * arg_u64(args, 40);
            uint64_t d = arg_u64(args, 80) + y * arg_u64(args, 64) + z * arg_u64(args, 72);
            if (!vg_gpu_copy(arg_u64(args, 8) + d * unit, arg_u64(args, 0) + s * unit, nx * unit, bad))
                return VG_BLIT_FAULT;
        }
    *bytes = nx * ny * nz * unit;
    return VG_BLIT_DONE;
}

static enum vg_blit_result copy_buffer_rect(const void *args, uint64_t *bytes, uint64_t *bad)
{
    return copy_rect(args, 1, bytes, bad);
}

static enum vg_blit_result copy_buffer_rect_aligned(const void *args, uint64_t *bytes, uint64_t *bad)
{
    return copy_rect(args, arg_u64(args, 120) == 16 ? 16 : 4, bytes, bad);
}

static enum vg_blit_result repeat(uint64_t dst, uint64_t pattern, uint64_t len, uint64_t count, uint64_t *bad)
{
    const char *p = len ? vg_xlate(pattern, len) : NULL;
    char *d = len && count ? vg_xlate(dst, len * count) : NULL;
    if (!len || !count)
        return VG_BLIT_DONE;
    if (!p || !d) {
        *bad = p ? dst : pattern;
        return VG_BLIT_FAULT;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(d + i * len, p, len);
    return VG_BLIT_DONE;
}

/* HIP 5's fills pass one buffer pointer; its argument position gives the unit: bytes, words, dwords, quadwords. */
static uint64_t named_buffer(const void *args, uint64_t *unit)
{
    for (unsigned i = 0; i < 4; i++)
        if (arg_u64(args, i * 8)) {
            *unit = 1u << i;
            return arg_u64(args, i * 8);
        }
    *unit = 1;
    return 0;
}

static enum vg_blit_result fill_buffer(const void *args, uint64_t *bytes, uint64_t *bad)
{
    /* HIP 6: buffer, pattern, its length in units, the unit, the end. A unit is at most 16. In HIP 5 these four bytes
     * are zero or the upper half of an address. */
    uint32_t unit6 = arg_u32(args, 20);
    if (unit6 >= 1 && unit6 <= 16) {
        uint64_t len = (uint64_t)arg_u32(args, 16) * unit6, dst = arg_u64(args, 0), end = arg_u64(args, 24);
        *bytes = end > dst ? end - dst : 0;
        return repeat(dst, arg_u64(args, 8), len, len ? (*bytes + len - 1) / len : 0, bad);
    }
    uint64_t unit, dst = named_buffer(args, &unit), len = arg_u32(args, 40) * unit;
    *bytes = arg_u64(args, 56) * len;
    return repeat(dst + arg_u64(args, 48) * unit, arg_u64(args, 32), len, arg_u64(args, 56), bad);
}

static enum vg_blit_result fill_buffer_2d(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t unit, dst = named_buffer(args, &unit), len = arg_u32(args, 40) * unit;
    uint64_t width = arg_u64(args, 56), height = arg_u64(args, 64), pitch = arg_u64(args, 72);
    for (uint64_t y = 0; y < height; y++)
        if (repeat(dst + (arg_u64(args, 48) + y * pitch) * unit, arg_u64(args, 32), len, width, bad) != VG_BLIT_DONE)
            return VG_BLIT_FAULT;
    *bytes = width * height * len;
    return VG_BLIT_DONE;
}

/* One of two pointers is set: to 4 bytes or to 8. */
static void *wait_operand(const void *args, unsigned *size, uint64_t *bad)
{
    *size = arg_u64(args, 0) ? 4 : 8;
    *bad = arg_u64(args, 0) ? arg_u64(args, 0) : arg_u64(args, 8);
    return vg_xlate(*bad, *size);
}

static enum vg_blit_result stream_write(const void *args, uint64_t *bytes, uint64_t *bad)
{
    unsigned size;
    void *p = wait_operand(args, &size, bad);
    if (!p)
        return VG_BLIT_FAULT;
    if (size == 4)
        __atomic_store_n((uint32_t *)p, (uint32_t)arg_u64(args, 16), __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)p, arg_u64(args, 16), __ATOMIC_RELEASE);
    *bytes = 0;
    return VG_BLIT_DONE;
}

static enum vg_blit_result stream_wait(const void *args, uint64_t *bytes, uint64_t *bad)
{
    unsigned size;
    const void *p = wait_operand(args, &size, bad);
    if (!p)
        return VG_BLIT_FAULT;
    uint64_t v = size == 4 ? __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE)
                           : __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
    uint64_t with = arg_u64(args, 16), mask = arg_u64(args, 32);
    bool met;
    v &= mask;
    switch (arg_u64(args, 24)) {
    case 0:
        met = v >= with;
        break; /* hipStreamWaitValueGte */
    case 1:
        met = v == with;
        break; /* Eq */
    case 2:
        met = v & with;
        break; /* And */
    default:
        met = ~(v | with) & mask;
        break; /* Nor */
    }
    *bytes = 0;
    return met ? VG_BLIT_DONE : VG_BLIT_WAIT;
}

static const struct vg_blit hip[] = {
    {"__amd_rocclr_copyBuffer", 48, copy_buffer},
    {"__amd_rocclr_copyBufferAligned", 48, copy_buffer_aligned},
    {"__amd_rocclr_copyBufferRect", 128, copy_buffer_rect},
    {"__amd_rocclr_copyBufferRectAligned", 128, copy_buffer_rect_aligned},
    {"__amd_rocclr_fillBufferAligned", 64, fill_buffer},
    {"__amd_rocclr_fillBufferAligned2D", 80, fill_buffer_2d},
    {"__amd_rocclr_streamOpsWrite", 24, stream_write},
    {"__amd_rocclr_streamOpsWait", 40, stream_wait},
};

const struct vg_blit *vg_blit_by_name(const char *name)
{
    if (strncmp(name, "__amd_rocclr_", 13))
        return NULL;
    for (size_t i = 0; i < sizeof hip / sizeof *hip; i++)
        if (!strcmp(name, hip[i].name))
            return &hip[i];
    return NULL;
}
