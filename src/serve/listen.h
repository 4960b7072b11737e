/* The socket that rtl-top serve listens on: created, or inherited from systemd. */
#ifndef RTL_SERVE_LISTEN_H
#define RTL_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/parse.h"

/* Create the socket; -1 and one line in `why` on failure. */
int rtl_listen(const struct rtl_address *address, char *why, size_t why_bytes);

/* Return the socket of systemd's socket unit; -1: none, -2: not a single listening socket, see `why`. */
int rtl_listen_inherited(char *why, size_t why_bytes);

/* Return the address, such as "127.0.0.1:9833" or "[::1]:9833"; !*loopback: other machines can reach it. */
void rtl_listen_name(int listening, char *out, size_t size, bool *loopback);

#endif
