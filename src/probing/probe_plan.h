/*
 * A probe as a viewer runs it: what is to be asked of the library next, and when it is time to give up. Pure: what is
 * seen, and what time it is, goes in; what is to be done comes out. probe_session.h does it.
 *
 * What is seen is written by the process, which may be hostile, and the heartbeat by other viewers as well: whatever
 * they hold, a probe is over after bounded time, and what it asked for was taken back.
 */
#ifndef RTL_PROBING_PROBE_PLAN_H
#define RTL_PROBING_PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"
#include "shm/probe_page.h"
#include "shm/probe_state.h"

/* Why it is over, as the viewer sees it. X(symbol, JSON value, text: goes on from "the probe ended: ", what to do;
 * whether it could be another time) */
#define RTL_PROBING_OVERS(X)                                                                                           \
    X(NOT, "", "", "", true)                                                                                           \
    X(LIBRARY, "", "", "", true)         /* what the library says: RTL_PROBE_ENDS_WHY */                               \
    X(REFUSED, "refused", "", "", false) /* by the patch: RTL_PROBE_REFUSALS */                                        \
    X(NO_CODE, "no_code", "its code is not found in the process",                                                      \
      "is it of a runtime that keeps a list for debuggers?", false)                                                    \
    X(CODE_DENIED, "code_denied", "its memory may not be looked into",                                                 \
      "is rtl-top the process's user, with ptrace allowed?", false)                                                    \
    X(CODE_LATE, "code_late", "its code wasn't found within 30 s", "does the process hang while its memory is read?",  \
      true)                                                                                                            \
    X(CODE_CHANGED, "code_changed", "the file that its code was loaded from is another by now",                        \
      "start the process anew", false)                                                                                 \
    X(RELOADED, "reloaded", "its code isn't where it was found any more", "does the program load it anew each time?",  \
      true)                                                                                                            \
    X(OTHER_VIEWER, "other_viewer", "another viewer has a probe there", "one at a time: wait until that is over",      \
      true)                                                                                                            \
    X(NO_ANSWER, "no_answer", "its library doesn't answer", "does the process hang, or dispatch nothing?", true)       \
    X(NO_DISPATCH, "no_dispatch", "no dispatch of it came for 10 s", "probe a kernel that runs now", true)             \
    X(NOT_PROBED, "not_probed", "its dispatches come, and none of them is probed",                                     \
      "they may be another GPU's, or their packets of a kind that is left as it is", true)                             \
    X(TIMEOUT, "timeout", "the time for it is over", "--timeout gives it more, --every probes more of its dispatches", \
      true)                                                                                                            \
    X(STOPPED, "stopped", "it was stopped", "", true)                                                                  \
    X(EXITED, "exited", "the process has exited", "", true)                                                            \
    X(REPLACED, "replaced", "another viewer has put one in its place", "one at a time: wait until that is over", true) \
    X(DAMAGED, "damaged", "what its library says makes no sense", "the segment is damaged", false)                     \
    X(UNREADABLE, "unreadable", "its numbers can't be read: they are being written all the time",                      \
      "the segment is damaged", false)

enum rtl_probe_plan_over {
#define X(symbol, json, text, advice, another_time) RTL_PROBING_##symbol,
    RTL_PROBING_OVERS(X)
#undef X
        RTL_PROBING_OVER_COUNT
};

enum rtl_probe_plan_stage {
    RTL_PROBING_AT_FREE,    /* until no other viewer's probe is there */
    RTL_PROBING_AT_PREPARE, /* until there is a place for the numbers */
    RTL_PROBING_AT_PATCH,   /* until there is a copy */
    RTL_PROBING_AT_ARM,     /* until that is loaded */
    RTL_PROBING_AT_COUNT,   /* dispatches are probed */
    RTL_PROBING_AT_DISARM,  /* until it was taken back */
    RTL_PROBING_AT_END,
};

enum {
    RTL_PROBING_TARGETS = 16,
    RTL_PROBING_TICKS_SHOWN = 4, /* of a dispatch's time, `ends` covers so many */
};
#define RTL_PROBING_ANSWER_NS 5000000000ull  /* for the library to take up a request */
#define RTL_PROBING_QUIET_NS  10000000000ull /* without a dispatch, or one that was probed */
#define RTL_PROBING_TRY_NS    1000000000ull  /* where dispatches aren't probed, and another target may be meant */
#define RTL_PROBING_WAIT_NS   5000000000ull  /* the same where none comes */
#define RTL_PROBING_READ_NS   3000000000ull  /* of states that can't be read */

