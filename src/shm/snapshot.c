/*
 * Takes snapshots: copies statistics out of a segment during writes, each histogram consistent in itself.
 *
 * Order matters: the copy of the worker's part precedes the copy of the dispatch path's part, so that timed + untimed
 * never exceeds calls. Work is bounded whatever the segment holds: each chunk counts once, one allowance of retries
 * covers the whole snapshot, and the reader skips holes of the sparse file (reading a hole through a mapping would
 * allocate a page, charged to the traced process).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "shm/snapshot_builder.h"

enum {
    TRIES = 8,              /* for a histogram, then a pause, then as many again */
    RETRIES_ALLOWED = 4096, /* in one snapshot */
    PAUSES_ALLOWED = 32,
    PAUSE_NS = 20000,
};

/* Bytes of one attempt at a histogram, and of all parts together (limits in segment_reader.h). */
#define TRY_BYTES                                                                                               \
    (sizeof(struct rtl_histogram) + sizeof(struct rtl_directory) + RTL_OCTAVES_MAX * sizeof(struct rtl_chunk) + \
     sizeof(struct rtl_coarse))
#define LINES_BYTES (1ull * RTL_STRIDE_GROWTH * RTL_QUEUES_MAX * RTL_KERNELS_MAX * sizeof(struct rtl_dispatches))
#define ROWS_BYTES                                 \
    (RTL_KERNELS_MAX * sizeof(struct rtl_kernel) + \
     RTL_HISTOGRAMS_MAX *                          \
         (2 * sizeof(struct rtl_histogram) + 2 * sizeof(struct rtl_directory) + sizeof(struct rtl_coarse)))
/* of changes: half of the rows, then all, then those that changed meanwhile one by one */
#define AGAIN_BYTES (3 * (LINES_BYTES / RTL_STRIDE_GROWTH) / 2)
static_assert(LINES_BYTES + AGAIN_BYTES + 2 * ROWS_BYTES + RETRIES_ALLOWED * TRY_BYTES +
                      RTL_CHUNKS_MAX * sizeof(struct rtl_chunk) + RTL_NAMES_BYTES <
                  RTL_SNAPSHOT_READ_MAX,
              "bytes looked at");
static_assert(RTL_CHUNKS_MAX * sizeof(struct rtl_octave) +
                      RTL_HISTOGRAMS_MAX * (RTL_OCTAVES_MAX + 2) * sizeof(uint64_t) +
                      RTL_KERNELS_MAX * (sizeof(struct rtl_kernel_snapshot) + sizeof(uint64_t)) <
                  RTL_SNAPSHOT_MEMORY_MAX * 7 / 8, /* the last eighth: ends of blocks too small for the next piece */
              "memory");

/* Saturating sum. Plain additions if no sum of 64 such counts can wrap, which is always so in honest segments. */
static uint64_t sum_buckets(const uint64_t bucket[RTL_CHUNK_BUCKETS])
{
    uint64_t sum = 0, any = 0;
    for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++) {
        sum += bucket[b];
        any |= bucket[b];
    }
    if (any >> 57 == 0)
        return sum;
    sum = 0;
    for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++)
        sum = rtl_plus(sum, bucket[b]);
    return sum;
}

/* Copy `bytes` into the snapshot's storage; NULL without memory. */
static void *copy_to_storage(struct rtl_snapshot_builder *t, const void *from, size_t bytes)
{
    void *to = rtl_snapshot_allocate(t->out, bytes);
    t->no_memory |= !to;
    return to ? memcpy(to, from, bytes) : NULL;
}

/* Try to copy a histogram into t->octaves and t->coarse. True if the copy is consistent; *sum gets the sum of the
 * buckets in any case. */
