/*
 * The completion worker's thread: its rounds, pauses, parking and end (worker.h).
 *
 * Rhythm: a round over all trackers, then a pause of 50 us to 1 ms. The pause follows how soon the signals would run
 * out at the rate of the last round, and doubles while nothing completes; there is none if the worker falls behind.
 * With nothing in flight the worker lingers a little, because the next dispatch is often near, then parks without a
 * timeout (wakeup.h).
 */
#include "intercept/worker/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/likely.h"
#include "base/memory_file.h"
#include "intercept/base/cancel.h"
#include "intercept/base/futex.h"
#include "intercept/base/tool.h"
#include "intercept/track/barrier.h"
#include "intercept/track/copy_slots.h"
#include "intercept/track/kernel_rows.h"
#include "intercept/track/links.h"
#include "intercept/track/policy.h"
#include "intercept/track/throttle.h"
#include "intercept/track/wakeup.h"
#include "intercept/worker/collect.h"
#include "intercept/worker/mode.h"
#include "intercept/worker/probe_runner.h"
#include "intercept/worker/supply.h"

#define MS 1000000ull

enum {
    PAUSE_MIN = 50000, /* ns */
    PAUSE_MAX = 1000000,
    PRESSED = 512,         /* after this many completions in one round there may be no pause */
    MOST_A_TRACKER = 2048, /* completions of one queue before the next queue's turn */
    TURN = 100000,         /* ns; the least that the scheduler accepts */
    STACK = 256 << 10,     /* virtual; the thread's static TLS, which the application determines, is part of it */
};

static const uint64_t LINGER = 20 * MS;     /* from the last completion to parking */
static const uint64_t TSC = 5 * MS;         /* how often the time stamp counter is compared with the clock */
static const uint64_t CPU = 100 * MS;       /* how often the worker's CPU time is published */
static const uint64_t SETTLE = 100 * MS;    /* bound on waiting until a destroyed queue is accounted for */
static const uint64_t ANSWER = 100 * MS;    /* bound on waiting for the first kernel in flight */
static const uint64_t QUIET_WAIT = 20 * MS; /* bound on waiting for a dispatch that is inside */
static const uint64_t LATER = 100 * MS;   /* longest park if an application may use a queue without waking the worker */
static const uint64_t RARELY = 1000 * MS; /* longest park if that is unlikely */
static const uint64_t STOP = 1000 * MS;   /* bound on waiting for the worker to end */
static const uint64_t DESTROY = 500 * MS; /* bound on destroying signals then; the runtime frees the others */

enum worker_state { NONE, RUNNING, STOPPING, STOPPED };

static struct {
    _Atomic uint32_t state;        /* create: NONE -> RUNNING, load: -> STOPPING, worker: -> STOPPED; a futex */
    _Atomic uint32_t kick;         /* any adds: ends a pause at once; a futex */
    struct rtl_pool *pool;         /* create */
    bool unable;                   /* create: the thread or the pool couldn't be created; the next queue tries again */
    struct rtl_recorder *recorder; /* create makes, worker uses */
    /* over all loads; written by the thread of the present load */
    uint64_t made_before, destroyed_before, cpu_before, cpu;
    uint32_t peak; /* most signals in flight so far */
} completion;

/* End a pause or a park. */
static void kick(void)
{
    atomic_fetch_add(&completion.kick, 1);
    rtl_futex_wake(&completion.kick);
    rtl_wake();
}

/* --- the thread --- */

struct rhythm {
    uint64_t pause;
    uint64_t now, before;    /* this round and the previous one, monotonic ns */
    uint64_t seen_before;    /* collector->seen after the last round */
    uint64_t busy_at;        /* when something was last in flight */
    uint64_t tsc_at, cpu_at; /* last updates of the TSC's line and of worker_cpu_ns */
    struct rtl_supply supply;
    enum rtl_tend tend; /* how soon a queue needs the next rtl_tracker_tend */
};

/* Return LIVE or GONE for a tracker in use with this worker's signals; FREE otherwise. */
static uint32_t state_of(const struct rtl_collector *collector, const struct rtl_tracker *tracker)
{
    uint32_t state = atomic_load_explicit(&tracker->state, memory_order_acquire);
    bool ours = __atomic_load_n(&tracker->pool, __ATOMIC_RELAXED) == collector->pool;
    return (state == RTL_TRACKER_LIVE || state == RTL_TRACKER_GONE) && ours ? state : RTL_TRACKER_FREE;
}

