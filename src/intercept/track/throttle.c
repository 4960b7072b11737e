/* Looks how full a queue is, and waits (throttle.h). */
#include "intercept/track/throttle.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "intercept/base/clock.h"
#include "intercept/base/tool.h"
#include "intercept/track/barrier.h"

static const uint64_t GIVE_UP = 500000000; /* ns without a sign of the GPU */
static const uint64_t SPIN = 50000;        /* ns of looking without a pause: short kernels end within that */
enum { SMALLEST = 16 };                    /* slots; what is smaller is left alone */

static bool is_over(const amd_signal_t *signal)
{
    return !signal || __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED;
}

static amd_signal_t *signal_of(const struct rtl_gauge *gauge)
{
    return (amd_signal_t *)(uintptr_t)__atomic_load_n(&gauge->signal.handle, __ATOMIC_RELAXED);
}

static bool is_read(const struct rtl_gauge *gauge)
{
    return is_over(signal_of(gauge));
}

static bool is_consumed(const struct rtl_tap *tap, const struct rtl_mark *mark)
{
    return mark->index <= atomic_load_explicit(&tap->consumed, memory_order_acquire);
}

/*
 * The worker raises `consumed` before it arms a signal again, so a signal whose packet isn't consumed is still on that
 * packet. (Should it be harvested between the two loads, the packet was done either way.)
 */
static bool is_done(struct rtl_tap *tap, const struct rtl_mark *mark)
{
    if (is_consumed(tap, mark))
        return true;
    atomic_store_explicit(&tap->looking, mark->number, memory_order_relaxed);
    rtl_full_barrier(); /* see throttle.h */
    bool done = is_consumed(tap, mark);
    if (!done && mark->number >= RTL_GAUGE) {
        const struct rtl_gauge *gauge = &tap->gauge[mark->number - RTL_GAUGE];
        done = gauge->index != mark->index || is_read(gauge); /* it is on a later packet only if this one was done */
    } else if (!done) {
        done = is_over(rtl_pool_signal(tap->pool, mark->number));
    }
    atomic_store_explicit(&tap->looking, RTL_NO_SIGNAL, memory_order_release);
    return done;
}

bool rtl_full_is_looked_at(uint32_t number)
{
    rtl_full_barrier();
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next)
        if (atomic_load_explicit(&tap->looking, memory_order_acquire) == number)
            return true;
    return false;
}

/* Brings `known` up to date. False when no signal of ours is under way: then there is nothing that could tell more. */
static bool find_out(struct rtl_tap *tap)
{
    uint64_t consumed = atomic_load_explicit(&tap->consumed, memory_order_acquire);
    if (tap->known < consumed)
        tap->known = consumed;
    for (int i = 0; i < RTL_MARKS; i++)
        if (tap->mark[i].index > tap->known && is_done(tap, &tap->mark[i]))
            tap->known = tap->mark[i].index;
    if (tap->newest.index <= tap->known)
        return false;
    if (!is_done(tap, &tap->newest))
        return true;
    tap->known = tap->newest.index;
    return false;
}

void rtl_full_prepare(struct rtl_tap *tap)
{
    pthread_mutex_lock(&rtl_tool.create);
    /* not once the runtime goes: nobody would give them back */
    bool live = atomic_load_explicit(&tap->state, memory_order_relaxed) == RTL_TAP_LIVE;
    for (int i = 0; live && i < RTL_MARKS; i++) {
        struct rtl_gauge *gauge = &tap->gauge[i];
        gauge->index = 0;
        if (tap->gauges_of != tap->pool && !tap->pool->maker.make(&gauge->signal))
            gauge->signal.handle = 0;
    }
    if (live)
        tap->gauges_of = tap->pool;
    pthread_mutex_unlock(&rtl_tool.create);
}

static void release(struct rtl_tap *tap)
{
    struct rtl_pool *maker = tap->gauges_of; /* tap->pool is NULL if the queue was made while all comes to its end */
    hsa_signal_t signal[RTL_MARKS];
    for (int i = 0; i < RTL_MARKS; i++)
        signal[i].handle = __atomic_exchange_n(&tap->gauge[i].signal.handle, 0, __ATOMIC_RELAXED);
    rtl_full_barrier(); /* out of use first: a dispatch that comes late may be looking */
    for (int i = 0; i < RTL_MARKS; i++) {
        bool free = !tap->gauge[i].index || is_over((const amd_signal_t *)(uintptr_t)signal[i].handle);
        if (maker && signal[i].handle && free &&
            atomic_load_explicit(&tap->looking, memory_order_acquire) != RTL_GAUGE + (uint32_t)i)
            maker->maker.destroy(signal[i]);
    }
    tap->gauges_of = NULL;
}

void rtl_full_release(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    for (struct rtl_tap *tap = atomic_load(&rtl_taps); tap; tap = tap->next)
        if (!atomic_load_explicit(&tap->inside, memory_order_acquire))
            release(tap);
    pthread_mutex_unlock(&rtl_tool.create);
}

bool rtl_full_gauge(struct rtl_tap *tap, hsa_signal_t *signal)
{
    for (uint16_t i = 0; i < RTL_MARKS; i++) {
        struct rtl_gauge *gauge = &tap->gauge[i];
        if (!gauge->signal.handle || (gauge->index && !is_read(gauge)))
            continue;
        rtl_signal_arm(signal_of(gauge));
        gauge->index = tap->written;
        *signal = gauge->signal;
        rtl_full_mark(tap, RTL_GAUGE + i);
        return true;
    }
    return false;
}

void rtl_full_look(struct rtl_tap *tap, uint64_t n)
{
    uint64_t slots = tap->ring_bytes / 64, most = slots / 4 * 3;
    int error = errno;
    if (slots < SMALLEST || !tap->pool) {
        tap->look_at = UINT64_MAX;
        return;
    }
    bool telling = find_out(tap) && tap->known != tap->stuck_at; /* once is enough where it didn't help */
    uint64_t since = rtl_clock_now(), now = since, known = tap->known;
    while (telling && tap->written + n - tap->known > most) {
        if (now - since > SPIN) {
            struct timespec moment = {0, 50000};
            syscall(SYS_nanosleep, &moment, NULL); /* not nanosleep: here a thread may not be cancelled */
        }
        telling = find_out(tap);
        now = rtl_clock_now();
        if (tap->known != known) {
            known = tap->known;
            since = now;
        } else if (now - since > GIVE_UP) {
            tap->stuck_at = known;
            telling = false;
        }
    }
    /* where nothing tells, not again at once: it is looked at some packets later */
    tap->look_at = telling ? tap->known + most : tap->written + slots / RTL_MARKS;
    errno = error;
}
