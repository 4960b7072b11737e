/*
 * aql.c - the packet processor of an AQL queue, in simulated time.
 *
 * The engine reads a packet once its doorbell was rung and its header is not INVALID. Kernels with the barrier bit
 * start when everything launched before has ended. Without the bit they start when the packet processor reaches them,
 * and overlap the others. start = max(packet processor free, packet seen, [all before ended]), end = start + duration,
 * all in agent ticks. A kernel is launched when real time reaches its start and completes when real time has passed its
 * end. So a delayed host thread delays what the application sees but changes no duration. The engine releases a slot
 * (header INVALID, read index) before the application can see the packet's completion: at launch, or with --read-index
 * late when the packet and all before it have ended.
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
        vg_log("completion signal 0x%llx isn't GPU memory (freed too early?): not signalled", (unsigned long long)va);
        return;
    }
    if (profile) {
        s->start_ts = start + (uint64_t)vg_cfg.shift_ticks;
        s->end_ts = end + (uint64_t)vg_cfg.shift_ticks;
    }
    vg_signal_time_set(va, end);
    /* The timestamps precede the value because the application reads them after it. */
    uint64_t mailbox = s->event_mailbox_ptr;
    uint32_t event = s->event_id;
    __atomic_fetch_sub(&s->value, 1, __ATOMIC_RELEASE);
    /* From here on the application may reuse or free the signal. */
    if (mailbox) {
        volatile uint64_t *m = vg_xlate(mailbox, 8);
        if (m)
            *m = event;
        vg_event_set(event);
    }
}

/* Stop the queue and report the reason to the runtime. If the save area's header points to an exception payload, set
 * the reason's bit there. Otherwise write the queue's inactive signal, as the packet processor's firmware does. */
