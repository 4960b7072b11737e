/*
 * Bounds of a snapshot: segments of other layouts are read up to a limit and refused beyond it, and the fullest
 * possible segment costs what segment_reader.h says. Also changes during a read: the writer runs between any two words
 * that the reader loads.
 */
#include "segment_fixture.h"

#include <stdio.h>

#include "model/labels.h"
#include "shm/gpu_names.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

enum { KERNELS = 20, QUEUES = 3 };

struct setup {
    struct rtl_segment segment;
    struct rtl_recorder *recorder;
};

static int start(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    char name[32];
    fixture_segment(&s->segment);
    s->recorder = rtl_recorder_create(&s->segment);
    for (uint32_t q = 0; q < QUEUES; q++)
        s->segment.queues[q] =
            (struct rtl_queue){.generation = 2, .queue_id = q + 1, .dispatches = 100, .packets = 100};
    for (uint32_t i = 0; i < KERNELS; i++) {
        int length = snprintf(name, sizeof name, "kernel number %u", i);
        uint32_t row = rtl_segment_add_kernel(&s->segment, name, (uint32_t)length, 1);
        for (uint32_t q = 0; q < QUEUES; q++)
            s->segment.dispatches[(size_t)q * RTL_KERNELS_MAX + row] =
                (struct rtl_dispatches){.calls = 10 + (q == 1), .grid = {64 * (q + 1), 1, 1}};
        for (uint32_t n = 0; n < 30; n++)
            rtl_recorder_record(s->recorder, row, 1000 * (i + 1) + n);
    }
    *state = s;
    return 0;
}

static int stop(void **state)
{
    struct setup *s = *state;
    rtl_recorder_destroy(s->recorder);
    fixture_drop(&s->segment);
    free(s);
    return 0;
}

/* --- layouts --- */

static void put(int fd, const void *what, size_t bytes, uint64_t at)
{
    assert_int_equal(pwrite(fd, what, bytes, (off_t)at), bytes);
}

/*
 * Write the segment in another version's layout into a sparse file: sections from `first` on, entries `growth` times as
 * long. Only used entries are written.
 */
static int relaid(const struct rtl_segment *segment, uint64_t first, uint32_t growth, uint32_t header_bytes)
{
    struct rtl_header header = *segment->header;
    int fd = memfd_create("relaid", MFD_CLOEXEC);
    static const char zeros[4096];
    assert_true(fd >= 0);
    for (uint32_t i = 0; i < RTL_SECTION_KNOWN; i++) {
        const struct rtl_section was = segment->header->section[i];
        struct rtl_section *to = &header.section[i];
        if (!was.capacity)
            continue;
        assert_true(was.stride <= sizeof zeros);
        to->offset = first;
        to->stride = i == RTL_SECTION_NAMES ? 1 : was.stride * growth;
        first = RTL_ALIGN_UP(first + (uint64_t)to->stride * to->capacity, 4096);
        assert_int_equal(ftruncate(fd, (off_t)first), 0);
        const char *from = (const char *)segment->header + was.offset;
        if (i == RTL_SECTION_NAMES)
            put(fd, from, 64 << 10, to->offset);
        for (uint32_t n = 0; i != RTL_SECTION_NAMES && n < was.capacity; n++)
            if (memcmp(from + (size_t)n * was.stride, zeros, was.stride) != 0)
                put(fd, from + (size_t)n * was.stride, was.stride, to->offset + (uint64_t)n * to->stride);
    }
    header.size = first;
    header.header_bytes = header_bytes;
    put(fd, &header, sizeof header, 0);
    return fd;
}

static enum rtl_reader_status open_relaid(const struct setup *s, uint64_t first, uint32_t growth, uint32_t header_bytes,
                                          struct rtl_reader **reader)
{
    char why[200];
    int fd = relaid(&s->segment, first, growth, header_bytes);
    enum rtl_reader_status status = rtl_reader_open_fd(fd, reader, why, sizeof why);
    if (status != RTL_READER_OK)
        close(fd);
    return status;
}

