/* Tick rates, and the line from the CPU's time stamp counter to the monotonic clock. */
#include "intercept/base/hsa_clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    ANCHOR_NS = 1000000000, /* the slope is measured over one to two seconds */
    BROKEN_PPM = 2000,      /* a counter whose rate changes by more is unusable */
    SLOPE_NS = 100000000,   /* a slope over less time is too inexact */
    FITS_NS = 1000,         /* a line that was off by more (slewed clock, interrupted reading) is not extrapolated */
    LINE_USED = 100000000,  /* a point further behind the line's point says nothing about the line */
};
static const uint64_t CALIBRATED_NS = 5000000000; /* an agent's slope is measured over five to ten seconds */

uint64_t rtl_tick_rate_guess(uint64_t ticks, uint64_t ns)
{
    static const uint64_t known[] = {100000000, 25000000, 27000000, 48000000, 19200000, 38400000, 50000000, 1000000000};
    if (ticks == 0 || ns == 0)
        return 0;
    double hz = (double)ticks * 1e9 / (double)ns;
    if (!(hz >= 1e6 && hz <= 1e10))
        return 0;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        double off = hz / (double)known[i] - 1;
        if (off > -0.005 && off < 0.005)
            return known[i];
    }
    return (uint64_t)(hz + 0.5);
}

void rtl_calibration_add(struct rtl_calibration *c, uint64_t hz, uint64_t x, uint64_t y, double slope)
{
    struct rtl_line now = {x, y, slope};
    bool later = c->line.slope > 0 && x > c->line.x && y > c->line.y;
    if (later && y - c->line.y <= LINE_USED) {
        int64_t off = (int64_t)(rtl_line_at(&c->line, x) - y);
        c->residual_ns = (uint64_t)(off < 0 ? -off : off);
        c->residual_most_ns = c->residual_ns > c->residual_most_ns ? c->residual_ns : c->residual_most_ns;
        c->residuals++;
    }
    double measured = later && y - c->anchor.y >= SLOPE_NS ? (double)(y - c->anchor.y) / (double)(x - c->anchor.x) : 0;
    double ppm = measured > 0 ? (slope / measured - 1) * 1e6 : 0;
    if (!later || ppm > BROKEN_PPM || ppm < -BROKEN_PPM) { /* the first point, or a clock jumped */
        c->anchor = c->next = c->line = now;
        c->drift_over_ns = 0;
        return;
    }
    if (measured > 0) {
        now.slope = measured;
        c->drift_over_ns = y - c->anchor.y;
        c->drift_ppm = (1e9 / measured / (double)hz - 1) * 1e6;
    }
    c->line = now;
    if (y - c->next.y >= CALIBRATED_NS) {
        c->anchor = c->next;
        c->next = now;
    }
}

bool rtl_tsc_usable(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007u, &a, &b, &c, &d) || !(d & (1u << 8)))
        return false;
    /* Under a hypervisor's own clock source the counter may change when the guest moves; the kernel doesn't use it
     * then. */
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
    if (fd >= 0)
        close(fd);
    return n >= 3 && strncmp(name, "tsc", 3) == 0;
#else
    return false;
#endif
}

void rtl_clock_pair(uint64_t *tsc, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = rtl_tsc(), now = rtl_clock_now(), after = rtl_tsc();
        if (after - before < best) {
            best = after - before;
            *tsc = before + best / 2;
            *ns = now;
        }
    }
}

void rtl_tsc_line_start(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns)
{
    memset(line, 0, sizeof *line);
    line->anchor_tsc = line->next_tsc = tsc;
    line->anchor_ns = line->next_ns = ns;
    line->line = (struct rtl_line){tsc, ns, 0};
}

void rtl_tsc_line_update(struct rtl_tsc_line *line, uint64_t tsc, uint64_t ns)
{
    if (tsc <= line->line.x || ns <= line->line.y) {
        line->broken |= tsc < line->line.x;
        line->fits = false;
        return;
    }
    double slope = (double)(ns - line->anchor_ns) / (double)(tsc - line->anchor_tsc);
    uint64_t base = line->line.y - line->anchor_ns;
    if (line->line.slope > 0 && base > SLOPE_NS) {
        /* the slope of the newest stretch alone, if long enough */
        double newest = (double)(ns - line->line.y) / (double)(tsc - line->line.x);
        double ppm = (newest / line->line.slope - 1) * 1e6;
        if (ns - line->line.y > SLOPE_NS && (ppm > BROKEN_PPM || ppm < -BROKEN_PPM))
            line->broken = true;
    }
    int64_t off = (int64_t)(rtl_line_at(&line->line, tsc) - ns);
    /* no reader extrapolates the line that far */
    bool far = ns - line->line.y > RTL_TSC_LINE_USED_NS;
    line->fits = !line->broken && ns - line->anchor_ns >= SLOPE_NS && line->line.slope > 0 &&
                 (far || (off <= FITS_NS && off >= -FITS_NS));
    line->line = (struct rtl_line){tsc, ns, slope};
    if (ns - line->next_ns >= ANCHOR_NS) {
        line->anchor_tsc = line->next_tsc;
        line->anchor_ns = line->next_ns;
        line->next_tsc = tsc;
        line->next_ns = ns;
    }
}
