/*
 * The way of a probe: requests, phases, ends (probe.h).
 *
 * What is told of it is one struct, changed here and copied into the segment when a round has changed it. What it holds
 * of the runtime (probe_parts.h) is given back when nothing uses it any more: no dispatch has the gate (track/probe.h),
 * no copy is under way. A dispatch or a copy that never ends keeps it for ever, and with it the place for another
 * probe.
 */
#include "intercept/worker/probe_runner.h"

#include <stdlib.h>
#include <string.h>

#include "intercept/base/agents.h"
#include "intercept/base/tool.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/kernel_rows.h"
#include "intercept/track/policy.h"
#include "intercept/track/probe_gate.h"
#include "intercept/worker/probe_elf_check.h"
#include "intercept/worker/probe_numbers.h"
#include "intercept/worker/probe_resources.h"
#include "shm/hash.h"
#include "shm/probe_page.h"
#include "shm/probe_state.h"

#define MS   1000000ull
#define GATE (&rtl_probe_gate)

enum { SHIFT_MAX = 56 }; /* of `ends`: 256 steps of them have to fit 64 bits */

static const uint64_t COPYING = 5000 * MS;     /* bound on a copy of the block */
static const uint64_t STUCK = 30000 * MS;      /* and on a probed dispatch */
static const uint64_t SOON = 5 * MS;           /* within which a copy is mostly over: so long it is looked at often */
static const uint64_t LOST_LOOK = 50 * MS;     /* how often the block says whether one that was lost is over */
static const uint64_t LONGEST_PARK = 100 * MS; /* a viewer's request is seen within this */

/* worker, all of it */
static struct {
    struct rtl_probe_state told; /* but for page_fd and page_inode */
    bool changed;                /* since it was copied into the segment */
    /* the page */
    uint64_t word_seen;
    struct rtl_probe_word word; /* the last one that was a viewer's */
    uint64_t beat_at;           /* when its heartbeat was seen first */
    bool asked;                 /* a request was taken up since somebody looked: there may soon be another */
    /* what it holds */
    struct rtl_probe_resources parts;
    bool placed;           /* there is a block */
    bool preparing;        /* it is being cleared for the first time: PREPARE isn't answered yet, */
    uint16_t asked_number; /* whose number this is; the word may be another request's by then */
    bool leak;             /* nobody knows whether something still runs the copy: it is never given back */
    enum { NO_COPY, CLEARING, READING } copy;
    uint64_t copy_since;
    bool late; /* it was given up: what it writes to is kept until it is over, and with it the place */
    /* the dispatch that has the gate */
    bool over; /* the mark of rtl_probe_over */
    enum rtl_probe_end end;
    uint64_t duration_ns;
    uint64_t taken_at; /* when that was seen first; 0: it isn't taken */
    bool lost;         /* it is over, or not: the block will tell */
    uint64_t look_at;
    /* for good */
    bool queue_failed, no_numbers;
} p;

static bool is_going_on(void)
{
    return p.told.phase == RTL_PROBE_PHASE_PREPARED || p.told.phase == RTL_PROBE_PHASE_ARMED;
}

static uint32_t gate_state(void)
{
    return atomic_load_explicit(&GATE->state, memory_order_acquire);
}

/* --- what is told --- */

static void set_phase(enum rtl_probe_phase phase)
{
    p.told.phase = (uint8_t)phase;
    p.changed = true;
}

static void set_why(enum rtl_probe_why why)
{
    p.told.why = (uint8_t)why;
    p.changed = true;
}

