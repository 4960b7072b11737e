/*
 * slots.c - which wave slots of a compute unit a workgroup's waves have, and from when on.
 *
 * A slot runs one wave after another. A workgroup begins when all of its waves have one: those that have been free the
 * longest, a moment after the last of them was free, at the earliest when the dispatch begins. That is in cycles of the
 * counted clock; a slot of a workgroup that a thread still runs is no other workgroup's. But for two cases: where
 * nobody counts, or where workgroups that have all of them wait for this one.
 */
#include "wave.h"

#include <pthread.h>
#include <time.h>

enum { SIMDS = 4, SIMD_SLOTS = 16, LATENCY = 40 };

/* under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static struct place {
    uint64_t free_at; /* from the dispatch's beginning on; 0: it had no wave so far */
    bool taken;
} slots[GCN_UNITS][SIMDS][SIMD_SLOTS];
static bool used[GCN_UNITS]; /* in this dispatch */

void gcn_slots_begin(void)
{
    for (unsigned unit = 0; unit < GCN_UNITS; unit++)
        if (used[unit])
            memset(slots[unit], 0, sizeof slots[unit]);
    memset(used, 0, sizeof used);
}

void gcn_slots_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&given, NULL);
}

static struct place *place_of(uint32_t hw_id)
{
    return &slots[hw_id >> 8 & 0xff][hw_id >> 4 & 3][hw_id & 15];
}

/* the one of a SIMD that was free first; below 0: all are taken, and `shared` is false */
static int free_slot(const struct gcn_launch *g, unsigned unit, unsigned simd, bool shared)
{
    int best = -1, count = g->target == GCN_GFX90A ? 8 : 10;
    for (int i = 0; i < count; i++) {
        const struct place *p = &slots[unit][simd][i];
        if ((shared || !p->taken) && (best < 0 || p->free_at < slots[unit][simd][best].free_at))
            best = i;
    }
    return best;
}

/* false: there isn't one for each, and none is taken */
static bool take(const struct gcn_launch *g, unsigned unit, unsigned first, struct gcn_wave **waves, unsigned count,
                 bool shared)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned simd = (first + i) % SIMDS;
        int slot = free_slot(g, unit, simd, shared);
        if (slot < 0) {
            while (i--)
                place_of(waves[i]->hw_id)->taken = false;
            return false;
        }
        /* the register HW_ID: slot 0 to 3, SIMD 4 and 5, unit 8 to 11, engine 13 to 15 */
        waves[i]->hw_id = (uint32_t)slot | simd << 4 | (uint32_t)unit << 8;
        place_of(waves[i]->hw_id)->taken = true;
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

void gcn_slots_take(const struct gcn_launch *g, uint64_t group, struct gcn_wave **waves, unsigned count)
{
    unsigned engines = g->engines ? g->engines : 1, units = g->units ? g->units : 1, n = (unsigned)(group % units);
    unsigned unit = (n / engines & 15) | (n % engines & 7) << 5;
    uint64_t begin = 0;
    pthread_mutex_lock(&lock);
    used[unit] = true;
    bool shared = !g->account;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (!take(g, unit, (unsigned)(group / units % SIMDS) * count, waves, count, shared))
        shared = pthread_cond_timedwait(&given, &lock, &until) != 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t free_at = place_of(waves[i]->hw_id)->free_at;
        begin = free_at > begin ? free_at : begin;
    }
    if (begin)
        begin += LATENCY + (group * 2654435761u >> 7) % 997; /* of any length, but the same each time */
    for (unsigned i = 0; i < count; i++) {
        uint64_t free_at = place_of(waves[i]->hw_id)->free_at;
        waves[i]->begun = begin;
        if (free_at && g->account)
            account_gap(g->account, unit, begin - free_at);
    }
    pthread_mutex_unlock(&lock);
}

void gcn_slots_give(struct gcn_wave **waves, unsigned count)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count; i++) {
        const struct gcn_wave *w = waves[i];
        *place_of(w->hw_id) = (struct place){.free_at = w->begun + w->instructions * GCN_CYCLES + w->waited};
    }
    pthread_cond_broadcast(&given);
    pthread_mutex_unlock(&lock);
}
