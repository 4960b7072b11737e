/* The database layer: which files it accepts, how it fails, and what remains after the writer was killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record_db_fixture.h"

static const struct rtl_db_set words = {
    "test_word", "CREATE TABLE test_word(w TEXT); CREATE VIEW test_words AS SELECT * FROM test_word"};

static void a_file_is_created_and_reopened(void **state)
{
    (void)state;
    struct rtl_db *db = open_db(&writing);
    assert_int_equal(rtl_db_need(db, &numbers), RTL_DB_OK);
    rtl_db_begin(db);
    insert(db, 0, 3);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    rtl_db_close(db);
    db = open_db(&writing);
    assert_int_equal(rtl_db_need(db, &numbers), RTL_DB_OK);
    assert_int_equal(rtl_db_need(db, &words), RTL_DB_OK); /* another set of tables in the same file */
    assert_true(rtl_db_has(db, "test_words"));
    rtl_db_close(db);
    db = open_db(&reading);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM test_number"), 3);
    struct rtl_db_statement *st = rtl_db_prepare(db, "SELECT n, t, NULL, 1.5 FROM test_number ORDER BY n");
    size_t bytes;
    for (int i = 0; i < 3; i++) {
        assert_true(rtl_db_step(st));
        assert_int_equal(rtl_db_int(st, 0), i);
        assert_int_equal(strncmp(rtl_db_text(st, 1, &bytes), "a text", 6), 0);
        assert_int_equal(bytes, 41);
        assert_true(rtl_db_is_null(st, 2) && !rtl_db_is_null(st, 3));
        assert_true(rtl_db_real(st, 3) == 1.5);
    }
    assert_false(rtl_db_step(st));
    assert_int_equal(rtl_db_status(db), RTL_DB_OK);
    rtl_db_begin(db);
    insert(db, 0, 1); /* read-only */
    assert_int_equal(rtl_db_commit(db), RTL_DB_PATH);
    rtl_db_close(db);
}

static void a_file_of_another_program_is_left_alone(void **state)
{
    (void)state;
    char text[5000], after[5000];
    memset(text, 'x', sizeof text);
    write_file(path, text, sizeof text);
    refuses(&writing, RTL_DB_SCHEMA, "--force");
    refuses(&reading, RTL_DB_SCHEMA, "not a recording");
    FILE *f = fopen(path, "r");
    assert_int_equal(fread(after, 1, sizeof after, f), sizeof after);
    fclose(f);
    assert_memory_equal(text, after, sizeof text);
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &forced, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_db_need(db, &numbers), RTL_DB_OK);
    rtl_db_exec(db, "PRAGMA user_version = 99");
    rtl_db_close(db);
    refuses(&writing, RTL_DB_SCHEMA, "version 99");
    refuses(&reading, RTL_DB_SCHEMA, "version 99");
    db = NULL;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.foreign = true}, &db, why, sizeof why), RTL_DB_OK);
    assert_true(rtl_db_has(db, "test_number"));
    rtl_db_close(db);
}

