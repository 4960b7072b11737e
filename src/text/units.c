/* Formats numbers. See units.h. */
#include "text/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
    int decimals;
} units[] = {
#define UNIT(sym, label, digits, written) [RTL_UNIT_##sym] = {label, written, digits},
    RTL_UNITS(UNIT)
#undef UNIT
};

const char *rtl_unit_name(enum rtl_unit unit)
{
    return unit < RTL_UNIT_COUNT ? units[unit].name : units[0].name;
}

bool rtl_unit_parse(const char *name, enum rtl_unit *unit)
{
    for (int i = 0; i < RTL_UNIT_COUNT; i++)
        if (!strcmp(name, units[i].name)) {
            *unit = (enum rtl_unit)i;
            return true;
        }
    return false;
}

/* Write three significant digits of a value in [0, 1000); false if rounding makes it 1000. */
static bool three_digits(char *out, size_t size, double value)
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (value >= 999.5)
        return false;
    snprintf(out, size, "%.*f", decimals, value);
    return true;
}

static struct rtl_number __attribute__((format(printf, 1, 2))) number_text(const char *format, ...)
{
    struct rtl_number n;
    va_list args;
    va_start(args, format);
    vsnprintf(n.text, sizeof n.text, format, args);
    va_end(args);
    return n;
}

/* Use the first step of a scale in which the rounded value is below 1000, else the last step. */
static struct rtl_number scaled(double value, const char *const *letters, int steps)
{
    char digits[12];
    int step = 0;
    while (!three_digits(digits, sizeof digits, value)) {
        if (step == steps - 1) {
            snprintf(digits, sizeof digits, "%.3g", value);
            break;
        }
        value /= 1000;
        step++;
    }
    return number_text("%s%s", digits, letters[step]);
}

static struct rtl_number auto_time(double ns)
{
    static const char *const letters[] = {"ns", "µs", "ms", "s"};
    if (ns < 999.5) /* whole nanoseconds have no decimals */
        return number_text("%.0fns", ns);
    if (ns < 999.5e9)
        return scaled(ns, letters, 4);
    if (ns < 9999.5e9)
        return number_text("%.0fs", ns / 1e9);
    char digits[12];
    double hours = ns / 3600e9;
    const char *letter = "h";
    if (hours >= 99.95) {
        hours /= 24;
        letter = "d";
    }
    if (!three_digits(digits, sizeof digits, hours)) {
        three_digits(digits, sizeof digits, hours / 365.25); /* 2^64 ns are 585 years */
        letter = "y";
    }
    return number_text("%s%s", digits, letter);
}

struct rtl_number rtl_format_time(uint64_t ns, enum rtl_unit unit)
{
    if (unit <= RTL_UNIT_AUTO || unit >= RTL_UNIT_COUNT)
        return auto_time((double)ns);
    if (unit == RTL_UNIT_NS)
        return number_text("%lluns", (unsigned long long)ns);
    /* at least three significant digits, all digits before the point, and none below a nanosecond */
    int decimals = 0, most = ns ? units[unit].decimals : 0;
    double value = (double)ns / pow(10, units[unit].decimals), shifted = value;
    for (; decimals < most && shifted < 99.95; decimals++)
        shifted *= 10;
    return number_text("%.*f%s", decimals, value, units[unit].text);
}

void rtl_units_ascii(char *text)
{
    for (char *micro = text; (micro = strstr(micro, "µ")); micro++) {
        *micro = 'u';
        memmove(micro + 1, micro + 2, strlen(micro + 2) + 1);
    }
}

struct rtl_number rtl_format_count(uint64_t count)
{
    static const char *const letters[] = {"", "k", "M", "G", "T", "P", "E"};
    return count < 1000 ? number_text("%d", (int)count) : scaled((double)count, letters, 7);
}

struct rtl_number rtl_format_exact(uint64_t count, int columns)
{
    struct rtl_number n = number_text("%llu", (unsigned long long)count);
    return (int)strlen(n.text) <= columns ? n : rtl_format_count(count);
}

struct rtl_number rtl_format_rate(double per_second)
{
    static const char *const letters[] = {"", "k", "M", "G", "T"};
    if (per_second < 0)
        return number_text(RTL_NONE);
    if (!(per_second > 0))
        return number_text("0");
    return per_second < 0.005 ? number_text("<.01") : scaled(per_second, letters, 5);
}

struct rtl_number rtl_format_share(double share)
{
    double percent = share * 100;
    if (!(percent > 0))
        return number_text("0.0");
    if (percent < 0.05)
        return number_text("<0.1");
    return percent < 99.95 ? number_text("%.1f", percent) : number_text("%.0f", percent < 999 ? percent : 999);
}

struct rtl_number rtl_format_bytes(uint64_t bytes)
{
    static const char letters[] = {0, 'K', 'M', 'G', 'T', 'P', 'E'};
    double value = (double)bytes;
    int step = 0;
    while (value >= 1024 && step < 6) {
        value /= 1024;
        step++;
    }
    return number_text("%.*f%.1s", value == floor(value) || value >= 99.95 ? 0 : 1, value, &letters[step]);
}

struct rtl_number rtl_format_size(uint64_t bytes)
{
    return number_text("%s%s", rtl_format_bytes(bytes).text, bytes < 1024 ? "B" : "iB");
}

struct rtl_number rtl_format_age(uint64_t ns)
{
    unsigned long long s = ns / RTL_SEC;
    if (s < 3600)
        return number_text("%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    if (s < 86400)
        return number_text("%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return number_text("%llud%02uh", s / 86400, (unsigned)(s / 3600 % 24));
}

struct rtl_number rtl_format_interval(uint64_t ns)
{
    double s = (double)ns / 1e9;
    if (ns < 100 * (RTL_SEC / 1000))
        return number_text("%.0fms", s * 1000);
    if (s < 9.95)
        return number_text("%.1fs", s);
    return s < 999 ? number_text("%.0fs", s) : number_text("%.0fmin", s / 60);
}

struct rtl_number rtl_format_ppb(int64_t ppb)
{
    double ppm = (double)ppb / 1000, size = fabs(ppm);
    if (size < 0.005)
        return number_text("0.00");
    if (size < 99999)
        return number_text("%+.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, ppm);
    return number_text("%c>1e5", ppm < 0 ? '-' : '+');
}

bool rtl_parse_interval(const char *text, uint64_t *ns)
{
    /* strtod also accepts blanks, signs, hexadecimal numbers, inf and nan */
    if (!text || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.') || text[1] == 'x' || text[1] == 'X')
        return false;
    char *end;
    double value = strtod(text, &end), factor;
    if (end == text)
        return false;
    if (!*end || !strcmp(end, "s"))
        factor = 1e9;
    else if (!strcmp(end, "ms"))
        factor = 1e6;
    else if (!strcmp(end, "m"))
        factor = 60e9;
    else
        return false;
    value *= factor;
    if (!(value >= 49.999e6 && value <= 3600.001e9))
        return false;
    *ns = (uint64_t)(value + 0.5);
    return true;
}
