/*
 * The event ring: events read are complete and in order, lost ones are counted exactly, also with a writer at full
 * speed and with any contents of the memory.
 */
#include "segment_fixture.h"
#include "unlinked.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "intercept/base/env_settings.h"
#include "shm/event_ring.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"
#include "shm/trace_size.h"

enum { RECORDS = 1024, FLAT_OUT = FIXTURE_TSAN ? 300000 : 3000000 };

static void ring_segment(struct rtl_segment *segment, uint32_t records)
{
    struct rtl_segment_config config = fixture_config;
    char why[300];
    config.events = records;
    if (rtl_segment_create(segment, &config, why, sizeof why) != 0)
        fail_msg("no segment: %s", why);
    assert_non_null(segment->ring);
}

/* Every word of record n (from 0) follows from n, so that a mix of two records shows. */
static struct rtl_event_record made(uint64_t n)
{
    uint32_t low = (uint32_t)n;
    return (struct rtl_event_record){.start_ns = n * 1000,
                                     .duration_ns = n * 7 + 1,
                                     .kernel = low,
                                     .generation = ~low,
                                     .queue = (uint16_t)n,
                                     .agent = (uint8_t)n,
                                     .grid = {low + 1, low + 2, low + 3},
                                     .workgroup = {(uint16_t)(n + 4), (uint16_t)(n + 5), (uint16_t)(n + 6)},
                                     .correlation = n ^ 0x5555555555555555ull};
}

static void put(struct rtl_segment *segment, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++) {
        struct rtl_event_record event = made(n);
        rtl_event_put_linked(segment, &event, NULL);
    }
}

static void assert_made(const struct rtl_event_record *event)
{
    struct rtl_event_record want = made(event->sequence - 1);
    want.sequence = event->sequence;
    assert_memory_equal(event, &want, sizeof want);
}

