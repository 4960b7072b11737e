/*
 * grid.c - barriers over the complete grid, through the GWS (global wave sync). HIP's cooperative kernels use them
 * instead of a variable in memory.
 *
 * A waiting wave checks the barrier again at its next turn; meanwhile its thread runs other workgroups (run.c).
 */
#include "wave.h"

#include <pthread.h>

/* Indexed by the resource's number; under `lock`. */
static struct {
    uint64_t passed; /* number of completed barriers */
    uint32_t here;   /* arrivals since the last one */
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

/* The first active lane has the number of waves, minus one. */
static void grid_barrier(struct gcn_wave *w, const struct gcn_inst *in)
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

/* No effect: the barrier instruction itself has the number of waves. */
static void grid_init(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

gcn_execute *gcn_grid_execute(enum gcn_op op)
{
    return op == GCN_ds_gws_barrier ? grid_barrier : op == GCN_ds_gws_init ? grid_init : NULL;
}