static void longer_entries_are_read_up_to_a_limit(void **state)
{
    struct setup *s = *state;
    struct rtl_reader *reader;
    for (uint32_t growth = 1; growth <= RTL_STRIDE_GROWTH; growth++) {
        struct rtl_snapshot snapshot = {0};
        assert_int_equal(open_relaid(s, 4096, growth, 4096, &reader), RTL_READER_OK);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
        assert_int_equal(snapshot.kernel_count, KERNELS);
        for (uint32_t i = 0; i < KERNELS; i++) {
            assert_int_equal(snapshot.kernels[i].calls, 31);
            assert_int_equal(snapshot.kernels[i].histogram.count, 30);
            assert_int_equal(snapshot.kernels[i].histogram.min_ns, 1000 * (i + 1));
        }
        rtl_snapshot_free(&snapshot);
        rtl_reader_close(reader);
    }
    assert_int_equal(open_relaid(s, 4096, RTL_STRIDE_GROWTH + 1, 4096, &reader), RTL_READER_VERSION);
}

static void a_longer_header_is_read_up_to_a_limit(void **state)
{
    struct setup *s = *state;
    struct rtl_reader *reader;
    assert_int_equal(open_relaid(s, 131072, 1, 65536, &reader), RTL_READER_OK);
    rtl_reader_close(reader);
    assert_int_equal(open_relaid(s, 131072, 1, 65537, &reader), RTL_READER_VERSION);
}

/* The sections' capacities may exceed the real contents: a name is never longer than the contract allows. */
static void names_longer_than_the_contract_are_refused(void **state)
{
    struct setup *s = *state;
    struct rtl_kernel *k = &s->segment.kernels[RTL_KERNEL_FIRST];
    for (uint32_t length = RTL_NAME_MAX; length <= RTL_NAME_MAX + 1; length++) {
        struct rtl_snapshot snapshot = {0};
        struct rtl_reader *reader = fixture_reader(&s->segment);
        k->name_length = length;
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot),
                         length <= RTL_NAME_MAX ? RTL_READER_OK : RTL_READER_VERSION);
        rtl_snapshot_free(&snapshot);
        rtl_reader_close(reader);
    }
    k->name_length = 4;
    /* a later version's names may have more room, but no longer text is accepted */
    struct rtl_reader *reader;
    char why[200];
    int fd = relaid(&s->segment, 4096, 1, 4096);
    struct rtl_section larger = {.offset = 1u << 30, .stride = 1, .capacity = 3u << 30};
    uint64_t size = 1ull << 40;
    put(fd, &larger, sizeof larger, offsetof(struct rtl_header, section) + RTL_SECTION_NAMES * sizeof larger);
    put(fd, &size, sizeof size, offsetof(struct rtl_header, size));
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(rtl_reader_open_fd(fd, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(reader->name_room, RTL_NAMES_BYTES);
    rtl_reader_close(reader);
}

/* A directory entry just after the last chunk. */
static void the_entry_after_the_last_is_refused(void **state)
{
    struct setup *s = *state;
    uint32_t used = (uint32_t)s->segment.header->chunks_used;
    assert_true(used > 2);
    for (uint32_t chunks = used; chunks <= used + 1; chunks++) {
        struct rtl_snapshot snapshot = {0};
        s->segment.header->section[RTL_SECTION_CHUNKS].capacity = chunks; /* the last chunk's number is `used` */
        struct rtl_reader *reader = fixture_reader(&s->segment);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), chunks > used ? RTL_READER_OK : RTL_READER_VERSION);
        rtl_snapshot_free(&snapshot);
        rtl_reader_close(reader);
    }
}

/* --- cost --- */

static void count_words(void *context, uint64_t offset)
{
    (void)offset;
    *(uint64_t *)context += 8;
}

