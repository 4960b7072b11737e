/* A small HTTP server. See http.h. */
#include "serve/http.h"
#include "base/clock.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct http_connection {
    int fd; /* -1: free */
    uint64_t since_ns;
    const struct rtl_http_body *body; /* being sent */
    unsigned char from[16];           /* client's address */
};

struct rtl_http {
    struct MHD_Daemon *daemon;
    rtl_http_answer *answer;
    void *context;
    unsigned bodies; /* in use */
    struct http_connection connections[RTL_HTTP_CONNECTIONS];
};

struct rtl_http_body {
    struct rtl_http *http;
    struct MHD_Response *response; /* reference-counted */
    char *text;
};

static void add_headers(struct MHD_Response *response, const char *type)
{
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
}

/* --- bodies --- */

static void free_body(void *context)
{
    struct rtl_http_body *body = context;
    body->http->bodies--;
    free(body->text);
    free(body);
}

struct rtl_http_body *rtl_http_body_make(struct rtl_http *http, const char *type, char *text, size_t bytes)
{
    struct rtl_http_body *body = malloc(sizeof *body);
    if (body) {
        *body = (struct rtl_http_body){.http = http, .text = text};
        body->response = MHD_create_response_from_buffer_with_free_callback_cls(bytes, text, free_body, body);
    }
    if (!body || !body->response) {
        free(body);
        free(text);
        return NULL;
    }
    http->bodies++;
    add_headers(body->response, type);
    return body;
}

void rtl_http_body_free(struct rtl_http_body *body)
{
    if (body)
        MHD_destroy_response(body->response);
}

bool rtl_http_has_room(struct rtl_http *http)
{
    const struct http_connection *oldest = NULL;
    if (http->bodies < RTL_HTTP_BODIES)
        return true;
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        const struct http_connection *c = &http->connections[i];
        if (c->fd >= 0 && c->body && (!oldest || c->since_ns < oldest->since_ns))
            oldest = c;
    }
    if (oldest)
        shutdown(oldest->fd, SHUT_RDWR);
    return false;
}

/* --- connections --- */

static int descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static struct http_connection *find_connection(struct rtl_http *http, int fd)
{
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++)
        if (http->connections[i].fd == fd)
            return &http->connections[i];
    return NULL;
}

static void note_address(struct http_connection *c, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *at = info ? info->client_addr : NULL;
    if (at && at->sa_family == AF_INET)
        memcpy(c->from, &((const struct sockaddr_in *)(const void *)at)->sin_addr, 4);
    else if (at && at->sa_family == AF_INET6)
        memcpy(c->from, &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr, 16);
}

/* Return the number of connections from the same address. */
static int count_siblings(const struct rtl_http *http, const struct http_connection *of)
{
    int count = 0;
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        const struct http_connection *c = &http->connections[i];
        count += c->fd >= 0 && !memcmp(c->from, of->from, sizeof c->from);
    }
    return count;
}

static void drop_connection(struct rtl_http *http)
{
    const struct http_connection *out = NULL;
    int used = 0, most = 0;
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        const struct http_connection *c = &http->connections[i];
        if (c->fd < 0)
            continue;
        int alike = count_siblings(http, c);
        used++;
        if (!out || alike > most || (alike == most && c->since_ns < out->since_ns)) {
            out = c;
            most = alike;
        }
    }
    if (used > RTL_HTTP_CONNECTIONS - RTL_HTTP_SPARE)
        shutdown(out->fd, SHUT_RDWR);
}

static void connected(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_ConnectionNotificationCode code)
{
    struct rtl_http *http = context;
    int fd = descriptor(connection);
    (void)state;
    struct http_connection *c = find_connection(http, code == MHD_CONNECTION_NOTIFY_STARTED ? -1 : fd);
    if (!c)
        return;
    *c = (struct http_connection){.fd = -1};
    if (code != MHD_CONNECTION_NOTIFY_STARTED)
        return;
    c->fd = fd;
    c->since_ns = rtl_mono_ns();
    note_address(c, connection);
    drop_connection(http);
}

/* --- answers --- */

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    add_headers(response, "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data, size_t *data_size,
                                      void **state)
{
    struct rtl_http *http = context;
    struct rtl_http_reply reply = {.status = MHD_HTTP_METHOD_NOT_ALLOWED,
                                   .text = "only GET and HEAD are answered here\n"};
    (void)version;
    (void)data;
    (void)data_size;
    (void)state;
    /* answer before reading a request body */
    if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
        http->answer(http->context, url, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"), &reply);
    if (!reply.body)
        return send_text(connection, reply.status, reply.text);
    struct http_connection *c = find_connection(http, descriptor(connection));
    if (c)
        c->body = reply.body;
    return MHD_queue_response(connection, reply.status, reply.body->response);
}

struct rtl_http *rtl_http_start(int listening, rtl_http_answer *answer, void *context)
{
    struct rtl_http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->answer = answer;
    http->context = context;
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++)
        http->connections[i].fd = -1;
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle_request, http, MHD_OPTION_LISTEN_SOCKET,
                         (MHD_socket)listening, MHD_OPTION_CONNECTION_LIMIT, (unsigned)RTL_HTTP_CONNECTIONS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)RTL_HTTP_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)RTL_HTTP_IDLE_S, MHD_OPTION_NOTIFY_CONNECTION, connected, http, MHD_OPTION_END);
    if (!http->daemon) {
        free(http);
        return NULL;
    }
    return http;
}

void rtl_http_stop(struct rtl_http *http)
{
    if (!http)
        return;
    MHD_stop_daemon(http->daemon);
    free(http);
}

int rtl_http_fd(const struct rtl_http *http)
{
    return MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

int rtl_http_timeout_ms(struct rtl_http *http)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(http->daemon, &ms) != MHD_YES)
        return -1;
    return ms < 1000 ? (int)ms : 1000;
}

/* libmicrohttpd's timeout restarts with every byte, so slow clients could stay forever. */
static void drop_old_connections(struct rtl_http *http)
{
    uint64_t now = rtl_mono_ns();
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        const struct http_connection *c = &http->connections[i];
        if (c->fd >= 0 && now - c->since_ns > RTL_HTTP_LIFE_S * 1000000000ull)
            shutdown(c->fd, SHUT_RDWR);
    }
}

void rtl_http_run(struct rtl_http *http)
{
    drop_old_connections(http);
    MHD_run(http->daemon);
}
