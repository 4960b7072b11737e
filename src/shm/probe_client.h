/*
 * The viewer's side of a probe: find the probe page (probe_page.h), write requests, read the library's state
 * (probe_state.h).
 *
 * Page and segment belong to the traced process, which may be hostile: the client maps and writes only a sealed memfd,
 * and bounds everything it reads. One thread a link.
 */
#ifndef RTL_SHM_PROBE_CLIENT_H
#define RTL_SHM_PROBE_CLIENT_H

#include <stdbool.h>

#include "shm/probe_page.h"
#include "shm/probe_state.h"
#include "shm/segment_reader.h"

struct rtl_probe_link {
    struct rtl_probe_page *page;
    struct rtl_hash_key key; /* of requests; zeros with an older library, which needs none */
};

/* Open the page of the reader's process. On failure `why` gets one line, and the link's page is NULL: NO_PROBE or
 * PERMISSION also if the viewer may open the page, but not trace the process. */
enum rtl_reader_status rtl_probe_open(const struct rtl_reader *reader, struct rtl_probe_link *link, char *why,
                                      size_t why_bytes);
void rtl_probe_close(struct rtl_probe_link *link);
/* True if NO_PROBE means that RTL_PROBE=1 is missing: only then a restart helps. */
bool rtl_probe_wants_setting(const struct rtl_reader *reader);
/* True if the process accepts probes now. */
bool rtl_probe_is_allowed(const struct rtl_reader *reader);

/* Tell the library that the viewer is open; at least once a second from PREPARE until the end. */
void rtl_probe_heartbeat(struct rtl_probe_link *link);

/* Return the raw word; its changes show whether another viewer sends heartbeats. */
uint64_t rtl_probe_word_now(const struct rtl_probe_link *link);
/* Return the pid of the viewer that wrote last, by its own account; 0: none. */
uint64_t rtl_probe_writer(const struct rtl_probe_link *link);

/* The three requests. Each returns its number, never 0. The library has taken up a request once the state has its
 * number; phase and why then hold the answer. ARM uses kernel_object, agent, wanted, every and ends_shift of `request`,
 * and sets code_bytes and code_hash. It continues the PREPARE of number `prepared`, whose block the copy's waves write;
 * it returns 0 and requests nothing if another request has come since, or the code is too long. */
uint16_t rtl_probe_prepare(const struct rtl_reader *reader, struct rtl_probe_link *link, uint64_t kernel_object,
                           uint32_t agent);
uint16_t rtl_probe_arm(const struct rtl_reader *reader, struct rtl_probe_link *link, uint16_t prepared,
                       const struct rtl_probe_request *request, const void *code, size_t bytes);
uint16_t rtl_probe_disarm(const struct rtl_reader *reader, struct rtl_probe_link *link);

/* Read the state of the probe. False without a probe, or if no consistent copy was possible now: then earlier numbers
 * stay valid. Values are bounded: phase and why are in their tables (a newer library's reason becomes NONE), agent <
 * RTL_AGENTS_MAX, kernel < RTL_KERNELS_MAX, ends_shift < 64, recorded <= probed <= dispatches, tails <= recorded;
 * minima are 0 without values. All other numbers are unchecked. */
bool rtl_reader_probe(const struct rtl_reader *reader, struct rtl_probe_state *state);

#endif
