/*
 * A trace in the rocpd schema: the file has every table, column and view of the format, rows have the records' values,
 * and records with false values can't break the file.
 */
#include "rocpd_fixture.h"

#include "shm/clock_offsets.h"

static void copies_have_a_type_and_a_size(void **state)
{
    struct setup *s = *state;
    struct rtl_event_record records[5] = {0};
    for (uint32_t i = 0; i < 4; i++)
        records[i] = (struct rtl_event_record){.start_ns = 1000 + 10 * i,
                                               .duration_ns = 100 + i,
                                               .kernel = i, /* the direction */
                                               .flags = RTL_EVENT_COPY,
                                               .grid = {i + 1, i == 3 ? 2 : 0}};
    records[4] =
        (struct rtl_event_record){.start_ns = 1000, .duration_ns = 7, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}};
    write_records(s, records, 5);
    assert_sql(s, "SELECT Name || ' ' || Calls || ' ' || TotalNs FROM top WHERE Name GLOB 'Copy*' ORDER BY TotalNs",
               "CopyHostToDevice 1 100|CopyDeviceToHost 1 101|CopyDeviceToDevice 1 102|CopyPeerToPeer 1 103");
    assert_sql(s, "SELECT substr(completionSignal, instr(completionSignal, ' ') + 1) FROM op ORDER BY id",
               "size=1|size=2|size=3|size=8589934596|wg=64,1,1 grid=64,1,1");
    assert_sql(s, "SELECT count(DISTINCT queueId) || ' ' || count(DISTINCT description_id) FROM rocpd_op", "2 2");
    assert_sql(s,
               "SELECT json_extract(m.value, '$.name') || count(*) FROM rocpd_op o JOIN rocpd_metadata m"
               " ON m.tag = 'queue ' || o.queueId AND m.value LIKE '%\"kind\":\"copies\"%' GROUP BY o.queueId",
               "G0 0001:03:00.0 copies4");
    assert_sql(s, "SELECT ops || ' ' || busy_ns FROM busy", "1 7"); /* of kernels */
}

