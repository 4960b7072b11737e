/*
 * The numbers in a trace: GPUs and queues have the numbers of their process's screen. Several processes and recorders
 * may share a file. A ring or file full of nonsense costs a bounded amount of work.
 */
#include "rocpd_fixture.h"

#include <stdatomic.h>

#include "record/rocpd_numbers.h"

static struct rtl_event_record dispatch(uint32_t agent, uint32_t slot, uint32_t generation)
{
    return (struct rtl_event_record){.start_ns = 1000,
                                     .duration_ns = 500,
                                     .kernel = 2,
                                     .queue = (uint16_t)slot,
                                     .generation = generation,
                                     .agent = (uint8_t)agent,
                                     .grid = {64, 1, 1},
                                     .workgroup = {64, 1, 1}};
}

/* Open a new recorder for another process or a changed segment; the file stays. */
static void begin_again(struct setup *s, int64_t pid)
{
    rtl_rocpd_free(s->rocpd);
    rtl_db_close(s->db);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, pid, "serve", rtl_text_escape);
    if (!s->rocpd)
        fail_msg("%s", rtl_db_why(s->db));
}

static void describe(struct setup *s, uint32_t agent, uint32_t gpu, uint32_t bdf)
{
    s->segment.agents[agent] = (struct rtl_agent){.state = 1, .gpu = gpu, .bdf = bdf, .name = "gfx90a"};
}

static void start_anew(struct setup *s)
{
    rtl_rocpd_free(s->rocpd);
    rtl_db_close(s->db);
    unlink(s->path);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve", rtl_text_escape);
    assert_non_null(s->rocpd);
}

#define NAMES                                                                                           \
    "SELECT o.gpuId || ' ' || o.queueId || ' ' || json_extract(q.value, '$.name') FROM rocpd_op o JOIN" \
    " (SELECT tag, iif(json_valid(value), value, '{}') AS value FROM rocpd_metadata) q"                 \
    " ON q.tag = 'queue ' || o.queueId AND json_extract(q.value, '$.gpu') = o.gpuId ORDER BY o.id"

static void gpus_and_queues_have_the_screens_numbers(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 1, 0x0400); /* an agent's position in the table is not its number */
    describe(s, 1, 0, 0x0900);
    start_anew(s);
    struct rtl_event_record records[] = {dispatch(1, 1, 2), dispatch(0, 0, 2), dispatch(0, 2, 2)};
    write_records(s, records, 3);
    assert_sql(s, NAMES, "0 71 G0 09:00.0 queue 71|1 70 G1 04:00.0 queue 70|1 72 G1 04:00.0 queue 72");
    assert_sql(
        s, "SELECT tag || ' ' || json_extract(value, '$.pci') FROM rocpd_metadata WHERE tag GLOB 'gpu *' ORDER BY tag",
        "gpu 0 0000:09:00.0|gpu 1 0000:04:00.0");
}

static void a_gpu_has_one_number_in_a_file(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 0, 0x0300);
    describe(s, 1, 1, 0x0400);
    start_anew(s);
    struct rtl_event_record first[] = {dispatch(0, 0, 2), dispatch(1, 1, 2)};
    write_records(s, first, 2);
    describe(s, 0, 0, 0x0400); /* a process with another order, and with a GPU that the first one lacks */
    describe(s, 1, 1, 0x0900);
    begin_again(s, 4712);
    struct rtl_event_record second[] = {dispatch(0, 0, 2), dispatch(1, 1, 2)};
    write_records(s, second, 2);
    assert_sql(s, NAMES,
               "0 70 G0 03:00.0 queue 70|1 71 G1 04:00.0 queue 71|1 70 G0 04:00.0 queue 70|2 71 G1 09:00.0 queue 71");
    begin_again(s, 4711); /* the file still has it */
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'", "3");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'process *'", "2");
}

