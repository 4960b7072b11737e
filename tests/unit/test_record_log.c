/* A database with a -wal of another tool: it is read without a checkpoint and without an index on the disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record_db_fixture.h"

static void log_of(const char *to)
{
    char command[600];
    sqlite3 *handle;
    make_recording(10);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, "PRAGMA journal_mode = WAL; INSERT INTO test_number VALUES(10, 'in the log')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    snprintf(command, sizeof command, "cp %s %s && cp %s-wal %s-wal", path, to, path, to);
    assert_int_equal(system(command), 0);
    sqlite3_close(handle);
    snprintf(command, sizeof command, "rm %s*", path);
    assert_int_equal(system(command), 0);
}

static void a_log_is_read_and_left_unchanged(void **state)
{
    (void)state;
    char copy[sizeof path];
    snprintf(copy, sizeof copy, "%s/copy.db", folder);
    log_of(copy);
    strcpy(path, copy);
    uint64_t before = fixture_state();
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 11);
    rtl_db_close(db);
    assert_true(fixture_state() == before); /* no -shm, nothing in the file */
    /* delete the log, as a program does that closes the file */
    char wal[sizeof path + 4];
    snprintf(wal, sizeof wal, "%s-wal", path);
    unlink(wal);
    before = fixture_state();
    db = open_db(&reading);
    assert_int_equal(rows(db), 10);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
    db = open_db(&writing); /* the file gets rtl-top's journal mode */
    rtl_db_begin(db);
    insert(db, 10, 20);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    rtl_db_close(db);
    db = open_db(&reading);
    assert_int_equal(rows(db), 20);
    rtl_db_close(db);
}

/* Another program writes with its own index, which the reader neither changes nor deletes. The reader keeps the state
 * that it has opened. */
static void a_log_in_use_by_a_writer_is_read(void **state)
{
    (void)state;
    int ready[2], done[2];
    char byte = 1;
    make_recording(10);
    assert_true(pipe(ready) == 0 && pipe(done) == 0);
    pid_t child = fork();
    if (!child) {
        sqlite3 *handle;
        sqlite3_open(path, &handle);
        sqlite3_exec(handle, "PRAGMA journal_mode = WAL; INSERT INTO test_number VALUES(10, 'in the log')", NULL, NULL,
                     NULL);
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(1);
        sqlite3_exec(handle, "INSERT INTO test_number VALUES(11, 'in the log')", NULL, NULL, NULL);
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(1);
        _exit(0); /* no close */
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint64_t before = fixture_state();
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 11);
    assert_int_equal(write(done[1], &byte, 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(rows(db), 11);
    rtl_db_close(db);
    assert_true(fixture_state() != before); /* the other program's row */
    before = fixture_state();
    db = open_db(&reading);
    assert_int_equal(rows(db), 12);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
    assert_int_equal(write(done[1], &byte, 1), 1);
    waitpid(child, NULL, 0);
}

/* A killed program's index may hold anything; a new writer is noticed. */
static void a_killed_programs_log_is_read(void **state)
{
    (void)state;
    char copy[sizeof path], shm[sizeof path + 4];
    snprintf(copy, sizeof copy, "%s/copy.db", folder);
    snprintf(shm, sizeof shm, "%s-shm", copy);
    log_of(copy);
    strcpy(path, copy);
    size_t size;
    char wal[sizeof path + 4];
    snprintf(wal, sizeof wal, "%s-wal", copy);
    unsigned char *noise = read_file(wal, &size);
    write_file(shm, noise, size < 3000 ? size : 3000);
    free(noise);
    uint64_t before = fixture_state();
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 11);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
    int fd = open(wal, O_RDWR); /* for an invalid log SQLite waits for the killed program */
    char first;
    assert_true(pread(fd, &first, 1, 0) == 1 && pwrite(fd, "", 1, 0) == 1);
    db = open_db(&reading);
    assert_int_equal(rows(db), 10);
    rtl_db_close(db);
    assert_int_equal(pwrite(fd, &first, 1, 0), 1);
    close(fd);
    unlink(shm);
    db = open_db(&reading); /* has not read the table yet */
    run_sql("UPDATE test_number SET n = 0");
    assert_int_equal(rows(db), 0);
    assert_int_equal(rtl_db_status(db), RTL_DB_BUSY);
    rtl_db_close(db);
    db = open_db(&reading);
    assert_int_equal(rows(db), 11);
    rtl_db_close(db);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_begin, fixture_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_log_is_read_and_left_unchanged),
        TEST(a_log_in_use_by_a_writer_is_read),
        TEST(a_killed_programs_log_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
