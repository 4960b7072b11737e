/* The observer's thread: polls queues and starts scans, within its budget. See observer.h. */
#include "base/clock.h"
#include "base/thread.h"
#include "observe/observer_private.h"
#include "shm/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const uint64_t SECOND = RTL_OBSERVER_SECOND;
static const uint64_t FIRST_COST_NS = 1000000;
static const uint64_t STOP_NS = 5000000; /* a stop request interrupts longer pauses */
/* for traced processes: the library counts most queues */
static const uint64_t PAST_IDLE_NS = 20000000, PAST_SCAN_NS = 5000000000;
/* How long the caller waits for the thread: a named process, another process, the end. */
static const uint64_t OPEN_NS = 10000000000, TRY_NS = 1000000000, END_NS = 300000000;
enum { LEFT_MAX = 16 }; /* hanging threads: with so many no further one is started */

static atomic_uint observers; /* observers that poll queues: they share the budget */
static atomic_uint scanners;  /* observers that scan: all with a running thread */
static atomic_uint left_behind;

static void share_budget(struct rtl_observer *o, bool shares)
{
    if (atomic_exchange(&o->shares, shares) == shares)
        return;
    if (shares)
        atomic_fetch_add(&observers, 1);
    else
        atomic_fetch_sub(&observers, 1);
}

/* --- looking --- */

static void add_busy_times(struct rtl_observed *s, uint64_t ns)
{
    for (int g = 0; g < RTL_AGENTS_MAX; g++) {
        s->early_busy_ns[g] += s->early_busy[g] ? ns : 0;
        s->late_busy_ns[g] += s->late_busy[g] ? ns : 0;
        s->early_busy[g] = s->late_busy[g] = false;
    }
}

/* Poll all queues once, with the lock held. */
static void poll_all_queues(struct rtl_observer *o)
{
    struct rtl_queue_head heads[RTL_QUEUES_MAX];
    struct rtl_target_piece pieces[RTL_QUEUES_MAX + RTL_DEBUG_LISTS_MAX * RTL_DEBUG_LIST_PIECES];
    const struct rtl_debug_list_end *end = o->seen.names->end;
    struct rtl_debug_list_answer answer[RTL_DEBUG_LISTS_MAX];
    uint32_t number[RTL_QUEUES_MAX], n = 0;
    size_t first[RTL_DEBUG_LISTS_MAX], all;
    bool changed = false;
    double fastest = 0;
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (o->queues[i].live) {
            pieces[n] = (struct rtl_target_piece){o->queues[i].found.at, &heads[n], sizeof heads[n], false};
            number[n++] = i;
        }
    o->live = n;
    if (o->options.past_library && !atomic_load(&o->stop))
        share_budget(o, n != 0);
    all = n;
    for (uint32_t i = 0; n && i < o->lists.count; i++) {
        first[i] = all;
        all += rtl_debug_list_ask(&end[i], &answer[i], pieces + all);
    }
    rtl_target_read_pieces(&o->memory, pieces, all);
    for (uint32_t i = 0; n && i < o->lists.count; i++)
        changed |= rtl_debug_list_changed(&end[i], &answer[i], pieces + first[i]);
    if (changed) /* an address may mean another kernel now */
        rtl_observer_read_names(o);
    uint64_t now = rtl_mono_ns(), since = o->looked_ns ? now - o->looked_ns : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct rtl_observed_queue *q = &o->queues[number[i]];
        uint64_t before = q->counter.next;
        bool there = pieces[i].ok && rtl_observed_queue_poll(&o->seen, q, &heads[i], now);
        if (there && o->seen.unknown) { /* a code object may have come; if not, the kernel has no name */
            rtl_observer_read_names(o);
            if (!rtl_kernel_names_known(o->seen.names, o->seen.unknown))
                rtl_kernel_names_set_nameless(o->seen.names, o->seen.unknown);
            rtl_observed_rows_grow(&o->seen.rows, o->seen.names->rows);
            o->seen.unknown = 0;
            there = rtl_observed_queue_poll(&o->seen, q, &heads[i], now);
        }
        if (!there) {
            rtl_observer_end_queue(o, q);
            o->scan_at_ns = now; /* another queue may be in its place */
        } else if (since) {
            double rings = (double)(q->counter.next - before) / q->found.size * 1e9 / (double)since;
            fastest = rings > fastest ? rings : fastest;
        }
    }
    add_busy_times(&o->seen, since < SECOND / 10 ? since : 0);
    o->pace.rate = fastest > o->pace.rate ? fastest : o->pace.rate * 0.99 + fastest * 0.01;
    o->looks++;
    o->looked_ns = now;
}

