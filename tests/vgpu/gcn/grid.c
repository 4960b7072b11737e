/*
 * grid.c - barriers over the whole grid, which waves come to by way of the GWS (global wave sync): what cooperative
 * kernels of HIP have instead of a variable in memory.
 *
 * A wave that has to wait looks again when it is its turn; meanwhile its thread runs other workgroups (run.c).
 */
#include "wave.h"

#include <pthread.h>

/* by number of the resource; under `lock` */
static struct {
    uint64_t passed; /* how often all have come */
    uint32_t here;   /* how many have come since */
} barriers[64];
_Atomic uint64_t gcn_moves;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gcn_grid_begin(void)
{
    memset(barriers, 0, sizeof barriers);
}

void gcn_grid_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
}

/* the first lane that is on says how many come, less one */
static void barrier(struct gcn_wave *w, const struct gcn_inst *in)
{
    uint64_t exec = gcn_exec(w);
    unsigned b = ((w->s[GCN_M0] >> 16) + (uint32_t)in->offset) & 63;
    uint32_t all = w->v[in->src[0] - GCN_VGPR][exec ? __builtin_ctzll(exec) : 0].u + 1;
    pthread_mutex_lock(&lock);
    bool waits;
    if (w->waits_at_grid) {
        waits = barriers[b].passed == w->arrived_in;
    } else {
        gcn_moves++;
        w->arrived_in = barriers[b].passed;
        waits = ++barriers[b].here != all;
        if (!waits) {
            barriers[b].here = 0;
            barriers[b].passed++;
        }
    }
    pthread_mutex_unlock(&lock);
    w->waits_at_grid = waits;
    if (waits) {
        w->state = GCN_AT_GRID;
        w->pc = w->at;
    }
}

/* how many waves come says the barrier itself */
static void init(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

gcn_execute *gcn_grid_execute(enum gcn_op op)
{
    return op == GCN_ds_gws_barrier ? barrier : op == GCN_ds_gws_init ? init : NULL;
}
