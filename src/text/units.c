/* Formats numbers. See units.h. */
#include "text/units.h"

#include <math.h>
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

/* Use the first step of a scale in which the rounded value is below 1000, else the last step. */
static void scaled(char *out, size_t size, double value, const char *const *letters, int steps, double factor)
{
    char digits[12];
    int step = 0;
    while (!three_digits(digits, sizeof digits, value)) {
        if (step == steps - 1) {
            snprintf(digits, sizeof digits, "%.3g", value);
            break;
        }
        value /= factor;
        step++;
    }
    snprintf(out, size, "%s%s", digits, letters[step]);
}

static struct rtl_number auto_time(double ns)
{
    static const char *const letters[] = {"ns", "µs", "ms", "s"};
    struct rtl_number n;
    if (ns < 999.5) /* whole nanoseconds have no decimals */
        snprintf(n.text, sizeof n.text, "%.0fns", ns);
    else if (ns < 9999.5e9 && ns >= 999.5e9)
        snprintf(n.text, sizeof n.text, "%.0fs", ns / 1e9);
    else if (ns < 999.5e9)
        scaled(n.text, sizeof n.text, ns, letters, 4, 1000);
    else {
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
        snprintf(n.text, sizeof n.text, "%s%s", digits, letter);
    }
    return n;
}

struct rtl_number rtl_format_time(uint64_t ns, enum rtl_unit unit)
{
    if (unit <= RTL_UNIT_AUTO || unit >= RTL_UNIT_COUNT)
        return auto_time((double)ns);
    struct rtl_number n;
    if (unit == RTL_UNIT_NS) {
        snprintf(n.text, sizeof n.text, "%lluns", (unsigned long long)ns);
        return n;
    }
    /* at least three significant digits, all digits before the point, and none below a nanosecond */
    int decimals = 0, most = ns ? units[unit].decimals : 0;
    double value = (double)ns / pow(10, units[unit].decimals), shifted = value;
    for (; decimals < most && shifted < 99.95; decimals++)
        shifted *= 10;
    snprintf(n.text, sizeof n.text, "%.*f%s", decimals, value, units[unit].text);
    return n;
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
    struct rtl_number n;
    if (count < 1000)
        snprintf(n.text, sizeof n.text, "%d", (int)count);
    else
        scaled(n.text, sizeof n.text, (double)count, letters, 7, 1000);
    return n;
}

struct rtl_number rtl_format_exact(uint64_t count, int columns)
{
    struct rtl_number n;
    return snprintf(n.text, sizeof n.text, "%llu", (unsigned long long)count) <= columns ? n : rtl_format_count(count);
}

struct rtl_number rtl_format_rate(double per_second)
{
    static const char *const letters[] = {"", "k", "M", "G", "T"};
    struct rtl_number n;
    if (!(per_second > 0))
        snprintf(n.text, sizeof n.text, "0");
    else if (per_second < 0.005)
        snprintf(n.text, sizeof n.text, "<.01");
    else
        scaled(n.text, sizeof n.text, per_second, letters, 5, 1000);
    return n;
}

struct rtl_number rtl_format_share(double share)
{
    struct rtl_number n;
    double percent = share * 100;
    if (!(percent > 0))
        snprintf(n.text, sizeof n.text, "0.0");
    else if (percent < 0.05)
        snprintf(n.text, sizeof n.text, "<0.1");
    else if (percent < 99.95)
        snprintf(n.text, sizeof n.text, "%.1f", percent);
    else
        snprintf(n.text, sizeof n.text, "%.0f", percent < 999 ? percent : 999);
    return n;
}

struct rtl_number rtl_format_bytes(uint64_t bytes)
{
    static const char letters[] = {0, 'K', 'M', 'G', 'T', 'P', 'E'};
    struct rtl_number n;
    double value = (double)bytes;
    int step = 0;
    while (value >= 1024 && step < 6) {
        value /= 1024;
        step++;
    }
    if (value == floor(value) || value >= 99.95)
        snprintf(n.text, sizeof n.text, "%.0f%.1s", value, &letters[step]);
    else
        snprintf(n.text, sizeof n.text, "%.1f%.1s", value, &letters[step]);
    return n;
}

struct rtl_number rtl_format_size(uint64_t bytes)
{
    struct rtl_number n = rtl_format_bytes(bytes);
    size_t length = strlen(n.text);
    bool scaled = length && (n.text[length - 1] < '0' || n.text[length - 1] > '9');
    snprintf(n.text + length, sizeof n.text - length, scaled ? "iB" : "B");
    return n;
}

struct rtl_number rtl_format_age(uint64_t ns)
{
    struct rtl_number n;
    unsigned long long s = ns / RTL_SEC;
    if (s < 3600)
        snprintf(n.text, sizeof n.text, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    else if (s < 86400)
        snprintf(n.text, sizeof n.text, "%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
                 (unsigned)(s % 60));
    else
        snprintf(n.text, sizeof n.text, "%llud%02uh", s / 86400, (unsigned)(s / 3600 % 24));
    return n;
}

struct rtl_number rtl_format_interval(uint64_t ns)
{
    struct rtl_number n;
    double s = (double)ns / 1e9;
    if (ns < 100 * (RTL_SEC / 1000))
        snprintf(n.text, sizeof n.text, "%.0fms", s * 1000);
    else if (s < 9.95)
        snprintf(n.text, sizeof n.text, "%.1fs", s);
    else if (s < 999)
        snprintf(n.text, sizeof n.text, "%.0fs", s);
    else
        snprintf(n.text, sizeof n.text, "%.0fmin", s / 60);
    return n;
}

struct rtl_number rtl_format_ppb(int64_t ppb)
{
    struct rtl_number n;
    double ppm = (double)ppb / 1000, size = fabs(ppm);
    if (size < 0.005)
        snprintf(n.text, sizeof n.text, "0.00");
    else if (size < 99999)
        snprintf(n.text, sizeof n.text, "%+.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, ppm);
    else
        snprintf(n.text, sizeof n.text, "%c>1e5", ppm < 0 ? '-' : '+');
    return n;
}

bool rtl_parse_interval(const char *text, uint64_t *ns)
{
    /* strtod also accepts blanks, signs, hexadecimal numbers, inf and nan */
    if (!text || !((text[0] >= '0' && text[0] <= '9') || text[0] == '.') || text[1] == 'x' || text[1] == 'X')
        return false;
    char *end;
    double value = strtod(text, &end);
    double factor;
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
