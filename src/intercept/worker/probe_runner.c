/*
 * Runs a probe: requests, phases, ends (probe_runner.h).
 *
 * The published state is one struct, changed here and copied into the segment when a round has changed it. The
 * runtime's resources (probe_resources.h) are freed when nothing uses them any more: no dispatch has the gate
 * (track/probe_gate.h), no copy is in flight. If a dispatch or copy never ends, they are kept for ever, and no other
 * probe can start.
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

enum { SHIFT_MAX = 56 }; /* bound of ends_shift: 256 steps must fit 64 bits */

static const uint64_t COPYING = 5000 * MS;     /* bound on a copy of the block */
static const uint64_t STUCK = 30000 * MS;      /* bound on a probed dispatch */
static const uint64_t SOON = 5 * MS;           /* a copy mostly completes within this, so it is polled often */
static const uint64_t LOST_LOOK = 50 * MS;     /* how often the block is read for a lost dispatch */
static const uint64_t LONGEST_PARK = 100 * MS; /* bound on the delay of a viewer's request */

/* worker only */
static struct {
    struct rtl_probe_state state; /* published; without page_fd and page_inode */
    bool changed;                 /* since the last copy into the segment */
    /* the page */
    uint64_t word_seen;
    struct rtl_probe_word word; /* the last valid one */
    uint64_t heartbeat_at;      /* when its heartbeat was first seen */
    uint64_t accepted;          /* requests accepted so far */
    bool request_handled;       /* a request was handled since the last check: another may follow soon */
    /* resources */
    struct rtl_probe_resources resources;
    bool placed;           /* the block exists */
    bool preparing;        /* the block is being cleared for the first time: PREPARE isn't answered yet */
    uint16_t asked_number; /* number of that request; the word may contain a later one */
    bool leak;             /* unknown whether something still runs the copy: never free it */
    enum { NO_COPY, CLEARING, READING } copy;
    uint64_t copy_since;
    bool copy_abandoned; /* its memory, and the probe's place, are kept until it is over */
    /* the dispatch that has the gate */
    bool over; /* set by rtl_probe_over */
    enum rtl_probe_end end;
    uint64_t duration_ns;
    uint64_t taken_at; /* when that was first seen; 0: not taken */
    bool lost;         /* unknown whether it has completed: the block will show it */
    uint64_t poll_at;
    bool queue_failed;  /* for good */
    bool copies_failed; /* until the runtime is unloaded */
} probe;

static bool is_active(void)
{
    return probe.state.phase == RTL_PROBE_PHASE_PREPARED || probe.state.phase == RTL_PROBE_PHASE_ARMED;
}

static uint32_t gate_state(void)
{
    return atomic_load_explicit(&GATE->state, memory_order_acquire);
}

/* --- the published state --- */

static void set_phase(enum rtl_probe_phase phase)
{
    probe.state.phase = (uint8_t)phase;
    probe.changed = true;
}

static void set_why(enum rtl_probe_why why)
{
    probe.state.why = (uint8_t)why;
    probe.changed = true;
}

typedef uint64_t __attribute__((may_alias)) shared_word;

static void publish_state(void)
{
    struct rtl_probe_state *shared = rtl_tool.segment.probe;
    const size_t first = offsetof(struct rtl_probe_state, sequence) / 8;
    const size_t words = (probe.state.dies > 1 ? sizeof *shared : RTL_PROBE_STATE_BYTES) / 8;
    uint64_t word[sizeof *shared / 8];
    shared_word *to = (void *)shared;
    if (!probe.changed || probe.preparing)
        return;
    probe.state.sequence++;
    probe.state.key_at = (uint64_t)(uintptr_t)&rtl_tool.segment.probe_key;
    probe.state.accepted = probe.accepted;
    memcpy(word, &probe.state, words * 8);
    __atomic_store_n(&shared->sequence, probe.state.sequence, __ATOMIC_RELAXED); /* odd */
    atomic_thread_fence(memory_order_release);
    for (size_t i = first + 1; i < words; i++)
        __atomic_store_n(&to[i], word[i], __ATOMIC_RELAXED);
    probe.state.sequence++;
    memcpy(&word[first], &probe.state.sequence, sizeof *word);
    __atomic_store_n(&to[first], word[first], __ATOMIC_RELEASE); /* in one word with number, phase and why */
    probe.changed = false;
}

