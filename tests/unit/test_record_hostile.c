/* Recordings that attack their reader: views in place of tables, endless queries, oversized values. */
#include "tui_synth.h"

#include "record_fixture.h"

#include "record/recording.h"
#include "record/rocpd.h"
#include "options/commands.h"
#include "watch/player.h"

static struct synth *p;

static int set_up(void **state)
{
    p = synth_create(2, 3);
    return fixture_begin(state);
}

static int tear_down(void **state)
{
    synth_free(p);
    rtl_db_stop_when(NULL);
    return fixture_end(state);
}

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    names->full = names->short_name = k->name;
}

/* With a probe: its table is created only when there is data. */
static enum rtl_db_status open_recording(struct rtl_recording **r)
{
    const struct rtl_probe_told probe = {.there = true, .kernel = RTL_KERNEL_FIRST, .counted = true};
    const struct rtl_recording_info info = {.kind = RTL_RECORDING_SERIES,
                                            .pid = 4711,
                                            .title = "t",
                                            .recorder = "test",
                                            .interval_ns = RTL_SEC,
                                            .name_kernel = name_kernel};
    enum rtl_db_status status = rtl_recording_open(path, false, 50, &info, r, why, sizeof why);
    if (!status)
        rtl_recording_probe(*r, &probe);
    return status;
}

static void make_recording(int frames)
{
    struct rtl_recording *r;
    int a = synth_kernel(p, "a"), b = synth_kernel(p, "b");
    unlink(path);
    if (open_recording(&r))
        fail_msg("%s", why);
    for (int t = 1; t <= frames; t++) {
        synth_record(p, a, 1000, 10);
        synth_record(p, b, 2000, 1);
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)t * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, (uint64_t)t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
}

static void make_trace(void)
{
    struct rtl_db *db;
    unlink(path);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_db_need(db, &rtl_rocpd_set), RTL_DB_OK);
    rtl_db_close(db);
}

/* Open it and read all frames. */
static enum rtl_db_status replay(void)
{
    struct rtl_replay *r;
    enum rtl_db_status status = rtl_replay_open(path, 0, 0, &r, why, sizeof why);
    if (status)
        return status;
    for (uint32_t i = 0; !status && i < rtl_replay_info(r)->frames; i++) {
        struct rtl_snapshot s;
        struct rtl_probe_told probe;
        bool exited;
        status = rtl_replay_read(r, i, &s, &exited);
        rtl_snapshot_free(&s);
        if (!status)
            status = rtl_replay_probe(r, i, &probe);
    }
    if (status)
        snprintf(why, sizeof why, "%s", rtl_replay_why(r));
    rtl_replay_close(r);
    return status;
}

static enum rtl_db_status add_a_frame(void)
{
    struct rtl_recording *r;
    enum rtl_db_status status = open_recording(&r);
    if (status)
        return status;
    struct rtl_snapshot s = synth_snapshot(p, 100 * RTL_SEC);
    status = rtl_recording_add(r, &s, 100, false);
    if (status)
        snprintf(why, sizeof why, "%s", rtl_recording_why(r));
    else
        rtl_recording_left_out(r, why, sizeof why);
    rtl_snapshot_free(&s);
    rtl_recording_close(r);
    return status;
}

static void must_be(enum rtl_db_status is, enum rtl_db_status wanted, const char *says, const char *of)
{
    if (is != wanted || (says && (!strstr(why, says) || !strstr(why, path) || strchr(why, '\n'))))
        fail_msg("%s gives %d and '%s', not %d and '%s'", of, (int)is, why, (int)wanted, says ? says : "");
}

/* Replace a table by an endless view with the table's columns. */
static void put_view(const char *table, const char *name)
{
    char sql[400];
    snprintf(
        sql, sizeof sql,
        "ALTER TABLE %s RENAME TO hidden; CREATE VIEW %s AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
        "FROM n) SELECT hidden.* FROM n, hidden",
        table, name);
    run_sql(sql);
}

