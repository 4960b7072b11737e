/* Looks how full a queue is, and waits (full.h). */
#include "intercept/full.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "intercept/clock.h"

static const uint64_t GIVE_UP = 500000000; /* ns without a sign of the GPU */
static const uint64_t SPIN = 50000;        /* ns of looking without a pause: short kernels end within that */
enum { SMALLEST = 16 };                    /* slots; what is smaller is left alone */

static bool is_read(const struct rtl_gauge *gauge)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)gauge->signal.handle;
    return !signal || __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED;
}

/*
 * The worker raises `consumed` before it arms a signal again, so a signal whose packet isn't consumed is still on that
 * packet. (Should it be harvested between the two loads, the packet was done either way.)
 */
static bool is_done(const struct rtl_tap *tap, const struct rtl_mark *mark)
{
    if (mark->index <= atomic_load_explicit(&tap->consumed, memory_order_acquire))
        return true;
    if (mark->number >= RTL_GAUGE) {
        const struct rtl_gauge *gauge = &tap->gauge[mark->number - RTL_GAUGE];
        return gauge->index != mark->index || is_read(gauge); /* it is on a later packet only if this one was done */
    }
    return __atomic_load_n(&rtl_pool_signal(tap->pool, mark->number)->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED;
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
    for (int i = 0; i < RTL_MARKS; i++) {
        struct rtl_gauge *gauge = &tap->gauge[i];
        gauge->index = 0;
        if (tap->gauges_of != tap->pool && !tap->pool->maker.make(&gauge->signal))
            gauge->signal.handle = 0;
    }
    tap->gauges_of = tap->pool;
}

void rtl_full_release(struct rtl_tap *tap)
{
    struct rtl_pool *maker = tap->gauges_of; /* tap->pool is NULL if the queue was made while all comes to its end */
    for (int i = 0; i < RTL_MARKS; i++) {
        struct rtl_gauge *gauge = &tap->gauge[i];
        if (maker && gauge->signal.handle && (!gauge->index || is_read(gauge)))
            maker->maker.destroy(gauge->signal);
        gauge->signal.handle = 0;
    }
    tap->gauges_of = NULL;
}

bool rtl_full_gauge(struct rtl_tap *tap, hsa_signal_t *signal)
{
    for (uint16_t i = 0; i < RTL_MARKS; i++) {
        struct rtl_gauge *gauge = &tap->gauge[i];
        if (!gauge->signal.handle || (gauge->index && !is_read(gauge)))
            continue;
        rtl_signal_arm((amd_signal_t *)(uintptr_t)gauge->signal.handle);
        gauge->index = tap->written;
        *signal = gauge->signal;
        rtl_full_mark(tap, RTL_GAUGE + i);
        return true;
    }
    return false;
}

void rtl_full_look(struct rtl_tap *tap)
{
    uint64_t slots = tap->ring_bytes / 64, most = slots / 4 * 3;
    int error = errno;
    if (slots < SMALLEST || !tap->pool) {
        tap->look_at = UINT64_MAX;
        return;
    }
    bool telling = find_out(tap) && tap->known != tap->stuck_at; /* once is enough where it didn't help */
    uint64_t since = rtl_clock_now(), now = since, known = tap->known;
    while (telling && tap->written - tap->known >= most) {
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