/* --- the end --- */

/* Free the resources if nothing uses them any more. */
static void close_gate(void)
{
    uint32_t state = RTL_GATE_FREE;
    if (probe.copy != NO_COPY || probe.lost)
        return;
    atomic_compare_exchange_strong(&GATE->state, &state, RTL_GATE_CLOSED); /* `state` becomes what it was */
    if (state == RTL_GATE_TAKEN)
        return;
    atomic_store(&GATE->state, RTL_GATE_CLOSED);
    if (probe.placed && !probe.leak)
        rtl_probe_resources_free(&probe.resources);
    memset(&probe.resources, 0, sizeof probe.resources);
    probe.placed = probe.leak = probe.preparing = false;
    if (probe.state.phase == RTL_PROBE_PHASE_ENDING)
        set_phase(RTL_PROBE_PHASE_OVER);
}

/* Dispatches that begin later don't take the gate. */
static void disarm_gate(void)
{
    atomic_store(&GATE->wanted_object, 0);
    atomic_store(&GATE->kernel_object, 0);
    atomic_fetch_and(&rtl_hot.more, (uint8_t)~RTL_MORE_PROBE);
}

static void end_probe(enum rtl_probe_why why)
{
    disarm_gate();
    set_why(why);
    set_phase(RTL_PROBE_PHASE_ENDING);
    close_gate();
}

/* No numbers will come. Memory that a copy in flight may write to stays until the copy is over. */
static void give_up_copies(void)
{
    probe.lost = false; /* the copy of the code is kept if something may run it: probe.leak */
    if (probe.preparing)
        probe.state.number = probe.asked_number;
    probe.preparing = false;
    end_probe(RTL_PROBE_WHY_NO_NUMBERS);
    set_phase(RTL_PROBE_PHASE_OVER);
}

/* --- the block --- */

static void begin_copy(bool (*copy)(struct rtl_probe_resources *, hsa_status_t *), int what, uint64_t now)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    probe.copy = what;
    probe.copy_since = now;
    if (copy(&probe.resources, &status))
        return;
    probe.state.status = (uint32_t)status;
    probe.copy = NO_COPY;
    give_up_copies();
}

static void answer_prepare(void)
{
    probe.preparing = false;
    probe.state.number = probe.asked_number;
    probe.state.block = (uint64_t)(uintptr_t)probe.resources.block;
    probe.state.block_bytes = rtl_probe_block_bytes(probe.resources.dies);
    probe.state.dies = probe.resources.dies;
    set_why(RTL_PROBE_WHY_NONE);
    set_phase(RTL_PROBE_PHASE_PREPARED);
}

/* The block's numbers are accounted for. The gate may open again when the block is cleared. */
static void continue_probe(uint64_t now)
{
    probe.lost = false;
    probe.taken_at = 0;
    if (probe.state.phase != RTL_PROBE_PHASE_ARMED)
        close_gate();
    else if (probe.state.wanted && probe.state.probed >= probe.state.wanted)
        end_probe(RTL_PROBE_WHY_DONE);
    else
        begin_copy(rtl_probe_resources_clear, CLEARING, now);
}

static void add_numbers(uint64_t now)
{
    uint64_t expected = rtl_probe_waves_of(GATE->grid, GATE->workgroup);
    if (probe.lost && rtl_probe_waves_in(probe.resources.host, probe.resources.dies) != expected) {
        probe.poll_at = now + LOST_LOOK;
        return;
    }
    if (!probe.lost) {
        rtl_probe_add(&probe.state, probe.resources.host, probe.resources.dies, &GATE->gpu->rate, probe.duration_ns,
                      expected);
        probe.changed = true;
    }
    continue_probe(now);
}

