/* The user's settings from the environment, and warnings for the user. */
#ifndef RTL_INTERCEPT_ENV_SETTINGS_H
#define RTL_INTERCEPT_ENV_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/segment.h"

enum {
    RTL_SIGNALS_START = 64,      /* signals made with the first queue */
    RTL_SIGNALS_LIMIT = 1 << 19, /* highest limit of signals: about 150 MB with all of them in flight */
};

/* RTL_QUEUES: X(symbol, value). */
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
    bool mode_unknown;      /* RTL_MODE is unknown */
    bool signals_unknown;   /* RTL_SIGNALS is no valid number */
    uint32_t trace;         /* records in the event ring, 0 = no ring */
    bool probe;             /* kernels may be probed */
};

/* Pure: parse RTL_QUEUES; *choice is AUTO for NULL or empty. False when the value is unknown. */
bool rtl_queue_choice_parse(const char *queues, enum rtl_queue_choice *choice);

/* Pure: parse RTL_PROBE; *probe is false for NULL, empty or "0". False when the value is unknown. */
bool rtl_probe_setting_parse(const char *value, bool *probe);

/* Pure: parse RTL_MODE and RTL_SIGNALS; NULL or empty if not set. */
struct rtl_env_settings rtl_env_settings_parse(const char *mode, const char *signals);

/* Copy the variables of RTL_ENVIRONMENT that are set, in the segment's format; return the bytes. Load only: later the
 * program may change its environment at any time. */
uint32_t rtl_environment_read(char out[RTL_ENVIRONMENT_MAX]);

/* Write "librtl: ...\n" to standard error in one write(2), at most 500 bytes. Keeps errno, raises no SIGPIPE, uses
 * no stdio buffer. Only for problems: the library is silent otherwise. */
__attribute__((format(printf, 1, 2))) void rtl_say(const char *format, ...);

/* Worker: the same, but only if standard error accepts it at once: a full pipe must not stop the timing. A pipe with
 * a free page accepts a line, unless other writers fill it at that moment. */
__attribute__((format(printf, 1, 2))) void rtl_say_nonblocking(const char *format, ...);

#endif
