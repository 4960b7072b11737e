/*
 * A small HTTP server in the caller's thread, for GET and HEAD only. Only http.c uses libmicrohttpd. Connections, and
 * memory and time of each, are limited; a connection is one request. If all connections are in use, a new one replaces
 * the oldest connection of the address that has most, so a new client doesn't wait for others to end. The server
 * accepts connections at a limited rate, far above that of honest clients.
 *
 * A long answer is a body: made once, shared by its receivers, freed with the last of them. The number of bodies is
 * limited, however slowly clients read them.
 */
#ifndef RTL_SERVE_HTTP_H
#define RTL_SERVE_HTTP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    RTL_HTTP_CONNECTIONS = 128,
    RTL_HTTP_ACCEPTS = 32, /* in a row; then their requests are read */
    RTL_HTTP_RATE = 2000,  /* accepts a second; after a pause so many without delay */
    RTL_HTTP_BODIES = 6,
    RTL_HTTP_MEMORY = 16 << 10,  /* of a connection, for the request */
    RTL_HTTP_TURN_NS = 20000000, /* how long clients are accepted before the caller's turn */
    RTL_HTTP_IDLE_S = 10,        /* maximum silence of a client */
    RTL_HTTP_LIFE_S = 30,        /* maximum age of a connection */
};

struct rtl_http;
struct rtl_http_body;

struct rtl_http_reply {
    unsigned status;
    struct rtl_http_body *body; /* owned by the callback; NULL: send `text` */
    const char *text;           /* constant, plain text */
};

struct rtl_http_request {
    const char *path;
    const char *accept, *host; /* headers or NULL */
};

typedef void rtl_http_answer(void *context, const struct rtl_http_request *request, struct rtl_http_reply *reply);

/* Serve on a listening socket, which the server owns from then on. NULL on failure. */
struct rtl_http *rtl_http_start(int listening, rtl_http_answer *answer, void *context);
void rtl_http_stop(struct rtl_http *http);

/* Return whether another body is allowed; if not, disconnect the client that has been reading one for longest. */
bool rtl_http_has_room(struct rtl_http *http);
/* Make a body; it owns the text (malloc), which is freed also on failure (NULL). */
struct rtl_http_body *rtl_http_body_make(struct rtl_http *http, const char *type, char *text, size_t bytes);
void rtl_http_body_free(struct rtl_http_body *body);

/* Wait for clients for at most `ms` (0: don't wait) with this signal mask, then serve them. */
void rtl_http_run(struct rtl_http *http, int ms, const sigset_t *signals);

#endif
