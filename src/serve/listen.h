/* The socket that rtl-top serve listens on: made, or handed over by systemd. */
#ifndef RTL_SERVE_LISTEN_H
#define RTL_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/parse.h"

/* The socket, or -1 and in `why` one line. */
int rtl_listen(const struct rtl_address *address, char *why, size_t why_bytes);

/* The one that systemd's socket unit has handed over; -1: none, -2: something else than one socket, see `why`. */
int rtl_listen_inherited(char *why, size_t why_bytes);

/* Where it listens: "127.0.0.1:9833", "[::1]:9833"; not `*loopback`: others than this machine reach it. */
void rtl_listen_name(int listening, char *out, size_t size, bool *loopback);

#endif
