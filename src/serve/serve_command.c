/*
 * rtl-top serve: metrics of all traced and observed processes of this machine over HTTP, for Prometheus. One thread: it
 * updates the processes once a second and answers requests in between.
 */
#include "base/clock.h"
#include "record/db.h"
#include "serve/fleet.h"
#include "serve/http.h"
#include "serve/render.h"
#include "options/arguments.h"
#include "options/complain.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SHOWN = 40, PARTS = 2, TICK_MS = 1000 };

struct serve_state {
    struct rtl_options options; /* which processes */
    struct rtl_address address;
    bool given; /* the address was given */
    struct rtl_hosts hosts;
    uint64_t shown, parts; /* --kernels, --buckets */
    bool wake;
    struct rtl_fleet *fleet;
    bool observe;
    struct rtl_http *http;
    struct rtl_pages pages;
};

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number)
{
    (void)number;
    asked_to_end = 1;
}

static void answer(void *context, const struct rtl_http_request *request, struct rtl_http_reply *reply)
{
    struct serve_state *s = context;
    if (!rtl_hosts_permit(&s->hosts, request->host)) {
        *reply = (struct rtl_http_reply){
            .status = 421, .text = "not permitted under this name: rtl-top serve --allow-host NAME permits it\n"};
        return;
    }
    if (!strcmp(request->path, "/")) {
        *reply = (struct rtl_http_reply){.status = 200, .text = "rtl-top serve: the metrics are at /metrics\n"};
        return;
    }
    if (strcmp(request->path, "/metrics") != 0) {
        *reply = (struct rtl_http_reply){.status = 404, .text = "not found: the metrics are at /metrics\n"};
        return;
    }
    s->pages.facts.scrapes++;
    *reply = (struct rtl_http_reply){
        .status = 200,
        .body = rtl_pages_get(&s->pages, s->fleet, s->http, rtl_accepted(request->accept), (unsigned)s->parts)};
    if (!reply->body)
        *reply =
            (struct rtl_http_reply){.status = 500, .text = "no memory for all metrics: reduce them with --kernels\n"};
}

static bool permit_names(void *hosts, const char *names, const char **wrong)
{
    return rtl_hosts_add(hosts, names, wrong);
}

static int parse_arguments(struct serve_state *s, int argc, char **argv)
{
    const char *buckets = NULL;
    const struct rtl_own_value own[RTL_SERVE_OWN_COUNT] = {
        [RTL_SERVE_KERNELS] = {.number = &s->shown,
                               .least = 1,
                               .most = RTL_SERIES_SHOWN_MAX,
                               .needs = "a number from 1 to "},
        [RTL_SERVE_BUCKETS] = {.text = &buckets},
        [RTL_SERVE_WAKE] = {.flag = &s->wake},
        [RTL_SERVE_OBSERVE] = {.flag = &s->observe},
        [RTL_SERVE_ALLOW_HOST] = {.add = permit_names, .to = &s->hosts},
    };
    struct rtl_arguments a;
    rtl_options_default(&s->options);
    int status = rtl_arguments_read(&a, RTL_COMMAND_SERVE, false, own, &s->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (buckets && (!rtl_parse_number(buckets, 1, RTL_PROM_BUCKET_PARTS, &s->parts) || s->parts == 3))
        return RTL_WRONG("--buckets takes 1, 2 or 4 (in each factor of two), not '%s'", buckets);
    s->given = a.first < argc;
    if (a.first + 1 < argc)
        return RTL_WRONG("rtl-top serve takes one ADDR:PORT, not also '%s'", argv[a.first + 1]);
    if (!rtl_address_parse(s->given ? argv[a.first] : RTL_SERVE_HOST, &s->address))
        return RTL_WRONG("'%s' is no ADDR:PORT, such as 127.0.0.1:%d, [::1]:%d or :%d", argv[a.first], RTL_SERVE_PORT,
                         RTL_SERVE_PORT, RTL_SERVE_PORT);
    return RTL_GO_ON;
}

/* A missing pid is an error; a process with the name may start later. */
static int check_processes(const struct serve_state *s)
{
    const struct rtl_options *o = &s->options;
    struct rtl_proc_entry *all;
    int count = rtl_proc_scan(&all);
    uint32_t missing = 0;
    bool named = !o->process;
    for (uint32_t p = 0; count >= 0 && p < o->pid_count; p++) {
        bool there = rtl_proc_find(all, (uint32_t)count, o->pids[p]) != NULL;
        missing += !there;
        if (!there)
            rtl_complain("no process %d: rtl-top list shows which are traced", (int)o->pids[p]);
    }
    for (int i = 0; i < count && !named; i++)
        named = all[i].pid != getpid() && rtl_proc_has_name(all[i].pid, o->process);
    if (count >= 0 && !named)
        rtl_complain("no process is named '%s' yet: it will be served when it starts", o->process);
    if (count >= 0)
        free(all);
    return missing && missing == o->pid_count ? RTL_READER_NO_PROCESS : 0;
}

/* --- the listening socket --- */

enum { INHERITED = 3 }; /* the first descriptor that systemd passes */

static void explain_listen_error(const struct rtl_address *a, int error, char *why, size_t why_bytes)
{
    const char *host = a->host;
    if (error == EADDRINUSE)
        snprintf(why, why_bytes,
                 "port %u of %s is in use, perhaps by another rtl-top serve: choose one with rtl-top serve %s:PORT",
                 a->port, host, host);
    else if (error == EACCES)
        snprintf(why, why_bytes, "not permitted to listen on port %u of %s: choose a port from 1024 on", a->port, host);
    else if (error == EADDRNOTAVAIL)
        snprintf(why, why_bytes, "%s is no address of this machine", host);
    else
        snprintf(why, why_bytes, "cannot listen on port %u of %s: %s", a->port, host, strerror(error));
}

/* Create the socket; -1 and one line in `why` on failure. */
static int create_socket(const struct rtl_address *a, char *why, size_t why_bytes)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
    char port[16];
    int on = 1, error = 0, fd = -1;
    snprintf(port, sizeof port, "%u", a->port);
    int status = getaddrinfo(a->host, port, &hints, &found);
    if (status) {
        snprintf(why, why_bytes, "no address '%s': %s", a->host, gai_strerror(status));
        return -1;
    }
    for (struct addrinfo *i = found; i && fd < 0; i = i->ai_next) {
        fd = socket(i->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) &&
            !bind(fd, i->ai_addr, i->ai_addrlen) && !listen(fd, SOMAXCONN))
            break;
        error = errno;
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd < 0)
        explain_listen_error(a, error, why, why_bytes);
    return fd;
}

