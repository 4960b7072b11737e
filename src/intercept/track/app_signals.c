/* The table of the application's signals, and the end of dispatches on them (app_signals.h). */
#include "intercept/track/app_signals.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "intercept/base/hsa_clock.h"

enum {
    BUCKETS = 16384, /* a power of two; HIP keeps some hundred signals, a few programs tens of thousands */
    CHAIN = 4096,    /* longest search in a bucket: signals further behind aren't found, and not timed */
    AGAIN = 8,       /* attempts while other threads change the same field */
    BLOCK = 256,     /* records allocated at once */
};
static const uint64_t WAIT = 1000000000; /* ns; bound on waiting for the worker, which reads for some ns */

_Atomic bool rtl_app_signals_followed;
static _Atomic bool allowed; /* load sets; create clears when the application gets a queue that isn't watched */

static struct rtl_app_signal *_Atomic bucket[BUCKETS]; /* create */
static _Atomic uint64_t removals; /* create adds: a search that found nothing meanwhile may be wrong */
static struct rtl_app_signal *free_first, *free_last;           /* create; first in, first out */
static struct rtl_app_signal *_Atomic read_by_worker;           /* worker: the signal whose memory it may be reading */
static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER; /* for "create" above; held for some loads and stores */

/* --- one signal --- */

static amd_signal_t *signal_memory(const struct rtl_app_signal *app_signal)
{
    return (amd_signal_t *)(uintptr_t)atomic_load_explicit(&app_signal->handle, memory_order_relaxed);
}

static const amd_signal_t *stand_in_of(uintptr_t use)
{
    return (const amd_signal_t *)use;
}

/* `use` is a copy's stand-in. */
static bool is_copy(uintptr_t use)
{
    return use >= RTL_USES && rtl_stand_in_is_for_copy(stand_in_of(use));
}

/* True if the use is over and left its times. A packet without a stand-in leaves them like a kernel. */
static bool read_use_times(uintptr_t use, const amd_signal_t *signal, struct rtl_times *times)
{
    return rtl_times_read(use >= RTL_USES ? stand_in_of(use) : NULL, signal, times);
}

/* Write the result into the stand-in for the worker. Only by the thread that took the stand-in out of `use`. */
static void end_stand_in(uintptr_t use, enum rtl_stand_in_end how, struct rtl_times times)
{
    amd_signal_t *stand_in = (amd_signal_t *)use;
    if (use < RTL_USES)
        return;
    stand_in->start_ts = times.start;
    stand_in->end_ts = times.end;
    __atomic_store_n(&stand_in->value, (int64_t)how, __ATOMIC_RELEASE);
}

/* True if the signal's last use can't write to it any more. */
static bool use_is_over(uintptr_t use, const amd_signal_t *signal, struct rtl_times *times)
{
    switch (use) {
    case RTL_USE_IDLE:
        return true;
    case RTL_USE_COPY:
        return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) == 1;
    case RTL_USE_BUSY:
    case RTL_USE_SHARED:
        return false;
    default:
        /* a copy may leave no times: see COPY */
        return read_use_times(use, signal, times) ||
               (is_copy(use) && __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) == 1);
    }
}

