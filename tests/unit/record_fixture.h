/* Hostile and broken recordings for the tests of their readers: made with SQLite itself, and journals made by hand. */
#ifndef RECORD_FIXTURE_H
#define RECORD_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/db.h"

static char folder[64], path[96], beside[112], victim[96], why[512];

static inline int fixture_begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rtl-record-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.db", folder);
    snprintf(beside, sizeof beside, "%s-journal", path);
    snprintf(victim, sizeof victim, "%s/precious", folder);
    return 0;
}

static inline int fixture_end(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* The caller frees it. */
static inline unsigned char *read_file(const char *name, size_t *size)
{
    struct stat info;
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &info), 0);
    *size = (size_t)info.st_size;
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

/* Return a hash over the folder's names, file types and bytes. Two equal hashes mean: nothing was changed. */
static inline uint64_t fixture_state(void)
{
    uint64_t all = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char name[sizeof folder + sizeof e->d_name + 2];
        struct stat info;
        uint64_t sum = 0xcbf29ce484222325ull;
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        assert_int_equal(lstat(name, &info), 0);
        for (const char *c = e->d_name; *c; c++)
            sum = (sum ^ (unsigned char)*c) * 0x100000001b3ull;
        sum = (sum ^ info.st_mode) * 0x100000001b3ull;
        if (S_ISREG(info.st_mode) && info.st_size < 1 << 28) {
            size_t size;
            unsigned char *bytes = read_file(name, &size);
            for (size_t i = 0; i < size; i++)
                sum = (sum ^ bytes[i]) * 0x100000001b3ull;
            free(bytes);
        }
        all += sum;
    }
    closedir(d);
    return all;
}

/* Run SQL on the file without restrictions, as any program with SQLite could. */
static inline void run_sql(const char *sql)
{
    sqlite3 *handle;
    char *error = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &error))
        fail_msg("%s: %s", sql, error);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static inline void put_big_endian(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/*
 * Make the journal of a transaction that saved the database's first page unchanged, so that SQLite rolls it back. If
 * `name` is not NULL, the journal also names another file, which SQLite then deletes. The caller frees the bytes.
 */
static inline unsigned char *make_journal(const char *name, uint32_t records, size_t *size)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    size_t bytes, length = name ? strlen(name) : 0;
    unsigned char *db = read_file(path, &bytes);
    uint32_t page = (uint32_t)db[16] << 8 | (uint32_t)db[17] << 16, sum = 7;
    unsigned char *journal = calloc(1, 512 + page + 8 + 4 + length + 16), *at = journal + 512;
    memcpy(journal, magic, 8);
    put_big_endian(journal + 8, records);
    put_big_endian(journal + 12, sum);
    put_big_endian(journal + 16, (uint32_t)(bytes / page));
    put_big_endian(journal + 20, 512);
    put_big_endian(journal + 24, page);
    put_big_endian(at, 1);
    memcpy(at + 4, db, page);
    for (int i = (int)page - 200; i > 0; i -= 200)
        sum += db[i];
    put_big_endian(at + 4 + page, sum);
    at += 8 + page;
    if (name) {
        sum = 0;
        for (size_t i = 0; i < length; i++)
            sum += (uint32_t)(signed char)name[i];
        put_big_endian(at, 0x40000000 / page + 1);
        memcpy(at + 4, name, length);
        put_big_endian(at + 4 + length, (uint32_t)length);
        put_big_endian(at + 8 + length, sum);
        memcpy(at + 12 + length, magic, 8);
        at += 20 + length;
    }
    *size = (size_t)(at - journal);
    free(db);
    return journal;
}

#endif
