/*
 * A small server of HTTP, in the thread of its caller: GET and HEAD, nothing else. The only file that knows
 * libmicrohttpd. So many connections at once, so much memory and time for each, whatever clients do; a connection is
 * one request.
 */
#ifndef RTL_SERVE_HTTP_H
#define RTL_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTL_HTTP_CONNECTIONS = 32,
    RTL_HTTP_MEMORY = 16 << 10, /* of a connection: all of its request */
    RTL_HTTP_IDLE_S = 10,       /* that a client may say nothing */
    RTL_HTTP_LIFE_S = 30,       /* that a connection may last */
};

struct rtl_http_reply {
    unsigned status;
    const char *type;
    const char *text; /* the answerer's, copied */
    size_t bytes;
};

/* `accept` is the header or NULL. */
typedef void rtl_http_answer(void *context, const char *path, const char *accept, struct rtl_http_reply *reply);

struct rtl_http;
/* On a socket that listens, which is the server's from then on. NULL when it can't. */
struct rtl_http *rtl_http_start(int listening, rtl_http_answer *answer, void *context);
void rtl_http_stop(struct rtl_http *http);

/* Readable when rtl_http_run has something to do; after so many ms it is to be called anyway, -1: never. */
int rtl_http_fd(const struct rtl_http *http);
int rtl_http_timeout_ms(struct rtl_http *http);
void rtl_http_run(struct rtl_http *http);

const char *rtl_http_library(void); /* the version in use */

#endif
