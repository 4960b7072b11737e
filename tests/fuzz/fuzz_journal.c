/*
 * libFuzzer target: with any files beside a database, reading it changes and deletes no file, and writing into it
 * touches only the database's own files.
 *
 * Byte 0 of the input selects these files: a journal that saves pages and names a file of the user, or the -wal and the
 * -shm of a database in that mode, each with changed bytes or made from the input. Then the target reads, writes and
 * reads the database. A file that a journal names must keep its content. The folder must hold only its old files and
 * the database's three companions. Reading must change nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "record/db.h"

enum { FILE_MAX = 1 << 18, PAGE = 512, ROWS = 200 };
enum { LOG = 1, RAW = 2, CHANGED = 4, UNNAMED = 8, INDEX = 16 }; /* bits of byte 0 */

/* the database, the files beside it, and a file that must never change */
enum { DB, JOURNAL, WAL, SHM, PRECIOUS, FILES };
static const char *const names[FILES] = {"file.db", "file.db-journal", "file.db-wal", "file.db-shm", "precious"};
static const struct rtl_db_set set = {"test_number", "CREATE TABLE test_number(n INTEGER, t TEXT)"};

struct content {
    size_t size; /* FILE_MAX: absent */
    uint8_t bytes[FILE_MAX];
};

static char folder[64], path[FILES][96];
static struct content plain, logged, journal, wal, precious, before[FILES];

static void take_in(int file, struct content *c)
{
    FILE *f = fopen(path[file], "r");
    c->size = f ? fread(c->bytes, 1, FILE_MAX - 1, f) : FILE_MAX;
    if (f)
        fclose(f);
}

static void put_out(int file, const struct content *c)
{
    FILE *f = fopen(path[file], "w");
    MUST(f && fwrite(c->bytes, 1, c->size, f) == c->size && !fclose(f));
}

static bool is_as(int file, const struct content *c)
{
    static struct content now;
    take_in(file, &now);
    return now.size == c->size && (now.size == FILE_MAX || !memcmp(now.bytes, c->bytes, now.size));
}

