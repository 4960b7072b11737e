/* The observer and its thread. See observer.h. */
#include "observe/observer.h"
#include "base/clock.h"
#include "observe/debug_list.h"
#include "observe/observed_queue.h"
#include "shm/gpu_names.h"
#include "shm/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { QUEUES_MAX = RTL_QUEUES_MAX };
static const uint64_t SECOND = 1000000000;
static const uint64_t BUSY_NS = 500000, IDLE_NS = 2000000, LEAST_NS = 50000; /* between two looks */
static const uint64_t LONGEST_NS = 4000000000; /* and a quarter more, whatever the budget says: somebody watches */
static const uint64_t FIRST_COST_NS = 1000000;
static const uint64_t WAIT_NS = 200000000, WAIT_LAST_NS = 2000000000; /* for the lock: who draws must not hang */
static const uint64_t FIND_NS = 1000000000;                           /* how long queues are looked for at once */
static const uint64_t STOP_NS = 5000000;                              /* how soon the thread ends when it is asked */
enum { SCAN_SHARE = 4, RING_LOOKS = 8 }; /* of the budget: a part in so many; looks while a ring fills */

static atomic_uint observers; /* they share the budget */

struct rtl_observer {
    /* set when it is opened */
    pid_t pid;
    uint64_t pid_inside, start_time, start_mono_ns, start_real_ns;
    char comm[RTL_COMM_MAX + 1];
    struct rtl_target_memory memory;
    int root, pidfd;
    uint64_t head; /* of the list of code objects */
    double cpu;
    pthread_t thread;
    bool running;
    atomic_bool stop;
    atomic_bool gone; /* the program whose memory it was */

    /* under `lock`: the thread's, but for snapshots */
    pthread_mutex_t lock;
    struct rtl_observed seen;
    struct rtl_observed_queue queues[QUEUES_MAX];
    uint32_t queue_count; /* slots used so far */
    uint32_t refused_room, refused_device;
    uint64_t gpu_key[RTL_AGENTS_MAX]; /* where its doorbells are */
    uint32_t gpu_count;
    uint64_t looks, looked_ns;
    uint64_t lost_before; /* packets of queues that are gone */

    /* the thread's */
    uint64_t scan_at_ns, cpu_start_ns, cpu_ns;
    uint64_t scan_not_before_ns; /* what the last scan cost has to be made up for, whatever asks for the next one */
    double cost_ns;              /* CPU of a look, smoothed */
    double rate;                 /* of the ring that fills fastest, rings a second */
    uint64_t random;

    /* whose the snapshots are */
    struct rtl_snapshot last; /* what is shown while the thread can't be had */
    bool has_last;
};

/* --- queues and code objects: what comes and goes --- */

/* GPUs are told apart by where their doorbells are; numbered in the order of the driver's offsets, as far as they are
 * known when it begins. */
static uint64_t gpu_key_of(const struct rtl_mappings *mappings, const struct rtl_found_queue *q)
{
    const struct rtl_mapping *m = rtl_mapping_of(mappings, q->doorbell);
    return m ? m->offset ? m->offset : m->from : 0;
}

static uint32_t gpu_of(struct rtl_observer *o, uint64_t key)
{
    for (uint32_t i = 0; i < o->gpu_count; i++)
        if (o->gpu_key[i] == key)
            return i;
    if (o->gpu_count == RTL_AGENTS_MAX)
        return RTL_AGENTS_MAX - 1;
    o->gpu_key[o->gpu_count] = key;
    return o->gpu_count++;
}

static void end_queue(struct rtl_observer *o, struct rtl_observed_queue *q)
{
    o->lost_before += q->counter.lost;
    q->counter.lost = 0;
    rtl_observed_queue_end(&o->seen, q);
}

static struct rtl_observed_queue *slot_for(struct rtl_observer *o)
{
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (!o->queues[i].live)
            return &o->queues[i];
    return o->queue_count < QUEUES_MAX - 1 ? &o->queues[o->queue_count++] : NULL; /* the last one is the shared one's */
}

