/*
 * aql.c - the packet processor of an AQL queue, in simulated time.
 *
 * A packet is looked at once its doorbell was rung and its header isn't INVALID. Kernels with the barrier bit start at
 * the end of everything launched before; without it they start as soon as the packet processor gets to them, and run
 * beside the others. start = max(packet processor free, packet seen, [all before ended]), end = start + duration, all
 * in agent ticks; a kernel is launched when real time reaches its start and completes when real time has passed its
 * end, so a late host thread delays what the application sees and changes no duration. A slot is given back (header
 * INVALID, read index) before the application can see that its packet completed: when it has been launched, or
 * (--read-index late) when it has ended, and all before it.
 */
#include "vgpu.h"

#include <string.h>

#define AQL_BYTES                64
#define HEADER_TYPE(h)           ((h)&0xff)
#define HEADER_BARRIER(h)        ((h) >> HSA_PACKET_HEADER_BARRIER & 1)
#define AMD_FORMAT_PM4_IB        1
#define AMD_FORMAT_BARRIER_VALUE 2

union packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t dispatch;
    hsa_barrier_and_packet_t barrier;
    struct {
        uint16_t header;
        uint8_t format, reserved0;
        uint32_t reserved1;
        hsa_signal_t signal;
        int64_t value, mask;
        uint32_t condition, reserved2;
        uint64_t reserved3, reserved4;
        hsa_signal_t completion_signal;
    } value; /* AMD's barrier-value */
};
_Static_assert(sizeof(union packet) == AQL_BYTES, "AQL packet");

void vg_signal_complete(uint64_t va, uint64_t start, uint64_t end, bool profile)
{
    volatile amd_signal_t *s = vg_xlate(va, sizeof *s);
    if (!s) {
        vg_say("completion signal 0x%llx isn't GPU memory (freed too early?): not signalled", (unsigned long long)va);
        return;
    }
    if (profile) {
        s->start_ts = start + (uint64_t)vg_cfg.shift_ticks;
        s->end_ts = end + (uint64_t)vg_cfg.shift_ticks;
    }
    vg_signal_time_set(va, end);
    /* the timestamps before the value, as the application reads them after it */
    uint64_t mailbox = s->event_mailbox_ptr;
    uint32_t event = s->event_id;
    __atomic_fetch_sub(&s->value, 1, __ATOMIC_RELEASE);
    /* from here on the application may reuse or free the signal */
    if (mailbox) {
        volatile uint64_t *m = vg_xlate(mailbox, 8);
        if (m)
            *m = event;
        vg_event_set(event);
    }
}

/* The queue stands still and the runtime is told why: with exceptions in the payload that the save area's header points
 * to, one bit a reason; otherwise in the queue's inactive signal, as the packet processor's firmware does. */
void vg_queue_halt(struct vg_queue *q, enum vg_error error)
{
    static const struct {
        int64_t inactive, exception;
    } codes[] = {
        [VG_ERROR_CODE] = {8, 1 << 17},
        [VG_ERROR_PACKET] = {32, 1 << 19},
        [VG_ERROR_VENDOR_PACKET] = {256, 1 << 22},
    };
    struct {
        uint32_t offsets[6];
        uint64_t reason;
        uint32_t event;
    } save;
    q->halted = true;
    if (q->save_area && vg_safe_read(&save, q->save_area, sizeof save) && save.reason) {
        volatile int64_t *reason = vg_xlate(save.reason, sizeof *reason);
        if (reason)
            __atomic_fetch_or(reason, codes[error].exception, __ATOMIC_RELEASE);
        vg_event_set(save.event);
        return;
    }
    volatile amd_signal_t *s = q->amd ? vg_xlate(q->amd->queue_inactive_signal.handle, sizeof *s) : NULL;
    if (!s)
        return;
    uint64_t mailbox = s->event_mailbox_ptr;
    uint32_t event = s->event_id;
    __atomic_store_n(&s->value, codes[error].inactive, __ATOMIC_RELEASE);
    if (mailbox)
        vg_event_set(event);
}

/* What was launched is over: its slot, and the index as far as there are such. A slot that isn't given back can't be
 * written by the application, so that its header is the engine's note of what has ended. */