static void put_word(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Makes a journal in SQLite's format that saves the database's pages 1 and 3 and ends with the name of the precious
 * file. */
static void make_journal(void)
{
    static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    uint8_t *at = journal.bytes;
    size_t length = strlen(path[PRECIOUS]);
    uint32_t sum = 0;
    memset(at, 0, 512);
    memcpy(at, magic, 8);
    put_word(at + 8, UINT32_MAX);
    put_word(at + 12, 7);
    put_word(at + 16, (uint32_t)(plain.size / PAGE));
    put_word(at + 20, 512);
    put_word(at + 24, PAGE);
    at += 512;
    for (uint32_t page = 1; page <= 3; page += 2, at += PAGE + 8) {
        uint32_t check = 7;
        put_word(at, page);
        memcpy(at + 4, plain.bytes + (page - 1) * PAGE, PAGE);
        for (int i = PAGE - 200; i > 0; i -= 200)
            check += at[4 + i];
        put_word(at + 4 + PAGE, check);
    }
    put_word(at, 0x40000000 / PAGE + 1);
    memcpy(at + 4, path[PRECIOUS], length);
    for (size_t i = 0; i < length; i++)
        sum += at[4 + i];
    put_word(at + 4 + length, (uint32_t)length);
    put_word(at + 8 + length, sum);
    memcpy(at + 12 + length, magic, 8);
    journal.size = (size_t)(at - journal.bytes) + 20 + length;
}

static void clean_up(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(path[i]);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct rtl_db *db;
    char why[512];
    sqlite3 *handle;
    (void)argc;
    (void)argv;
    snprintf(folder, sizeof folder, "%s/rtl-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    MUST(mkdtemp(folder));
    for (int i = 0; i < FILES; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    atexit(clean_up);
    MUST(!rtl_db_open(path[DB], &(struct rtl_db_options){.write = true, .page_bytes = PAGE}, &db, why, sizeof why));
    MUST(!rtl_db_need(db, &set));
    rtl_db_begin(db);
    for (int i = 0; i < ROWS; i++)
        rtl_db_exec(db, "INSERT INTO test_number VALUES(1, 'a text of some length')");
    MUST(!rtl_db_commit(db));
    rtl_db_close(db);
    take_in(DB, &plain);
    MUST(sqlite3_open(path[DB], &handle) == SQLITE_OK);
    MUST(!sqlite3_exec(handle, "PRAGMA journal_mode = WAL; INSERT INTO test_number VALUES(2, 'in the log')", NULL, NULL,
                       NULL));
    take_in(DB, &logged);
    take_in(WAL, &wal);
    sqlite3_close(handle);
    precious = (struct content){.size = 8, .bytes = "precious"};
    make_journal();
    return 0;
}

/* Changes bytes: 2 bytes of place, 1 of count, then the bytes. Places beyond the middle count from the end. */
static void change(struct content *c, const uint8_t *data, size_t size)
{
    while (size >= 4) {
        size_t at = ((size_t)data[0] << 8 | data[1]) % c->size, n = data[2] % 16 + 1u;
        data += 3;
        size -= 3;
        n = n < size ? n : size;
        n = n < c->size - at ? n : c->size - at;
        memcpy(c->bytes + at, data, n);
        data += n;
        size -= n;
    }
}

static void lay_out(uint8_t what, const uint8_t *data, size_t size)
{
    static struct content beside;
    for (int i = 0; i < FILES; i++)
        unlink(path[i]);
    put_out(PRECIOUS, &precious);
    put_out(DB, what & LOG ? &logged : &plain);
    beside = what & LOG ? wal : journal;
    if (what & RAW) {
        beside.size = size < FILE_MAX ? size : FILE_MAX - 1;
        memcpy(beside.bytes, data, beside.size);
    } else {
        if (what & UNNAMED && !(what & LOG))
            beside.size = 512 + 2 * (PAGE + 8);
        if (what & CHANGED)
            change(&beside, data, size);
    }
    put_out(what & LOG ? WAL : JOURNAL, &beside);
    if (what & INDEX && what & LOG)
        put_out(SHM, &beside);
    for (int i = 0; i < FILES; i++)
        take_in(i, &before[i]);
}

static void look_around(bool written)
{
    DIR *d = opendir(folder);
    MUST(d);
    for (struct dirent *e; (e = readdir(d));) {
        int i = 0;
        while (i < FILES && strcmp(e->d_name, names[i]))
            i++;
        MUST(i < FILES || *e->d_name == '.');
    }
    closedir(d);
    MUST(is_as(PRECIOUS, &precious));
    for (int i = 0; i < FILES && !written; i++)
        MUST(is_as(i, &before[i]));
}

static int64_t use(bool write, bool *good)
{
    struct rtl_db *db;
    char why[512] = "";
    int64_t rows = -1;
    *good = false;
    if (rtl_db_open(path[DB], &(struct rtl_db_options){.write = write, .busy_ms = 1}, &db, why, sizeof why)) {
        MUST(*why && !strchr(why, '\n'));
        return rows;
    }
    if (write && !rtl_db_need(db, &set))
        rtl_db_begin(db);
    /* before writing: in a changed page a new row may overwrite others */
    rows = rtl_db_one(db, "SELECT count(*) + total(length(t)) * 0 FROM test_number");
    *good = rtl_db_status(db) == RTL_DB_OK;
    if (write) {
        rtl_db_exec(db, "INSERT INTO test_number VALUES(3, 'written')");
        *good = rtl_db_commit(db) == RTL_DB_OK && *good;
    }
    rtl_db_close(db);
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool read, written, again;
    if (!size)
        return 0;
    lay_out(data[0], data + 1, size - 1);
    int64_t rows = use(false, &read);
    look_around(false);
    int64_t more = use(true, &written);
    look_around(true);
    /* a reader sees what a writer finds after SQLite's rollback */
    if (read && written)
        MUST(more == rows);
    use(false, &again);
    look_around(true);
    return 0;
}
