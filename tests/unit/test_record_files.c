/* Files beside a recording, and locks on it: a reader changes nothing, a writer only its own files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/syscall.h>

#include "record_db_fixture.h"

static void put_journal(const char *name)
{
    size_t size;
    unsigned char *journal = make_journal(name, 1, &size);
    write_file(beside, journal, size);
    free(journal);
}

/* Leave a file as a recorder killed in a transaction does; `kept` rows are committed. */
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
        rtl_db_exec(db, "PRAGMA cache_size = 4"); /* SQLite writes into the file before the commit */
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

static void a_journal_cannot_delete_another_file(void **state)
{
    (void)state;
    make_recording(10);
    write_file(victim, "precious", 8);
    put_journal(victim);
    uint64_t before = fixture_state();
    refuses(&reading, RTL_DB_SCHEMA, "names another file");
    refuses(&(struct rtl_db_options){.foreign = true}, RTL_DB_SCHEMA, "names another file");
    refuses(&writing, RTL_DB_SCHEMA, "names another file");
    refuses(&forced, RTL_DB_SCHEMA, "names another file"); /* --force never replaces a recording */
    assert_true(fixture_state() == before);
    /* a journal that appears while the file is open */
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

/* Return the file system (VFS) of the database opened last, to make requests that SQLite could be tricked into. */
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

static void sqlite_can_open_no_other_file(void **state)
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

static void a_journal_without_a_name_is_applied(void **state)
{
    (void)state;
    make_recording(10);
    put_journal(NULL);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "\5\0\0\0\11", 5, 100), 5); /* the first page in the middle of a change: no table */
    close(fd);
    uint64_t before = fixture_state();
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 10);
    rtl_db_close(db);
    assert_true(fixture_state() == before);
}

/* The last saved page may be incomplete: the recorder had not changed that page yet. */
static void a_page_saved_in_part_is_not_restored(void **state)
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

