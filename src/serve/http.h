/*
 * A small server of HTTP, in the thread of its caller: GET and HEAD, nothing else. The only file that knows
 * libmicrohttpd. So many connections at once, so much memory and time for each, whatever clients do; a connection is
 * one request. Who comes when all places are taken gets that of the oldest connection of the address that has most.
 *
 * What is long is a body: made once, shared by all who are sent it, freed with the last of them. There are so many at
 * most, however slowly they are read.
 */
#ifndef RTL_SERVE_HTTP_H
#define RTL_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTL_HTTP_CONNECTIONS = 32,
    RTL_HTTP_SPARE = 4, /* of those, for newcomers */
    RTL_HTTP_BODIES = 6,
    RTL_HTTP_MEMORY = 16 << 10, /* of a connection: all of its request */
    RTL_HTTP_IDLE_S = 10,       /* that a client may say nothing */
    RTL_HTTP_LIFE_S = 30,       /* that a connection may last */
};

struct rtl_http;
struct rtl_http_body;

struct rtl_http_reply {
    unsigned status;
    struct rtl_http_body *body; /* the answerer's; or NULL, then: */
    const char *text;           /* constant, plain */
};

/* `accept` is the header or NULL. */
typedef void rtl_http_answer(void *context, const char *path, const char *accept, struct rtl_http_reply *reply);

/* On a socket that listens, which is the server's from then on. NULL when it can't. */
struct rtl_http *rtl_http_start(int listening, rtl_http_answer *answer, void *context);
void rtl_http_stop(struct rtl_http *http);

/* Whether there may be one more body; if not, the client that has been reading another for longest is sent away. */
bool rtl_http_has_room(struct rtl_http *http);
/* The text is malloc's and the body's from now on, also when there is none: NULL. */
struct rtl_http_body *rtl_http_body_make(struct rtl_http *http, const char *type, char *text, size_t bytes);
void rtl_http_body_free(struct rtl_http_body *body);

/* Readable when rtl_http_run has something to do; after so many ms it is to be called anyway, -1: never. */
int rtl_http_fd(const struct rtl_http *http);
int rtl_http_timeout_ms(struct rtl_http *http);
void rtl_http_run(struct rtl_http *http);

#endif
