/*
 * A probe on one kernel of one process, from finding its code to its last number: carries out what probing.h decides.
 * Nothing here waits: rtl_probe_session_step is called again and again, a few times a second at least.
 *
 * Owns its link to the process's probe page, its copy of the code and the thread that looks for it. Threads: one. The
 * reader has to stay open meanwhile.
 */
#ifndef RTL_PROBING_PROBE_SESSION_H
#define RTL_PROBING_PROBE_SESSION_H

#include "probe/patch.h"
#include "record/probe_told.h"
#include "probing/probe_fetch.h"
#include "probing/probe_plan.h"
#include "shm/probe_client.h"

#define RTL_PROBE_FIND_NS 30000000000ull /* for the code to be found */

struct rtl_probe_wish {
    const char *kernel;   /* full name; copied */
    uint32_t row;         /* its row */
    uint64_t duration_ns; /* its p50, 0: not known */
    double per_second;    /* its dispatches */
    uint64_t wanted;      /* dispatches; 0: until it is stopped */
    uint32_t every;       /* one in how many; 0: as rtl_probe_plan_every says */
    int gpu;              /* number on screen; -1: the first that had it */
    uint64_t total_ns;    /* for all of it; 0: no end */
    bool waits;           /* waits are timed: those of `round` (patch.h) */
    uint32_t round;
    /* no other code than this, and first where this is; NULL: any that has the kernel. Another session's, which stays
     * open until this one has found its code */
    const struct rtl_probe_fetch_copy *like;
};

struct rtl_probe_session { /* to be read; what isn't explained is its own */
    struct rtl_probe_wish wish;
    struct rtl_reader *reader;
    struct rtl_probe_link link;
    pid_t pid;
    struct rtl_probe_fetch *code;
    struct rtl_probe_fetch *again; /* another look, when the library watches over what it finds; or NULL */
    uint64_t again_ns;             /* since when */
    bool finding;                  /* the code; then `probing` goes on */
    uint64_t began_ns, beat_ns;
    struct rtl_probe_plan probing;
    bool alike[RTL_PROBE_CODES_MAX];       /* which of the code's copies are of the wished code */
    uint32_t copy_of[RTL_PROBING_TARGETS]; /* which of them a target has */
    struct rtl_probe_patch patch;          /* once there is one, or it was refused */
    struct rtl_session_gpu {
        uint32_t gpu, agent, compute_units;
        uint64_t tick_hz;
        char name[RTL_AGENT_NAME_MAX + 1];
    } gpus[RTL_AGENTS_MAX];
    uint32_t gpu_count;
    char *kernel;
};

/* OK: it goes on with rtl_probe_session_step. Otherwise `why` gets one line, and there is no session. */
enum rtl_reader_status rtl_probe_session_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                              const struct rtl_probe_wish *wish, struct rtl_probe_session **session,
                                              char *why, size_t why_bytes);
/* False once it is over, and nothing of it is left in the process. `alive`: the process is. */
bool rtl_probe_session_step(struct rtl_probe_session *session, bool alive, uint64_t now_ns);
/* It shall end; steps go on until it has. */
void rtl_probe_session_stop(struct rtl_probe_session *session, uint64_t now_ns);
/* Whatever is still in the process ends by itself, when nobody watches any more. NULL is allowed. */
void rtl_probe_session_close(struct rtl_probe_session *session);

static inline bool rtl_probe_session_is_over(const struct rtl_probe_session *session)
{
    return !session->finding && session->probing.stage == RTL_PROBING_AT_END;
}

/* How far it is, and what it has measured. */
void rtl_probe_session_tell(const struct rtl_probe_session *session, struct rtl_probe_told *told);

/* The code object that it is about: NULL until it is known. */
const struct rtl_probe_fetch_copy *rtl_probe_session_original(const struct rtl_probe_session *session);
/* The GPU that it is on: NULL until it is known. */
const struct rtl_session_gpu *rtl_probe_session_gpu(const struct rtl_probe_session *session);

#endif