static void a_view_in_place_of_a_table_is_refused(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "rtl_recording",     "rtl_gpu",           "rtl_kernel",          "rtl_frame",
        "rtl_kernel_sample", "rtl_queue_sample",  "rtl_queue_histogram", "rtl_untimed",
        "rtl_gpu_sample",    "rtl_copies_sample", "rtl_copies_untimed",  "rtl_probe_sample"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        make_recording(2);
        put_view(tables[i], tables[i]);
        must_be(replay(), RTL_DB_SCHEMA, "view", tables[i]);
        /* the probe's table is not written, with a message; the frame is */
        bool probe = !strcmp(tables[i], "rtl_probe_sample");
        must_be(add_a_frame(), probe ? RTL_DB_OK : RTL_DB_SCHEMA, "view", tables[i]);
    }
    make_recording(2); /* SQLite's names are case-insensitive */
    put_view("rtl_recording", "Rtl_Recording");
    must_be(replay(), RTL_DB_SCHEMA, "view", "in capitals");
    must_be(add_a_frame(), RTL_DB_SCHEMA, "view", "in capitals");
    make_recording(2);
    run_sql("DROP TABLE rtl_untimed; CREATE VIRTUAL TABLE rtl_untimed USING fts5(frame, slot, reason, dispatches)");
    must_be(replay(), RTL_DB_SCHEMA, "virtual table", "a virtual table");
    must_be(add_a_frame(), RTL_DB_SCHEMA, "virtual table", "a virtual table");
}

static void a_view_in_a_trace_is_refused(void **state)
{
    (void)state;
    static const char *const tables[] = {"rocpd_op", "rocpd_string", "rocpd_metadata", "rocpd_monitor", "rocpd_api"};
    char *argv[] = {(char *)(uintptr_t) "export",  path, (char *)(uintptr_t) "--csv", victim,
                    (char *)(uintptr_t) "--force", NULL};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        make_trace();
        assert_int_equal(rtl_export_command(5, argv), 0);
        put_view(tables[i], tables[i]);
        assert_int_equal(rtl_export_command(5, argv), RTL_DB_SCHEMA);
        struct rtl_db *db;
        assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
        assert_int_equal(rtl_db_need(db, &rtl_rocpd_set), RTL_DB_SCHEMA);
        rtl_db_close(db);
    }
}

/* Generated columns of other tools are read. */
static void a_trace_with_generated_columns_is_read(void **state)
{
    (void)state;
    make_trace();
    run_sql(
        "DROP TABLE rocpd_op; CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, "
        "sequenceId INTEGER GENERATED ALWAYS AS (id & 1099511627775) VIRTUAL, completionSignal TEXT GENERATED ALWAYS "
        "AS (CASE typeof(dims) WHEN 'text' THEN printf('hwq=0x%x %s', queueId, dims) END) VIRTUAL, start INTEGER, "
        "end INTEGER GENERATED ALWAYS AS (start + duration) VIRTUAL, description_id INTEGER, opType_id INTEGER, "
        "duration INTEGER, dims); INSERT INTO rocpd_op(id, gpuId, queueId, start, duration, dims) "
        "VALUES(1, 0, 5, 100, 7, 'size=9')");
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.foreign = true}, &db, why, sizeof why), RTL_DB_OK);
    if (!rtl_db_has_set(db, &rtl_rocpd_set))
        fail_msg("%s", rtl_db_why(db));
    assert_int_equal(rtl_db_one(db, "SELECT end FROM rocpd_op WHERE completionSignal = 'hwq=0x5 size=9'"), 107);
    rtl_db_close(db);
}

static void tables_with_triggers_or_generated_columns_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *says;
        bool read; /* a reader meets it, too */
    } lies[] = {
        {"CREATE TRIGGER t AFTER INSERT ON rtl_frame BEGIN INSERT INTO rtl_untimed SELECT NULL, a.n, b.n, 1 FROM "
         "(WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT n FROM n) a, rtl_label b; END",
         "trigger", true},
        {"CREATE TRIGGER t AFTER INSERT ON RTL_KERNEL_SAMPLE BEGIN DELETE FROM rtl_frame; END", "trigger", true},
        {"ALTER TABLE rtl_frame ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(1000000))) VIRTUAL", "computes",
         true},
        {"ALTER TABLE rtl_kernel ADD COLUMN more GENERATED ALWAYS AS (name LIKE '%a%a%a%a%a%a%a%a%a%b') VIRTUAL",
         "computes", true},
        {"CREATE INDEX costly ON rtl_kernel_sample(hex(zeroblob(calls)))", "computes", false},
        {"CREATE INDEX costly ON rtl_kernel_sample(calls) WHERE buckets GLOB '*1*2*3*4*5*6*7*'", "computes", false},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        make_recording(2);
        run_sql(lies[i].sql);
        must_be(replay(), lies[i].read ? RTL_DB_SCHEMA : RTL_DB_OK, lies[i].read ? lies[i].says : NULL, lies[i].sql);
        uint64_t before = fixture_state();
        must_be(add_a_frame(), RTL_DB_SCHEMA, lies[i].says, lies[i].sql);
        assert_true(fixture_state() == before);
    }
    make_recording(2); /* tables and views that users add are accepted */
    run_sql(
        "CREATE INDEX mine ON rtl_kernel_sample(calls); CREATE VIEW my_view AS SELECT 1; CREATE TABLE my_table(a); "
        "CREATE TRIGGER t AFTER INSERT ON my_table BEGIN SELECT 1; END; ALTER TABLE rtl_frame ADD COLUMN note TEXT");
    must_be(replay(), RTL_DB_OK, NULL, "a user's own");
    must_be(add_a_frame(), RTL_DB_OK, NULL, "a user's own");
}

