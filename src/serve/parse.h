/* What rtl-top serve takes apart: the address to listen on, and what a client accepts. Pure; all of it is hostile. */
#ifndef RTL_SERVE_PARSE_H
#define RTL_SERVE_PARSE_H

#include <stdbool.h>
#include <stddef.h>

enum { RTL_HOST_MAX = 64 };
#define RTL_SERVE_HOST "127.0.0.1"
#define RTL_SERVE_PORT 9833

struct rtl_address {
    char host[RTL_HOST_MAX];
    unsigned port; /* 0: any that is free */
};

/* "ADDR:PORT", "[ADDR]:PORT", ":PORT", "PORT", "ADDR", "[ADDR]"; what is missing is the default. False when it is none.
 */
bool rtl_address_parse(const char *text, struct rtl_address *address);

/* Whether a client with that Accept header (NULL: none) wants OpenMetrics more than the older text format. */
bool rtl_accepts_openmetrics(const char *accept);

#endif
