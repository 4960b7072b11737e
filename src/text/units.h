/*
 * Formats times, counts, rates, shares and sizes. Pure.
 *
 * Three significant digits, a unit, no blank: 41.8µs, 2.82ms, 10.3k. At most six columns, except for times in a unit
 * that the user chose, which may be longer. The micro sign is the only character beyond ASCII (rtl_units_ascii). The
 * caller writes "-" (RTL_NONE) for values that were not measured.
 */
#ifndef RTL_TEXT_UNITS_H
#define RTL_TEXT_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* X(symbol, name on the command line and on screen, decimals of a nanosecond in this unit, suffix) */
#define RTL_UNITS(X)       \
    X(AUTO, "auto", 0, "") \
    X(NS, "ns", 0, "ns")   \
    X(US, "us", 3, "µs")   \
    X(MS, "ms", 6, "ms")   \
    X(S, "s", 9, "s")

#define RTL_ENUM_UNIT(sym, ...) RTL_UNIT_##sym,
enum rtl_unit { RTL_UNITS(RTL_ENUM_UNIT) RTL_UNIT_COUNT };
#undef RTL_ENUM_UNIT

#define RTL_NONE "-"
#define RTL_SEC  1000000000ull

struct rtl_number {
    char text[24]; /* 2^64 ns in ns */
};

const char *rtl_unit_name(enum rtl_unit unit);
bool rtl_unit_parse(const char *name, enum rtl_unit *unit);

struct rtl_number rtl_format_time(uint64_t ns, enum rtl_unit unit); /* a duration: 41.8µs, 2.82ms, 362s, 2.78h */
struct rtl_number rtl_format_count(uint64_t count);                 /* 143, 10.3k, 1.03M */
struct rtl_number rtl_format_exact(uint64_t count, int columns);    /* 4096; as a count when that is longer */
struct rtl_number rtl_format_rate(double per_second);               /* 0, 0.25, 3.21, 53.1k; "-" below 0 */
struct rtl_number rtl_format_share(double share);                   /* 0..1 -> 31.2, <0.1, 100 */
/* For sentences: "512B", "5GiB". */
struct rtl_number rtl_format_size(uint64_t bytes);
struct rtl_number rtl_format_bytes(uint64_t bytes); /* 512, 32K, 1.5M */
struct rtl_number rtl_format_age(uint64_t ns);      /* 0:07, 4:12, 1:02:03, 3d04h */
struct rtl_number rtl_format_interval(uint64_t ns); /* 50ms, 0.5s, 10s, 17min */
struct rtl_number rtl_format_ppb(int64_t ppb);      /* parts per million with a sign: +50.0, -0.31 */

/* Replace the micro sign by "u", in place. */
void rtl_units_ascii(char *text);

/* "2", "0.5", "500ms", "2s", "1m" -> ns. False for anything else, or outside 50 ms .. 1 hour. */
bool rtl_parse_interval(const char *text, uint64_t *ns);

#endif
