/* Sums costs of waits. See stall_costs.h. */
#include "probing/stall_costs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm/segment_reader.h"
#include "text/text.h"

static void add_copy_waits(struct rtl_stall_costs *s, const struct rtl_probe_patch *patch,
                           const struct rtl_probe_state *state)
{
    uint64_t pair[RTL_PROBE_UNITS] = {0};
    for (uint32_t i = 0; i < rtl_probe_units(state); i++) /* add up all dies */
        pair[i % RTL_PROBE_UNITS] = rtl_plus(pair[i % RTL_PROBE_UNITS], rtl_probe_busy(state, i));
    s->copies++;
    s->clock_cycles = rtl_plus(s->clock_cycles, pair[0]);
    s->clock_passes = rtl_plus(s->clock_passes, pair[1]);
    for (uint32_t i = 0; i < patch->timed; i++) {
        struct rtl_probe_stall *w = &s->wait[s->timed++];
        *w = (struct rtl_probe_stall){
            .place = patch->wait[i], .known = state->waves != 0, .cycles = pair[2 * i + 2], .passes = pair[2 * i + 3]};
        if (w->known && state->sum)
            w->share = w->cycles < state->sum ? (double)w->cycles / (double)state->sum : 1;
        if (w->passes)
            w->mean = (double)w->cycles / (double)w->passes;
    }
}

bool rtl_stall_costs_add(struct rtl_stall_costs *s, const struct rtl_probe_patch *patch,
                         const struct rtl_probe_state *state)
{
    if (!patch->timed || patch->timed > RTL_STUB_WAITS_MAX || (s->wait && patch->waits != s->waits) ||
        patch->timed > patch->waits - s->timed)
        return false;
    if (!s->wait && !(s->wait = calloc(patch->waits, sizeof *s->wait)))
        return false;
    s->waits = patch->waits;
    s->rounds = patch->rounds;
    if (state->recorded)
        add_copy_waits(s, patch, state);
    s->dispatches = rtl_plus(s->dispatches, state->dispatches);
    s->recorded = rtl_plus(s->recorded, state->recorded);
    s->duration_total_ns = rtl_plus(s->duration_total_ns, state->duration_total_ns);
    s->waves = rtl_plus(s->waves, state->waves);
    s->waves_expected = rtl_plus(s->waves_expected, state->waves_expected);
    return true;
}

static int hotter_first(const void *a, const void *b)
{
    const struct rtl_probe_stall *x = a, *y = b;
    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return x->place.at < y->place.at ? -1 : x->place.at > y->place.at;
}

void rtl_stall_costs_rank(struct rtl_stall_costs *s)
{
    if (s->timed)
        qsort(s->wait, s->timed, sizeof *s->wait, hotter_first);
}

void rtl_stall_costs_free(struct rtl_stall_costs *s)
{
    free(s->wait);
    s->wait = NULL;
}

struct rtl_stall_costs_missing rtl_stall_costs_missing(const struct rtl_stall_costs *s)
{
    struct rtl_stall_costs_missing m = {""};
    if (s->copies && s->copies + 1 == s->rounds)
        snprintf(m.text, sizeof m.text, "copy %" PRIu32 " of %" PRIu32 " is missing: ", s->rounds, s->rounds);
    else if (s->copies && s->copies < s->rounds)
        snprintf(m.text, sizeof m.text, "copies %" PRIu32 " to %" PRIu32 " of %" PRIu32 " are missing: ", s->copies + 1,
                 s->rounds, s->rounds);
    return m;
}

struct rtl_stall_costs_progress rtl_stall_costs_progress(const struct rtl_stall_costs *s, uint32_t rounds,
                                                         uint64_t recorded, uint64_t wanted)
{
    rounds = rounds > s->rounds ? rounds : s->rounds ? s->rounds : 1;
    struct rtl_stall_costs_progress p = {s->copies * wanted + (recorded < wanted ? recorded : wanted), rounds * wanted};
    p.done = p.done < p.total ? p.done : p.total;
    return p;
}

double rtl_probe_clock_cycles(const struct rtl_stall_costs *s)
{
    return s->clock_passes ? (double)s->clock_cycles / (double)s->clock_passes : 0;
}

struct rtl_probe_wait_text rtl_probe_wait_text(uint32_t word)
{
    struct rtl_probe_wait_text t = {"s_waitcnt"};
    unsigned vm = (word & 15) | (word >> 14 & 3) << 4, exp = word >> 4 & 7, lgkm = word >> 8 & 15;
    if (vm < 63)
        rtl_text_append(t.text, sizeof t.text, " vmcnt(%u)", vm);
    if (exp < 7)
        rtl_text_append(t.text, sizeof t.text, " expcnt(%u)", exp);
    if (lgkm < 15)
        rtl_text_append(t.text, sizeof t.text, " lgkmcnt(%u)", lgkm);
    return t;
}