/* Any: free a GONE tracker whose worker has ended and accounted for it. Checked under the lock that opens trackers:
 * otherwise another queue may have got the tracker, and closed it again, between the checks. */
static void reclaim_tracker(struct rtl_tracker *tracker, const struct rtl_pool *pool)
{
    uint32_t gone = RTL_TRACKER_GONE;
    pthread_mutex_lock(&rtl_tool.create);
    if (__atomic_load_n(&tracker->pool, __ATOMIC_RELAXED) == pool &&
        atomic_compare_exchange_strong(&tracker->state, &gone, RTL_TRACKER_DEAD)) /* only one thread frees it */
        rtl_tracker_free(tracker);
    pthread_mutex_unlock(&rtl_tool.create);
}

/* The hardware queue is gone, so nothing more completes on it; unless the runtime kept the queue. */
static void finish_gone(struct rtl_collector *collector, struct rtl_tracker *tracker)
{
    rtl_collect_abandon(collector, tracker, RTL_UNTIMED_QUEUE_GONE, !tracker->remains);
    rtl_collect_close(collector, tracker);
    rtl_tracker_free(tracker);
    rtl_futex_wake(&tracker->state);
}

/* Call after polling the tracker: the first kernel on its list has not completed. */
static void answer_first_kernel(const struct rtl_collector *collector, struct rtl_tracker *tracker)
{
    uint32_t first = tracker->first;
    if (likely(atomic_load_explicit(&tracker->first_kernel, memory_order_relaxed) != RTL_FIRST_WANTED))
        return;
    atomic_store_explicit(&tracker->first_kernel, first == RTL_NO_SIGNAL ? 0 : collector->flight[first].kernel + 1u,
                          memory_order_release);
    rtl_futex_wake(&tracker->first_kernel);
}

/* Poll every tracker. Returns the number of recorded completions. */
static uint32_t round_of_trackers(struct rtl_collector *collector, struct rhythm *r)
{
    struct rtl_tracker *trackers = atomic_load_explicit(&rtl_trackers, memory_order_acquire);
    uint32_t done = 0;
    r->tend = RTL_TEND_NOTHING;
    for (struct rtl_tracker *tracker = trackers; tracker; tracker = tracker->next)
        if (state_of(collector, tracker) != RTL_TRACKER_FREE)
            rtl_collect_pending(collector, tracker);
    for (struct rtl_tracker *tracker = trackers; tracker; tracker = tracker->next) {
        uint32_t state = state_of(collector, tracker);
        if (state == RTL_TRACKER_FREE) {
            const struct rtl_pool *pool = __atomic_load_n(&tracker->pool, __ATOMIC_RELAXED);
            if (pool != collector->pool &&
                atomic_load_explicit(&tracker->state, memory_order_relaxed) == RTL_TRACKER_GONE)
                reclaim_tracker(tracker, pool); /* of an earlier load */
            continue;
        }
        enum rtl_tend tend = state == RTL_TRACKER_LIVE ? rtl_tracker_tend(tracker, r->now) : RTL_TEND_NOTHING;
        r->tend = tend > r->tend ? tend : r->tend;
        uint32_t its = rtl_collect_tracker(collector, tracker, MOST_A_TRACKER);
        done += its;
        if (its < MOST_A_TRACKER)
            answer_first_kernel(collector, tracker);
        if (state == RTL_TRACKER_GONE) {
            finish_gone(collector, tracker);
        } else {
            uint32_t rows = atomic_load_explicit(&rtl_tool.segment.kernel_count, memory_order_relaxed);
            rtl_tracker_populate(tracker, rows + 64);
        }
    }
    rtl_collect_flush(collector);
    if (done)
        rtl_gpus_publish_idle(false);
    return done;
}

static void tend_pool(struct rtl_collector *collector, struct rhythm *r)
{
    if (completion.peak < collector->most)
        completion.peak = collector->most;
    rtl_supply_tend(&r->supply, collector, r->now);
}

#define STORE(where, value) __atomic_store_n(&(where), (value), __ATOMIC_RELAXED)

static void publish_pool(struct rtl_pool *pool)
{
    struct rtl_header *h = rtl_tool.segment.header;
    STORE(h->signals_created, completion.made_before + atomic_load_explicit(&pool->made, memory_order_relaxed));
    STORE(h->signals_destroyed,
          completion.destroyed_before + atomic_load_explicit(&pool->destroyed, memory_order_relaxed));
    STORE(h->signals_peak, completion.peak);
}

