/*
 * engine.c - the thread that plays the GPUs: it polls all queues, sleeps when nothing happens, and lets other threads
 * wait until it no longer uses memory or a queue that they remove.
 *
 * Doorbells are plain stores into shared memory, so the engine must poll them. On few cores one thread for all queues
 * does better than one thread a queue. It spins for a short while after the last activity, then sleeps until a doorbell
 * is rung (doorbell.c) or work that it has launched ends.
 */
#include "vgpu.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SPIN_TICKS      (50000 / VG_TICK_NS)     /* poll for 50 us after the last activity */
#define YIELD_TICKS     (5000 / VG_TICK_NS)      /* after this, yield between polls */
#define RELOAD_TICKS    (100000000 / VG_TICK_NS) /* between two looks at the script's file */
#define EXPECT_TICKS    (20000000 / VG_TICK_NS)
#define NAP_SLACK_TICKS (60000 / VG_TICK_NS) /* the host's wake-up latency */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* written under lock with release, read by the engine with acquire */
static struct vg_queue *_Atomic slots[VG_MAX_QUEUES];
static _Atomic unsigned slot_top;                      /* slots in use lie below; written under lock, only grows */
static bool doorbell_used[VG_MAX_GPUS][VG_MAX_QUEUES]; /* under lock */
static bool running;                                   /* under lock */
/* Odd inside a pass; written by the engine, read by vg_engine_quiesce. Both are seq_cst, like the stores to the address
 * space and the slots: either the engine sees the change or the quiescing thread sees the pass. */
static _Atomic uint64_t pass;
static _Atomic uint64_t flush_wanted; /* bumped by threads that end the process */
static _Atomic uint64_t flush_done;   /* written by the engine (release) */
static pthread_t engine_thread;
bool vg_engine_recheck;

static inline void relax(void)
{
    for (int i = 0; i < 16; i++)
        __builtin_ia32_pause();
}

static bool one_pass(uint64_t now, uint64_t *due)
{
    bool busy = false;
    vg_engine_recheck = false;
    atomic_fetch_add(&pass, 1);
    vg_mem_begin_pass();
    unsigned top = atomic_load_explicit(&slot_top, memory_order_acquire);
    for (unsigned i = 0; i < top; i++) {
        struct vg_queue *q = atomic_load(&slots[i]);
        if (!q || q->halted || atomic_load_explicit(&q->suspended, memory_order_relaxed))
            continue;
        busy |= q->sdma ? vg_sdma_step(q, now, due) : vg_aql_step(q, now, due);
    }
    atomic_fetch_add(&pass, 1);
    return busy;
}

static void *engine_main(void *arg)
{
    (void)arg;
    prctl(PR_SET_TIMERSLACK, 1);
    uint64_t active = vg_ns_to_ticks(vg_clock_ns()), flushed = active, expected = 0, reloaded = 0;
    for (;;) {
        uint64_t now = vg_ns_to_ticks(vg_clock_ns()), due = VG_NEVER;
        bool busy = one_pass(now, &due);
        if (vg_cfg.reload_script && now - reloaded > RELOAD_TICKS) {
            vg_script_reload();
            reloaded = now;
        }
        uint64_t wanted = atomic_load(&flush_wanted);
        if (now - flushed > 1000000 / VG_TICK_NS || wanted != atomic_load_explicit(&flush_done, memory_order_relaxed)) {
            vg_truth_flush();
            flushed = now;
            atomic_store(&flush_done, wanted);
        }
        if (busy) {
            active = now;
            expected = 0;
            vg_bell_active();
            continue;
        }
        if (due != VG_NEVER && due < now + NAP_SLACK_TICKS) {
            relax(); /* work ends soon: keep spinning */
        } else if (now - active < YIELD_TICKS) {
            relax();
        } else if (now - active < SPIN_TICKS) {
            sched_yield();
        } else {
            vg_truth_flush();
            flushed = now;
            bool armed = now >= expected && vg_bell_arm();
            if (armed) { /* doorbells rung before the pages were protected */
                due = VG_NEVER;
                now = vg_ns_to_ticks(vg_clock_ns());
                busy = one_pass(now, &due);
            }
            bool nap = vg_engine_recheck;
            if (!busy && (due == VG_NEVER || due > now + NAP_SLACK_TICKS))
                vg_bell_wait(armed, nap, due == VG_NEVER ? VG_NEVER : (due - now - NAP_SLACK_TICKS) * VG_TICK_NS);
            if (vg_bell_disarm(armed)) {
                /* A thread was stopped at its store; on a busy host much time may pass before it runs again. Until the
                 * engine has seen its doorbell it protects no page: repeated faults could keep the thread from ever
                 * storing. */
                active = vg_ns_to_ticks(vg_clock_ns());
                expected = active + EXPECT_TICKS;
                vg_bell_active();
            }
        }
    }
    return NULL;
}