static void count_observers(struct rtl_pace *pace)
{
    pace->looking = atomic_load_explicit(&observers, memory_order_relaxed);
    pace->scanning = atomic_load_explicit(&scanners, memory_order_relaxed);
}

/* Return how long to sleep. */
static uint64_t pause_of(struct rtl_observer *o)
{
    count_observers(&o->pace);
    uint64_t now = rtl_mono_ns(), ns = rtl_pace_poll_ns(&o->pace);
    if (o->options.past_library && !o->live) /* without queues only a scan finds something */
        return o->scan_at_ns > now ? o->scan_at_ns - now : PAST_IDLE_NS;
    /* random, so that polls never run in step with the target */
    o->random = o->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint64_t)((double)ns * (0.75 + 0.5 * (double)(o->random >> 40) / (double)(1 << 24)));
}

static void sleep_until_stop(struct rtl_observer *o, uint64_t ns)
{
    if (ns <= STOP_NS) {
        nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
        return;
    }
    uint64_t until = rtl_mono_ns() + ns;
    struct timespec t = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    pthread_mutex_lock(&o->state);
    while (!atomic_load(&o->stop) && pthread_cond_clockwait(&o->changed, &o->state, CLOCK_MONOTONIC, &t) == 0)
        continue;
    pthread_mutex_unlock(&o->state);
}

/* Return the time until the next scan. If the library sees all queues, new unknown queues are rare. */
static uint64_t scan_pause(struct rtl_observer *o)
{
    struct rtl_traced_queues traced;
    if (!o->options.past_library)
        return SECOND;
    rtl_observer_copy_traced(o, &traced);
    for (uint32_t i = 0; i < o->candidate_count; i++)
        if (!rtl_candidate_is_past(&o->candidate[i], &traced))
            return SECOND;
    bool more = o->scans < 2 || traced.another_runtime || traced.refused != o->refused_seen;
    o->refused_seen = traced.refused;
    return more ? SECOND : PAST_SCAN_NS;
}

static void poll_queues(struct rtl_observer *o)
{
    prctl(PR_SET_TIMERSLACK, 1ul);
    while (!atomic_load_explicit(&o->stop, memory_order_relaxed)) {
        uint64_t cpu = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID), now = rtl_mono_ns();
        if (now >= o->scan_at_ns && now >= o->scan_not_before_ns) {
            atomic_store(&o->unsearched, !rtl_observer_scan(o, NULL) || !rtl_queue_search_done(&o->search));
            uint64_t cost = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
            count_observers(&o->pace);
            if (!rtl_target_memory_exists(&o->memory, o->lists.head[0]))
                atomic_store(&o->gone, true);
            o->scan_not_before_ns = rtl_mono_ns() + rtl_pace_scan_ns(&o->pace, cost);
            o->scan_at_ns = rtl_mono_ns() + scan_pause(o);
            o->sought_ns += cost;
            if (rtl_observer_seeks(o))
                o->scan_not_before_ns = o->scan_at_ns = 0;
            cpu += cost;
        }
        pthread_mutex_lock(&o->lock);
        poll_all_queues(o);
        pthread_mutex_unlock(&o->lock);
        uint64_t used = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        /* The first poll sets it alone, bounded: an expensive first poll must not cause twenty long pauses. */
        double *cost_ns = &o->pace.cost_ns;
        *cost_ns = *cost_ns > 0 ? *cost_ns * 0.95 + (double)used * 0.05
                                : (double)(used < FIRST_COST_NS ? used : FIRST_COST_NS);
        sleep_until_stop(o, pause_of(o));
        __atomic_store_n(&o->cpu_ns, rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
    }
}

/* --- coming and going --- */

static enum rtl_reader_status explain_open(const struct rtl_process *p, int error, char *why, size_t why_bytes)
{
    char scope[8] = "";
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, scope, sizeof scope - 1) < 0)
        *scope = 0;
    if (fd >= 0)
        close(fd);
    if (error != EACCES && error != EPERM)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "process %d (%s): its memory can't be read: %s",
                           (int)p->pid, p->name, strerror(error));
    if (*scope >= '1' && geteuid() == p->euid && getegid() == p->egid)
        return rtl_explain(
            RTL_READER_PERMISSION, why, why_bytes,
            "process %d (%s) isn't traced, and this system lets nobody but root look into other processes "
            "(kernel.yama.ptrace_scope is %c): sudo rtl-top -p %d",
            (int)p->pid, p->name, *scope, (int)p->pid);
    return rtl_explain_permission(p, why, why_bytes);
}