static void publish_header(const struct rtl_collector *collector, struct rhythm *r, bool all)
{
    struct rtl_header *h = rtl_tool.segment.header;
    STORE(h->heartbeat_mono_ns, r->now);
    rtl_count(&h->passes, 1);
    publish_pool(collector->pool);
    if (all || r->now - r->cpu_at >= CPU) {
        completion.cpu = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        STORE(h->worker_cpu_ns, completion.cpu_before + completion.cpu);
        r->cpu_at = r->now;
    }
}

static void compare_clocks(struct rtl_collector *collector, struct rhythm *r)
{
    uint64_t tsc = 0, ns = 0;
    if (r->now - r->tsc_at < TSC || !atomic_load_explicit(&rtl_hot.tsc, memory_order_relaxed))
        return;
    rtl_clock_pair(&tsc, &ns);
    rtl_tsc_line_update(&collector->tsc, tsc, ns);
    if (collector->tsc.broken)
        atomic_store_explicit(&rtl_hot.tsc, false, memory_order_relaxed);
    rtl_links_set_clock(collector->tsc.fits ? &collector->tsc.line : NULL);
    r->tsc_at = r->now;
}

/* Return the pause after which signals are still left: none if they would run out within the shortest pause, or if
 * there is work: `done` kernels in one round take about as long as such a pause. */
static uint64_t pause_after(const struct rtl_collector *collector, struct rhythm *r, uint32_t done)
{
    uint64_t came = collector->seen - r->seen_before, span = r->now - r->before;
    r->seen_before = collector->seen;
    if (r->tend == RTL_TEND_NOW && done < PRESSED)
        return PAUSE_MIN;
    if (!done)
        return r->pause * 2 > PAUSE_MAX ? PAUSE_MAX : r->pause * 2 < PAUSE_MIN ? PAUSE_MIN : r->pause * 2;
    if (!came)
        return PAUSE_MAX;
    const struct rtl_pool *pool = collector->pool;
    uint32_t limit = atomic_load_explicit(&pool->limit, memory_order_acquire), stand_ins = rtl_stand_ins_beside(limit);
    /* while the pool grows, its current signals must last until the next round */
    uint32_t most = r->supply.grew ? atomic_load_explicit(&pool->created, memory_order_relaxed) : limit;
    uint64_t left = most > rtl_collect_in_use(collector) ? most - rtl_collect_in_use(collector) : 0;
    stand_ins -= collector->open_stand_ins < stand_ins ? collector->open_stand_ins : stand_ins;
    left = stand_ins < left ? stand_ins : left;
    uint64_t pause = left * span / came / 8;
    if (done >= PRESSED && pause < PAUSE_MIN / 4)
        return 0;
    if (r->tend == RTL_TEND_NOW)
        return PAUSE_MIN;
    return pause < PAUSE_MIN ? PAUSE_MIN : pause < PAUSE_MAX ? pause : PAUSE_MAX;
}

/* Tend all queues, and set r->tend. True if one needs the worker awake. */
static bool tend_queues(const struct rtl_collector *collector, struct rhythm *r)
{
    uint64_t now = rtl_clock_now();
    r->tend = RTL_TEND_NOTHING;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next) {
        enum rtl_tend tend =
            state_of(collector, tracker) == RTL_TRACKER_LIVE ? rtl_tracker_tend(tracker, now) : RTL_TEND_NOTHING;
        r->tend = tend > r->tend ? tend : r->tend;
    }
    return r->tend >= RTL_TEND_SOON;
}

static bool anything_pending(const struct rtl_collector *collector, struct rhythm *r)
{
    if (tend_queues(collector, r) || rtl_copies_pending() || rtl_probe_is_needed(rtl_clock_now()))
        return true;
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next) {
        uint32_t state = state_of(collector, tracker);
        if (state == RTL_TRACKER_GONE || (state == RTL_TRACKER_LIVE && rtl_pending_count(&tracker->pending)))
            return true;
    }
    return false;
}

static uint64_t longest_park(const struct rtl_collector *collector, const struct rhythm *r)
{
    uint64_t queues = r->tend == RTL_TEND_LATER ? LATER : r->tend == RTL_TEND_RARELY ? RARELY : UINT64_MAX;
    uint64_t probe = rtl_probe_longest_park(), pool = rtl_supply_due(&r->supply, collector, rtl_clock_now());
    queues = queues < pool ? queues : pool;
    return queues < probe ? queues : probe;
}