static void a_killed_recorders_commits_are_read(void **state)
{
    (void)state;
    be_killed(500);
    uint64_t before = fixture_state();
    struct rtl_db *a = open_db(&reading), *b = open_db(&reading); /* readers don't block each other */
    assert_int_equal(rows(a), 500);
    assert_int_equal(rtl_db_one(a, "SELECT sum(n) FROM test_number"), 499 * 250);
    assert_int_equal(rtl_db_one(b, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    assert_true(fixture_state() == before);
    /* the next recorder rolls back; the open readers then read its rows */
    struct rtl_db *writer = open_db(&writing);
    rtl_db_begin(writer);
    insert(writer, 500, 700);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_OK);
    rtl_db_close(writer);
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(rows(a), 700);
    assert_int_equal(rows(b), 700);
    be_killed(100); /* again */
    assert_int_equal(rows(a), 800);
    assert_int_equal(rtl_db_one(b, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    rtl_db_close(a);
    rtl_db_close(b);
}

static void a_reader_needs_no_write_permission(void **state)
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

static void an_open_transaction_is_waited_for_or_ignored(void **state)
{
    (void)state;
    make_recording(5);
    struct rtl_db *writer = open_db(&writing);
    rtl_db_begin(writer);
    insert(writer, 5, 8); /* an unchanged file, its journal, and a program that is writing */
    struct rtl_db *reader = open_db(&reading);
    assert_int_equal(rows(reader), 5);
    assert_int_equal(rtl_db_commit(writer), RTL_DB_OK);
    assert_int_equal(rows(reader), 8);
    rtl_db_close(writer);
    rtl_db_close(reader);
}

static unsigned asked, asked_until;

static bool asks_to_leave(void)
{
    return ++asked >= asked_until;
}

/* Reading a journal of headers only takes long: a request to leave is noticed meanwhile. */
static void a_journal_of_headers_can_be_interrupted(void **state)
{
    (void)state;
    enum { HEADERS = 1000 };
    size_t size;
    make_recording(10);
    unsigned char *journal = make_journal(NULL, 0, &size), *headers = malloc((size_t)HEADERS * 512);
    assert_non_null(headers);
    for (int i = 0; i < HEADERS; i++)
        memcpy(headers + (size_t)i * 512, journal, 512);
    struct rtl_db *db = open_db(&reading);
    write_file(beside, headers, (size_t)HEADERS * 512);
    free(journal);
    free(headers);
    asked = 0;
    asked_until = HEADERS / 2;
    rtl_db_stop_when(asks_to_leave);
    rows(db);
    rtl_db_stop_when(NULL);
    assert_int_equal(rtl_db_status(db), RTL_DB_STOPPED);
    rtl_db_rollback(db);
    assert_int_equal(rows(db), 10);
    rtl_db_close(db);
    assert_int_equal(unlink(beside), 0);
}

/* Other file types in the journal's place: a reader could block on them, write through them or read without end. */
static void a_journal_that_is_no_plain_file_is_not_touched(void **state)
{
    (void)state;
    char made[sizeof beside];
    for (int kind = 0; kind < 4; kind++)
        for (int which = 0; which < 2; which++) {
            if (kind == 3 && which == 1)
                continue; /* SQLite ignores a folder there */
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

/* In a world-writable folder, another user's file beside a recording is not used as its journal. */
static void another_users_journal_is_not_used(void **state)
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
        assert_int_equal(chown(path, NOBODY, NOBODY), 0); /* the database's owner may add one */
        struct rtl_db *db = open_db(&reading);
        assert_int_equal(rows(db), 3);
        rtl_db_close(db);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(chmod(folder, 0777), 0); /* the user could delete the recording anyway */
        db = open_db(&reading);
        assert_int_equal(rows(db), 3);
        rtl_db_close(db);
        assert_int_equal(chmod(folder, 01777), 0);
        unlink(made);
    }
}

/* Runs once between two of our system calls: the other user acts here. */
static void (*meanwhile)(void);

int faccessat(int at, const char *name, int what, int flags)
{
    void (*act)(void) = meanwhile;
    meanwhile = NULL;
    if (act)
        act();
    return (int)syscall(SYS_faccessat2, at, name, what, flags);
}

static void lead_to_victim(void)
{
    unlink(path);
    assert_int_equal(symlink("precious", path), 0);
}

static void replace_file(void)
{
    assert_int_equal(rename(victim, path), 0);
}

static void check_victim(const char *name)
{
    size_t size;
    unsigned char *bytes = read_file(name, &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "precious", 8);
    free(bytes);
}

/* In a folder that other users can write to, a file may change between the check and SQLite's opening. */
static void a_file_that_changes_meanwhile_is_refused(void **state)
{
    (void)state;
    const struct rtl_db_options *options[] = {&reading, &writing, &forced};
    for (int i = 0; i < 3; i++) {
        write_file(victim, "precious", 8);
        write_file(path, "others", 6);
        meanwhile = lead_to_victim;
        refuses(options[i], RTL_DB_PATH, path);
        check_victim(victim);
        unlink(path);
        write_file(path, "others", 6);
        meanwhile = replace_file;
        refuses(options[i], RTL_DB_PATH, "another file has just been put there");
        check_victim(path);
        unlink(path);
    }
}

static void put_others(const char *name, const char *target)
{
    unlink(name);
    assert_int_equal(symlink(target, name), 0);
    assert_int_equal(lchown(name, 65534, 65534), 0);
}

static void links_and_files_of_other_users_are_not_written(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can make another user's link */
    assert_int_equal(chmod(folder, 01777), 0);
    write_file(victim, "precious", 8);
    put_others(path, "precious");
    refuses(&reading, RTL_DB_PATH, "file.db is a link of another user");
    refuses(&writing, RTL_DB_PATH, "file.db is a link of another user");
    refuses(&forced, RTL_DB_PATH, "file.db is a link of another user");
    assert_int_equal(rtl_db_check(path, true, why, sizeof why), RTL_DB_PATH);
    put_others(path, "new"); /* the link leads to a file that does not exist */
    refuses(&writing, RTL_DB_PATH, "file.db is a link of another user");
    assert_int_equal(chmod(folder, 0700), 0);
    refuses(&writing, RTL_DB_PATH, "file.db is a link of another user");
    put_others(path, "precious");
    refuses(&reading, RTL_DB_SCHEMA, "is not a recording"); /* a reader may follow a colleague's link */
    refuses(&forced, RTL_DB_PATH, "file.db is a link of another user");
    check_victim(victim);
    unlink(path);
    assert_int_equal(chmod(folder, 01777) | link(victim, path), 0);
    refuses(&writing, RTL_DB_PATH, "second name");
    refuses(&forced, RTL_DB_PATH, "second name");
    assert_int_equal(chmod(folder, 0755) | chown(folder, 65534, 65534), 0);
    refuses(&forced, RTL_DB_PATH, "second name"); /* in a folder of that user, too */
    assert_int_equal(chown(folder, 0, 0) | chmod(folder, 01777), 0);
    unlink(path);
    make_recording(3);
    assert_int_equal(chown(path, 65534, 65534) | chmod(path, 0666), 0);
    refuses(&writing, RTL_DB_PATH, "another user has put it");
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 3);
    rtl_db_close(db);
    check_victim(victim);
}

/* A sparse journal of a terabyte, a journal that saves one page again and again, and one of a far larger database. */
static void a_journal_is_read_within_bounds(void **state)
{
    (void)state;
    make_recording(3);
    put_journal(NULL);
    assert_int_equal(truncate(beside, 1ll << 40), 0);
    int fd = open(beside, O_WRONLY);
    assert_int_equal(pwrite(fd, "\377\377\377\377", 4, 8), 4); /* record count: as many as fit */
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
    db = open_db(&reading);
    assert_int_equal(rows(db), 3);
    rtl_db_close(db);
    memcpy(one + 16, "\0\17\377\377", 4); /* pages before the transaction: 4 GB */
    write_file(beside, one, size);
    free(one);
    refuses(&reading, RTL_DB_CORRUPT, "damaged");
}

/* --- locks --- */

/* Another process that tries to write on request: 0 if it could, 1 if the lock refused it. */
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

static void a_second_open_keeps_the_first_ones_lock(void **state)
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
        case 0: /* a second one stays open, */
            second = open_db(&reading);
            break;
        case 1: /* is closed again, */
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

static void a_replaced_file_leaves_no_journal(void **state)
{
    (void)state;
    make_recording(1000);
    run_sql("PRAGMA user_version = 99");
    put_journal(NULL); /* the old file's journal: a rollback would copy the old first page into the new file */
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
    run_sql("PRAGMA user_version = 0"); /* older than the first version */
    refuses(&writing, RTL_DB_SCHEMA, "version 0");
    refuses(&reading, RTL_DB_SCHEMA, "version 0");
    /* another program's file with the same version number */
    run_sql("PRAGMA user_version = 1; PRAGMA application_id = 7");
    refuses(&writing, RTL_DB_SCHEMA, "not a recording");
    refuses(&reading, RTL_DB_SCHEMA, "not a recording");
}

static void a_file_in_use_is_not_replaced(void **state)
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

/* After a failure (disk full, say), the earlier contents stay. */
static void a_recording_that_cannot_begin_leaves_nothing(void **state)
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

/* The writer that created a file removes it if it wrote nothing, unless another writer uses the file. */
static void a_file_stays_while_another_writer_uses_it(void **state)
{
    (void)state;
    struct rtl_db *maker = open_db(&writing), *other = open_db(&writing);
    rtl_db_close(maker);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(rtl_db_need(other, &numbers), RTL_DB_OK);
    rtl_db_begin(other);
    insert(other, 0, 5);
    if (rtl_db_commit(other))
        fail_msg("%s", rtl_db_why(other));
    rtl_db_close(other);
    struct rtl_db *db = open_db(&reading);
    assert_int_equal(rows(db), 5);
    rtl_db_close(db);
    unlink(path);
    rtl_db_close(open_db(&writing));
    assert_int_equal(access(path, F_OK), -1);
}

static void names_special_to_sqlite_are_plain_files(void **state)
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
        TEST(a_journal_cannot_delete_another_file),
        TEST(sqlite_can_open_no_other_file),
        TEST(a_journal_without_a_name_is_applied),
        TEST(a_page_saved_in_part_is_not_restored),
        TEST(a_killed_recorders_commits_are_read),
        TEST(a_reader_needs_no_write_permission),
        TEST(a_link_to_a_recording_is_that_recording),
        TEST(an_open_transaction_is_waited_for_or_ignored),
        TEST(a_journal_of_headers_can_be_interrupted),
        TEST(a_journal_that_is_no_plain_file_is_not_touched),
        TEST(another_users_journal_is_not_used),
        TEST(a_file_that_changes_meanwhile_is_refused),
        TEST(links_and_files_of_other_users_are_not_written),
        TEST(a_journal_is_read_within_bounds),
        TEST(a_second_open_keeps_the_first_ones_lock),
        TEST(a_replaced_file_leaves_no_journal),
        TEST(a_file_in_use_is_not_replaced),
        TEST(a_recording_that_cannot_begin_leaves_nothing),
        TEST(a_file_stays_while_another_writer_uses_it),
        TEST(names_special_to_sqlite_are_plain_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