static bool swap_use(struct rtl_app_signal *app_signal, uintptr_t *from, uintptr_t to)
{
    return atomic_compare_exchange_strong_explicit(&app_signal->use, from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

void rtl_app_signal_mark_shared(struct rtl_app_signal *app_signal)
{
    struct rtl_times none = {0, 0};
    end_stand_in(atomic_exchange_explicit(&app_signal->use, RTL_USE_SHARED, memory_order_acq_rel), RTL_STAND_IN_SHARED,
                 none);
}

/* Change the signal's use and end the last one; the new use is SHARED if the last one isn't over. */
static bool replace_use(struct rtl_app_signal *app_signal, uintptr_t to)
{
    uintptr_t was = atomic_load_explicit(&app_signal->use, memory_order_acquire);
    const amd_signal_t *signal = signal_memory(app_signal);
    if (was >= RTL_USES)
        rtl_times_compare(stand_in_of(was), &app_signal->use, signal);
    for (int i = 0; i < AGAIN; i++) {
        struct rtl_times times = {0, 0};
        bool over = use_is_over(was, signal, &times);
        if (was == RTL_USE_SHARED)
            return false;
        if (swap_use(app_signal, &was, over ? to : RTL_USE_SHARED)) {
            end_stand_in(was, over ? RTL_STAND_IN_TIMED : RTL_STAND_IN_SHARED, times);
            return over;
        }
    }
    rtl_app_signal_mark_shared(app_signal); /* several threads use it at once */
    return false;
}

static void clear_times(const struct rtl_app_signal *app_signal)
{
    amd_signal_t *signal = signal_memory(app_signal);
    __atomic_store_n(&signal->start_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, 0, __ATOMIC_RELAXED);
}

bool rtl_app_signal_begin(struct rtl_app_signal *app_signal, uintptr_t use)
{
    /* Mostly the signal is idle, and one locked operation suffices. If another thread uses the signal first,
     * swap_use fails and the signal becomes SHARED; the cleared times were then those of a SHARED signal. */
    uintptr_t idle = RTL_USE_IDLE, busy = RTL_USE_BUSY;
    if (atomic_load_explicit(&app_signal->use, memory_order_acquire) == RTL_USE_IDLE) {
        clear_times(app_signal);
        if (swap_use(app_signal, &idle, use)) /* release: a thread that sees the use also sees the zeros */
            return true;
    }
    if (!replace_use(app_signal, RTL_USE_BUSY))
        return false;
    clear_times(app_signal);
    return swap_use(app_signal, &busy, use);
}

bool rtl_app_signal_poll(struct rtl_app_signal *app_signal, amd_signal_t *stand_in, int64_t submitted)
{
    uintptr_t use = (uintptr_t)stand_in;
    struct rtl_times times = {0, 0};
    bool ended = false;

    /* Destruction changes `use`, then reads `read_by_worker`; here the order is reversed. So either destruction sees
     * that the worker reads, and waits, or the worker sees that the use changed (all four are sequentially
     * consistent). While `use` is this stand-in the record still belongs to this signal: only the worker recycles
     * the stand-in. */
    atomic_store(&read_by_worker, app_signal);
    if (atomic_load(&app_signal->use) == use) {
        const amd_signal_t *signal = signal_memory(app_signal);
        /* the value first: timestamps are written before it changes */
        int64_t value = __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
        uintptr_t after = is_copy(use) ? RTL_USE_COPY : RTL_USE_SHARED;
        rtl_times_compare(stand_in, NULL, signal); /* only this thread recycles the stand-in */
        if (read_use_times(use, signal, &times))
            ended = swap_use(app_signal, &use, RTL_USE_IDLE);
        else if (value < submitted && value < 1 && swap_use(app_signal, &use, after)) {
            /* the value went down without times: the kernel left none, or the application set the value */
            end_stand_in((uintptr_t)stand_in, RTL_STAND_IN_UNTIMED, times);
            atomic_store_explicit(&read_by_worker, NULL, memory_order_release);
            return true;
        }
    }
    atomic_store_explicit(&read_by_worker, NULL, memory_order_release);
    if (ended)
        end_stand_in((uintptr_t)stand_in, RTL_STAND_IN_TIMED, times);
    return ended;
}

bool rtl_app_signal_detach(struct rtl_app_signal *app_signal, const amd_signal_t *stand_in, bool over)
{
    uintptr_t use = (uintptr_t)stand_in;
    /* or it never became the signal's use, and no other thread has it */
    return swap_use(app_signal, &use, over ? RTL_USE_IDLE : RTL_USE_SHARED) ||
           __atomic_load_n(&stand_in->value, __ATOMIC_ACQUIRE) < RTL_SIGNAL_ARMED;
}

/* --- the table --- */

static struct rtl_app_signal *_Atomic *bucket_of(uint64_t handle)
{
    return &bucket[(handle >> 6) * 0x9e3779b97f4a7c15ull >> 50];
}
_Static_assert(BUCKETS == 1 << 14, "bucket_of keeps 14 bits");

struct rtl_app_signal *rtl_app_signal_find(uint64_t handle)
{
    for (int i = 0; i < AGAIN; i++) {
        uint64_t before = atomic_load_explicit(&removals, memory_order_acquire);
        struct rtl_app_signal *app_signal = atomic_load_explicit(bucket_of(handle), memory_order_acquire);
        for (int steps = 0; app_signal && steps < CHAIN; steps++) {
            if (atomic_load_explicit(&app_signal->handle, memory_order_acquire) == handle)
                return app_signal;
            app_signal = atomic_load_explicit(&app_signal->next, memory_order_acquire);
        }
        /* if a record was removed meanwhile, the search may have gone on in another bucket */
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&removals, memory_order_relaxed) == before)
            break;
    }
    return NULL;
}