static bool try_histogram(struct rtl_snapshot_builder *t, uint32_t id, struct rtl_histogram *h, uint32_t *octave_count,
                          uint64_t *sum)
{
    struct rtl_directory directory;
    uint32_t octaves = 0;

    *sum = 0;
    *octave_count = 0;
    /* every load is an acquire, in the order count, total, min, max, buckets (segment.h) */
    if (!rtl_build_fetch(t, RTL_SECTION_HISTOGRAMS, id, 0, h, sizeof *h) ||
        !rtl_build_fetch(t, RTL_SECTION_DIRECTORY, id, 0, &directory, sizeof directory))
        return false;
    for (uint32_t i = 0; i < RTL_OCTAVES_MAX; i++) {
        uint16_t chunk = directory.chunk[i];
        if (!chunk)
            continue;
        struct rtl_octave *o = &t->octaves[octaves];
        if (!rtl_build_fetch(t, RTL_SECTION_CHUNKS, chunk, 0, o->bucket, sizeof o->bucket))
            return false;
        o->octave = (uint8_t)i;
        octaves++;
        *sum = rtl_plus(*sum, sum_buckets(o->bucket));
    }
    if (h->flags & RTL_HISTOGRAM_COARSE) {
        if (!rtl_build_fetch(t, RTL_SECTION_COARSE, id, 0, t->coarse, sizeof t->coarse))
            return false;
        for (uint32_t i = 0; i < RTL_OCTAVES_MAX; i++)
            *sum = rtl_plus(*sum, t->coarse[i]);
    }
    *octave_count = octaves;
    return *sum == h->count;
}