/* All GPUs of the first process get their numbers before another process can use them. */
static void gpus_are_numbered_when_the_recording_begins(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 0, 0x0300);
    describe(s, 1, 1, 0x0400);
    start_anew(s);
    struct rtl_event_record first = dispatch(0, 0, 2);
    write_records(s, &first, 1);
    describe(s, 0, 1, 0x0800);
    describe(s, 1, 0, 0x0900);
    begin_again(s, 4712);
    assert_sql(
        s, "SELECT tag || ' ' || json_extract(value, '$.pci') FROM rocpd_metadata WHERE tag GLOB 'gpu *' ORDER BY tag",
        "gpu 0 0000:03:00.0|gpu 1 0000:04:00.0|gpu 2 0000:09:00.0|gpu 3 0000:08:00.0");
}

/* A free number goes to the GPU that has it on the screen, not to a GPU that needs a substitute. */
static void free_numbers_are_kept_for_the_gpu_of_that_number(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 0, 0x0300);
    s->segment.agents[1].state = 0;
    start_anew(s);
    describe(s, 0, 0, 0x0800);
    describe(s, 1, 1, 0x0900);
    begin_again(s, 4712);
    assert_sql(
        s, "SELECT tag || ' ' || json_extract(value, '$.pci') FROM rocpd_metadata WHERE tag GLOB 'gpu *' ORDER BY tag",
        "gpu 0 0000:03:00.0|gpu 1 0000:09:00.0|gpu 2 0000:08:00.0");
}

/* A destroyed queue stays in its slot until another queue reuses it. */
static void destroyed_queues_keep_their_numbers(void **state)
{
    struct setup *s = *state;
    s->segment.queues[0].generation = 4;
    s->segment.queues[0].live = 0;
    s->segment.queues[1].generation = 4;
    start_anew(s);
    struct rtl_event_record records[] = {dispatch(0, 0, 2), dispatch(1, 1, 2)};
    write_records(s, records, 2);
    assert_sql(s, NAMES, "0 70 G0 0001:03:00.0 queue 70|1 1000000 G1 0001:04:00.0 gone queue 1000000");
}

/* A queue's name includes its path where the library publishes one. */
static void a_queues_name_includes_its_path(void **state)
{
    struct setup *s = *state;
    s->segment.queues[0].path = RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_DEFAULT);
    s->segment.queues[2].path = RTL_QUEUE_PATH_WORD(77, RTL_REASON_OTHER_TOOL);
    start_anew(s);
    struct rtl_event_record records[] = {dispatch(0, 0, 2), dispatch(1, 1, 2), dispatch(0, 2, 2)};
    write_records(s, records, 3);
    assert_sql(s,
               "SELECT json_extract(value, '$.queue') || ' ' || ifnull(json_extract(value, '$.way'), '-') || ' ' ||"
               " ifnull(json_extract(value, '$.way_why'), '-') FROM rocpd_metadata WHERE tag GLOB 'queue *' ORDER BY 1",
               "70 native default|71 - -|72 - other_tool");
}

/* Records of unknown queues or GPUs are dropped and counted. */
static void records_of_unknown_queues_are_counted(void **state)
{
    struct setup *s = *state;
    s->segment.queues[0].generation = 8;
    struct rtl_event_record records[] = {dispatch(0, 0, 8), /* the only valid one */
                                         dispatch(1, 0, 8),   dispatch(0, 0, 7),  dispatch(0, 0, 10),
                                         dispatch(0, 128, 8), dispatch(0, 50, 2), dispatch(5, 0, 8),
                                         dispatch(200, 0, 8), dispatch(63, 0, 0), dispatch(5, 0, 0)};
    struct rtl_rocpd_state written = {.events = {.next = 10}};
    for (uint32_t i = 0; i < 10; i++)
        records[i].sequence = i + 1;
    records[9].flags = RTL_EVENT_COPY;
    assert_int_equal(write_unlinked(s->rocpd, records, 10, &written, NULL), 0);
    assert_int_equal(written.unknown, 9);
    assert_int_equal(written.copies, 1);
    assert_sql(
        s, NAMES,
        "0 70 G0 0001:03:00.0 queue 70|1 1000000 G1 0001:04:00.0 unknown queues|"
        "0 1000001 G0 0001:03:00.0 unknown queues|0 1000001 G0 0001:03:00.0 unknown queues|"
        "0 1000001 G0 0001:03:00.0 unknown queues|0 1000001 G0 0001:03:00.0 unknown queues|"
        "5 1000002 G5 unknown queues|64 1000003 G64 unknown queues|63 1000004 G63 other queues|5 1000005 G5 copies");
}

