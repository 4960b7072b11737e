/*
 * A small HTTP server in the caller's thread, for GET and HEAD only. Only http.c uses libmicrohttpd. Connections, and
 * memory and time of each, are limited; a connection is one request. If nearly all connections are in use, a new one
 * replaces the oldest connection of the address that has most.
 *
 * A long answer is a body: made once, shared by its receivers, freed with the last of them. The number of bodies is
 * limited, however slowly clients read them.
 */
#ifndef RTL_SERVE_HTTP_H
#define RTL_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTL_HTTP_CONNECTIONS = 32,
    RTL_HTTP_SPARE = 4, /* of those, kept free for new clients */
    RTL_HTTP_BODIES = 6,
    RTL_HTTP_MEMORY = 16 << 10, /* of a connection, for the request */
    RTL_HTTP_IDLE_S = 10,       /* maximum silence of a client */
    RTL_HTTP_LIFE_S = 30,       /* maximum age of a connection */
};

struct rtl_http;
struct rtl_http_body;

struct rtl_http_reply {
    unsigned status;
    struct rtl_http_body *body; /* owned by the callback; NULL: send `text` */
    const char *text;           /* constant, plain text */
};

/* `accept` is the header or NULL. */
typedef void rtl_http_answer(void *context, const char *path, const char *accept, struct rtl_http_reply *reply);

/* Serve on a listening socket, which the server owns from then on. NULL on failure. */
struct rtl_http *rtl_http_start(int listening, rtl_http_answer *answer, void *context);
void rtl_http_stop(struct rtl_http *http);

/* Return whether another body is allowed; if not, disconnect the client that has been reading one for longest. */
bool rtl_http_has_room(struct rtl_http *http);
/* Make a body; it owns the text (malloc), which is freed also on failure (NULL). */
struct rtl_http_body *rtl_http_body_make(struct rtl_http *http, const char *type, char *text, size_t bytes);
void rtl_http_body_free(struct rtl_http_body *body);

/* rtl_http_run has work when the descriptor is readable and after the timeout (-1: none). */
int rtl_http_fd(const struct rtl_http *http);
int rtl_http_timeout_ms(struct rtl_http *http);
void rtl_http_run(struct rtl_http *http);

#endif