/* Copy one histogram; *untimed gets the worker's count of dispatches that it gave up. False if the snapshot failed. */
bool rtl_build_histogram(struct rtl_snapshot_builder *t, uint32_t id, struct rtl_histogram_copy *copy,
                         uint64_t *untimed)
{
    struct rtl_histogram h;
    uint32_t octave_count;
    uint64_t sum;

    memset(copy, 0, sizeof *copy);
    if (!rtl_build_fetch(t, RTL_SECTION_HISTOGRAMS, id, 0, &h, sizeof h))
        return false;
    *untimed = h.untimed;
    if (!h.count)
        return true; /* the first record is not complete yet */

    bool whole = false;
    for (uint32_t i = 0; i < 2 * TRIES; i++) {
        whole = try_histogram(t, id, &h, &octave_count, &sum);
        if (whole || t->damaged || !t->retries)
            break;
        t->retries--;
        t->reader->retried++;
        if (i == TRIES - 1) {
            if (!t->pauses)
                break;
            t->pauses--;
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    }
    t->damaged |= octave_count > t->chunks; /* more octaves than chunks: some chunks are used twice */
    if (t->damaged)
        return false;
    t->chunks -= octave_count;

    t->reader->whole += whole;
    t->reader->unsettled += !whole;
    bool coarse = h.flags & RTL_HISTOGRAM_COARSE;
    *untimed = h.untimed;
    copy->count = sum;
    copy->approximate = !whole || coarse;
    copy->total_ns = h.total_ns;
    copy->min_ns = sum ? h.min_ns : 0;
    copy->max_ns = sum ? h.max_ns : 0;
    if (octave_count && !(copy->octaves = copy_to_storage(t, t->octaves, octave_count * sizeof *t->octaves)))
        return false;
    copy->octave_count = octave_count;
    return !coarse || (copy->coarse = copy_to_storage(t, t->coarse, sizeof t->coarse));
}

bool rtl_build_header(struct rtl_snapshot_builder *t, struct rtl_reader *reader, struct rtl_snapshot *s,
                      uint32_t *kernels)
{
    struct rtl_header header;
    const struct rtl_header *h = &header;
    memset(s, 0, sizeof *s);
    memset(t, 0, sizeof *t);
    t->reader = reader;
    t->out = s;
    t->retries = RETRIES_ALLOWED;
    t->pauses = PAUSES_ALLOWED;
    s->taken_mono_ns = rtl_mono_ns() - (uint64_t)reader->clocks.own_ahead_ns;
    t->chunks = reader->view[RTL_SECTION_CHUNKS].capacity;
    if (t->chunks > RTL_CHUNKS_MAX)
        t->chunks = RTL_CHUNKS_MAX; /* a directory entry can't name more */
    if (!rtl_fetch(reader, 0, &header, sizeof header))
        return false;
    t->agents = header.agent_count < reader->agents ? header.agent_count : reader->agents;
    *kernels = header.kernel_count < reader->kernels ? header.kernel_count : reader->kernels;
    s->pid = t->reader->header.pid;
    memcpy(s->comm, t->reader->comm, sizeof s->comm);
    rtl_copy_printable(s->library_version, sizeof s->library_version, h->library_version, sizeof h->library_version);
    s->mode_started = s->mode = rtl_mode_read(h->mode);
    s->in_force = h->mode == RTL_MODE_OFF ? RTL_ACTIVITY_OFF : RTL_ACTIVITY_TIMING;
    struct rtl_in_force in_force;
    if (rtl_in_force_read(h->in_force, &in_force)) {
        s->mode = in_force.mode;
        s->in_force = in_force.activity;
    }
    bool calls = h->minor >= 6 && h->calls == 1;
    s->mode = rtl_mode_with(calls, s->mode);
    s->mode_started = rtl_mode_with(calls, s->mode_started);
    s->state = h->state;
    s->notes = h->notes;
    s->seals = h->seals;
    s->runtime_major = h->runtime_major;
    s->runtime_minor = h->runtime_minor;
    s->start_mono_ns = rtl_reader_line(reader, h->start_mono_ns);
    s->start_real_ns = h->start_real_ns;
    s->heartbeat_mono_ns = rtl_reader_line(reader, h->heartbeat_mono_ns);
    s->worker_cpu_ns = h->worker_cpu_ns;
    s->passes = h->passes;
    s->parked = h->parked == 1;
    s->kernels_over = h->kernels_over;
    s->queues_refused = h->queues_refused;
    s->chunks_used = h->chunks_used;
    s->signals_created = h->signals_created;
    s->signals_destroyed = h->signals_destroyed;
    s->signals_peak = h->signals_peak;
    s->signals_limit = h->signals_limit;
    return true;
}

/* Copy names and histograms of all rows; rtl_build_compact removes rows that were never called. */
static bool copy_kernels(struct rtl_snapshot_builder *t, uint32_t count)
{
    struct rtl_snapshot *s = t->out;
    s->kernels = rtl_build_array(t, count, sizeof *s->kernels);
    if (!s->kernels)
        return false;
    s->kernel_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_kernel_snapshot *k = &s->kernels[i];
        k->id = i;
        k->name = rtl_reader_name(t->reader, i, &t->damaged);
        if (t->damaged)
            return false;
        k->name_length = k->name ? t->reader->name_length[i] : 0;
        if (!rtl_build_histogram(t, RTL_HISTOGRAM_KERNEL(i), &k->histogram, &k->untimed))
            return false;
        s->timed = rtl_plus(s->timed, k->histogram.count);
    }
    return true;
}

/* The library stores the error last, so its other fields are copied after it. */
static bool copy_error(struct rtl_snapshot_builder *t, uint32_t slot, struct rtl_queue *q,
                       struct rtl_queue_snapshot *out)
{
    const size_t at = offsetof(struct rtl_queue, error_mono_ns);
    uint32_t error = q->error;
    out->error_known = t->reader->header.minor >= 10;
    if (!out->error_known || !error)
        return true;
    if (!rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, at, &q->error_mono_ns, 16))
        return false;
    out->error = error;
    out->error_kernel = q->error_kernel <= RTL_KERNELS_MAX ? q->error_kernel : 0;
    out->error_after_ns = rtl_minus(rtl_reader_line(t->reader, q->error_mono_ns), t->out->start_mono_ns);
    return true;
}

