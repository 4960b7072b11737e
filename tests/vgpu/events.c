/*
 * events.c - KFD's events, which GPU interrupts set.
 *
 * The semantics are the driver's. Setting an event wakes every waiter; an auto-reset event stays set only if no thread
 * was waiting. An event's age counts how often it was set. A waiter passes the age that it last saw and does not sleep
 * if the age has changed, even if another waiter consumed the event.
 *
 * One mutex guards all events. The engine takes it to interrupt; no thread sleeps while it holds the mutex.
 */
#include "kfd_abi.h"
#include "vgpu.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A waiter's entry for one event, in the event's list while it waits. The waiter owns the memory. */
struct link {
    struct link *next, **prev;
    struct waiter *waiter;
    bool activated;
};

struct waiter {
    _Atomic int woken; /* futex: 0 while asleep; the waking thread writes it under lock */
    unsigned activated, n;
    bool all, failed;
};

struct event {
    bool used, auto_reset, signaled;
    uint32_t type;
    uint64_t age;
    int fault_gpu; /* memory events: the faulting GPU */
    uint64_t fault_va;
    struct link *waiters;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event events[VG_EVENT_LIMIT]; /* all under lock; id = index, 0 is unused */
static uint32_t next_free = 1;

static void wake(struct waiter *w)
{
    if (atomic_exchange(&w->woken, 1) == 0)
        syscall(SYS_futex, &w->woken, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void activate(struct event *e)
{
    for (struct link *l = e->waiters; l; l = l->next) {
        if (!l->activated) {
            l->activated = true;
            l->waiter->activated++;
        }
        if (!l->waiter->all || l->waiter->activated == l->waiter->n)
            wake(l->waiter);
    }
}

static void set_locked(struct event *e)
{
    e->signaled = !e->auto_reset || !e->waiters;
    e->age++;
    activate(e);
}

uint32_t vg_event_create(uint32_t type, bool auto_reset)
{
    pthread_mutex_lock(&lock);
    uint32_t id = 0;
    for (uint32_t i = 0; i < VG_EVENT_LIMIT - 1 && !id; i++) {
        uint32_t at = 1 + (next_free - 1 + i) % (VG_EVENT_LIMIT - 1);
        if (!events[at].used)
            id = at;
    }
    if (id) {
        events[id] = (struct event){.used = true, .auto_reset = auto_reset, .type = type, .age = 1};
        next_free = id % (VG_EVENT_LIMIT - 1) + 1;
    }
    pthread_mutex_unlock(&lock);
    return id;
}

static struct event *find_event(uint32_t id)
{
    return id && id < VG_EVENT_LIMIT && events[id].used ? &events[id] : NULL;
}

int vg_event_destroy(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find_event(id);
    if (e) {
        for (struct link *l = e->waiters, *next; l; l = next) {
            next = l->next;
            l->prev = NULL; /* the waiter must not unlink it */
            l->waiter->failed = true;
            wake(l->waiter);
        }
        e->used = false;
    }
    pthread_mutex_unlock(&lock);
    return e ? 0 : -EINVAL;
}

int vg_event_set(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find_event(id);
    if (e)
        set_locked(e);
    pthread_mutex_unlock(&lock);
    return e ? 0 : -EINVAL;
}

int vg_event_reset(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct event *e = find_event(id);
    if (e)
        e->signaled = false;
    pthread_mutex_unlock(&lock);
    return e ? 0 : -EINVAL;
}

void vg_event_fault(int gpu, uint64_t va)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 1; i < VG_EVENT_LIMIT; i++)
        if (events[i].used && events[i].type == VG_EVENT_MEMORY) {
            events[i].fault_gpu = gpu;
            events[i].fault_va = va;
            set_locked(&events[i]);
        }
    pthread_mutex_unlock(&lock);
}

/* Fill in what the driver reports for an event that ended the wait. */
static void report_event(struct kfd_event_data *entry, const struct event *e)
{
    if (e->type == VG_EVENT_MEMORY) {
        memset(&entry->fault, 0, sizeof entry->fault);
        entry->fault.not_present = 1;
        entry->fault.va = e->fault_va & ~4095ull;
        entry->fault.gpu_id = vg_gpu_id(e->fault_gpu);
    } else if (e->type == VG_EVENT_SIGNAL && entry->age) {
        entry->age = e->age;
    }
}

static bool sleep_until(struct waiter *w, const struct timespec *deadline)
{
    while (!atomic_load(&w->woken))
        if (syscall(SYS_futex, &w->woken, FUTEX_WAIT_BITSET_PRIVATE, 0, deadline, NULL, FUTEX_BITSET_MATCH_ANY) < 0 &&
            errno != EAGAIN)
            return errno == EINTR; /* true: a signal handler ran, the caller returns EINTR */
    return false;
}

int vg_event_wait(struct kfd_event_data *user, uint32_t n, bool all, uint32_t timeout_ms, uint32_t *result)
{
    struct link few[32], *links = n <= 32 ? few : calloc(n, sizeof *links);
    struct timespec deadline;
    int r = 0;
    if (!links)
        return -ENOMEM;
    memset(links, 0, n * sizeof *links);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += timeout_ms / 1000;
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        deadline.tv_sec++;
    }
    struct waiter w = {.n = n, .all = all};
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < n; i++) {
        struct kfd_event_data *entry = &user[i];
        if (!find_event(entry->event_id)) {
            pthread_mutex_unlock(&lock);
            r = -EINVAL;
            goto done;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        struct kfd_event_data *entry = &user[i];
        struct event *e = find_event(entry->event_id);
        links[i].waiter = &w;
        bool aged = e->type == VG_EVENT_SIGNAL && entry->age && entry->age != e->age;
        if (e->signaled || aged) {
            links[i].activated = true;
            w.activated++;
            if (e->auto_reset)
                e->signaled = false;
        }
    }
    bool ready = all ? w.activated == n : w.activated > 0;
    if (!ready && timeout_ms) {
        for (uint32_t i = 0; i < n; i++) {
            struct event *e = find_event(user[i].event_id);
            links[i].next = e->waiters;
            links[i].prev = &e->waiters;
            if (e->waiters)
                e->waiters->prev = &links[i].next;
            e->waiters = &links[i];
        }
        pthread_mutex_unlock(&lock);
        bool interrupted = sleep_until(&w, timeout_ms == UINT32_MAX ? NULL : &deadline);
        pthread_mutex_lock(&lock);
        for (uint32_t i = 0; i < n; i++)
            if (links[i].prev) {
                *links[i].prev = links[i].next;
                if (links[i].next)
                    links[i].next->prev = links[i].prev;
            }
        ready = all ? w.activated == n : w.activated > 0;
        if (interrupted && !ready && !w.failed)
            r = -EINTR;
    }
    *result = w.failed ? KFD_WAIT_FAIL : ready ? KFD_WAIT_COMPLETE : KFD_WAIT_TIMEOUT;
    for (uint32_t i = 0; i < n; i++) {
        struct kfd_event_data *entry = &user[i];
        const struct event *e = find_event(entry->event_id);
        if (links[i].activated && e)
            report_event(entry, e);
    }
    pthread_mutex_unlock(&lock);
done:
    if (links != few)
        free(links);
    return r;
}

void vg_events_reset_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(events, 0, sizeof events);
    next_free = 1;
}
