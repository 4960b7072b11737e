/* The back-off of attaching. See attach_backoff.h. */
#include "watch/attach_backoff.h"
#include "base/array.h"
#include "base/clock.h"

enum { GROWS = 4, SHARE = 20 }; /* 1 / SHARE: the share of time that all attempts may take */
static const uint64_t PAUSE_FIRST_NS = 4000000000, PAUSE_LAST_NS = 32000000000; /* of one process */
static const uint64_t ROUND_NS = 250000000, ROUNDS_PAUSE_NS = 10000000000;      /* limits the delay of one round */

static struct rtl_attach_attempt *find_attempt(const struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *p)
{
    for (uint32_t i = 0; i < backoff->count; i++)
        if (backoff->list[i].pid == p->pid && backoff->list[i].start_time == p->start_time)
            return &backoff->list[i];
    return NULL;
}

void rtl_attach_backoff_begin_round(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *present,
                                    uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < backoff->count; i++) {
        const struct rtl_proc_entry *p = rtl_proc_find(present, count, backoff->list[i].pid);
        if (p && p->start_time == backoff->list[i].start_time)
            backoff->list[kept++] = backoff->list[i];
    }
    backoff->count = kept;
    backoff->spent_ns = 0;
}

bool rtl_attach_backoff_allows(const struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *p,
                               uint64_t now_ns)
{
    if (now_ns < backoff->again_ns || backoff->spent_ns >= ROUND_NS)
        return false;
    const struct rtl_attach_attempt *attempt = find_attempt(backoff, p);
    return !attempt || now_ns >= attempt->again_ns;
}

static struct rtl_attach_attempt *add_attempt(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *p)
{
    if (!rtl_grow(&backoff->list, &backoff->room, backoff->count + 1, sizeof *backoff->list))
        return NULL;
    backoff->list[backoff->count] = (struct rtl_attach_attempt){.pid = p->pid, .start_time = p->start_time};
    return &backoff->list[backoff->count++];
}

void rtl_attach_backoff_record(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *p, bool in_vain,
                               uint64_t from_ns, uint64_t now_ns)
{
    struct rtl_attach_attempt *attempt = find_attempt(backoff, p);
    uint64_t took = now_ns - from_ns, pause;
    backoff->spent_ns += took;
    if (backoff->spent_ns >= ROUND_NS) {
        pause = backoff->spent_ns * SHARE;
        backoff->again_ns = now_ns + (pause < ROUNDS_PAUSE_NS ? pause : ROUNDS_PAUSE_NS);
    }
    if (!in_vain || (!attempt && !(attempt = add_attempt(backoff, p))))
        return;
    pause = attempt->pause_ns ? GROWS * attempt->pause_ns : PAUSE_FIRST_NS;
    attempt->pause_ns = pause < PAUSE_LAST_NS ? pause : PAUSE_LAST_NS;
    pause = 2 * SHARE * took * backoff->count; /* leaves time for an attempt on each */
    attempt->again_ns = now_ns + (pause > attempt->pause_ns ? pause : attempt->pause_ns);
}

void rtl_attach_backoff_note_end(struct rtl_attach_backoff *backoff, const struct rtl_proc_entry *p,
                                 const struct rtl_attach *attach)
{
    struct rtl_attach_attempt *attempt = find_attempt(backoff, p);
    if (!attempt && !(attempt = add_attempt(backoff, p)))
        return;
    attempt->ended = attach->reader ? rtl_reader_number(attach->reader) : 0;
    attempt->again_ns =
        rtl_mono_ns() + PAUSE_FIRST_NS; /* after that pause, the process has either gone or runs another program */
}

bool rtl_attach_backoff_try(struct rtl_attach_backoff *backoff, const struct rtl_options *o,
                            const struct rtl_proc_entry *p, bool now, struct rtl_attach *attach)
{
    if (rtl_attach_try_traced(o, p->pid, p->start_time, attach)) {
        const struct rtl_attach_attempt *known = find_attempt(backoff, p);
        if (!known || !known->ended || rtl_reader_number(attach->reader) != known->ended)
            return true;
        rtl_attach_close(attach);
        return false;
    }
    uint64_t from = rtl_mono_ns();
    if ((!now && !rtl_attach_backoff_allows(backoff, p, from)) || !rtl_attach_is_observable(o, p->pid))
        return false;
    bool there = rtl_attach_try_observed(o, p->pid, p->start_time, attach);
    rtl_attach_backoff_record(backoff, p, !there, from, rtl_mono_ns());
    return there;
}

void rtl_attach_backoff_free(struct rtl_attach_backoff *backoff)
{
    free(backoff->list);
    *backoff = (struct rtl_attach_backoff){0};
}
