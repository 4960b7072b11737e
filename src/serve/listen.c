/* Listening sockets. See listen.h. */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INHERITED = 3 };

static void explain_error(const struct rtl_address *a, int error, char *why, size_t why_bytes)
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

int rtl_listen(const struct rtl_address *a, char *why, size_t why_bytes)
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
        explain_error(a, error, why, why_bytes);
    return fd;
}

int rtl_listen_inherited(char *why, size_t why_bytes)
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

void rtl_listen_name(int listening, char *out, size_t size, bool *loopback)
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