static void say(void)
{
    struct rtl_probe_state *shared = rtl_tool.segment.probe;
    const size_t first = offsetof(struct rtl_probe_state, sequence) / 8;
    const size_t words =
        (p.told.dies > 1 ? sizeof *shared : RTL_PROBE_STATE_BYTES) / 8; /* readers know how many count */
    uint64_t word[sizeof *shared / 8], *to = (uint64_t *)(void *)shared;
    if (!p.changed || p.preparing)
        return;
    p.told.sequence++;
    memcpy(word, &p.told, words * 8);
    __atomic_store_n(&shared->sequence, p.told.sequence, __ATOMIC_RELAXED); /* odd */
    atomic_thread_fence(memory_order_release);
    for (size_t i = first + 1; i < words; i++)
        __atomic_store_n(&to[i], word[i], __ATOMIC_RELAXED);
    p.told.sequence++;
    memcpy(&word[first], &p.told.sequence, sizeof *word);
    __atomic_store_n(&to[first], word[first], __ATOMIC_RELEASE); /* with number, phase and why */
    p.changed = false;
}

/* --- the end --- */

/* Gives back what it held, if nothing uses it any more. */
static void close_gate(void)
{
    uint32_t state = RTL_GATE_FREE;
    if (p.copy != NO_COPY || p.lost)
        return;
    atomic_compare_exchange_strong(&GATE->state, &state, RTL_GATE_CLOSED); /* state: what it was */
    if (state == RTL_GATE_TAKEN)
        return;
    atomic_store(&GATE->state, RTL_GATE_CLOSED);
    if (p.placed && !p.leak)
        rtl_probe_resources_free(&p.parts);
    memset(&p.parts, 0, sizeof p.parts);
    p.placed = p.leak = p.preparing = false;
    if (p.told.phase == RTL_PROBE_PHASE_ENDING)
        set_phase(RTL_PROBE_PHASE_OVER);
}

/* No dispatch that begins behind this takes the gate. */
static void disarm(void)
{
    atomic_store(&GATE->wanted_object, 0);
    atomic_store(&GATE->kernel_object, 0);
    atomic_fetch_and(&rtl_hot.more, (uint8_t)~RTL_MORE_PROBE);
}

static void end(enum rtl_probe_why why)
{
    disarm();
    set_why(why);
    set_phase(RTL_PROBE_PHASE_ENDING);
    close_gate();
}

/* There will be no numbers. What a copy that is under way may still write to stays until that is over. */
static void give_up_copies(void)
{
    p.lost = false; /* what may run the copy of the code is left to it all the same: p.leak */
    if (p.preparing)
        p.told.number = p.asked_number;
    p.preparing = false;
    end(RTL_PROBE_WHY_NO_NUMBERS);
    set_phase(RTL_PROBE_PHASE_OVER);
}

/* --- the block --- */

static void begin_copy(bool (*copy)(struct rtl_probe_resources *, hsa_status_t *), int what, uint64_t now)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    p.copy = what;
    p.copy_since = now;
    if (copy(&p.parts, &status))
        return;
    p.told.status = (uint32_t)status;
    p.copy = NO_COPY;
    give_up_copies();
}

static void answer_prepare(void)
{
    p.preparing = false;
    p.told.number = p.asked_number;
    p.told.block = (uint64_t)(uintptr_t)p.parts.block;
    p.told.block_bytes = rtl_probe_block_bytes(p.parts.dies);
    p.told.dies = p.parts.dies;
    set_why(RTL_PROBE_WHY_NONE);
    set_phase(RTL_PROBE_PHASE_PREPARED);
}

/* What the block says is that dispatch's. The gate may be opened again when it is clear. */
static void go_on(uint64_t now)
{
    p.lost = false;
    p.taken_at = 0;
    if (p.told.phase != RTL_PROBE_PHASE_ARMED)
        close_gate();
    else if (p.told.wanted && p.told.probed >= p.told.wanted)
        end(RTL_PROBE_WHY_DONE);
    else
        begin_copy(rtl_probe_resources_clear, CLEARING, now);
}