static void give_back(struct vg_queue *q, uint64_t index)
{
    union packet *ring = (void *)q->ring;
    uint64_t mask = q->ring_size / AQL_BYTES - 1, first = q->given_back;
    __atomic_store_n(&ring[index & mask].header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    while (q->given_back < q->rd && HEADER_TYPE(ring[q->given_back & mask].header) == HSA_PACKET_TYPE_INVALID)
        q->given_back++;
    if (q->given_back != first)
        __atomic_store_n(q->rptr, q->given_back, __ATOMIC_RELEASE);
}

/* Completes what has ended by now. Who sees a kernel's signal may take it that its slot, and all before it, are free:
 * so the read index first. (Late, all before it are only where kernels don't overtake one another.) */
static bool retire(struct vg_queue *q, uint64_t now)
{
    bool any = false;
    if (!vg_cfg.read_index_late && q->flight.n && q->flight.at[0].end <= now && *q->rptr != q->rd)
        __atomic_store_n(q->rptr, q->rd, __ATOMIC_RELEASE);
    while (q->flight.n && q->flight.at[0].end <= now) {
        struct vg_flight f = vg_heap_pop(&q->flight);
        any = true;
        if (vg_cfg.read_index_late)
            give_back(q, f.index);
        /* first the truth: whoever sees the signal may ask for it */
        if (f.kernel && vg_truth_on())
            vg_truth_write(q->gpu, q->truth_id, f.index, f.start, f.end, f.signal != 0, f.kernel->name,
                           f.kernel->name_len);
        if (f.kernel)
            vg_kernel_done(f.kernel);
        if (f.signal)
            vg_signal_complete(f.signal, f.start, f.end, f.profile);
    }
    return any;
}

enum step { LAUNCHED, NOT_YET, WAITS_FOR_SIGNAL, STOPPED };

static bool profiling(const struct vg_queue *q)
{
    return q->amd->queue_properties & AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
}

static enum step wait_for(struct vg_queue *q, uint64_t start)
{
    if (!q->blocked_since)
        q->blocked_since = start ? start : 1;
    return WAITS_FOR_SIGNAL;
}

static enum step launch_kernel(struct vg_queue *q, const union packet *p, uint64_t start, uint64_t now)
{
    const hsa_kernel_dispatch_packet_t *d = &p->dispatch;
    uint64_t bytes = 0, bad;
    if (!d->kernel_object) {
        vg_say("gpu %d queue %u packet %llu: kernel object is 0", q->gpu, q->id, (unsigned long long)q->rd);
        vg_queue_halt(q, VG_ERROR_CODE);
        return STOPPED;
    }
    struct vg_kernel *k = vg_kernel_find(d->kernel_object);
    if (k->blit) {
        bad = (uint64_t)(uintptr_t)d->kernarg_address;
        const void *args = vg_xlate(bad, k->blit->arg_bytes);
        enum vg_blit_result r = args ? k->blit->run(args, &bytes, &bad) : VG_BLIT_FAULT;
        if (r == VG_BLIT_WAIT)
            return wait_for(q, start);
        if (r == VG_BLIT_FAULT) {
            vg_say("gpu %d queue %u packet %llu: %s touches address 0x%llx, which isn't GPU memory", q->gpu, q->id,
                   (unsigned long long)q->rd, k->name, (unsigned long long)bad);
            q->halted = true;
            vg_event_fault(q->gpu, bad);
            return STOPPED;
        }
        if (q->blocked_since) { /* it waited for something in memory, and that is there now */
            start = now;
            q->blocked_since = 0;
        }
    }
    if (vg_cfg.execute && !k->blit) {
        q->executed = true;
        if (!vg_execute(q, d, k, q->ring_va + (uint64_t)((const char *)p - q->ring), &bad)) {
            q->halted = true;
            vg_event_fault(q->gpu, bad);
            return STOPPED;
        }
    }
    uint64_t end = start + vg_draw_ticks(k->rule, k->rng);
    if (bytes && !k->rule)
        end += bytes * 1000 / VG_TICK_NS / vg_cfg.copy_bytes_per_us;
    vg_heap_push(&q->flight, (struct vg_flight){.start = start,
                                                .end = end,
                                                .signal = d->completion_signal.handle,
                                                .index = q->rd,
                                                .kernel = k,
                                                .profile = profiling(q)});
    /* its completion will write the signal, which the application wrote last */
    if (d->completion_signal.handle)
        __builtin_prefetch(vg_xlate(d->completion_signal.handle, sizeof(amd_signal_t)), 1);
    k->flights++;
    q->cp = start;
    if (end > q->max_end)
        q->max_end = end;
    return LAUNCHED;
}

/* a signal's value as the packet processor reads it; false: the address isn't there, which counts as never satisfied */
static bool value_of(uint64_t va, int64_t *value)
{
    const volatile amd_signal_t *s = vg_xlate(va, sizeof *s);
    if (!s)
        return false;
    *value = __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
    return true;
}

static bool compare(int64_t value, uint32_t condition, int64_t with)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == with;
    case HSA_SIGNAL_CONDITION_NE:
        return value != with;
    case HSA_SIGNAL_CONDITION_LT:
        return value < with;
    default:
        return value >= with;
    }
}

