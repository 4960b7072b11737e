/*
 * slots.c - assigns a workgroup's waves to the wave slots of a compute unit, and computes when they begin.
 *
 * A slot runs one wave after another. A workgroup begins when all of its waves have a slot: those that have been free
 * longest, a moment after the last of them became free, and not before the dispatch. Times are cycles of the counted
 * clock. Workgroups share a slot at the same time in two cases only: without accounting, and when workgroups that
 * occupy all slots wait for this one.
 */
#include "wave.h"

#include <pthread.h>
#include <time.h>

enum { SIMDS = 4, SIMD_SLOTS = 16, LATENCY = 40 };

/* Under `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t slots_released = PTHREAD_COND_INITIALIZER;
static struct place {
    uint64_t free_at; /* cycles since the dispatch's begin; 0: no wave so far */
    bool taken;
} slots[GCN_UNITS][SIMDS][SIMD_SLOTS];
/* In this dispatch. */
static bool used[GCN_UNITS];
static unsigned which_used[GCN_UNITS], count_used;

void gcn_slots_begin(void)
{
    while (count_used) {
        unsigned unit = which_used[--count_used];
        memset(slots[unit], 0, sizeof slots[unit]);
        used[unit] = false;
    }
}

void gcn_slots_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&slots_released, NULL);
}

static struct place *place_of(const struct gcn_wave *w)
{
    return &slots[gcn_unit(w)][w->hw_id >> 4 & 3][w->hw_id & 15];
}

/* The SIMD's slot that became free first. Below 0: all are occupied and `shared` is false. */
static int free_slot(const struct gcn_launch *g, unsigned unit, unsigned simd, bool shared)
{
    int best = -1, count = g->target == GCN_GFX906 ? 10 : 8;
    for (int i = 0; i < count; i++) {
        const struct place *p = &slots[unit][simd][i];
        if ((shared || !p->taken) && (best < 0 || p->free_at < slots[unit][simd][best].free_at))
            best = i;
    }
    return best;
}

/* Occupy a slot for each wave. false: too few are free, and none is occupied. */
static bool occupy_slots(const struct gcn_launch *g, unsigned unit, unsigned first, struct gcn_wave **waves,
                         unsigned count, bool shared)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned simd = (first + i) % SIMDS;
        int slot = free_slot(g, unit, simd, shared);
        if (slot < 0) {
            while (i--)
                place_of(waves[i])->taken = false;
            return false;
        }
        /* HW_ID register: slot bits 0 to 3, SIMD 4 and 5, unit 8 to 11, engine 13 to 15. */
        waves[i]->hw_id = (uint32_t)slot | simd << 4 | (uint32_t)(unit % GCN_DIE_UNITS) << 8;
        waves[i]->die = unit / GCN_DIE_UNITS;
        place_of(waves[i])->taken = true;
    }
    return true;
}

static void account_gap(struct gcn_account *a, unsigned unit, uint64_t cycles)
{
    uint64_t seen = cycles + a->gap_more;
    a->gaps[unit]++;
    a->gap_cycles[unit] += cycles;
    a->gap_powers[seen ? 63 - __builtin_clzll(seen) : 0]++;
}

/* Numbers go across the dies, then across a die's engines. */
static unsigned unit_of(const struct gcn_launch *g, uint64_t group)
{
    unsigned dies = g->dies ? g->dies : 1, engines = g->engines > dies ? g->engines / dies : 1;
    unsigned n = (unsigned)(group % (g->units ? g->units : 1)), in_die = n / dies;
    return n % dies % GCN_DIES * GCN_DIE_UNITS + ((in_die / engines & 15) | (in_die % engines & 7) << 5);
}

void gcn_slots_occupy(const struct gcn_launch *g, uint64_t group, struct gcn_wave **waves, unsigned count)
{
    unsigned units = g->units ? g->units : 1, unit = unit_of(g, group);
    uint64_t begin = 0;
    pthread_mutex_lock(&lock);
    if (!used[unit])
        which_used[count_used++] = unit;
    used[unit] = true;
    bool shared = !g->account;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (!occupy_slots(g, unit, (unsigned)(group / units % SIMDS) * count, waves, count, shared))
        shared = pthread_cond_timedwait(&slots_released, &lock, &until) != 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t free_at = place_of(waves[i])->free_at;
        begin = free_at > begin ? free_at : begin;
    }
    if (begin)
        begin += LATENCY + (group * 2654435761u >> 7) % 997; /* an arbitrary but reproducible delay */
    for (unsigned i = 0; i < count; i++) {
        uint64_t free_at = place_of(waves[i])->free_at;
        waves[i]->begun = begin;
        if (free_at && g->account)
            account_gap(g->account, unit, begin - free_at);
    }
    pthread_mutex_unlock(&lock);
}

void gcn_slots_release(struct gcn_wave **waves, unsigned count)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count; i++) {
        const struct gcn_wave *w = waves[i];
        *place_of(w) = (struct place){.free_at = w->begun + w->instructions * GCN_CYCLES + w->waited};
    }
    pthread_cond_broadcast(&slots_released);
    pthread_mutex_unlock(&lock);
}