static void take_numbers(uint64_t now)
{
    uint64_t expected = rtl_probe_waves_of(GATE->grid, GATE->workgroup);
    if (p.lost && rtl_probe_waves_in(p.parts.host, p.parts.dies) != expected) {
        p.look_at = now + LOST_LOOK;
        return;
    }
    if (!p.lost) {
        rtl_probe_add(&p.told, p.parts.host, p.parts.dies, &GATE->gpu->rate, p.duration_ns, expected);
        p.changed = true;
    }
    go_on(now);
}

static void look_at_copy(uint64_t now)
{
    if (p.copy == NO_COPY)
        return;
    int64_t value = rtl_probe_resources_copying(&p.parts);
    int what = p.copy;
    bool late = p.late;
    if (value > 0) {
        p.late |= now - p.copy_since > COPYING;
        if (p.late && !late)
            give_up_copies();
        return;
    }
    p.copy = NO_COPY;
    p.late = false;
    if (value < 0) /* nobody knows what it has written, or still writes; the next ones would fail, too */
        p.no_numbers = p.leak = true;
    if (value < 0 || late)
        give_up_copies();
    else if (what == READING)
        take_numbers(now);
    else if (p.preparing)
        answer_prepare();
    else if (p.told.phase == RTL_PROBE_PHASE_ARMED)
        atomic_store(&GATE->state, RTL_GATE_FREE);
}

/* --- the dispatch that has the gate --- */

void rtl_probe_over(enum rtl_probe_end how, uint64_t duration_ns)
{
    p.over = true;
    p.end = how;
    p.duration_ns = duration_ns;
}

/*
 * Its place is taken for as long as it lasts, which may be for ever. One that was lost leaves its place to the next
 * probe: its block and its code are never given back, so it may go on.
 */
static void is_stuck(void)
{
    if (p.lost && p.copy != NO_COPY)
        return; /* when that is over */
    disarm();
    if (p.told.why != RTL_PROBE_WHY_QUEUE_ERROR)
        set_why(RTL_PROBE_WHY_STUCK);
    set_phase(RTL_PROBE_PHASE_OVER);
    if (p.lost) {
        p.lost = false;
        close_gate();
    }
}

static void look_at_gate(uint64_t now)
{
    uint64_t seen = atomic_load_explicit(&GATE->seen, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&GATE->taken, memory_order_relaxed);
    uint32_t state = gate_state();
    if (!p.placed || !p.told.armed_mono_ns)
        return;
    p.changed |= p.told.dispatches != seen || p.told.probed != taken;
    p.told.dispatches = seen;
    p.told.probed = taken;
    if (state == RTL_GATE_TAKEN || p.lost) {
        p.taken_at = p.taken_at ? p.taken_at : now;
        if (now - p.taken_at > STUCK && p.told.phase != RTL_PROBE_PHASE_OVER)
            is_stuck();
    }
    if (state == RTL_GATE_TAKEN && p.over) {
        p.over = false;
        atomic_store(&GATE->state, RTL_GATE_HELD);
        p.lost = p.end == RTL_PROBE_LOST;
        p.leak |= p.lost;
        if (p.end == RTL_PROBE_QUEUE_GONE && p.told.phase == RTL_PROBE_PHASE_ARMED)
            /* not every queue's errors are seen: it may have gone for what the copy did */
            end(atomic_load(&GATE->failed) ? RTL_PROBE_WHY_QUEUE_ERROR : RTL_PROBE_WHY_QUEUE_GONE);
        else if ((p.end == RTL_PROBE_TIMED || p.end == RTL_PROBE_LOST) && p.told.phase != RTL_PROBE_PHASE_OVER)
            begin_copy(rtl_probe_resources_read, READING, now);
        else
            go_on(now);
    } else if (p.lost && p.copy == NO_COPY && now >= p.look_at) {
        begin_copy(rtl_probe_resources_read, READING, now);
    }
}

/* --- requests --- */