/* A process creates its first queue after the recording has begun. */
static void gpus_described_later_get_their_numbers(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 1, 0x0300);
    describe(s, 1, 0, 0x0400);
    s->segment.agents[0].state = s->segment.agents[1].state = 0;
    start_anew(s);
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'", "0");
    s->segment.agents[0].state = s->segment.agents[1].state = 1;
    struct rtl_event_record record = dispatch(0, 0, 2);
    write_records(s, &record, 1);
    assert_sql(s, NAMES, "1 70 G1 03:00.0 queue 70");
    assert_sql(s, "SELECT tag FROM rocpd_metadata WHERE tag GLOB 'gpu *' ORDER BY tag", "gpu 0|gpu 1");
}

/* Partitions of a GPU, and GPUs of unknown address, are not merged. */
static void gpus_with_one_address_stay_apart(void **state)
{
    struct setup *s = *state;
    describe(s, 0, 0, 0);
    describe(s, 1, 1, 0);
    start_anew(s);
    struct rtl_event_record records[] = {dispatch(0, 0, 2), dispatch(1, 1, 2)};
    write_records(s, records, 2);
    assert_sql(s, "SELECT gpuId FROM rocpd_op ORDER BY id", "0|1");
    memcpy(s->segment.agents[1].uuid, "GPU-2", 6);
    begin_again(s, 4711);
    assert_sql(s,
               "SELECT group_concat(json_extract(value, '$.part') || json_extract(value, '$.uuid')) FROM rocpd_metadata"
               " WHERE tag GLOB 'gpu *'",
               "0,1,0GPU-2");
}

/* Two recorders share a file, as two rtl-tops do: each finds what the other has added. */
static void two_recorders_of_a_file_agree_on_numbers(void **state)
{
    struct setup *s = *state;
    struct rtl_db *db = open_db(s->path, true);
    struct rtl_rocpd *other = rtl_rocpd_begin(db, s->reader, 4711, "serve", rtl_text_escape);
    struct rtl_event_record record = dispatch(0, 0, 2), second = dispatch(1, 1, 2);
    struct rtl_rocpd_state nothing = {.events = {.next = 1}};
    assert_non_null(other);
    record.sequence = 1;
    second.sequence = 2;
    assert_int_equal(write_unlinked(s->rocpd, &record, 1, &nothing, NULL), 0);
    assert_int_equal(write_unlinked(other, &second, 1, &nothing, NULL), 0);
    assert_int_equal(write_unlinked(other, &record, 1, &nothing, NULL), 0);
    assert_int_equal(write_unlinked(s->rocpd, &second, 1, &nothing, NULL), 0);
    rtl_rocpd_free(other);
    rtl_db_close(db);
    assert_sql(s, NAMES, "0 70 G0 0001:03:00.0 queue 70|1 71 G1 0001:04:00.0 queue 71");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'queue *'", "2");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'process *'", "1");
}

/* --- nonsense --- */

enum { RECORDS = 200000 };

static struct rtl_event_record *nonsense(uint32_t generations)
{
    struct rtl_event_record *records = malloc(RECORDS * sizeof *records);
    uint64_t random = 88172645463325252ull;
    assert_non_null(records);
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint64_t r = fixture_random(&random);
        records[i] = dispatch(r % 2, r >> 8 & 0xffff, (uint32_t)(r >> 32) % generations);
        records[i].sequence = i + 1;
    }
    return records;
}

static uint64_t steps_of(struct setup *s, const struct rtl_event_record *records, uint32_t n,
                         struct rtl_rocpd_state *state)
{
    uint64_t before = rtl_rocpd_steps(s->rocpd);
    *state = (struct rtl_rocpd_state){.events = {.next = n}};
    if (write_unlinked(s->rocpd, records, n, state, NULL))
        fail_msg("%s", rtl_db_why(s->db));
    return rtl_rocpd_steps(s->rocpd) - before;
}

