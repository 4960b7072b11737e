/*
 * A reader of a queue's fill level against a thread that destroys signals at the same moment. A signal lies on its own
 * unreadable page: its reader stops there, the other thread's action runs, and the reader continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "intercept/track/throttle.h"
#include "intercept/base/tool.h"

enum { PAGE = 4096, SLOTS = 64 };

static void *page;         /* the page of the signal */
static uint32_t destroyed; /* number of destroyed signals */
static uint32_t reads;     /* reads of that page that were stopped */
static void (*meanwhile)(void);

static bool make(hsa_signal_t *signal)
{
    void *made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal->handle = (uintptr_t)made;
    return made != MAP_FAILED;
}

static void destroy(hsa_signal_t signal)
{
    (void)signal; /* a later read must not crash here: it is counted */
    destroyed++;
}

static const struct rtl_signal_maker maker = {make, destroy};
static struct rtl_pool *pool;
static struct {
    _Alignas(PAGE) struct rtl_tracker tracker; /* on its own pages, too: a write to it can be stopped */
    _Alignas(PAGE) char behind;
} alone;
#define tracker alone.tracker

static void held(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    char *at = info->si_addr;
    if (at >= (char *)page && at < (char *)page + PAGE)
        reads += mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
    else if (at >= (char *)&tracker && at < &alone.behind)
        mprotect(&tracker, (size_t)(&alone.behind - (char *)&tracker), PROT_READ | PROT_WRITE);
    else
        abort();
    if (meanwhile)
        meanwhile();
    meanwhile = NULL;
}

