/*
 * Segments with false contents: every byte of the header wrong, truncated files, offsets and numbers that point
 * elsewhere. The reader refuses them or returns the earlier data. It never crashes, and its work is bounded. (The
 * fuzzer goes further; these are the required cases.)
 */
#include "segment_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "shm/reader_private.h"
#include "shm/segment_reader.h"

enum { KERNELS = 300 };

struct setup {
    struct rtl_segment segment;
    struct rtl_recorder *recorder;
    struct rtl_snapshot good; /* an honest segment's snapshot */
    struct rtl_reader *reader;
};

static void make_agent(struct rtl_segment *s, uint32_t i, const char *name)
{
    s->agents[i].gpu = 1 - i;
    snprintf(s->agents[i].name, sizeof s->agents[i].name, "%s", name);
    memset(s->agents[i].uuid, i ? '\033' : 'x', sizeof s->agents[i].uuid); /* not terminated */
    s->agents[i].busy_ns = 77;
    s->agents[i].idle[RTL_IDLE_COUNT - 1].count = 5 + i;
    s->agents[i].idle[RTL_IDLE_LIMIT - 1].count = 99; /* a class that this reader doesn't know */
    s->agents[i].clock_drift_ppb = -50000;
    s->agents[i].state = 1;
}

static int start(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    char name[40];
    fixture_segment(&s->segment);
    s->recorder = rtl_recorder_create(&s->segment);
    for (uint32_t q = 0; q < 3; q++) {
        struct rtl_queue *queue = &s->segment.queues[q];
        queue->generation = 2;
        queue->queue_id = 10 + q;
        queue->agent = q % 2;
        queue->dispatches = queue->packets = 5 * KERNELS;
        queue->injected = 5 * KERNELS - 7;
        queue->completed = 5 * KERNELS - 9;
        queue->untimed[RTL_UNTIMED_OWN_SIGNAL] = 3;
        *rtl_queue_untimed(queue, RTL_UNTIMED_UNWATCHED) = 4; /* stored elsewhere in the queue's record */
        queue->path = q ? RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, q) : 0;
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_WAIT(q), 4000 + q);
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_GAP(q), 800 + q);
    }
    make_agent(&s->segment, 0, "gfx90a");
    make_agent(&s->segment, 1, "gfx\x1b[31m\t\xff");
    for (uint32_t i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "kernel %u", i);
        uint32_t row = fixture_kernel(&s->segment, name);
        for (uint32_t q = 0; q < 3; q++) {
            struct rtl_dispatches *d = &s->segment.dispatches[(size_t)q * RTL_KERNELS_MAX + row];
            d->calls = 5 + (q == 2);
            d->grid[0] = 100 * q + i;
        }
        for (uint32_t n = 0; n < 15; n++)
            rtl_recorder_record(s->recorder, row, 1000 + 10 * i + n);
    }
    s->segment.header->agent_count = 2;
    for (uint32_t i = 0; i < 2 * RTL_DIRECTION_COUNT; i += 3) {
        struct rtl_copies *copies = &s->segment.copies[i];
        copies->count = 12;
        copies->bytes = 4096 * (i + 1);
        copies->timed_bytes = copies->bytes / 4 * 3;
        copies->untimed[RTL_COPY_UNTIMED_ON_SEVERAL] = 2;
        copies->untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL] = 1;
        for (uint32_t n = 0; n < 9; n++)
            rtl_recorder_record(s->recorder, RTL_HISTOGRAM_COPIES(i), 5000 + 100 * i + n);
    }
    rtl_segment_set_state(&s->segment, RTL_STATE_LIVE);
    s->reader = fixture_reader(&s->segment);
    if (rtl_reader_snapshot(s->reader, &s->good) != RTL_READER_OK)
        return 1;
    *state = s;
    return 0;
}

static int stop(void **state)
{
    struct setup *s = *state;
    rtl_snapshot_free(&s->good);
    rtl_reader_close(s->reader);
    rtl_recorder_destroy(s->recorder);
    fixture_drop(&s->segment);
    free(s);
    return 0;
}

static void assert_same_histogram(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->octave_count, b->octave_count);
    assert_memory_equal(a->octaves, b->octaves, a->octave_count * sizeof *a->octaves);
}

