/* Takes snapshots of an observer's numbers. See observer.h. */
#include "base/clock.h"
#include "observe/observer_private.h"
#include "shm/gpu_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t WAIT_NS = 200000000, WAIT_LAST_NS = 2000000000; /* for the lock: the screen must not hang */

bool rtl_observer_alive(struct rtl_observer *o)
{
    return !atomic_load(&o->gone) && rtl_process_is_alive(o->pid, o->pidfd, o->process.start_time);
}

/* `here`: dispatches of the queue that has the slot now. */
static struct rtl_queue_snapshot snapshot_queue(const struct rtl_observer *o, uint32_t slot, uint64_t here)
{
    const struct rtl_observed_queue *q = &o->queues[slot];
    return (struct rtl_queue_snapshot){
        .slot = slot,
        .queue_id = q->found.id,
        .live = q->live,
        .size_packets = q->found.size,
        .dispatches = here,
        .dispatches_before = q->dispatches_before,
        .packets = q->dispatches + q->others,
        .depth = q->live && q->write_index > q->read_index ? q->write_index - q->read_index : 0,
        .generation = q->generation,
        .path = RTL_PATH_OBSERVED,
        .untimed[RTL_UNTIMED_OBSERVED] = here + q->dispatches_before,
    };
}

static bool copy_queues(const struct rtl_observer *o, struct rtl_snapshot *s)
{
    s->queues = calloc(o->queue_count ? o->queue_count : 1, sizeof *s->queues);
    if (!s->queues)
        return false;
    for (uint32_t i = 0; i < o->queue_count; i++) {
        const struct rtl_observed_queue *q = &o->queues[i];
        struct rtl_queue_snapshot *to = &s->queues[s->queue_count++];
        *to = snapshot_queue(o, i, q->dispatches);
        to->agent = to->gpu = q->gpu;
        to->injected = q->write_index - (q->first < q->write_index ? q->first : q->write_index);
        to->completed = to->injected > to->depth ? to->injected - to->depth : 0;
        to->path_reason = rtl_observed_queue_is_own(&o->seen, q) ? RTL_REASON_RUNTIMES_OWN : RTL_REASON_NOT_LOADED;
        to->untimed[RTL_UNTIMED_OBSERVED] -= q->timed;
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

/* The thread may hang in a page fault that the target controls, with the lock. The very last state is worth a longer
 * wait: nothing comes after it. */
bool rtl_observer_lock(struct rtl_observer *o)
{
    bool alive = rtl_observer_alive(o);
    if (o->hangs && alive) { /* don't delay each frame: only try, until the lock is free again */
        o->hangs = pthread_mutex_trylock(&o->lock) != 0;
        return !o->hangs;
    }
    uint64_t until = rtl_real_ns() + (alive ? WAIT_NS : WAIT_LAST_NS);
    struct timespec t = {.tv_sec = (time_t)(until / RTL_OBSERVER_SECOND),
                         .tv_nsec = (long)(until % RTL_OBSERVER_SECOND)};
    o->hangs = pthread_mutex_timedlock(&o->lock, &t) != 0;
    return !o->hangs;
}

static void keep_last(struct rtl_observer *o, const struct rtl_snapshot *s)
{
    if (o->has_last)
        rtl_snapshot_free(&o->last);
    o->has_last = rtl_snapshot_copy(s, &o->last);
}

/* Copy the last snapshot with its old heartbeat, which shows its age. */
static enum rtl_reader_status copy_last(const struct rtl_observer *o, struct rtl_snapshot *s)
{
    if (!o->has_last || !rtl_snapshot_copy(&o->last, s))
        return RTL_READER_USAGE;
    s->taken_mono_ns = rtl_mono_ns();
    return RTL_READER_OK;
}

enum rtl_reader_status rtl_observer_snapshot(struct rtl_observer *o, struct rtl_snapshot *s)
{
    memset(s, 0, sizeof *s);
    if (!rtl_observer_lock(o))
        return copy_last(o, s);
    enum rtl_convention convention = rtl_convention_judge(&o->seen.evidence);
    s->taken_mono_ns = rtl_mono_ns();
    s->pid = (uint64_t)o->process.innermost;
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
               (atomic_load(&o->unsearched) ? RTL_NOTE_MEMORY_UNSEARCHED : 0u) |
               (o->seen.names->full ? RTL_NOTE_KERNELS_FULL : 0u);
    bool ok = copy_queues(o, s) && copy_agents(o, convention, s) &&
              rtl_observed_rows_copy(&o->seen.rows, o->seen.names, convention, s);
    s->notes |= s->packets_lost ? RTL_NOTE_PACKETS_UNSEEN : 0u;
    pthread_mutex_unlock(&o->lock);
    if (ok) {
        keep_last(o, s);
        return RTL_READER_OK;
    }
    s->copies_count = 0;
    rtl_snapshot_free(s);
    return RTL_READER_USAGE;
}

/* --- beside a segment --- */

static void copy_past_queues(const struct rtl_observer *o, struct rtl_past_library *u)
{
    u->queue_count = 0;
    u->unnamed = o->unnamed_before;
    u->lost = o->lost_before;
    for (uint32_t i = 0; i < o->queue_count; i++) {
        const struct rtl_observed_queue *q = &o->queues[i];
        bool own = rtl_observed_queue_is_own(&o->seen, q);
        if (!q->dispatches_before && (own || !q->dispatches))
            continue;
        struct rtl_queue_snapshot *to = &u->queues[u->queue_count++];
        *to = snapshot_queue(o, i, own ? 0 : q->dispatches);
        to->agent = o->gpu_agent[q->gpu] - 1;
        to->live &= !own;
        to->path_reason = RTL_REASON_PAST_LIBRARY;
        u->unnamed += own ? 0 : q->unnamed;
        u->lost += q->counter.lost;
    }
}

static void copy_past_rows(const struct rtl_observer *o, struct rtl_past_library *u)
{
    const struct rtl_kernel_names *names = o->seen.names;
    uint32_t count = names->rows < o->seen.rows.count ? names->rows : o->seen.rows.count;
    u->other = count ? o->seen.rows.at[RTL_KERNEL_OTHER].calls : 0;
    for (uint32_t i = RTL_KERNEL_FIRST; i < count; i++) {
        uint32_t at = i - RTL_KERNEL_FIRST;
        if (rtl_kernel_names_is_own(names, i))
            continue;
        if (at >= RTL_PAST_ROWS) {
            u->other += o->seen.rows.at[i].calls;
            continue;
        }
        for (; u->row_count <= at; u->row_count++)
            u->rows[u->row_count] = (struct rtl_past_row){.traced = UINT32_MAX};
        u->rows[at].name = names->name[i];
        u->rows[at].length = names->length[i];
        u->rows[at].calls = o->seen.rows.at[i].calls;
        u->rows[at].last = o->seen.rows.at[i].last;
    }
}

bool rtl_observer_has_any(struct rtl_observer *o)
{
    return o && (o->past.queue_count || atomic_load(&o->shares));
}

bool rtl_observer_add(struct rtl_observer *o, struct rtl_snapshot *segment)
{
    pthread_mutex_lock(&o->state);
    bool open = o->phase == RTL_OBSERVER_OPEN;
    pthread_mutex_unlock(&o->state);
    if (open && rtl_observer_lock(o)) { /* otherwise keep the last numbers */
        copy_past_queues(o, &o->past);
        copy_past_rows(o, &o->past);
        pthread_mutex_unlock(&o->lock);
    }
    return rtl_past_library_add(&o->past, segment);
}
