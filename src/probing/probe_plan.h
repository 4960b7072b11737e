/*
 * The state machine of a viewer's probe: which request to make next, and when to give up. Pure: observations and time
 * go in, actions come out; probe_session.h carries them out.
 *
 * The plan's observations are untrusted: the process, which may be hostile, writes the states, and other viewers write
 * the heartbeat. Whatever they write, a probe ends within bounded time, and no request of this viewer stays in force.
 */
#ifndef RTL_PROBING_PROBE_PLAN_H
#define RTL_PROBING_PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"
#include "shm/probe_page.h"
#include "shm/probe_state.h"

/* Why the viewer ended a probe. X(symbol, JSON value, text that continues "the probe ended: ", advice, true if another
 * attempt may succeed) */
#define RTL_PROBING_OVERS(X)                                                                                           \
    X(NOT, "", "", "", true)                                                                                           \
    X(LIBRARY, "", "", "", true)         /* the library ended it: RTL_PROBE_ENDS_WHY */                                \
    X(REFUSED, "refused", "", "", false) /* the viewer made no copy: RTL_PROBE_REFUSALS */                             \
    X(NO_CODE, "no_code", "its code is not found in the process", "does its runtime keep a list for debuggers?",       \
      false)                                                                                                           \
    X(CODE_DENIED, "code_denied", "its memory may not be read", "is rtl-top the process's user, with ptrace allowed?", \
      false)                                                                                                           \
    X(CODE_LATE, "code_late", "its code wasn't found within 30 s", "does the process hang while its memory is read?",  \
      true)                                                                                                            \
    X(CODE_CHANGED, "code_changed", "the file that its code was loaded from has changed", "start the process anew",    \
      false)                                                                                                           \
    X(RELOADED, "reloaded", "its code was unloaded or moved", "does the program load it anew each time?", true)        \
    X(OTHER_VIEWER, "other_viewer", "another viewer has a probe there", "one at a time: wait until that is over",      \
      true)                                                                                                            \
    X(NO_ANSWER, "no_answer", "its library doesn't answer", "does the process hang, or dispatch nothing?", true)       \
    X(NO_DISPATCH, "no_dispatch", "no dispatch of it came for 10 s", "probe a kernel that runs now", true)             \
    X(NOT_PROBED, "not_probed", "its dispatches run, but none of them is probed",                                      \
      "they may run on another GPU, or their packets may be of a kind that probes skip", true)                         \
    X(TIMEOUT, "timeout", "the time for it is over", "--timeout gives it more, --every probes more of its dispatches", \
      true)                                                                                                            \
    X(STOPPED, "stopped", "it was stopped", "", true)                                                                  \
    X(EXITED, "exited", "the process has exited", "", true)                                                            \
    X(REPLACED, "replaced", "another viewer has replaced it", "one at a time: wait until that is over", true)          \
    X(DAMAGED, "damaged", "its library's numbers are impossible", "the segment is damaged", false)                     \
    X(UNREADABLE, "unreadable", "its numbers can't be read: the library keeps writing them", "the segment is damaged", \
      false)

enum rtl_probe_plan_over {
#define X(symbol, json, text, advice, another_time) RTL_PROBING_##symbol,
    RTL_PROBING_OVERS(X)
#undef X
};

enum rtl_probe_plan_stage {
    RTL_PROBING_AT_FREE,    /* until no other viewer has a probe */
    RTL_PROBING_AT_PREPARE, /* until the library has allocated the block */
    RTL_PROBING_AT_PATCH,   /* until the copy is made */
    RTL_PROBING_AT_ARM,     /* until the copy is loaded */
    RTL_PROBING_AT_COUNT,   /* dispatches run the copy */
    RTL_PROBING_AT_DISARM,  /* until the library has disarmed */
    RTL_PROBING_AT_END,
};

enum {
    RTL_PROBING_TARGETS = 16,
    RTL_PROBING_TICKS_SHOWN = 4, /* `ends` covers 4 times a dispatch's duration */
};
/* The plan gives up after these times, or tries the next target. */
#define RTL_PROBING_ANSWER_NS 5000000000ull  /* give up: the library did not answer a request */
#define RTL_PROBING_QUIET_NS  10000000000ull /* give up: no dispatch came, or none was probed */
#define RTL_PROBING_TRY_NS    1000000000ull  /* next target: dispatches came, but none was probed */
#define RTL_PROBING_WAIT_NS   5000000000ull  /* next target: no dispatch came */
#define RTL_PROBING_READ_NS   3000000000ull  /* give up: no consistent state could be read */

struct rtl_probe_plan_targets {
    struct rtl_probe_plan_target {
        uint64_t kernel_object;
        uint32_t agent;            /* index into the segment's agents */
    } target[RTL_PROBING_TARGETS]; /* the plan tries the next one if the library has no such kernel, or if the agent
                                      gets no dispatch of the kernel */
    uint32_t targets;
    uint32_t every, ends_shift;
    uint64_t wanted;   /* dispatches; 0: until stopped */
    uint64_t total_ns; /* time limit for the probe; 0: none */
};

