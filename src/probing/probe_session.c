/* Carries out a probe. See probe_session.h. */
#include "probing/probe_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/hash.h"
#include "shm/process.h"

static const uint64_t BEAT_NS = 200000000;

static void copy_gpus(struct rtl_probe_session *s, const struct rtl_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->agent_count && s->gpu_count < RTL_AGENTS_MAX; i++) {
        const struct rtl_agent_snapshot *a = &snapshot->agents[i];
        struct rtl_session_gpu *g = &s->gpus[s->gpu_count++];
        *g = (struct rtl_session_gpu){a->gpu, a->agent, a->compute_units, a->tick_hz, ""};
        memcpy(g->name, a->name, sizeof g->name);
    }
}

enum rtl_reader_status rtl_probe_session_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                              const struct rtl_probe_wish *wish, struct rtl_probe_session **session,
                                              char *why, size_t why_bytes)
{
    struct rtl_probe_session *s = calloc(1, sizeof *s);
    *session = NULL;
    if (!s)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    s->wish = *wish;
    s->reader = reader;
    s->pid = pid;
    copy_gpus(s, snapshot);
    enum rtl_reader_status status = rtl_probe_open(reader, &s->link, why, why_bytes);
    if (status == RTL_READER_OK && wish->gpu >= (int)s->gpu_count)
        status = rtl_explain(RTL_READER_USAGE, why, why_bytes, "process %d has %u GPU%s: there is no GPU %d", (int)pid,
                             s->gpu_count, s->gpu_count == 1 ? "" : "s", wish->gpu);
    if (status == RTL_READER_OK && !s->gpu_count)
        status = rtl_explain(RTL_READER_NOT_PROBED, why, why_bytes, "process %d has no GPU so far", (int)pid);
    if (status == RTL_READER_OK &&
        (!(s->kernel = strdup(wish->kernel)) || !(s->code = rtl_probe_fetch_find(pid, wish->kernel))))
        status = rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    if (status != RTL_READER_OK) {
        rtl_probe_session_close(s);
        return status;
    }
    s->wish.kernel = s->kernel;
    s->finding = true;
    *session = s;
    return RTL_READER_OK;
}

/* Read the last request and the heartbeat. */
static void read_page_word(const struct rtl_probe_session *s, struct rtl_probe_plan_seen *seen)
{
    struct rtl_probe_word word;
    seen->beats = rtl_probe_decode(rtl_probe_word_now(&s->link), &word);
    seen->heartbeat = seen->beats ? word.heartbeat : 0;
    seen->number = seen->beats ? word.number : 0;
}

void rtl_probe_session_close(struct rtl_probe_session *s)
{
    if (!s)
        return;
    struct rtl_probe_plan_seen seen = {.alive = true};
    read_page_word(s, &seen);
    if (s->link.page && rtl_probe_plan_holds(&s->probing) && !rtl_probe_plan_gave_way(&s->probing, &seen))
        rtl_probe_disarm(s->reader, &s->link);
    rtl_probe_patch_free(&s->patch);
    rtl_probe_fetch_free(s->code);
    rtl_probe_fetch_free(s->again);
    rtl_probe_close(&s->link);
    free(s->kernel);
    free(s);
}

/* --- which code, and which GPU --- */

static void add_target(struct rtl_probe_session *s, struct rtl_probe_plan_targets *plan, uint32_t copy, uint32_t gpu)
{
    uint64_t object = s->found->copy[copy].object;
    if (!s->alike[copy])
        return;
    for (uint32_t i = 0; i < plan->targets; i++)
        if (plan->target[i].kernel_object == object && plan->target[i].agent == s->gpus[gpu].agent)
            return;
    if (plan->targets == RTL_PROBING_TARGETS)
        return;
    s->copy_of[plan->targets] = copy;
    plan->target[plan->targets++] = (struct rtl_probe_plan_target){object, s->gpus[gpu].agent};
}