/* Queue numbers that no process can have cost no search: they are recorded on one queue for unknown numbers. */
static void impossible_queue_numbers_share_one_queue(void **state)
{
    struct setup *s = *state;
    struct rtl_rocpd_state written;
    struct rtl_event_record *records = nonsense(UINT32_MAX);
    for (uint32_t i = 0; i < RECORDS; i++)
        records[i].generation |= 4; /* outside the slots' generations */
    uint64_t steps = steps_of(s, records, RECORDS, &written);
    free(records);
    assert_in_range(steps, 0, 100);
    assert_int_equal(written.rows, RECORDS);
    assert_int_equal(written.unknown, RECORDS);
    assert_sql(s, "SELECT count(*) FROM rocpd_op", "200000");
    assert_sql(s, "SELECT json_extract(value, '$.name') FROM rocpd_metadata WHERE tag GLOB 'queue *' ORDER BY tag",
               "G0 0001:03:00.0 unknown queues|G1 0001:04:00.0 unknown queues");
    assert_sql(s, "SELECT json_extract(value, '$.unknown') FROM rocpd_metadata WHERE tag = 'recording 0'", "200000");
}

/* Plausible unknown queues are recorded up to a limit; each is found without a scan. */
static void plausible_unknown_queues_are_bounded(void **state)
{
    struct setup *s = *state;
    struct rtl_rocpd_state written;
    struct rtl_event_record *records = nonsense(UINT32_MAX);
    for (uint32_t q = 0; q < 100; q++) {
        s->segment.queues[q].generation = UINT32_MAX - 1;
        s->segment.queues[q].agent = q % 2;
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        records[i].queue %= 100;
        records[i].generation = (records[i].generation & ~1u) | 2;
    }
    uint64_t steps = steps_of(s, records, RECORDS, &written);
    free(records);
    assert_in_range(steps, 3 * RTL_NUMBERS_QUEUES, 20ull * RECORDS);
    assert_int_equal(written.unknown, RECORDS - RTL_NUMBERS_QUEUES);
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'queue *' AND value NOT LIKE '%unknown%'",
               "65536");
    assert_sql(s, "SELECT count(DISTINCT queueId || ' ' || gpuId) FROM rocpd_op", "65538");
    assert_sql(s, "SELECT count(*) FROM rocpd_op", "200000");
}

/* 10,000 queues, one after another; each is destroyed before the recorder reads the table. */
static void ten_thousand_short_lived_queues_are_recorded(void **state)
{
    enum { QUEUES = 10000 };
    struct setup *s = *state;
    struct rtl_rocpd_state written;
    struct rtl_event_record *records = malloc(QUEUES * sizeof *records);
    s->segment.queues[0].generation = 4 * QUEUES + 4;
    for (uint32_t i = 0; i < QUEUES; i++) {
        records[i] = dispatch(0, 0, 4 * i + 2);
        records[i].sequence = i + 1;
    }
    uint64_t steps = steps_of(s, records, QUEUES, &written);
    assert_in_range(steps, QUEUES, 20 * QUEUES);
    steps = steps_of(s, records, QUEUES, &written); /* the second time they are known */
    assert_in_range(steps, QUEUES / 2, 4 * QUEUES);
    free(records);
    assert_int_equal(written.unknown, 0);
    assert_sql(s, "SELECT count(DISTINCT queueId) FROM rocpd_op", "10000");
}