/* When the condition came true, if that was after the packet's start: known to the tick if the model completed the
 * signal. If the host did, it is now for a packet that has waited, and else it was before. */
static uint64_t satisfied_at(const struct vg_queue *q, uint64_t va, uint64_t start, uint64_t now)
{
    uint64_t tick, since = q->blocked_since ? q->blocked_since : start;
    if (vg_signal_time_get(va, &tick) && tick >= since && tick <= now)
        return tick;
    return q->blocked_since ? now : 0;
}

/* barrier-and, barrier-or: the packet processor stands still until the signals are zero */
static enum step barrier(struct vg_queue *q, const union packet *p, uint64_t start, uint64_t now, bool any)
{
    const hsa_barrier_and_packet_t *b = &p->barrier;
    uint64_t met = 0, first = VG_NEVER;
    int deps = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t va = b->dep_signal[i].handle;
        int64_t value;
        if (!va)
            continue;
        deps++;
        if (!value_of(va, &value)) {
            vg_say("gpu %d queue %u packet %llu: barrier on signal 0x%llx, which isn't GPU memory", q->gpu, q->id,
                   (unsigned long long)q->rd, (unsigned long long)va);
            vg_queue_halt(q, VG_ERROR_PACKET);
            return STOPPED;
        }
        if (value == 0) {
            uint64_t at = satisfied_at(q, va, start, now);
            met = at > met ? at : met;
            first = at < first ? at : first;
        } else if (!any) {
            return wait_for(q, start);
        }
    }
    if (any && deps && first == VG_NEVER)
        return wait_for(q, start);
    uint64_t end = any && deps ? first : met;
    if (end < start)
        end = start;
    q->blocked_since = 0;
    q->cp = end;
    vg_heap_push(&q->flight, (struct vg_flight){.start = start,
                                                .end = end,
                                                .signal = b->completion_signal.handle,
                                                .index = q->rd,
                                                .profile = profiling(q)});
    if (end > q->max_end)
        q->max_end = end;
    return LAUNCHED;
}

static enum step vendor(struct vg_queue *q, const union packet *p, uint64_t start, uint64_t now)
{
    uint64_t end = start;
    int64_t value;
    switch (p->value.format) {
    case AMD_FORMAT_PM4_IB:
        /* a command buffer: cache maintenance and the like, without effect on this model; its signal is completed */
        break;
    case AMD_FORMAT_BARRIER_VALUE:
        if (!p->value.signal.handle)
            break; /* HIP sends it without a condition, as a barrier with a signal */
        if (!value_of(p->value.signal.handle, &value)) {
            vg_say("gpu %d queue %u packet %llu: barrier-value on signal 0x%llx, which isn't GPU memory", q->gpu, q->id,
                   (unsigned long long)q->rd, (unsigned long long)p->value.signal.handle);
            vg_queue_halt(q, VG_ERROR_VENDOR_PACKET);
            return STOPPED;
        }
        if (!compare(value & p->value.mask, p->value.condition, p->value.value))
            return wait_for(q, start);
        end = satisfied_at(q, p->value.signal.handle, start, now);
        end = end > start ? end : start;
        break;
    default:
        vg_say("gpu %d queue %u packet %llu: vendor packet with unknown AmdFormat %u", q->gpu, q->id,
               (unsigned long long)q->rd, p->value.format);
        vg_queue_halt(q, VG_ERROR_VENDOR_PACKET);
        return STOPPED;
    }
    q->blocked_since = 0;
    q->cp = end;
    vg_heap_push(&q->flight, (struct vg_flight){.start = start,
                                                .end = end,
                                                .index = q->rd,
                                                .profile = profiling(q),
                                                .signal = p->value.completion_signal.handle});
    if (end > q->max_end)
        q->max_end = end;
    return LAUNCHED;
}