/* Mark copies of the wanted code. Several GPUs share the same bytes, which are compared once. */
static void find_alike(struct rtl_probe_session *s, uint32_t copies)
{
    for (uint32_t i = 0; i < copies; i++) {
        const struct rtl_probe_fetch_copy *like = s->wish.like, *copy = &s->found->copy[i];
        uint32_t same = 0;
        while (same < i && s->found->copy[same].bytes != copy->bytes)
            same++;
        s->alike[i] = !like      ? true
                      : same < i ? s->alike[same]
                                 : copy->size == like->size && memcmp(copy->bytes, like->bytes, copy->size) == 0;
    }
}

/* Only the library knows which copy is on which GPU. Runtimes load one GPU after another, so request the likely pairs
 * first. */
static void choose_targets(struct rtl_probe_session *s, struct rtl_probe_plan_targets *plan)
{
    uint32_t copies = s->found->count, first = 0;
    uint64_t object = s->wish.like ? s->wish.like->object : rtl_reader_kernel_object(s->reader, s->wish.row);
    find_alike(s, copies);
    while (first < copies && s->found->copy[first].object != object)
        first++;
    first = first < copies ? first : 0;
    if (s->wish.gpu >= 0) {
        uint32_t gpu = (uint32_t)s->wish.gpu;
        if (s->wish.like) /* it ran there before */
            add_target(s, plan, first, gpu);
        if (gpu < copies)
            add_target(s, plan, gpu, gpu);
        for (uint32_t i = 0; i < copies; i++)
            add_target(s, plan, i, gpu);
        return;
    }
    add_target(s, plan, first, first < s->gpu_count ? first : 0);
    for (uint32_t gpu = 0; gpu < s->gpu_count; gpu++)
        add_target(s, plan, first, gpu);
    for (uint32_t i = 0; i < copies;
         i++) /* several programs may have a kernel of that name: time shows which one runs */
        add_target(s, plan, i, i % s->gpu_count);
    for (uint32_t i = 0; i < copies; i++)
        for (uint32_t gpu = 0; gpu < s->gpu_count; gpu++)
            add_target(s, plan, i, gpu);
}

static uint64_t ticks_of(const struct rtl_probe_session *s)
{
    return s->gpus[s->wish.gpu >= 0 ? s->wish.gpu : 0].tick_hz;
}

/* Begin the plan once the code is found, or the search has failed. Until then the process has nothing of this probe. */
static void begin_plan(struct rtl_probe_session *s, enum rtl_probe_plan_over wrong, uint64_t now)
{
    enum { DURATION_GUESS_NS = 1000000 };
    uint64_t duration = s->wish.duration_ns ? s->wish.duration_ns : DURATION_GUESS_NS;
    struct rtl_probe_plan_targets plan = {.wanted = s->wish.wanted,
                                          .every =
                                              s->wish.every ? s->wish.every : rtl_probe_plan_every(s->wish.per_second),
                                          .ends_shift = rtl_probe_plan_ends_shift(duration, ticks_of(s)),
                                          .total_ns = s->wish.total_ns};
    if (!wrong)
        choose_targets(s, &plan);
    if (!wrong && s->wish.like && !plan.targets)
        wrong = RTL_PROBING_RELOADED;
    s->wish.like = NULL;
    s->finding = false;
    rtl_probe_plan_begin(&s->probing, &plan, s->began_ns); /* the search counts, too */
    s->probing.stage_ns = s->probing.read_ns = now;
    if (wrong) {
        s->probing.over = wrong; /* replaces NO_CODE of the empty plan */
        s->probing.stage = RTL_PROBING_AT_END;
    }
}