/* A table of identical or empty GPUs, and records of other GPUs. */
static void a_table_of_identical_gpus_is_recorded(void **state)
{
    struct setup *s = *state;
    uint64_t random = 1;
    for (uint32_t a = 0; a < RTL_AGENTS_MAX; a++) {
        describe(s, a, a % 3 ? 7 : UINT32_MAX - a, a % 5 ? 0x0300 : (uint32_t)fixture_random(&random));
        s->segment.agents[a].state = a % 7 != 6;
    }
    for (int q = 0; q < RTL_QUEUES_MAX; q++)
        s->segment.queues[q] = (struct rtl_queue){
            .generation = (uint32_t)fixture_random(&random), .agent = (uint32_t)fixture_random(&random), .queue_id = 5};
    start_anew(s);
    struct rtl_event_record *records = nonsense(UINT32_MAX);
    struct rtl_rocpd_state written;
    for (uint32_t i = 0; i < RECORDS; i++) {
        records[i].agent = (uint8_t)i;
        records[i].queue %= 200;
        if (i % 16 == 0)
            records[i].flags |= RTL_EVENT_COPY;
    }
    uint64_t steps = steps_of(s, records, RECORDS, &written);
    free(records);
    assert_in_range(steps, 0, 20ull * RECORDS);
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'", "65");
    assert_sql(s, "SELECT count(DISTINCT gpuId) FROM rocpd_op", "65");
    assert_sql(s,
               "SELECT count(*) FROM rocpd_op o LEFT JOIN rocpd_metadata q ON q.tag = 'queue ' || o.queueId"
               " WHERE q.id IS NULL",
               "0");
    assert_sql(s,
               "SELECT count(*) FROM (SELECT tag, json_extract(value, '$.gpu') FROM rocpd_metadata"
               " WHERE tag GLOB 'queue *' GROUP BY 1, 2 HAVING count(*) > 1)",
               "0");
}

/* Names that overlap in the segment cost no more bytes than an honest segment has (the reader's bound). */
static void overlapping_names_are_bounded(void **state)
{
    enum { KERNELS = 400, LENGTH = 65000 };
    struct setup *s = *state;
    char *name = malloc(LENGTH + 1);
    memset(name, 'x', LENGTH);
    name[LENGTH] = 0;
    uint32_t first = fixture_kernel(&s->segment, name);
    free(name);
    struct rtl_event_record records[KERNELS];
    for (uint32_t i = 0; i < KERNELS; i++) {
        fixture_kernel(&s->segment, "k");
        struct rtl_kernel *k = &s->segment.kernels[first + i];
        k->name_offset = s->segment.kernels[first].name_offset;
        k->name_length = LENGTH - i;
        records[i] = dispatch(0, 0, 2);
        records[i].kernel = first + i;
    }
    write_records(s, records, KERNELS);
    assert_sql(s, "SELECT sum(length(string)) <= 16777216 + 1000 FROM rocpd_string", "1");
    assert_sql(s, "SELECT count(*) > 0 FROM op WHERE description = '(unknown kernel)'", "1");
}

/* --- a request to leave --- */

static _Atomic bool leave;

/* Ask to leave while the first batch escapes a kernel's name. */
static size_t escape_and_leave(char *out, size_t size, const char *bytes, size_t length)
{
    atomic_store(&leave, !strcmp(bytes, "plain"));
    return rtl_text_escape(out, size, bytes, length);
}

static void a_recorder_can_leave_within_a_write(void **state)
{
    struct setup *s = *state;
    struct rtl_rocpd_state written = {.events = {.next = RECORDS}};
    struct rtl_event_record *records = nonsense(4);
    rtl_rocpd_free(s->rocpd);
    rtl_db_close(s->db);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve", escape_and_leave);
    assert_false(atomic_load(&leave));
    assert_int_equal(write_unlinked(s->rocpd, records, RECORDS, &written, &leave), 0);
    free(records);
    assert_true(atomic_load(&leave));
    assert_in_range(written.rows, 1, 10000);
    assert_int_equal(written.left_out, RECORDS - written.rows);
    char want[40];
    snprintf(want, sizeof want, "%u", (unsigned)written.rows);
    assert_sql(s, "SELECT count(*) FROM rocpd_op", want);
    assert_sql(s, "SELECT json_extract(value, '$.rows') FROM rocpd_metadata WHERE tag = 'recording 1'", want);
    assert_sql(s,
               "SELECT json_extract(value, '$.left_out') + json_extract(value, '$.rows') FROM rocpd_metadata"
               " WHERE tag = 'recording 1'",
               "200000");
}

/* --- files with false numbers --- */

static void exec(struct setup *s, const char *sql)
{
    struct rtl_db *db = open_db(s->path, true);
    rtl_db_exec(db, sql);
    if (rtl_db_status(db))
        fail_msg("%s", rtl_db_why(db));
    rtl_db_close(db);
}