static void take_queue(struct rtl_observer *o, const struct rtl_mappings *mappings, const struct rtl_found_queue *f,
                       bool whole)
{
    struct rtl_queue_head head;
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (o->queues[i].live && o->queues[i].found.at == f->at)
            return;
    if (!rtl_target_read(&o->memory, f->at, &head, sizeof head))
        return;
    struct rtl_observed_queue *q = slot_for(o);
    if (!q) {
        o->refused_room++;
        return;
    }
    if (!rtl_observed_queue_begin(q, f, &head, whole)) {
        rtl_observed_queue_end(&o->seen, q);
        return;
    }
    q->gpu = gpu_of(o, gpu_key_of(mappings, f));
}

static void read_names(struct rtl_observer *o)
{
    rtl_kernel_names_read(o->seen.names, &o->memory, o->head, o->root);
    rtl_observed_rows_grow(&o->seen.rows, rtl_kernel_names_count(o->seen.names));
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Everything that can have come. The lock is held for the taking only: reading may take a while. */
static bool scan(struct rtl_observer *o, bool first)
{
    struct rtl_found_queue *found = calloc(QUEUES_MAX, sizeof *found);
    struct rtl_mappings mappings;
    if (!found || rtl_mappings_read(o->pid, &mappings) != 0) {
        free(found);
        return false;
    }
    uint32_t count = rtl_queues_find(&o->memory, &mappings, found, QUEUES_MAX, FIND_NS);
    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; first && i < count; i++)
        gpu_of(o, gpu_key_of(&mappings, &found[i]));
    if (first)
        qsort(o->gpu_key, o->gpu_count, sizeof *o->gpu_key, by_key);
    o->refused_room = o->refused_device = 0;
    for (uint32_t i = 0; i < count; i++)
        if (found[i].device_ring)
            o->refused_device++;
        else
            take_queue(o, &mappings, &found[i], !first);
    read_names(o);
    pthread_mutex_unlock(&o->lock);
    rtl_mappings_free(&mappings);
    free(found);
    return true;
}

/* --- looking --- */

static void share_busy(struct rtl_observed *s, uint64_t ns)
{
    for (int g = 0; g < RTL_AGENTS_MAX; g++) {
        s->early_busy_ns[g] += s->early_busy[g] ? ns : 0;
        s->late_busy_ns[g] += s->late_busy[g] ? ns : 0;
        s->early_busy[g] = s->late_busy[g] = false;
    }
}

/* One look at all queues, under the lock. */
static void look(struct rtl_observer *o)
{
    struct rtl_queue_head heads[QUEUES_MAX];
    struct rtl_target_piece pieces[QUEUES_MAX];
    uint32_t number[QUEUES_MAX], n = 0;
    double fastest = 0;
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (o->queues[i].live) {
            pieces[n] = (struct rtl_target_piece){o->queues[i].found.at, &heads[n], sizeof heads[n], false};
            number[n++] = i;
        }
    rtl_target_read_pieces(&o->memory, pieces, n);
    uint64_t now = rtl_mono_ns(), since = o->looked_ns ? now - o->looked_ns : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct rtl_observed_queue *q = &o->queues[number[i]];
        uint64_t before = q->counter.next;
        bool there = pieces[i].ok && rtl_observed_queue_look(&o->seen, q, &heads[i], now);
        if (there && o->seen.unknown) { /* a code object may have come; if not, the kernel has no name */
            read_names(o);
            if (!rtl_kernel_names_known(o->seen.names, o->seen.unknown))
                rtl_kernel_names_nameless(o->seen.names, o->seen.unknown);
            o->seen.unknown = 0;
            there = rtl_observed_queue_look(&o->seen, q, &heads[i], now);
        }
        if (!there) {
            end_queue(o, q);
            o->scan_at_ns = now; /* another one may be in its place */
        } else if (since) {
            double rings = (double)(q->counter.next - before) / q->found.size * 1e9 / (double)since;
            fastest = rings > fastest ? rings : fastest;
        }
    }
    share_busy(&o->seen, since < SECOND / 10 ? since : 0);
    o->rate = fastest > o->rate ? fastest : o->rate * 0.99 + fastest * 0.01;
    o->looks++;
    o->looked_ns = now;
}

