/* Finds queues and code objects of an observed process that come and go. See observer_private.h. */
#include "base/clock.h"
#include "observe/observer_private.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t FIND_NS = 1000000000, FIND_TRY_NS = 250000000; /* of a search: named processes, and others */
static const uint64_t SEEK_NS = 3000000000; /* CPU for the first search of all memory, whatever the budget */
/* CPU for a piece of the other memory (RTL_SEARCH_REST): the first piece, until all was searched once, and from then
 * on. The observer polls known queues between two pieces. */
static const uint64_t REST_FIRST_NS = 100000000, REST_SEEK_NS = 20000000, REST_NS = 5000000;

/* The place of its doorbells identifies a GPU; GPUs are numbered in the order of the driver's offsets, as far as known
 * at the start. */
static uint64_t gpu_key_of(const struct rtl_mappings *mappings, const struct rtl_found_queue *q)
{
    const struct rtl_mapping *m = rtl_mapping_of(mappings, q->doorbell);
    return m ? m->offset ? m->offset : m->from : 0;
}

static uint32_t number_of_gpu(struct rtl_observer *o, uint64_t key)
{
    for (uint32_t i = 0; i < o->gpu_count; i++)
        if (o->gpu_key[i] == key)
            return i;
    if (o->gpu_count == RTL_AGENTS_MAX)
        return RTL_AGENTS_MAX - 1;
    o->gpu_key[o->gpu_count] = key;
    return o->gpu_count++;
}

void rtl_observer_end_queue(struct rtl_observer *o, struct rtl_observed_queue *q)
{
    if (o->options.past_library && rtl_observed_queue_is_own(&o->seen, q))
        q->dispatches = q->unnamed = q->counter.lost = 0; /* never shown, even when another queue gets its slot */
    o->lost_before += q->counter.lost;
    o->unnamed_before += q->unnamed;
    q->counter.lost = q->unnamed = 0;
    rtl_observed_queue_end(&o->seen, q);
}

/* Return a free slot, preferably the queue's old one: a queue that was given up continues there. */
static struct rtl_observed_queue *slot_for(struct rtl_observer *o, const struct rtl_found_queue *f)
{
    struct rtl_observed_queue *any = NULL;
    for (uint32_t i = 0; i < o->queue_count; i++) {
        struct rtl_observed_queue *q = &o->queues[i];
        if (!q->live && q->found.at == f->at && q->found.id == f->id)
            return q;
        any = !q->live && !any ? q : any;
    }
    if (any)
        return any;
    /* the last slot is the shared one */
    return o->queue_count < RTL_QUEUES_MAX - 1 ? &o->queues[o->queue_count++] : NULL;
}

static void begin_queue(struct rtl_observer *o, const struct rtl_mappings *mappings, const struct rtl_found_queue *f,
                        bool whole)
{
    struct rtl_queue_head head;
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (o->queues[i].live && o->queues[i].found.at == f->at)
            return;
    if (!rtl_target_read(&o->memory, f->at, &head, sizeof head))
        return;
    struct rtl_observed_queue *q = slot_for(o, f);
    if (!q)
        return;
    if (!rtl_observed_queue_begin(q, f, &head, whole)) {
        rtl_observed_queue_end(&o->seen, q);
        return;
    }
    q->gpu = number_of_gpu(o, gpu_key_of(mappings, f));
}

static bool is_found(const struct rtl_found_queue *found, uint32_t count, uint64_t at)
{
    for (uint32_t i = 0; i < count; i++)
        if (found[i].at == at)
            return true;
    return false;
}

/* Count queues without a slot. An incomplete search has found too few, so it only raises the counts. */
static void count_refused(struct rtl_observer *o, const struct rtl_found_queue *found, uint32_t count)
{
    uint32_t there = o->search.beyond, live = 0, device = 0;
    for (uint32_t i = 0; i < count; i++)
        *(found[i].device_ring ? &device : &there) += 1;
    for (uint32_t i = 0; i < o->queue_count; i++)
        live += o->queues[i].live;
    uint32_t room = there > live ? there - live : 0;
    o->refused_room = o->search.whole || room > o->refused_room ? room : o->refused_room;
    o->refused_device = o->search.whole || device > o->refused_device ? device : o->refused_device;
}

void rtl_observer_copy_traced(struct rtl_observer *o, struct rtl_traced_queues *traced)
{
    pthread_mutex_lock(&o->state);
    *traced = o->traced;
    pthread_mutex_unlock(&o->state);
}