/* The statistics equal an honest segment's; facts about the process may differ. */
static void assert_same(const struct rtl_snapshot *a, const struct rtl_snapshot *b)
{
    assert_int_equal(a->kernel_count, b->kernel_count);
    assert_int_equal(a->queue_count, b->queue_count);
    assert_int_equal(a->counted, b->counted);
    assert_int_equal(a->timed, b->timed);
    assert_int_equal(a->untimed_total, b->untimed_total);
    for (uint32_t i = 0; i < a->kernel_count; i++) {
        assert_int_equal(a->kernels[i].id, b->kernels[i].id);
        assert_string_equal(a->kernels[i].name, b->kernels[i].name);
        assert_int_equal(a->kernels[i].calls, b->kernels[i].calls);
        assert_int_equal(a->kernels[i].grid[0], b->kernels[i].grid[0]);
        assert_same_histogram(&a->kernels[i].histogram, &b->kernels[i].histogram);
    }
    for (uint32_t i = 0; i < a->queue_count; i++) {
        assert_int_equal(a->queues[i].queue_id, b->queues[i].queue_id);
        assert_int_equal(a->queues[i].depth, b->queues[i].depth);
        assert_same_histogram(&a->queues[i].wait, &b->queues[i].wait);
        assert_same_histogram(&a->queues[i].gap, &b->queues[i].gap);
    }
    assert_int_equal(a->copies_count, b->copies_count);
    for (uint32_t i = 0; i < a->copies_count; i++) {
        assert_int_equal(a->copies[i].gpu, b->copies[i].gpu);
        assert_int_equal(a->copies[i].direction, b->copies[i].direction);
        assert_int_equal(a->copies[i].count, b->copies[i].count);
        assert_int_equal(a->copies[i].bytes, b->copies[i].bytes);
        assert_memory_equal(a->copies[i].untimed, b->copies[i].untimed, sizeof a->copies[i].untimed);
        assert_same_histogram(&a->copies[i].histogram, &b->copies[i].histogram);
    }
}

/* Check that any snapshot is consistent in itself. */
static void assert_sound(const struct rtl_snapshot *a)
{
    for (uint32_t i = 0; i < a->kernel_count; i++) {
        assert_int_equal(strlen(a->kernels[i].name), a->kernels[i].name_length);
        assert_int_equal(a->kernels[i].histogram.count, fixture_sum(&a->kernels[i].histogram));
        assert_true(i == 0 || a->kernels[i].id > a->kernels[i - 1].id);
    }
    assert_true(a->copies_count <= RTL_COPIES_MAX);
    for (uint32_t i = 0; i < a->copies_count; i++) {
        assert_true(a->copies[i].agent < RTL_AGENTS_MAX && a->copies[i].direction < RTL_DIRECTION_COUNT);
        assert_int_equal(a->copies[i].histogram.count, fixture_sum(&a->copies[i].histogram));
    }
}

/* Open and take a snapshot. On success it must be consistent, and equal the honest one if `same`. Return the first
 * refusal, or OK.
 */
static enum rtl_reader_status read_and(const struct setup *s, int fd, char *why, size_t why_bytes, bool same)
{
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot = {0};
    int own = dup(fd);
    enum rtl_reader_status status = rtl_reader_open_fd(own, &reader, why, why_bytes);
    if (status != RTL_READER_OK) {
        close(own);
        assert_int_equal(status, RTL_READER_VERSION);
        assert_true(why[0] && !strchr(why, '\n'));
        return status;
    }
    status = rtl_reader_snapshot(reader, &snapshot);
    if (status == RTL_READER_OK)
        assert_sound(&snapshot);
    if (status == RTL_READER_OK && same)
        assert_same(&snapshot, &s->good);
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
    return status;
}

/* The statistics must be the honest ones, or the segment is refused. */
static enum rtl_reader_status read_it(const struct setup *s, int fd, char *why, size_t why_bytes)
{
    return read_and(s, fd, why, why_bytes, true);
}

/* An unsealed copy. */
static int unsealed_copy(const struct setup *s)
{
    int fd = memfd_create("copy", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)s->segment.size), 0);
    for (off_t at = 0, hole; (at = lseek(s->segment.fd, at, SEEK_DATA)) >= 0; at = hole) {
        hole = lseek(s->segment.fd, at, SEEK_HOLE);
        assert_int_equal(pwrite(fd, (char *)s->segment.header + at, (size_t)(hole - at), at), hole - at);
    }
    return fd;
}