/* How long to sleep: as short as the rings ask for, as long as the budget does. */
static uint64_t pause_of(struct rtl_observer *o)
{
    unsigned sharing = atomic_load_explicit(&observers, memory_order_relaxed);
    double budget = o->cpu / (sharing ? sharing : 1) * (SCAN_SHARE - 1) / SCAN_SHARE;
    double wanted = o->rate > 1e-3 ? 1e9 / o->rate / RING_LOOKS : (double)IDLE_NS, least = o->cost_ns / budget;
    if (o->rate > 1e-3 && wanted > (double)BUSY_NS)
        wanted = (double)BUSY_NS;
    if (wanted < (double)LEAST_NS)
        wanted = (double)LEAST_NS;
    if (wanted < least)
        wanted = least;
    if (wanted > (double)LONGEST_NS)
        wanted = (double)LONGEST_NS;
    /* never in step with what is looked at */
    o->random = o->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint64_t)(wanted * (0.75 + 0.5 * (double)(o->random >> 40) / (double)(1 << 24)));
}

static void nap(struct rtl_observer *o, uint64_t ns)
{
    while (ns && !atomic_load_explicit(&o->stop, memory_order_relaxed)) {
        uint64_t part = ns < STOP_NS ? ns : STOP_NS;
        nanosleep(&(struct timespec){.tv_nsec = (long)part}, NULL);
        ns -= part;
    }
}

static void *poll_queues(void *context)
{
    struct rtl_observer *o = context;
    prctl(PR_SET_TIMERSLACK, 1ul);
    while (!atomic_load_explicit(&o->stop, memory_order_relaxed)) {
        uint64_t cpu = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID), now = rtl_mono_ns();
        if (now >= o->scan_at_ns && now >= o->scan_not_before_ns) {
            bool there = scan(o, false) && rtl_target_memory_there(&o->memory, o->head);
            uint64_t cost = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu,
                     pause = (uint64_t)((double)cost / o->cpu * SCAN_SHARE);
            if (!there)
                atomic_store(&o->gone, true);
            o->scan_not_before_ns = rtl_mono_ns() + pause;
            o->scan_at_ns = rtl_mono_ns() + SECOND;
            cpu += cost;
        }
        pthread_mutex_lock(&o->lock);
        look(o);
        pthread_mutex_unlock(&o->lock);
        uint64_t used = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        /* The first one sets it alone: if that was dear, it isn't made up for twenty times. */
        o->cost_ns = o->cost_ns > 0 ? o->cost_ns * 0.95 + (double)used * 0.05
                                    : (double)(used < FIRST_COST_NS ? used : FIRST_COST_NS);
        nap(o, pause_of(o));
        __atomic_store_n(&o->cpu_ns, rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
    }
    return NULL;
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

static void start_times(struct rtl_observer *o)
{
    o->start_mono_ns = rtl_mono_ns();
    o->start_real_ns = rtl_real_ns();
}

/* Everything of it but its thread. */
static enum rtl_reader_status attach(struct rtl_observer *o, const struct rtl_process *p,
                                     const struct rtl_observer_options *options, char *why, size_t why_bytes)
{
    char path[64];
    uint32_t unread;
    struct rtl_mappings mappings;
    int error = rtl_target_memory_open(o->pid, &o->memory);
    if (error)
        return explain_open(p, -error, why, why_bytes);
    error = rtl_mappings_read(o->pid, &mappings);
    if (error)
        return explain_open(p, -error, why, why_bytes);
    o->head = rtl_debug_list_find(&o->memory, &mappings);
    rtl_mappings_free(&mappings);
    if (!o->head)
        return RTL_READER_NOT_TRACED;
    snprintf(path, sizeof path, "/proc/%d/root", (int)o->pid);
    o->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    o->seen.memory = &o->memory;
    o->seen.names = rtl_kernel_names_create();
    o->seen.users = calloc(RTL_SIGNAL_USERS, sizeof *o->seen.users);
    if (!o->seen.names || !o->seen.users || !scan(o, true))
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "process %d (%s) has just ended, or there is no memory",
                           (int)o->pid, p->name);
    /* of those that nobody named only who has a queue: a forked child has its parent's kernels, and none of its queues
     */
    if (!options->early && !o->queue_count && (!why || !rtl_kernel_names_objects(o->seen.names, &unread)))
        return rtl_explain(
            RTL_READER_NOT_TRACED, why, why_bytes,
            "process %d (%s) uses the GPU and is not traced: it has no queue and no kernel so far to be observed "
            "(--observe waits for them); to have it traced, start it with rtl-top run -- %s",
            (int)o->pid, p->name, p->name);
    pthread_mutex_lock(&o->lock);
    look(o);
    pthread_mutex_unlock(&o->lock);
    return RTL_READER_OK;
}