/* Return the socket of systemd's socket unit; -1: none, -2: not a single listening socket, see `why`. */
static int inherited_socket(char *why, size_t why_bytes)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    int on = 0;
    socklen_t size = sizeof on;
    if (!pid || !count || atol(pid) != (long)getpid())
        return -1;
    if (strcmp(count, "1") != 0 || getsockopt(INHERITED, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) || !on) {
        snprintf(why, why_bytes, "systemd passed %s descriptors instead of one listening socket", count);
        return -2;
    }
    fcntl(INHERITED, F_SETFD, FD_CLOEXEC);
    fcntl(INHERITED, F_SETFL, fcntl(INHERITED, F_GETFL) | O_NONBLOCK);
    return INHERITED;
}

/* Write the address, such as "127.0.0.1:9833" or "[::1]:9833"; !*loopback: other machines can reach it. */
static void name_socket(int listening, char *out, size_t size, bool *loopback)
{
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    char host[INET6_ADDRSTRLEN + 16] = "?", port[16] = "?";
    *loopback = false;
    if (!getsockname(listening, (struct sockaddr *)&at, &length) &&
        !getnameinfo((struct sockaddr *)&at, length, host, sizeof host, port, sizeof port,
                     NI_NUMERICHOST | NI_NUMERICSERV))
        *loopback = !strncmp(host, "127.", 4) || !strcmp(host, "::1") || at.ss_family == AF_UNIX;
    snprintf(out, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static int open_socket(struct serve_state *s)
{
    char why[512], name[96];
    const char *wrong;
    bool loopback;
    int listening = s->given ? -1 : inherited_socket(why, sizeof why);
    if (listening == -1)
        listening = create_socket(&s->address, why, sizeof why);
    if (listening < 0)
        return rtl_refuse(-1, "%s", why);
    name_socket(listening, name, sizeof name, &loopback);
    printf("serving http://%s/metrics\n", name);
    rtl_hosts_add(&s->hosts, s->address.host, &wrong); /* if it is a name */
    rtl_hosts_add_own(&s->hosts, !loopback);
    if (!loopback)
        rtl_complain(
            "everyone who can reach %s sees names of kernels and command lines: use a proxy with TLS and a password, "
            "or listen on 127.0.0.1",
            name);
    return listening;
}

static void serve_requests(struct serve_state *s)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigprocmask(SIG_BLOCK, &ours, &before); /* delivered in ppoll only, so none is missed */
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    for (uint64_t tick_ns = 0; !asked_to_end;) {
        uint64_t now = rtl_mono_ns();
        if (now >= tick_ns) {
            bool more = rtl_fleet_tick(s->fleet);
            now = rtl_mono_ns();
            tick_ns = more ? now : now + TICK_MS * 1000000ull; /* answer requests in between */
        }
        rtl_http_run(s->http, tick_ns > now ? (int)((tick_ns - now) / 1000000) + 1 : 0, &before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int rtl_serve_command(int argc, char **argv)
{
    struct serve_state s = {.shown = SHOWN, .parts = PARTS};
    int status = parse_arguments(&s, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if ((status = check_processes(&s)))
        return status;
    int listening = open_socket(&s);
    if (listening < 0)
        return RTL_READER_USAGE;
    if (!rtl_stdout_written())
        return RTL_DB_FULL;
    s.fleet = rtl_fleet_create((uint32_t)s.shown, &s.options, s.wake, s.observe);
    s.http = s.fleet ? rtl_http_start(listening, answer, &s) : NULL;
    if (s.http)
        serve_requests(&s);
    else
        rtl_complain("the server could not be started: out of memory or of descriptors");
    rtl_pages_free(&s.pages);
    status = s.http ? 0 : RTL_READER_USAGE;
    rtl_http_stop(s.http);
    rtl_fleet_free(s.fleet);
    return status;
}