/* The engine's thread blocks all signals, so that it never runs a handler of the application. */
static int start_locked(void)
{
    if (running)
        return 0;
    char err[512];
    if (!vg_truth_open(vg_cfg.truth, vg_cfg.copy_truth, vg_cfg.waves, err, sizeof err))
        vg_log("%s", err);
    vg_bell_open();
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&engine_thread, NULL, engine_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r)
        return -r;
    pthread_setname_np(engine_thread, "vgpu-engine");
    pthread_detach(engine_thread);
    running = true;
    return 0;
}

int vg_queue_create(struct vg_queue *q)
{
    q->ring = vg_mem_host(q->ring_va, q->ring_size);
    if (!q->ring) {
        vg_log("CREATE_QUEUE: ring 0x%llx (%llu bytes) isn't GPU memory", (unsigned long long)q->ring_va,
               (unsigned long long)q->ring_size);
        return -EINVAL;
    }
    if (!q->ring_size || q->ring_size & (q->ring_size - 1)) {
        vg_log("CREATE_QUEUE: ring size %llu isn't a power of two", (unsigned long long)q->ring_size);
        return -EINVAL;
    }
    if (!q->sdma)
        q->amd = (volatile void *)((volatile char *)q->rptr - offsetof(amd_queue_t, read_dispatch_id));
    pthread_mutex_lock(&lock);
    int r = start_locked();
    unsigned bell = 0, slot = 0, top = atomic_load(&slot_top);
    while (bell < VG_MAX_QUEUES && doorbell_used[q->gpu][bell])
        bell++;
    while (slot < VG_MAX_QUEUES && atomic_load(&slots[slot]))
        slot++;
    if (!r && (bell == VG_MAX_QUEUES || slot == VG_MAX_QUEUES))
        r = -ENOSPC;
    if (!r) {
        doorbell_used[q->gpu][bell] = true;
        q->doorbell_slot = bell;
        q->doorbell = vg_doorbell(q->gpu, bell);
        *q->doorbell = VG_NEVER;
        q->last_doorbell = VG_NEVER;
        q->id = slot + 1;
        if (q->sdma)
            q->rd = *q->rptr;
        atomic_store(&slots[slot], q);
        if (slot >= top)
            atomic_store_explicit(&slot_top, slot + 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    vg_bell_kick();
    return r;
}

static struct vg_queue *by_id(uint32_t id)
{
    return id && id <= VG_MAX_QUEUES ? atomic_load(&slots[id - 1]) : NULL;
}

struct vg_queue *vg_queue_remove(uint32_t id)
{
    pthread_mutex_lock(&lock);
    struct vg_queue *q = by_id(id);
    if (q)
        atomic_store(&slots[id - 1], NULL);
    pthread_mutex_unlock(&lock);
    if (!q)
        return NULL;
    vg_engine_quiesce();
    pthread_mutex_lock(&lock);
    doorbell_used[q->gpu][q->doorbell_slot] = false;
    pthread_mutex_unlock(&lock);
    return q;
}

int vg_queue_suspend(uint32_t id, bool suspended)
{
    pthread_mutex_lock(&lock);
    struct vg_queue *q = by_id(id);
    if (q)
        atomic_store_explicit(&q->suspended, suspended, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (!q)
        return -EINVAL;
    vg_engine_quiesce();
    vg_bell_kick();
    return 0;
}

void vg_engine_quiesce(void)
{
    uint64_t seen = atomic_load(&pass);
    if (!(seen & 1))
        return;
    /* A pass that executes a kernel may take long. */
    for (unsigned tries = 0; atomic_load(&pass) == seen; tries++) {
        struct timespec t = {0, 50000};
        if (tries < 10000)
            sched_yield();
        else
            nanosleep(&t, NULL);
    }
}

void vg_engine_flush(void)
{
    if (!vg_truth_on() && !vg_truth_of_copies() && !vg_truth_of_waves())
        return;
    uint64_t mine = atomic_fetch_add(&flush_wanted, 1) + 1;
    vg_bell_kick();
    /* Bounded wait: the engine may not exist (a child after vfork), or the disk may hang. */
    for (int i = 0; i < 2000 && atomic_load(&flush_done) < mine; i++) {
        struct timespec t = {0, 100000};
        nanosleep(&t, NULL);
    }
}

void vg_engine_lock(void)
{
    pthread_mutex_lock(&lock);
}

void vg_engine_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void vg_engine_reset_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    for (unsigned i = 0; i < VG_MAX_QUEUES; i++)
        atomic_store_explicit(&slots[i], NULL, memory_order_relaxed);
    atomic_store(&slot_top, 0);
    atomic_store(&pass, 0);
    memset(doorbell_used, 0, sizeof doorbell_used);
    running = false;
    vg_truth_close();
}
