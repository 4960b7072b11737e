/* One probe after another, until each wait was timed. See probe_rounds.h. */
#include "probing/probe_rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/hash.h"
#include "shm/process.h"

static uint64_t hash_of_original(const struct rtl_probe_session *s)
{
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(s);
    return original ? rtl_hash(original->bytes, original->size) : 0;
}

enum rtl_probe_round rtl_probe_round_over(struct rtl_stall_costs *stalls, const struct rtl_probe_session *session,
                                          uint64_t *hash, struct rtl_probe_wish *wish)
{
    const struct rtl_probe_plan *probing = &session->probing;
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(session);
    uint64_t code = hash_of_original(session);
    bool same = !wish->round || code == *hash;
    *hash = code;
    if (probing->counted && (!same || !rtl_stall_costs_add(stalls, &session->patch, &probing->state)))
        return RTL_PROBE_ROUND_MIXED;
    if (!rtl_probe_plan_is_done(probing) || wish->round + 1 >= session->patch.rounds)
        return RTL_PROBE_ROUND_LAST;
    wish->gpu = gpu ? (int)(gpu - session->gpus) : wish->gpu;
    wish->round++;
    return RTL_PROBE_ROUND_NEXT;
}

/* The instructions before the waits of one copy: they stay where they are, waits point to them. */
struct block {
    struct block *older;
    struct rtl_stall_before of[RTL_STUB_WAITS_MAX];
};

struct rtl_probe_rounds {
    struct rtl_reader *reader;
    pid_t pid;
    char *kernel;
    struct rtl_probe_wish wish;        /* of the round */
    struct rtl_probe_session *session; /* NULL: all is over */
    bool stops;                        /* was told to */
    uint64_t hash;
    struct rtl_stall_costs done; /* of the rounds that are over */
    struct block *blocks;
    bool read;       /* the newest of them is this round's, and of */
    uint32_t target; /* what the probe was about then */
    uint32_t room;   /* waits that the sum has room for */
    struct rtl_probe_told told;
    struct rtl_stalls_told stalls;
};

static enum rtl_reader_status begin(struct rtl_probe_rounds *r, const struct rtl_snapshot *snapshot, char *why,
                                    size_t why_bytes)
{
    r->read = false;
    return rtl_probe_session_open(r->reader, r->pid, snapshot, &r->wish, &r->session, why, why_bytes);
}

enum rtl_reader_status rtl_probe_rounds_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                             const struct rtl_probe_wish *wish, struct rtl_probe_rounds **rounds,
                                             char *why, size_t why_bytes)
{
    struct rtl_probe_rounds *r = calloc(1, sizeof *r);
    enum rtl_reader_status status;
    *rounds = NULL;
    if (!r || !(r->kernel = strdup(wish->kernel))) {
        free(r);
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    }
    r->reader = reader;
    r->pid = pid;
    r->wish = *wish;
    r->wish.kernel = r->kernel;
    r->wish.waits = true;
    r->wish.round = 0;
    r->wish.wanted = wish->wanted ? wish->wanted : RTL_PROBE_ROUND_WANTED;
    if ((status = begin(r, snapshot, why, why_bytes))) {
        rtl_probe_rounds_free(r);
        return status;
    }
    *rounds = r;
    return RTL_READER_OK;
}

/* --- what there is to tell --- */

/* The copy that runs has numbers. */
static bool has_more(const struct rtl_probe_rounds *r)
{
    const struct rtl_probe_session *s = r->session;
    return s && s->patch.code && s->patch.timed <= RTL_STUB_WAITS_MAX && s->probing.counted &&
           s->probing.state.recorded;
}

/* Once a round, or once more where another kernel of that name is meant: with its session the code goes. */
static void read_lines(struct rtl_probe_rounds *r)
{
    const struct rtl_probe_patch *patch = &r->session->patch;
    if (!has_more(r) || (r->read && r->target == r->session->probing.target))
        return;
    r->target = r->session->probing.target;
    struct rtl_stall_lines *lines = rtl_stall_lines_open(r->session, r->stalls.no_lines);
    struct block *b = calloc(1, sizeof *b);
    r->read = b != NULL;
    if (b) {
        b->older = r->blocks;
        r->blocks = b;
    }
    for (uint32_t i = 0; b && i < patch->timed; i++)
        b->of[i].count = rtl_stall_lines(lines, &patch->wait[i], b->of[i].text);
    rtl_stall_lines_close(lines);
}

/* The last ones that were added are this round's. */
static void point(const struct rtl_probe_rounds *r, struct rtl_stall_costs *s)
{
    uint32_t count = r->session->patch.timed;
    for (uint32_t i = 0; r->read && has_more(r) && i < count; i++)
        s->wait[s->timed - count + i].before = &r->blocks->of[i];
}