static void an_honest_segment_is_read(void **state)
{
    struct setup *s = *state;
    const struct rtl_snapshot *g = &s->good;
    assert_int_equal(g->kernel_count, KERNELS);
    assert_int_equal(g->queue_count, 3);
    assert_int_equal(g->counted, 15 * KERNELS);
    assert_int_equal(g->timed, 15 * KERNELS);
    assert_int_equal(g->untimed[RTL_UNTIMED_OWN_SIGNAL], 9);
    assert_int_equal(g->untimed[RTL_UNTIMED_UNWATCHED], 12);
    assert_int_equal(g->untimed_total, 21);
    assert_int_equal(g->queues[1].depth, 2);
    assert_int_equal(g->queues[0].gpu, 1); /* agent 0 is GPU 1 here */
    assert_int_equal(g->queues[0].path, 0);
    assert_int_equal(g->queues[2].path, RTL_PATH_NATIVE);
    assert_int_equal(g->queues[2].path_reason, 2);
    assert_int_equal(g->kernels[4].calls, 16);
    assert_int_equal(g->kernels[4].grid[0], 204); /* from the queue that ran it most */
    assert_int_equal(g->agent_count, 2);
    assert_string_equal(g->agents[1].name, "gfx90a");
    assert_string_equal(g->agents[0].name, "gfx?[31m??"); /* no control characters */
    assert_string_equal(g->agents[1].uuid, "xxxxxxxxxxxxxxxxxxxxxxxx");
    assert_string_equal(g->agents[0].uuid, "????????????????????????");
    assert_int_equal(g->agents[0].busy_ns, 77);
    assert_int_equal(g->agents[0].idle[RTL_IDLE_COUNT - 1].count, 6);
    assert_true(g->agents[0].clock_drift_ppb == -50000);
    assert_int_equal(g->copies_count, 3); /* entries without copies are left out */
    assert_int_equal(g->copies[1].direction, RTL_COPY_P2P);
    assert_int_equal(g->copies[1].gpu, 1);
    assert_int_equal(g->copies[2].direction, RTL_COPY_D2D);
    assert_int_equal(g->copies[2].gpu, 0);
    assert_int_equal(g->copies[2].count, 12);
    assert_int_equal(g->copies[2].bytes, 4096 * 7);
    assert_int_equal(g->copies[2].untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL], 1);
    assert_int_equal(g->copies[2].histogram.count, 9);
    assert_int_equal(g->copies[2].histogram.min_ns, 5600);
    assert_non_null(s->reader->base);
}

static void pread_returns_the_same_snapshot(void **state)
{
    struct setup *s = *state;
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot;
    char why[200];
    int fd = unsealed_copy(s);
    assert_int_equal(rtl_reader_open_fd(fd, &reader, why, sizeof why), RTL_READER_OK);
    assert_null(reader->base); /* never mapped: its owner could truncate it */
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    assert_same(&snapshot, &s->good);
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
}

static void any_wrong_byte_of_the_header_is_safe(void **state)
{
    struct setup *s = *state;
    uint8_t *bytes = (uint8_t *)s->segment.header;
    char why[300];
    int refused = 0;
    for (size_t i = 0; i < sizeof(struct rtl_header); i++) {
        const uint8_t was = bytes[i];
        const uint8_t wrong[] = {0, 0xff, (uint8_t)(was + 1), (uint8_t)(was - 1), was ^ 0x80, was ^ 0x08};
        for (size_t w = 0; w < sizeof wrong; w++) {
            if (wrong[w] == was)
                continue;
            /* fewer kernels or GPUs is not detectable: that many may have been published */
            if (i >= offsetof(struct rtl_header, kernel_count) && i < offsetof(struct rtl_header, agent_count) + 4)
                continue;
            /* nor are copies whose feature bit is missing */
            bool feature =
                i == offsetof(struct rtl_header, features_optional) || i == offsetof(struct rtl_header, section_count);
            /* nor is a section that is slightly shifted without touching another one */
            bool place = i >= offsetof(struct rtl_header, section) && i < offsetof(struct rtl_header, pid);
            bytes[i] = wrong[w];
            refused += read_and(s, s->segment.fd, why, sizeof why, !place && !feature) != RTL_READER_OK;
        }
        bytes[i] = was;
    }
    assert_in_range(refused, 500, 6 * sizeof(struct rtl_header));
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_OK);
}