static void look_at_word(uint64_t now)
{
    uint64_t word = __atomic_load_n(&rtl_tool.segment.probe_page->word, __ATOMIC_ACQUIRE);
    uint16_t heartbeat = p.word.heartbeat;
    if (word == p.word_seen)
        return;
    p.word_seen = word;
    if (rtl_probe_decode(word, &p.word) && p.word.heartbeat != heartbeat)
        p.beat_at = now;
}

/* A copy of the request, if it is the one that the word means. */
static bool copy_request(struct rtl_probe_request *request)
{
    const struct rtl_probe_page *page = rtl_tool.segment.probe_page;
    const uint64_t *from = (const uint64_t *)(const void *)&page->request;
    uint64_t words[sizeof *request / 8];
    struct rtl_probe_word now = {.number = 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_acquire);
    memcpy(request, words, sizeof *request);
    return rtl_probe_decode(__atomic_load_n(&page->word, __ATOMIC_RELAXED), &now) && now.number == p.word.number;
}

static void refuse(enum rtl_probe_why why, hsa_status_t status)
{
    p.told.number = p.word.number;
    p.told.status = (uint32_t)status;
    set_why(why);
    set_phase(RTL_PROBE_PHASE_OVER);
}

static void prepare(const struct rtl_probe_request *request, uint64_t now)
{
    struct rtl_gpu *gpu = rtl_gpu_at(request->agent);
    hsa_status_t status = HSA_STATUS_SUCCESS;
    uint32_t sequence = p.told.sequence;
    uint16_t number = p.told.number;
    memset(&p.told, 0, sizeof p.told);
    p.told.sequence = sequence;
    p.told.number = number;
    p.told.kernel_object = request->kernel_object;
    p.told.agent = request->agent;
    p.told.kernel = RTL_KERNEL_UNKNOWN;
    p.taken_at = 0;
    p.over = p.lost = p.leak = false;
    if (p.queue_failed || p.no_numbers) {
        refuse(p.queue_failed ? RTL_PROBE_WHY_QUEUE_ERROR : RTL_PROBE_WHY_NO_NUMBERS, status);
        return;
    }
    /* the page is there because the first runtime of the process had the functions; this one may be another */
    if (!rtl_hsa_can_probe(&rtl_tool.hsa)) {
        refuse(RTL_PROBE_WHY_NOT_LOADED, HSA_STATUS_ERROR);
        return;
    }
    /* the order in which who destroys its executable does it the other way round (track/probe.h) */
    atomic_store(&GATE->wanted_object, request->kernel_object);
    if (!gpu || !rtl_map_find(&rtl_kernel_map, request->kernel_object) ||
        rtl_kernels_is_elsewhere(request->kernel_object, gpu->agent.handle)) {
        disarm();
        refuse(RTL_PROBE_WHY_NO_KERNEL, status);
        return;
    }
    if (!rtl_probe_resources_place(&p.parts, gpu->agent, &status)) {
        disarm();
        refuse(RTL_PROBE_WHY_NO_BLOCK, status);
        return;
    }
    p.placed = p.preparing = true;
    p.asked_number = p.word.number;
    GATE->gpu = gpu;
    p.beat_at = now;
    begin_copy(rtl_probe_resources_clear, CLEARING, now);
}

static bool makes_sense(const struct rtl_probe_request *request)
{
    return request->kernel_object == p.told.kernel_object && request->agent == p.told.agent && request->every > 0 &&
           request->every <= RTL_PROBE_EVERY_MAX && request->code_bytes > 0 &&
           request->code_bytes <= RTL_PROBE_CODE_MAX && request->ends_shift <= SHIFT_MAX;
}

/* A copy of the code that nobody else can write to, and that is what was announced; NULL: there is none. */
static void *copy_code(const struct rtl_probe_request *request)
{
    const char *page = (const char *)rtl_tool.segment.probe_page;
    char *code = malloc(request->code_bytes);
    if (code)
        memcpy(code, page + RTL_PROBE_CODE_AT, request->code_bytes);
    if (code && (rtl_hash(code, request->code_bytes) != request->code_hash ||
                 !rtl_probe_elf_is_complete(code, request->code_bytes))) {
        free(code);
        code = NULL;
    }
    return code;
}

