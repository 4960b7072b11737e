/*
 * The application's signals under load: threads put them on dispatches in turn and on copies, destroy them and unmap
 * their memory, while the worker polls them. A read of a destroyed signal crashes here, as it would in the application;
 * mixed-up dispatches show as wrong times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "intercept/track/app_signals.h"

enum { THREADS = 4, SIGNALS = 8, CARDS = 64, EACH = 20000, PAGE = 4096 };

static struct {
    pthread_mutex_t lock;
    amd_signal_t *memory;
} signals[SIGNALS];

/* A dispatch in flight. The dispatching thread fills it in and publishes it; the worker checks it and returns it. */
struct flight {
    amd_signal_t stand_in;
    struct rtl_app_signal *app_signal;
    uint64_t id;
    _Atomic bool in_flight;
};
static struct {
    _Alignas(64) struct flight flight[CARDS];
} feed[THREADS];
static _Atomic uint64_t timed, wrong;
static _Atomic bool over;

static amd_signal_t *make(void)
{
    amd_signal_t *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memory->kind = AMD_SIGNAL_KIND_USER;
    memory->value = 1;
    rtl_app_signal_add((hsa_signal_t){(uintptr_t)memory});
    return memory;
}

static void destroy(amd_signal_t *memory)
{
    rtl_app_signal_remove((hsa_signal_t){(uintptr_t)memory});
    munmap(memory, PAGE);
}

static void stamp(amd_signal_t *memory, uint64_t start, uint64_t end)
{
    __atomic_store_n(&memory->start_ts, start, __ATOMIC_RELEASE);
    __atomic_store_n(&memory->end_ts, end, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&memory->value, 1, __ATOMIC_RELEASE);
}

static void *work(void *data)
{
    while (!atomic_load(&over)) {
        for (int t = 0; t < THREADS; t++) {
            for (int i = 0; i < CARDS; i++) {
                struct flight *f = &feed[t].flight[i];
                if (!atomic_load_explicit(&f->in_flight, memory_order_acquire))
                    continue;
                if (__atomic_load_n(&f->stand_in.value, __ATOMIC_ACQUIRE) >= RTL_SIGNAL_ARMED &&
                    !rtl_app_signal_poll(f->app_signal, &f->stand_in, 1))
                    continue;
                bool right = f->stand_in.value == RTL_STAND_IN_TIMED && f->stand_in.start_ts == f->id &&
                             f->stand_in.end_ts == f->id + f->id % 1000;
                atomic_fetch_add(right ? &timed : &wrong, 1);
                atomic_store_explicit(&f->in_flight, false, memory_order_release);
            }
        }
    }
    return data;
}

static void *dispatch(void *data)
{
    unsigned thread = (unsigned)(uintptr_t)data, random = thread * 12345 + 1;
    for (uint64_t n = 0; n < EACH; n++) {
        struct flight *f = &feed[thread].flight[n % CARDS];
        while (atomic_load_explicit(&f->in_flight, memory_order_acquire))
            sched_yield();
        random = random * 1664525u + 1013904223u;
        unsigned at = random >> 8;
        while (pthread_mutex_trylock(&signals[at % SIGNALS].lock) != 0)
            at++;
        at %= SIGNALS;
        amd_signal_t *memory = signals[at].memory;
        f->id = (thread + 1) * 1000000000ull + n;
        f->app_signal = rtl_app_signal_find((uintptr_t)memory);
        rtl_signal_arm(&f->stand_in);
        __atomic_store_n(&memory->value, 1, __ATOMIC_RELAXED);
        if (!f->app_signal || !rtl_app_signal_begin(f->app_signal, (uintptr_t)&f->stand_in)) {
            atomic_fetch_add(&wrong, 1);
        } else {
            atomic_store_explicit(&f->in_flight, true, memory_order_release);
            stamp(memory, f->id, f->id + f->id % 1000);
        }
        switch (random >> 24 & 7) {
        case 0: /* at once, while the worker may be polling */
            destroy(memory);
            signals[at].memory = make();
            break;
        case 1:
            __atomic_store_n(&memory->value, 1, __ATOMIC_RELAXED);
            rtl_app_signal_copy((hsa_signal_t){(uintptr_t)memory});
            stamp(memory, 1, 2);
            break;
        case 2:
            if (f->app_signal && rtl_app_signal_begin(f->app_signal, RTL_USE_OTHER))
                stamp(memory, 3, 4);
            break;
        default:
            break;
        }
        pthread_mutex_unlock(&signals[at].lock);
    }
    return NULL;
}