static void the_file_has_every_table_column_and_view(void **state)
{
    static const struct {
        const char *table, *columns; /* columns in the format's order; ours follow */
    } format[] = {
        {"rocpd_string", "id string"},
        {"rocpd_op", "id gpuId queueId sequenceId completionSignal start end description_id opType_id roctxId "
                     "correlation_id dims"},
        {"rocpd_api", "id pid tid start end apiName_id args_id category_id domain_id correlation_id"},
        {"rocpd_api_ops", "id api_id op_id"},
        {"rocpd_kernelapi", "api_ptr_id api_id stream gridX gridY gridZ workgroupX workgroupY workgroupZ "
                            "groupSegmentSize privateSegmentSize kernelName_id"},
        {"rocpd_copyapi", "api_ptr_id api_id stream size dst src kind sync"},
        {"rocpd_metadata", "id tag value"},
        {"rocpd_monitor", "id deviceType deviceId monitorType start end value"},
        {"rocpd_ustring", "id string"},
        {"top", "Name Calls TotalNs AvgNs MinNs MaxNs Pct"},
        {"busy", "gpuId utilization_pct ops busy_ns wall_ns"},
        {"op", "id gpuId queueId sequenceId start end description opType completionSignal"},
        {"api", "id pid tid start end domain category apiName args"},
        {"boot", "process from_ns until_ns offset_ns"},
    };
    struct setup *s = *state;
    char sql[300];
    for (size_t i = 0; i < sizeof format / sizeof *format; i++) {
        snprintf(sql, sizeof sql, "SELECT group_concat(name, ' ') FROM pragma_table_xinfo('%s')", format[i].table);
        assert_sql(s, sql, format[i].columns);
    }
    assert_sql(s, "SELECT count(*) FROM sqlite_master WHERE type = 'table'", "8");
    assert_sql(s, "SELECT count(*) FROM sqlite_master WHERE type = 'view'", "6");
    assert_sql(s,
               "SELECT count(*) FROM sqlite_master m, pragma_table_xinfo(m.name) WHERE m.type = 'table' AND hidden > 0",
               "0"); /* other tools write into all of them */
    assert_sql(s, "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL", "0");
    assert_sql(s, "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'", "0");
    assert_sql(s, "SELECT id FROM rocpd_string WHERE string = ''", "1");
    assert_sql(s, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'", "3");
    assert_sql(s, "SELECT value FROM rocpd_metadata WHERE tag = 'pid'", "4711");
}

#define BOOT_OF(time)                                                                                            \
    "ifnull(" time " + (SELECT offset_ns FROM boot WHERE process = o.id >> 40 AND from_ns <= " time " AND " time \
    " < until_ns), '-')"

/* Write five kernels: before the recording, during it, before and after the suspends, and one across the second
 * suspend.
 */
static void write_five(struct setup *s)
{
    struct rtl_event_record records[5] = {
        {.start_ns = 100}, {.start_ns = 5000}, {.start_ns = 5999}, {.start_ns = 6000}, {.start_ns = 8995}};
    for (int i = 0; i < 5; i++)
        records[i].duration_ns = 10;
    write_records(s, records, 5);
}

static void boot_time_follows_each_suspend(void **state)
{
    struct setup *s = *state;
    int64_t real = (int64_t)(s->segment.header->start_real_ns - s->segment.header->start_mono_ns);
    rtl_rocpd_note_clocks(s->rocpd, 4000, real + 4000, 0);
    rtl_rocpd_note_clocks(s->rocpd, 5500, real + 5500, 0);
    rtl_rocpd_note_clocks(s->rocpd, 6000, real + 906000, 900000);
    write_five(s);
    rtl_rocpd_note_clocks(s->rocpd, 9000, real + 1909000, 1900000);
    write_five(s);
    write_five(s); /* a value is not written twice */
    assert_sql(s, "SELECT process || ' ' || from_ns || ' ' || until_ns || ' ' || offset_ns FROM boot ORDER BY from_ns",
               "0 0 6000 0|0 6000 9000 900000|0 9000 9223372036854775807 1900000");
    assert_sql(s, "SELECT " BOOT_OF("o.start") " || ' ' || " BOOT_OF("o.end") " FROM rocpd_op o ORDER BY start",
               "100 110|5000 5010|5999 906009|906000 906010|908995 1909005");
    assert_sql(s, "SELECT start || ' ' || end FROM rocpd_op LIMIT 1", "100 110"); /* unchanged */
}

static void boot_time_before_an_unseen_suspend_is_unknown(void **state)
{
    struct setup *s = *state;
    int64_t real = (int64_t)(s->segment.header->start_real_ns - s->segment.header->start_mono_ns);
    /* real time shows a suspend since the process began, but not when it happened */
    rtl_rocpd_note_clocks(s->rocpd, 4000, real + 4000 + 5000000, 7000000);
    write_five(s);
    assert_sql(s, "SELECT " BOOT_OF("o.start") " FROM rocpd_op o ORDER BY start", "-|7005000|7005999|7006000|7008995");
}

static void boot_time_is_known_when_the_process_began_after_the_suspend(void **state)
{
    struct setup *s = *state;
    int64_t real = (int64_t)(s->segment.header->start_real_ns - s->segment.header->start_mono_ns);
    rtl_rocpd_note_clocks(s->rocpd, 4000, real + 4000 + 999999, 7000000);
    write_five(s);
    assert_sql(s, "SELECT min(" BOOT_OF("o.start") ") FROM rocpd_op o", "7000100");
}

static void the_offset_of_boot_time_is_plausible(void **state)
{
    (void)state;
    assert_int_equal(rtl_boot_offset_between(-3, 40, 77), 0); /* it never suspended */
    assert_int_equal(rtl_boot_offset_between(1000, 1040, 1001), 1001);
    assert_int_equal(rtl_boot_offset_between(1000, 1040, 999), 1020);
    assert_int_equal(rtl_boot_offset_between(1000, 1040, 1041), 1020);
    const struct rtl_clock_offsets own = {.mono_ns = 5000000000000, .boot_ns = 8000000000000};
    int64_t here = rtl_boot_offset(&(struct rtl_clock_offsets){0, 0}, 0);
    int64_t off = here - rtl_boot_offset(&own, 0) - 3000000000000;
    assert_true(off > -1000000 && off < 1000000);
    assert_int_equal(rtl_boot_offset(&(struct rtl_clock_offsets){0, 0}, here), here);
}

static void rows_have_the_records_values(void **state)
{
    struct setup *s = *state;
    s->segment.queues[1].generation = 6; /* the slot's second queue */
    struct rtl_event_record records[] = {
        {.start_ns = 1000,
         .duration_ns = 500,
         .kernel = 2,
         .queue = 0,
         .generation = 2,
         .agent = 0,
         .grid = {1024, 1, 1},
         .workgroup = {256, 1, 1}},
        {.start_ns = 1200,
         .duration_ns = 800,
         .kernel = 2,
         .queue = 2,
         .generation = 2,
         .agent = 0,
         .grid = {96, 40, 6},
         .workgroup = {32, 8, 2}},
        {.start_ns = 5000,
         .duration_ns = 0,
         .kernel = 3,
         .queue = 1,
         .generation = 6,
         .agent = 1,
         .grid = {100, 7, 1},
         .workgroup = {64, 2, 1}}, /* not a multiple of the workgroup: written as text */
        {.start_ns = 1ull << 55,
         .duration_ns = 9,
         .kernel = 999,
         .queue = 1,
         .generation = 2,
         .agent = 1,
         .grid = {UINT32_MAX, 1, 1},
         .workgroup = {1, 1, 1},
         .sequence = 77},
    };
    write_records(s, records, 4);
    assert_sql(s, "SELECT string FROM rocpd_op o JOIN rocpd_string n ON n.id = o.description_id ORDER BY o.id",
               "plain|plain|with \"quotes\" and \\x01\\xff bytes|(unknown kernel)");
    assert_sql(s, "SELECT completionSignal FROM op ORDER BY id",
               "hwq=0x46 wg=256,1,1 grid=1024,1,1|hwq=0x48 wg=32,8,2 grid=96,40,6|hwq=0x47 wg=64,2,1 grid=100,7,1|"
               "hwq=0xf4240 wg=1,1,1 grid=4294967295,1,1");
    assert_sql(s, "SELECT queueId FROM rocpd_op ORDER BY id", "70|72|71|1000000");
    assert_sql(s, "SELECT start || ' ' || end FROM rocpd_op ORDER BY id",
               "1000 1500|1200 2000|5000 5000|36028797018963968 36028797018963977");
    assert_sql(s, "SELECT gpuId FROM rocpd_op ORDER BY id", "0|0|1|1");
    assert_sql(s, "SELECT sequenceId FROM rocpd_op ORDER BY id", "1|2|3|77");
    assert_sql(s, "SELECT string FROM rocpd_op o JOIN rocpd_string n ON n.id = o.opType_id GROUP BY 1",
               "KernelExecution");
    assert_sql(s, "SELECT roctxId + correlation_id FROM rocpd_op GROUP BY 1", "0");
    assert_sql(s, "SELECT json_extract(value, '$.pci') FROM rocpd_metadata WHERE tag GLOB 'gpu *' ORDER BY tag",
               "0001:03:00.0|0001:04:00.0");
    assert_sql(s, "SELECT json_extract(value, '$.name') FROM rocpd_metadata WHERE tag GLOB 'queue *' ORDER BY id",
               "G0 0001:03:00.0 queue 70|G0 0001:03:00.0 queue 72|G1 0001:04:00.0 queue 71|"
               "G1 0001:04:00.0 gone queue 1000000"); /* the last queue was destroyed before the recorder read it */
    assert_sql(s, "SELECT json_extract(value, '$.queue') FROM rocpd_metadata WHERE tag GLOB 'queue *' ORDER BY id",
               "70|72|71|");
    assert_sql(s, "SELECT Calls || ' ' || TotalNs || ' ' || MinNs || ' ' || MaxNs FROM top WHERE Name = 'plain'",
               "2 1300 500 800");
    assert_sql(s, "SELECT busy_ns || ' of ' || wall_ns FROM busy WHERE gpuId = 0", "1000 of 1000");
    assert_sql(s, "SELECT start FROM rocpd_api", "1000"); /* the marker spans the ops */
    assert_sql(s, "SELECT s.string FROM rocpd_api a JOIN rocpd_string s ON s.id = a.args_id",
               "rtl-top --trace: process 4711 serve \"x\"");
    assert_sql(s,
               "SELECT json_extract(value, '$.rows') || json_extract(value, '$.lost') ||"
               " json_extract(value, '$.unknown') FROM rocpd_metadata WHERE tag = 'recording 0'",
               "400");
}

static void a_record_written_twice_is_stored_once(void **state)
{
    struct setup *s = *state;
    struct rtl_event_record record = {.start_ns = 1000,
                                      .duration_ns = 500,
                                      .kernel = 2,
                                      .generation = 2,
                                      .grid = {64, 1, 1},
                                      .workgroup = {64, 1, 1}};
    write_records(s, &record, 1);
    rtl_rocpd_free(s->rocpd);
    rtl_db_close(s->db);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve", rtl_text_escape);
    assert_non_null(s->rocpd);
    write_records(s, &record, 1);
    assert_sql(s, "SELECT count(*) FROM rocpd_op", "1");
    rtl_rocpd_free(s->rocpd); /* another process on the same GPU */
    rtl_db_close(s->db);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4712, "serve", rtl_text_escape);
    write_records(s, &record, 1);
    assert_sql(s, "SELECT count(*) || ' ' || max(id) FROM rocpd_op", "2 1099511627777");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'", "2"); /* described even if unused */
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'process *'", "2");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'recording *'", "3");
    /* the first process has a queue of this number: the queue gets another number and keeps its name */
    assert_sql(s, "SELECT queueId FROM rocpd_op ORDER BY id", "70|1000000");
    assert_sql(s, "SELECT sequenceId FROM rocpd_op ORDER BY id", "1|1");
    assert_sql(s, "SELECT DISTINCT json_extract(value, '$.name') FROM rocpd_metadata WHERE tag GLOB 'queue *'",
               "G0 0001:03:00.0 queue 70");
}

