/* Runs the state machine of a viewer's probe. See probe_plan.h. */
#include "probing/probe_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/patch.h"
#include "probe/stubs.h"

#define KEEP_ADVICE "--keep DIR keeps the code for who looks into it"

static const struct {
    const char *word, *text, *advice;
    bool another_time;
} overs[] = {
#define X(symbol, json, text, advice, another_time) {json, text, advice, another_time},
    RTL_PROBING_OVERS(X)
#undef X
};

/* The library's reasons by number. */
static const struct {
    const char *word, *text;
} whys[] = {
#define X(symbol, number, json, text) [number] = {json, text},
    RTL_PROBE_ENDS_WHY(X)
#undef X
};

static const char *const why_advice[RTL_PROBE_WHY_COUNT] = {
    [RTL_PROBE_WHY_QUEUE_ERROR] = "start it anew to probe it again",
    [RTL_PROBE_WHY_NO_BLOCK] = "free some of it",
    [RTL_PROBE_WHY_NOT_TIMED] = "have them timed: rtl-top mode -p PID default",
    [RTL_PROBE_WHY_NO_KERNEL] = "was it unloaded?",
    [RTL_PROBE_WHY_UNWATCHED] = "was rtl-top stopped meanwhile?",
    [RTL_PROBE_WHY_NOT_LOADED] = KEEP_ADVICE,
    [RTL_PROBE_WHY_BAD_CODE] = KEEP_ADVICE,
    [RTL_PROBE_WHY_BAD_REQUEST] = KEEP_ADVICE,
};

uint32_t rtl_probe_plan_ends_shift(uint64_t duration_ns, uint64_t tick_hz)
{
    double ticks = (double)duration_ns * (double)tick_hz / 1e9 * RTL_PROBING_TICKS_SHOWN;
    uint32_t shift = 0;
    while (shift < RTL_STUB_ENDS_SHIFT_MAX && ldexp(RTL_PROBE_ENDS, (int)shift) < ticks)
        shift++;
    return shift;
}

uint32_t rtl_probe_plan_every(double per_second)
{
    enum { TENTH = 10, MOST = 100 };
    double every = ceil(per_second / MOST);
    return every > TENTH ? every < RTL_PROBE_EVERY_MAX ? (uint32_t)every : RTL_PROBE_EVERY_MAX : TENTH;
}

static void go_to(struct rtl_probe_plan *p, enum rtl_probe_plan_stage stage, uint64_t now)
{
    p->stage = stage;
    p->stage_ns = now;
}

void rtl_probe_plan_begin(struct rtl_probe_plan *p, const struct rtl_probe_plan_targets *plan, uint64_t now)
{
    *p = (struct rtl_probe_plan){.plan = *plan, .began_ns = now, .read_ns = now};
    go_to(p, RTL_PROBING_AT_FREE, now);
    if (!plan->targets)
        rtl_probe_plan_stop(p, RTL_PROBING_NO_CODE, now);
}

/* The library has to disarm first; until then numbers grow. */
void rtl_probe_plan_stop(struct rtl_probe_plan *p, enum rtl_probe_plan_over why, uint64_t now)
{
    if (p->over != RTL_PROBING_NOT)
        return;
    p->over = why;
    go_to(p, rtl_probe_plan_holds(p) ? RTL_PROBING_AT_DISARM : RTL_PROBING_AT_END, now);
    p->ask = RTL_PROBE_ASK_NOTHING;
}

static enum rtl_probe_plan_do end_plan(struct rtl_probe_plan *p, enum rtl_probe_plan_over why, uint64_t now)
{
    rtl_probe_plan_stop(p, why, now);
    return p->stage == RTL_PROBING_AT_END ? RTL_PROBING_DO_END : RTL_PROBING_DO_WAIT;
}

/* The library has ended or refused the probe: no DISARM is needed. */
static enum rtl_probe_plan_do ended_by_library(struct rtl_probe_plan *p, const struct rtl_probe_state *s, uint64_t now)
{
    p->why = s->why && s->why < RTL_PROBE_WHY_COUNT ? (enum rtl_probe_why)s->why : RTL_PROBE_WHY_COUNT;
    p->status = s->status;
    p->disarmed = s->phase == RTL_PROBE_PHASE_OVER || s->phase == RTL_PROBE_PHASE_IDLE;
    return end_plan(p, RTL_PROBING_LIBRARY, now);
}

/* The phase differs from the requested one. The library gives a reason, or one that only a newer viewer knows with
 * OVER. */
static enum rtl_probe_plan_do end_refused(struct rtl_probe_plan *p, const struct rtl_probe_state *s, uint64_t now)
{
    return s->why || s->phase == RTL_PROBE_PHASE_OVER ? ended_by_library(p, s, now)
                                                      : end_plan(p, RTL_PROBING_DAMAGED, now);
}