/* Attach and poll once. On the thread, because all of this reads the target. */
static enum rtl_reader_status attach_target(struct rtl_observer *o)
{
    struct rtl_mappings mappings;
    struct rtl_process again;
    const struct rtl_process *p = &o->process;
    bool named = o->options.named;
    int error = rtl_target_memory_open(o->pid, &o->memory);
    if (error)
        return explain_open(p, -error, o->why, sizeof o->why);
    error = rtl_mappings_read(o->pid, &mappings);
    if (error)
        return explain_open(p, -error, o->why, sizeof o->why);
    if (!rtl_debug_lists_find(&o->memory, &mappings, &o->lists)) {
        rtl_mappings_free(&mappings);
        return RTL_READER_NOT_TRACED;
    }
    o->root = rtl_proc_open(o->pid, "root", O_PATH | O_DIRECTORY);
    o->seen.memory = &o->memory;
    o->seen.counts_only = o->options.past_library;
    o->seen.names = rtl_kernel_names_create();
    o->seen.users = calloc(RTL_SIGNAL_USERS, sizeof *o->seen.users);
    bool scanned = o->seen.names && o->seen.users && rtl_observer_scan(o, &mappings);
    rtl_mappings_free(&mappings);
    if (!scanned)
        return rtl_explain(RTL_READER_USAGE, o->why, sizeof o->why,
                           "process %d (%s) has just ended, or there is no memory", (int)o->pid, p->name);
    /* accept unnamed processes only with a queue (a forked child has its parent's kernels, but no queues), or if there
     * was no time to search all memory */
    if (!o->options.early && !o->options.past_library && rtl_observer_is_without(o) &&
        (!named || !o->seen.names->code_count))
        return rtl_explain(
            RTL_READER_NOT_TRACED, o->why, sizeof o->why,
            "process %d (%s) uses the GPU and is not traced: it has no queue and no kernel so far to be observed "
            "(--observe waits for them); to have it traced, start it with rtl-top run -- %s",
            (int)o->pid, p->name, p->name);
    atomic_store(&o->unsearched, !rtl_queue_search_done(&o->search));
    pthread_mutex_lock(&o->lock);
    poll_all_queues(o);
    pthread_mutex_unlock(&o->lock);
    if (rtl_process_read(o->pid, &again) != 0 || again.start_time != p->start_time)
        return rtl_explain(RTL_READER_NO_PROCESS, o->why, sizeof o->why, "process %d ended while it was being opened",
                           (int)o->pid);
    o->scan_at_ns = rtl_mono_ns() + SECOND;
    return RTL_READER_OK;
}

static void destroy_observer(struct rtl_observer *o)
{
    for (uint32_t i = 0; i < o->queue_count; i++)
        rtl_observed_queue_end(&o->seen, &o->queues[i]);
    if (o->has_last)
        rtl_snapshot_free(&o->last);
    rtl_observed_rows_free(&o->seen.rows);
    rtl_kernel_names_free(o->seen.names);
    free(o->seen.users);
    rtl_target_memory_close(&o->memory);
    if (o->root >= 0)
        close(o->root);
    if (o->pidfd >= 0)
        close(o->pidfd);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->state);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static void release_observer(struct rtl_observer *o)
{
    pthread_mutex_lock(&o->state);
    bool last = !--o->holders;
    pthread_mutex_unlock(&o->state);
    if (last)
        destroy_observer(o);
}

static void enter_phase(struct rtl_observer *o, int phase)
{
    pthread_mutex_lock(&o->state);
    o->phase = phase;
    if (phase == RTL_OBSERVER_ENDED && o->left)
        atomic_fetch_sub(&left_behind, 1);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->state);
}

static void *observer_thread(void *context)
{
    struct rtl_observer *o = context;
    o->status = attach_target(o);
    if (!o->status) {
        enter_phase(o, RTL_OBSERVER_OPEN);
        atomic_fetch_add(&scanners, 1);
        poll_queues(o);
        atomic_fetch_sub(&scanners, 1);
    }
    enter_phase(o, RTL_OBSERVER_ENDED);
    release_observer(o);
    return NULL;
}

