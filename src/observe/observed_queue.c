/* Polls a queue. See observed_queue.h. */
#include "observe/observed_queue.h"

#include <stdlib.h>
#include <string.h>

enum { AWAITED_AT_ONCE = 32, DEPENDENCIES = 5, BARRIER_BIT = 1 << 8 };
static const uint64_t SHARE_MAX_NS = 100000000; /* a poll after a longer pause says nothing about times */
static const uint64_t AWAIT_MAX_NS = 10000000000;
static const uint64_t LATE_IS_SURE = 1000; /* so much evidence: stop reading the signals of ended packets */

bool rtl_observed_queue_begin(struct rtl_observed_queue *q, const struct rtl_found_queue *found,
                              const struct rtl_queue_head *head, bool whole)
{
    uint64_t generation = q->generation, before = q->dispatches_before + q->dispatches, timed = q->timed;
    bool same = q->used && q->found.at == found->at && q->found.id == found->id && q->found.size == found->size;
    uint64_t next = q->counter.next;
    *q = (struct rtl_observed_queue){
        .found = *found, .used = true, .live = true, .dispatches_before = before, .timed = timed};
    q->generation = (uint32_t)generation + 2;
    rtl_ring_counter_begin(&q->counter, found->size, head->write_index, whole);
    if (same) /* given up because of a momentary state: no packet counts twice, or as lost */
        q->counter = (struct rtl_ring_counter){.next = next, .size = found->size, .ours = next};
    q->first = q->counter.next;
    if (found->size <= RTL_SEEN_RING_MAX && !(q->seen = calloc(2 * (size_t)found->size, sizeof *q->seen)))
        return false;
    return true;
}

void rtl_observed_queue_end(struct rtl_observed *o, struct rtl_observed_queue *q)
{
    if (q->awaited)
        rtl_await_forget(o->users, q->awaited);
    free(q->awaited);
    free(q->seen);
    q->awaited = NULL;
    q->seen = NULL;
    q->live = false;
}

bool rtl_observed_queue_is_own(const struct rtl_observed *o, const struct rtl_observed_queue *q)
{
    return q->unnamed && q->unnamed == q->dispatches && !o->names->unread;
}

/* --- counting --- */

struct packet_counting {
    struct rtl_observed *o;
    struct rtl_observed_queue *q;
};

static struct rtl_seen_packet *seen_of(const struct rtl_observed_queue *q, uint64_t number)
{
    return q->seen && number >= q->first && number < q->counter.next ? &q->seen[number & (2ull * q->found.size - 1)]
                                                                     : NULL;
}

static void await(struct rtl_observed *o, struct rtl_observed_queue *q, uint64_t number, uint32_t row, uint64_t signal)
{
    rtl_await_displaced(o->users, q->awaited, number, signal);
    if (!signal || row == UINT32_MAX || !q->profiles || !q->clear_ns)
        return;
    if (!q->awaited && !(q->awaited = calloc(1, sizeof *q->awaited)))
        return;
    rtl_await(o->users, q->awaited,
              &(struct rtl_awaited){.number = number, .signal = signal, .after_ns = q->clear_ns, .row = row});
}

static bool count_packet(void *context, uint64_t number, const struct rtl_ring_packet *p, enum rtl_packet_kind kind,
                         bool consumed)
{
    const struct packet_counting *t = context;
    struct rtl_observed_queue *q = t->q;
    uint32_t row = UINT32_MAX;
    if (kind == RTL_PACKET_DISPATCH) {
        if (!rtl_kernel_names_known(t->o->names, p->kernel_object)) {
            t->o->unknown = p->kernel_object;
            return false;
        }
        row = rtl_kernel_names_row(t->o->names, p->kernel_object);
        if (row >= t->o->rows.count)
            return false;
        t->o->rows.at[row].calls++;
        t->o->rows.at[row].last = *p;
        q->dispatches++;
        q->unnamed += row == RTL_KERNEL_UNKNOWN || rtl_kernel_names_is_own(t->o->names, row);
    } else {
        q->others++;
    }
    if (t->o->counts_only)
        return true;
    await(t->o, q, number, row, p->signal);
    if (q->seen)
        q->seen[number & (2ull * q->found.size - 1)] =
            (struct rtl_seen_packet){.signal = p->signal, .row = row, .in_order = !consumed && p->header & BARRIER_BIT};
    return true;
}

static uint64_t slot_at(const struct rtl_observed_queue *q, uint64_t number)
{
    return q->found.ring + (number & (q->found.size - 1)) * sizeof(struct rtl_ring_packet);
}

