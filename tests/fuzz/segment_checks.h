/*
 * Shared by the fuzzers of the segment's reader: reading numbers from the input, and the promises of segment_reader.h
 * about everything read from a segment, also a hostile one, its cost included.
 */
#ifndef RTL_TESTS_SEGMENT_CHECKS_H
#define RTL_TESTS_SEGMENT_CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "fuzz.h"
#include "shm/probe_client.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"
#include "stats/histogram.h"
#include "stats/quantile.h"

static inline void check_histogram(const struct rtl_histogram_copy *h)
{
    static const double q[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
    static const double edges[] = {0, 100, 10000, 1048576, 1099511627776};
    uint64_t sum = 0, values[6], bins[4];
    int last = -1;
    MUST(h->octave_count <= RTL_OCTAVES_MAX);
    for (uint32_t i = 0; i < h->octave_count; i++) {
        MUST(h->octaves[i].octave > last && h->octaves[i].octave < RTL_OCTAVES_MAX);
        last = h->octaves[i].octave;
        for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
            if (__builtin_add_overflow(sum, h->octaves[i].bucket[b], &sum))
                sum = UINT64_MAX;
    }
    for (int i = 0; h->coarse && i < RTL_OCTAVES_MAX; i++)
        if (__builtin_add_overflow(sum, h->coarse[i], &sum))
            sum = UINT64_MAX;
    MUST(sum == h->count || sum == UINT64_MAX);
    if (rtl_quantiles(NULL, h, q, 6, values))
        for (int i = 1; i < 6; i++)
            MUST(values[i] >= values[i - 1]);
    rtl_bin(NULL, h, edges, 5, bins);
    rtl_window_between(h, h);
}

static inline void check_printable(const char *text, size_t bytes)
{
    size_t n = strnlen(text, bytes);
    MUST(n < bytes);
    for (size_t i = 0; i < n; i++)
        MUST(text[i] >= 0x20 && text[i] < 0x7f);
}

static inline void count_words(void *context, uint64_t offset)
{
    (void)offset;
    *(uint64_t *)context += 8;
}

static inline void check(const struct rtl_snapshot *s)
{
    uint64_t memory = s->kernel_count * sizeof *s->kernels;
    for (const struct rtl_block *b = s->storage; b; b = b->next)
        memory += sizeof *b + b->size;
    MUST(memory <= RTL_SNAPSHOT_MEMORY_MAX);
    MUST(s->kernel_count <= RTL_KERNELS_MAX && s->queue_count <= RTL_QUEUES_MAX && s->agent_count <= RTL_AGENTS_MAX);
    check_printable(s->comm, sizeof s->comm);
    check_printable(s->library_version, sizeof s->library_version);
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        MUST(i == 0 || k->id > k[-1].id);
        MUST(k->calls || k->untimed || k->histogram.count);
        MUST(strlen(k->name) == k->name_length && k->name_length <= RTL_NAME_MAX);
        check_histogram(&k->histogram);
    }
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i];
        MUST(i == 0 || q->slot > q[-1].slot);
        MUST(q->depth <= q->injected);
        MUST(q->path < 256 && q->path_reason < 1u << 24 && (q->path || !q->path_reason));
        check_histogram(&q->wait);
        check_histogram(&q->gap);
    }
    MUST(s->copies_count <= RTL_COPIES_MAX);
    for (uint32_t i = 0; i < s->copies_count; i++) {
        const struct rtl_copies_snapshot *c = &s->copies[i];
        MUST(c->count && c->agent < RTL_AGENTS_MAX && c->direction < RTL_DIRECTION_COUNT);
        MUST(i == 0 || c->agent > c[-1].agent || (c->agent == c[-1].agent && c->direction > c[-1].direction));
        check_histogram(&c->histogram);
    }
    for (uint32_t i = 0; i < s->agent_count; i++) {
        MUST(i == 0 || s->agents[i].gpu >= s->agents[i - 1].gpu);
        check_printable(s->agents[i].name, sizeof s->agents[i].name);
        check_printable(s->agents[i].uuid, sizeof s->agents[i].uuid);
    }
}

/* Between two snapshots anything may happen; counts may go down, too. */
static inline void check_window(const struct rtl_snapshot *a, const struct rtl_snapshot *b)
{
    static const double q[] = {0, 0.5, 0.99, 1};
    static const double edges[] = {0, 5000, 1073741824};
    for (uint32_t i = 0; i < a->kernel_count && i < b->kernel_count; i++) {
        const struct rtl_histogram_copy *x = &a->kernels[i].histogram, *y = &b->kernels[i].histogram;
        struct rtl_window w = rtl_window_between(x, y);
        uint64_t values[4], bins[2];
        bool any = rtl_quantiles(x, y, q, 4, values);
        MUST(any == (w.count != 0));
        MUST(y->count > x->count || !any);
        for (int n = 0; any && n < 4; n++)
            MUST(n == 0 || values[n] >= values[n - 1]);
        rtl_bin(x, y, edges, 3, bins);
    }
}