static void poll_fetch(struct rtl_probe_session *s, bool alive, uint64_t now)
{
    s->found = rtl_probe_fetch_found(s->code);
    if (!s->found) {
        uint64_t waited = now - s->began_ns;
        if (!alive)
            begin_plan(s, RTL_PROBING_EXITED, now);
        else if (s->wish.total_ns && waited > s->wish.total_ns)
            begin_plan(s, RTL_PROBING_TIMEOUT, now);
        else if (waited > RTL_PROBE_FIND_NS)
            begin_plan(s, RTL_PROBING_CODE_LATE, now);
        return;
    }
    begin_plan(s, s->found->wrong && !alive ? RTL_PROBING_EXITED : s->found->wrong, now);
}

const struct rtl_probe_fetch_copy *rtl_probe_session_original(const struct rtl_probe_session *s)
{
    return s->finding || !s->probing.plan.targets ? NULL : &s->found->copy[s->copy_of[s->probing.target]];
}

const struct rtl_session_gpu *rtl_probe_session_gpu(const struct rtl_probe_session *s)
{
    if (s->finding || !s->probing.plan.targets)
        return NULL;
    for (uint32_t i = 0; i < s->gpu_count; i++)
        if (s->gpus[i].agent == s->probing.plan.target[s->probing.target].agent)
            return &s->gpus[i];
    return NULL;
}

/* --- step by step --- */

/* NOT: the same code is still there. */
static enum rtl_probe_plan_over compare_again(const struct rtl_probe_session *s)
{
    const struct rtl_probe_fetch_found *later = rtl_probe_fetch_found(s->again);
    if (later->wrong && later->wrong != RTL_PROBING_NO_CODE)
        return later->wrong;
    return rtl_probe_fetch_has(later, rtl_probe_session_original(s)) ? RTL_PROBING_NOT : RTL_PROBING_RELOADED;
}

/* A program that compiles at run time may have unloaded the code since it was read, and loaded another kernel in its
 * place. The library watches the kernel object from its answer to PREPARE on: code found there now stays, or the probe
 * ends. False while this is not known, or if the code has gone. */
static bool is_still_there(struct rtl_probe_session *s, uint64_t now)
{
    enum rtl_probe_plan_over wrong = RTL_PROBING_NOT;
    if (!s->again) {
        s->again = rtl_probe_fetch_find(s->pid, s->kernel);
        s->again_ns = now;
    }
    if (!s->again)
        wrong = RTL_PROBING_NO_CODE; /* no memory, or no thread */
    else if (rtl_probe_fetch_found(s->again))
        wrong = compare_again(s);
    else if (now - s->again_ns > RTL_PROBE_FIND_NS)
        wrong = RTL_PROBING_CODE_LATE;
    else
        return false;
    rtl_probe_fetch_free(s->again);
    s->again = NULL;
    if (wrong)
        rtl_probe_plan_stop(&s->probing, wrong, now);
    return !wrong;
}

static void make_patch(struct rtl_probe_session *s, uint64_t now)
{
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(s);
    const struct rtl_probe_order order = {.code = original->bytes,
                                          .bytes = original->size,
                                          .kernel = s->kernel,
                                          .object = original->object,
                                          .block = s->probing.state.block,
                                          .ends_shift = s->probing.plan.ends_shift,
                                          .gaps = s->probing.state.block_bytes >= RTL_PROBE_BLOCK_ALL,
                                          .dies =
                                              s->probing.state.block_bytes == RTL_PROBE_BLOCK_DIES, /* no other size */
                                          .waits = s->wish.waits,
                                          .round = s->wish.round};
    rtl_probe_patch_free(&s->patch);
    enum rtl_probe_refusal refusal = rtl_probe_patch(&order, &s->patch);
    if (!refusal && s->patch.bytes > RTL_PROBE_CODE_MAX)
        refusal = RTL_PROBE_TOO_LARGE;
    rtl_probe_plan_patched(&s->probing, refusal, refusal ? 0 : rtl_hash(s->patch.code, s->patch.bytes),
                           refusal ? 0 : (uint32_t)s->patch.bytes, now);
}