enum rtl_reader_status rtl_observer_open(pid_t pid, const struct rtl_observer_options *options,
                                         struct rtl_observer **out, char *why, size_t why_bytes)
{
    struct rtl_process p, again;
    int error = rtl_process_read(pid, &p);
    *out = NULL;
    if (error)
        return rtl_explain_missing(pid, error, why, why_bytes);
    if (rtl_process_is_kernel_thread(&p) || rtl_process_is_zombie(&p))
        return RTL_READER_NOT_TRACED;
    struct rtl_observer *o = calloc(1, sizeof *o);
    if (!o)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    o->pid = pid;
    o->pid_inside = (uint64_t)p.innermost;
    o->start_time = p.start_time;
    snprintf(o->comm, sizeof o->comm, "%.*s", RTL_COMM_MAX, p.name);
    o->root = o->pidfd = o->memory.fd = o->memory.pagemap = -1;
    o->cpu = options->cpu > 0 ? options->cpu : RTL_OBSERVE_CPU;
    o->random = (uint64_t)pid;
    start_times(o);
    pthread_mutex_init(&o->lock, NULL);
    atomic_fetch_add(&observers, 1);
#ifdef SYS_pidfd_open
    o->pidfd = (int)syscall(SYS_pidfd_open, p.tgid, 0);
#endif
    enum rtl_reader_status status = attach(o, &p, options, why, why_bytes);
    if (!status && (rtl_process_read(pid, &again) != 0 || again.start_time != p.start_time))
        status =
            rtl_explain(RTL_READER_NO_PROCESS, why, why_bytes, "process %d ended while it was being opened", (int)pid);
    struct rtl_snapshot s;
    if (!status && rtl_observer_snapshot(o, &s) == RTL_READER_OK) /* so that there is a last one from the start */
        rtl_snapshot_free(&s);
    if (!status) {
        o->scan_at_ns = rtl_mono_ns() + SECOND;
        sigset_t all, before; /* signals are for the thread that draws */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        o->running = pthread_create(&o->thread, NULL, poll_queues, o) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!o->running)
            status = rtl_explain(RTL_READER_USAGE, why, why_bytes, "cannot start a thread");
    }
    if (status) {
        rtl_observer_close(o);
        return status;
    }
    *out = o;
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
    atomic_store(&o->stop, true);
    if (o->running)
        pthread_join(o->thread, NULL);
    atomic_fetch_sub(&observers, 1);
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
    pthread_mutex_destroy(&o->lock);
    free(o);
}

bool rtl_observer_alive(struct rtl_observer *o)
{
    struct rtl_process p;
    struct pollfd wait = {.fd = o->pidfd, .events = POLLIN};
    if (atomic_load(&o->gone))
        return false;
    if (o->pidfd >= 0)
        return poll(&wait, 1, 0) <= 0;
    return rtl_process_read(o->pid, &p) == 0 && p.start_time == o->start_time && !rtl_process_is_zombie(&p);
}

/* --- snapshots --- */

static bool copy_queues(const struct rtl_observer *o, struct rtl_snapshot *s)
{
    s->queues = calloc(o->queue_count ? o->queue_count : 1, sizeof *s->queues);
    if (!s->queues)
        return false;
    for (uint32_t i = 0; i < o->queue_count; i++) {
        const struct rtl_observed_queue *q = &o->queues[i];
        struct rtl_queue_snapshot *to = &s->queues[s->queue_count++];
        to->slot = i;
        to->agent = to->gpu = q->gpu;
        to->queue_id = q->found.id;
        to->live = q->live;
        to->size_packets = q->found.size;
        to->dispatches = q->dispatches;
        to->dispatches_before = q->dispatches_before;
        to->packets = q->dispatches + q->others;
        to->injected = q->write_index - (q->first < q->write_index ? q->first : q->write_index);
        to->depth = q->live && q->write_index > q->read_index ? q->write_index - q->read_index : 0;
        to->completed = to->injected > to->depth ? to->injected - to->depth : 0;
        to->generation = q->generation;
        to->way = RTL_WAY_OBSERVED;
        to->way_why = RTL_WHY_NOT_LOADED;
        to->untimed[RTL_UNTIMED_OBSERVED] = q->dispatches_before + q->dispatches - q->timed;
        s->untimed[RTL_UNTIMED_OBSERVED] += to->untimed[RTL_UNTIMED_OBSERVED];
        s->untimed_total += to->untimed[RTL_UNTIMED_OBSERVED];
        s->counted += q->dispatches + q->dispatches_before;
        s->packets_lost += q->counter.lost;
    }
    return true;
}

