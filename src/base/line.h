/* A straight line from one steady clock to another, and the CPU's time stamp counter. */
#ifndef RTL_BASE_LINE_H
#define RTL_BASE_LINE_H

#include <stdint.h>

struct rtl_line {
    uint64_t x, y; /* a point where both clocks were read together */
    double slope;  /* dy / dx */
};

static inline uint64_t rtl_line_at(const struct rtl_line *line, uint64_t x)
{
    const double most = 9223372036854774784.0; /* the largest double below 2^63 */
    double dy = (double)(int64_t)(x - line->x) * line->slope;
    dy = dy < most ? dy : most;
    return line->y + (uint64_t)(int64_t)(dy > -most ? dy : -most);
}

static inline uint64_t rtl_tsc(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* Serialised read (lfence): all earlier loads have completed. */
static inline uint64_t rtl_tsc_fenced(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return rtl_tsc();
}

#endif