static void costs_what_is_said(struct rtl_reader *reader,
                               enum rtl_reader_status (*take)(struct rtl_reader *, struct rtl_snapshot *))
{
    uint64_t memory = 0, read = 0;
    struct rtl_snapshot snapshot = {0};
    reader->meanwhile = count_words;
    reader->meanwhile_context = &read;
    assert_int_equal(take(reader, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.kernel_count, RTL_KERNELS_MAX);
    assert_int_equal(snapshot.queue_count, RTL_QUEUES_MAX);
    for (const struct rtl_block *b = snapshot.storage; b; b = b->next)
        memory += sizeof *b + b->size;
    memory += RTL_KERNELS_MAX * (sizeof *snapshot.kernels + sizeof(uint64_t));
    print_message("# %llu MB looked at, %llu MB of memory\n", (unsigned long long)(read >> 20),
                  (unsigned long long)(memory >> 20));
    assert_in_range(read, 128 << 20, RTL_SNAPSHOT_READ_MAX / 2); /* entries of this version's length */
    assert_in_range(memory, 32 << 20, RTL_SNAPSHOT_MEMORY_MAX);
    rtl_snapshot_free(&snapshot);
    reader->meanwhile = NULL;
}

/* Every row, every line and every chunk is in use, some of them coarse, too, and no record ever settles. */
static void the_fullest_segment_costs_the_documented_maximum(void **state)
{
    (void)state;
    struct rtl_segment segment;
    uint32_t chunk = 1;
    fixture_segment(&segment);
    segment.header->kernel_count = RTL_KERNELS_MAX;
    for (uint32_t i = 0; i < RTL_HISTOGRAMS_MAX; i++) {
        segment.histograms[i].count = 1;
        segment.histograms[i].flags = RTL_HISTOGRAM_COARSE;
        segment.coarse[i].count[9] = 1 + i % 2;
        for (uint32_t o = 0; o < 36 && chunk < RTL_CHUNKS_MAX; o++)
            segment.directory[i].chunk[o] = (uint16_t)chunk++;
    }
    for (uint32_t q = 0; q < RTL_QUEUES_MAX; q++) {
        segment.queues[q].generation = 2;
        for (uint32_t k = 0; k < RTL_KERNELS_MAX; k += 32) /* something on every page */
            segment.dispatches[(size_t)q * RTL_KERNELS_MAX + k].calls = 1;
    }
    struct rtl_reader *reader = fixture_reader(&segment);
    costs_what_is_said(reader, rtl_reader_snapshot);
    costs_what_is_said(reader, rtl_reader_changes);
    segment.queues[0].dispatches++; /* never accounted for */
    for (uint32_t k = 0; k < RTL_KERNELS_MAX; k++)
        segment.histograms[k].count += 5;
    costs_what_is_said(reader, rtl_reader_changes);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

static void launch_sizes_are_those_of_the_busiest_queue(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    struct rtl_reader *reader = fixture_reader(&s->segment);
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    for (uint32_t i = 0; i < KERNELS; i++)
        assert_int_equal(snapshot.kernels[i].grid[0], 128); /* neither the first queue's nor the last one's */
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
}

/* --- a queue's slot that another queue reuses during a read --- */

struct changing {
    struct rtl_queue *queue;
    uint64_t from, to; /* offsets of the slot's identity */
    uint32_t words, begin, finish, next;
};

/* The writer's part (intercept/track/queue_tracker.c): odd number, the words of the new identity, even number. `begin`
 * and `finish` are words.
 */
static void change_queue(void *context, uint64_t offset)
{
    struct changing *c = context;
    struct rtl_queue *q = c->queue;
    if (offset < c->from || offset >= c->to)
        return;
    if (c->words == c->begin) {
        c->next = q->generation / 2 + 1;
        q->generation = 2 * c->next - 1;
        q->agent = q->size_packets = c->next;
        q->queue_id = c->next;
        q->path = RTL_QUEUE_PATH_WORD(1, c->next);
    }
    if (c->words == c->finish) {
        q->created_mono_ns = c->next;
        q->generation = 2 * c->next;
    }
    c->words++;
}

static void a_queue_reused_during_a_read_is_the_old_or_the_new_one(void **state)
{
    struct setup *s = *state;
    struct rtl_queue *queue = &s->segment.queues[1];
    struct rtl_reader *reader = fixture_reader(&s->segment);
    enum { WORDS = offsetof(struct rtl_queue, dispatches) / 8 };
    int seen[2] = {0};
    for (uint32_t begin = 0; begin < 3 * WORDS; begin++)
        for (uint32_t finish = begin; finish < 3 * WORDS; finish++) {
            struct rtl_snapshot snapshot = {0};
            struct changing c = {.queue = queue, .begin = begin, .finish = finish};
            c.from = (uint64_t)((char *)queue - (char *)s->segment.header);
            c.to = c.from + offsetof(struct rtl_queue, dispatches);
            *queue = (struct rtl_queue){.generation = 14, .agent = 7, .size_packets = 7, .queue_id = 7};
            queue->path = RTL_QUEUE_PATH_WORD(1, 7);
            queue->dispatches = queue->packets = 1;
            reader->meanwhile = change_queue;
            reader->meanwhile_context = &c;
            assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
            const struct rtl_queue_snapshot *q = &snapshot.queues[1];
            if (q->queue_id != q->agent || q->queue_id != q->size_packets || q->queue_id * 2 != q->generation ||
                q->queue_id != q->path_reason)
                fail_msg("begun before word %u, done before %u: queue %u, agent %u, size %u, why %u, generation %u",
                         begin, finish, (unsigned)q->queue_id, q->agent, q->size_packets, q->path_reason,
                         q->generation);
            seen[q->queue_id == 8]++;
            rtl_snapshot_free(&snapshot);
        }
    assert_true(seen[0] && seen[1]);
    rtl_reader_close(reader);
}

/* Numbers outside the tables stay numbers without a name. Unknown paths, and those of merged queues, print nothing. */
static void unknown_paths_have_no_name(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot = {0};
    struct rtl_queue *queues = s->segment.queues;
    struct rtl_reader *reader = fixture_reader(&s->segment);
    queues[0].path = UINT32_MAX;
    queues[1].path = RTL_QUEUE_PATH_WORD(0, RTL_REASON_OTHER_TOOL);
    queues[2].path = RTL_QUEUE_PATH_WORD(RTL_PATH_DEMOTED, 0x10000 | RTL_REASON_OTHER_TOOL);
    queues[RTL_QUEUE_SHARED].packets = 1;
    queues[RTL_QUEUE_SHARED].path = RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_OTHER_TOOL);
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.queue_count, 4);
    static const uint32_t wanted[][2] = {
        {255, 0xffffff}, {0, 0}, {RTL_PATH_DEMOTED, 0x10000 | RTL_REASON_OTHER_TOOL}, {0, 0}};
    for (uint32_t q = 0; q < 4; q++) {
        assert_int_equal(snapshot.queues[q].path, wanted[q][0]);
        assert_int_equal(snapshot.queues[q].path_reason, wanted[q][1]);
    }
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
#define LAST(sym, num, key, text) most = num > most ? num : most;
    uint32_t most = 0, most_reason = 0;
    RTL_QUEUE_PATHS(LAST)
#undef LAST
#define LAST(sym, num, key, text) most_reason = num > most_reason ? num : most_reason;
    RTL_PATH_REASONS(LAST)
#undef LAST
    assert_true(!rtl_queue_path_key(most + 1) && !rtl_path_reason_key(most_reason + 1));
    static const uint32_t nameless[] = {0, 90, 255, 256, 0x10000 | RTL_REASON_OTHER_TOOL, UINT32_MAX};
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
        assert_true(!rtl_queue_path_key(nameless[i]) && !rtl_path_reason_key(nameless[i]) &&
                    !rtl_path_reason_text(nameless[i]));
#define NAMED(sym, num, key, text) assert_true(num < 256 && !strcmp(rtl_queue_path_key(num), key));
    RTL_QUEUE_PATHS(NAMED)
#define REASON_NAMED(sym, num, key, text) \
    assert_true(!strcmp(rtl_path_reason_key(num), key) && !strcmp(rtl_path_reason_text(num), text));
    RTL_PATH_REASONS(REASON_NAMED)
}

