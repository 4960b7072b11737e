/*
 * rtl-top serve: the numbers of all traced processes of this machine over HTTP, for Prometheus. One thread: it looks
 * after the processes once a second and answers in between.
 */
#include "base/clock.h"
#include "record/db.h"
#include "serve/fleet.h"
#include "serve/http.h"
#include "serve/listen.h"
#include "serve/render.h"
#include "session/arguments.h"
#include "session/complain.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SHOWN = 40, PARTS = 2, TICK_MS = 1000 };
/* Pages are made no oftener: who asks all the time gets the same one again, and costs next to nothing. */
static const uint64_t PAGE_NS = 250000000;

#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT        "text/plain; version=0.0.4; charset=utf-8"

struct server {
    struct rtl_options options; /* which processes */
    struct rtl_address address;
    bool given; /* the address was said */
    uint32_t shown;
    unsigned parts;
    bool wake;
    struct rtl_fleet *fleet;
    struct rtl_page pages[2]; /* text, OpenMetrics */
    uint64_t made_ns[2];
    struct rtl_serve_facts facts;
};

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number)
{
    (void)number;
    asked_to_end = 1;
}

static uint64_t cpu_ns(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000ull +
           (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000ull;
}

static bool make_page(struct server *s, bool openmetrics)
{
    struct rtl_page *page = &s->pages[openmetrics];
    uint64_t from = rtl_mono_ns();
    if (page->text && from - s->made_ns[openmetrics] < PAGE_NS)
        return true;
    rtl_page_free(page);
    s->facts.cpu_ns = cpu_ns();
    rtl_fleet_collect(s->fleet);
    rtl_page_begin(page, openmetrics, s->parts);
    rtl_render(s->fleet, &s->facts, page);
    bool fine = rtl_page_end(page);
    if (!fine)
        rtl_page_free(page);
    s->made_ns[openmetrics] = rtl_mono_ns();
    s->facts.took_ns = s->made_ns[openmetrics] - from;
    return fine;
}

static void say(struct rtl_http_reply *reply, unsigned status, const char *text)
{
    *reply = (struct rtl_http_reply){status, "text/plain; charset=utf-8", text, strlen(text)};
}

static void answer(void *context, const char *path, const char *accept, struct rtl_http_reply *reply)
{
    struct server *s = context;
    bool openmetrics = rtl_accepts_openmetrics(accept);
    if (!strcmp(path, "/")) {
        say(reply, 200, "rtl-top serve: the metrics are at /metrics\n");
        return;
    }
    if (strcmp(path, "/metrics") != 0) {
        say(reply, 404, "there is nothing here: the metrics are at /metrics\n");
        return;
    }
    s->facts.scrapes++;
    if (!make_page(s, openmetrics)) {
        say(reply, 500, "no memory for all metrics: fewer kernels (--kernels) make less of them\n");
        return;
    }
    const struct rtl_page *page = &s->pages[openmetrics];
    *reply = (struct rtl_http_reply){200, openmetrics ? OPENMETRICS : TEXT, page->text, page->used};
}

static bool parse_number(const char *text, uint32_t most, uint32_t *number)
{
    char *end;
    unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!value || *end || value > most)
        return false;
    *number = (uint32_t)value;
    return true;
}

