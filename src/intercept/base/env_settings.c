/* Reads RTL_MODE, RTL_SIGNALS, RTL_QUEUES and RTL_PROBE, and prints warnings without disturbing the application. */
#include "intercept/base/env_settings.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm/trace_size.h"

struct rtl_env_settings rtl_env_settings_parse(const char *mode, const char *signals)
{
    struct rtl_env_settings settings = {.mode = RTL_MODE_DEFAULT};
    if (mode && mode[0]) {
        settings.mode_unknown = true;
#define ALIAS(name, sym)                \
    if (strcmp(mode, name) == 0) {      \
        settings.mode = RTL_MODE_##sym; \
        settings.mode_unknown = false;  \
    }
#define NAME(sym, num, name, text) ALIAS(name, sym)
        RTL_MODES(NAME)
        RTL_MODE_ALIASES(ALIAS)
#undef NAME
#undef ALIAS
        if (strcmp(mode, RTL_MODE_HIP) == 0) /* the mode of librtl-hip.so; here it is the default */
            settings.mode_unknown = false;
    }
    if (signals && signals[0]) {
        uint32_t n = 0;
        for (const char *c = signals; *c; c++) {
            if (*c < '0' || *c > '9' || n > RTL_SIGNALS_LIMIT) {
                n = 0;
                break;
            }
            n = n * 10 + (uint32_t)(*c - '0');
        }
        settings.signals_unknown = n < 1 || n > RTL_SIGNALS_LIMIT;
        if (!settings.signals_unknown)
            settings.signals_limit = n;
    }
    return settings;
}

uint32_t rtl_environment_read(char out[RTL_ENVIRONMENT_MAX])
{
#define NAME(name, use) name,
    static const char *const names[] = {RTL_ENVIRONMENT(NAME)};
#undef NAME
    uint32_t used = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        bool whole = strnlen(value, RTL_ENVIRONMENT_VALUE_MAX + 1) <= RTL_ENVIRONMENT_VALUE_MAX;
        used += (uint32_t)sprintf(out + used, "%s=%.*s%s", names[i], RTL_ENVIRONMENT_VALUE_MAX - (whole ? 0 : 3), value,
                                  whole ? "" : "...") +
                1;
    }
    return used;
}

bool rtl_queue_choice_parse(const char *queues, enum rtl_queue_choice *choice)
{
#define NAME(symbol, name) name,
    static const char *const names[] = {RTL_QUEUE_CHOICES(NAME)};
#undef NAME
    *choice = RTL_QUEUES_AUTO;
    if (!queues || !*queues)
        return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(queues, names[i]) == 0) {
            *choice = (enum rtl_queue_choice)i;
            return true;
        }
    return false;
}

bool rtl_probe_setting_parse(const char *value, bool *probe)
{
    *probe = value && strcmp(value, "1") == 0;
    return *probe || !value || !value[0] || strcmp(value, "0") == 0;
}

__attribute__((format(printf, 1, 0))) static void write_line(const char *format, va_list args)
{
    static const char prefix[] = "librtl: ";
    int error = errno;
    char line[500];
    memcpy(line, prefix, sizeof prefix);
    vsnprintf(line + sizeof prefix - 1, sizeof line - sizeof prefix, format, args);
    size_t length = strlen(line);
    for (size_t i = 0; i < length; i++) /* text from the environment must not control a terminal */
        if (line[i] < ' ' || line[i] > '~')
            line[i] = '?';
    line[length++] = '\n';

    /* A closed pipe must not kill the application: block SIGPIPE, and consume it if we raised it. */
    sigset_t pipe_only, before, waiting;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&waiting);
    bool was_waiting = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    /* not write(): a thread must not be cancelled inside a function that is no cancellation point */
    long written = syscall(SYS_write, STDERR_FILENO, line, length);
    if (written < 0 && errno == EPIPE && !was_waiting) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

void rtl_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(format, args);
    va_end(args);
}

void rtl_say_nonblocking(const char *format, ...)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    int error = errno;
    bool heard = poll(&out, 1, 0) == 1 && (out.revents & POLLOUT);
    errno = error;
    if (!heard)
        return;
    va_list args;
    va_start(args, format);
    write_line(format, args);
    va_end(args);
}