static enum rtl_probe_plan_do plan_request(struct rtl_probe_plan *p, enum rtl_probe_ask what)
{
    const struct rtl_probe_plan_target *target = &p->plan.target[p->target];
    p->ask = what;
    p->request = (struct rtl_probe_request){.kernel_object = target->kernel_object,
                                            .agent = target->agent,
                                            .wanted = p->plan.wanted,
                                            .every = p->plan.every,
                                            .ends_shift = p->plan.ends_shift};
    if (what == RTL_PROBE_ASK_ARM) {
        p->request.code_hash = p->code_hash;
        p->request.code_bytes = p->code_bytes;
    }
    return RTL_PROBING_DO_ASK;
}

void rtl_probe_plan_asked(struct rtl_probe_plan *p, uint16_t number, uint64_t now)
{
    p->asked = true;
    p->disarmed = false;
    p->number = number;
    p->stage_ns = now;
    if (p->stage == RTL_PROBING_AT_FREE)
        p->stage = RTL_PROBING_AT_PREPARE;
    else if (p->stage == RTL_PROBING_AT_PATCH)
        p->stage = RTL_PROBING_AT_ARM;
}

void rtl_probe_plan_patched(struct rtl_probe_plan *p, enum rtl_probe_refusal refusal, uint64_t hash, uint32_t bytes,
                            uint64_t now)
{
    p->refusal = refusal;
    p->code_hash = hash;
    p->code_bytes = bytes;
    if (refusal)
        rtl_probe_plan_stop(p, RTL_PROBING_REFUSED, now);
}

/* Leave another viewer's probe alone if its heartbeat changes; one whose heartbeat stands still ends soon. */
static enum rtl_probe_plan_do check_other_viewers(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen,
                                                  uint64_t now)
{
    const struct rtl_probe_state *s = seen->state;
    if (s->phase == RTL_PROBE_PHASE_IDLE || s->phase == RTL_PROBE_PHASE_OVER)
        return plan_request(p, RTL_PROBE_ASK_PREPARE);
    if (s->phase >= RTL_PROBE_PHASE_COUNT)
        return end_plan(p, RTL_PROBING_DAMAGED, now);
    if (seen->beats && !p->beat_seen) {
        p->beat = seen->heartbeat;
        p->beat_ns = now;
        p->beat_seen = true;
    }
    if (seen->beats && seen->heartbeat != p->beat)
        return end_plan(p, RTL_PROBING_OTHER_VIEWER, now);
    if (now - p->stage_ns > RTL_PROBE_HEARTBEAT_NS)
        return plan_request(p, RTL_PROBE_ASK_PREPARE);
    return RTL_PROBING_DO_WAIT;
}

/* Another viewer has replaced this probe; the library's block is that viewer's. */
static enum rtl_probe_plan_do end_replaced(struct rtl_probe_plan *p, uint64_t now)
{
    p->disarmed = true;
    return end_plan(p, RTL_PROBING_REPLACED, now);
}

/* Return WAIT until the library has answered the request, then DO_PATCH, which means "go on". */
static enum rtl_probe_plan_do taken_up(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen, uint64_t now)
{
    if (seen->state->number == p->number)
        return RTL_PROBING_DO_PATCH;
    if (rtl_probe_plan_gave_way(p, seen))
        return end_replaced(p, now);
    if (now - p->stage_ns < RTL_PROBING_ANSWER_NS)
        return RTL_PROBING_DO_WAIT;
    return end_plan(p, RTL_PROBING_NO_ANSWER, now);
}

/* Try the copy of another GPU. The next request ends the previous one. */
static enum rtl_probe_plan_do try_another(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen,
                                          uint32_t target, uint64_t now)
{
    if (rtl_probe_plan_gave_way(p, seen))
        return end_replaced(p, now);
    p->target = target;
    p->counted = false;
    p->code_bytes = 0; /* its numbers go to another block */
    go_to(p, RTL_PROBING_AT_FREE, now);
    return plan_request(p, RTL_PROBE_ASK_PREPARE);
}

/* The library probes the first dispatch at once: if some dispatches ran unprobed, the kernel object is another agent's.
 */
static bool is_elsewhere(const struct rtl_probe_state *s, uint64_t armed_ns)
{
    enum { SOME = 3 };
    return !s->probed && ((s->dispatches >= SOME && armed_ns > RTL_PROBING_TRY_NS) ||
                          (!s->dispatches && armed_ns > RTL_PROBING_WAIT_NS));
}