/* Reads all records; every number is either returned, in order, or counted as lost. */
static inline void check_events(struct rtl_reader *reader, struct rtl_events *events)
{
    struct rtl_linked_event out[5];
    uint64_t before = events->next - events->lost, got = 0, last = events->next;
    for (uint32_t n; got <= (1u << 22) && (n = rtl_reader_linked_events(reader, events, out, 5)) > 0; got += n) {
        MUST(n <= 5);
        for (uint32_t i = 0; i < n; i++) {
            MUST(out[i].record.sequence > last && out[i].record.sequence <= events->next);
            last = out[i].record.sequence;
            const char *name = rtl_reader_kernel_name(reader, out[i].record.kernel);
            MUST(!name || strlen(name) <= RTL_NAME_MAX);
        }
    }
    MUST(events->next - events->lost == before + got);
}

/* Takes a snapshot and checks it and its cost. False if the reader refuses the segment. */
static inline bool take_snapshot(struct rtl_reader *reader, struct rtl_snapshot *snapshot,
                                 enum rtl_reader_status (*taken)(struct rtl_reader *, struct rtl_snapshot *))
{
    uint64_t looked_at = 0;
    reader->meanwhile = count_words;
    reader->meanwhile_context = &looked_at;
    enum rtl_reader_status status = taken(reader, snapshot);
    reader->meanwhile = NULL;
    MUST(looked_at <= RTL_SNAPSHOT_READ_MAX);
    MUST(status == RTL_READER_OK || status == RTL_READER_VERSION);
    if (status == RTL_READER_OK)
        check(snapshot);
    return status == RTL_READER_OK;
}

/* Returns a value that is likely a near miss. */
static inline uint64_t likely_value(struct fuzz_input *in)
{
    static const uint64_t likely[] = {0,     1,         2,          63,         64,        65535,
                                      65536, INT32_MAX, UINT32_MAX, 1ull << 40, INT64_MAX, UINT64_MAX};
    return likely[fuzz_take(in, 1) % (sizeof likely / sizeof *likely)];
}

/* Opens the file, which the caller keeps, and reads it twice. Patches it after each time; unless `shrinks` is 0, also
 * makes it shorter than that many bytes. */
static inline void check_probe(const struct rtl_reader *reader)
{
    struct rtl_probe_state s;
    if (!rtl_reader_probe(reader, &s))
        return;
    MUST(s.phase < RTL_PROBE_PHASE_COUNT && s.why < RTL_PROBE_WHY_COUNT && s.agent < RTL_AGENTS_MAX);
    MUST(s.kernel < RTL_KERNELS_MAX && s.ends_shift < 64 && !(s.sequence & 1));
    MUST(s.tails <= s.recorded && s.recorded <= s.probed && s.probed <= s.dispatches);
}

static inline void read_twice(int fd, struct fuzz_input *in, bool (*patch)(struct fuzz_input *in, int fd),
                              size_t shrinks)
{
    char why[300] = "";
    struct rtl_reader *reader;
    int readers = dup(fd);
    enum rtl_reader_status status = rtl_reader_open_fd(readers, &reader, why, sizeof why);
    MUST(status == RTL_READER_OK || status == RTL_READER_VERSION);
    if (status != RTL_READER_OK) {
        MUST(why[0] && !strchr(why, '\n') && !reader);
        close(readers); /* the reader owns it on success only */
        return;
    }
    struct rtl_snapshot snapshot[2] = {{0}, {0}};
    struct rtl_events events;
    bool ring = rtl_reader_events_begin(reader, &events);
    size_t bytes;
    const char *environment = rtl_reader_environment(reader, &bytes);
    MUST(environment ? bytes <= RTL_ENVIRONMENT_MAX && !environment[bytes] : !bytes);
    for (int round = 0; round < 2; round++) {
        take_snapshot(reader, &snapshot[round], rtl_reader_snapshot);
        struct rtl_snapshot changes = {0};
        take_snapshot(reader, &changes, rtl_reader_changes);
        rtl_snapshot_free(&changes);
        if (ring)
            check_events(reader, &events);
        check_probe(reader);
        while (patch(in, fd))
            ;
        if (shrinks && ftruncate(fd, (off_t)(fuzz_take(in, 2) % shrinks)) != 0)
            break;
    }
    check_window(&snapshot[0], &snapshot[1]);
    rtl_snapshot_free(&snapshot[0]);
    rtl_snapshot_free(&snapshot[1]);
    rtl_reader_close(reader);
}

#endif
