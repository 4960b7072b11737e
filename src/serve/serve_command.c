/*
 * rtl-top serve: metrics of all traced and observed processes of this machine over HTTP, for Prometheus. One thread: it
 * updates the processes once a second and answers requests in between.
 */
#include "base/clock.h"
#include "record/db.h"
#include "serve/fleet.h"
#include "serve/hosts.h"
#include "serve/http.h"
#include "serve/listen.h"
#include "serve/pages.h"
#include "options/arguments.h"
#include "options/complain.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 40, PARTS = 2, TICK_MS = 1000 };

struct serve_state {
    struct rtl_options options; /* which processes */
    struct rtl_address address;
    bool given; /* the address was given */
    struct rtl_hosts hosts;
    uint32_t shown;
    unsigned parts;
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
        .status = 200, .body = rtl_pages_get(&s->pages, s->fleet, s->http, rtl_accepted(request->accept), s->parts)};
    if (!reply->body)
        *reply =
            (struct rtl_http_reply){.status = 500, .text = "no memory for all metrics: reduce them with --kernels\n"};
}

static int parse_arguments(struct serve_state *s, int argc, char **argv)
{
    struct rtl_arguments a;
    uint64_t number;
    int status;
    rtl_options_default(&s->options);
    rtl_arguments_begin(&a, RTL_COMMAND_SERVE, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        if (o == RTL_SERVE_WAKE) {
            s->wake = true;
        } else if (o == RTL_SERVE_OBSERVE) {
            s->observe = true;
        } else if (o == RTL_SERVE_KERNELS) {
            if (!rtl_parse_number(a.value, 1, RTL_SERIES_SHOWN_MAX, &number)) {
                rtl_complain("--kernels takes a number from 1 to %d, not '%s'", RTL_SERIES_SHOWN_MAX, a.value);
                return RTL_READER_USAGE;
            }
            s->shown = (uint32_t)number;
        } else if (o == RTL_SERVE_BUCKETS) {
            if (!rtl_parse_number(a.value, 1, RTL_PROM_BUCKET_PARTS, &number) || number == 3) {
                rtl_complain("--buckets takes 1, 2 or 4 (in each factor of two), not '%s'", a.value);
                return RTL_READER_USAGE;
            }
            s->parts = (unsigned)number;
        } else if (o == RTL_SERVE_ALLOW_HOST) {
            const char *wrong;
            if (!rtl_hosts_add(&s->hosts, a.value, &wrong)) {
                rtl_complain("--allow-host: '%s' %s", a.value, wrong);
                return RTL_READER_USAGE;
            }
        } else if (o == RTL_SERVE_PID) {
            char *text = NULL;
            if (rtl_options_set(&s->options, RTL_OPTION_PID, a.value, &text) != RTL_PARSED_RUN) {
                rtl_complain("%s", text ? text : "out of memory");
                free(text);
                return RTL_READER_USAGE;
            }
        }
    }
    if (rtl_arguments_done(&a, &status))
        return status;
    s->given = a.first < argc;
    if (a.first + 1 < argc) {
        rtl_complain("rtl-top serve takes one ADDR:PORT, not also '%s'", argv[a.first + 1]);
        return RTL_READER_USAGE;
    }
    if (!rtl_address_parse(s->given ? argv[a.first] : RTL_SERVE_HOST, &s->address)) {
        rtl_complain("'%s' is no ADDR:PORT, such as 127.0.0.1:%d, [::1]:%d or :%d", argv[a.first], RTL_SERVE_PORT,
                     RTL_SERVE_PORT, RTL_SERVE_PORT);
        return RTL_READER_USAGE;
    }
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
        bool there = false;
        for (int i = 0; i < count && !there; i++)
            there = all[i].pid == o->pids[p];
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

static int open_socket(struct serve_state *s)
{
    char why[512], name[96];
    const char *wrong;
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
    s.fleet = rtl_fleet_create(s.shown, &s.options, s.wake, s.observe);
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