/* The recorder refuses such a file before it writes anything, and its message names the reason. */
static void nothing_is_added_to_a_file_that_is_a_program(void **state)
{
    struct setup *s = *state;
    static const char *const lies[][2] = {
        {"CREATE TRIGGER t AFTER INSERT ON rocpd_op BEGIN DELETE FROM rocpd_api; END", "rocpd_op has a trigger"},
        {"CREATE INDEX costly ON rocpd_op(gpuId) WHERE start LIKE '%a%a%a'", "rocpd_op computes"},
        {"DROP TABLE rocpd_metadata; CREATE VIEW rocpd_metadata AS SELECT 1 AS id, 'a' AS tag, 'b' AS value",
         "rocpd_metadata in it is a view"},
        {"CREATE UNIQUE INDEX picky ON rocpd_op(queueId)", "keeps rows out"},
        {"CREATE UNIQUE INDEX picky ON rocpd_string(string COLLATE NOCASE)", "keeps rows out"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        rtl_rocpd_free(s->rocpd);
        rtl_db_close(s->db);
        unlink(s->path);
        s->db = open_db(s->path, true);
        s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve", rtl_text_escape);
        assert_non_null(s->rocpd);
        rtl_rocpd_free(s->rocpd);
        rtl_db_exec(s->db, lies[i][0]);
        s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve", rtl_text_escape);
        assert_null(s->rocpd);
        assert_int_equal(rtl_db_status(s->db), RTL_DB_SCHEMA);
        assert_non_null(strstr(rtl_db_why(s->db), lies[i][1]));
    }
}

/* The exit status depends on it: the commit's error must reach the caller. */
static void a_locked_file_is_reported_as_locked(void **state)
{
    struct setup *s = *state;
    struct rtl_db_options options = {.write = true, .busy_ms = 20};
    struct rtl_db *db;
    char why[300];
    rtl_db_begin(s->db);
    assert_int_equal(rtl_db_open(s->path, &options, &db, why, sizeof why), RTL_DB_OK);
    assert_null(rtl_rocpd_begin(db, s->reader, 4711, "serve", rtl_text_escape));
    assert_int_equal(rtl_db_status(db), RTL_DB_BUSY);
    rtl_db_close(db);
    rtl_db_rollback(s->db);
}

static void samples_become_counters(void **state)
{
    struct setup *s = *state;
    struct rtl_event_record record = {.start_ns = 1000,
                                      .duration_ns = 500,
                                      .kernel = 2,
                                      .queue = 1,
                                      .generation = 2,
                                      .agent = 1,
                                      .grid = {64, 1, 1},
                                      .workgroup = {64, 1, 1}};
    rtl_rocpd_sample_depths(s->rocpd);
    write_records(s, &record, 1);
    assert_sql(s, "SELECT count(*) FROM rocpd_monitor", "0"); /* a sample is written only when the next one follows */
    rtl_rocpd_sample_depths(s->rocpd);
    write_records(s, &record, 1);
    assert_sql(s,
               "SELECT deviceType || deviceId || monitorType || '=' || value FROM rocpd_monitor WHERE end >= start"
               " ORDER BY id",
               "process4711signals in use=12|gpu1queue 71 depth=4");
    s->segment.queues[1].generation = 6; /* another queue has the slot: no further samples of this one */
    rtl_rocpd_sample_depths(s->rocpd);
    rtl_rocpd_sample_depths(s->rocpd);
    write_records(s, &record, 1);
    assert_sql(s, "SELECT count(*) FROM rocpd_monitor WHERE deviceType = 'gpu'", "1");
}

/* With random bytes as records the file stays intact; only the rows' values are nonsense. */
static void random_records_leave_the_file_intact(void **state)
{
    enum { LIES = 3000 };
    struct setup *s = *state;
    struct rtl_event_record *records = malloc(LIES * sizeof *records);
    uint64_t random = 88172645463325252ull, word[8];
    for (uint32_t i = 0; i < LIES; i++) {
        for (int w = 0; w < 8; w++) {
            word[w] = fixture_random(&random);
            word[w] = word[w] % 5 ? word[w] : word[w] % 3 ? 0 : UINT64_MAX;
        }
        memcpy(&records[i], word, sizeof records[i]);
        records[i].sequence = i + 1;
        records[i].generation %= 4; /* otherwise most would be separate queues, each with a search */
    }
    write_records(s, records, LIES);
    free(records);
    assert_sql(s, "PRAGMA integrity_check", "ok");
    assert_sql(s, "SELECT count(*) FROM rocpd_op WHERE end >= start AND start >= 0", "3000");
    assert_sql(s,
               "SELECT count(*) FROM op WHERE completionSignal NOT GLOB 'hwq=0x* wg=*,*,* grid=*,*,*'"
               " AND completionSignal NOT GLOB 'hwq=0x* size=*'",
               "0");
    assert_sql(s, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB '* [0-9]*' AND NOT json_valid(value)", "0");
}

static void workgroup_and_grid_are_packed(void **state)
{
    uint64_t random = 1234567;
    int packed = 0;
    struct setup *s = *state;
    enum { SHAPES = 500 };
    struct rtl_event_record records[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        struct rtl_event_record *e = &records[i];
        *e = (struct rtl_event_record){.start_ns = 1, .duration_ns = 1, .kernel = 2, .generation = 2};
        for (int d = 0; d < 3; d++) {
            static const uint16_t sizes[] = {1, 2, 4, 7, 8, 16, 32, 64, 256, 1000, 1024, 1025};
            uint64_t r = fixture_random(&random);
            e->workgroup[d] = i % 3 && d ? 1 : sizes[r % 12];
            e->grid[d] =
                i % 5 && d ? e->workgroup[d] : (uint32_t)(e->workgroup[d] * (1 + (r >> 20) % (r % 2 ? 300 : 20000)));
        }
        int64_t dims;
        packed += rtl_rocpd_pack(e->grid, e->workgroup, &dims);
    }
    assert_true(packed > SHAPES / 2 && packed < SHAPES);
    write_records(s, records, SHAPES);
    struct rtl_db *db = open_db(s->path, false);
    struct rtl_db_statement *st = rtl_db_prepare(db, "SELECT completionSignal FROM op ORDER BY id");
    for (int i = 0; i < SHAPES; i++) {
        char want[200];
        const struct rtl_event_record *e = &records[i];
        snprintf(want, sizeof want, "hwq=0x46 wg=%u,%u,%u grid=%u,%u,%u", e->workgroup[0], e->workgroup[1],
                 e->workgroup[2], e->grid[0], e->grid[1], e->grid[2]);
        assert_true(rtl_db_step(st));
        assert_string_equal(rtl_db_text(st, 0, NULL), want);
    }
    rtl_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_file_has_every_table_column_and_view, start, stop),
        cmocka_unit_test_setup_teardown(boot_time_follows_each_suspend, start, stop),
        cmocka_unit_test_setup_teardown(boot_time_before_an_unseen_suspend_is_unknown, start, stop),
        cmocka_unit_test_setup_teardown(boot_time_is_known_when_the_process_began_after_the_suspend, start, stop),
        cmocka_unit_test(the_offset_of_boot_time_is_plausible),
        cmocka_unit_test_setup_teardown(copies_have_a_type_and_a_size, start, stop),
        cmocka_unit_test_setup_teardown(rows_have_the_records_values, start, stop),
        cmocka_unit_test_setup_teardown(a_record_written_twice_is_stored_once, start, stop),
        cmocka_unit_test_setup_teardown(nothing_is_added_to_a_file_that_is_a_program, start, stop),
        cmocka_unit_test_setup_teardown(a_locked_file_is_reported_as_locked, start, stop),
        cmocka_unit_test_setup_teardown(samples_become_counters, start, stop),
        cmocka_unit_test_setup_teardown(random_records_leave_the_file_intact, start, stop),
        cmocka_unit_test_setup_teardown(workgroup_and_grid_are_packed, start, stop),
    };
    return cmocka_run_group_tests_name("traces in the rocpd schema", tests, NULL, NULL);
}