/* A trigger that is added while a recorder writes doesn't run. */
static void a_trigger_added_meanwhile_never_runs(void **state)
{
    (void)state;
    struct rtl_recording *r;
    make_recording(2);
    assert_int_equal(open_recording(&r), RTL_DB_OK);
    run_sql("CREATE TRIGGER t AFTER INSERT ON rtl_frame BEGIN DELETE FROM rtl_label; END");
    struct rtl_snapshot s = synth_snapshot(p, 100 * RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 100, false), RTL_DB_OK);
    rtl_snapshot_free(&s);
    assert_true(rtl_db_one(rtl_recording_db(r), "SELECT count(*) FROM rtl_label") > 0);
    rtl_recording_close(r);
}

/* Another process changes a table between two checks on one connection. */
static void a_table_is_checked_as_it_is_now(void **state)
{
    (void)state;
    struct rtl_db *db;
    make_trace();
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    assert_true(rtl_db_has_set(db, &rtl_rocpd_set));
    run_sql("ALTER TABLE rocpd_op ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(1000000))) VIRTUAL");
    assert_false(rtl_db_has_set(db, &rtl_rocpd_set));
    assert_int_equal(rtl_db_status(db), RTL_DB_SCHEMA);
    rtl_db_close(db);
}

/* The connection restricts what a schema or a statement may do. */
static void a_schema_is_not_trusted(void **state)
{
    (void)state;
    struct rtl_db *db;
    make_recording(1);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_db_one(db, "PRAGMA trusted_schema"), 0);
    rtl_db_exec(db, "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE TABLE x(y)'");
    assert_true(rtl_db_status(db) != RTL_DB_OK); /* SQLITE_DBCONFIG_DEFENSIVE */
    rtl_db_rollback(db);
    rtl_db_exec(db, "ATTACH ':memory:' AS other");
    assert_true(rtl_db_status(db) != RTL_DB_OK);
    rtl_db_rollback(db);
    rtl_db_exec(db, "CREATE VIRTUAL TABLE f USING fts5(x)");
    assert_true(rtl_db_status(db) != RTL_DB_OK);
    rtl_db_close(db);
}

/* --- endless trees --- */

/* Return the number of a table's first page. */
static uint32_t root_of(const char *name)
{
    struct rtl_db *db;
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", name);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    uint32_t root = (uint32_t)rtl_db_one(db, sql);
    rtl_db_close(db);
    return root;
}

/*
 * Make a b-tree with fan ^ levels rows in a file of 100 kB: all `fan` children of an inner page are the next level's
 * page, and the last level leads to the table's own leaf. The pages come from a filler table.
 */
static void make_endless(const char *table, bool index)
{
    enum { LEVELS = 6, FAN = 100 };
    size_t size;
    run_sql("CREATE TABLE filler(a); WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 40) "
            "INSERT INTO filler SELECT zeroblob(4000) FROM n");
    uint32_t root = root_of(table);
    unsigned char *db = read_file(path, &size);
    uint32_t page = (uint32_t)db[16] << 8 | (uint32_t)db[17] << 16, last = (uint32_t)(size / page);
    unsigned char *leaf = db + (size_t)(last - 1) * page, *top = db + (size_t)(root - 1) * page;
    memcpy(leaf, top, page); /* the leaf moves to the end of the file */
    for (uint32_t level = 0; level < LEVELS; level++) {
        unsigned char *inner = level ? db + (size_t)(last - 1 - level) * page : top;
        uint32_t child = level + 1 < LEVELS ? last - level - 1 : last;
        memset(inner, 0, page);
        inner[0] = index ? 2 : 5;
        inner[3] = 0;
        inner[4] = FAN;
        uint32_t at = page;
        for (int i = 0; i < FAN; i++) {
            /* a cell of a table: child, rowid; of an index: child, record length, record (1 column: NULL) */
            at -= index ? 7 : 5;
            put_big_endian(inner + at, child);
            if (index)
                memcpy(inner + at + 4, "\2\2\0", 3);
            else
                inner[at + 4] = 127;
            inner[12 + 2 * i] = (unsigned char)(at >> 8);
            inner[13 + 2 * i] = (unsigned char)at;
        }
        inner[5] = (unsigned char)(at >> 8);
        inner[6] = (unsigned char)at;
        put_big_endian(inner + 8, child);
    }
    write_file(path, db, size);
    free(db);
}

