/*
 * The viewer's side of the control page (shm/control.h): finding it, telling that somebody watches, asking for a mode.
 *
 * The page belongs to the traced process, which may be hostile: only a sealed memfd is mapped, and never is anything
 * else written to than one.
 */
#ifndef RTL_SHM_CONTROL_CLIENT_H
#define RTL_SHM_CONTROL_CLIENT_H

#include "shm/control.h"
#include "shm/segment_reader.h"

struct rtl_control_link {
    struct rtl_control *page;
};

/* Opens the page of the process that the reader has open. On failure `why` gets one line, and the link leads nowhere.
 */
enum rtl_reader_status rtl_control_open(const struct rtl_reader *reader, struct rtl_control_link *link, char *why,
                                        size_t why_bytes);
void rtl_control_close(struct rtl_control_link *link);

/* Somebody watches. At least once a second. */
void rtl_control_heartbeat(struct rtl_control_link *link);

/* The viewer that did so last, by its own account; 0 when none did. */
uint64_t rtl_control_writer(const struct rtl_control_link *link);

/* Asks for a mode. Returns the number of the request: it was taken up once the segment has that one, or a later one. */
uint16_t rtl_control_request_mode(const struct rtl_reader *reader, struct rtl_control_link *link, enum rtl_mode mode);

/* The mode that was asked for and not taken up so far, or RTL_MODE_NONE. */
uint32_t rtl_control_requested_mode(const struct rtl_reader *reader, const struct rtl_control_link *link);

/* Whether calls of HIP are recorded in the process. */
bool rtl_reader_has_calls(const struct rtl_reader *reader);
/* The mode in force as the segment has it now. False when it doesn't say. */
bool rtl_reader_in_force(const struct rtl_reader *reader, struct rtl_in_force *in_force);

#endif
