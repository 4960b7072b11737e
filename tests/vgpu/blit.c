/*
 * blit.c - ROCr's own copy and fill kernels, whose work the model does itself.
 *
 * By default compiled kernels do not execute on this model, they only take time. But ROCr loads code objects and fills
 * memory with three kernels of its own, so these must work. They have no symbol; the model recognises them by their
 * machine code: how many kernel arguments the prologue loads, and from which offset.
 */
#include "vgpu.h"

#include <string.h>

/* A range may cross allocations: large host buffers are registered in pieces. */
bool vg_gpu_copy(uint64_t dst, uint64_t src, uint64_t n, uint64_t *bad)
{
    while (n) {
        const struct vg_alloc *s = vg_alloc_at(src), *d = vg_alloc_at(dst);
        if (!s || !d) {
            *bad = d ? src : dst;
            return false;
        }
        uint64_t now = n, left = s->size - (src - s->va);
        now = now < left ? now : left;
        left = d->size - (dst - d->va);
        now = now < left ? now : left;
        memmove(d->host + (dst - d->va), s->host + (src - s->va), now);
        src += now;
        dst += now;
        n -= now;
    }
    return true;
}

static enum vg_blit_result blit_copy(uint64_t dst, uint64_t src, uint64_t end, uint64_t *bytes, uint64_t *bad)
{
    *bytes = end - src;
    return vg_gpu_copy(dst, src, *bytes, bad) ? VG_BLIT_DONE : VG_BLIT_FAULT;
}

/* Arguments: source and destination of four consecutive phases, then the end of both. */
static enum vg_blit_result copy_aligned(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t a[10];
    memcpy(a, args, sizeof a);
    return blit_copy(a[1], a[0], a[8], bytes, bad);
}

/* Like copy_aligned, with two phases. */
static enum vg_blit_result copy_misaligned(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t a[6];
    memcpy(a, args, sizeof a);
    return blit_copy(a[1], a[0], a[4], bytes, bad);
}

/* Arguments: start of two phases, end of the second, and the dword to store. */
static enum vg_blit_result blit_fill(const void *args, uint64_t *bytes, uint64_t *bad)
{
    uint64_t a[4];
    memcpy(a, args, sizeof a);
    *bytes = a[2] - a[0];
    uint32_t *d = *bytes ? vg_xlate(a[0], *bytes) : NULL;
    if (*bytes && !d) {
        *bad = a[0];
        return VG_BLIT_FAULT;
    }
    for (uint64_t i = 0; i < *bytes / 4; i++)
        d[i] = (uint32_t)a[3];
    return VG_BLIT_DONE;
}

static const struct {
    unsigned wide; /* s_load_dwordx4 from 0, 16, 32, ... */
    int single;    /* offset of the s_load_dword that follows; -1: none */
    struct vg_blit blit;
} known[] = {
    {5, 0x50, {"rocr-copy-aligned", 80, copy_aligned}},
    {3, 0x30, {"rocr-copy-misaligned", 48, copy_misaligned}},
    {2, -1, {"rocr-fill", 32, blit_fill}},
};

/* GFX9 scalar memory loads are 8 bytes: bits 31..26 select SMEM, 25..18 the opcode; the second word has the offset. */
#define IS_SMEM(w) ((w) >> 26 == 0x30)
#define SMEM_OP(w) ((w) >> 18 & 0xff)
enum { S_LOAD_DWORD = 0, S_LOAD_DWORDX4 = 2 };

const struct vg_blit *vg_blit_recognise(uint64_t object)
{
    /* In both forms of a kernel's header, byte 16 has the distance to the first instruction. */
    const char *head = vg_xlate(object, 64);
    int64_t entry = 0;
    if (head)
        memcpy(&entry, head + 16, sizeof entry);
    const uint32_t *code = entry > 0 && entry < 1 << 20 ? vg_xlate(object + (uint64_t)entry, 64) : NULL;
    if (!code)
        return NULL;
    unsigned wide = 0;
    int single = -1;
    for (unsigned i = 0; i < 16 && IS_SMEM(code[i]); i += 2) {
        unsigned op = SMEM_OP(code[i]), offset = code[i + 1] & 0xfffff;
        if (op == S_LOAD_DWORDX4 && offset == wide * 16)
            wide++;
        else if (op == S_LOAD_DWORD && single < 0)
            single = (int)offset;
        else
            return NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].wide == wide && known[i].single == single)
            return &known[i].blit;
    return NULL;
}