static void begin(uint32_t *number)
{
    struct sigaction action = {.sa_sigaction = held, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    pool = rtl_pool_create(&maker, 8);
    assert_int_equal(rtl_pool_make(pool, number, 1), 1);
    memset(&tracker, 0, sizeof tracker);
    tracker.pool = pool;
    tracker.ring_bytes = SLOTS * 64;
    tracker.guarded = true;
    tracker.state = RTL_TRACKER_LIVE;
    tracker.reading = RTL_NO_SIGNAL;
    tracker.stuck_at = UINT64_MAX;
    atomic_store(&rtl_trackers, &tracker);
    destroyed = reads = 0;
}

static void end(void)
{
    signal(SIGSEGV, SIG_DFL);
    atomic_store(&rtl_trackers, NULL);
    rtl_pool_free(pool);
}

/* The worker's actions when the packet has completed: collect the signal, return it, destroy it at once. */
static uint32_t number;
static uint32_t destroyed_meanwhile;

static void harvest_and_destroy(void)
{
    atomic_store_explicit(&tracker.consumed, tracker.newest.index, memory_order_relaxed);
    rtl_signal_arm(rtl_pool_signal(pool, number));
    rtl_pool_return(pool, &number, 1);
    destroyed_meanwhile = rtl_pool_destroy(pool, 8, rtl_throttle_is_reading);
}

static void a_signal_that_is_read_is_not_destroyed(void **state)
{
    (void)state;
    begin(&number);
    page = rtl_pool_signal(pool, number);
    tracker.written = SLOTS;
    rtl_throttle_mark(&tracker, number);
    mprotect(page, PAGE, PROT_NONE);
    meanwhile = harvest_and_destroy;
    destroyed_meanwhile = 99;
    rtl_throttle_wait(&tracker, 1);
    assert_null(meanwhile); /* it did read the signal */
    assert_int_equal(destroyed_meanwhile, 0);
    /* and found that the packet has completed */
    assert_int_equal(tracker.known, SLOTS);
    assert_int_equal(rtl_pool_destroy(pool, 8, rtl_throttle_is_reading), 1); /* no thread reads it any more */
    end();
}

/* The signal was collected before the read: it may be destroyed, so it isn't read. */
static void a_returned_signal_is_not_read(void **state)
{
    (void)state;
    begin(&number);
    page = rtl_pool_signal(pool, number);
    tracker.written = SLOTS;
    rtl_throttle_mark(&tracker, number);
    harvest_and_destroy();
    assert_int_equal(destroyed, 1);
    mprotect(page, PAGE, PROT_NONE);
    rtl_throttle_wait(&tracker, 1);
    assert_int_equal(reads, 0);
    assert_int_equal(tracker.known, SLOTS);
    end();
}

/* Collect the signal just before the reader announces itself, and begin to destroy it: the reader must notice and not
 * read.
 */
static void harvest_and_begin_to_destroy(void)
{
    uint32_t taken = RTL_NO_SIGNAL;
    atomic_store_explicit(&tracker.consumed, tracker.newest.index, memory_order_relaxed);
    rtl_pool_return(pool, &number, 1);
    rtl_pool_acquire(pool, &taken, 1);
    destroyed += taken == number && !rtl_throttle_is_reading(number);
    mprotect(page, PAGE, PROT_NONE);
}

static void a_signal_destroyed_before_the_announcement_is_not_read(void **state)
{
    (void)state;
    begin(&number);
    page = rtl_pool_signal(pool, number);
    tracker.written = SLOTS;
    rtl_throttle_mark(&tracker, number);
    meanwhile = harvest_and_begin_to_destroy;
    mprotect(&tracker, (size_t)(&alone.behind - (char *)&tracker), PROT_READ);
    rtl_throttle_wait(&tracker, 1);
    assert_null(meanwhile);
    assert_int_equal(destroyed, 1);
    assert_int_equal(tracker.known, SLOTS);
    assert_int_equal(reads, 0);
    end();
}

static void release_gauges(void)
{
    __atomic_store_n(&((amd_signal_t *)page)->value, 0, __ATOMIC_RELAXED); /* its packet completes just now */
    rtl_throttle_release();
}

static void a_gauge_that_is_read_is_not_destroyed(void **state)
{
    hsa_signal_t signal;
    (void)state;
    begin(&number);
    rtl_throttle_prepare(&tracker);
    tracker.written = SLOTS;
    assert_true(rtl_throttle_send_marker(&tracker, &signal));
    page = (void *)(uintptr_t)signal.handle;
    mprotect(page, PAGE, PROT_NONE);
    meanwhile = release_gauges;
    rtl_throttle_wait(&tracker, 1);
    assert_null(meanwhile);
    assert_int_equal(destroyed, RTL_MARKS - 1); /* the other ones */
    assert_int_equal(tracker.known, SLOTS);
    assert_false(rtl_throttle_send_marker(&tracker, &signal)); /* there are none any more */
    end();
}

static void gauges_are_destroyed_unless_in_flight(void **state)
{
    hsa_signal_t signal;
    (void)state;
    begin(&number);
    rtl_throttle_prepare(&tracker);
    rtl_throttle_prepare(&tracker); /* a second call changes nothing */
    tracker.written = 16;
    assert_true(rtl_throttle_send_marker(&tracker, &signal));
    rtl_throttle_release();
    assert_int_equal(destroyed, RTL_MARKS - 1);
    assert_null(tracker.markers_of);
    end();
}

/* Packets that may be in flight: three quarters of the queue, or one batch that is longer. */
static void *take(void *data)
{
    for (uint64_t taken = 1; taken <= *(const uint64_t *)data; taken++) {
        nanosleep(&(struct timespec){0, 50000}, NULL);
        atomic_store_explicit(&tracker.consumed, taken, memory_order_relaxed);
    }
    return NULL;
}

static void a_batch_waits_until_it_fits(void **state)
{
    enum { WRITTEN = 60 };
    static const struct {
        uint64_t batch, left; /* packets that may be left before the batch is submitted */
    } cases[] = {{1, 47}, {8, 40}, {47, 1}, {48, 0}, {49, 0}, {64, 0}};
    (void)state;
    for (unsigned c = 0, again = 0; c < sizeof cases / sizeof cases[0];) {
        assert_true(again++ < 40);
        uint64_t taken = WRITTEN - cases[c].left;
        pthread_t gpu;
        begin(&number);
        tracker.written = WRITTEN;
        rtl_throttle_mark(&tracker, number);
        pthread_create(&gpu, NULL, take, &taken);
        rtl_throttle_wait(&tracker, cases[c].batch);
        pthread_join(gpu, NULL);
        bool gave_up = tracker.stuck_at != UINT64_MAX; /* the other thread got no CPU for half a second */
        if (!gave_up)
            assert_int_equal(tracker.known, taken);
        end();
        c += !gave_up;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_that_is_read_is_not_destroyed),
        cmocka_unit_test(a_returned_signal_is_not_read),
        cmocka_unit_test(a_signal_destroyed_before_the_announcement_is_not_read),
        cmocka_unit_test(a_gauge_that_is_read_is_not_destroyed),
        cmocka_unit_test(gauges_are_destroyed_unless_in_flight),
        cmocka_unit_test(a_batch_waits_until_it_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
