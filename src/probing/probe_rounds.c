/* Runs one probe after another until each wait is timed. See probe_rounds.h. */
#include "probing/probe_rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/code_object.h"
#include "shm/process.h"
#include "text/disassembly.h"

/* The instructions before the waits of one copy. Blocks never move: waits point into them. */
struct wait_lines {
    struct wait_lines *older;
    struct rtl_stall_before of[RTL_STUB_WAITS_MAX];
};

struct rtl_probe_rounds {
    struct rtl_reader *reader;
    pid_t pid;
    char *kernel;
    struct rtl_probe_wish wish;         /* of the round */
    struct rtl_probe_session *session;  /* of the round */
    struct rtl_probe_session *previous; /* of the round before, until this one has recorded something; or NULL */
    bool over;
    bool stops; /* rtl_probe_rounds_stop was called */
    uint64_t began_ns, total_ns;
    enum rtl_reader_status refused; /* the next round could not be opened */
    struct rtl_probe_plan plan;     /* of the round that ended last */
    char reason[400];               /* why all is over */
    struct rtl_stall_costs done;    /* of the rounds that are over */
    struct wait_lines *lines;       /* newest first */
    bool read;                      /* the newest lines are this round's, */
    uint32_t target;                /* read for this target of the plan */
    uint32_t room;                  /* waits that the sum has room for */
    struct rtl_probe_told told;
    struct rtl_stalls_report stalls;
};

static enum rtl_reader_status open_round(struct rtl_probe_rounds *r, const struct rtl_snapshot *snapshot, char *why,
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
    r->total_ns = wish->total_ns;
    if ((status = open_round(r, snapshot, why, why_bytes))) {
        rtl_probe_rounds_free(r);
        return status;
    }
    *rounds = r;
    return RTL_READER_OK;
}

/* --- results --- */

static bool has_recorded(const struct rtl_probe_session *s)
{
    return s && s->probing.counted && s->probing.state.recorded;
}

/* The running copy has numbers of waits. */
static bool has_more(const struct rtl_probe_rounds *r)
{
    const struct rtl_probe_session *s = r->session;
    return has_recorded(s) && s->patch.code && s->patch.timed <= RTL_STUB_WAITS_MAX;
}

_Static_assert((int)RTL_STALL_WHY == RTL_DISASSEMBLY_WHY, "no_lines has a disassembly's reason");

static struct rtl_disassembly *open_disassembly(uint32_t machine, char why[RTL_STALL_WHY])
{
    if (machine == RTL_CODE_GFX942)
        return rtl_disassembly_open("gfx942", why);
    return rtl_disassembly_open(machine == RTL_CODE_GFX90A ? "gfx90a" : "gfx906", why);
}

/* Find the session's original code: the bytes from the kernel's entry on; 0: not known. */
static size_t find_entry(const struct rtl_probe_session *session, const uint8_t **entry, uint32_t *machine)
{
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(session);
    struct rtl_code_object code;
    struct rtl_kernel_descriptor descriptor;
    uint64_t address;
    if (!original || rtl_code_open(&code, original->bytes, original->size) ||
        !rtl_code_find_kernel(&code, session->wish.kernel, &address) ||
        rtl_code_at(&code, address, false, entry) < sizeof descriptor)
        return 0;
    memcpy(&descriptor, *entry, sizeof descriptor);
    *machine = code.flags & RTL_CODE_MACHINE;
    return rtl_code_at(&code, address + (uint64_t)descriptor.entry, true, entry);
}

/* Disassemble the instructions before each wait, once a round, and again if the plan moves to another target. The text
 * outlives the session, which owns the code. */
