/*
 * wait.c - the duration of s_waitcnt, if a launch asks for it. An operation completes a fixed number of cycles after it
 * began; a wait ends when at most the given number of operations are in flight. Each operation counts as one. By the
 * ISA documents a scalar load of more than one dword, and s_memtime, count two in lgkmcnt: waits for lgkmcnt(1) and
 * more after such an operation may take longer on hardware.
 */
#include "wave.h"

static uint64_t now_of(const struct gcn_wave *w)
{
    return w->instructions * GCN_CYCLES + w->waited;
}

static void drop_done(struct gcn_under_way *u, uint64_t now)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < u->count; i++)
        if (u->done[i] > now)
            u->done[kept++] = u->done[i];
    u->count = kept;
}

/* Time at which at most `left` operations are still in flight. */
static uint64_t wait_until(struct gcn_under_way *u, unsigned left, uint64_t now)
{
    drop_done(u, now);
    while (u->count > left) {
        uint64_t first = u->done[0];
        for (unsigned i = 1; i < u->count; i++)
            first = u->done[i] < first ? u->done[i] : first;
        now = first;
        drop_done(u, now);
    }
    return now;
}

static void begin_operation(struct gcn_wave *w, struct gcn_under_way *u, unsigned most, uint32_t latency)
{
    uint64_t now = wait_until(u, most - 1, now_of(w));
    w->waited += now - now_of(w);
    u->done[u->count++] = now + latency;
}

void gcn_wait(struct gcn_wave *w, const struct gcn_inst *in)
{
    struct gcn_waits *g = w->worker->launch->waits;
    if (in->format == GCN_SMEM) {
        begin_operation(w, &w->lgkm, 15, g->scalar);
    } else if (in->format == GCN_DS) {
        begin_operation(w, &w->lgkm, 15, g->lds);
    } else if (in->format == GCN_FLAT || in->format == GCN_MUBUF || in->format == GCN_MTBUF) {
        begin_operation(w, &w->vm, 63, g->vector);
        if (in->format == GCN_FLAT && !in->segment)
            begin_operation(w, &w->lgkm, 15, g->vector);
    } else if (in->op == GCN_s_waitcnt) {
        uint32_t word = in->raw[0];
        uint64_t began = now_of(w), now = wait_until(&w->vm, (word & 15) | (word >> 14 & 3) << 4, began);
        now = wait_until(&w->lgkm, word >> 8 & 15, now);
        w->waited += now - began;
        uint64_t i = (w->at - g->va) / 4;
        if (i < g->words) {
            g->passes[i]++;
            g->cycles[i] += now - began;
        }
    }
}