/* What is done, and what the copy that runs has so far. */
static void put_together(struct rtl_probe_rounds *r)
{
    const struct rtl_probe_patch *patch = r->session ? &r->session->patch : NULL;
    struct rtl_stall_costs *sum = &r->stalls.sum, all = r->done;
    bool more = has_more(r);
    uint32_t waits = more && patch->waits > r->done.waits ? patch->waits : r->done.waits;
    if (waits > r->room) {
        struct rtl_probe_stall *wait = realloc(sum->wait, waits * sizeof *wait);
        if (!wait)
            return;
        sum->wait = wait;
        r->room = waits;
    }
    if (!waits)
        return;
    all.wait = sum->wait;
    all.waits = r->done.timed ? r->done.waits : waits;
    if (r->done.timed)
        memcpy(all.wait, r->done.wait, r->done.timed * sizeof *all.wait);
    if (more && rtl_stall_costs_add(&all, patch, &r->session->probing.state))
        point(r, &all);
    *sum = all;
    rtl_stall_costs_rank(sum);
}

static void tell(struct rtl_probe_rounds *r)
{
    struct rtl_probe_told *t = &r->told;
    rtl_probe_session_tell(r->session, t);
    t->runs = true;
    t->over[0] = t->ended[0] = 0;
    read_lines(r);
    r->stalls.copy = r->wish.round + 1;
    r->stalls.wanted = r->wish.wanted;
    r->stalls.recorded = t->counted ? t->state.recorded : 0;
    put_together(r);
}

static bool end(struct rtl_probe_rounds *r, const char *why, const char *word)
{
    snprintf(r->told.over, sizeof r->told.over, "%s", why);
    snprintf(r->told.ended, sizeof r->told.ended, "%s", word);
    snprintf(r->told.stage, sizeof r->told.stage, "over");
    r->told.runs = false;
    rtl_probe_session_close(r->session);
    r->session = NULL;
    return false;
}

/* --- step by step --- */

static bool next_round(struct rtl_probe_rounds *r)
{
    struct rtl_snapshot snapshot = {0};
    char why[512] = "the segment can't be read";
    rtl_probe_session_close(r->session);
    r->session = NULL;
    enum rtl_reader_status status = rtl_reader_snapshot(r->reader, &snapshot);
    if (!status)
        status = begin(r, &snapshot, why, sizeof why);
    rtl_snapshot_free(&snapshot);
    if (status && !rtl_reader_alive(r->reader)) /* which is why there is nothing to be opened */
        return end(r, "the probe ended: the process has exited", "exited");
    return !status || end(r, why, "refused");
}

static bool round_over(struct rtl_probe_rounds *r)
{
    char why[sizeof r->told.over];
    const struct rtl_probe_plan *probing = &r->session->probing;
    enum rtl_probe_round next = rtl_probe_round_over(&r->done, r->session, &r->hash, &r->wish);
    if (next == RTL_PROBE_ROUND_MIXED) {
        end(r, "the probe ended: " RTL_PROBE_MIXED_TEXT, "reloaded");
        put_together(r); /* without the other one's */
        return false;
    }
    if (probing->counted)
        point(r, &r->done);
    if (next == RTL_PROBE_ROUND_NEXT && !r->stops)
        return next_round(r);
    if (next == RTL_PROBE_ROUND_NEXT)
        return end(r, "the probe ended: it was stopped", "stopped");
    if (rtl_probe_plan_is_done(probing))
        return end(r, "the probe ended: each wait was timed", "done");
    rtl_probe_plan_text(probing, why, sizeof why);
    return end(r, why, rtl_probe_plan_word(probing));
}

bool rtl_probe_rounds_step(struct rtl_probe_rounds *r, bool alive, uint64_t now)
{
    if (!r->session)
        return false;
    bool goes_on = rtl_probe_session_step(r->session, alive, now);
    tell(r);
    return goes_on || round_over(r);
}

void rtl_probe_rounds_stop(struct rtl_probe_rounds *r, uint64_t now)
{
    r->stops = true;
    if (r->session)
        rtl_probe_session_stop(r->session, now);
}

void rtl_probe_rounds_end(struct rtl_probe_rounds *r)
{
    if (r->session)
        end(r, "the probe ended: it was stopped", "stopped");
}

void rtl_probe_rounds_free(struct rtl_probe_rounds *r)
{
    if (!r)
        return;
    rtl_probe_session_close(r->session);
    for (struct block *b = r->blocks, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    rtl_stall_costs_free(&r->done);
    rtl_stall_costs_free(&r->stalls.sum);
    free(r->kernel);
    free(r);
}

void rtl_probe_rounds_tell(const struct rtl_probe_rounds *r, struct rtl_probe_told *told)
{
    *told = r->told;
}

const struct rtl_stalls_told *rtl_probe_rounds_stalls(const struct rtl_probe_rounds *r)
{
    return &r->stalls;
}