static void a_refusal_names_both_versions(void **state)
{
    struct setup *s = *state;
    struct rtl_header *h = s->segment.header;
    char why[300];
    char own[24];
    h->major = 7;
    h->minor = 4;
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_VERSION);
    assert_non_null(strstr(why, "7.4"));
    snprintf(own, sizeof own, "%u.%u", RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR);
    assert_non_null(strstr(why, own));
    h->major = RTL_SEGMENT_MAJOR;
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_OK); /* a newer minor version is accepted */
    h->features_optional = ~(RTL_FEATURE_EVENTS | RTL_FEATURE_PROBE);            /* but missing sections are not */
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_OK);
    h->features_required = 4;
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_VERSION);
    assert_non_null(strstr(why, "0x4"));
    assert_non_null(strstr(why, "1.4"));
}

/* Larger strides and capacities, further sections, a longer header: a later minor version, read like this one. */
static void later_layouts_are_read(void **state)
{
    struct setup *s = *state;
    struct rtl_header *h = s->segment.header;
    char why[300];
    h->section[RTL_SECTION_KNOWN] = h->section[RTL_SECTION_NAMES];
    h->section_count++;
    h->header_bytes = 4096;
    assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_OK);
}

static void any_wrong_section_is_safe(void **state)
{
    struct setup *s = *state;
    struct rtl_header *h = s->segment.header;
    char why[300];
    for (int i = 0; i < RTL_SECTION_KNOWN; i++) {
        const struct rtl_section was = h->section[i];
        /* absent here: test_event_ring.c and test_probe_client.c have them */
        if (i == RTL_SECTION_RING || i == RTL_SECTION_EVENTS || i == RTL_SECTION_PROBE || i == RTL_SECTION_PROBE_DIES)
            continue;
        const uint64_t offsets[] = {0,
                                    64,
                                    was.offset + 1,
                                    was.offset + 32,
                                    s->segment.size - 64,
                                    s->segment.size,
                                    UINT64_MAX - 63,
                                    1ull << 63,
                                    h->section[(i + 1) % RTL_SECTION_COUNT].offset};
        for (size_t n = 0; n < sizeof offsets / sizeof *offsets; n++) {
            h->section[i].offset = offsets[n];
            assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_VERSION);
        }
        h->section[i] = was;
        const uint32_t lies[] = {0, 1, was.stride - 1, UINT32_MAX, UINT32_MAX - 7, 1u << 31};
        for (size_t n = 0; n < sizeof lies / sizeof *lies; n++) {
            if (lies[n] != was.stride) {
                h->section[i].stride = lies[n];
                assert_int_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_VERSION);
            }
            h->section[i] = was;
            /* one agent may be all there are */
            bool smaller = lies[n] == 0 || (lies[n] == 1 && i != RTL_SECTION_AGENTS);
            if (smaller || lies[n] > was.capacity) {
                h->section[i].capacity = lies[n];
                assert_int_not_equal(read_it(s, s->segment.fd, why, sizeof why), RTL_READER_OK);
            }
            h->section[i] = was;
        }
    }
}

static void truncated_files_are_refused(void **state)
{
    struct setup *s = *state;
    char why[300];
    int fd = unsealed_copy(s);
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot = {0};
    assert_int_equal(rtl_reader_open_fd(dup(fd), &reader, why, sizeof why), RTL_READER_OK);
    for (uint64_t size = s->segment.size - 1; size > 4096; size = size * 15 / 16) {
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
        assert_int_equal(read_it(s, fd, why, sizeof why), RTL_READER_VERSION);
        /* an open reader: lost data is missing, nothing worse */
        enum rtl_reader_status status = rtl_reader_snapshot(reader, &snapshot);
        assert_true(status == RTL_READER_OK || status == RTL_READER_VERSION);
        rtl_snapshot_free(&snapshot);
    }
    for (int size = 4096; size >= 0; size -= size > 700 ? 512 : 1) {
        assert_int_equal(ftruncate(fd, size), 0);
        assert_int_equal(read_it(s, fd, why, sizeof why), RTL_READER_VERSION);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_VERSION);
    }
    rtl_reader_close(reader);
    close(fd);
}