static struct rtl_app_signal *allocate_record(void)
{
    if (!free_first) {
        struct rtl_app_signal *block = NULL;
        if (posix_memalign((void **)&block, 64, BLOCK * sizeof *block) != 0)
            return NULL;
        for (int i = 0; i < BLOCK; i++) {
            atomic_init(&block[i].handle, 0);
            atomic_init(&block[i].use, RTL_USE_SHARED);
            atomic_init(&block[i].next, i + 1 < BLOCK ? &block[i + 1] : NULL);
        }
        free_first = block;
        free_last = &block[BLOCK - 1];
    }
    struct rtl_app_signal *app_signal = free_first;
    free_first = atomic_load_explicit(&app_signal->next, memory_order_relaxed);
    if (!free_first)
        free_last = NULL;
    return app_signal;
}

static void free_record(struct rtl_app_signal *app_signal)
{
    atomic_store_explicit(&app_signal->handle, 0, memory_order_relaxed);
    atomic_store_explicit(&app_signal->next, NULL, memory_order_relaxed);
    if (free_last)
        atomic_store_explicit(&free_last->next, app_signal, memory_order_relaxed);
    else
        free_first = app_signal;
    free_last = app_signal;
}

void rtl_app_signal_add(hsa_signal_t signal)
{
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
    rtl_app_signal_remove(signal); /* an earlier signal at this address was destroyed unseen */
    if (!signal.handle || memory->kind != AMD_SIGNAL_KIND_USER)
        return;
    pthread_mutex_lock(&create_lock);
    struct rtl_app_signal *app_signal = allocate_record();
    if (app_signal) {
        struct rtl_app_signal *_Atomic *head = bucket_of(signal.handle);
        atomic_store_explicit(&app_signal->use, RTL_USE_IDLE, memory_order_relaxed);
        atomic_store_explicit(&app_signal->handle, signal.handle, memory_order_release);
        atomic_store_explicit(&app_signal->next, atomic_load_explicit(head, memory_order_relaxed),
                              memory_order_release);
        atomic_store_explicit(head, app_signal, memory_order_release);
    }
    pthread_mutex_unlock(&create_lock);
}

/* End the use of a signal that was removed from the table. Afterwards no thread reads the signal's memory. Called
 * without the lock, because it may wait. */
static void end_last_use(struct rtl_app_signal *app_signal)
{
    const amd_signal_t *signal = signal_memory(app_signal);
    struct rtl_times times = {0, 0};
    uintptr_t was = atomic_exchange(&app_signal->use, RTL_USE_SHARED);
    if (was >= RTL_USES) {
        rtl_times_compare(stand_in_of(was), NULL, signal); /* this thread owns the stand-in until it ends */
        bool over = read_use_times(was, signal, &times);
        bool timeless = is_copy(was) && __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1;
        end_stand_in(was, over ? RTL_STAND_IN_TIMED : timeless ? RTL_STAND_IN_UNTIMED : RTL_STAND_IN_GONE, times);
    }
    uint64_t since = 0;
    while (atomic_load(&read_by_worker) == app_signal) {
        uint64_t now = rtl_clock_now();
        since = since ? since : now;
        if (now - since > WAIT)
            break;
        sched_yield();
    }
}

static struct rtl_app_signal *unlink_app_signal(uint64_t handle)
{
    struct rtl_app_signal *_Atomic *link = bucket_of(handle);
    struct rtl_app_signal *app_signal = atomic_load_explicit(link, memory_order_relaxed);
    while (app_signal && atomic_load_explicit(&app_signal->handle, memory_order_relaxed) != handle) {
        link = &app_signal->next;
        app_signal = atomic_load_explicit(link, memory_order_relaxed);
    }
    if (app_signal) {
        atomic_store_explicit(link, atomic_load_explicit(&app_signal->next, memory_order_relaxed),
                              memory_order_release);
        atomic_fetch_add_explicit(&removals, 1, memory_order_release);
    }
    return app_signal;
}

