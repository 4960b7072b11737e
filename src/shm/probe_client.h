/*
 * The viewer's side of a probe: finding the probe page (probe_page.h), asking, and reading what the library says
 * (probe_state.h).
 *
 * Page and segment belong to the traced process, which may be hostile: only a sealed memfd is mapped, nothing else is
 * written to, and what is read is bounded before it is handed out. One thread a link.
 */
#ifndef RTL_SHM_PROBE_CLIENT_H
#define RTL_SHM_PROBE_CLIENT_H

#include <stdbool.h>

#include "shm/probe_page.h"
#include "shm/probe_state.h"
#include "shm/segment_reader.h"

struct rtl_probe_link {
    struct rtl_probe_page *page;
};

/* Opens the page of the process that the reader has open. On failure `why` gets one line, and the link leads nowhere:
 * NO_PROBE, or PERMISSION. */
enum rtl_reader_status rtl_probe_open(const struct rtl_reader *reader, struct rtl_probe_link *link, char *why,
                                      size_t why_bytes);
void rtl_probe_close(struct rtl_probe_link *link);
/* Whether NO_PROBE is for want of RTL_PROBE=1: another start helps then, and only then. */
bool rtl_probe_wants_setting(const struct rtl_reader *reader);

/* Somebody watches. At least once a second from PREPARE until it is over. */
void rtl_probe_heartbeat(struct rtl_probe_link *link);

/* The word as it is, heartbeat and all: who doesn't hold the probe sees by its changes whether somebody does. */
uint64_t rtl_probe_word_now(const struct rtl_probe_link *link);
/* The viewer that wrote last, by its own account; 0: none did. */
uint64_t rtl_probe_writer(const struct rtl_probe_link *link);

/*
 * The three requests. They return the request's number, never 0: it was taken up once the state has that number, and
 * answered by phase and why at the same time. Of `request`, ARM takes kernel_object, agent, wanted, every and
 * ends_shift; code_bytes and code_hash are made here. It goes on from the PREPARE of that number, in whose block the
 * copy's waves write: 0, and nothing was asked, if another request has come since, or the code is too long.
 */
uint16_t rtl_probe_prepare(const struct rtl_reader *reader, struct rtl_probe_link *link, uint64_t kernel_object,
                           uint32_t agent);
uint16_t rtl_probe_arm(const struct rtl_reader *reader, struct rtl_probe_link *link, uint16_t prepared,
                       const struct rtl_probe_request *request, const void *code, size_t bytes);
uint16_t rtl_probe_disarm(const struct rtl_reader *reader, struct rtl_probe_link *link);

/*
 * Where the probe stands. False when the process has none, or the state couldn't be had whole just now: then what was
 * read before holds on. What is handed out is bounded: phase and why are in their tables (a newer library's reason is
 * NONE), agent is below RTL_AGENTS_MAX, kernel below RTL_KERNELS_MAX, ends_shift below 64, recorded <= probed <=
 * dispatches, tails <= recorded; minima are 0 where there is nothing. All other numbers are the process's word.
 */
bool rtl_reader_probe(const struct rtl_reader *reader, struct rtl_probe_state *state);

#endif