/* Any status is accepted. A kernel that is no row is not known. A time before the process's start counts as 0. */
static void errors_of_queues_are_bounded(void **state)
{
    struct setup *s = *state;
    struct rtl_queue *queues = s->segment.queues;
    uint64_t start = s->segment.header->start_mono_ns;
    queues[0].error = UINT32_MAX;
    queues[0].error_kernel = RTL_KERNELS_MAX + 1;
    queues[0].error_mono_ns = start - 1;
    queues[1].error = 43;
    queues[1].error_kernel = RTL_KERNELS_MAX;
    queues[1].error_mono_ns = start + 77;
    queues[2].error_kernel = 5; /* no error */
    queues[2].error_mono_ns = start + 5;
    static const uint64_t wanted[][3] = {{UINT32_MAX, 0, 0}, {43, RTL_KERNELS_MAX, 77}, {0, 0, 0}};
    for (uint32_t minor = 10; minor >= 9; minor--) { /* an older library may have any bytes there */
        struct rtl_snapshot snapshot = {0};
        s->segment.header->minor = minor;
        struct rtl_reader *reader = fixture_reader(&s->segment);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
        for (uint32_t q = 0; q < QUEUES; q++) {
            assert_int_equal(snapshot.queues[q].error_known, minor == 10);
            assert_int_equal(snapshot.queues[q].error, minor == 10 ? wanted[q][0] : 0);
            assert_int_equal(snapshot.queues[q].error_kernel, minor == 10 ? wanted[q][1] : 0);
            assert_int_equal(snapshot.queues[q].error_after_ns, minor == 10 ? wanted[q][2] : 0);
        }
        rtl_snapshot_free(&snapshot);
        rtl_reader_close(reader);
    }
}

