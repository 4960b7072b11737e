/*
 * begin.c - sets up a wave's initial state as its kernel's descriptor asks.
 */
#include "wave.h"

/* Preload kernel arguments into scalar registers from register s on. The kernel's first 256 bytes load them on GPUs
 * without preloading, so skip these. */
static void preload(struct gcn_wave *w, const struct gcn_descriptor *d, unsigned s)
{
    enum { PASSED = 256, USER_REGISTERS = 16 };
    uint64_t from = w->worker->launch->kernarg + (d->preload >> 7) * 4ull;
    w->at = w->pc;
    for (unsigned i = 0; i < (d->preload & 127u) && s < USER_REGISTERS; i++, s++) {
        const char *at = gcn_reach(w, from + i * 4, 4);
        if (!at)
            return;
        memcpy(&w->s[s], at, 4);
    }
    w->pc += PASSED;
}

void gcn_begin_wave(struct gcn_wave *w, const struct gcn_descriptor *d, const uint32_t id[3], unsigned first)
{
    const struct gcn_launch *g = w->worker->launch;
    unsigned registers = ((d->rsrc1 & 63) + 1) * (g->target == GCN_GFX906 ? 4 : 8), s = 0;
    memset(w->v, 0, sizeof w->v[0] * (registers < 512 ? registers : 512));
    for (unsigned i = 0; i < sizeof w->s / sizeof *w->s; i++)
        w->s[i] = g->unset;
    w->pc = g->object + (uint64_t)d->entry;
    w->scc = w->index_on = w->waits_at_grid = false;
    w->mode = (d->rsrc1 >> 12 & 0xff) | (d->rsrc1 >> 26 & 1) << GCN_MODE_OVERFLOW;
    w->state = GCN_RUNS;
    /* The requested values follow each other without gaps. */
    if (d->properties & 1) {
        w->s[s] = (uint32_t)GCN_SCRATCH_BASE;
        w->s[s + 1] = (uint32_t)(GCN_SCRATCH_BASE >> 32) | 1u << 31;
        w->s[s + 2] = 0xffffffff;
        w->s[s + 3] = 1u << 23;
        s += 4;
    }
    const uint64_t pairs[] = {g->packet, g->queue, g->kernarg, g->dispatch_id, 0};
    for (unsigned i = 0; i < 5; i++)
        if (d->properties >> (i + 1) & 1) {
            gcn_set_pair(w, s, pairs[i]);
            s += 2;
        }
    if (d->properties >> 6 & 1)
        w->s[s++] = g->private_bytes;
    if (d->preload && g->target != GCN_GFX906)
        preload(w, d, s);
    s = d->rsrc2 >> 1 & 31;
    for (unsigned i = 0; i < 3; i++)
        if (d->rsrc2 >> (7 + i) & 1)
            w->s[s++] = id[i];
    if (d->rsrc2 >> 10 & 1)
        w->s[s++] = 0;
    /* Scratch offset of this wave: 0, because each wave has its own scratch. gfx942 kernels do not ask for it. */
    if (g->target == GCN_GFX942)
        gcn_set_pair(w, GCN_FLAT_SCRATCH, GCN_SCRATCH_BASE);
    else if (d->rsrc2 & 1)
        w->s[s++] = 0;
    uint64_t exec = 0;
    unsigned items = d->rsrc2 >> 11 & 3;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        uint32_t n = first + l, size[3], at[3];
        for (unsigned i = 0; i < 3; i++)
            size[i] = g->group[i];
        at[0] = n % size[0];
        at[1] = n / size[0] % size[1];
        at[2] = n / size[0] / size[1];
        bool on = at[2] < size[2];
        /* The grid's end may cut the last workgroup of a dimension short. */
        for (unsigned i = 0; i < 3; i++)
            on = on && (uint64_t)id[i] * size[i] + at[i] < g->grid[i];
        exec |= (uint64_t)on << l;
        if (g->target != GCN_GFX906) {
            w->v[0][l].u = at[0] | (items > 0 ? at[1] << 10 : 0) | (items > 1 ? at[2] << 20 : 0);
        } else {
            for (unsigned i = 0; i <= items && i < 3; i++)
                w->v[i][l].u = at[i];
        }
    }
    gcn_set_pair(w, GCN_EXEC, exec);
    w->instructions = w->waited = 0;
    w->vm.count = w->lgkm.count = 0;
}