static void force_keeps_a_recording(void **state)
{
    (void)state;
    struct rtl_db *db = open_db(&writing);
    rtl_db_need(db, &numbers);
    insert(db, 0, 5);
    rtl_db_close(db);
    assert_int_equal(rtl_db_open(path, &forced, &db, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM test_number"), 5);
    rtl_db_close(db);
}

static void unusable_paths_are_refused(void **state)
{
    (void)state;
    char good[sizeof path];
    strcpy(good, path);
    refuses(&reading, RTL_DB_PATH, "No such file");
    snprintf(path, sizeof path, "%s/none/file.db", folder);
    refuses(&writing, RTL_DB_PATH, "No such file");
    snprintf(path, sizeof path, "%s", folder);
    refuses(&writing, RTL_DB_PATH, "directory");
    snprintf(path, sizeof path, "/dev/null");
    refuses(&writing, RTL_DB_PATH, "not a file");
    strcpy(path, good);
    write_file(path, "", 0);
    refuses(&reading, RTL_DB_SCHEMA, "empty");
    if (geteuid()) { /* root may write everywhere */
        assert_int_equal(chmod(path, 0444), 0);
        refuses(&writing, RTL_DB_PATH, "Permission denied");
    }
}

static void a_lock_is_waited_for_and_reported(void **state)
{
    (void)state;
    struct rtl_db *a = open_db(&writing), *b = open_db(&writing);
    assert_int_equal(rtl_db_need(a, &numbers), RTL_DB_OK);
    rtl_db_begin(a);
    insert(a, 0, 1);
    rtl_db_begin(b);
    insert(b, 1, 2); /* no effect: the error is latched */
    assert_int_equal(rtl_db_commit(b), RTL_DB_BUSY);
    assert_non_null(strstr(rtl_db_why(b), "locked"));
    assert_int_equal(rtl_db_commit(a), RTL_DB_OK);
    rtl_db_begin(b);
    insert(b, 1, 2);
    assert_int_equal(rtl_db_commit(b), RTL_DB_OK);
    assert_int_equal(rtl_db_one(a, "SELECT count(*) FROM test_number"), 2);
    rtl_db_close(a);
    rtl_db_close(b);
}

static void a_full_disk_loses_one_transaction(void **state)
{
    (void)state;
    struct rtl_db *db = open_db(&writing);
    rtl_db_need(db, &numbers);
    rtl_db_begin(db);
    insert(db, 0, 100);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    rtl_db_exec(db, "PRAGMA max_page_count = 8");
    rtl_db_begin(db);
    insert(db, 100, 5000);
    assert_int_equal(rtl_db_commit(db), RTL_DB_FULL);
    assert_non_null(strstr(rtl_db_why(db), "no space"));
    assert_int_equal(rtl_db_status(db), RTL_DB_OK);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM test_number"), 100);
    rtl_db_exec(db, "PRAGMA max_page_count = 100000");
    rtl_db_begin(db);
    insert(db, 100, 5000);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM test_number"), 5000);
    rtl_db_close(db);
}

static void damage_is_reported(void **state)
{
    (void)state;
    struct rtl_db *db = open_db(&writing);
    rtl_db_need(db, &numbers);
    rtl_db_begin(db);
    insert(db, 0, 5000);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    rtl_db_close(db);
    int fd = open(path, O_WRONLY);
    struct stat info;
    fstat(fd, &info);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    for (off_t at = 4096; at < info.st_size; at += 4096)
        assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
    close(fd);
    db = open_db(&reading);
    struct rtl_db_statement *st = rtl_db_prepare(db, "SELECT n FROM test_number");
    while (rtl_db_step(st))
        continue;
    assert_int_equal(rtl_db_status(db), RTL_DB_CORRUPT);
    assert_non_null(strstr(rtl_db_why(db), "damaged"));
    rtl_db_close(db);
    fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, junk, 1, 0), 1); /* not a database at all */
    close(fd);
    refuses(&reading, RTL_DB_SCHEMA, "not a recording");
}

static void committed_rows_survive_a_kill(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        struct rtl_db *db = open_db(&writing);
        rtl_db_need(db, &numbers);
        for (int i = 0; i < 5; i++) {
            rtl_db_begin(db);
            insert(db, i * 100, i * 100 + 100);
            rtl_db_commit(db);
        }
        rtl_db_exec(db, "PRAGMA cache_size = 4"); /* SQLite writes into the file before the commit */
        rtl_db_begin(db);
        insert(db, 500, 20000);
        byte = 1;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM test_number"), 500);
    assert_int_equal(rtl_db_one(db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    rtl_db_close(db);
    close(ready[0]);
    close(ready[1]);
}

static void ids_of_two_writers_differ(void **state)
{
    (void)state;
    pid_t children[2];
    for (int c = 0; c < 2; c++) {
        children[c] = fork();
        if (children[c])
            continue;
        struct rtl_db *db = NULL;
        struct rtl_db_options o = {.write = true, .busy_ms = 20000};
        static const struct rtl_db_set ids = {"test_id", "CREATE TABLE test_id(id INTEGER PRIMARY KEY, who INTEGER)"};
        bool good = !rtl_db_open(path, &o, &db, why, sizeof why) && !rtl_db_need(db, &ids);
        for (int i = 0; good && i < 50; i++) {
            rtl_db_begin(db);
            struct rtl_db_statement *st = rtl_db_prepare(db, "INSERT INTO test_id(who) VALUES(?)");
            rtl_db_bind_int(st, 1, getpid());
            rtl_db_run(st);
            good = !rtl_db_commit(db);
        }
        rtl_db_close(db);
        _exit(!good);
    }
    for (int c = 0; c < 2; c++) {
        int status;
        waitpid(children[c], &status, 0);
        assert_int_equal(status, 0);
    }
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rtl_db_one(db, "SELECT count(DISTINCT id) FROM test_id"), 100);
    assert_int_equal(rtl_db_one(db, "SELECT count(DISTINCT who) FROM test_id"), 2);
    rtl_db_close(db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_begin, fixture_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_created_and_reopened),
        TEST(a_file_of_another_program_is_left_alone),
        TEST(force_keeps_a_recording),
        TEST(unusable_paths_are_refused),
        TEST(a_lock_is_waited_for_and_reported),
        TEST(a_full_disk_loses_one_transaction),
        TEST(damage_is_reported),
        TEST(committed_rows_survive_a_kill),
        TEST(ids_of_two_writers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