static void send_request(struct rtl_probe_session *s, uint64_t now)
{
    const struct rtl_probe_request *r = &s->probing.request;
    uint16_t number = s->probing.ask == RTL_PROBE_ASK_PREPARE
                          ? rtl_probe_prepare(s->reader, &s->link, r->kernel_object, r->agent)
                      : s->probing.ask == RTL_PROBE_ASK_ARM
                          ? rtl_probe_arm(s->reader, &s->link, s->probing.number, r, s->patch.code, s->patch.bytes)
                          : rtl_probe_disarm(s->reader, &s->link);
    if (!number) /* another viewer's request has come since PREPARE: the next step notices */
        return;
    rtl_probe_plan_asked(&s->probing, number, now);
    s->beat_ns = now;
}

static void run_plan(struct rtl_probe_session *s, bool alive, uint64_t now)
{
    enum { STEPS = 8 }; /* actions that need no answer of the library */
    struct rtl_probe_state state;
    for (int i = 0; i < STEPS; i++) {
        struct rtl_probe_plan_seen seen = {.alive = alive};
        seen.state = rtl_reader_probe(s->reader, &state) ? &state : NULL;
        read_page_word(s, &seen);
        switch (rtl_probe_plan_step(&s->probing, &seen, now)) {
        case RTL_PROBING_DO_ASK:
            send_request(s, now);
            break;
        case RTL_PROBING_DO_PATCH:
            if (!is_still_there(s, now))
                return;
            make_patch(s, now);
            break;
        default:
            return;
        }
    }
}

bool rtl_probe_session_step(struct rtl_probe_session *s, bool alive, uint64_t now)
{
    s->began_ns = s->began_ns ? s->began_ns : now;
    if (s->finding)
        poll_fetch(s, alive, now);
    if (s->finding)
        return true;
    run_plan(s, alive, now);
    if (rtl_probe_plan_holds(&s->probing) && now - s->beat_ns >= BEAT_NS) {
        rtl_probe_heartbeat(&s->link);
        s->beat_ns = now;
    }
    return !rtl_probe_session_is_over(s);
}

void rtl_probe_session_stop(struct rtl_probe_session *s, uint64_t now)
{
    if (s->finding)
        begin_plan(s, RTL_PROBING_STOPPED, now);
    else
        rtl_probe_plan_stop(&s->probing, RTL_PROBING_STOPPED, now);
}

static const char *const stages[] = {
    [RTL_PROBING_AT_FREE] = "waiting for another probe to end",
    [RTL_PROBING_AT_PREPARE] = "on its way",
    [RTL_PROBING_AT_PATCH] = "on its way",
    [RTL_PROBING_AT_ARM] = "on its way",
    [RTL_PROBING_AT_COUNT] = "armed",
    [RTL_PROBING_AT_DISARM] = "taken back",
    [RTL_PROBING_AT_END] = "over",
};

void rtl_probe_session_report(const struct rtl_probe_session *s, struct rtl_probe_told *told)
{
    const struct rtl_session_gpu *gpu = rtl_probe_session_gpu(s);
    *told = (struct rtl_probe_told){.there = true,
                                    .runs = !rtl_probe_session_is_over(s),
                                    .kernel = s->wish.row,
                                    .every = s->finding ? 0 : s->probing.plan.every,
                                    .on_gpu = gpu != NULL,
                                    .gpu = gpu ? gpu->gpu : 0,
                                    .compute_units = gpu ? gpu->compute_units : 0,
                                    .counted = !s->finding && s->probing.counted};
    snprintf(told->stage, sizeof told->stage, "%s", s->finding ? "searching its code" : stages[s->probing.stage]);
    if (told->counted)
        told->state = s->probing.state;
    if (told->runs)
        return;
    rtl_probe_plan_text(&s->probing, told->over, sizeof told->over);
    snprintf(told->ended, sizeof told->ended, "%s", rtl_probe_plan_word(&s->probing));
}