static enum rtl_probe_plan_do prepared(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen, uint64_t now)
{
    const struct rtl_probe_state *s = seen->state;
    const struct rtl_probe_plan_target *target = &p->plan.target[p->target];
    if (s->why == RTL_PROBE_WHY_NO_KERNEL && !p->stays && p->target + 1 < p->plan.targets)
        return try_another(p, seen, p->target + 1, now);
    if (s->why == RTL_PROBE_WHY_NO_KERNEL && !p->stays && p->moved_on) {
        p->stays = true;
        return try_another(p, seen, p->best, now);
    }
    if (s->phase != RTL_PROBE_PHASE_PREPARED)
        return end_refused(p, s, now);
    if (!s->block || s->kernel_object != target->kernel_object || s->agent != target->agent)
        return end_plan(p, RTL_PROBING_DAMAGED, now);
    p->state = *s;
    go_to(p, RTL_PROBING_AT_PATCH, now);
    return RTL_PROBING_DO_PATCH;
}

/* True if the library has ended the probe with its last numbers, whatever else has happened: the process may have
 * exited meanwhile. WHY_SHUTDOWN of an exited process doesn't count: its exit shut down the runtime. */
static bool has_last_numbers(const struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen)
{
    const struct rtl_probe_state *s = seen->state;
    return s && (p->stage == RTL_PROBING_AT_ARM || p->stage == RTL_PROBING_AT_COUNT) && s->number == p->number &&
           s->phase == RTL_PROBE_PHASE_OVER && (seen->alive || s->why != RTL_PROBE_WHY_SHUTDOWN);
}

static bool went_back(const struct rtl_probe_state *before, const struct rtl_probe_state *now)
{
    return now->dispatches < before->dispatches || now->probed < before->probed || now->recorded < before->recorded ||
           now->waves < before->waves;
}

/* Store the numbers if they make sense. */
static bool keep_numbers(struct rtl_probe_plan *p, const struct rtl_probe_state *s, uint64_t now)
{
    if (p->counted && went_back(&p->state, s))
        return false;
    if (!p->counted || s->dispatches != p->state.dispatches)
        p->dispatch_ns = now;
    if (!p->counted || s->recorded != p->state.recorded) {
        p->record_ns = now;
        p->dispatches_at_record = s->dispatches;
    }
    p->state = *s;
    p->counted = true;
    return true;
}

static enum rtl_probe_plan_do armed(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen, uint64_t now)
{
    const struct rtl_probe_state *s = seen->state;
    bool runs = s->phase == RTL_PROBE_PHASE_ARMED || s->phase == RTL_PROBE_PHASE_ENDING;
    if (!runs && s->phase != RTL_PROBE_PHASE_OVER)
        return end_refused(p, s, now);
    if ((runs || p->stage == RTL_PROBING_AT_COUNT || s->probed) && !keep_numbers(p, s, now))
        return end_plan(p, RTL_PROBING_DAMAGED, now);
    if (!runs)
        return ended_by_library(p, s, now);
    if (p->stage != RTL_PROBING_AT_COUNT)
        go_to(p, RTL_PROBING_AT_COUNT, now);
    if (!p->stays && p->target + 1 < p->plan.targets && is_elsewhere(s, now - p->stage_ns)) {
        if (!p->moved_on || s->dispatches)
            p->best = p->target;
        p->moved_on = true;
        return try_another(p, seen, p->target + 1, now);
    }
    if (now - p->dispatch_ns > RTL_PROBING_QUIET_NS)
        return end_plan(p, RTL_PROBING_NO_DISPATCH, now);
    if (now - p->record_ns > RTL_PROBING_QUIET_NS && s->dispatches - p->dispatches_at_record > 2ull * p->plan.every)
        return end_plan(p, RTL_PROBING_NOT_PROBED, now);
    return RTL_PROBING_DO_WAIT;
}

/* Wait until the library has disarmed; the dispatch in flight may still add numbers. */
static enum rtl_probe_plan_do plan_disarm(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen,
                                          uint64_t now)
{
    const struct rtl_probe_state *s = seen->state;
    bool ours = s && s->number == p->number;
    if (ours && p->counted && !went_back(&p->state, s))
        p->state = *s;
    bool another = rtl_probe_plan_gave_way(p, seen);
    if (p->ask != RTL_PROBE_ASK_DISARM && !another)
        return plan_request(p, RTL_PROBE_ASK_DISARM);
    p->disarmed = another || (ours && s->phase != RTL_PROBE_PHASE_ARMED && s->phase != RTL_PROBE_PHASE_ENDING);
    bool answers = p->over != RTL_PROBING_NO_ANSWER && p->over != RTL_PROBING_UNREADABLE; /* has answered so far */
    if (!p->disarmed && seen->alive && answers && now - p->stage_ns < RTL_PROBING_ANSWER_NS)
        return RTL_PROBING_DO_WAIT;
    go_to(p, RTL_PROBING_AT_END, now);
    return RTL_PROBING_DO_END;
}

