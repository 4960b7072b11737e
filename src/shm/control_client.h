/*
 * The viewer's side of the control page (control.h): find it, send heartbeats, ask for a mode.
 *
 * The page belongs to the traced process, which may be hostile: the client maps and writes nothing but a sealed memfd.
 */
#ifndef RTL_SHM_CONTROL_CLIENT_H
#define RTL_SHM_CONTROL_CLIENT_H

#include "shm/control.h"
#include "shm/segment_reader.h"

struct rtl_control_link {
    struct rtl_control *page;
};

/* Open the page of the reader's process. On failure `why` gets one line, and the link's page is NULL. */
enum rtl_reader_status rtl_control_open(const struct rtl_reader *reader, struct rtl_control_link *link, char *why,
                                        size_t why_bytes);
void rtl_control_close(struct rtl_control_link *link);

/* Tell the library that a viewer is open; call it at least once a second. */
void rtl_control_heartbeat(struct rtl_control_link *link);

/* Return the pid of the viewer that sent the last heartbeat, by its own account; 0: none. */
uint64_t rtl_control_writer(const struct rtl_control_link *link);

/* Ask for a mode. Returns the number of the request; the library has carried it out once the segment shows that number
 * or a later one. */
uint16_t rtl_control_request_mode(const struct rtl_reader *reader, struct rtl_control_link *link, enum rtl_mode mode);

/* Return the mode of a pending request, or RTL_MODE_NONE. */
uint32_t rtl_control_requested_mode(const struct rtl_reader *reader, const struct rtl_control_link *link);

/* True if the process records HIP calls. */
bool rtl_reader_has_calls(const struct rtl_reader *reader);
/* Read the mode in force. False if the segment doesn't state it. */
bool rtl_reader_in_force(const struct rtl_reader *reader, struct rtl_in_force *in_force);

#endif