static void trees_of_repeated_pages_end(void **state)
{
    (void)state;
    static const char *const tables[] = {"rtl_recording", "rtl_frame_order", "rtl_kernel", "rtl_gpu", "rtl_frame"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        make_recording(3);
        make_endless(tables[i], i > 0 && i < 4);
        struct rtl_replay *r;
        if (!rtl_replay_open(path, 0, i ? 0 : 99, &r, why, sizeof why)) /* some are not read to the end */
            rtl_replay_close(r);
        else if (!i)
            assert_non_null(strstr(why, "more work"));
    }
    struct rtl_db *db;
    make_recording(3);
    make_endless("rtl_frame", false);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    rtl_db_one(db, "SELECT sum(mono_ns) FROM rtl_frame");
    must_be(rtl_db_status(db), RTL_DB_CORRUPT, NULL, "a circle");
    assert_non_null(strstr(rtl_db_why(db), "more work"));
    rtl_db_rollback(db); /* the next statement has a bound of its own */
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM rtl_recording"), 1);
    rtl_db_close(db);
}

/* Each statement has its own bound on work, not the connection. */
static void work_is_bounded_per_statement(void **state)
{
    (void)state;
    struct rtl_db *db;
    make_recording(2);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(rtl_db_one(db, "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000) "
                                        "SELECT count(*) FROM n"),
                         100000);
    assert_int_equal(rtl_db_one(db, "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) "
                                    "SELECT count(*) FROM n"),
                     0);
    assert_int_equal(rtl_db_status(db), RTL_DB_CORRUPT);
    rtl_db_close(db);
}

static unsigned asked, patience = 20;

static bool leave(void)
{
    return ++asked > patience;
}

static void a_request_to_leave_interrupts_reads_and_waits(void **state)
{
    (void)state;
    struct rtl_replay *r;
    struct rtl_snapshot s;
    bool exited;
    make_recording(300);
    assert_int_equal(rtl_replay_open(path, 0, 0, &r, why, sizeof why), RTL_DB_OK);
    for (patience = 1; patience < 60; patience++) { /* at every place: between two frames and within one */
        assert_int_equal(rtl_replay_read(r, 5, &s, &exited), RTL_DB_OK);
        rtl_snapshot_free(&s);
        asked = 0;
        rtl_db_stop_when(leave);
        assert_int_equal(rtl_replay_read(r, 290 + patience % 10, &s, &exited), RTL_DB_STOPPED);
        rtl_db_stop_when(NULL);
        assert_string_equal(rtl_replay_why(r), ""); /* not reported as damage */
        uint32_t frame = patience % 50;
        assert_int_equal(rtl_replay_read(r, frame, &s, &exited), RTL_DB_OK);
        assert_int_equal(s.kernels[0].calls, 10 * (frame + 1));
        assert_int_equal(s.kernels[0].histogram.count, 10 * (frame + 1));
        rtl_snapshot_free(&s);
    }
    rtl_replay_close(r);
    patience = 20;
    /* a frame is written all the same */
    asked = 0;
    rtl_db_stop_when(leave);
    must_be(add_a_frame(), RTL_DB_OK, NULL, "a frame");
    rtl_db_stop_when(NULL);
    /* a wait for a lock can be interrupted, too */
    sqlite3 *handle;
    struct rtl_db *db;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.busy_ms = 3600000}, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(sqlite3_exec(handle, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    asked = 0;
    rtl_db_stop_when(leave);
    rtl_db_one(db, "SELECT count(*) FROM rtl_frame");
    rtl_db_stop_when(NULL);
    assert_int_equal(rtl_db_status(db), RTL_DB_STOPPED);
    rtl_db_close(db);
    sqlite3_close(handle);
}

/* --- oversized values --- */

static void a_name_of_any_length_is_recorded_and_replayed(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, RTL_NAME_MAX - 1, RTL_NAME_MAX, RTL_NAME_MAX + 1, 300000};
    enum { COUNT = sizeof lengths / sizeof *lengths };
    char *name = malloc(300001);
    struct rtl_kernel_snapshot kernels[COUNT] = {0};
    struct rtl_snapshot s = {.kernels = kernels, .kernel_count = COUNT};
    struct rtl_recording *r;
    memset(name, 'n', 300000);
    name[300000] = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        kernels[i] = (struct rtl_kernel_snapshot){.id = i + 1, .name = name, .name_length = lengths[i], .calls = i + 1};
    assert_int_equal(open_recording(&r), RTL_DB_OK);
    if (rtl_recording_add(r, &s, 1, false))
        fail_msg("%s", rtl_recording_why(r));
    rtl_recording_close(r);
    struct rtl_replay *all;
    if (rtl_replay_open(path, 0, 0, &all, why, sizeof why))
        fail_msg("%s", why);
    for (uint32_t i = 0; i < COUNT; i++) {
        const char *text;
        size_t length;
        uint32_t id;
        assert_true(rtl_replay_kernel(all, i, &id, &text, &length));
        assert_int_equal(id, i + 1);
        assert_int_equal(length, lengths[i] < RTL_NAME_MAX ? lengths[i] : RTL_NAME_MAX);
        assert_memory_equal(text, name, length);
    }
    rtl_replay_close(all);
    free(name);
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_db_one(db, "SELECT max(length(name)) FROM rtl_kernel"), RTL_NAME_MAX);
    rtl_db_close(db);
    /* as older recorders wrote it without a limit; and more kernels than a process can have */
    run_sql("UPDATE rtl_kernel SET name = printf('%.100000c', 'x') WHERE kernel = 5");
    must_be(replay(), RTL_DB_OK, NULL, "a long name");
    run_sql("WITH RECURSIVE n(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM n LIMIT 300) "
            "INSERT INTO rtl_kernel SELECT 1, n, printf('%.65536c', 'x'), '', '', 0 FROM n");
    must_be(replay(), RTL_DB_CORRUPT, "out of bounds", "20 MB of names");
}