static void no_ring_without_request(void **state)
{
    struct rtl_segment segment;
    struct rtl_events events;
    struct rtl_event_record out;
    (void)state;
    fixture_segment(&segment);
    assert_null(segment.ring);
    assert_int_equal(segment.header->section[RTL_SECTION_RING].capacity, 0);
    struct rtl_reader *reader = fixture_reader(&segment);
    assert_int_equal(rtl_reader_events_capacity(reader), 0);
    assert_false(rtl_reader_events_begin(reader, &events));
    memset(&events, 0, sizeof events);
    assert_int_equal(read_unlinked(reader, &events, &out, 1), 0);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

static void events_are_in_order_and_complete(void **state)
{
    struct rtl_segment segment;
    struct rtl_events events;
    static struct rtl_event_record out[RECORDS];
    uint64_t next = 0;
    (void)state;
    ring_segment(&segment, RECORDS);
    struct rtl_reader *reader = fixture_reader(&segment);
    assert_int_equal(rtl_reader_events_capacity(reader), RECORDS);
    assert_true(rtl_reader_events_begin(reader, &events));
    for (int round = 0; round < 7; round++) { /* 700 at a time: across the ring's end more than once */
        put(&segment, next, next + 700);
        uint32_t n = read_unlinked(reader, &events, out, 500);
        assert_int_equal(n, 500);
        n += read_unlinked(reader, &events, out + n, RECORDS - 500);
        assert_int_equal(n, 700);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(out[i].sequence, ++next);
            assert_made(&out[i]);
        }
        assert_int_equal(read_unlinked(reader, &events, out, RECORDS), 0);
    }
    assert_int_equal(events.lost, 0);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

/* With links entries are twice as long; a reader without links still reads its records. */
static void links_come_with_their_records(void **state)
{
    struct rtl_segment segment;
    struct rtl_segment_config config = fixture_config;
    struct rtl_events events, plain;
    static struct rtl_linked_event out[RECORDS];
    static struct rtl_event_record records[RECORDS];
    (void)state;
    config.events = RECORDS;
    config.links = true;
    assert_int_equal(rtl_segment_create(&segment, &config, NULL, 0), 0);
    struct rtl_reader *reader = fixture_reader(&segment);
    assert_true(rtl_reader_events_begin(reader, &events));
    plain = events;
    for (uint64_t n = 0; n < RECORDS + 300; n++) { /* more than a lap: the ring holds entries of the previous lap */
        struct rtl_event_record event = made(n);
        struct rtl_event_link link = {
            .range = n + 1, .entry_ns = n + 2, .node = (uint32_t)n + 3, .ordinal = (uint32_t)n};
        rtl_event_put_linked(&segment, &event, n % 3 ? &link : NULL);
    }
    assert_int_equal(rtl_reader_linked_events(reader, &events, out, RECORDS), RECORDS);
    assert_int_equal(read_unlinked(reader, &plain, records, RECORDS), RECORDS);
    assert_int_equal(events.lost, 300);
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint64_t n = i + 300, linked = n % 3 != 0;
        assert_made(&out[i].record);
        assert_int_equal(out[i].record.sequence, n + 1);
        assert_memory_equal(&out[i].record, &records[i], sizeof records[i]);
        assert_int_equal(out[i].link.range, linked ? n + 1 : 0);
        assert_int_equal(out[i].link.entry_ns, linked ? n + 2 : 0);
        assert_int_equal(out[i].link.node, linked ? n + 3 : 0);
        assert_int_equal(out[i].link.ordinal, linked ? n : 0);
    }
    rtl_reader_close(reader);
    fixture_drop(&segment);

    ring_segment(&segment, RECORDS); /* a process that records no calls */
    reader = fixture_reader(&segment);
    put(&segment, 0, 10);
    memset(out, 0xff, sizeof out);
    assert_true(rtl_reader_events_begin(reader, &events));
    assert_int_equal(rtl_reader_linked_events(reader, &events, out, RECORDS), 10);
    assert_made(&out[9].record);
    assert_int_equal(out[9].link.range + out[9].link.node + out[9].link.pad[4], 0);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

static void overwritten_records_are_counted(void **state)
{
    struct rtl_segment segment;
    struct rtl_events events, late;
    static struct rtl_event_record out[RECORDS];
    (void)state;
    ring_segment(&segment, RECORDS);
    struct rtl_reader *reader = fixture_reader(&segment);
    assert_true(rtl_reader_events_begin(reader, &events));
    put(&segment, 0, 5 * RECORDS + 17);
    assert_int_equal(read_unlinked(reader, &events, out, RECORDS), RECORDS);
    assert_int_equal(events.lost, 4 * RECORDS + 17);
    assert_int_equal(out[0].sequence, 4 * RECORDS + 17 + 1);
    /* a later reader starts with the oldest record, and has lost none yet */
    assert_true(rtl_reader_events_begin(reader, &late));
    assert_int_equal(late.first, 4 * RECORDS + 17);
    assert_int_equal(read_unlinked(reader, &late, out, RECORDS), RECORDS);
    assert_int_equal(late.lost, 0);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

struct race {
    struct rtl_segment segment;
    _Atomic bool over;
};

static void *flat_out(void *data)
{
    struct race *race = data;
    put(&race->segment, 0, FLAT_OUT);
    atomic_store(&race->over, true);
    return NULL;
}

/* Readers of several speeds, mapped and unmapped, against a writer that never waits: no torn record, none missing. */
static void *read_along(void *data)
{
    struct race *race = data;
    struct rtl_events events;
    static _Thread_local struct rtl_event_record out[300];
    uint64_t got = 0, last = 0;
    struct rtl_reader *reader = fixture_reader(&race->segment);
    assert_true(rtl_reader_events_begin(reader, &events));
    for (bool over = false;;) {
        over = atomic_load(&race->over);
        uint32_t n = read_unlinked(reader, &events, out, sizeof out / sizeof *out);
        for (uint32_t i = 0; i < n; i++) {
            if (out[i].sequence <= last)
                fail_msg("record %llu again", (unsigned long long)out[i].sequence);
            last = out[i].sequence;
            assert_made(&out[i]);
        }
        got += n;
        if (over && !n)
            break;
    }
    assert_int_equal(events.next, FLAT_OUT);
    assert_int_equal(events.first + got + events.lost, FLAT_OUT);
    rtl_reader_close(reader);
    return NULL;
}

static void no_record_is_torn_at_full_speed(void **state)
{
    static struct race race;
    pthread_t writer, other;
    (void)state;
    atomic_store(&race.over, false);
    ring_segment(&race.segment, RECORDS); /* small, so that the writer overtakes all the time */
    assert_int_equal(pthread_create(&other, NULL, read_along, &race), 0);
    assert_int_equal(pthread_create(&writer, NULL, flat_out, &race), 0);
    read_along(&race);
    pthread_join(writer, NULL);
    pthread_join(other, NULL);
    fixture_drop(&race.segment);
}

/* Copy the segment into an ordinary file. It is not sealed, so the reader doesn't map it, and the test can damage it.
 */
static int copy_of(const struct rtl_segment *segment)
{
    int fd = memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint64_t ring = segment->header->section[RTL_SECTION_RING].offset;
    assert_true(fd >= 0 && ftruncate(fd, (off_t)segment->size) == 0);
    assert_true(pwrite(fd, segment->header, 4096, 0) == 4096);
    assert_true(pwrite(fd, (const char *)segment->header + ring, segment->size - ring, (off_t)ring) ==
                (ssize_t)(segment->size - ring));
    return fd;
}

static enum rtl_reader_status open_copy(int fd, struct rtl_reader **reader)
{
    char why[300] = "";
    enum rtl_reader_status status = rtl_reader_open_fd(dup(fd), reader, why, sizeof why);
    assert_true(status == RTL_READER_OK || (why[0] && !strchr(why, '\n')));
    return status;
}

static void a_false_head_is_survived(void **state)
{
    static const uint64_t heads[] = {0, 1, RECORDS - 1, 3 * RECORDS, 1ull << 40, INT64_MAX, 1ull << 63, UINT64_MAX};
    static struct rtl_event_record out[RECORDS];
    struct rtl_segment segment;
    struct rtl_reader *reader;
    (void)state;
    ring_segment(&segment, RECORDS);
    put(&segment, 0, RECORDS);
    int fd = copy_of(&segment);
    off_t at = (off_t)segment.header->section[RTL_SECTION_RING].offset;
    assert_int_equal(open_copy(fd, &reader), RTL_READER_OK);
    assert_null(reader->base);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        for (size_t j = 0; j < sizeof heads / sizeof *heads; j++) {
            struct rtl_events events = {0};
            uint64_t got = 0;
            pwrite(fd, &heads[i], 8, at);
            bool begun = rtl_reader_events_begin(reader, &events);
            assert_int_equal(begun, heads[i] <= INT64_MAX);
            pwrite(fd, &heads[j], 8, at);
            for (uint32_t n; (n = read_unlinked(reader, &events, out, RECORDS)) > 0; got += n)
                for (uint32_t k = 0; k < n; k++)
                    assert_made(&out[k]);
            assert_int_equal(events.next - events.first, got + events.lost);
            assert_true(got <= RECORDS);
        }
    }
    rtl_reader_close(reader);
    close(fd);
    fixture_drop(&segment);
}

static void false_record_numbers_are_survived(void **state)
{
    static struct rtl_event_record out[RECORDS];
    struct rtl_segment segment;
    struct rtl_reader *reader;
    struct rtl_events events;
    uint64_t random = 88172645463325252ull;
    (void)state;
    ring_segment(&segment, RECORDS);
    put(&segment, 0, RECORDS);
    int fd = copy_of(&segment);
    for (int i = 0; i < 100; i++) {
        uint64_t value = fixture_random(&random);
        off_t entry = (off_t)(fixture_random(&random) % RECORDS);
        pwrite(fd, &value, 8, (off_t)segment.header->section[RTL_SECTION_EVENTS].offset + 64 * entry);
    }
    assert_int_equal(open_copy(fd, &reader), RTL_READER_OK);
    assert_true(rtl_reader_events_begin(reader, &events));
    uint32_t n = read_unlinked(reader, &events, out, RECORDS);
    assert_true(n < RECORDS && n + events.lost == RECORDS);
    rtl_reader_close(reader);
    /* and a file that is truncated during the read */
    assert_int_equal(open_copy(fd, &reader), RTL_READER_OK);
    assert_true(rtl_reader_events_begin(reader, &events));
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(read_unlinked(reader, &events, out, RECORDS), 0);
    rtl_reader_close(reader);
    close(fd);
    fixture_drop(&segment);
}

/* Impossible sections of the ring are refused. Sections without their feature bit are ignored. */
static void false_sections_are_refused(void **state)
{
    static const struct {
        enum rtl_section_id id;
        struct rtl_section change; /* 0 = unchanged */
        enum rtl_reader_status want;
    } cases[] = {
        {RTL_SECTION_EVENTS, {.capacity = 1000}, RTL_READER_VERSION},     /* no power of two */
        {RTL_SECTION_EVENTS, {.capacity = 1 << 31}, RTL_READER_VERSION},  /* beyond the end */
        {RTL_SECTION_EVENTS, {.stride = 32}, RTL_READER_VERSION},         /* smaller than a record */
        {RTL_SECTION_EVENTS, {.offset = 1ull << 62}, RTL_READER_VERSION}, /* outside the file */
        {RTL_SECTION_EVENTS, {.offset = 4096}, RTL_READER_VERSION},       /* overlaps others */
        {RTL_SECTION_RING, {.stride = 8}, RTL_READER_VERSION},            /* too small for the head's line */
        {RTL_SECTION_EVENTS, {.capacity = RECORDS / 2}, RTL_READER_OK},   /* valid */
    };
    struct rtl_segment segment;
    struct rtl_reader *reader;
    (void)state;
    ring_segment(&segment, RECORDS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = copy_of(&segment);
        struct rtl_section section = segment.header->section[cases[i].id], change = cases[i].change;
        section.offset = change.offset ? change.offset : section.offset;
        section.stride = change.stride ? change.stride : section.stride;
        section.capacity = change.capacity ? change.capacity : section.capacity;
        off_t at = (off_t)(offsetof(struct rtl_header, section) + cases[i].id * sizeof section);
        assert_true(pwrite(fd, &section, sizeof section, at) == sizeof section);
        if (open_copy(fd, &reader) != cases[i].want)
            fail_msg("case %zu", i);
        if (cases[i].want == RTL_READER_OK)
            rtl_reader_close(reader);
        uint64_t none = 0; /* without the feature bit the reader ignores them */
        assert_true(pwrite(fd, &none, 8, offsetof(struct rtl_header, features_optional)) == 8);
        assert_int_equal(open_copy(fd, &reader), RTL_READER_OK);
        assert_int_equal(rtl_reader_events_capacity(reader), 0);
        rtl_reader_close(reader);
        close(fd);
    }
    int fd = copy_of(&segment); /* the bit without the sections */
    uint32_t count = RTL_SECTION_COUNT;
    assert_true(pwrite(fd, &count, 4, offsetof(struct rtl_header, section_count)) == 4);
    assert_int_equal(open_copy(fd, &reader), RTL_READER_OK);
    assert_int_equal(rtl_reader_events_capacity(reader), 0);
    rtl_reader_close(reader);
    close(fd);
    fixture_drop(&segment);
}

static void rtl_trace_is_parsed(void **state)
{
    static const struct {
        const char *value;
        bool good;
        uint32_t records;
    } cases[] = {
        {NULL, true, 0},
        {"", true, 0},
        {"0", true, 0},
        {"1", true, RTL_EVENTS_DEFAULT},
        {"64K", true, 1024},
        {"65k", true, 2048},
        {"16M", true, 262144},
        {"100m", true, 1 << 21},
        {"1G", true, 1 << 24},
        {"2G", false, 0},
        {"63K", false, 0},
        {"2", false, 0},
        {"16", false, 0},
        {"16MB", false, 0},
        {"-1", false, 0},
        {"on", false, 0},
        {"0x10M", false, 0},
        {"M", false, 0},
        {"99999999999999999999999M", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t records = 77;
        bool good = rtl_trace_parse(cases[i].value, &records);
        if (good != cases[i].good || records != cases[i].records)
            fail_msg("%s: %d, %u", cases[i].value ? cases[i].value : "(unset)", good, records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ring_without_request),
        cmocka_unit_test(events_are_in_order_and_complete),
        cmocka_unit_test(links_come_with_their_records),
        cmocka_unit_test(overwritten_records_are_counted),
        cmocka_unit_test(no_record_is_torn_at_full_speed),
        cmocka_unit_test(a_false_head_is_survived),
        cmocka_unit_test(false_record_numbers_are_survived),
        cmocka_unit_test(false_sections_are_refused),
        cmocka_unit_test(rtl_trace_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
