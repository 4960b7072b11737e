/* Who has nothing to be observed, so far. See refusals.h. */
#include "watch/attach_backoff.h"
#include "base/array.h"
#include "base/clock.h"

enum { GROWS = 4, SHARE = 20 };                                                 /* of the time, all of them together */
static const uint64_t PAUSE_FIRST_NS = 4000000000, PAUSE_LAST_NS = 32000000000; /* of one of them */
static const uint64_t ROUND_NS = 250000000, ROUNDS_PAUSE_NS = 10000000000; /* longer than that nobody waits at once */

static struct rtl_attach_attempt *find(const struct rtl_attach_backoff *r, const struct rtl_proc_entry *p)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->list[i].pid == p->pid && r->list[i].start_time == p->start_time)
            return &r->list[i];
    return NULL;
}

static bool is_present(const struct rtl_proc_entry *present, uint32_t count, const struct rtl_attach_attempt *refusal)
{
    const struct rtl_proc_entry *p = rtl_proc_find(present, count, refusal->pid);
    return p && p->start_time == refusal->start_time;
}

void rtl_attach_backoff_begin(struct rtl_attach_backoff *r, const struct rtl_proc_entry *present, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (is_present(present, count, &r->list[i]))
            r->list[kept++] = r->list[i];
    r->count = kept;
    r->spent_ns = 0;
}

bool rtl_attach_backoff_allows(const struct rtl_attach_backoff *r, const struct rtl_proc_entry *p, uint64_t now_ns)
{
    if (now_ns < r->again_ns || r->spent_ns >= ROUND_NS)
        return false;
    const struct rtl_attach_attempt *refusal = find(r, p);
    return !refusal || now_ns >= refusal->again_ns;
}

static struct rtl_attach_attempt *add(struct rtl_attach_backoff *r, const struct rtl_proc_entry *p)
{
    if (!rtl_grow(&r->list, &r->room, r->count + 1, sizeof *r->list))
        return NULL;
    r->list[r->count] = (struct rtl_attach_attempt){.pid = p->pid, .start_time = p->start_time};
    return &r->list[r->count++];
}

void rtl_attach_backoff_record(struct rtl_attach_backoff *r, const struct rtl_proc_entry *p, bool in_vain,
                               uint64_t from_ns, uint64_t now_ns)
{
    struct rtl_attach_attempt *refusal = find(r, p);
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

void rtl_attach_backoff_ended(struct rtl_attach_backoff *r, const struct rtl_proc_entry *p,
                              const struct rtl_attach *source)
{
    struct rtl_attach_attempt *refusal = find(r, p);
    if (!refusal && !(refusal = add(r, p)))
        return;
    refusal->ended = source->reader ? rtl_reader_number(source->reader) : 0;
    refusal->again_ns = rtl_mono_ns() + PAUSE_FIRST_NS; /* what is left of it by then is another program */
}

bool rtl_attach_backoff_try(struct rtl_attach_backoff *r, const struct rtl_options *o, const struct rtl_proc_entry *p,
                            bool now, struct rtl_attach *source)
{
    if (rtl_attach_try_traced(o, p->pid, p->start_time, source)) {
        const struct rtl_attach_attempt *known = find(r, p);
        if (!known || !known->ended || rtl_reader_number(source->reader) != known->ended)
            return true;
        rtl_attach_close(source);
        return false;
    }
    uint64_t from = rtl_mono_ns();
    if ((!now && !rtl_attach_backoff_allows(r, p, from)) || !rtl_attach_is_observable(o, p->pid))
        return false;
    bool there = rtl_attach_try_observed(o, p->pid, p->start_time, source);
    rtl_attach_backoff_record(r, p, !there, from, rtl_mono_ns());
    return there;
}

void rtl_attach_backoff_free(struct rtl_attach_backoff *r)
{
    free(r->list);
    *r = (struct rtl_attach_backoff){0};
}