/* Count packets since the last poll; *at_index gets the packet at the read index, *after the head read again. */
static bool count_new(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_head *head,
                      struct rtl_ring_packet *at_index, struct rtl_queue_head *after)
{
    struct packet_counting t = {o, q};
    uint64_t wanted = rtl_ring_counter_wanted(&q->counter, head->write_index, head->read_index);
    /* Honest indices need one round to skip overwritten packets, then the rounds of one ring. */
    uint64_t rounds = q->found.size / RTL_OBSERVED_RING_AT_ONCE + 2;
    do {
        struct rtl_target_piece pieces[4];
        size_t n = 0;
        uint64_t count = wanted < RTL_OBSERVED_RING_AT_ONCE ? wanted : RTL_OBSERVED_RING_AT_ONCE,
                 first = q->counter.next;
        uint64_t until_wrap = q->found.size - (first & (q->found.size - 1));
        if (count > q->found.size)
            count = q->found.size;
        uint64_t here = count < until_wrap ? count : until_wrap;
        if (here)
            pieces[n++] = (struct rtl_target_piece){slot_at(q, first), o->packets, here * sizeof *o->packets, false};
        if (count > here)
            pieces[n++] = (struct rtl_target_piece){slot_at(q, first + here), o->packets + here,
                                                    (count - here) * sizeof *o->packets, false};
        pieces[n++] = (struct rtl_target_piece){slot_at(q, head->read_index), at_index, sizeof *at_index, false};
        pieces[n++] = (struct rtl_target_piece){q->found.at, after, sizeof *after, false};
        rtl_target_read_pieces(o->memory, pieces, n);
        for (size_t i = 0; i < n; i++)
            if (!pieces[i].ok)
                return false;
        if (after->write_index < head->write_index || after->read_index < head->read_index)
            return false; /* indices only grow: this is no queue */
        uint64_t done = rtl_ring_counter_count(&q->counter, o->packets, count, head->read_index, after->write_index,
                                               after->read_index, count_packet, &t);
        if (done < count || done > wanted)
            return true;
        wanted -= done;
    } while (wanted && --rounds);
    return true;
}

/* --- which packet runs --- */

static void add_head_time(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_moment *look,
                          const struct rtl_ring_packet *at_index, const struct rtl_seen_packet *before, uint64_t now_ns)
{
    /* A late poll tells which packet runs as well as any other, but not for how long: it counts at most twice the usual
     * time, and the totals make up for the difference. */
    uint64_t all = q->looked_ns ? now_ns - q->looked_ns : 0, most = (uint64_t)(2 * o->usual_ns),
             ns = all < most ? all : most;
    if (all > SHARE_MAX_NS)
        return;
    o->usual_ns = o->usual_ns > 0 ? o->usual_ns * 0.999 + (double)all * 0.001 : (double)all;
    if (!rtl_convention_running(RTL_CONVENTION_LATE, look)) {
        uint32_t row = rtl_kernel_names_row(o->names, at_index->kernel_object);
        if (row < o->rows.count)
            o->rows.at[row].late_ns += ns;
        o->late_busy[q->gpu] = true;
        o->rows.late_ns += ns;
        o->rows.late_all_ns += all;
    }
    if (rtl_convention_running(RTL_CONVENTION_EARLY, look) < 0) {
        o->rows.at[before->row].early_ns += ns;
        o->early_busy[q->gpu] = true;
        o->rows.early_ns += ns;
        o->rows.early_all_ns += all;
    }
}

/* Read signals: of the packet before the index, of a barrier's dependencies, of dispatches whose times are awaited. */
static void read_signals(struct rtl_observed *o, struct rtl_observed_queue *q, struct rtl_queue_moment *look,
                         const struct rtl_ring_packet *at_index, const struct rtl_seen_packet *before,
                         uint64_t read_index, uint64_t now_ns)
{
    struct rtl_signal_image signals[1 + DEPENDENCIES + AWAITED_AT_ONCE];
    struct rtl_target_piece pieces[2 + DEPENDENCIES + AWAITED_AT_ONCE];
    struct rtl_awaited_ring *a = q->awaited;
    struct rtl_queue_head after;
    uint64_t deps[DEPENDENCIES];
    size_t n = 0, dep_count = 0;
    bool want_before = look->before_signalled && o->evidence.late < LATE_IS_SURE;
    if (want_before)
        pieces[n++] = (struct rtl_target_piece){before->signal, &signals[0], sizeof *signals, false};
    size_t first_dep = n;
    if (look->blocked) { /* so far this only means: a barrier packet */
        look->blocked = false;
        memcpy(deps, (const char *)at_index + 8, sizeof deps);
        for (size_t i = 0; i < DEPENDENCIES; i++)
            if (deps[i]) {
                pieces[n] = (struct rtl_target_piece){deps[i], &signals[n], sizeof *signals, false};
                n++;
                dep_count++;
            }
    }
    size_t first_awaited = n;
    for (uint64_t i = a ? a->first : 0; a && i < a->end && n - first_awaited < AWAITED_AT_ONCE; i++) {
        if (a->at[i % RTL_AWAITED_MAX].number >= read_index)
            break;
        pieces[n] = (struct rtl_target_piece){a->at[i % RTL_AWAITED_MAX].signal, &signals[n], sizeof *signals, false};
        n++;
    }
    if (!n)
        return;
    pieces[n] = (struct rtl_target_piece){q->found.at, &after, sizeof after, false};
    rtl_target_read_pieces(o->memory, pieces, n + 1);
    bool blocked = false;
    for (size_t i = first_dep; i < first_dep + dep_count; i++)
        blocked |= !pieces[i].ok || signals[i].value != 0;
    look->blocked = blocked;
    look->before_pending = want_before && pieces[0].ok && signals[0].value > 0;
    if (want_before && pieces[0].ok && pieces[n].ok && after.read_index == read_index)
        rtl_convention_add_evidence(&o->evidence, look);
    for (size_t i = first_awaited; i < n && pieces[n].ok; i++) {
        struct rtl_awaited *e = &a->at[(a->first + (i - first_awaited)) % RTL_AWAITED_MAX];
        if (e->given_up || e->read || !pieces[i].ok || signals[i].value > 0)
            continue;
        e->read = true;
        e->start = signals[i].start_ts;
        e->end = signals[i].end_ts;
        e->read_ns = now_ns;
        e->until = after.write_index;
    }
}