static void park(struct rtl_collector *collector, struct rhythm *r, uint32_t kick_seen)
{
    struct rtl_header *h = rtl_tool.segment.header;
    rtl_wakeup_announce();
    if (anything_pending(collector, r) || rtl_control_request_pending() || atomic_load(&completion.kick) != kick_seen ||
        atomic_load(&completion.state) != RUNNING) {
        rtl_wakeup_revoke();
        return;
    }
    rtl_gpus_publish_idle(true);
    publish_header(collector, r, true);
    STORE(h->parked, 1);
    rtl_links_set_clock(NULL); /* nothing compares the clocks during the park */
    /* tending queues, polling a viewer's page and destroying unneeded signals don't end a park */
    while (!rtl_wakeup_sleep(longest_park(collector, r))) {
        if (tend_queues(collector, r) || rtl_probe_is_needed(rtl_clock_now()))
            rtl_wakeup_revoke();
        r->now = rtl_clock_now();
        tend_pool(collector, r);
        publish_pool(collector->pool);
    }
    STORE(h->parked, 0);
    /* values from before the sleep are outdated */
    r->before = rtl_clock_now();
    r->busy_at = r->before;
    r->tsc_at = 0;
    r->pause = PAUSE_MIN;
}

/* Wait until no dispatch is inside that began before its reason changed. Bounded. */
static bool wait_until_quiet(const struct rtl_tracker *tracker)
{
    uint64_t until = rtl_clock_now() + QUIET_WAIT;
    while (atomic_load_explicit(&tracker->inside, memory_order_acquire)) {
        struct timespec moment = {0, 20000};
        if (rtl_clock_now() > until)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

/* The last round, when all trackers' reason is "shutdown": record completed dispatches, abandon the others, and
 * destroy all signals but those in flight. */
static void wind_up_worker(struct rtl_collector *collector, struct rhythm *r)
{
    rtl_barrier_everywhere();
    /* no more can be in flight than there are signals, and none is added; each round ends some of them */
    for (uint32_t done = 0, more = 1; more && done <= 2 * RTL_NUMBERS; done += more)
        more = round_of_trackers(collector, r);
    for (struct rtl_tracker *tracker = atomic_load(&rtl_trackers); tracker; tracker = tracker->next) {
        uint32_t state = state_of(collector, tracker);
        if (state == RTL_TRACKER_GONE)
            finish_gone(collector, tracker);
        if (state != RTL_TRACKER_LIVE)
            continue;
        if (wait_until_quiet(tracker))
            rtl_collect_close(collector, tracker);
        rtl_collect_abandon(collector, tracker, RTL_UNTIMED_ABANDONED, false);
        rtl_tracker_tend(tracker, RTL_TEND_END);
    }
    rtl_probe_stop();
    rtl_collect_copies_abandon(collector);
    rtl_collect_flush(collector);
    uint64_t until = rtl_clock_now() + DESTROY;
    while (rtl_pool_destroy(collector->pool, RTL_SIGNALS_BATCH, rtl_throttle_is_reading) && rtl_clock_now() < until)
        ;
    rtl_gpus_publish_idle(true);
    rtl_links_set_clock(NULL);
    rtl_gpus_carry_over();
    r->now = rtl_clock_now();
    publish_header(collector, r, true);
}

/* Ask for short time slices: the worker runs for some ten microseconds at a time, and from Linux 6.12 on a thread
 * that asks for shorter slices runs sooner. That matters when all cores are busy. It needs no privilege, takes no
 * CPU time from other threads, and has no effect on older kernels. */
static void ask_for_short_turns(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    memset(&attributes, 0, sizeof attributes);
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER) {
        attributes.size = sizeof attributes;
        attributes.runtime = TURN;
        syscall(SYS_sched_setattr, 0, &attributes, 0);
    }
}

static void *run_worker(void *data)
{
    struct rtl_collector *collector = data;
    struct rhythm r = {.pause = PAUSE_MIN};
    prctl(PR_SET_NAME, "rtl-worker", 0, 0, 0);
    ask_for_short_turns();
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0); /* so that a pause of 50 us doesn't become 100 */
    r.before = r.busy_at = rtl_clock_now();
    rtl_supply_begin(&r.supply, r.before);

    while (atomic_load_explicit(&completion.state, memory_order_acquire) == RUNNING) {
        uint32_t kick_seen = atomic_load(&completion.kick);
        r.now = rtl_clock_now();
        compare_clocks(collector, &r);
        rtl_mode_apply(collector, r.now);
        uint32_t done = round_of_trackers(collector, &r), copied = rtl_collect_copies(collector);
        rtl_probe_round(r.now);
        tend_pool(collector, &r);
        rtl_recorder_prepare(collector->recorder);
        rtl_kernels_populate();
        publish_header(collector, &r, false);
        if (collector->open || done || copied || r.tend >= RTL_TEND_SOON || rtl_copies_pending() || rtl_probe_is_busy())
            r.busy_at = r.now;
        if (r.now - r.busy_at >= LINGER) {
            park(collector, &r, kick_seen);
            continue;
        }
        r.pause = pause_after(collector, &r, done);
        if (rtl_probe_is_copying(r.now) && r.pause > PAUSE_MIN)
            r.pause = PAUSE_MIN;
        r.before = r.now;
        if (r.pause)
            rtl_futex_wait(&completion.kick, kick_seen, r.pause);
    }
    wind_up_worker(collector, &r);
    munmap(collector, sizeof *collector);
    atomic_store(&completion.state, STOPPED);
    rtl_futex_wake(&completion.state);
    return NULL;
}