static void a_files_false_numbers_are_not_trusted(void **state)
{
    struct setup *s = *state;
    exec(s,
         "DELETE FROM rocpd_metadata WHERE tag GLOB 'gpu *' OR tag GLOB 'process *';"
         "INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu 0', '{\"host\":'), ('gpu 1', NULL), ('gpu x', '{}'),"
         " ('queue 70', '{\"process\":[1,2],\"gpu\":\"x\",\"slot\":{}}'), ('queue 1e9', zeroblob(10)),"
         " ('gpu 99999999999999999999', '{\"part\":-1}'), ('process 8388608', '[]'), ('process 0', '{\"pid\":1e300}'),"
         " ('queue -5', '{}'), ('process', '{}'), (NULL, NULL), (7, 8), ('recording zz', '{}')");
    begin_again(s, 4711);
    struct rtl_event_record records[] = {dispatch(0, 0, 2), dispatch(1, 1, 2)};
    write_records(s, records, 2);
    assert_sql(s, "SELECT o.id >> 40 FROM rocpd_op o ORDER BY id", "1|1");
    assert_sql(s, "SELECT gpuId FROM rocpd_op ORDER BY id", "2|3");     /* the file assigns 0 and 1 to other GPUs */
    assert_sql(s, "SELECT queueId FROM rocpd_op ORDER BY id", "70|71"); /* 70 is in use on GPU 0 only */
}

static void a_file_of_too_many_gpus_is_refused(void **state)
{
    struct setup *s = *state;
    exec(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 140000)"
            " INSERT INTO rocpd_metadata(tag, value) SELECT 'queue ' || i, '{\"gpu\":0,\"slot\":' || i || '}' FROM n");
    struct rtl_db *db = open_db(s->path, true);
    assert_null(rtl_rocpd_begin(db, s->reader, 4711, "serve", rtl_text_escape));
    assert_int_equal(rtl_db_status(db), RTL_DB_SCHEMA);
    assert_non_null(strstr(rtl_db_why(db), "more than 131072 processes, GPUs and queues"));
    rtl_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gpus_and_queues_have_the_screens_numbers, start, stop),
        cmocka_unit_test_setup_teardown(a_gpu_has_one_number_in_a_file, start, stop),
        cmocka_unit_test_setup_teardown(gpus_are_numbered_when_the_recording_begins, start, stop),
        cmocka_unit_test_setup_teardown(free_numbers_are_kept_for_the_gpu_of_that_number, start, stop),
        cmocka_unit_test_setup_teardown(destroyed_queues_keep_their_numbers, start, stop),
        cmocka_unit_test_setup_teardown(a_queues_name_includes_its_path, start, stop),
        cmocka_unit_test_setup_teardown(records_of_unknown_queues_are_counted, start, stop),
        cmocka_unit_test_setup_teardown(gpus_described_later_get_their_numbers, start, stop),
        cmocka_unit_test_setup_teardown(gpus_with_one_address_stay_apart, start, stop),
        cmocka_unit_test_setup_teardown(two_recorders_of_a_file_agree_on_numbers, start, stop),
        cmocka_unit_test_setup_teardown(impossible_queue_numbers_share_one_queue, start, stop),
        cmocka_unit_test_setup_teardown(plausible_unknown_queues_are_bounded, start, stop),
        cmocka_unit_test_setup_teardown(ten_thousand_short_lived_queues_are_recorded, start, stop),
        cmocka_unit_test_setup_teardown(a_table_of_identical_gpus_is_recorded, start, stop),
        cmocka_unit_test_setup_teardown(overlapping_names_are_bounded, start, stop),
        cmocka_unit_test_setup_teardown(a_recorder_can_leave_within_a_write, start, stop),
        cmocka_unit_test_setup_teardown(a_files_false_numbers_are_not_trusted, start, stop),
        cmocka_unit_test_setup_teardown(a_file_of_too_many_gpus_is_refused, start, stop),
    };
    return cmocka_run_group_tests_name("numbers in traces", tests, NULL, NULL);
}