static void poll_copy(uint64_t now)
{
    if (probe.copy == NO_COPY)
        return;
    int64_t value = rtl_probe_resources_copying(&probe.resources);
    int what = probe.copy;
    bool late = probe.copy_abandoned;
    if (value > 0) {
        probe.copy_abandoned |= now - probe.copy_since > COPYING;
        if (probe.copy_abandoned && !late)
            give_up_copies();
        return;
    }
    probe.copy = NO_COPY;
    probe.copy_abandoned = false;
    if (value < 0) /* its writes are unknown and may go on; further copies would fail, too */
        probe.copies_failed = probe.leak = true;
    if (value < 0 || late)
        give_up_copies();
    else if (what == READING)
        add_numbers(now);
    else if (probe.preparing)
        answer_prepare();
    else if (probe.state.phase == RTL_PROBE_PHASE_ARMED)
        atomic_store(&GATE->state, RTL_GATE_FREE);
}

/* --- the dispatch that has the gate --- */

void rtl_probe_over(enum rtl_probe_end how, uint64_t duration_ns)
{
    probe.over = true;
    probe.end = how;
    probe.duration_ns = duration_ns;
}

/* A dispatch that doesn't end keeps the probe's place, perhaps for ever. A lost one releases the place: its block
 * and code are never freed, so it may continue. */
static void give_up_dispatch(void)
{
    if (probe.lost && probe.copy != NO_COPY)
        return; /* first the copy must be over */
    disarm_gate();
    if (probe.state.why != RTL_PROBE_WHY_QUEUE_ERROR)
        set_why(RTL_PROBE_WHY_STUCK);
    set_phase(RTL_PROBE_PHASE_OVER);
    if (probe.lost) {
        probe.lost = false;
        close_gate();
    }
}

static void poll_gate(uint64_t now)
{
    uint64_t seen = atomic_load_explicit(&GATE->seen, memory_order_relaxed);
    uint64_t taken = atomic_load_explicit(&GATE->taken, memory_order_relaxed);
    uint32_t state = gate_state();
    if (!probe.placed || !probe.state.armed_mono_ns)
        return;
    probe.changed |= probe.state.dispatches != seen || probe.state.probed != taken;
    probe.state.dispatches = seen;
    probe.state.probed = taken;
    if (state == RTL_GATE_TAKEN || probe.lost) {
        probe.taken_at = probe.taken_at ? probe.taken_at : now;
        if (now - probe.taken_at > STUCK && probe.state.phase != RTL_PROBE_PHASE_OVER)
            give_up_dispatch();
    }
    if (state == RTL_GATE_TAKEN && probe.over) {
        probe.over = false;
        atomic_store(&GATE->state, RTL_GATE_HELD);
        probe.lost = probe.end == RTL_PROBE_LOST;
        probe.leak |= probe.lost;
        if (probe.end == RTL_PROBE_QUEUE_GONE && probe.state.phase == RTL_PROBE_PHASE_ARMED)
            /* not every queue's errors are seen: the copy may have caused its end */
            end_probe(atomic_load(&GATE->failed) ? RTL_PROBE_WHY_QUEUE_ERROR : RTL_PROBE_WHY_QUEUE_GONE);
        else if ((probe.end == RTL_PROBE_TIMED || probe.end == RTL_PROBE_LOST) &&
                 probe.state.phase != RTL_PROBE_PHASE_OVER)
            begin_copy(rtl_probe_resources_read, READING, now);
        else
            continue_probe(now);
    } else if (probe.lost && probe.copy == NO_COPY && now >= probe.poll_at) {
        begin_copy(rtl_probe_resources_read, READING, now);
    }
}

/* --- requests --- */

static void poll_word(uint64_t now)
{
    uint64_t word = __atomic_load_n(&rtl_tool.segment.probe_page->word, __ATOMIC_ACQUIRE);
    uint16_t heartbeat = probe.word.heartbeat;
    if (word == probe.word_seen)
        return;
    probe.word_seen = word;
    if (rtl_probe_decode(word, &probe.word) && probe.word.heartbeat != heartbeat)
        probe.heartbeat_at = now;
}

/* Copy the request. False if it isn't the one in the word. */
static bool copy_request(struct rtl_probe_request *request)
{
    const struct rtl_probe_page *page = rtl_tool.segment.probe_page;
    struct rtl_probe_word now = {.number = 0};
    uint64_t words[sizeof *request / 8];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = __atomic_load_n((const shared_word *)&page->request + i, __ATOMIC_RELAXED);
    memcpy(request, words, sizeof words);
    atomic_thread_fence(memory_order_acquire); /* the copy is complete before the word is read again */
    return rtl_probe_decode(__atomic_load_n(&page->word, __ATOMIC_RELAXED), &now) && now.number == probe.word.number;
}

