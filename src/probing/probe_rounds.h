/*
 * Times all waits of a kernel: each round is a probe (probe_session.h) whose copy times some of them, and begins when
 * the round before has ended. All rounds probe the same code on the same GPU.
 *
 * No function here blocks: call rtl_probe_rounds_step a few times a second at least. One thread; the reader stays open
 * until rtl_probe_rounds_end or _free.
 */
#ifndef RTL_PROBING_PROBE_ROUNDS_H
#define RTL_PROBING_PROBE_ROUNDS_H

#include "probing/probe_session.h"
#include "probing/stall_costs.h"

enum { RTL_PROBE_ROUND_WANTED = 20 }; /* dispatches for each copy if the wish doesn't say */

struct rtl_probe_rounds;

/* As rtl_probe_session_open. `wish` doesn't choose the waits; its total_ns is for all rounds. */
enum rtl_reader_status rtl_probe_rounds_open(struct rtl_reader *reader, pid_t pid, const struct rtl_snapshot *snapshot,
                                             const struct rtl_probe_wish *wish, struct rtl_probe_rounds **rounds,
                                             char *why, size_t why_bytes);
/* False once all rounds have ended: the process then has nothing of the probe left, and all results stay. */
bool rtl_probe_rounds_step(struct rtl_probe_rounds *rounds, bool alive, uint64_t now_ns);
void rtl_probe_rounds_stop(struct rtl_probe_rounds *rounds, uint64_t now_ns);
/* End the probe as rtl_probe_session_close does, and close all sessions; numbers stay. */
void rtl_probe_rounds_end(struct rtl_probe_rounds *rounds);
void rtl_probe_rounds_free(struct rtl_probe_rounds *rounds); /* NULL is allowed */

/* The running probe, or the last one. */
void rtl_probe_rounds_report(const struct rtl_probe_rounds *rounds, struct rtl_probe_told *told);
/* Valid until the next step. */
const struct rtl_stalls_report *rtl_probe_rounds_stalls(const struct rtl_probe_rounds *rounds);
struct rtl_stall_costs_progress rtl_probe_rounds_progress(const struct rtl_probe_rounds *rounds);

/* Once all rounds have ended: */
struct rtl_probe_rounds_ending {
    const struct rtl_probe_session *session; /* of the last round that recorded something, or of the first */
    enum rtl_reader_status refused;          /* not OK: why the next round could not be opened */
    struct rtl_probe_plan plan;              /* of the last round */
    char why[640];                           /* with the copies that are missing */
};
void rtl_probe_rounds_ending(const struct rtl_probe_rounds *rounds, struct rtl_probe_rounds_ending *ending);

#endif