static void read_lines(struct rtl_probe_rounds *r)
{
    const struct rtl_probe_patch *patch = &r->session->patch;
    const uint8_t *entry;
    uint32_t machine = 0;
    if (!has_more(r) || (r->read && r->target == r->session->probing.target))
        return;
    r->target = r->session->probing.target;
    size_t bytes = find_entry(r->session, &entry, &machine);
    struct wait_lines *b = calloc(1, sizeof *b);
    snprintf(r->stalls.no_lines, sizeof r->stalls.no_lines, "%s", b ? "its code is not known" : "out of memory");
    struct rtl_disassembly *d = b && bytes ? open_disassembly(machine, r->stalls.no_lines) : NULL;
    r->read = b != NULL;
    if (b) {
        b->older = r->lines;
        r->lines = b;
    }
    for (uint32_t i = 0; d && i < patch->timed; i++) {
        struct rtl_stall_before *before = &b->of[i];
        uint32_t at = patch->wait[i].from, end = patch->wait[i].at, size = 1;
        for (; size && at < end && end <= bytes && before->count < RTL_STALL_BEFORE; at += size) {
            size = rtl_disassemble(d, entry + at, end - at, before->text[before->count], RTL_STALL_LINE);
            before->count += size != 0;
        }
    }
    rtl_disassembly_close(d);
}

/* Connect this round's waits, the last ones of the sum, with their lines. */
static void connect_lines(const struct rtl_probe_rounds *r, struct rtl_stall_costs *s)
{
    uint32_t count = r->session->patch.timed;
    for (uint32_t i = 0; r->read && has_more(r) && i < count; i++)
        s->wait[s->timed - count + i].before = &r->lines->of[i];
}

/* Sum up the rounds that are over and, if `running`, the numbers of the running copy. */
static void sum_up(struct rtl_probe_rounds *r, bool running)
{
    struct rtl_stall_costs *sum = &r->stalls.sum, all = r->done;
    const struct rtl_probe_patch *patch = running && has_more(r) ? &r->session->patch : NULL;
    uint32_t waits = patch && patch->waits > r->done.waits ? patch->waits : r->done.waits;
    if (!waits || !rtl_grow(&sum->wait, &r->room, waits, sizeof *sum->wait))
        return;
    all.wait = sum->wait;
    all.waits = r->done.timed ? r->done.waits : waits;
    if (r->done.timed)
        memcpy(all.wait, r->done.wait, r->done.timed * sizeof *all.wait);
    if (patch && rtl_stall_costs_add(&all, patch, &r->session->probing.state))
        connect_lines(r, &all);
    *sum = all;
    rtl_stall_costs_rank(sum);
}

static void update_report(struct rtl_probe_rounds *r)
{
    struct rtl_probe_told *t = &r->told;
    rtl_probe_session_report(r->session, t);
    t->runs = true;
    t->over[0] = t->ended[0] = 0;
    read_lines(r);
    r->stalls.copy = r->wish.round + 1;
    r->stalls.wanted = r->wish.wanted;
    r->stalls.recorded = t->counted ? t->state.recorded : 0;
    sum_up(r, true);
}

/* `over`: the line on screen; `reason`: the same without its beginning. */
static bool end_all(struct rtl_probe_rounds *r, const char *over, const char *reason, const char *word)
{
    snprintf(r->told.over, sizeof r->told.over, "%s%s", over, over[strlen(over) - 1] == ' ' ? reason : "");
    snprintf(r->told.ended, sizeof r->told.ended, "%s", word);
    snprintf(r->told.stage, sizeof r->told.stage, "over");
    snprintf(r->reason, sizeof r->reason, "%s", reason);
    r->told.runs = false;
    r->over = true;
    if (r->previous && !has_recorded(r->session)) { /* keep the one that the numbers are from */
        rtl_probe_session_close(r->session);
        r->session = r->previous;
        r->previous = NULL;
    }
    return false;
}

#define ENDED "the probe ended: "

/* --- step by step --- */

/* The previous session stays open: the next one looks for its code. */
static bool next_round(struct rtl_probe_rounds *r, uint64_t now)
{
    struct rtl_snapshot snapshot = {0};
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(r->session);
    char why[512] = "the segment can't be read", reason[400];
    uint64_t spent = now - r->began_ns;
    r->wish.round++;
    r->wish.like = rtl_probe_session_original(r->session);
    r->wish.gpu = gpu ? (int)(gpu - r->session->gpus) : r->wish.gpu;
    if (r->total_ns)
        r->wish.total_ns = spent < r->total_ns ? r->total_ns - spent : 1;
    rtl_probe_session_close(r->previous); /* only if this round recorded nothing */
    r->previous = r->session;
    r->session = NULL;
    enum rtl_reader_status status = rtl_reader_snapshot(r->reader, &snapshot);
    if (!status)
        status = open_round(r, &snapshot, why, sizeof why);
    rtl_snapshot_free(&snapshot);
    if (!status)
        return true;
    if (rtl_reader_alive(r->reader)) {
        r->refused = status;
        return end_all(r, why, why, "refused");
    }
    r->plan = (struct rtl_probe_plan){.over = RTL_PROBING_EXITED}; /* which is why nothing can be opened */
    rtl_probe_plan_reason(&r->plan, reason, sizeof reason);
    return end_all(r, ENDED, reason, "exited");
}