static void each_dispatch_has_its_own_times(void **state)
{
    pthread_t thread[THREADS], worker;
    (void)state;
    for (int i = 0; i < SIGNALS; i++) {
        pthread_mutex_init(&signals[i].lock, NULL);
        signals[i].memory = make();
    }
    pthread_create(&worker, NULL, work, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, dispatch, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < CARDS; i++)
            while (atomic_load(&feed[t].flight[i].in_flight))
                sched_yield();
    atomic_store(&over, true);
    pthread_join(worker, NULL);
    for (int i = 0; i < SIGNALS; i++)
        destroy(signals[i].memory);
    assert_int_equal(wrong, 0);
    assert_int_equal(timed, THREADS * EACH);
}

/* The worker is stopped in the middle of a read: the signal's page is unreadable until the removal has waited for a
 * while.
 */
static amd_signal_t *guarded;
static _Atomic bool inside, removing, left;

static void caught(int number)
{
    (void)number;
    atomic_store(&inside, true);
    while (!atomic_load(&removing))
        sched_yield();
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    atomic_store(&left, true);
    mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
}

static void *look_at(void *data)
{
    struct flight *f = data;
    rtl_app_signal_poll(f->app_signal, &f->stand_in, 1);
    return NULL;
}

static void destruction_waits_for_the_workers_poll(void **state)
{
    struct sigaction action = {.sa_handler = caught}, before;
    struct flight f = {.id = 1};
    pthread_t worker;
    (void)state;
    guarded = make();
    f.app_signal = rtl_app_signal_find((uintptr_t)guarded);
    rtl_signal_arm(&f.stand_in);
    assert_true(rtl_app_signal_begin(f.app_signal, (uintptr_t)&f.stand_in));
    sigaction(SIGSEGV, &action, &before);
    mprotect(guarded, PAGE, PROT_NONE);
    pthread_create(&worker, NULL, look_at, &f);
    while (!atomic_load(&inside))
        sched_yield();
    rtl_app_signal_mark_shared(
        f.app_signal); /* as a thread that reuses the signal does; no more times may be read from it */
    atomic_store(&removing, true);
    destroy(guarded);
    assert_true(atomic_load(&left));
    pthread_join(worker, NULL);
    sigaction(SIGSEGV, &before, NULL);
}

static void two_dispatches_at_once_share_their_signal(void **state)
{
    (void)state;
    amd_signal_t *memory = make();
    struct rtl_app_signal *app_signal = rtl_app_signal_find((uintptr_t)memory);
    amd_signal_t stand_in[2];
    memset(stand_in, 0, sizeof stand_in);
    rtl_signal_arm(&stand_in[0]);
    rtl_signal_arm(&stand_in[1]);
    assert_true(rtl_app_signal_begin(app_signal, (uintptr_t)&stand_in[0]));
    assert_false(rtl_app_signal_poll(app_signal, &stand_in[0], 1));
    assert_false(rtl_app_signal_begin(app_signal, (uintptr_t)&stand_in[1]));
    assert_int_equal(stand_in[0].value, RTL_STAND_IN_SHARED);
    assert_int_equal(stand_in[1].value, RTL_SIGNAL_ARMED); /* its owner completes it */
    destroy(memory);
}

static void unknown_signals_are_not_found(void **state)
{
    (void)state;
    amd_signal_t *memory = make();
    uint64_t handle = (uintptr_t)memory;
    assert_non_null(rtl_app_signal_find(handle));
    assert_null(rtl_app_signal_find(handle + 64));
    assert_null(rtl_app_signal_find(0));
    destroy(memory);
    assert_null(rtl_app_signal_find(handle));
    rtl_app_signal_remove((hsa_signal_t){handle}); /* twice, or never made */
    rtl_app_signal_copy((hsa_signal_t){handle});

    static amd_signal_t many[5000]; /* more than the initial capacity */
    for (int i = 0; i < 5000; i++) {
        many[i].kind = i % 2 ? AMD_SIGNAL_KIND_USER : AMD_SIGNAL_KIND_DOORBELL;
        rtl_app_signal_add((hsa_signal_t){(uintptr_t)&many[i]});
    }
    for (int i = 0; i < 5000; i++)
        assert_true((rtl_app_signal_find((uintptr_t)&many[i]) != NULL) == (i % 2 == 1));
    rtl_app_signals_forget();
    for (int i = 0; i < 5000; i++)
        assert_null(rtl_app_signal_find((uintptr_t)&many[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destruction_waits_for_the_workers_poll),
        cmocka_unit_test(two_dispatches_at_once_share_their_signal),
        cmocka_unit_test(each_dispatch_has_its_own_times),
        cmocka_unit_test(unknown_signals_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