static void end_traced_queue(struct rtl_observer *o, const struct rtl_found_queue *f)
{
    for (uint32_t i = 0; i < o->queue_count; i++)
        if (o->queues[i].live && o->queues[i].found.at == f->at && o->queues[i].found.id == f->id)
            rtl_observer_end_queue(o, &o->queues[i]);
}

/* Find out which queues of a traced process the library doesn't see. */
static void find_past_queues(struct rtl_observer *o, const struct rtl_mappings *mappings,
                             const struct rtl_found_queue *found, uint32_t count, uint64_t now)
{
    struct rtl_traced_queues traced;
    struct rtl_candidate still[RTL_QUEUES_MAX];
    uint32_t n = 0;
    o->scans++;
    rtl_observer_copy_traced(o, &traced);
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_found_queue *f = &found[i];
        int number = rtl_traced_queues_find(&traced, f->id, f->key);
        if (number >= 0) {
            o->gpu_agent[number_of_gpu(o, gpu_key_of(mappings, f))] = traced.agent[number] + 1;
            end_traced_queue(o, f); /* the library sees it after all */
            continue;
        }
        still[n] = (struct rtl_candidate){.at = f->at, .id = f->id, .seen_ns = now, .from_start = !f->looked_before};
        for (uint32_t c = 0; c < o->candidate_count; c++)
            if (o->candidate[c].at == f->at && o->candidate[c].id == f->id)
                still[n] = o->candidate[c];
        if (!f->device_ring && rtl_candidate_is_past(&still[n], &traced))
            begin_queue(o, mappings, f, !still[n].from_start);
        n++;
    }
    for (uint32_t c = 0; c < o->candidate_count && n < RTL_QUEUES_MAX && !o->search.whole; c++)
        if (!is_found(found, count, o->candidate[c].at)) /* not searched this time */
            still[n++] = o->candidate[c];
    memcpy(o->candidate, still, n * sizeof *still);
    o->candidate_count = n;
}

void rtl_observer_read_names(struct rtl_observer *o)
{
    rtl_kernel_names_read(o->seen.names, &o->memory, &o->lists, o->root);
    rtl_observed_rows_grow(&o->seen.rows, o->seen.names->rows);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool rtl_observer_is_without(const struct rtl_observer *o)
{
    return !o->queue_count && rtl_queue_search_done(&o->search);
}

bool rtl_observer_seeks(const struct rtl_observer *o)
{
    bool done = o->options.past_library ? o->search.rounds[RTL_SEARCH_LIKELY] > 0 : rtl_queue_search_done(&o->search);
    return !done && o->sought_ns < SEEK_NS;
}

bool rtl_observer_scan(struct rtl_observer *o, const struct rtl_mappings *first)
{
    struct rtl_found_queue *found = calloc(RTL_QUEUES_MAX, sizeof *found);
    struct rtl_mappings own = {0}, mappings;
    bool met = !o->options.named && !o->options.past_library;
    if (!found || (!first && rtl_mappings_read(o->pid, &own) != 0)) {
        free(found);
        return false;
    }
    mappings = first ? *first : own;
    uint64_t rest = o->options.past_library || !rtl_observer_seeks(o) ? REST_NS : first ? REST_FIRST_NS : REST_SEEK_NS;
    uint32_t count = rtl_queues_find(&o->memory, &mappings, &o->search, found, RTL_QUEUES_MAX,
                                     first && met ? FIND_TRY_NS : FIND_NS, rest);
    pthread_mutex_lock(&o->lock);
    rtl_debug_lists_update(&o->memory, &mappings, &o->lists);
    for (uint32_t i = 0; first && i < count; i++)
        number_of_gpu(o, gpu_key_of(&mappings, &found[i]));
    if (first)
        qsort(o->gpu_key, o->gpu_count, sizeof *o->gpu_key, by_key);
    /* packets before the time of a queue that had no slot count as lost by nobody */
    bool whole = !o->refused_room;
    if (o->options.past_library)
        find_past_queues(o, &mappings, found, count, rtl_mono_ns());
    for (uint32_t i = 0; i < count && !o->options.past_library; i++)
        if (!found[i].device_ring)
            begin_queue(o, &mappings, &found[i], whole && found[i].looked_before);
    if (!o->options.past_library)
        count_refused(o, found, count);
    if (!first || !met || !rtl_observer_is_without(o)) /* a forked child has all its parent's names */
        rtl_observer_read_names(o);
    pthread_mutex_unlock(&o->lock);
    rtl_mappings_free(&own);
    free(found);
    return true;
}