static void refuse_request(enum rtl_probe_why why, hsa_status_t status)
{
    probe.state.number = probe.word.number;
    probe.state.status = (uint32_t)status;
    set_why(why);
    set_phase(RTL_PROBE_PHASE_OVER);
}

/* The number invalidates the proof of an accepted request. The next request needs the new number, possibly before this
 * one is answered, so it is published at once. */
static void count_accepted(void)
{
    __atomic_store_n(&rtl_tool.segment.probe->accepted, ++probe.accepted, __ATOMIC_RELEASE);
}

/* True if the request's viewer may trace the process. The caller then counts the request as accepted. */
static bool is_permitted(const struct rtl_probe_request *request, enum rtl_probe_ask ask, const void *code)
{
    return rtl_probe_proof(&rtl_tool.segment.probe_key, request, ask, probe.accepted, code) == request->proof;
}

static void prepare_probe(const struct rtl_probe_request *request, uint64_t now)
{
    struct rtl_gpu *gpu = rtl_gpu_at(request->agent);
    hsa_status_t status = HSA_STATUS_SUCCESS;
    uint32_t sequence = probe.state.sequence;
    uint16_t number = probe.state.number;
    memset(&probe.state, 0, sizeof probe.state);
    probe.state.sequence = sequence;
    probe.state.number = number;
    probe.state.kernel_object = request->kernel_object;
    probe.state.agent = request->agent;
    probe.state.kernel = RTL_KERNEL_UNKNOWN;
    probe.taken_at = 0;
    probe.over = probe.lost = probe.leak = false;
    if (probe.queue_failed || probe.copies_failed) {
        refuse_request(probe.queue_failed ? RTL_PROBE_WHY_QUEUE_ERROR : RTL_PROBE_WHY_NO_NUMBERS, status);
        return;
    }
    /* the page exists because the process's first runtime had the functions; this runtime may be another one */
    if (!rtl_hsa_can_probe(&rtl_tool.hsa)) {
        refuse_request(RTL_PROBE_WHY_NOT_LOADED, HSA_STATUS_ERROR);
        return;
    }
    /* the reverse order of rtl_probe_gate_forget */
    atomic_store(&GATE->wanted_object, request->kernel_object);
    if (!gpu || !rtl_map_find(&rtl_kernel_map, request->kernel_object) ||
        rtl_kernels_is_elsewhere(request->kernel_object, gpu->agent.handle)) {
        disarm_gate();
        refuse_request(RTL_PROBE_WHY_NO_KERNEL, status);
        return;
    }
    if (!rtl_probe_resources_place(&probe.resources, gpu->agent, &status)) {
        disarm_gate();
        refuse_request(RTL_PROBE_WHY_NO_BLOCK, status);
        return;
    }
    probe.placed = probe.preparing = true;
    probe.asked_number = probe.word.number;
    GATE->gpu = gpu;
    probe.heartbeat_at = now;
    begin_copy(rtl_probe_resources_clear, CLEARING, now);
}

static bool is_valid_request(const struct rtl_probe_request *request)
{
    return request->kernel_object == probe.state.kernel_object && request->agent == probe.state.agent &&
           request->every > 0 && request->every <= RTL_PROBE_EVERY_MAX && request->code_bytes > 0 &&
           request->code_bytes <= RTL_PROBE_CODE_MAX && request->ends_shift <= SHIFT_MAX;
}

/* Return a private copy of the code if it is valid and has the announced hash; otherwise NULL and the reason. */
static void *copy_code(const struct rtl_probe_request *request, enum rtl_probe_why *why)
{
    const char *page = (const char *)rtl_tool.segment.probe_page;
    char *code = malloc(request->code_bytes);
    if (code)
        memcpy(code, page + RTL_PROBE_CODE_AT, request->code_bytes);
    bool permitted = code && is_permitted(request, RTL_PROBE_ASK_ARM, code);
    *why = code && !permitted ? RTL_PROBE_WHY_NOT_PERMITTED : RTL_PROBE_WHY_BAD_CODE;
    if (permitted)
        count_accepted();
    if (code && (!permitted || rtl_hash(code, request->code_bytes) != request->code_hash ||
                 !rtl_probe_elf_is_complete(code, request->code_bytes))) {
        free(code);
        code = NULL;
    }
    return code;
}

