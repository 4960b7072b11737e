/* What the user asks for in the environment, and the one way in which the library says something to a person. */
#ifndef RTL_INTERCEPT_SETTINGS_H
#define RTL_INTERCEPT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/tables.h"

enum {
    RTL_SIGNALS_START = 64,     /* signals made with the first queue */
    RTL_SIGNALS_DEFAULT = 4096, /* most there may be, where RTL_SIGNALS says nothing else */
    RTL_SIGNALS_LIMIT = 32768,  /* and the most that it can say */
};

struct rtl_settings {
    enum rtl_mode mode;
    uint32_t signals_limit;
    bool mode_unknown;    /* RTL_MODE was not understood */
    bool signals_unknown; /* RTL_SIGNALS was not understood */
    uint32_t trace;       /* records of the event ring, 0 = none */
};

/*
 * Pure: the value of RTL_TRACE. *records becomes the size of the event ring, a power of two: 0 for NULL, empty or "0",
 * the default for "1", otherwise what a size such as 512K, 64M or 1G holds, rounded up. False when it was not
 * understood.
 */
bool rtl_trace_parse(const char *trace, uint32_t *records);

/* Pure: the values of RTL_MODE and RTL_SIGNALS, NULL or empty when not set. */
struct rtl_settings rtl_settings_parse(const char *mode, const char *signals);

/*
 * Writes "librtl: ...\n" to standard error in one write(2), at most 500 bytes. Keeps errno, raises no SIGPIPE,
 * touches no stdio buffer. For trouble only: the library is silent otherwise.
 */
__attribute__((format(printf, 1, 2))) void rtl_say(const char *format, ...);

#endif
