/*
 * A clock that runs steadily against another one, as a straight line between the two; and the CPU's time stamp counter,
 * which is one.
 */
#ifndef RTL_BASE_LINE_H
#define RTL_BASE_LINE_H

#include <stdint.h>

struct rtl_line {
    uint64_t x, y; /* a point where both were seen together */
    double slope;  /* dy / dx */
};

static inline uint64_t rtl_line_at(const struct rtl_line *line, uint64_t x)
{
    double dy = (double)(int64_t)(x - line->x) * line->slope;
    if (!(dy > -0x1p63 && dy < 0x1p63)) /* no such integer, or not a number */
        return line->y;
    return line->y + (uint64_t)(int64_t)dy;
}

#if defined(__x86_64__)
static inline uint64_t rtl_tsc(void)
{
    return __builtin_ia32_rdtsc();
}

/* Not before all that comes before it has happened: what was waited for is over. */
static inline uint64_t rtl_tsc_behind(void)
{
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t rtl_tsc(void)
{
    return 0;
}

static inline uint64_t rtl_tsc_behind(void)
{
    return 0;
}
#endif

#endif