/* Opens the gate. False: the program has unloaded the kernel meanwhile. */
static bool open_gate(const struct rtl_probe_request *request)
{
    GATE->probed_object = p.parts.kernel_object;
    GATE->private_bytes = p.parts.private_bytes;
    GATE->group_bytes = p.parts.group_bytes;
    GATE->every = request->every;
    atomic_store(&GATE->seen, 0);
    atomic_store(&GATE->taken, 0);
    atomic_store(&GATE->due, 0);
    atomic_store(&GATE->failed, false);
    atomic_store(&GATE->kernel_object, request->kernel_object);
    if (!atomic_load(&GATE->wanted_object))
        return false;
    atomic_store(&GATE->state, RTL_GATE_FREE);
    atomic_fetch_or(&rtl_hot.more, RTL_MORE_PROBE);
    return true;
}

static void arm(const struct rtl_probe_request *request, uint64_t now)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    char name[256] = "";
    p.told.number = p.word.number;
    p.changed = true;
    if (p.told.phase != RTL_PROBE_PHASE_PREPARED) {
        /* another's goes on as it was; and what was prepared, but has ended meanwhile, ended for a reason */
        bool ended = p.told.why != RTL_PROBE_WHY_NONE && !p.told.armed_mono_ns;
        if (!ended && p.told.phase != RTL_PROBE_PHASE_ARMED && p.told.phase != RTL_PROBE_PHASE_ENDING)
            set_why(RTL_PROBE_WHY_BAD_REQUEST);
        return;
    }
    if (!makes_sense(request)) {
        end(RTL_PROBE_WHY_BAD_REQUEST);
        return;
    }
    if (rtl_policy_now() < RTL_TIME_UNSIGNALLED) {
        end(RTL_PROBE_WHY_NOT_TIMED);
        return;
    }
    void *code = copy_code(request);
    if (!code) {
        end(RTL_PROBE_WHY_BAD_CODE);
        return;
    }
    if (!rtl_probe_resources_load(&p.parts, code, request->code_bytes, request->kernel_object, &status)) {
        p.told.status = (uint32_t)status;
        end(RTL_PROBE_WHY_NOT_LOADED);
        return;
    }
    /* the address may be another kernel's than the one that the viewer has copied */
    if (!p.parts.has_its_name) {
        end(RTL_PROBE_WHY_BAD_CODE);
        return;
    }
    p.told.kernel = rtl_kernels_describe(request->kernel_object, name, sizeof name);
    p.told.wanted = request->wanted;
    p.told.every = request->every;
    p.told.code_bytes = request->code_bytes;
    p.told.code_hash = request->code_hash;
    p.told.ends_shift = request->ends_shift;
    p.told.probed_object = p.parts.kernel_object;
    p.told.armed_mono_ns = now;
    p.told.tail_step_ns = rtl_ticks_to_ns(&GATE->gpu->rate, 1ull << request->ends_shift);
    rtl_say_if_heard("a probe was loaded: %u bytes of code with hash %016llx, for 1 in %u dispatches of %s",
                     request->code_bytes, (unsigned long long)request->code_hash, request->every, name);
    set_phase(RTL_PROBE_PHASE_ARMED);
    if (!open_gate(request))
        end(RTL_PROBE_WHY_KERNEL_GONE);
}