enum rtl_probe_plan_do rtl_probe_plan_step(struct rtl_probe_plan *p, const struct rtl_probe_plan_seen *seen,
                                           uint64_t now)
{
    const struct rtl_probe_state *s = seen->state;
    enum rtl_probe_plan_do next;
    if (p->stage == RTL_PROBING_AT_END)
        return RTL_PROBING_DO_END;
    if (p->stage == RTL_PROBING_AT_DISARM)
        return plan_disarm(p, seen, now);
    if (s)
        p->read_ns = now;
    else if (seen->alive)
        return now - p->read_ns < RTL_PROBING_READ_NS ? RTL_PROBING_DO_WAIT : end_plan(p, RTL_PROBING_UNREADABLE, now);
    if (has_last_numbers(p, seen))
        return armed(p, seen, now);
    if (p->plan.total_ns && now - p->began_ns > p->plan.total_ns)
        return end_plan(p, RTL_PROBING_TIMEOUT, now);
    if (!s || !seen->alive) {
        if (s && p->stage == RTL_PROBING_AT_COUNT && s->number == p->number)
            keep_numbers(p, s, now); /* the last numbers */
        p->disarmed = true;
        return end_plan(p, RTL_PROBING_EXITED, now);
    }
    switch (p->stage) {
    case RTL_PROBING_AT_FREE:
        return check_other_viewers(p, seen, now);
    case RTL_PROBING_AT_PREPARE:
        next = taken_up(p, seen, now);
        return next == RTL_PROBING_DO_PATCH ? prepared(p, seen, now) : next;
    case RTL_PROBING_AT_PATCH:
        if (s->number != p->number || rtl_probe_plan_gave_way(p, seen))
            return end_replaced(p, now);
        if (s->phase != RTL_PROBE_PHASE_PREPARED) /* the code has changed */
            return end_refused(p, s, now);
        return p->code_bytes ? plan_request(p, RTL_PROBE_ASK_ARM) : RTL_PROBING_DO_PATCH;
    case RTL_PROBING_AT_ARM:
        next = taken_up(p, seen, now);
        return next == RTL_PROBING_DO_PATCH ? armed(p, seen, now) : next;
    default:
        return s->number == p->number ? armed(p, seen, now) : end_replaced(p, now);
    }
}

const char *rtl_probe_plan_word(const struct rtl_probe_plan *p)
{
    if (p->over != RTL_PROBING_LIBRARY)
        return overs[p->over].word;
    return p->why < RTL_PROBE_WHY_COUNT ? whys[p->why].word : "unknown";
}

void rtl_probe_plan_reason(const struct rtl_probe_plan *p, char *out, size_t size)
{
    char status[32] = "";
    const char *text = overs[p->over].text, *advice = overs[p->over].advice;
    *out = 0;
    if (p->over == RTL_PROBING_NOT)
        return;
    if (p->over == RTL_PROBING_REFUSED) {
        snprintf(out, size, "%s", rtl_probe_refusal_text(p->refusal));
        return;
    }
    if (p->over == RTL_PROBING_LIBRARY) {
        bool known = p->why < RTL_PROBE_WHY_COUNT;
        text = known ? whys[p->why].text : "for a reason that only a newer rtl-top knows";
        advice = known && why_advice[p->why] ? why_advice[p->why] : "";
    }
    if (p->over == RTL_PROBING_LIBRARY && p->status)
        snprintf(status, sizeof status, " (status 0x%" PRIx32 ")", p->status);
    snprintf(out, size, "%s%s%s%s", text, status, *advice ? "; " : "", advice);
}

/* True if the cause may pass: the kernel itself can be probed. */
static bool could_be_another_time(const struct rtl_probe_plan *p)
{
    bool passing = p->why == RTL_PROBE_WHY_KERNEL_GONE || p->why == RTL_PROBE_WHY_SHUTDOWN ||
                   p->why == RTL_PROBE_WHY_UNWATCHED || p->why == RTL_PROBE_WHY_DISARMED;
    return overs[p->over].another_time && (p->over != RTL_PROBING_LIBRARY || passing);
}

void rtl_probe_plan_text(const struct rtl_probe_plan *p, char *out, size_t size)
{
    char reason[400];
    rtl_probe_plan_reason(p, reason, sizeof reason);
    snprintf(out, size, "%s%s",
             !*reason                                       ? ""
             : p->counted && p->over != RTL_PROBING_REFUSED ? "the probe ended: "
             : could_be_another_time(p)                     ? "not probed: "
                                                            : "it can't be probed: ",
             reason);
}