/* An older library's mode "full" is read as default: its behaviour was the same. */
static void mode_full_is_read_as_default(void **state)
{
    struct setup *s = *state;
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot = {0};
    s->segment.header->mode = RTL_MODE_FULL;
    rtl_segment_set_in_force(&s->segment, RTL_MODE_FULL, RTL_ACTIVITY_TIMING, 7);
    assert_int_equal(open_relaid(s, 4096, 1, 4096, &reader), RTL_READER_OK);
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    assert_int_equal(snapshot.mode_started, RTL_MODE_DEFAULT);
    assert_int_equal(snapshot.mode, RTL_MODE_DEFAULT);
    assert_int_equal(snapshot.in_force, RTL_ACTIVITY_TIMING);
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
    assert_int_equal(rtl_mode_parse("full"), RTL_MODE_DEFAULT);
    assert_int_equal(rtl_mode_parse("standard"), RTL_MODE_DEFAULT);
    assert_int_equal(rtl_mode_parse("auto"), RTL_MODE_AUTO);
    assert_int_equal(rtl_mode_parse("unknown"), -1);
    assert_string_equal(rtl_mode_label(77), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(longer_entries_are_read_up_to_a_limit, start, stop),
        cmocka_unit_test_setup_teardown(a_longer_header_is_read_up_to_a_limit, start, stop),
        cmocka_unit_test_setup_teardown(names_longer_than_the_contract_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(the_entry_after_the_last_is_refused, start, stop),
        cmocka_unit_test(the_fullest_segment_costs_the_documented_maximum),
        cmocka_unit_test_setup_teardown(launch_sizes_are_those_of_the_busiest_queue, start, stop),
        cmocka_unit_test_setup_teardown(a_queue_reused_during_a_read_is_the_old_or_the_new_one, start, stop),
        cmocka_unit_test_setup_teardown(unknown_paths_have_no_name, start, stop),
        cmocka_unit_test_setup_teardown(errors_of_queues_are_bounded, start, stop),
        cmocka_unit_test_setup_teardown(mode_full_is_read_as_default, start, stop),
    };
    return cmocka_run_group_tests_name("what a snapshot takes", tests, NULL, NULL);
}