static void other_files_are_refused(void **state)
{
    struct setup *s = *state;
    char why[300];
    int pair[2], fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read_it(s, fd, why, sizeof why), RTL_READER_VERSION);
    close(fd);
    assert_int_equal(pipe(pair), 0);
    assert_int_equal(read_it(s, pair[0], why, sizeof why), RTL_READER_VERSION);
    close(pair[0]);
    close(pair[1]);
    struct rtl_reader *reader;
    assert_int_equal(rtl_reader_open_fd(-1, &reader, why, sizeof why), RTL_READER_USAGE);
}

/* With a new reader, because names are read once. */
static enum rtl_reader_status snapshot_now(const struct setup *s, struct rtl_snapshot *snapshot)
{
    struct rtl_reader *reader = fixture_reader(&s->segment);
    memset(snapshot, 0, sizeof *snapshot);
    enum rtl_reader_status status = rtl_reader_snapshot(reader, snapshot);
    rtl_snapshot_free(snapshot);
    rtl_reader_close(reader);
    return status;
}

static void wrong_indices_are_refused(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot;
    struct rtl_kernel *k = &s->segment.kernels[7], was = *k;

    k->name_offset = RTL_NAMES_BYTES;
    assert_int_equal(snapshot_now(s, &snapshot), RTL_READER_VERSION);
    k->name_offset = UINT64_MAX - 2;
    assert_int_equal(snapshot_now(s, &snapshot), RTL_READER_VERSION);
    *k = was;
    k->name_length = UINT32_MAX;
    assert_int_equal(snapshot_now(s, &snapshot), RTL_READER_VERSION);
    *k = was;
    /* overlapping names would multiply memory: in total they can't be longer than their section */
    for (uint32_t i = 2; i < 2 + KERNELS; i++) {
        s->segment.kernels[i].name_offset = 0;
        s->segment.kernels[i].name_length = RTL_NAMES_BYTES / 4;
    }
    assert_int_equal(snapshot_now(s, &snapshot), RTL_READER_VERSION);
}

/* Every histogram claims every octave, which needs more chunks than exist. */
static void chunks_used_twice_are_refused(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot;
    s->segment.header->kernel_count = RTL_KERNELS_MAX;
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++) {
        s->segment.histograms[i].count = 1;
        memset(&s->segment.directory[i], 0xff, sizeof s->segment.directory[i]);
    }
    assert_int_equal(snapshot_now(s, &snapshot), RTL_READER_VERSION);
}

/* Every row looks as if a record never completes: the rows are approximate, and the number of retries is bounded. */
static void records_that_never_complete_are_approximate(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    s->segment.header->kernel_count = RTL_KERNELS_MAX;
    for (uint32_t i = 0; i < RTL_HISTOGRAMS_MAX; i++)
        s->segment.histograms[i].count++;
    for (uint32_t q = 0; q < RTL_QUEUES_MAX; q++)
        s->segment.queues[q].generation = 1; /* and so do the queues */
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.kernel_count, KERNELS);
    assert_int_equal(snapshot.timed, 15 * KERNELS);
    assert_int_equal(snapshot.queue_count, RTL_QUEUES_MAX);
    for (uint32_t i = 0; i < snapshot.kernel_count; i++)
        assert_true(snapshot.kernels[i].histogram.approximate);
    assert_in_range(s->reader->retried, 1, 10000); /* instead of up to 16,640 times 16 */
    rtl_snapshot_free(&snapshot);
}

static void sums_do_not_wrap(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    for (uint32_t q = 0; q < 3; q++) {
        s->segment.dispatches[(size_t)q * RTL_KERNELS_MAX + 2].calls = UINT64_MAX / 2;
        s->segment.queues[q].dispatches = UINT64_MAX - 1;
        s->segment.queues[q].completed = UINT64_MAX; /* more than were injected */
        s->segment.queues[q].dispatches_before = UINT64_MAX;
    }
    s->segment.header->signals_destroyed = UINT64_MAX;
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    assert_true(snapshot.kernels[0].calls == UINT64_MAX);
    assert_true(snapshot.counted == UINT64_MAX);
    assert_int_equal(snapshot.queues[0].depth, 0);
    assert_int_equal(snapshot.queues[0].dispatches, 0);
    assert_int_equal(snapshot.signals_free, 0);
    rtl_snapshot_free(&snapshot);
}