static bool copy_queue(struct rtl_snapshot_builder *t, uint32_t slot, struct rtl_queue_snapshot *out)
{
    struct rtl_queue q, again;
    const size_t identity = offsetof(struct rtl_queue, dispatches), worker = offsetof(struct rtl_queue, completed),
                 reasons = offsetof(struct rtl_queue, untimed), more = offsetof(struct rtl_queue, untimed_more);
    char *bytes = (char *)&q;

    /* most slots were never used: don't fetch their other lines */
    bool ok = rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, 0, bytes, 8) &&
              (q.generation || rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, identity, bytes + identity, 24));
    if (ok && !q.generation && !q.packets && !q.dispatches)
        return true;
    /* a writer that died in a change leaves the generation odd: then show what was found */
    for (int i = 0; ok && i < TRIES; i++) {
        ok = rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, 0, &q, identity) &&
             rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, 0, &again, 8);
        if (!(q.generation & 1) && again.generation == q.generation)
            break;
    }
    if (!ok || !rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, worker, bytes + worker, reasons - worker) ||
        !rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, reasons, bytes + reasons, sizeof q - reasons) ||
        !rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, more, bytes + more, worker - more) ||
        !rtl_build_fetch(t, RTL_SECTION_QUEUES, slot, identity, bytes + identity, more - identity))
        return false;
    if (!q.generation && !q.packets && !q.dispatches)
        return true; /* never used */
    out->slot = slot;
    out->agent = out->gpu = q.agent;
    out->generation = q.generation;
    out->queue_id = q.queue_id;
    out->real_id = q.real_id;
    out->real_key = q.real_key;
    out->live = q.live == 1;
    out->shared = slot == RTL_QUEUE_SHARED;
    out->size_packets = q.size_packets;
    if (!out->shared && RTL_QUEUE_PATH_OF(q.path)) {
        out->path = RTL_QUEUE_PATH_OF(q.path);
        out->path_reason = RTL_PATH_REASON_OF(q.path);
    }
    out->dispatches_before = q.dispatches_before < q.dispatches ? q.dispatches_before : q.dispatches;
    out->dispatches = q.dispatches - out->dispatches_before;
    out->injected = q.injected;
    out->completed = q.completed;
    out->packets = q.packets;
    out->depth = rtl_minus(q.injected, q.completed);
    if (!copy_error(t, slot, &q, out))
        return false;

    struct rtl_snapshot *s = t->out;
    uint64_t none;
    uint32_t base =
        t->reader->view[RTL_SECTION_KERNELS].capacity + 2 * slot; /* RTL_HISTOGRAM_WAIT in the segment's own layout */
    s->counted = rtl_plus(s->counted, q.dispatches);
    s->signals_in_use = rtl_plus(s->signals_in_use, out->depth);
    for (unsigned i = 0; i < RTL_UNTIMED_LIMIT; i++) {
        out->untimed[i] = *rtl_queue_untimed(&q, i);
        s->untimed[i] = rtl_plus(s->untimed[i], out->untimed[i]);
        s->untimed_total = rtl_plus(s->untimed_total, out->untimed[i]);
    }
    s->queue_count++;
    return rtl_build_histogram(t, base, &out->wait, &none) && rtl_build_histogram(t, base + 1, &out->gap, &none);
}

bool rtl_build_queues(struct rtl_snapshot_builder *t)
{
    struct rtl_snapshot *s = t->out;
    s->queues = rtl_build_array(t, t->reader->queues, sizeof *s->queues);
    if (!s->queues)
        return false;
    for (uint32_t i = 0; i < t->reader->queues; i++)
        if (!copy_queue(t, i, &s->queues[s->queue_count]))
            return false;
    uint64_t there = rtl_minus(s->signals_created, s->signals_destroyed);
    s->signals_free = rtl_minus(there, s->signals_in_use);
    return true;
}

