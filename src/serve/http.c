/* A small HTTP server. See http.h. */
#include "serve/http.h"
#include "base/clock.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOTS = RTL_HTTP_CONNECTIONS + RTL_HTTP_ACCEPTS }; /* some close while new ones are accepted */
static const uint64_t SECOND = 1000000000, ACCEPT_NS = SECOND / RTL_HTTP_RATE;

struct http_connection {
    int fd; /* -1: free */
    bool closing;
    uint64_t since_ns;
    const struct rtl_http_body *body; /* being sent */
    uint64_t from;                    /* client's address */
};

struct rtl_http {
    struct MHD_Daemon *daemon;
    rtl_http_answer *answer;
    void *context;
    int listening;
    uint64_t accept_ns; /* time of the next accept; each adds ACCEPT_NS; after a pause at most one second in the past */
    unsigned bodies;    /* in use */
    struct http_connection connections[SLOTS];
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

/* --- connections --- */

static int descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static struct http_connection *find_connection(struct rtl_http *http, int fd)
{
    for (int i = 0; i < SLOTS; i++)
        if (http->connections[i].fd == fd)
            return &http->connections[i];
    return NULL;
}

static bool is_open(const struct http_connection *c)
{
    return c->fd >= 0 && !c->closing;
}

/* libmicrohttpd closes the descriptor when it runs next. */
static void end_connection(struct http_connection *c)
{
    shutdown(c->fd, SHUT_RDWR);
    c->closing = true;
}

bool rtl_http_has_room(struct rtl_http *http)
{
    struct http_connection *oldest = NULL;
    if (http->bodies < RTL_HTTP_BODIES)
        return true;
    for (int i = 0; i < SLOTS; i++) {
        struct http_connection *c = &http->connections[i];
        if (is_open(c) && c->body && (!oldest || c->since_ns < oldest->since_ns))
            oldest = c;
    }
    if (oldest)
        end_connection(oldest);
    return false;
}

/* Return the same number for all addresses that one client can use: the loopback addresses (127.0.0.0/8, ::1), an IPv6
 * network of 64 bits, or one IPv4 address. */
static uint64_t address_of(const struct sockaddr *at)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)at;
    uint32_t four = 0;
    uint64_t network;
    if (at->sa_family == AF_INET)
        four = ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr);
    else if (at->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        four = ntohl(six->sin6_addr.s6_addr32[3]);
    else if (at->sa_family != AF_INET6 || IN6_IS_ADDR_LOOPBACK(&six->sin6_addr))
        four = INADDR_LOOPBACK;
    else {
        memcpy(&network, &six->sin6_addr, sizeof network);
        return network;
    }
    return four >> 24 == IN_LOOPBACKNET ? IN_LOOPBACKNET : four;
}

/* Return the number of open connections from the same address. */
static int count_siblings(const struct rtl_http *http, const struct http_connection *of)
{
    int count = 0;
    for (int i = 0; i < SLOTS; i++)
        count += is_open(&http->connections[i]) && http->connections[i].from == of->from;
    return count;
}

/* End a connection if there are too many. */
static void make_place(struct rtl_http *http)
{
    struct http_connection *out = NULL;
    int open = 0, most = 0;
    for (int i = 0; i < SLOTS; i++)
        open += is_open(&http->connections[i]);
    for (int i = 0; i < SLOTS && open > RTL_HTTP_CONNECTIONS; i++) {
        struct http_connection *c = &http->connections[i];
        int alike = is_open(c) ? count_siblings(http, c) : 0;
        if (alike > most || (alike && alike == most && c->since_ns < out->since_ns)) {
            out = c;
            most = alike;
        }
    }
    if (out)
        end_connection(out);
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
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    c->fd = fd;
    c->since_ns = rtl_mono_ns();
    c->from = info && info->client_addr ? address_of(info->client_addr) : IN_LOOPBACKNET;
    make_place(http);
}