/* Wait until the thread is beyond that phase; false after a timeout. */
static bool wait_beyond(struct rtl_observer *o, int phase, uint64_t ns)
{
    uint64_t until = rtl_mono_ns() + ns;
    struct timespec t = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    int error = 0;
    pthread_mutex_lock(&o->state);
    while ((int)o->phase <= phase && !error)
        error = pthread_cond_clockwait(&o->changed, &o->state, CLOCK_MONOTONIC, &t);
    bool beyond = (int)o->phase > phase;
    pthread_mutex_unlock(&o->state);
    return beyond;
}

static struct rtl_observer *create_observer(pid_t pid, const struct rtl_process *p,
                                            const struct rtl_observer_options *options)
{
    struct rtl_observer *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->pid = pid;
    o->process = *p;
    o->options = *options;
    snprintf(o->comm, sizeof o->comm, "%.*s", RTL_COMM_MAX, p->name);
    o->root = o->memory.fd = o->memory.pagemap = -1;
    o->pace.cpu = options->cpu > 0 ? options->cpu : RTL_OBSERVE_CPU;
    o->pace.past_library = options->past_library;
    o->random = (uint64_t)pid;
    o->start_mono_ns = rtl_mono_ns();
    o->start_real_ns = rtl_real_ns();
    pthread_mutex_init(&o->lock, NULL);
    pthread_mutex_init(&o->state, NULL);
    pthread_cond_init(&o->changed, NULL);
    o->pidfd = rtl_process_pidfd(p->tgid);
    return o;
}

enum rtl_reader_status rtl_observer_open(pid_t pid, const struct rtl_observer_options *options,
                                         struct rtl_observer **out, char *why, size_t why_bytes)
{
    struct rtl_process p;
    struct rtl_snapshot s;
    int error = rtl_process_read(pid, &p);
    *out = NULL;
    if (error)
        return rtl_explain_missing(pid, error, why, why_bytes);
    if (options->start_time && options->start_time != p.start_time)
        return rtl_explain(RTL_READER_NO_PROCESS, why, why_bytes, "process %d is another one by now", (int)pid);
    if (rtl_process_is_kernel_thread(&p) || rtl_process_is_zombie(&p))
        return RTL_READER_NOT_TRACED;
    if (atomic_load(&left_behind) >= LEFT_MAX)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "too many processes don't answer reads of their memory");
    struct rtl_observer *o = create_observer(pid, &p, options);
    if (!o)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    share_budget(o, !options->past_library);
    o->holders = 2;
    if (rtl_thread_start(observer_thread, o, 0) != 0) {
        share_budget(o, false);
        destroy_observer(o);
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "cannot start a thread");
    }
    *out = o;
    if (options->past_library)
        return RTL_READER_OK;
    enum rtl_reader_status status = RTL_READER_USAGE;
    if (!wait_beyond(o, RTL_OBSERVER_OPENING, options->named ? OPEN_NS : TRY_NS)) {
        rtl_explain(status, why, why_bytes, "process %d (%s): its memory doesn't answer: try again later", (int)pid,
                    p.name);
    } else {
        status = o->status;
        if (status && *o->why && why)
            snprintf(why, why_bytes, "%s", o->why);
    }
    if (status) {
        rtl_observer_close(o);
        *out = NULL;
        return status;
    }
    if (rtl_observer_snapshot(o, &s) == RTL_READER_OK) /* so that a last snapshot exists from the start */
        rtl_snapshot_free(&s);
    return RTL_READER_OK;
}

bool rtl_observer_may(pid_t pid)
{
    struct rtl_target_memory memory;
    bool may = rtl_target_memory_open(pid, &memory) == 0;
    rtl_target_memory_close(&memory);
    return may;
}

void rtl_observer_close(struct rtl_observer *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->state);
    atomic_store(&o->stop, true);
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->state);
    wait_beyond(o, RTL_OBSERVER_OPEN, END_NS);
    pthread_mutex_lock(&o->state);
    o->left = o->phase != RTL_OBSERVER_ENDED;
    if (o->left)
        atomic_fetch_add(&left_behind, 1);
    pthread_mutex_unlock(&o->state);
    share_budget(o, false);
    release_observer(o);
}

void rtl_observer_traced(struct rtl_observer *o, const struct rtl_snapshot *segment, uint64_t as_of_ns)
{
    struct rtl_traced_queues traced;
    rtl_traced_queues_of(segment, as_of_ns, &traced);
    pthread_mutex_lock(&o->state);
    o->traced = traced;
    pthread_mutex_unlock(&o->state);
}
