/* Parsing the address to listen on and a client's Accept header. Untrusted input. Pure. */
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

/* Parse "ADDR:PORT", "[ADDR]:PORT", ":PORT", "PORT", "ADDR" or "[ADDR]", with defaults. False for other texts. */
bool rtl_address_parse(const char *text, struct rtl_address *address);

/* X(symbol, name, Content-Type): formats of a page */
#define RTL_FORMATS(X)                                                                          \
    X(TEXT, "Prometheus's older text format", "text/plain; version=0.0.4; charset=utf-8")       \
    X(OPENMETRICS, "OpenMetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8") \
    X(PROTOBUF, "Protocol Buffers, the only format with native histograms",                     \
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
#define RTL_ENUM_FORMAT(sym, ...) RTL_FORMAT_##sym,
enum rtl_format { RTL_FORMATS(RTL_ENUM_FORMAT) RTL_FORMAT_COUNT };
#undef RTL_ENUM_FORMAT

/* Return the format that an Accept header (NULL: none) prefers; of equal preferences the later format. */
enum rtl_format rtl_accepted(const char *accept);

#endif