/* Add one cell of (queue, kernel) to its kernel; *busiest has the calls of the cell that its launch sizes come from. */
void rtl_build_cell(struct rtl_kernel_snapshot *k, uint64_t *busiest, const struct rtl_dispatches *d)
{
    k->calls = rtl_plus(k->calls, d->calls);
    k->untimed = rtl_plus(k->untimed, d->untimed);
    if (d->calls <= *busiest)
        return;
    *busiest = d->calls;
    memcpy(k->grid, d->grid, sizeof k->grid);
    memcpy(k->workgroup, d->workgroup, sizeof k->workgroup);
    k->lds_bytes = d->lds_bytes;
    k->scratch_bytes = d->scratch_bytes;
}

/* Add cells [first, last) of the section; `row` is the number of the cell of the queue's kernel 0. */
static bool add_lines(struct rtl_snapshot_builder *t, uint64_t *busiest, uint32_t row, uint32_t first, uint32_t last)
{
    const struct rtl_section_view *view = &t->reader->view[RTL_SECTION_DISPATCHES];
    union {
        char bytes[4096];
        struct rtl_dispatches line;
    } block;
    uint32_t at_once = view->stride <= sizeof block ? (uint32_t)(sizeof block / view->stride) : 1;

    for (uint32_t i = first; i < last; i += at_once) {
        uint32_t n = last - i < at_once ? last - i : at_once;
        size_t bytes = (size_t)(n - 1) * view->stride + sizeof(struct rtl_dispatches);
        if (!rtl_fetch(t->reader, view->offset + (uint64_t)i * view->stride, block.bytes, bytes)) {
            t->damaged = true;
            return false;
        }
        for (uint32_t j = 0; j < n; j++) {
            struct rtl_dispatches d;
            memcpy(&d, block.bytes + (size_t)j * view->stride, sizeof d);
            if (d.calls || d.untimed) {
                if (t->there)
                    rtl_build_mark(t, row, i + j - row);
                rtl_build_cell(&t->out->kernels[i + j - row], &busiest[i + j - row], &d);
            }
        }
    }
    return true;
}

/* Add the cells of one queue and skip holes of the file. */
static bool add_queue_lines(struct rtl_snapshot_builder *t, uint64_t *busiest, uint32_t slot)
{
    const struct rtl_section_view *view = &t->reader->view[RTL_SECTION_DISPATCHES];
    uint32_t row = slot * t->reader->view[RTL_SECTION_KERNELS].capacity, last = row + t->out->kernel_count;
    uint64_t end = view->offset + (uint64_t)last * view->stride;

    for (uint32_t first = row; first < last;) {
        uint64_t at = view->offset + (uint64_t)first * view->stride, data, hole;
        if (!rtl_file_data_next(t->reader->fd, &t->data, at, &data, &hole))
            return add_lines(t, busiest, row, first, last);
        if (data >= end)
            return true;
        if (data > at) /* to the first cell that reaches into data */
            first = (uint32_t)((data - view->offset) / view->stride);
        uint64_t lines = (hole - view->offset + view->stride - 1) / view->stride;
        uint32_t stop = lines < last ? (uint32_t)lines : last;
        if (stop <= first)
            stop = first + 1;
        if (!add_lines(t, busiest, row, first, stop))
            return false;
        first = stop;
    }
    return true;
}

bool rtl_build_dispatches(struct rtl_snapshot_builder *t)
{
    uint64_t *busiest = rtl_build_array(t, t->out->kernel_count, sizeof *busiest);
    bool ok = busiest != NULL;
    for (uint32_t i = 0; ok && i < t->out->queue_count; i++)
        ok = add_queue_lines(t, busiest, t->out->queues[i].slot);
    free(busiest);
    return ok;
}

/* Leave out rows that were never called. A row with work but no name (its writer died first) gets a name. */
bool rtl_build_compact(struct rtl_snapshot *s)
{
    uint32_t kept = 0;
    bool ascend = true;
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        struct rtl_kernel_snapshot *k = &s->kernels[i];
        if (!k->calls && !k->untimed && !k->histogram.count)
            continue;
        if (!k->name) {
            k->name = RTL_UNNAMED_KERNEL;
            k->name_length = strlen(k->name);
        }
        ascend = ascend && (!kept || s->kernels[kept - 1].id < k->id);
        s->kernels[kept++] = *k;
    }
    s->kernel_count = kept;
    return ascend;
}

