/* Times from completion signals. See signal_times.h. */
#include "observe/signal_times.h"

#include <math.h>
#include <stddef.h>

enum { LEARN = 8 };                        /* times that only serve to know the clock */
static const uint64_t NEAR_NS = 100000000; /* how long a known clock is measured, */
static const uint64_t ANY_NS = 2000000000; /* and any other */
static const double SLACK_NS = 200000;     /* the clocks' drift, and the order of two readings */
static const double NEAR = 0.03;

static struct rtl_signal_user *user_of(struct rtl_signal_user *users, uint64_t signal)
{
    return &users[(signal * 0x9e3779b97f4a7c15ull) >> 50]; /* the upper 14 bits */
}
_Static_assert(RTL_SIGNAL_USERS == 1 << 14, "as user_of counts on");

void rtl_await_displaced(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring,
                         uint64_t number, uint64_t signal)
{
    struct rtl_signal_user *user = user_of(users, signal);
    if (!user->ring || user->signal != signal || user->entry < user->ring->first || user->entry >= user->ring->end)
        return;
    struct rtl_awaited *entry = &user->ring->at[user->entry % RTL_AWAITED_MAX];
    if (!entry->read || user->ring != ring || number < entry->until)
        entry->given_up = true;
}

bool rtl_await(struct rtl_signal_user users[RTL_SIGNAL_USERS], struct rtl_awaited_ring *ring,
               const struct rtl_awaited *dispatch)
{
    struct rtl_signal_user *user = user_of(users, dispatch->signal);
    /* another signal at the same place: nobody would know when that is used again */
    if (user->ring)
        rtl_await_displaced(users, NULL, 0, user->signal);
    *user = (struct rtl_signal_user){0};
    if (ring->end - ring->first == RTL_AWAITED_MAX)
        return false;
    ring->at[ring->end % RTL_AWAITED_MAX] = *dispatch;
    *user = (struct rtl_signal_user){.signal = dispatch->signal, .entry = ring->end, .ring = ring};
    ring->end++;
    return true;
}

void rtl_await_forget(struct rtl_signal_user users[RTL_SIGNAL_USERS], const struct rtl_awaited_ring *ring)
{
    for (int i = 0; i < RTL_SIGNAL_USERS; i++)
        if (users[i].ring == ring)
            users[i] = (struct rtl_signal_user){0};
}

/* The length of a tick, once enough time has gone by. */
static void learn_rate(struct rtl_tick_clock *c, uint64_t tick, uint64_t now_ns)
{
    static const uint64_t known[] = {100000000, 25000000, 27000000, 48000000, 19200000, 1000000000};
    if (!c->first_ns || tick <= c->first_tick) {
        c->first_tick = tick;
        c->first_ns = now_ns;
        return;
    }
    uint64_t over = now_ns - c->first_ns;
    if (over < NEAR_NS)
        return;
    double hz = (double)(tick - c->first_tick) * 1e9 / (double)over;
    for (unsigned i = 0; i < sizeof known / sizeof *known && !c->hz; i++)
        if (fabs(hz / (double)known[i] - 1) < NEAR)
            c->hz = known[i];
    if (!c->hz && over >= ANY_NS && hz >= 1e6 && hz <= 1e10)
        c->hz = (uint64_t)hz;
}

uint64_t rtl_tick_duration(struct rtl_tick_clock *c, uint64_t start, uint64_t end, uint64_t after_ns, uint64_t now_ns)
{
    if (!start || end < start || end >> 62)
        return UINT64_MAX;
    if (!c->hz) {
        learn_rate(c, end, now_ns);
        return UINT64_MAX;
    }
    double ns = 1e9 / (double)c->hz, high = (double)now_ns - (double)end * ns;
    if (c->seen < LEARN) {
        c->high = c->seen++ && c->high < high ? c->high : high;
        c->low = -INFINITY;
        return UINT64_MAX;
    }
    if ((double)start * ns + c->high < (double)after_ns - SLACK_NS ||
        (double)end * ns + c->low > (double)now_ns + SLACK_NS)
        return UINT64_MAX; /* of something before it, or of the future */
    double low = (double)after_ns - (double)start * ns;
    c->high = high < c->high ? high : c->high + SLACK_NS / 1e4;
    c->low = low > c->low ? low : c->low - SLACK_NS / 1e4;
    double length = (double)(end - start) * ns;
    return length < 1e12 ? (uint64_t)(length + 0.5) : UINT64_MAX;
}