struct rtl_probe_plan {
    struct rtl_probe_plan_targets plan;
    enum rtl_probe_plan_stage stage;
    enum rtl_probe_plan_over over;
    enum rtl_probe_why why; /* the library's reason; RTL_PROBE_WHY_COUNT: not known to this viewer */
    uint32_t status;        /* hsa_status_t of that reason */
    enum rtl_probe_refusal refusal;
    uint32_t target; /* index of the current target */
    bool moved_on;   /* left `best`, a target that the library has, because none of its dispatches was probed */
    uint32_t best;   /* preferably a target with dispatches */
    bool stays;      /* the library has no other target: keep waiting for this one */
    bool counted;    /* armed before: `state` has its last whole numbers */
    bool disarmed;   /* the library holds nothing of this probe any more */
    bool asked;      /* `number` is of a request of this probe */
    uint16_t number;
    enum rtl_probe_ask ask; /* the next request, or the last one */
    struct rtl_probe_request request;
    struct rtl_probe_state state;
    uint64_t code_hash;
    uint32_t code_bytes;
    /* monotonic */
    uint64_t began_ns, stage_ns, read_ns, dispatch_ns, record_ns, beat_ns;
    uint64_t dispatches_at_record;
    uint16_t beat;
    bool beat_seen;
};

struct rtl_probe_plan_seen {
    bool alive;                          /* the process is alive */
    const struct rtl_probe_state *state; /* NULL: no consistent copy */
    bool beats;                          /* a viewer wrote the page's word */
    uint16_t heartbeat;                  /* at AT_FREE: another viewer's heartbeat */
    uint16_t number;                     /* of the last request of any viewer */
};

enum rtl_probe_plan_do {
    RTL_PROBING_DO_WAIT,  /* wait */
    RTL_PROBING_DO_ASK,   /* make the request probing->ask, probing->request; then call rtl_probe_plan_asked */
    RTL_PROBING_DO_PATCH, /* make the copy for state.block and the target; then call rtl_probe_plan_patched */
    RTL_PROBING_DO_END,   /* the probe has ended */
};

void rtl_probe_plan_begin(struct rtl_probe_plan *probing, const struct rtl_probe_plan_targets *plan, uint64_t now_ns);
enum rtl_probe_plan_do rtl_probe_plan_step(struct rtl_probe_plan *probing, const struct rtl_probe_plan_seen *seen,
                                           uint64_t now_ns);
/* Report the number of the request. */
void rtl_probe_plan_asked(struct rtl_probe_plan *probing, uint16_t number, uint64_t now_ns);
void rtl_probe_plan_patched(struct rtl_probe_plan *probing, enum rtl_probe_refusal refusal, uint64_t hash,
                            uint32_t bytes, uint64_t now_ns);
/* End the probe; keep calling rtl_probe_plan_step until DO_END. */
void rtl_probe_plan_stop(struct rtl_probe_plan *probing, enum rtl_probe_plan_over why, uint64_t now_ns);

/* True if another viewer has made a later request: the library carries out, or will carry out, that viewer's probe.
 * This plan then makes no further request, not even DISARM. */
static inline bool rtl_probe_plan_gave_way(const struct rtl_probe_plan *probing, const struct rtl_probe_plan_seen *seen)
{
    return probing->asked && seen->beats && seen->number != probing->number;
}

/* True while the library may hold a block or a copy of this probe: the viewer then sends heartbeats. */
static inline bool rtl_probe_plan_holds(const struct rtl_probe_plan *probing)
{
    return probing->asked && !probing->disarmed && probing->stage != RTL_PROBING_AT_END;
}

/* True if all wanted dispatches were probed. */
static inline bool rtl_probe_plan_is_done(const struct rtl_probe_plan *probing)
{
    return probing->over == RTL_PROBING_LIBRARY && probing->why == RTL_PROBE_WHY_DONE;
}

/* Write why the probe ended, and advice; empty while the probe runs. */
void rtl_probe_plan_reason(const struct rtl_probe_plan *probing, char *out, size_t size);
/* Write reason and advice as a complete line. */
void rtl_probe_plan_text(const struct rtl_probe_plan *probing, char *out, size_t size);
/* Return the reason as one word. */
const char *rtl_probe_plan_word(const struct rtl_probe_plan *probing);

/* Return the shift of `ends` whose steps cover RTL_PROBING_TICKS_SHOWN times a dispatch's duration. */
uint32_t rtl_probe_plan_ends_shift(uint64_t duration_ns, uint64_t tick_hz);
/* Return `every`: probe about a tenth of the dispatches, and at most 100 a second. */
uint32_t rtl_probe_plan_every(double per_second);

#endif