static int parse(struct server *s, int argc, char **argv, bool *done)
{
    struct rtl_arguments a;
    uint32_t parts = 0;
    int status = 0;
    rtl_options_default(&s->options);
    rtl_arguments_begin(&a, RTL_COMMAND_SERVE, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        if (o == RTL_SERVE_WAKE) {
            s->wake = true;
        } else if (o == RTL_SERVE_KERNELS && !parse_number(a.value, RTL_SERIES_SHOWN_MAX, &s->shown)) {
            rtl_complain("--kernels wants a number from 1 to %d, not '%s'", RTL_SERIES_SHOWN_MAX, a.value);
            return RTL_READER_USAGE;
        } else if (o == RTL_SERVE_BUCKETS) {
            if (!parse_number(a.value, RTL_CLASS_PARTS, &parts) || parts == 3) {
                rtl_complain("--buckets wants 1, 2 or 4 in each factor of two, not '%s'", a.value);
                return RTL_READER_USAGE;
            }
            s->parts = parts;
        } else if (o == RTL_SERVE_PID) {
            char *text = NULL;
            if (rtl_options_set(&s->options, RTL_OPTION_PID, a.value, &text) != RTL_PARSED_RUN) {
                rtl_complain("%s", text ? text : "out of memory");
                free(text);
                return RTL_READER_USAGE;
            }
        }
    }
    *done = rtl_arguments_done(&a, &status);
    if (*done)
        return status;
    s->given = a.first < argc;
    if (a.first + 1 < argc) {
        rtl_complain("rtl-top serve takes one ADDR:PORT, and no '%s'", argv[a.first + 1]);
        return RTL_READER_USAGE;
    }
    if (!rtl_address_parse(s->given ? argv[a.first] : RTL_SERVE_HOST, &s->address)) {
        rtl_complain("'%s' is no ADDR:PORT: 127.0.0.1:%d, [::1]:%d or :%d are", argv[a.first], RTL_SERVE_PORT,
                     RTL_SERVE_PORT, RTL_SERVE_PORT);
        return RTL_READER_USAGE;
    }
    return 0;
}

static int open_socket(const struct server *s)
{
    char why[512], name[96];
    bool loopback;
    int listening = s->given ? -1 : rtl_listen_inherited(why, sizeof why);
    if (listening == -1)
        listening = rtl_listen(&s->address, why, sizeof why);
    if (listening < 0) {
        rtl_complain("%s", why);
        return -1;
    }
    rtl_listen_name(listening, name, sizeof name, &loopback);
    printf("serving http://%s/metrics\n", name);
    if (!loopback)
        rtl_complain("whoever reaches %s sees the names of kernels and the command lines: put a proxy with TLS and a "
                     "password before it, or listen on 127.0.0.1",
                     name);
    return listening;
}

static void loop(struct server *s, struct rtl_http *http)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigprocmask(SIG_BLOCK, &ours, &before); /* but for where it waits: none is missed */
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    signal(SIGPIPE, SIG_IGN);
    for (uint64_t tick_ns = 0; !asked_to_end;) {
        uint64_t now = rtl_mono_ns();
        if (now >= tick_ns) {
            rtl_fleet_tick(s->fleet);
            now = rtl_mono_ns();
            tick_ns = now + TICK_MS * 1000000ull;
        }
        int wait = (int)((tick_ns - now) / 1000000) + 1, sooner = rtl_http_timeout_ms(http);
        wait = sooner >= 0 && sooner < wait ? sooner : wait;
        struct pollfd p = {.fd = rtl_http_fd(http), .events = POLLIN};
        struct timespec timeout = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000};
        ppoll(&p, 1, &timeout, &before);
        rtl_http_run(http);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int rtl_serve_command(int argc, char **argv)
{
    struct server s = {.shown = SHOWN, .parts = PARTS};
    bool done = false;
    int status = parse(&s, argc, argv, &done);
    if (status || done)
        return status;
    int listening = open_socket(&s);
    if (listening < 0)
        return RTL_READER_USAGE;
    if (!rtl_stdout_written())
        return RTL_DB_FULL;
    s.fleet = rtl_fleet_create(s.shown, &s.options, s.wake);
    struct rtl_http *http = s.fleet ? rtl_http_start(listening, answer, &s) : NULL;
    if (http)
        loop(&s, http);
    else
        rtl_complain("the server could not be started: out of memory or of descriptors");
    rtl_http_stop(http);
    for (int i = 0; i < 2; i++)
        rtl_page_free(&s.pages[i]);
    rtl_fleet_free(s.fleet);
    return http ? 0 : RTL_READER_USAGE;
}