static enum step process(struct vg_queue *q, const union packet *p, uint16_t header, uint64_t now, uint64_t *due)
{
    uint64_t start = q->cp;
    if (q->rd >= q->seen && q->arrival > start)
        start = q->arrival;
    if (HEADER_BARRIER(header) && q->max_end > start)
        start = q->max_end;
    if (q->flight.n == VG_FLIGHT_MAX) {
        q->cp = q->flight.at[0].end; /* no room for one more kernel until the first has ended */
        start = start > q->cp ? start : q->cp;
    }
    if (start > now) {
        if (start < *due)
            *due = start;
        return NOT_YET;
    }
    switch (HEADER_TYPE(header)) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return launch_kernel(q, p, start, now);
    case HSA_PACKET_TYPE_BARRIER_AND:
        return barrier(q, p, start, now, false);
    case HSA_PACKET_TYPE_BARRIER_OR:
        return barrier(q, p, start, now, true);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return vendor(q, p, start, now);
    default:
        vg_say("gpu %d queue %u packet %llu: unknown AQL packet type %u (header 0x%04x)", q->gpu, q->id,
               (unsigned long long)q->rd, HEADER_TYPE(header), header);
        vg_queue_halt(q, VG_ERROR_PACKET);
        return STOPPED;
    }
}

bool vg_aql_step(struct vg_queue *q, uint64_t now, uint64_t *due)
{
    union packet *ring = (void *)q->ring;
    uint64_t mask = q->ring_size / AQL_BYTES - 1, first = q->rd;
    /* Doorbell first, completions after: what is seen here was submitted before anyone could see them. */
    uint64_t bell = __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE);
    bool busy = bell != VG_NEVER, unfinished = q->seen < q->limit;
    /* Taken, so that the next ring is seen even if it carries the same index: two threads may ring for one each between
     * two looks, and the later one, for the second time, with that of the last look. */
    if (busy)
        bell = q->last_doorbell = __atomic_exchange_n(q->doorbell, VG_NEVER, __ATOMIC_ACQ_REL);
    else
        bell = q->last_doorbell;
    /* A doorbell that is ahead of the index: who rang may write the index later, and ring no more. */
    if (!busy && bell != VG_NEVER && bell >= q->limit)
        busy = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE) > q->limit;
    if (busy) {
        /* The doorbell is a kick: a later ring may carry a lower index when several threads submit, so how far to go is
         * what the write index says; an unfinished packet is still INVALID. */
        q->limit = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE);
        if (q->rd == 0)
            q->truth_id = q->amd->hsa_queue.id;
    }
    if (busy || unfinished) {
        /* what is new came before this moment, and nothing starts before it came */
        now = vg_ns_to_ticks(vg_clock_ns());
        q->arrival = now;
    }
    busy |= retire(q, now);
    unfinished = false;
    bool new_ahead = false;
    while (q->rd < q->limit) {
        union packet *p = &ring[q->rd & mask];
        uint16_t header = __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);
        if (HEADER_TYPE(header) == HSA_PACKET_TYPE_INVALID) {
            unfinished = true;
            break;
        }
        __builtin_prefetch(&ring[(q->rd + 4) & mask], 1);
        enum step s = process(q, p, header, now, due);
        if (s == STOPPED)
            return true;
        if (s == WAITS_FOR_SIGNAL)
            vg_engine_recheck = true;
        if (s != LAUNCHED)
            break;
        if (!vg_cfg.read_index_late)
            __atomic_store_n(&p->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        q->rd++;
        retire(q, now);
        if (q->executed) { /* that took its time: let others have theirs, and complete what has ended meanwhile */
            q->executed = false;
            busy = true;
            new_ahead = q->rd < q->seen;
            break;
        }
    }
    /* What came in this look and wasn't reached keeps being new: while one executed, what is in front of it has ended,
     * and it would start at that end, before it came. */
    if (!new_ahead)
        q->seen = unfinished ? q->rd : q->limit;
    if (q->rd != first) {
        if (!vg_cfg.read_index_late)
            __atomic_store_n(q->rptr, q->rd, __ATOMIC_RELEASE);
        busy = true;
    }
    if (q->flight.n && q->flight.at[0].end < *due)
        *due = q->flight.at[0].end;
    return busy;
}