/* Open the gate. False: the application has unloaded the kernel meanwhile. */
static bool open_gate(const struct rtl_probe_request *request)
{
    GATE->probed_object = probe.resources.kernel_object;
    GATE->private_bytes = probe.resources.private_bytes;
    GATE->group_bytes = probe.resources.group_bytes;
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

static void arm_probe(const struct rtl_probe_request *request, uint64_t now)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    enum rtl_probe_why refused;
    char name[256] = "";
    probe.state.number = probe.word.number;
    probe.changed = true;
    if (probe.state.phase != RTL_PROBE_PHASE_PREPARED) {
        /* another viewer's probe continues; a prepared one that has ended keeps its reason */
        bool ended = probe.state.why != RTL_PROBE_WHY_NONE && !probe.state.armed_mono_ns;
        if (!ended && probe.state.phase != RTL_PROBE_PHASE_ARMED && probe.state.phase != RTL_PROBE_PHASE_ENDING)
            set_why(RTL_PROBE_WHY_BAD_REQUEST);
        return;
    }
    if (!is_valid_request(request)) {
        end_probe(RTL_PROBE_WHY_BAD_REQUEST);
        return;
    }
    if (rtl_policy_now() < RTL_TIME_UNSIGNALLED) {
        end_probe(RTL_PROBE_WHY_NOT_TIMED);
        return;
    }
    void *code = copy_code(request, &refused);
    if (!code) {
        end_probe(refused);
        return;
    }
    if (!rtl_probe_resources_load(&probe.resources, code, request->code_bytes, request->kernel_object, &status)) {
        probe.state.status = (uint32_t)status;
        end_probe(RTL_PROBE_WHY_NOT_LOADED);
        return;
    }
    /* the address may be another kernel's than the one that the viewer has copied */
    if (!probe.resources.has_its_name) {
        end_probe(RTL_PROBE_WHY_BAD_CODE);
        return;
    }
    probe.state.kernel = rtl_kernels_describe(request->kernel_object, name, sizeof name);
    probe.state.wanted = request->wanted;
    probe.state.every = request->every;
    probe.state.code_bytes = request->code_bytes;
    probe.state.code_hash = request->code_hash;
    probe.state.ends_shift = request->ends_shift;
    probe.state.probed_object = probe.resources.kernel_object;
    probe.state.armed_mono_ns = now;
    probe.state.tail_step_ns = rtl_ticks_to_ns(&GATE->gpu->rate, 1ull << request->ends_shift);
    rtl_say_nonblocking("a probe was loaded: %u bytes of code with hash %016llx, for 1 in %u dispatches of %s",
                        request->code_bytes, (unsigned long long)request->code_hash, request->every, name);
    set_phase(RTL_PROBE_PHASE_ARMED);
    if (!open_gate(request))
        end_probe(RTL_PROBE_WHY_KERNEL_GONE);
}

/* Refuse a PREPARE without a valid proof. A probe of another viewer continues. */
static void refuse_prepare(void)
{
    if (!probe.placed && !is_active()) {
        refuse_request(RTL_PROBE_WHY_NOT_PERMITTED, HSA_STATUS_SUCCESS);
        return;
    }
    probe.state.number = probe.word.number;
    probe.changed = true;
}