/* A name changes after it was read: the returned pointer and text stay. */
static void returned_names_are_stable(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    const char *name = s->good.kernels[3].name;
    memset(s->segment.names, '\0', 4096);
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    assert_ptr_equal(snapshot.kernels[3].name, name);
    assert_string_equal(name, "kernel 3");
    rtl_snapshot_free(&snapshot);
    struct rtl_reader *reader = fixture_reader(&s->segment);
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    assert_string_equal(snapshot.kernels[3].name, "????????"); /* no terminator inside a name */
    assert_int_equal(snapshot.kernels[3].name_length, 8);
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
}

/* Lines of a queue after holes of the file, between them and at the very ends are all found. */
static void a_queues_lines_between_holes_are_found(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    const uint32_t rows[] = {0, 63, 64, 5000, 5001, 12345, RTL_KERNELS_MAX - 1};
    enum { ROWS = sizeof rows / sizeof *rows };
    s->segment.header->kernel_count = RTL_KERNELS_MAX;
    for (uint32_t q = 9; q < RTL_QUEUES_MAX; q += 59) { /* includes the last slot */
        s->segment.queues[q].generation = 2;
        for (uint32_t i = 0; i < ROWS; i++)
            s->segment.dispatches[(size_t)q * RTL_KERNELS_MAX + rows[i]].calls = 1000 + q + i;
    }
    for (int sealed = 0; sealed < 2; sealed++) {
        struct rtl_reader *reader;
        char why[200];
        int fd = sealed ? dup(s->segment.fd) : unsealed_copy(s);
        assert_int_equal(rtl_reader_open_fd(fd, &reader, why, sizeof why), RTL_READER_OK);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
        for (uint32_t i = 0; i < ROWS; i++) {
            const struct rtl_kernel_snapshot *k = fixture_find(&snapshot, rows[i]);
            uint64_t before = rows[i] == 63 || rows[i] == 64 ? 16 : 0; /* from the setup's three queues */
            assert_non_null(k);
            assert_int_equal(k->calls, before + 3 * (1000 + i) + 9 + 68 + 127);
        }
        assert_int_equal(snapshot.kernel_count, KERNELS + 5);
        rtl_snapshot_free(&snapshot);
        rtl_reader_close(reader);
    }
}

/* Reading must not fill holes of the sparse file: the pages would count as the traced process's memory. */
static void reading_fills_no_holes_of_the_file(void **state)
{
    struct setup *s = *state;
    struct stat before, after;
    struct rtl_snapshot snapshot = {0};
    for (uint32_t q = 0; q < RTL_QUEUES_MAX; q++) {
        s->segment.queues[q].generation = 2;
        s->segment.dispatches[(size_t)q * RTL_KERNELS_MAX + RTL_KERNELS_MAX - 1].calls = 1; /* a hole before it */
    }
    s->segment.header->kernel_count = RTL_KERNELS_MAX;
    assert_int_equal(fstat(s->segment.fd, &before), 0);
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    rtl_snapshot_free(&snapshot);
    assert_int_equal(fstat(s->segment.fd, &after), 0);
    /* except for kernels, histograms and agents, which are dense */
    assert_in_range((after.st_blocks - before.st_blocks) * 512, 0, 4 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_honest_segment_is_read, start, stop),
        cmocka_unit_test_setup_teardown(pread_returns_the_same_snapshot, start, stop),
        cmocka_unit_test_setup_teardown(any_wrong_byte_of_the_header_is_safe, start, stop),
        cmocka_unit_test_setup_teardown(a_refusal_names_both_versions, start, stop),
        cmocka_unit_test_setup_teardown(later_layouts_are_read, start, stop),
        cmocka_unit_test_setup_teardown(any_wrong_section_is_safe, start, stop),
        cmocka_unit_test_setup_teardown(truncated_files_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(other_files_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(wrong_indices_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(chunks_used_twice_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(records_that_never_complete_are_approximate, start, stop),
        cmocka_unit_test_setup_teardown(sums_do_not_wrap, start, stop),
        cmocka_unit_test_setup_teardown(returned_names_are_stable, start, stop),
        cmocka_unit_test_setup_teardown(a_queues_lines_between_holes_are_found, start, stop),
        cmocka_unit_test_setup_teardown(reading_fills_no_holes_of_the_file, start, stop),
    };
    return cmocka_run_group_tests_name("hostile segments", tests, NULL, NULL);
}
