/*
 * A probe of one kernel of one process, from finding its code to its last number: carries out the actions of
 * probe_plan.h. No function blocks: call rtl_probe_session_step a few times a second at least.
 *
 * Owns its link to the process's probe page, its copy of the code and the thread that fetches it. One thread; the
 * reader stays open meanwhile.
 */
#ifndef RTL_PROBING_PROBE_SESSION_H
#define RTL_PROBING_PROBE_SESSION_H

#include "probe/patch.h"
#include "record/probe_told.h"
#include "probing/probe_fetch.h"
#include "probing/probe_plan.h"
#include "shm/probe_client.h"

#define RTL_PROBE_FIND_NS 30000000000ull /* to find the code */

struct rtl_probe_wish {
    const char *kernel;   /* full name; copied */
    uint32_t row;         /* the segment's row */
    uint64_t duration_ns; /* p50 of its duration; 0: not known */
    double per_second;    /* its dispatches a second */
    uint64_t wanted;      /* dispatches; 0: until stopped */
    uint32_t every;       /* probe one in so many; 0: as rtl_probe_plan_every says */
    int gpu;              /* number on screen; -1: the first that ran the kernel */
    uint64_t total_ns;    /* time limit for the probe; 0: none */
    bool waits;           /* time the waits of `round` (patch.h) */
    uint32_t round;
    /* probe only this code, and first at this address; NULL: any code of the kernel. Owned by another session, which
     * stays open until this one has found its code */
    const struct rtl_probe_fetch_copy *like;
};

struct rtl_probe_session { /* callers may read it; members without a comment are private */
    struct rtl_probe_wish wish;
    struct rtl_reader *reader;
    struct rtl_probe_link link;
    pid_t pid;
    struct rtl_probe_fetch *code;
    const struct rtl_probe_fetch_found *found; /* of `code`; NULL before it is known */
    struct rtl_probe_fetch *again; /* a second search, once the library watches the kernel object; or NULL */
    uint64_t again_ns;             /* start of that search */
    bool finding;                  /* still searching the code; then `probing` runs */
    uint64_t began_ns, beat_ns;
    struct rtl_probe_plan probing;
    bool alike[RTL_PROBE_CODES_MAX];       /* copies that match the wished code */
    uint32_t copy_of[RTL_PROBING_TARGETS]; /* copy of each target */
    struct rtl_probe_patch patch;          /* valid once made or refused */
    struct rtl_session_gpu {
        uint32_t gpu, agent, compute_units;
        uint64_t tick_hz;
        char name[RTL_AGENT_NAME_MAX + 1];
    } gpus[RTL_AGENTS_MAX];
    uint32_t gpu_count;
    char *kernel;
};

/* Open a session; on OK call rtl_probe_session_step. Otherwise `why` gets one line, and there is no session. */
enum rtl_reader_status rtl_probe_session_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                              const struct rtl_probe_wish *wish, struct rtl_probe_session **session,
                                              char *why, size_t why_bytes);
/* Continue. False once the probe has ended and the process has nothing of it left. `alive`: the process is alive. */
bool rtl_probe_session_step(struct rtl_probe_session *session, bool alive, uint64_t now_ns);
/* End the probe; keep calling step until it has ended. */
void rtl_probe_session_stop(struct rtl_probe_session *session, uint64_t now_ns);
/* Close the session. A probe still in the process ends once heartbeats stop. NULL is allowed. */
void rtl_probe_session_close(struct rtl_probe_session *session);

static inline bool rtl_probe_session_is_over(const struct rtl_probe_session *session)
{
    return !session->finding && session->probing.stage == RTL_PROBING_AT_END;
}

/* Report stage and numbers. */
void rtl_probe_session_report(const struct rtl_probe_session *session, struct rtl_probe_told *told);

/* Return the probed code object; NULL until known. */
const struct rtl_probe_fetch_copy *rtl_probe_session_original(const struct rtl_probe_session *session);
/* Return the probed GPU; NULL until known. */
const struct rtl_session_gpu *rtl_probe_session_gpu(const struct rtl_probe_session *session);

#endif
