/* Measures times from completion signals. See signal_times.h. */
#include "observe/signal_times.h"

#include <math.h>
#include <stddef.h>

enum { LEARN = 8, RELEARN = 256 };         /* times used only to learn the clock; rejections until it is learnt again */
static const uint64_t NEAR_NS = 100000000; /* how long to measure a known clock */
static const uint64_t ANY_NS = 2000000000; /* how long to measure any other clock */
static const double SLACK_NS = 200000;     /* for drift, and for the order of two readings */
static const double NEAR = 0.03, DRIFT = 0.001;

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
    /* another signal in the same entry: its reuse could no longer be noticed */
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

/* Learn the length of a tick once enough time has passed. Ticks read at `now_ns` had ended then, and not yet at
 * `after_ns`: so the time between two ends lies within bounds, and a known clock counts if it alone lies within them.
 */
static void learn_rate(struct rtl_tick_clock *c, uint64_t tick, uint64_t after_ns, uint64_t now_ns)
{
    static const uint64_t known[] = {100000000, 25000000, 27000000, 48000000, 19200000, 1000000000};
    if (!c->first_ns || tick <= c->first_tick || now_ns <= c->first_ns) {
        c->first_tick = tick;
        c->first_ns = now_ns;
        c->first_after_ns = after_ns < now_ns ? after_ns : now_ns;
        return;
    }
    uint64_t over = now_ns - c->first_ns, longest = now_ns - c->first_after_ns;
    if (over < NEAR_NS)
        return;
    double ticks = (double)(tick - c->first_tick) * 1e9, hz = ticks / (double)over;
    double least = ticks / (double)longest * (1 - DRIFT);
    double most = after_ns > c->first_ns ? ticks / (double)(after_ns - c->first_ns) * (1 + DRIFT) : INFINITY;
    uint64_t near = 0;
    unsigned fitting = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        double k = (double)known[i];
        fitting += k >= least && k <= most;
        if (fabs(hz / k - 1) < NEAR)
            near = known[i];
        if (k >= least && k <= most && fitting == 1)
            c->hz = known[i];
    }
    if (fitting)
        c->hz = fitting == 1 ? c->hz : 0;
    else if (over >= ANY_NS && most / least < 1 + NEAR && hz >= 1e6 && hz <= 1e10)
        c->hz = near ? near : (uint64_t)hz;
}

uint64_t rtl_tick_duration(struct rtl_tick_clock *c, uint64_t start, uint64_t end, uint64_t after_ns, uint64_t now_ns)
{
    if (!start || end < start || end >> 62)
        return UINT64_MAX;
    if (!c->hz) {
        learn_rate(c, end, after_ns, now_ns);
        return UINT64_MAX;
    }
    double ns = 1e9 / (double)c->hz, high = (double)now_ns - (double)end * ns;
    if (c->seen < LEARN) {
        c->high = c->seen++ && c->high < high ? c->high : high;
        c->low = -INFINITY;
        return UINT64_MAX;
    }
    if ((double)start * ns + c->high < (double)after_ns - SLACK_NS ||
        (double)end * ns + c->low > (double)now_ns + SLACK_NS) {
        if (++c->rejected >= RELEARN) /* so many in a row: the clock is wrong */
            *c = (struct rtl_tick_clock){0};
        return UINT64_MAX; /* of an earlier dispatch, or in the future */
    }
    c->rejected = 0;
    double low = (double)after_ns - (double)start * ns;
    c->high = high < c->high ? high : c->high + SLACK_NS / 1e4;
    c->low = low > c->low ? low : c->low - SLACK_NS / 1e4;
    double length = (double)(end - start) * ns;
    return length < 1e12 ? (uint64_t)(length + 0.5) : UINT64_MAX;
}
