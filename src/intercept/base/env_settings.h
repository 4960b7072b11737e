/* What the user asks for in the environment, and the one way in which the library says something to a person. */
#ifndef RTL_INTERCEPT_ENV_SETTINGS_H
#define RTL_INTERCEPT_ENV_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/tables.h"

enum {
    RTL_SIGNALS_START = 64,      /* signals made with the first queue */
    RTL_SIGNALS_LIMIT = 1 << 19, /* highest limit of signals: about 150 MB if all of them are in flight */
};

/* How queues are watched: X(symbol, value of RTL_QUEUES). */
#define RTL_QUEUE_CHOICES(X)  \
    X(AUTO, "auto")           \
    X(INTERCEPT, "intercept") \
    X(NATIVE, "native")
#define RTL_ENUM_CHOICE(symbol, name) RTL_QUEUES_##symbol,
enum rtl_queue_choice { RTL_QUEUE_CHOICES(RTL_ENUM_CHOICE) };
#undef RTL_ENUM_CHOICE

struct rtl_env_settings {
    enum rtl_mode mode;
    enum rtl_queue_choice queues;
    uint32_t signals_limit; /* 0: the limit follows the queues' sizes (signal_pool.h) */
    bool mode_unknown;      /* RTL_MODE was not understood */
    bool signals_unknown;   /* RTL_SIGNALS was not understood */
    uint32_t trace;         /* records of the event ring, 0 = none */
    bool probe;             /* kernels may be probed */
};

/* Pure: the value of RTL_QUEUES; *choice is AUTO for NULL or empty. False when it was not understood. */
bool rtl_queue_choice_parse(const char *queues, enum rtl_queue_choice *choice);

/* Pure: the value of RTL_PROBE; *probe is false for NULL, empty or "0". False when it was not understood. */
bool rtl_probe_setting_parse(const char *value, bool *probe);

/* Pure: the values of RTL_MODE and RTL_SIGNALS, NULL or empty when not set. */
struct rtl_env_settings rtl_env_settings_parse(const char *mode, const char *signals);

/*
 * Writes "librtl: ...\n" to standard error in one write(2), at most 500 bytes. Keeps errno, raises no SIGPIPE,
 * touches no stdio buffer. For trouble only: the library is silent otherwise.
 */
__attribute__((format(printf, 1, 2))) void rtl_say(const char *format, ...);

/*
 * Worker: the same where standard error takes it now; nothing where it is a pipe that nobody empties, because timing
 * must not stand still for that. A pipe with a free page takes a line at once, unless others fill it that moment.
 */
__attribute__((format(printf, 1, 2))) void rtl_say_nonblocking(const char *format, ...);

#endif