static void take_up(uint64_t now)
{
    struct rtl_probe_request request;
    if (p.preparing || p.word.ask == RTL_PROBE_ASK_NOTHING || p.word.number == p.told.number || !copy_request(&request))
        return;
    p.asked = true;
    switch (p.word.ask) {
    case RTL_PROBE_ASK_PREPARE:
        if (is_going_on())
            end(RTL_PROBE_WHY_DISARMED);
        if (!p.placed)
            prepare(&request, now);
        else if (p.told.phase == RTL_PROBE_PHASE_OVER)
            refuse(p.late ? RTL_PROBE_WHY_NO_NUMBERS : RTL_PROBE_WHY_STUCK, HSA_STATUS_SUCCESS);
        break; /* else when the one before has ended */
    case RTL_PROBE_ASK_ARM:
        arm(&request, now);
        break;
    default:
        p.told.number = p.word.number;
        p.changed = true;
        if (is_going_on())
            end(RTL_PROBE_WHY_DISARMED);
    }
}

/* --- rounds --- */

static void look_for_end(uint64_t now)
{
    bool armed = p.told.phase == RTL_PROBE_PHASE_ARMED;
    if (atomic_load_explicit(&GATE->failed, memory_order_relaxed) && !p.queue_failed) {
        p.queue_failed = true;
        if (armed || p.told.phase == RTL_PROBE_PHASE_ENDING)
            end(RTL_PROBE_WHY_QUEUE_ERROR);
    }
    if (is_going_on()) {
        if (!atomic_load_explicit(&GATE->wanted_object, memory_order_relaxed))
            end(RTL_PROBE_WHY_KERNEL_GONE);
        else if (now - p.beat_at > RTL_PROBE_HEARTBEAT_NS)
            end(RTL_PROBE_WHY_UNWATCHED);
        else if (armed && rtl_policy_now() < RTL_TIME_UNSIGNALLED)
            end(RTL_PROBE_WHY_NOT_TIMED);
    } else if (p.placed && !p.preparing) {
        close_gate();
    }
}

void rtl_probe_round(uint64_t now)
{
    if (!rtl_tool.segment.probe)
        return;
    look_at_word(now);
    look_at_copy(now);
    look_at_gate(now);
    look_for_end(now);
    take_up(now);
    say();
}

bool rtl_probe_is_copying(uint64_t now)
{
    return p.copy != NO_COPY && now - p.copy_since < SOON;
}

bool rtl_probe_is_busy(void)
{
    bool asked = p.asked;
    p.asked = false;
    return asked || p.told.phase == RTL_PROBE_PHASE_PREPARED || (p.copy != NO_COPY && !p.late) || p.lost ||
           p.told.phase == RTL_PROBE_PHASE_ENDING;
}

bool rtl_probe_is_needed(uint64_t now)
{
    if (!rtl_tool.segment.probe)
        return false;
    return rtl_probe_is_busy() || p.over || (p.late && rtl_probe_resources_copying(&p.parts) <= 0) ||
           __atomic_load_n(&rtl_tool.segment.probe_page->word, __ATOMIC_RELAXED) != p.word_seen ||
           (is_going_on() && (now - p.beat_at > RTL_PROBE_HEARTBEAT_NS ||
                              !atomic_load_explicit(&GATE->wanted_object, memory_order_relaxed)));
}

uint64_t rtl_probe_longest_park(void)
{
    return rtl_tool.segment.probe ? LONGEST_PARK : UINT64_MAX;
}

void rtl_probe_wind_up(void)
{
    if (!rtl_tool.segment.probe)
        return;
    look_at_gate(rtl_clock_now()); /* what the last round has brought */
    bool alive = is_going_on() || p.told.phase == RTL_PROBE_PHASE_ENDING || p.preparing;
    if (p.copy != NO_COPY || p.lost || gate_state() == RTL_GATE_TAKEN) {
        p.leak = true; /* the runtime has it, or takes it with it */
        p.copy = NO_COPY;
        p.late = p.lost = p.over = false;
        atomic_store(&GATE->state, RTL_GATE_CLOSED); /* no dispatch is timed any more, no worker is told */
    }
    p.preparing = p.no_numbers = false; /* another runtime's copies may be better */
    if (alive)
        end(RTL_PROBE_WHY_SHUTDOWN);
    else
        close_gate();
    say();
}