/* Text from a file is quoted on one line; rtl_complain escapes SQLite's own messages. */
static void a_message_is_one_line(void **state)
{
    (void)state;
    make_recording(2);
    run_sql("UPDATE rtl_recording SET kind = 'a' || char(10, 27) || 'b'");
    assert_int_equal(rtl_replay_open(path, 77, 0, &(struct rtl_replay *){NULL}, why, sizeof why), RTL_DB_MISSING);
    assert_null(strpbrk(why, "\n\33"));
    assert_non_null(strstr(why, "a??b"));
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    rtl_db_one(db, "SELECT 1 FROM \"no\nsuch table\"");
    assert_non_null(strstr(rtl_db_why(db), "no such table: no such table"));
    rtl_db_close(db);
}

static void the_length_of_a_value_is_bounded(void **state)
{
    (void)state;
    make_recording(2);
    run_sql("UPDATE rtl_kernel_sample SET buckets = zeroblob(5000000)");
    must_be(replay(), RTL_DB_CORRUPT, "longer than", "5 MB of buckets");
}

static void a_damaged_frame_does_not_keep_the_file_locked(void **state)
{
    (void)state;
    struct rtl_replay *r;
    struct rtl_snapshot s;
    bool exited;
    make_recording(3);
    run_sql("UPDATE rtl_kernel_sample SET kernel = -1 WHERE (frame, kernel) = "
            "(SELECT frame, min(kernel) FROM rtl_kernel_sample WHERE frame = 2)");
    assert_int_equal(rtl_replay_open(path, 0, 0, &r, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_read(r, 1, &s, &exited), RTL_DB_CORRUPT);
    must_be(add_a_frame(), RTL_DB_OK, NULL, "a frame"); /* the replay is still open */
    rtl_replay_close(r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_view_in_place_of_a_table_is_refused),
        TEST(a_view_in_a_trace_is_refused),
        TEST(a_trace_with_generated_columns_is_read),
        TEST(tables_with_triggers_or_generated_columns_are_refused),
        TEST(a_trigger_added_meanwhile_never_runs),
        TEST(a_table_is_checked_as_it_is_now),
        TEST(a_schema_is_not_trusted),
        TEST(trees_of_repeated_pages_end),
        TEST(work_is_bounded_per_statement),
        TEST(a_damaged_frame_does_not_keep_the_file_locked),
        TEST(a_request_to_leave_interrupts_reads_and_waits),
        TEST(a_name_of_any_length_is_recorded_and_replayed),
        TEST(the_length_of_a_value_is_bounded),
        TEST(a_message_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