void rtl_app_signal_remove(hsa_signal_t signal)
{
    if (!signal.handle || !rtl_app_signal_find(signal.handle))
        return;
    pthread_mutex_lock(&create_lock);
    struct rtl_app_signal *app_signal = unlink_app_signal(signal.handle);
    pthread_mutex_unlock(&create_lock);
    if (!app_signal)
        return;
    end_last_use(app_signal);
    pthread_mutex_lock(&create_lock);
    free_record(app_signal);
    pthread_mutex_unlock(&create_lock);
}

void rtl_app_signal_copy(hsa_signal_t signal)
{
    struct rtl_app_signal *app_signal = signal.handle ? rtl_app_signal_find(signal.handle) : NULL;
    if (app_signal && atomic_load_explicit(&app_signal->use, memory_order_relaxed) != RTL_USE_COPY)
        replace_use(app_signal, RTL_USE_COPY);
}

/* End every use that is over; with `all` the other signals become SHARED. */
static void sweep(bool all)
{
    pthread_mutex_lock(&create_lock);
    for (int i = 0; i < BUCKETS; i++) {
        struct rtl_app_signal *app_signal = atomic_load_explicit(&bucket[i], memory_order_relaxed);
        for (; app_signal; app_signal = atomic_load_explicit(&app_signal->next, memory_order_relaxed)) {
            uintptr_t was = atomic_load_explicit(&app_signal->use, memory_order_acquire);
            struct rtl_times times = {0, 0};
            if (was < RTL_USES)
                continue;
            bool over = read_use_times(was, signal_memory(app_signal), &times);
            if ((over || all) && swap_use(app_signal, &was, over ? RTL_USE_IDLE : RTL_USE_SHARED))
                end_stand_in(was, over ? RTL_STAND_IN_TIMED : RTL_STAND_IN_SHARED, times);
        }
    }
    pthread_mutex_unlock(&create_lock);
}

void rtl_app_signals_sweep(void)
{
    sweep(false);
}

void rtl_app_signals_stop(void)
{
    atomic_store(&allowed, false);
    if (atomic_exchange(&rtl_app_signals_followed, false))
        sweep(true);
}

void rtl_app_signals_forget(void)
{
    atomic_store(&rtl_app_signals_followed, false);
    pthread_mutex_lock(&create_lock);
    for (int i = 0; i < BUCKETS; i++) {
        struct rtl_app_signal *app_signal = atomic_load_explicit(&bucket[i], memory_order_relaxed);
        atomic_store_explicit(&bucket[i], NULL, memory_order_release);
        while (app_signal) {
            struct rtl_app_signal *next = atomic_load_explicit(&app_signal->next, memory_order_relaxed);
            atomic_store_explicit(&app_signal->use, RTL_USE_SHARED, memory_order_relaxed);
            free_record(app_signal);
            app_signal = next;
        }
    }
    atomic_fetch_add_explicit(&removals, 1, memory_order_release);
    pthread_mutex_unlock(&create_lock);
}

void rtl_app_signals_start(bool followed)
{
    atomic_store(&allowed, true);
    atomic_store(&rtl_app_signals_followed, followed);
}

void rtl_app_signals_follow(void)
{
    atomic_store(&rtl_app_signals_followed, atomic_load(&allowed));
    /* rtl_app_signals_stop may run in between: it clears `allowed`, then reads what was just set */
    if (!atomic_load(&allowed))
        rtl_app_signals_stop();
}

void rtl_app_signals_unfollow(void)
{
    atomic_store(&rtl_app_signals_followed, false);
}

/* Uses while signals weren't followed may leave timestamps or not, like an untimed copy. */
void rtl_app_signals_mark_unknown(void)
{
    pthread_mutex_lock(&create_lock);
    for (int i = 0; i < BUCKETS; i++) {
        struct rtl_app_signal *app_signal = atomic_load_explicit(&bucket[i], memory_order_relaxed);
        for (; app_signal; app_signal = atomic_load_explicit(&app_signal->next, memory_order_relaxed)) {
            uintptr_t was = atomic_load_explicit(&app_signal->use, memory_order_acquire);
            /* fails if a packet with the signal was just seen: its use is known then */
            if (was == RTL_USE_IDLE || was == RTL_USE_OTHER)
                swap_use(app_signal, &was, RTL_USE_COPY);
        }
    }
    pthread_mutex_unlock(&create_lock);
}