static bool copy_agents(const struct rtl_observer *o, enum rtl_convention convention, struct rtl_snapshot *s)
{
    s->agents = calloc(o->gpu_count ? o->gpu_count : 1, sizeof *s->agents);
    if (!s->agents)
        return false;
    for (uint32_t g = 0; g < o->gpu_count; g++) {
        struct rtl_agent_snapshot *to = &s->agents[s->agent_count++];
        to->gpu = to->agent = g;
        to->bdf = RTL_NO_BDF;
        snprintf(to->name, sizeof to->name, "GPU");
        to->tick_hz = o->seen.clock[g].hz;
        to->busy_ns = convention == RTL_CONVENTION_LATE    ? o->seen.late_busy_ns[g]
                      : convention == RTL_CONVENTION_EARLY ? o->seen.early_busy_ns[g]
                                                           : 0;
    }
    return true;
}

/* The thread may hang in a page fault of the target's making, with the lock. The last state of all is worth waiting for
 * longer: nothing comes after it. */
static bool lock_for_snapshot(struct rtl_observer *o)
{
    uint64_t until = rtl_real_ns() + (rtl_observer_alive(o) ? WAIT_NS : WAIT_LAST_NS);
    struct timespec t = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    return pthread_mutex_timedlock(&o->lock, &t) == 0;
}

static void keep(struct rtl_observer *o, const struct rtl_snapshot *s)
{
    if (o->has_last)
        rtl_snapshot_free(&o->last);
    o->has_last = rtl_snapshot_copy(s, &o->last);
}

/* As it was, its heartbeat included: that shows how old it is. */
static enum rtl_reader_status give_last(const struct rtl_observer *o, struct rtl_snapshot *s)
{
    if (!o->has_last || !rtl_snapshot_copy(&o->last, s))
        return RTL_READER_USAGE;
    s->taken_mono_ns = rtl_mono_ns();
    return RTL_READER_OK;
}

enum rtl_reader_status rtl_observer_snapshot(struct rtl_observer *o, struct rtl_snapshot *s)
{
    memset(s, 0, sizeof *s);
    if (!lock_for_snapshot(o))
        return give_last(o, s);
    enum rtl_convention convention = rtl_convention_judge(&o->seen.evidence);
    s->taken_mono_ns = rtl_mono_ns();
    s->pid = o->pid_inside;
    memcpy(s->comm, o->comm, sizeof s->comm);
    s->mode = s->mode_started = RTL_MODE_OBSERVED;
    s->state = RTL_STATE_LIVE;
    s->start_mono_ns = o->start_mono_ns;
    s->start_real_ns = o->start_real_ns;
    s->heartbeat_mono_ns = o->looked_ns;
    s->passes = o->looks;
    s->worker_cpu_ns = __atomic_load_n(&o->cpu_ns, __ATOMIC_RELAXED);
    s->convention = convention;
    s->packets_lost = o->lost_before;
    s->queues_refused = o->refused_room + o->refused_device;
    s->notes = (o->refused_device ? RTL_NOTE_RING_ON_DEVICE : 0u) |
               (rtl_kernel_names_full(o->seen.names) ? RTL_NOTE_KERNELS_FULL : 0u);
    bool ok = copy_queues(o, s) && copy_agents(o, convention, s) &&
              rtl_observed_rows_copy(&o->seen.rows, o->seen.names, convention, s);
    s->notes |= s->packets_lost ? RTL_NOTE_PACKETS_UNSEEN : 0u;
    pthread_mutex_unlock(&o->lock);
    if (ok) {
        keep(o, s);
        return RTL_READER_OK;
    }
    s->copies_count = 0;
    rtl_snapshot_free(s);
    return RTL_READER_USAGE;
}
