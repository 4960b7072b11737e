/* Who has nothing to be observed, so far. See refusals.h. */
#include "session/refusals.h"
#include "base/clock.h"

#include <stdlib.h>

enum { GROWS = 4, SHARE = 20 };                                                 /* of the time, all of them together */
static const uint64_t PAUSE_FIRST_NS = 4000000000, PAUSE_LAST_NS = 32000000000; /* of one of them */
static const uint64_t ROUND_NS = 250000000, ROUNDS_PAUSE_NS = 10000000000; /* longer than that nobody waits at once */

static struct rtl_refusal *find(const struct rtl_refusals *r, const struct rtl_process_entry *p)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->list[i].pid == p->pid && r->list[i].start_time == p->start_time)
            return &r->list[i];
    return NULL;
}

static bool is_present(const struct rtl_process_entry *present, uint32_t count, const struct rtl_refusal *refusal)
{
    const struct rtl_process_entry *p = rtl_process_find(present, count, refusal->pid);
    return p && p->start_time == refusal->start_time;
}

void rtl_refusals_begin(struct rtl_refusals *r, const struct rtl_process_entry *present, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (is_present(present, count, &r->list[i]))
            r->list[kept++] = r->list[i];
    r->count = kept;
    r->spent_ns = 0;
}

bool rtl_refusals_may(const struct rtl_refusals *r, const struct rtl_process_entry *p, uint64_t now_ns)
{
    if (now_ns < r->again_ns || r->spent_ns >= ROUND_NS)
        return false;
    const struct rtl_refusal *refusal = find(r, p);
    return !refusal || now_ns >= refusal->again_ns;
}

static struct rtl_refusal *add(struct rtl_refusals *r, const struct rtl_process_entry *p)
{
    if (r->count == r->room) {
        uint32_t room = r->room ? 2 * r->room : 64;
        struct rtl_refusal *more = realloc(r->list, room * sizeof *more);
        if (!more)
            return NULL;
        r->list = more;
        r->room = room;
    }
    r->list[r->count] = (struct rtl_refusal){.pid = p->pid, .start_time = p->start_time};
    return &r->list[r->count++];
}

void rtl_refusals_looked(struct rtl_refusals *r, const struct rtl_process_entry *p, bool in_vain, uint64_t from_ns,
                         uint64_t now_ns)
{
    struct rtl_refusal *refusal = find(r, p);
    uint64_t took = now_ns - from_ns, pause;
    r->spent_ns += took;
    if (r->spent_ns >= ROUND_NS) {
        pause = r->spent_ns * SHARE;
        r->again_ns = now_ns + (pause < ROUNDS_PAUSE_NS ? pause : ROUNDS_PAUSE_NS);
    }
    if (!in_vain || (!refusal && !(refusal = add(r, p))))
        return;
    pause = refusal->pause_ns ? GROWS * refusal->pause_ns : PAUSE_FIRST_NS;
    refusal->pause_ns = pause < PAUSE_LAST_NS ? pause : PAUSE_LAST_NS;
    pause = 2 * SHARE * took * r->count; /* all of them have their turn */
    refusal->again_ns = now_ns + (pause > refusal->pause_ns ? pause : refusal->pause_ns);
}

void rtl_refusals_ended(struct rtl_refusals *r, const struct rtl_process_entry *p, const struct rtl_source *source)
{
    struct rtl_refusal *refusal = find(r, p);
    if (!refusal && !(refusal = add(r, p)))
        return;
    refusal->ended = source->reader ? rtl_reader_number(source->reader) : 0;
    refusal->again_ns = rtl_mono_ns() + PAUSE_FIRST_NS; /* what is left of it by then is another program */
}

bool rtl_refusals_try(struct rtl_refusals *r, const struct rtl_options *o, const struct rtl_process_entry *p, bool now,
                      struct rtl_source *source)
{
    if (rtl_source_try_traced(o, p->pid, p->start_time, source)) {
        const struct rtl_refusal *known = find(r, p);
        if (!known || !known->ended || rtl_reader_number(source->reader) != known->ended)
            return true;
        rtl_source_close(source);
        return false;
    }
    uint64_t from = rtl_mono_ns();
    if ((!now && !rtl_refusals_may(r, p, from)) || !rtl_source_is_observable(o, p->pid))
        return false;
    bool there = rtl_source_try_observed(o, p->pid, p->start_time, source);
    rtl_refusals_looked(r, p, !there, from, rtl_mono_ns());
    return there;
}

void rtl_refusals_free(struct rtl_refusals *r)
{
    free(r->list);
    *r = (struct rtl_refusals){0};
}
