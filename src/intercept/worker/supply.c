/* Creates and destroys signals as needed (supply.h). */
#include "intercept/worker/supply.h"

#include "intercept/track/queue_tracker.h"
#include "intercept/track/throttle.h"
#include "intercept/worker/collect.h"

enum { MOST = 2048 };                      /* created or destroyed in one round: completions wait meanwhile */
static const uint64_t SPAN = 10000000000u; /* ns; signals unused for one to two spans are destroyed */
static const uint64_t MOMENT = 50000;      /* ns between two steps of destruction while nothing is in flight */

void rtl_supply_begin(struct rtl_supply *supply, uint64_t now)
{
    *supply = (struct rtl_supply){.since = now, .peak_before = UINT32_MAX};
}

/* Double the signals if most are in flight and few are free. */
static bool grow_pool(const struct rtl_collector *collector, uint32_t created)
{
    struct rtl_pool *pool = collector->pool;
    uint32_t limit = atomic_load_explicit(&pool->limit, memory_order_acquire), numbers[64];
    if (created >= limit || 4 * rtl_pool_free_count(pool) >= created || 2 * rtl_collect_in_use(collector) <= created)
        return false;
    uint32_t more = created < MOST ? created : MOST;
    for (uint32_t got = 1; more && got; more -= got) {
        got = rtl_pool_make(pool, numbers, more < 64 ? more : 64);
        rtl_pool_return(pool, numbers, got);
    }
    return true;
}

/* Return the number of signals to keep if at most `most` were in flight. */
static uint32_t signals_to_keep(uint32_t most)
{
    uint32_t keep = 2 * most;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next)
        if (atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_LIVE)
            keep += RTL_SIGNALS_BATCH;
    return keep < RTL_SIGNALS_START ? RTL_SIGNALS_START : keep;
}

static bool is_excess(uint32_t created, uint32_t keep)
{
    return created > keep + keep / 2;
}

void rtl_supply_tend(struct rtl_supply *supply, struct rtl_collector *collector, uint64_t now)
{
    struct rtl_pool *pool = collector->pool;
    uint32_t created = atomic_load_explicit(&pool->created, memory_order_relaxed);
    if (supply->peak < collector->most)
        supply->peak = collector->most;
    collector->most = rtl_collect_in_use(collector);
    supply->grew = grow_pool(collector, created);
    if (supply->grew)
        supply->excess = 0;
    uint32_t n = supply->excess < MOST ? supply->excess : MOST;
    if (n)
        rtl_pool_destroy(pool, n, rtl_throttle_is_reading);
    supply->excess -= n;
    if (now - supply->since < SPAN)
        return;
    uint32_t keep = signals_to_keep(supply->peak > supply->peak_before ? supply->peak : supply->peak_before);
    if (supply->peak_before != UINT32_MAX && is_excess(created, keep))
        supply->excess = created - keep;
    atomic_store_explicit(&pool->refused, false, memory_order_relaxed);
    supply->peak_before = supply->peak;
    supply->peak = collector->most;
    supply->since = now;
}

uint64_t rtl_supply_due(const struct rtl_supply *supply, const struct rtl_collector *collector, uint64_t now)
{
    if (supply->excess)
        return MOMENT;
    if (!is_excess(atomic_load_explicit(&collector->pool->created, memory_order_relaxed), signals_to_keep(0)))
        return UINT64_MAX;
    return now - supply->since < SPAN ? supply->since + SPAN - now : MOMENT;
}
