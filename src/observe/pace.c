/* Computes pauses under a budget. See pace.h. */
#include "observe/pace.h"

static const double BUSY_NS = 5e5, IDLE_NS = 2e6, PAST_IDLE_NS = 2e7, LEAST_NS = 5e4;
static const double LONGEST_NS = 4e9; /* and a quarter more, whatever the budget: a viewer is open */
static const double LONGEST_SCAN_NS = 3.6e12;
enum { SCAN_SHARE = 4, RING_LOOKS = 8 }; /* scans get one part in so many of the budget; polls while a ring fills */

static double shared(double cpu, unsigned by)
{
    return cpu / (by ? by : 1);
}

uint64_t rtl_pace_poll_ns(const struct rtl_pace *p)
{
    double budget = shared(p->cpu, p->looking) * (SCAN_SHARE - 1) / SCAN_SHARE, least = p->cost_ns / budget;
    bool busy = p->rate > 1e-3;
    double wanted = busy ? 1e9 / p->rate / RING_LOOKS : p->past_library ? PAST_IDLE_NS : IDLE_NS;
    if (busy && wanted > BUSY_NS)
        wanted = BUSY_NS;
    if (wanted < LEAST_NS)
        wanted = LEAST_NS;
    if (wanted < least)
        wanted = least;
    return (uint64_t)(wanted < LONGEST_NS ? wanted : LONGEST_NS);
}

uint64_t rtl_pace_scan_ns(const struct rtl_pace *p, uint64_t cost_ns)
{
    double wanted = (double)cost_ns / shared(p->cpu, p->scanning) * SCAN_SHARE;
    return (uint64_t)(wanted < LONGEST_SCAN_NS ? wanted : LONGEST_SCAN_NS);
}