static bool round_over(struct rtl_probe_rounds *r, uint64_t now)
{
    char reason[400], over[sizeof r->told.over];
    const struct rtl_probe_plan *plan = &r->plan;
    r->plan = r->session->probing;
    if (plan->counted && !rtl_stall_costs_add(&r->done, &r->session->patch, &plan->state)) {
        r->refused = RTL_READER_USAGE;
        return end_all(r, ENDED, "out of memory", "no_memory");
    }
    if (plan->counted)
        connect_lines(r, &r->done);
    sum_up(r, false);
    if (has_recorded(r->session)) {
        rtl_probe_session_close(r->previous);
        r->previous = NULL;
    }
    bool done = rtl_probe_plan_is_done(plan), last = r->wish.round + 1 >= r->session->patch.rounds;
    if (done && !last && !r->stops)
        return next_round(r, now);
    if (done && !last) {
        r->plan.over = RTL_PROBING_STOPPED; /* the copies that follow are missing */
        return end_all(r, ENDED, "it was stopped", "stopped");
    }
    if (done)
        return end_all(r, ENDED, "each wait was timed", "done");
    rtl_probe_plan_text(plan, over, sizeof over);
    rtl_probe_plan_reason(plan, reason, sizeof reason);
    return end_all(r, over, reason, rtl_probe_plan_word(plan));
}

bool rtl_probe_rounds_step(struct rtl_probe_rounds *r, bool alive, uint64_t now)
{
    if (r->over)
        return false;
    r->began_ns = r->began_ns ? r->began_ns : now;
    bool goes_on = rtl_probe_session_step(r->session, alive, now);
    update_report(r);
    return goes_on || round_over(r, now);
}

void rtl_probe_rounds_stop(struct rtl_probe_rounds *r, uint64_t now)
{
    r->stops = true;
    if (!r->over)
        rtl_probe_session_stop(r->session, now);
}

void rtl_probe_rounds_end(struct rtl_probe_rounds *r)
{
    if (!r->over)
        end_all(r, ENDED, "it was stopped", "stopped");
    rtl_probe_session_close(r->session);
    rtl_probe_session_close(r->previous);
    r->session = r->previous = NULL;
}

void rtl_probe_rounds_free(struct rtl_probe_rounds *r)
{
    if (!r)
        return;
    rtl_probe_session_close(r->session);
    rtl_probe_session_close(r->previous);
    for (struct wait_lines *b = r->lines, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    rtl_stall_costs_free(&r->done);
    rtl_stall_costs_free(&r->stalls.sum);
    free(r->kernel);
    free(r);
}

void rtl_probe_rounds_report(const struct rtl_probe_rounds *r, struct rtl_probe_told *told)
{
    *told = r->told;
}

const struct rtl_stalls_report *rtl_probe_rounds_stalls(const struct rtl_probe_rounds *r)
{
    return &r->stalls;
}

struct rtl_stall_costs_progress rtl_probe_rounds_progress(const struct rtl_probe_rounds *r)
{
    const struct rtl_probe_session *s = r->session;
    return rtl_stall_costs_progress(&r->done, s->patch.rounds, s->probing.counted ? s->probing.state.recorded : 0,
                                    r->wish.wanted);
}

void rtl_probe_rounds_ending(const struct rtl_probe_rounds *r, struct rtl_probe_rounds_ending *ending)
{
    struct rtl_stall_costs_missing missing = rtl_stall_costs_missing(&r->done);
    *ending = (struct rtl_probe_rounds_ending){.session = r->session, .refused = r->refused, .plan = r->plan};
    if (*missing.text)
        snprintf(ending->why, sizeof ending->why, "%s%s", missing.text, r->reason);
    else
        snprintf(ending->why, sizeof ending->why, "%s", r->told.over);
}
