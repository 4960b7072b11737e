/* What lies beside a recording, and who has it locked: a reader changes nothing, a writer only what is its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/db_journal.h"
#include "record_db_fixture.h"

static void put_journal(const char *name)
{
    size_t size;
    unsigned char *journal = make_journal(name, 1, &size);
    write_file(beside, journal, size);
    free(journal);
}

/* A recorder that was killed while it changed the file: what it had committed are `kept` rows. */
static void be_killed(int64_t kept)
{
    int ready[2];
    char byte = 1;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        struct rtl_db *db = open_db(&writing);
        rtl_db_need(db, &numbers);
        rtl_db_begin(db);
        insert(db, 0, kept);
        rtl_db_commit(db);
        rtl_db_exec(db, "PRAGMA cache_size = 4"); /* so that it writes into the file before it is done */
        rtl_db_begin(db);
        rtl_db_exec(db, "UPDATE test_number SET n = n + 1000000, t = 'another text'");
        insert(db, kept, 20000);
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(access(beside, F_OK), 0);
}

/* --- journals --- */

static void a_journal_deletes_nothing_of_anothers(void **state)
{
    (void)state;
    make_recording(10);
    write_file(victim, "precious", 8);
    put_journal(victim);
    uint64_t before = fixture_state();
    refuses(&reading, RTL_DB_SCHEMA, "names another file");
    refuses(&(struct rtl_db_options){.foreign = true}, RTL_DB_SCHEMA, "names another file");
    refuses(&writing, RTL_DB_SCHEMA, "names another file");
    refuses(&forced, RTL_DB_SCHEMA, "names another file"); /* what is ours is never replaced */
    assert_true(fixture_state() == before);
    /* one that comes while the file is open */
    unlink(beside);
    struct rtl_db *reader = open_db(&reading), *writer = open_db(&writing);
    put_journal(victim);
    before = fixture_state();
    rtl_db_one(reader, "SELECT count(*) FROM test_number");
    assert_int_equal(rtl_db_status(reader), RTL_DB_SCHEMA);
    rtl_db_begin(writer);
    insert(writer, 10, 11);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_SCHEMA);
    assert_true(fixture_state() == before);
    unlink(beside);
    rtl_db_begin(writer);
    insert(writer, 10, 11);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_OK);
    rtl_db_rollback(reader);
    assert_int_equal(rows(reader), 11);
    rtl_db_close(reader);
    rtl_db_close(writer);
}

/* What SQLite could be brought to ask for, asked as it would: the file system of the database that was opened last. */
static sqlite3_vfs *system_of_last(void)
{
    char name[32];
    sqlite3_vfs *last = NULL;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "rtl-top-%d", i);
        sqlite3_vfs *one = sqlite3_vfs_find(name);
        last = one ? one : last;
    }
    assert_non_null(last);
    return last;
}

static void nothing_else_is_there_for_sqlite(void **state)
{
    (void)state;
    make_recording(3);
    write_file(victim, "precious", 8);
    for (int write = 0; write < 2; write++) {
        struct rtl_db *db = open_db(write ? &writing : &reading);
        sqlite3_vfs *system = system_of_last();
        sqlite3_file *file = calloc(1, (size_t)system->szOsFile);
        static const int kinds[] = {SQLITE_OPEN_SUPER_JOURNAL, SQLITE_OPEN_MAIN_JOURNAL, SQLITE_OPEN_WAL,
                                    SQLITE_OPEN_MAIN_DB};
        int there = 0;
        put_journal(NULL);
        uint64_t before = fixture_state();
        system->xDelete(system, victim, 0);
        system->xDelete(system, path, 0);
        if (!write)
            system->xDelete(system, beside, 0);
        assert_int_equal(system->xAccess(system, victim, SQLITE_ACCESS_EXISTS, &there), SQLITE_OK);
        assert_int_equal(there, 0);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            assert_int_not_equal(
                system->xOpen(system, victim, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | kinds[i], NULL),
                SQLITE_OK);
        assert_true(fixture_state() == before);
        unlink(beside);
        free(file);
        rtl_db_close(db);
    }
}