void vg_queue_halt(struct vg_queue *q, enum vg_error error)
{
    static const struct {
        int64_t inactive, exception;
    } codes[] = {
        [VG_ERROR_CODE] = {8, 1 << 17},
        [VG_ERROR_PACKET] = {32, 1 << 19},
        [VG_ERROR_VENDOR_PACKET] = {256, 1 << 22},
        [VG_ERROR_APERTURE] = {0x20000000, 1 << 5},
        [VG_ERROR_INSTRUCTION] = {0x40000000, 1 << 3},
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

/* Release the slot of a packet that has ended, and advance the read index over all such slots. The application cannot
 * write an unreleased slot, so the slot's header is the engine's record of what has ended. */
static void release_slot(struct vg_queue *q, uint64_t index)
{
    union packet *ring = (void *)q->ring;
    uint64_t mask = q->ring_size / AQL_BYTES - 1, first = q->released;
    __atomic_store_n(&ring[index & mask].header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    while (q->released < q->rd && HEADER_TYPE(ring[q->released & mask].header) == HSA_PACKET_TYPE_INVALID)
        q->released++;
    if (q->released != first)
        __atomic_store_n(q->rptr, q->released, __ATOMIC_RELEASE);
}

/* Complete what has ended by now. An application that sees a kernel's signal may assume that the kernel's slot and all
 * before it are free, so the read index is written first. (With --read-index late this covers all earlier slots only if
 * kernels do not overtake one another.) */
static bool retire_ended(struct vg_queue *q, uint64_t now)
{
    bool any = false;
    if (!vg_cfg.read_index_late && q->flight.n && q->flight.at[0].end <= now && *q->rptr != q->rd)
        __atomic_store_n(q->rptr, q->rd, __ATOMIC_RELEASE);
    while (q->flight.n && q->flight.at[0].end <= now) {
        struct vg_flight f = vg_heap_pop(&q->flight);
        any = true;
        if (vg_cfg.read_index_late)
            release_slot(q, f.index);
        /* Write the truth first: an application that sees the signal may read it. */
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

/* Let a kernel fail as the script says. Its packet stays in the ring, and its signal stays pending. */
static void fail_by_script(struct vg_queue *q, const struct vg_kernel *k)
{
    enum { BAD_ADDRESS = 0x1000 };
    enum vg_error error = vg_rule_error(k->rule);
    vg_log("gpu %d queue %u packet %llu: %s fails", q->gpu, q->id, (unsigned long long)q->rd, k->name);
    if (error != VG_ERROR_MEMORY) {
        vg_queue_halt(q, error);
        return;
    }
    q->halted = true;
    vg_event_fault(q->gpu, BAD_ADDRESS);
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
        vg_log("gpu %d queue %u packet %llu: kernel object is 0", q->gpu, q->id, (unsigned long long)q->rd);
        vg_queue_halt(q, VG_ERROR_CODE);
        return STOPPED;
    }
    struct vg_kernel *k = vg_kernel_find(d->kernel_object);
    if (k->script_version != vg_script_version) {
        k->rule = vg_script_match(k->name);
        k->script_version = vg_script_version;
    }
    if (vg_rule_error(k->rule)) {
        fail_by_script(q, k);
        return STOPPED;
    }
    if (k->blit) {
        bad = (uint64_t)(uintptr_t)d->kernarg_address;
        const void *args = vg_xlate(bad, k->blit->arg_bytes);
        enum vg_blit_result r = args ? k->blit->run(args, &bytes, &bad) : VG_BLIT_FAULT;
        if (r == VG_BLIT_WAIT)
            return wait_for(q, start);
        if (r == VG_BLIT_FAULT) {
            vg_log("gpu %d queue %u packet %llu: %s touches address 0x%llx, which isn't GPU memory", q->gpu, q->id,
                   (unsigned long long)q->rd, k->name, (unsigned long long)bad);
            q->halted = true;
            vg_event_fault(q->gpu, bad);
            return STOPPED;
        }
        if (q->blocked_since) { /* it waited for a condition in memory, which now holds */
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
    uint64_t from = start;
    if (vg_rule_meets(k->rule)) {
        q->meeting = q->meeting ? q->meeting : vg_meet_arrive(start);
        start = from = q->blocked_since ? q->blocked_since : start;
        if (!vg_meet(q->meeting, &from))
            return wait_for(q, start);
        q->meeting = q->blocked_since = 0;
        start = vg_rule_meets(k->rule) == VG_MEETS_BEFORE ? from : start;
    }
    uint64_t end = from + vg_draw_ticks(k->rule, k->rng);
    if (bytes && !k->rule)
        end += bytes * 1000 / VG_TICK_NS / vg_cfg.copy_bytes_per_us;
    vg_heap_push(&q->flight, (struct vg_flight){.start = start,
                                                .end = end,
                                                .signal = d->completion_signal.handle,
                                                .index = q->rd,
                                                .kernel = k,
                                                .profile = profiling(q)});
    /* The completion will write the signal, which the application wrote last. */
    if (d->completion_signal.handle)
        __builtin_prefetch(vg_xlate(d->completion_signal.handle, sizeof(amd_signal_t)), 1);
    k->flights++;
    q->cp = start;
    if (end > q->max_end)
        q->max_end = end;
    return LAUNCHED;
}

/* Read a signal's value as the packet processor does. false: unmapped address, which counts as never satisfied. */
static bool value_of(uint64_t va, int64_t *value)
{
    const volatile amd_signal_t *s = vg_xlate(va, sizeof *s);
    if (!s)
        return false;
    *value = __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
    return true;
}

static bool condition_holds(int64_t value, uint32_t condition, int64_t with)
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

/* Tick at which the condition became true, or 0 if that was before the packet's start. The tick is exact if the model
 * completed the signal; it may be after now if another queue of this pass did, which read the clock later. If the host
 * completed the signal, it is now for a packet that has waited, and 0 otherwise. */
static uint64_t satisfied_at(const struct vg_queue *q, uint64_t va, uint64_t start, uint64_t now)
{
    uint64_t tick, since = q->blocked_since ? q->blocked_since : start;
    if (vg_signal_time_get(va, &tick) && tick >= since)
        return tick;
    return q->blocked_since ? now : 0;
}

/* barrier-and, barrier-or: the packet processor stalls until the signals are zero. */
static enum step process_barrier(struct vg_queue *q, const union packet *p, uint64_t start, uint64_t now, bool any)
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
            vg_log("gpu %d queue %u packet %llu: barrier on signal 0x%llx, which isn't GPU memory", q->gpu, q->id,
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

static enum step process_vendor_packet(struct vg_queue *q, const union packet *p, uint64_t start, uint64_t now)
{
    uint64_t end = start;
    int64_t value;
    switch (p->value.format) {
    case AMD_FORMAT_PM4_IB:
        /* Command buffer (cache maintenance and similar): no effect on this model, only its signal completes. */
        break;
    case AMD_FORMAT_BARRIER_VALUE:
        if (!p->value.signal.handle)
            break; /* HIP sends it without a condition, as a barrier with a signal */
        if (!value_of(p->value.signal.handle, &value)) {
            vg_log("gpu %d queue %u packet %llu: barrier-value on signal 0x%llx, which isn't GPU memory", q->gpu, q->id,
                   (unsigned long long)q->rd, (unsigned long long)p->value.signal.handle);
            vg_queue_halt(q, VG_ERROR_VENDOR_PACKET);
            return STOPPED;
        }
        if (!condition_holds(value & p->value.mask, p->value.condition, p->value.value))
            return wait_for(q, start);
        end = satisfied_at(q, p->value.signal.handle, start, now);
        end = end > start ? end : start;
        break;
    default:
        vg_log("gpu %d queue %u packet %llu: vendor packet with unknown AmdFormat %u", q->gpu, q->id,
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

static enum step process_packet(struct vg_queue *q, const union packet *p, uint16_t header, uint64_t now, uint64_t *due)
{
    uint64_t start = q->cp;
    if (q->rd >= q->seen && q->arrival > start)
        start = q->arrival;
    if (HEADER_BARRIER(header) && q->max_end > start)
        start = q->max_end;
    if (q->flight.n == VG_FLIGHT_MAX) {
        q->cp = q->flight.at[0].end; /* the heap is full: start after the first kernel has ended */
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
        return process_barrier(q, p, start, now, false);
    case HSA_PACKET_TYPE_BARRIER_OR:
        return process_barrier(q, p, start, now, true);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return process_vendor_packet(q, p, start, now);
    default:
        vg_log("gpu %d queue %u packet %llu: unknown AQL packet type %u (header 0x%04x)", q->gpu, q->id,
               (unsigned long long)q->rd, HEADER_TYPE(header), header);
        vg_queue_halt(q, VG_ERROR_PACKET);
        return STOPPED;
    }
}

bool vg_aql_step(struct vg_queue *q, uint64_t now, uint64_t *due)
{
    union packet *ring = (void *)q->ring;
    uint64_t mask = q->ring_size / AQL_BYTES - 1, first = q->rd;
    /* Doorbell first, completions after: a packet seen here was submitted before the application could see them. */
    uint64_t bell = __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE);
    bool busy = bell != VG_NEVER, unfinished = q->seen < q->limit;
    /* Exchange the doorbell, so that the next ring is seen even if it carries an equal index: two threads may each ring
     * for one packet between two polls, and the second ring may repeat the index of the last poll. */
    if (busy)
        bell = q->last_doorbell = __atomic_exchange_n(q->doorbell, VG_NEVER, __ATOMIC_ACQ_REL);
    else
        bell = q->last_doorbell;
    /* The doorbell is ahead of the write index: its thread may write the index later and not ring again. */
    if (!busy && bell != VG_NEVER && bell >= q->limit)
        busy = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE) > q->limit;
    if (busy) {
        /* The doorbell only wakes: with several submitting threads a later ring may carry a lower index. The write
         * index is the limit; an unfinished packet is still INVALID. */
        q->limit = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE);
        if (q->rd == 0)
            q->truth_id = q->amd->hsa_queue.id;
    }
    if (busy || unfinished) {
        /* New packets arrived before this moment; none starts before it arrived. */
        now = vg_ns_to_ticks(vg_clock_ns());
        q->arrival = now;
    }
    busy |= retire_ended(q, now);
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
        enum step s = process_packet(q, p, header, now, due);
        if (s == STOPPED)
            return true;
        if (s == WAITS_FOR_SIGNAL)
            vg_engine_recheck = true;
        if (s != LAUNCHED)
            break;
        if (!vg_cfg.read_index_late)
            __atomic_store_n(&p->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        q->rd++;
        retire_ended(q, now);
        if (q->executed) { /* executing took real time: serve the other queues, complete what has ended meanwhile */
            q->executed = false;
            busy = true;
            new_ahead = q->rd < q->seen;
            break;
        }
    }
    /* Packets that arrived in this pass and were not reached stay new. While one kernel executed, those before them
     * ended; with an old arrival they would start at that end, before they arrived. */
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