bool rtl_build_copies(struct rtl_snapshot_builder *t)
{
    struct rtl_snapshot *s = t->out;
    uint32_t lines = t->reader->view[RTL_SECTION_COPIES].capacity ? t->agents * RTL_DIRECTION_COUNT : 0;
    /* RTL_HISTOGRAM_COPIES in the segment's own layout; open checked that its sections fit */
    uint32_t base = t->reader->view[RTL_SECTION_KERNELS].capacity + 2 * t->reader->view[RTL_SECTION_QUEUES].capacity;
    const size_t worker = offsetof(struct rtl_copies, timed_bytes);

    s->copies = rtl_build_array(t, lines, sizeof *s->copies);
    if (!s->copies)
        return false;
    for (uint32_t i = 0; i < lines; i++) {
        struct rtl_copies_snapshot *to = &s->copies[s->copies_count];
        struct rtl_copies line;
        uint64_t none;
        if (!rtl_build_fetch(t, RTL_SECTION_COPIES, i, 0, &line, 8))
            return false;
        if (!line.count)
            continue;
        /* the worker's part first, as everywhere */
        if (!rtl_build_histogram(t, base + i, &to->histogram, &none) ||
            !rtl_build_fetch(t, RTL_SECTION_COPIES, i, worker, (char *)&line + worker, sizeof line - worker) ||
            !rtl_build_fetch(t, RTL_SECTION_COPIES, i, 0, &line, worker))
            return false;
        to->agent = to->gpu = i / RTL_DIRECTION_COUNT;
        to->direction = i % RTL_DIRECTION_COUNT;
        to->count = line.count;
        to->bytes = line.bytes;
        to->timed_bytes = line.timed_bytes;
        memcpy(to->untimed, line.untimed, sizeof to->untimed);
        s->copies_count++;
    }
    return true;
}

/* Copy one gap; false if it makes no sense. */
static bool copy_gap(const struct rtl_reader *reader, const struct rtl_gap_record *from, struct rtl_gap *to)
{
    *to = (struct rtl_gap){.start_mono_ns = rtl_reader_line(reader, from->start_mono_ns),
                           .length_ns = from->length_ns,
                           .no_work_ns = from->no_work_ns,
                           .copies_ns = from->copies_ns,
                           .kernel_before = from->kernel_before <= reader->kernels ? from->kernel_before : 0,
                           .kernel_after = from->kernel_after <= reader->kernels ? from->kernel_after : 0,
                           .queue_before = from->queue_before,
                           .queue_after = from->queue_after,
                           .cause = from->cause < RTL_CAUSE_COUNT ? from->cause : RTL_CAUSE_UNKNOWN};
    return rtl_gap_is_plausible(to);
}

/* Copy the causes of a GPU's gaps and its longest gaps. The list stays empty if the worker writes it all the time. */
static bool copy_gaps(struct rtl_snapshot_builder *t, uint32_t agent, struct rtl_agent_snapshot *to)
{
    const size_t head = offsetof(struct rtl_gpu_gaps, gap), version = offsetof(struct rtl_gpu_gaps, version);
    struct rtl_gpu_gaps gaps;
    to->gaps_known = t->reader->view[RTL_SECTION_GAPS].capacity != 0;
    for (int i = 0; to->gaps_known && i < TRIES; i++) {
        uint64_t again;
        if (!rtl_build_fetch(t, RTL_SECTION_GAPS, agent, 0, &gaps, head))
            return false;
        uint64_t count = gaps.count < RTL_GAPS_MAX ? gaps.count : RTL_GAPS_MAX;
        if (!rtl_build_fetch(t, RTL_SECTION_GAPS, agent, head, gaps.gap, count * sizeof *gaps.gap) ||
            !rtl_build_fetch(t, RTL_SECTION_GAPS, agent, version, &again, sizeof again))
            return false;
        memcpy(to->cause_ns, gaps.cause_ns, sizeof to->cause_ns);
        to->last_end_mono_ns = rtl_reader_line(t->reader, gaps.last_end_mono_ns);
        if ((gaps.version & 1) || again != gaps.version)
            continue;
        for (uint64_t n = 0; n < count; n++)
            to->gap_count += copy_gap(t->reader, &gaps.gap[n], &to->gap[to->gap_count]);
        break;
    }
    return true;
}

