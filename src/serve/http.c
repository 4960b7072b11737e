/* A small server of HTTP. See http.h. */
#include "serve/http.h"
#include "base/clock.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
    int fd; /* -1: free */
    uint64_t since_ns;
};

struct rtl_http {
    struct MHD_Daemon *daemon;
    rtl_http_answer *answer;
    void *context;
    struct connection connections[RTL_HTTP_CONNECTIONS];
};

static const struct {
    unsigned status;
    const char *text;
} errors[] = {{MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n"}};

static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct rtl_http_reply *reply)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(reply->bytes, (void *)(uintptr_t)reply->text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **state)
{
    struct rtl_http *http = context;
    struct rtl_http_reply reply = {.status = errors[0].status, .type = "text/plain; charset=utf-8"};
    (void)version;
    (void)data;
    (void)data_size;
    (void)state;
    reply.text = errors[0].text;
    reply.bytes = strlen(reply.text);
    /* answered before a body is read: nobody has to listen to one */
    if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
        http->answer(http->context, url, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"), &reply);
    return send_reply(connection, &reply);
}

static int descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void connected(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_ConnectionNotificationCode code)
{
    struct rtl_http *http = context;
    int fd = descriptor(connection);
    (void)state;
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        struct connection *c = &http->connections[i];
        if (code == MHD_CONNECTION_NOTIFY_STARTED && c->fd < 0) {
            *c = (struct connection){fd, rtl_mono_ns()};
            return;
        }
        if (code == MHD_CONNECTION_NOTIFY_CLOSED && c->fd == fd)
            c->fd = -1;
    }
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
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listening,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)RTL_HTTP_CONNECTIONS,
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
    return MHD_get_timeout(http->daemon, &ms) == MHD_YES ? (ms < 1000 ? (int)ms : 1000) : -1;
}

/* Its own timeout begins anew with every byte that comes: who sends one now and then would stay for ever. */
static void end_old(struct rtl_http *http)
{
    uint64_t now = rtl_mono_ns();
    for (int i = 0; i < RTL_HTTP_CONNECTIONS; i++) {
        const struct connection *c = &http->connections[i];
        if (c->fd >= 0 && now - c->since_ns > RTL_HTTP_LIFE_S * 1000000000ull)
            shutdown(c->fd, SHUT_RDWR);
    }
}

void rtl_http_run(struct rtl_http *http)
{
    end_old(http);
    MHD_run(http->daemon);
}

const char *rtl_http_library(void)
{
    return MHD_get_version();
}
