/* What rtl-top serve takes apart: the address to listen on, and what a client accepts. Pure; all of it is hostile. */
#ifndef RTL_SERVE_PARSE_H
#define RTL_SERVE_PARSE_H

#include <stdbool.h>
#include <stddef.h>

enum { RTL_HOST_MAX = 64 };
#define RTL_SERVE_HOST "127.0.0.1"
#define RTL_SERVE_PORT 9833

struct rtl_address {
    char host[RTL_HOST_MAX];
    unsigned port; /* 0: any that is free */
};

/* "ADDR:PORT", "[ADDR]:PORT", ":PORT", "PORT", "ADDR", "[ADDR]"; what is missing is the default. False when it is none.
 */
bool rtl_address_parse(const char *text, struct rtl_address *address);

/* X(symbol, what it is, the answer's Content-Type): what a page comes as */
#define RTL_FORMATS(X)                                                                          \
    X(TEXT, "the text format of before", "text/plain; version=0.0.4; charset=utf-8")            \
    X(OPENMETRICS, "OpenMetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8") \
    X(PROTOBUF, "Protocol Buffers, which alone has native histograms",                          \
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
#define RTL_ENUM_FORMAT(sym, ...) RTL_FORMAT_##sym,
enum rtl_format { RTL_FORMATS(RTL_ENUM_FORMAT) RTL_FORMAT_COUNT };
#undef RTL_ENUM_FORMAT

/* What a client with that Accept header (NULL: none) wants most; of two that it wants as much the later one. */
enum rtl_format rtl_accepted(const char *accept);

#endif