/* Record times that were read, once no packet can turn up that had the signal before. */
static void settle_awaited(struct rtl_observed *o, struct rtl_observed_queue *q, uint64_t now_ns)
{
    struct rtl_awaited_ring *a = q->awaited;
    for (uint64_t i = a ? a->first : 0; a && i < a->end && i < a->first + AWAITED_AT_ONCE; i++) {
        struct rtl_awaited *e = &a->at[i % RTL_AWAITED_MAX];
        if (e->given_up || !e->read || q->counter.next < e->until)
            continue;
        uint64_t ns = rtl_tick_duration(&o->clock[q->gpu], e->start, e->end, e->after_ns, e->read_ns);
        if (ns != UINT64_MAX && rtl_observed_row_time(&o->rows.at[e->row], ns))
            q->timed++;
        e->given_up = true;
    }
    while (a && a->first < a->end &&
           (a->at[a->first % RTL_AWAITED_MAX].given_up ||
            now_ns - a->at[a->first % RTL_AWAITED_MAX].after_ns > AWAIT_MAX_NS))
        a->first++;
}

static void evaluate_heads(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_head *head,
                           const struct rtl_ring_packet *at_index, const struct rtl_queue_head *after, uint64_t now_ns)
{
    struct rtl_queue_moment look = {.waiting = false};
    const struct rtl_seen_packet *before = head->read_index ? seen_of(q, head->read_index - 1) : NULL;
    if (head->read_index < head->write_index) {
        enum rtl_packet_kind kind = rtl_packet_kind(at_index, after->read_index > head->read_index);
        look.waiting = kind == RTL_PACKET_DISPATCH;
        /* submitted before the packet ahead of it ended: the processor has noticed it */
        look.queued = q->write_index > head->read_index && q->read_index < head->read_index;
        look.in_order = seen_of(q, head->read_index) ? seen_of(q, head->read_index)->in_order
                                                     : kind != RTL_PACKET_UNREADY && at_index->header & BARRIER_BIT;
        look.blocked = kind == RTL_PACKET_BARRIER;
    }
    look.before = before && before->row != UINT32_MAX && before->row < o->rows.count;
    look.before_signalled = before && before->signal;
    look.before_in_order = before && before->in_order;
    read_signals(o, q, &look, at_index, before, head->read_index, now_ns);
    if (look.before || look.waiting)
        add_head_time(o, q, &look, at_index, before, now_ns);
}

bool rtl_observed_queue_poll(struct rtl_observed *o, struct rtl_observed_queue *q, const struct rtl_queue_head *head,
                             uint64_t now_ns)
{
    struct rtl_ring_packet at_index;
    struct rtl_queue_head after;
    if (!rtl_queue_plausible(head) || head->ring != q->found.ring || head->size != q->found.size ||
        head->id != q->found.id || head->write_index < q->write_index || head->read_index < q->read_index)
        return false;
    q->profiles = head->properties & RTL_QUEUE_PROFILES;
    bool idle = head->write_index == q->counter.next && head->read_index == head->write_index &&
                head->read_index == q->read_index && !(q->awaited && q->awaited->first < q->awaited->end);
    if (!idle || (!o->counts_only && o->evidence.late < LATE_IS_SURE)) {
        if (!count_new(o, q, head, &at_index, &after))
            return false;
        if (!o->counts_only) {
            settle_awaited(o, q, now_ns);
            evaluate_heads(o, q, head, &at_index, &after, now_ns);
        }
    }
    if (!o->unknown) /* later packets were not there yet, or stand behind a packet that was not */
        q->clear_ns = now_ns;
    q->write_index = head->write_index;
    q->read_index = head->read_index;
    q->looked_ns = now_ns;
    return true;
}