static void handle_request(uint64_t now)
{
    struct rtl_probe_request request;
    if (probe.preparing || probe.word.ask == RTL_PROBE_ASK_NOTHING || probe.word.number == probe.state.number ||
        !copy_request(&request))
        return;
    probe.request_handled = true;
    switch (probe.word.ask) {
    case RTL_PROBE_ASK_PREPARE:
        if (!is_permitted(&request, RTL_PROBE_ASK_PREPARE, NULL)) {
            refuse_prepare();
            break;
        }
        if (is_active())
            end_probe(RTL_PROBE_WHY_DISARMED);
        if (probe.placed && probe.state.phase != RTL_PROBE_PHASE_OVER)
            break; /* until the last probe has ended */
        count_accepted();
        if (!probe.placed)
            prepare_probe(&request, now);
        else
            refuse_request(probe.copy_abandoned ? RTL_PROBE_WHY_NO_NUMBERS : RTL_PROBE_WHY_STUCK, HSA_STATUS_SUCCESS);
        break;
    case RTL_PROBE_ASK_ARM:
        arm_probe(&request, now);
        break;
    default:
        probe.state.number = probe.word.number;
        probe.changed = true;
        if (is_active())
            end_probe(RTL_PROBE_WHY_DISARMED);
    }
}

/* --- rounds --- */

static void check_for_end(uint64_t now)
{
    bool armed = probe.state.phase == RTL_PROBE_PHASE_ARMED;
    if (atomic_load_explicit(&GATE->failed, memory_order_relaxed) && !probe.queue_failed) {
        probe.queue_failed = true;
        if (armed || probe.state.phase == RTL_PROBE_PHASE_ENDING)
            end_probe(RTL_PROBE_WHY_QUEUE_ERROR);
    }
    if (is_active()) {
        if (!atomic_load_explicit(&GATE->wanted_object, memory_order_relaxed))
            end_probe(RTL_PROBE_WHY_KERNEL_GONE);
        else if (now - probe.heartbeat_at > RTL_PROBE_HEARTBEAT_NS)
            end_probe(RTL_PROBE_WHY_UNWATCHED);
        else if (armed && rtl_policy_now() < RTL_TIME_UNSIGNALLED)
            end_probe(RTL_PROBE_WHY_NOT_TIMED);
    } else if (probe.placed && !probe.preparing) {
        close_gate();
    }
}

void rtl_probe_round(uint64_t now)
{
    if (!rtl_tool.segment.probe)
        return;
    poll_word(now);
    poll_copy(now);
    poll_gate(now);
    check_for_end(now);
    handle_request(now);
    publish_state();
}

bool rtl_probe_is_copying(uint64_t now)
{
    return probe.copy != NO_COPY && now - probe.copy_since < SOON;
}

bool rtl_probe_is_busy(void)
{
    bool asked = probe.request_handled;
    probe.request_handled = false;
    return asked || probe.state.phase == RTL_PROBE_PHASE_PREPARED || (probe.copy != NO_COPY && !probe.copy_abandoned) ||
           probe.lost || probe.state.phase == RTL_PROBE_PHASE_ENDING;
}

bool rtl_probe_is_needed(uint64_t now)
{
    if (!rtl_tool.segment.probe)
        return false;
    return rtl_probe_is_busy() || probe.over ||
           (probe.copy_abandoned && rtl_probe_resources_copying(&probe.resources) <= 0) ||
           __atomic_load_n(&rtl_tool.segment.probe_page->word, __ATOMIC_RELAXED) != probe.word_seen ||
           (is_active() && (now - probe.heartbeat_at > RTL_PROBE_HEARTBEAT_NS ||
                            !atomic_load_explicit(&GATE->wanted_object, memory_order_relaxed)));
}

uint64_t rtl_probe_longest_park(void)
{
    return rtl_tool.segment.probe ? LONGEST_PARK : UINT64_MAX;
}

void rtl_probe_stop(void)
{
    if (!rtl_tool.segment.probe)
        return;
    poll_gate(rtl_clock_now()); /* the results of the last round */
    bool alive = is_active() || probe.state.phase == RTL_PROBE_PHASE_ENDING || probe.preparing;
    if (probe.copy != NO_COPY || probe.lost || gate_state() == RTL_GATE_TAKEN) {
        probe.leak = true; /* the runtime frees it */
        probe.copy = NO_COPY;
        probe.copy_abandoned = probe.lost = probe.over = false;
        atomic_store(&GATE->state, RTL_GATE_CLOSED); /* no dispatch is timed any more */
    }
    probe.preparing = probe.copies_failed = false; /* another runtime's copies may work */
    if (alive)
        end_probe(RTL_PROBE_WHY_SHUTDOWN);
    else
        close_gate();
    publish_state();
}