struct rtl_probe_plan_targets {
    struct rtl_probe_plan_target {
        uint64_t kernel_object;
        uint32_t agent;            /* index into the segment's agents */
    } target[RTL_PROBING_TARGETS]; /* tried one after another: the library has no such kernel, or on that agent no
                                      dispatch of it comes */
    uint32_t targets;
    uint32_t every, ends_shift;
    uint64_t wanted;   /* dispatches; 0: until it is stopped */
    uint64_t total_ns; /* for all of it; 0: no end */
};

struct rtl_probe_plan {
    struct rtl_probe_plan_targets plan;
    enum rtl_probe_plan_stage stage;
    enum rtl_probe_plan_over over;
    enum rtl_probe_why why; /* of the library's; RTL_PROBE_WHY_COUNT: one that isn't known here */
    uint32_t status;        /* hsa_status_t of it */
    enum rtl_probe_refusal refusal;
    uint32_t target; /* which one it is about */
    bool moved_on;   /* from `best`, which the library has, because of its dispatches none was probed: */
    uint32_t best;   /* with dispatches, where one had some */
    bool stays;      /* the library has no other one: it is waited for */
    bool counted;    /* it was armed: state has its numbers, the last whole ones */
    bool disarmed;   /* the library has nothing of ours any more */
    bool asked;      /* `number` is that of a request of ours */
    uint16_t number;
    enum rtl_probe_ask ask; /* what is to be asked for, or was last */
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
    bool alive;                          /* the process is */
    const struct rtl_probe_state *state; /* NULL: it couldn't be read whole */
    bool beats;                          /* the page's word is one: */
    uint16_t heartbeat;                  /* nobody's who asks here sends one so far */
    uint16_t number;                     /* of the request that was written last, by whichever viewer */
};

enum rtl_probe_plan_do {
    RTL_PROBING_DO_WAIT,  /* nothing, for now */
    RTL_PROBING_DO_ASK,   /* probing->ask with probing->request; then rtl_probe_plan_asked */
    RTL_PROBING_DO_PATCH, /* for state.block and the target; then rtl_probe_plan_patched */
    RTL_PROBING_DO_END,   /* nothing, any more */
};

void rtl_probe_plan_begin(struct rtl_probe_plan *probing, const struct rtl_probe_plan_targets *plan, uint64_t now_ns);
enum rtl_probe_plan_do rtl_probe_plan_look(struct rtl_probe_plan *probing, const struct rtl_probe_plan_seen *seen,
                                           uint64_t now_ns);
/* The request's number. */
void rtl_probe_plan_asked(struct rtl_probe_plan *probing, uint16_t number, uint64_t now_ns);
void rtl_probe_plan_patched(struct rtl_probe_plan *probing, enum rtl_probe_refusal refusal, uint64_t hash,
                            uint32_t bytes, uint64_t now_ns);
/* It shall end; looks go on until DO_END. Once is enough. */
void rtl_probe_plan_stop(struct rtl_probe_plan *probing, enum rtl_probe_plan_over why, uint64_t now_ns);

/*
 * Another viewer has asked since: what the library holds is that one's now, or soon. Nothing is asked for then, and
 * nothing is taken back.
 */
static inline bool rtl_probe_plan_gave_way(const struct rtl_probe_plan *probing, const struct rtl_probe_plan_seen *seen)
{
    return probing->asked && seen->beats && seen->number != probing->number;
}

/* Whether a heartbeat has to be sent: there is something of ours in the library. */
static inline bool rtl_probe_plan_holds(const struct rtl_probe_plan *probing)
{
    return probing->asked && !probing->disarmed && probing->stage != RTL_PROBING_AT_END;
}

/* As many as were wanted. */
static inline bool rtl_probe_plan_is_done(const struct rtl_probe_plan *probing)
{
    return probing->over == RTL_PROBING_LIBRARY && probing->why == RTL_PROBE_WHY_DONE;
}

/* Why it is over, and what to do about it. Empty while it isn't. */
void rtl_probe_plan_reason(const struct rtl_probe_plan *probing, char *out, size_t size);
/* The same as a line of its own. */
void rtl_probe_plan_text(const struct rtl_probe_plan *probing, char *out, size_t size);
/* The same as one word. */
const char *rtl_probe_plan_word(const struct rtl_probe_plan *probing);

/* How coarse `ends` has to be, so that its steps cover RTL_PROBING_TICKS_SHOWN times a dispatch's duration. */
uint32_t rtl_probe_plan_ends_shift(uint64_t duration_ns, uint64_t tick_hz);
/* One in how many: about a tenth of the dispatches, and at most 100 a second of them. */
uint32_t rtl_probe_plan_every(double per_second);

#endif