static void a_journal_without_a_name_is_read_with(void **state)
{
    (void)state;
    make_recording(10);
    put_journal(NULL);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "\5\0\0\0\11", 5, 100), 5); /* the first page as it was being changed: no table */
    close(fd);
    uint64_t before = fixture_state();
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 10);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
}

/* The last page that a recorder saved may be there in part: it has not been changed yet. */
static void a_page_that_was_saved_in_part_is_not_taken(void **state)
{
    (void)state;
    size_t size;
    make_recording(10);
    unsigned char *journal = make_journal(NULL, UINT32_MAX, &size);
    memset(journal + 512 + 4 + 2000, 0x77, size - 512 - 4 - 2000 - 4);
    write_file(beside, journal, size);
    free(journal);
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 10);
    assert_int_equal(rtl_db_status(db), RTL_DB_OK);
    rtl_db_close(db);
}

static void what_a_killed_recorder_had_committed_is_read(void **state)
{
    (void)state;
    be_killed(500);
    uint64_t before = fixture_state();
    struct rtl_db *a = open_db(&reading), *b = open_db(&reading); /* readers don't hinder one another */
    assert_int_equal(rows(a), 500);
    assert_int_equal(rtl_db_one(a, "SELECT sum(n) FROM test_number"), 499 * 250);
    assert_int_equal(rtl_db_one(b, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    assert_true(fixture_state() == before);
    /* the next recorder rolls back, and the same readers go on with what it writes */
    struct rtl_db *writer = open_db(&writing);
    rtl_db_begin(writer);
    insert(writer, 500, 700);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_OK);
    rtl_db_close(writer);
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(rows(a), 700);
    assert_int_equal(rows(b), 700);
    be_killed(100); /* once more */
    assert_int_equal(rows(a), 800);
    assert_int_equal(rtl_db_one(b, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    rtl_db_close(a);
    rtl_db_close(b);
}

static void a_reader_needs_no_permission_to_write(void **state)
{
    (void)state;
    int status = 0;
    be_killed(50);
    assert_true(chmod(path, 0444) == 0 && chmod(beside, 0444) == 0 && chmod(folder, 0555) == 0);
    pid_t child = fork();
    if (!child) {
        if (!geteuid() && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
            _exit(2);
        struct rtl_db *db;
        if (rtl_db_open(path, &reading, &db, why, sizeof why))
            _exit(3);
        int64_t n = rows(db);
        rtl_db_close(db);
        _exit(n == 50 && rtl_db_open(path, &writing, &db, why, sizeof why) == RTL_DB_PATH ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_link_to_a_recording_is_that_recording(void **state)
{
    (void)state;
    char link[sizeof path], good[sizeof path];
    be_killed(300);
    snprintf(link, sizeof link, "%s/link.db", folder);
    assert_int_equal(symlink("file.db", link), 0);
    uint64_t before = fixture_state();
    strcpy(good, path);
    strcpy(path, link);
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 300);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
    strcpy(path, good);
}

static void a_transaction_that_goes_on_is_waited_for_or_left_out(void **state)
{
    (void)state;
    make_recording(5);
    struct rtl_db *writer = open_db(&writing);
    rtl_db_begin(writer);
    insert(writer, 5, 8); /* the file is as it was, its journal lies there, and somebody is writing it */
    struct rtl_db *reader = open_db(&reading);
    assert_int_equal(rows(reader), 5);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_OK);
    assert_int_equal(rows(reader), 8);
    rtl_db_close(writer);
    rtl_db_close(reader);
}

static bool asks_twice(void *times)
{
    return ++*(int *)times == 2;
}

/* A journal of headers and nothing else takes long to read: who wants to leave is heard meanwhile. */
static void a_journal_of_headers_can_be_left(void **state)
{
    (void)state;
    enum { HEADERS = 1000 };
    struct rtl_undo undo;
    size_t size;
    int asked = 0;
    make_recording(10);
    unsigned char *journal = make_journal(NULL, 0, &size), *headers = malloc((size_t)HEADERS * 512);
    assert_non_null(headers);
    for (int i = 0; i < HEADERS; i++)
        memcpy(headers + (size_t)i * 512, journal, 512);
    write_file(beside, headers, (size_t)HEADERS * 512);
    free(journal);
    free(headers);
    assert_int_equal(rtl_journal_read(beside, 4096, asks_twice, &asked, &undo), RTL_JOURNAL_STOPPED);
    assert_int_equal(asked, 2);
    assert_int_equal(unlink(beside), 0);
}

/* What may lie there instead of a journal: to wait for, to write through, to read without end. */
static void what_is_no_plain_file_is_not_touched(void **state)
{
    (void)state;
    char made[sizeof beside];
    for (int kind = 0; kind < 4; kind++)
        for (int which = 0; which < 2; which++) {
            if (kind == 3 && which == 1)
                continue; /* SQLite has no use for a folder there */
            unlink(path);
            make_recording(3);
            write_file(victim, "\0precious", 9);
            snprintf(made, sizeof made, "%s%s", path, which ? "-wal" : "-journal");
            if (kind == 0)
                assert_int_equal(mkfifo(made, 0600), 0);
            else if (kind == 1)
                assert_int_equal(symlink("precious", made), 0);
            else if (kind == 2)
                assert_int_equal(link(victim, made), 0);
            else
                assert_int_equal(mkdir(made, 0700), 0);
            uint64_t before = fixture_state();
            struct rtl_db *db;
            refuses(&reading, RTL_DB_PATH, "plain file");
            assert_int_equal(rtl_db_open(path, &writing, &db, why, sizeof why), RTL_DB_PATH);
            assert_non_null(strstr(why, "plain file"));
            assert_true(fixture_state() == before);
            if (kind == 3)
                rmdir(made);
            unlink(made);
        }
}

/* In a folder where anybody may make files: what somebody else laid beside a recording is not taken for a part of it.
 */
static void what_another_user_lays_there_is_not_taken(void **state)
{
    (void)state;
    static const char *const suffix[] = {"-journal", "-wal"};
    enum { NOBODY = 65534 };
    if (geteuid() != 0)
        skip();
    make_recording(3);
    assert_int_equal(chmod(folder, 01777), 0);
    for (int i = 0; i < 2; i++) {
        char made[sizeof beside];
        snprintf(made, sizeof made, "%s%s", path, suffix[i]);
        put_journal(NULL);
        assert_int_equal(rename(beside, made), 0);
        assert_int_equal(chown(made, NOBODY, NOBODY), 0);
        uint64_t before = fixture_state();
        refuses(&reading, RTL_DB_PATH, "belongs to another user");
        refuses(&writing, RTL_DB_PATH, "belongs to another user");
        assert_true(fixture_state() == before);
        assert_int_equal(chown(path, NOBODY, NOBODY), 0); /* whose database it is may */
        struct rtl_db *db = open_db(&reading);
        assert_int_equal(rows(db), 3);
        rtl_db_close(db);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(chmod(folder, 0777), 0); /* who may take the recording away itself has no need for that */
        db = open_db(&reading);
        assert_int_equal(rows(db), 3);
        rtl_db_close(db);
        assert_int_equal(chmod(folder, 01777), 0);
        unlink(made);
    }
}

/* What somebody else does between two looks of ours; once. */
static void (*meanwhile)(void);

int access(const char *name, int what)
{
    void (*act)(void) = meanwhile;
    meanwhile = NULL;
    if (act)
        act();
    return faccessat(AT_FDCWD, name, what, 0);
}

static void lead_to_victim(void)
{
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("precious", path), 0);
}

/* A link in a folder that others write into may lead elsewhere by the time that SQLite reads it. */
static void what_changes_meanwhile_is_left_alone(void **state)
{
    (void)state;
    const struct rtl_db_options *options[] = {&reading, &writing, &forced};
    write_file(victim, "precious", 8);
    for (int i = 0; i < 3; i++) {
        char others[sizeof path + 8];
        snprintf(others, sizeof others, "%s/others", folder);
        write_file(others, "others", 6);
        assert_int_equal(symlink("others", path), 0);
        meanwhile = lead_to_victim;
        refuses(options[i], RTL_DB_PATH, "another file has just been put there");
        size_t size;
        unsigned char *bytes = read_file(victim, &size);
        assert_int_equal(size, 8);
        free(bytes);
        unlink(path);
    }
}

/* Of a journal that goes on for a terabyte of nothing, and of one that saves a page again and again. */
static void a_journal_is_read_within_bounds(void **state)
{
    (void)state;
    make_recording(3);
    put_journal(NULL);
    assert_int_equal(truncate(beside, 1ll << 40), 0);
    int fd = open(beside, O_WRONLY);
    assert_int_equal(pwrite(fd, "\377\377\377\377", 4, 8), 4); /* as many records as there is room for */
    close(fd);
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 3);
    rtl_db_close(db);
    size_t size, record;
    unsigned char *one = make_journal(NULL, UINT32_MAX, &size);
    record = size - 512;
    FILE *f = fopen(beside, "w");
    fwrite(one, 1, 512, f);
    for (int i = 0; i < 100; i++)
        fwrite(one + 512, 1, record, f);
    fclose(f);
    free(one);
    refuses(&reading, RTL_DB_CORRUPT, "damaged");
}

/* --- locks --- */

/* A process of its own, that tries to write when it is told to: 0 if it could, 1 if it was locked out. */
struct other {
    pid_t pid;
    int go[2];
};

static struct other start_other(void)
{
    struct other o;
    char byte;
    assert_int_equal(pipe(o.go), 0);
    o.pid = fork();
    if (!o.pid) {
        struct rtl_db *db;
        if (read(o.go[0], &byte, 1) != 1 || rtl_db_open(path, &writing, &db, why, sizeof why))
            _exit(2);
        rtl_db_begin(db);
        insert(db, 1000, 1001);
        _exit(rtl_db_commit(db) == RTL_DB_BUSY ? 1 : 0);
    }
    return o;
}

static int ask_other(struct other *o)
{
    int status = 0;
    assert_int_equal(write(o->go[1], "", 1), 1);
    waitpid(o->pid, &status, 0);
    close(o->go[0]);
    close(o->go[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void another_opening_does_not_let_go_of_a_lock(void **state)
{
    (void)state;
    struct rtl_db *second;
    for (int way = 0; way < 5; way++) {
        unlink(path);
        make_recording(3);
        struct other other = start_other(), later = start_other();
        struct rtl_db *first = open_db(&writing);
        rtl_db_begin(first);
        insert(first, 3, 4);
        switch (way) {
        case 0: /* a second one stays open */
            second = open_db(&reading);
            break;
        case 1: /* or is closed again */
            rtl_db_close(open_db(&reading));
            second = NULL;
            break;
        case 2:
            assert_int_equal(rtl_db_open(path, &writing, &second, why, sizeof why), RTL_DB_OK);
            break;
        case 3: /* or is refused */
            assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.foreign = true}, &second, why, sizeof why),
                             RTL_DB_OK);
            break;
        default:
            assert_int_equal(rtl_db_open(path, &forced, &second, why, sizeof why), RTL_DB_OK);
        }
        assert_int_equal(ask_other(&other), 1);
        rtl_db_close(second);
        assert_int_equal(ask_other(&later), 1);
        assert_int_equal(rtl_db_commit(first), RTL_DB_OK);
        assert_int_equal(rows(first), 4);
        rtl_db_close(first);
    }
}

/* --- replacing --- */

static void what_is_replaced_leaves_no_journal(void **state)
{
    (void)state;
    make_recording(1000);
    run_sql("PRAGMA user_version = 99");
    put_journal(NULL); /* of the old one: rolled back into the new one it would bring the old first page back */
    char shm[sizeof path + 4];
    snprintf(shm, sizeof shm, "%s-shm", path);
    write_file(shm, "x", 1);
    refuses(&writing, RTL_DB_SCHEMA, "version 99");
    struct rtl_db *db = open_db(&forced);
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(access(shm, F_OK), -1);
    assert_int_equal(rtl_db_need(db, &numbers), RTL_DB_OK);
    assert_int_equal(rows(db), 0);
    rtl_db_close(db);
    run_sql("PRAGMA user_version = 0"); /* older than the first */
    refuses(&writing, RTL_DB_SCHEMA, "version 0");
    refuses(&reading, RTL_DB_SCHEMA, "version 0");
    run_sql("PRAGMA user_version = 1; PRAGMA application_id = 7"); /* another program's, that counts as we do */
    refuses(&writing, RTL_DB_SCHEMA, "not a recording");
    refuses(&reading, RTL_DB_SCHEMA, "not a recording");
}

static void what_is_in_use_is_not_replaced(void **state)
{
    (void)state;
    make_recording(10);
    run_sql("PRAGMA user_version = 99");
    int ready[2];
    char byte = 1;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        sqlite3 *handle;
        sqlite3_open(path, &handle);
        sqlite3_exec(handle, "BEGIN EXCLUSIVE; INSERT INTO test_number VALUES(1, '')", NULL, NULL, NULL);
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint64_t before = fixture_state();
    refuses(&forced, RTL_DB_BUSY, "locked");
    assert_true(fixture_state() == before);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* On a full disk, say; what was there before stays. */
static void what_cannot_be_begun_leaves_nothing(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++) {
        int status = 0;
        if (there)
            write_file(path, "", 0);
        pid_t child = fork();
        if (!child) {
            struct rtl_db *db;
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
            _exit(rtl_db_open(path, &writing, &db, why, sizeof why) == RTL_DB_FULL ? 0 : 1);
        }
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(access(path, F_OK), there - 1);
        assert_int_equal(access(beside, F_OK), -1);
    }
}

static void names_that_sqlite_takes_otherwise_are_files(void **state)
{
    (void)state;
    static const char *const names[] = {":memory:", "file:x?mode=memory", "file::memory:"};
    char here[512], good[sizeof path];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    strcpy(good, path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        strcpy(path, names[i]);
        make_recording(3);
        struct rtl_db *db = open_db(&reading);
        assert_int_equal(rows(db), 3);
        rtl_db_close(db);
        assert_int_equal(access(path, F_OK), 0);
    }
    strcpy(path, good);
    assert_int_equal(chdir(here), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_begin, fixture_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_journal_deletes_nothing_of_anothers),
        TEST(nothing_else_is_there_for_sqlite),
        TEST(a_journal_without_a_name_is_read_with),
        TEST(a_page_that_was_saved_in_part_is_not_taken),
        TEST(what_a_killed_recorder_had_committed_is_read),
        TEST(a_reader_needs_no_permission_to_write),
        TEST(a_link_to_a_recording_is_that_recording),
        TEST(a_transaction_that_goes_on_is_waited_for_or_left_out),
        TEST(a_journal_of_headers_can_be_left),
        TEST(what_is_no_plain_file_is_not_touched),
        TEST(what_another_user_lays_there_is_not_taken),
        TEST(what_changes_meanwhile_is_left_alone),
        TEST(a_journal_is_read_within_bounds),
        TEST(another_opening_does_not_let_go_of_a_lock),
        TEST(what_is_replaced_leaves_no_journal),
        TEST(what_is_in_use_is_not_replaced),
        TEST(what_cannot_be_begun_leaves_nothing),
        TEST(names_that_sqlite_takes_otherwise_are_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
