/* rtl-top serve with more clients than connections: which clients get one. Counts turns of the server, not time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "serve/http.h"

static uint64_t stopped_ns; /* the time of a stopped clock; 0: it runs */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC || !stopped_ns)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){.tv_sec = (time_t)(stopped_ns / 1000000000), .tv_nsec = (long)(stopped_ns % 1000000000)};
    return 0;
}

enum { CLIENTS = 300, ADDRESSES = 150 };
static struct rtl_http *http;
static struct sockaddr_in server;

static void answer(void *context, const struct rtl_http_request *request, struct rtl_http_reply *reply)
{
    (void)context;
    *reply = (struct rtl_http_reply){.status = 200, .text = request->path};
}

static int start(void **state)
{
    socklen_t size = sizeof server;
    (void)state;
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&server, size) || listen(listening, SOMAXCONN) ||
        getsockname(listening, (struct sockaddr *)&server, &size))
        return -1;
    http = rtl_http_start(listening, answer, NULL);
    return http ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    rtl_http_stop(http);
    stopped_ns = 0;
    return 0;
}

/* Connect from 127.0.0.1, or from another address of this machine. */
static int connect_from(uint32_t host)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK + host)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&server, sizeof server), 0);
    return fd;
}

static void request(int fd)
{
    static const char text[] = "GET /here HTTP/1.0\r\n\r\n";
    assert_int_equal(send(fd, text, sizeof text - 1, MSG_NOSIGNAL), sizeof text - 1);
}

/* Run the server until the client has its answer; at most so many turns. */
static bool is_answered(int fd, int turns)
{
    char text[500];
    while (turns--) {
        rtl_http_run(http, 0, NULL);
        ssize_t n = recv(fd, text, sizeof text, MSG_DONTWAIT);
        if (n > 0)
            return !strncmp(text, "HTTP/1.1 200", 12);
    }
    return false;
}

static bool is_open(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

static void a_newcomer_is_answered_among_idle_clients(void **state)
{
    (void)state;
    static int idle[CLIENTS];
    const int turns = CLIENTS / RTL_HTTP_ACCEPTS + 4;
    for (int i = 0; i < CLIENTS; i++)
        idle[i] = connect_from(0);
    for (int again = 0; again < 3; again++) {
        int fd = connect_from(0);
        request(fd);
        assert_true(is_answered(fd, turns));
        close(fd);
    }
    rtl_http_run(http, 0, NULL);
    /* only the oldest client was replaced */
    int open = 0;
    for (int i = 0; i < CLIENTS; i++) {
        open += is_open(idle[i]);
        assert_true(i < CLIENTS - RTL_HTTP_CONNECTIONS + 3 || is_open(idle[i]));
    }
    assert_true(open <= RTL_HTTP_CONNECTIONS);
    /* further new clients replace further old ones */
    for (int i = 0; i < CLIENTS; i++) {
        close(idle[i]);
        idle[i] = connect_from(0);
        if (i % RTL_HTTP_ACCEPTS == 0)
            rtl_http_run(http, 0, NULL);
    }
    int fd = connect_from(0);
    request(fd);
    assert_true(is_answered(fd, turns));
    close(fd);
    for (int i = 0; i < CLIENTS; i++)
        close(idle[i]);
}

/* A user of this machine can send from all of 127.0.0.0/8. */
static void addresses_of_this_machine_count_as_one(void **state)
{
    (void)state;
    int many[ADDRESSES], honest[2];
    for (uint32_t i = 0; i < RTL_HTTP_CONNECTIONS - 2; i++) {
        many[i] = connect_from(1 + i);
        rtl_http_run(http, 0, NULL);
    }
    for (int i = 0; i < 2; i++)
        honest[i] = connect_from(0);
    rtl_http_run(http, 0, NULL);
    for (uint32_t i = RTL_HTTP_CONNECTIONS - 2; i < ADDRESSES; i++) {
        many[i] = connect_from(1 + i);
        rtl_http_run(http, 0, NULL);
        rtl_http_run(http, 0, NULL);
    }
    assert_true(is_open(honest[0]) && is_open(honest[1]));
    assert_false(is_open(many[0]));
    assert_true(is_open(many[ADDRESSES - 1]));
    for (int i = 0; i < 2; i++) {
        request(honest[i]);
        assert_true(is_answered(honest[i], 4));
        close(honest[i]);
    }
    for (int i = 0; i < ADDRESSES; i++)
        close(many[i]);
}

/* However many clients come, accepting them takes a bounded share of the time. */
static void accepts_have_a_rate(void **state)
{
    (void)state;
    int answered = 0, fd;
    stopped_ns = 1000000000000;
    for (;; answered++) {
        fd = connect_from(0);
        request(fd);
        if (!is_answered(fd, 4))
            break;
        close(fd);
        assert_true(answered <= RTL_HTTP_RATE);
    }
    assert_true(answered >= RTL_HTTP_RATE);
    stopped_ns += 1000000000 / RTL_HTTP_RATE;
    assert_true(is_answered(fd, 4));
    close(fd);
}

/* Without descriptors a new client waits, and the server doesn't spin. */
static void a_client_without_descriptor_waits(void **state)
{
    (void)state;
    struct rlimit before, few;
    stopped_ns = 1000000000000;
    int fd = connect_from(0);
    request(fd);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    bool answered = is_answered(fd, 4);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(answered || is_answered(fd, 4));
    stopped_ns += 100000000;
    assert_true(is_answered(fd, 4));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_newcomer_is_answered_among_idle_clients, start, stop),
        cmocka_unit_test_setup_teardown(addresses_of_this_machine_count_as_one, start, stop),
        cmocka_unit_test_setup_teardown(accepts_have_a_rate, start, stop),
        cmocka_unit_test_setup_teardown(a_client_without_descriptor_waits, start, stop),
    };
    return cmocka_run_group_tests_name("serve, connections", tests, NULL, NULL);
}