bool rtl_build_agents(struct rtl_snapshot_builder *t)
{
    struct rtl_snapshot *s = t->out;
    s->agents = rtl_build_array(t, t->reader->agents, sizeof *s->agents);
    uint32_t gpu_of[RTL_AGENTS_MAX] = {0};
    if (!s->agents)
        return false;
    for (uint32_t i = 0; i < t->reader->agents; i++) {
        struct rtl_agent a;
        gpu_of[i] = i;
        if (!rtl_build_fetch(t, RTL_SECTION_AGENTS, i, 0, &a, 8) ||
            (a.state == 1 && !rtl_build_fetch(t, RTL_SECTION_AGENTS, i, 0, &a, sizeof a)))
            return false;
        if (a.state != 1)
            continue;
        struct rtl_agent_snapshot *to = &s->agents[s->agent_count];
        for (; to > s->agents && to[-1].gpu > a.gpu; to--)
            *to = to[-1];
        memset(to, 0, sizeof *to);
        rtl_copy_printable(to->name, sizeof to->name, a.name, sizeof a.name);
        to->gpu = gpu_of[i] = a.gpu;
        to->agent = i;
        to->busy_ns = a.busy_ns;
        to->tick_hz = a.tick_hz;
        to->bdf = a.bdf;
        to->compute_units = a.compute_units;
        rtl_copy_printable(to->uuid, sizeof to->uuid, a.uuid, sizeof a.uuid);
        memcpy(to->idle, a.idle, sizeof to->idle);
        to->clock_residual_ns = a.clock_residual_ns;
        to->clock_residual_most_ns = a.clock_residual_most_ns;
        to->clock_residuals = a.clock_residuals;
        to->clock_drift_over_ns = a.clock_drift_over_ns;
        to->clock_drift_ppb = a.clock_drift_ppb;
        if (!copy_gaps(t, i, to))
            return false;
        s->agent_count++;
    }
    for (uint32_t i = 0; i < s->queue_count; i++)
        if (s->queues[i].agent < t->reader->agents)
            s->queues[i].gpu = gpu_of[s->queues[i].agent];
    for (uint32_t i = 0; i < s->copies_count; i++)
        s->copies[i].gpu = gpu_of[s->copies[i].agent];
    return true;
}

enum rtl_reader_status rtl_reader_snapshot(struct rtl_reader *reader, struct rtl_snapshot *snapshot)
{
    struct rtl_snapshot_builder t;
    uint32_t kernels;
    if (!rtl_build_header(&t, reader, snapshot, &kernels))
        return RTL_READER_VERSION;
    if (!copy_kernels(&t, kernels) || !rtl_build_queues(&t) || !rtl_build_dispatches(&t) || !rtl_build_copies(&t) ||
        !rtl_build_agents(&t)) {
        rtl_snapshot_free(snapshot);
        return t.no_memory ? RTL_READER_USAGE : RTL_READER_VERSION;
    }
    rtl_build_compact(snapshot);
    /* shrink: a segment may claim many rows and have called few */
    struct rtl_kernel_snapshot *fitting =
        realloc(snapshot->kernels, (snapshot->kernel_count + 1u) * sizeof *snapshot->kernels);
    if (fitting)
        snapshot->kernels = fitting;
    return RTL_READER_OK;
}
