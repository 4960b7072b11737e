/*
 * Numbers for people: times, counts, rates, shares and sizes in at most six columns; PCI addresses. Pure.
 *
 * Three significant digits, a unit letter, no blank: 41.8u, 2.82m, 10.3k. What does not fit a fixed unit falls back to
 * the automatic one. The caller writes "-" (RTL_NONE) for what was not measured; these functions never do.
 */
#ifndef RTL_TEXT_UNITS_H
#define RTL_TEXT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(symbol, name on the command line and on screen, ns a unit, letter) */
#define RTL_UNITS(X)          \
    X(AUTO, "auto", 0, "")    \
    X(NS, "ns", 1, "n")       \
    X(US, "us", 1000, "u")    \
    X(MS, "ms", 1000000, "m") \
    X(S, "s", 1000000000, "s")

#define RTL_ENUM_UNIT(sym, name, ns, letter) RTL_UNIT_##sym,
enum rtl_unit { RTL_UNITS(RTL_ENUM_UNIT) RTL_UNIT_COUNT };
#undef RTL_ENUM_UNIT

#define RTL_NONE "-"
#define RTL_SEC  1000000000ull

struct rtl_number {
    char text[16];
};

const char *rtl_unit_name(enum rtl_unit unit);
bool rtl_unit_parse(const char *name, enum rtl_unit *unit);

struct rtl_number rtl_format_time(uint64_t ns, enum rtl_unit unit); /* a duration: 41.8u, 2.82m, 362s, 2.78h */
struct rtl_number rtl_format_count(uint64_t count);                 /* 143, 10.3k, 1.03M */
struct rtl_number rtl_format_rate(double per_second);               /* 0, 0.25, 3.21, 53.1k */
struct rtl_number rtl_format_share(double share);                   /* 0..1 -> 31.2, <0.1, 100 */
struct rtl_number rtl_format_bytes(uint64_t bytes);                 /* 512, 32K, 1.5M */
struct rtl_number rtl_format_age(uint64_t ns);                      /* 0:07, 4:12, 1:02:03, 3d04h */
struct rtl_number rtl_format_interval(uint64_t ns);                 /* 50ms, 0.5s, 10s */
struct rtl_number rtl_format_pci(uint32_t bdf);                     /* 0000:c1:00.0, of struct rtl_agent's */
struct rtl_number rtl_format_ppb(int64_t ppb);                      /* parts per million with a sign: +50.0, -0.31 */

/* "2", "0.5", "500ms", "2s", "1m" -> ns. False for anything else, or outside 50 ms .. 1 hour. */
bool rtl_parse_interval(const char *text, uint64_t *ns);

#endif