/* --- starting and stopping the thread --- */

/* Start the thread: it blocks all signals, has a small stack, and doesn't inherit the application's real-time
 * priority. */
static bool start_thread(struct rtl_collector *collector)
{
    sigset_t all, before;
    cpu_set_t cpus;
    pthread_attr_t attributes;
    pthread_t thread;
    struct sched_param normal = {.sched_priority = 0};
    int error = -1;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
        pthread_attr_setschedparam(&attributes, &normal);
        pthread_attr_setstacksize(&attributes, STACK);
        /* the process's CPUs, not those of the calling thread */
        if (sched_getaffinity(getpid(), sizeof cpus, &cpus) == 0)
            pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
        error = pthread_create(&thread, &attributes, run_worker, collector);
        if (error == EINVAL) { /* the application's static TLS is larger than the stack */
            pthread_attr_setstacksize(&attributes, 32 * STACK);
            error = pthread_create(&thread, &attributes, run_worker, collector);
        }
        if (error == EPERM) { /* a sandbox that forbids choosing a scheduling policy or CPUs */
            pthread_attr_destroy(&attributes);
            pthread_attr_init(&attributes);
            pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
            error = pthread_create(&thread, &attributes, run_worker, collector);
        }
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static bool make_signal(hsa_signal_t *signal)
{
    int held = rtl_cancel_disable(); /* dispatches create signals, too, while there are too few */
    /* GPU_ONLY: no mailbox, so no interrupt and no KFD event for each kernel */
    hsa_status_t status =
        rtl_tool.hsa.amd_signal_create(RTL_SIGNAL_ARMED, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, signal);
    rtl_cancel_restore(held);
    return status == HSA_STATUS_SUCCESS;
}

static void destroy_signal(hsa_signal_t signal)
{
    int held = rtl_cancel_disable();
    rtl_tool.hsa.signal_destroy(signal);
    rtl_cancel_restore(held);
}

static struct rtl_collector *make_collector(struct rtl_pool *pool)
{
    struct rtl_collector *collector = rtl_map_sparse(-1, sizeof *collector);
    uint64_t tsc = 0, ns = 0;
    if (!collector)
        return NULL;
    collector->recorder = completion.recorder;
    collector->pool = pool;
    rtl_clock_pair(&tsc, &ns);
    collector->began = ns;
    rtl_tsc_line_start(&collector->tsc, tsc, ns);
    return collector;
}

static bool start_worker(void)
{
    static const struct rtl_signal_maker maker = {make_signal, destroy_signal};
    uint32_t numbers[RTL_SIGNALS_START];

    if (!completion.recorder)
        completion.recorder = rtl_recorder_create(&rtl_tool.segment);
    struct rtl_pool *pool =
        completion.recorder ? rtl_pool_create(&maker, rtl_signals_limit(rtl_tool.settings.signals_limit, 0)) : NULL;
    struct rtl_collector *collector = pool ? make_collector(pool) : NULL;
    if (!collector) {
        rtl_pool_free(pool);
        return false;
    }
    if (rtl_policy_now() >= RTL_TIME_UNSIGNALLED) /* else they are created when needed (mode.h) */
        rtl_pool_return(pool, numbers, rtl_pool_make(pool, numbers, RTL_SIGNALS_START));
    rtl_recorder_prepare(completion.recorder);
    rtl_kernels_populate();
    rtl_barrier_prepare();
    rtl_wakeup_revoke();
    atomic_store(&completion.state, RUNNING);
    if (!start_thread(collector)) {
        atomic_store(&completion.state, NONE);
        rtl_pool_destroy(pool, RTL_SIGNALS_LIMIT, rtl_throttle_is_reading);
        rtl_pool_free(pool);
        munmap(collector, sizeof *collector);
        return false;
    }
    completion.pool = pool;
    return true;
}

struct rtl_pool *rtl_worker_pool(int *reason)
{
    int error = errno;
    bool say = false, over = rtl_trackers_stopping(); /* a late call must not create signals of a runtime that ends */
    pthread_mutex_lock(&rtl_tool.create);
    if (!over && atomic_load(&completion.state) == NONE && !start_worker()) {
        say = !completion.unable;
        completion.unable = true;
    }
    uint32_t state = atomic_load(&completion.state);
    *reason = state == RUNNING ? RTL_NO_REASON : state == NONE && !over ? RTL_UNTIMED_NO_WORKER : RTL_UNTIMED_SHUTDOWN;
    struct rtl_pool *pool = state == RUNNING ? completion.pool : NULL;
    pthread_mutex_unlock(&rtl_tool.create);
    if (say) /* after the lock: the reader of standard error may be slow */
        rtl_say("no completion worker (thread or memory limit): kernels are counted, not timed");
    errno = error;
    return pool;
}

void rtl_worker_settle(struct rtl_tracker *tracker)
{
    const struct rtl_pool *pool = tracker->pool;
    if (!pool) { /* nothing on it was timed, and no worker polls it */
        rtl_tracker_free(tracker);
        return;
    }
    atomic_store(&tracker->state, RTL_TRACKER_GONE);
    kick();
    uint64_t until = rtl_clock_now() + SETTLE;
    while (atomic_load(&tracker->state) == RTL_TRACKER_GONE) {
        uint32_t state = atomic_load(&completion.state);
        if (state == NONE || state == STOPPED)
            reclaim_tracker(tracker, pool);
        else if (rtl_clock_now() >= until)
            return; /* the worker, or that of the next load, will free it */
        else
            rtl_futex_wait(&tracker->state, RTL_TRACKER_GONE, 10 * MS);
    }
}

uint32_t rtl_worker_first_kernel(struct rtl_tracker *tracker)
{
    if (!__atomic_load_n(&tracker->pool, __ATOMIC_RELAXED) || atomic_load(&completion.state) != RUNNING)
        return 0;
    uint64_t until = rtl_clock_now() + ANSWER;
    atomic_store(&tracker->first_kernel, RTL_FIRST_WANTED);
    kick();
    while (atomic_load_explicit(&tracker->first_kernel, memory_order_acquire) == RTL_FIRST_WANTED &&
           atomic_load(&completion.state) == RUNNING && rtl_clock_now() < until)
        rtl_futex_wait(&tracker->first_kernel, RTL_FIRST_WANTED, 10 * MS);
    uint32_t answer = atomic_exchange(&tracker->first_kernel, 0);
    return answer == RTL_FIRST_WANTED ? 0 : answer;
}

void rtl_worker_stop(void)
{
    uint32_t running = RUNNING;
    if (!atomic_compare_exchange_strong(&completion.state, &running, STOPPING))
        return;
    kick();
    uint64_t until = rtl_clock_now() + STOP;
    while (atomic_load(&completion.state) == STOPPING && rtl_clock_now() < until)
        rtl_futex_wait(&completion.state, STOPPING, 10 * MS);
}

void rtl_worker_again(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    if (atomic_load(&completion.state) == STOPPED) {
        completion.made_before += atomic_load(&completion.pool->made);
        completion.destroyed_before += atomic_load(&completion.pool->destroyed);
        completion.cpu_before += completion.cpu;
        completion.pool = NULL; /* never freed: a late callback may use it */
        atomic_store(&completion.state, NONE);
    }
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_worker_forget(void)
{
    atomic_store(&completion.state, STOPPED); /* no thread starts one here */
}