/* Accept waiting clients, as many as the rate permits. True if more may wait: their requests must be read first. */
static bool accept_clients(struct rtl_http *http)
{
    uint64_t now = rtl_mono_ns();
    if (http->accept_ns + SECOND < now)
        http->accept_ns = now - SECOND;
    for (int i = 0; i < RTL_HTTP_ACCEPTS && http->accept_ns <= now && find_connection(http, -1); i++) {
        struct sockaddr_storage at;
        socklen_t length = sizeof at;
        int fd = accept4(http->listening, (struct sockaddr *)&at, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && errno == EAGAIN)
            return false;
        http->accept_ns += ACCEPT_NS;
        if (fd >= 0)
            MHD_add_connection(http->daemon, fd, (struct sockaddr *)&at, length); /* closes it on failure */
        else if (errno != EINTR && errno != ECONNABORTED)
            http->accept_ns = now + SECOND / 10; /* out of descriptors or memory: the client waits */
    }
    return http->accept_ns <= now;
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

static enum MHD_Result count_hosts(void *count, enum MHD_ValueKind kind, const char *key, const char *value)
{
    (void)kind;
    (void)value;
    *(int *)count += !strcasecmp(key, MHD_HTTP_HEADER_HOST);
    return MHD_YES;
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data, size_t *data_size,
                                      void **state)
{
    struct rtl_http *http = context;
    struct rtl_http_reply reply = {.status = MHD_HTTP_METHOD_NOT_ALLOWED,
                                   .text = "only GET and HEAD are answered here\n"};
    const struct rtl_http_request request = {
        .path = url,
        .accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
        .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)};
    int hosts = 0;
    (void)data;
    (void)data_size;
    (void)state;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_hosts, &hosts);
    if (hosts > 1 || (!hosts && strcmp(version, MHD_HTTP_VERSION_1_0) != 0))
        return send_text(connection, MHD_HTTP_BAD_REQUEST, "a request of HTTP/1.1 has one Host header\n");
    /* answer before reading a request body */
    if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
        http->answer(http->context, &request, &reply);
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
    http->listening = listening;
    for (int i = 0; i < SLOTS; i++)
        http->connections[i].fd = -1;
    http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle_request, http,
                                    MHD_OPTION_CONNECTION_LIMIT, (unsigned)SLOTS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                    (size_t)RTL_HTTP_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)RTL_HTTP_IDLE_S,
                                    MHD_OPTION_NOTIFY_CONNECTION, connected, http, MHD_OPTION_END);
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
    close(http->listening);
    free(http);
}

/* libmicrohttpd's timeout restarts with every byte, so slow clients could stay forever. */
static void end_old_connections(struct rtl_http *http, uint64_t now)
{
    for (int i = 0; i < SLOTS; i++) {
        struct http_connection *c = &http->connections[i];
        if (is_open(c) && now - c->since_ns > RTL_HTTP_LIFE_S * SECOND)
            end_connection(c);
    }
}

static void wait_for_clients(struct rtl_http *http, int ms, const sigset_t *signals)
{
    MHD_UNSIGNED_LONG_LONG sooner;
    uint64_t now = rtl_mono_ns(), ns = (uint64_t)ms * 1000000;
    bool may_accept = http->accept_ns <= now;
    if (MHD_get_timeout(http->daemon, &sooner) == MHD_YES && sooner * 1000000 < ns)
        ns = sooner * 1000000;
    if (!may_accept && http->accept_ns - now < ns)
        ns = http->accept_ns - now;
    struct pollfd fds[2] = {
        {.fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, .events = POLLIN},
        {.fd = may_accept ? http->listening : -1, .events = POLLIN}};
    struct timespec timeout = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    ppoll(fds, 2, &timeout, signals);
}

void rtl_http_run(struct rtl_http *http, int ms, const sigset_t *signals)
{
    wait_for_clients(http, ms, signals);
    uint64_t from = rtl_mono_ns();
    bool more = true;
    end_old_connections(http, from);
    while (more && rtl_mono_ns() - from <= RTL_HTTP_TURN_NS) {
        more = accept_clients(http);
        MHD_run(http->daemon);
    }
}
