/*
 * A kernel's waits, timed by one copy of it after another until each has been: probes (probe_session.h) that begin as
 * the one before is over. Nothing here waits: rtl_probe_rounds_step is called again and again, a few times a second at
 * least. One thread; the reader has to stay open meanwhile.
 */
#ifndef RTL_PROBING_PROBE_ROUNDS_H
#define RTL_PROBING_PROBE_ROUNDS_H

#include "probing/probe_session.h"
#include "probing/stall_lines.h"

/* --- one after another, for whoever steps each of them --- */

enum rtl_probe_round {
    RTL_PROBE_ROUND_LAST,  /* as it is over: all were timed, or it ended before it was done */
    RTL_PROBE_ROUND_NEXT,  /* `wish` is that of the next one, on the same GPU */
    RTL_PROBE_ROUND_MIXED, /* the kernel isn't that of the round before: its numbers were not taken */
};
#define RTL_PROBE_MIXED_TEXT "the process has several kernels of that name, and runs now one, now another"

/* A round is over: its numbers are added. `hash` is that of the code, kept from round to round, 0 at the first. */
enum rtl_probe_round rtl_probe_round_over(struct rtl_stall_costs *stalls, const struct rtl_probe_session *session,
                                          uint64_t *hash, struct rtl_probe_wish *wish);

/* --- all of them --- */

enum { RTL_PROBE_ROUND_WANTED = 20 }; /* dispatches for each copy, where nobody says */

struct rtl_probe_rounds;

/* As rtl_probe_session_open; which waits, is not for `wish` to say. */
enum rtl_reader_status rtl_probe_rounds_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                             const struct rtl_probe_wish *wish, struct rtl_probe_rounds **rounds,
                                             char *why, size_t why_bytes);
/* False once all is over: then nothing of it is left in the process, and what it has to tell stays. */
bool rtl_probe_rounds_step(struct rtl_probe_rounds *rounds, bool alive, uint64_t now_ns);
void rtl_probe_rounds_stop(struct rtl_probe_rounds *rounds, uint64_t now_ns);
/* The probe ends as in rtl_probe_session_close; what there is to tell stays. */
void rtl_probe_rounds_end(struct rtl_probe_rounds *rounds);
void rtl_probe_rounds_free(struct rtl_probe_rounds *rounds); /* NULL is allowed */

/* Of the probe that runs, or was the last. */
void rtl_probe_rounds_tell(const struct rtl_probe_rounds *rounds, struct rtl_probe_told *told);
/* Valid until the next step. */
const struct rtl_stalls_told *rtl_probe_rounds_stalls(const struct rtl_probe_rounds *rounds);

#endif
