/*
 * For targets that read databases: the target's own folder, databases made from the input (rows with values of all
 * types, or patches on the bytes of a valid one), and running commands with checks of their output.
 */
#ifndef RTL_TESTS_FUZZ_DATABASE_H
#define RTL_TESTS_FUZZ_DATABASE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

struct fuzz_image {
    uint8_t *bytes;
    size_t size;
};

struct fuzz_folder {
    char path[64];
    char name[8][96]; /* returned by fuzz_at */
    int names;
};

static struct fuzz_folder *fuzz_left;
static inline void fuzz_leave(void)
{
    DIR *dir = opendir(fuzz_left->path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char name[400];
        snprintf(name, sizeof name, "%s/%s", fuzz_left->path, entry->d_name);
        unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(fuzz_left->path);
}

/* Returns the path of a file in the folder; at most eight, each valid for the whole run. */
static inline char *fuzz_at(struct fuzz_folder *folder, const char *name)
{
    MUST(folder->names < 8);
    char *path = folder->name[folder->names++];
    snprintf(path, sizeof folder->name[0], "%s/%s", folder->path, name);
    return path;
}

/* Makes the folder for all files of a command, in memory if possible; it is removed with the target. */
static inline void fuzz_enter(struct fuzz_folder *folder)
{
    snprintf(folder->path, sizeof folder->path, "%s/rtl-fuzz.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    MUST(mkdtemp(folder->path));
    fuzz_left = folder;
    atexit(fuzz_leave);
}

static inline void fuzz_read(const char *path, struct fuzz_image *image)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    MUST(fd >= 0 && !fstat(fd, &info));
    image->size = (size_t)info.st_size;
    image->bytes = malloc(image->size + 1);
    MUST(image->bytes && read(fd, image->bytes, image->size) == (ssize_t)image->size);
    image->bytes[image->size] = 0;
    close(fd);
}

static inline void fuzz_write(const char *path, const struct fuzz_image *image)
{
    char journal[120];
    snprintf(journal, sizeof journal, "%s-journal", path); /* an old journal does not belong to this file */
    unlink(journal);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(fd >= 0 && write(fd, image->bytes, image->size) == (ssize_t)image->size);
    close(fd);
}

/* Patches the bytes of a valid database: a place, a width, a value; or cuts its end off. */
static inline void fuzz_patch(struct fuzz_input *in, const struct fuzz_image *good, const char *path)
{
    struct fuzz_image image = {malloc(good->size), good->size};
    MUST(image.bytes);
    memcpy(image.bytes, good->bytes, good->size);
    while (in->left) {
        uint8_t kind = (uint8_t)fuzz_take(in, 1);
        size_t width = 1u << (kind & 3), at = (size_t)fuzz_take(in, 3) % good->size;
        if (kind & 0x80)
            at %= 4096; /* header and schema */
        if (kind == 0xff)
            image.size = at + 1;
        for (size_t i = 0; i < width; i++) {
            uint8_t value = (uint8_t)fuzz_take(in, 1);
            if (at + i < good->size)
                image.bytes[at + i] = kind & 0x40 ? (uint8_t)(image.bytes[at + i] + value) : value;
        }
    }
    fuzz_write(path, &image);
    free(image.bytes);
}

/* Binds one value of any type. */
static inline void fuzz_bind(struct fuzz_input *in, sqlite3_stmt *st, int at)
{
    static const int64_t likely[] = {0,         1,         2,         3,         4,     64,        -1,
                                     INT32_MAX, INT64_MIN, INT64_MAX, 1ll << 32, 65536, 1ll << 53, INT64_MAX - 1};
    static const char *const texts[] = {
        "Inf",   "=1+1",    "wg=1,2,3 grid=4,5,6", "size=-1",      "{\"process\":0}", "rtl-top --trace: x",
        "gpu 0", "queue 1", "process 0",           "\x1b[31m\r\n", "[3,0,1,2]",       "snapshot"};
    uint8_t kind = (uint8_t)fuzz_take(in, 1);
    switch (kind & 7) {
    case 0:
        sqlite3_bind_null(st, at);
        break;
    case 1:
        sqlite3_bind_double(st, at, kind & 8 ? (double)INFINITY : (double)(int64_t)fuzz_take(in, 8));
        break;
    case 2: {
        size_t length = kind >> 3;
        length = length < in->left ? length : in->left;
        if (kind & 0x80)
            sqlite3_bind_blob(st, at, in->at, (int)length, SQLITE_TRANSIENT);
        else
            sqlite3_bind_text(st, at, (const char *)in->at, (int)length, SQLITE_TRANSIENT);
        in->at += length;
        in->left -= length;
        break;
    }
    case 3:
        sqlite3_bind_text(st, at, texts[(kind >> 3) % (sizeof texts / sizeof *texts)], -1, SQLITE_STATIC);
        break;
    case 4:
        sqlite3_bind_int64(st, at, (int64_t)fuzz_take(in, 8));
        break;
    case 5:
        sqlite3_bind_int64(st, at, (int8_t)fuzz_take(in, 1));
        break;
    default:
        sqlite3_bind_int64(st, at, likely[(kind >> 3) % (sizeof likely / sizeof *likely)]);
        break;
    }
}

/* Runs statements on a valid database; the input selects them and their values. */
static inline void fuzz_rows(struct fuzz_input *in, const struct fuzz_image *good, const char *path,
                             const char *const *statements, size_t count)
{
    sqlite3 *db;
    fuzz_write(path, good);
    MUST(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL, NULL);
    while (in->left) {
        sqlite3_stmt *st;
        MUST(sqlite3_prepare_v2(db, statements[fuzz_take(in, 1) % count], -1, &st, NULL) == SQLITE_OK);
        for (int i = 1; i <= sqlite3_bind_parameter_count(st); i++)
            fuzz_bind(in, st, i);
        sqlite3_step(st);
        sqlite3_finalize(st);
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

/* Checks that the text is lines without terminal controls. */
static inline void fuzz_tame(const struct fuzz_image *text)
{
    for (size_t i = 0; i < text->size; i++) {
        MUST((text->bytes[i] >= 0x20 && text->bytes[i] != 0x7f) || text->bytes[i] == '\n');
        MUST(text->bytes[i] != 0xc2 || (text->bytes[i + 1] & 0xe0) != 0x80); /* nor U+0080 to U+009f */
    }
}

/* Runs a command; its output is in `printed`. Checks that its messages are lines of safe text. */
static inline int fuzz_command(int command(int, char **), int argc, char **argv, struct fuzz_image *printed)
{
    char *out = NULL, *told = NULL;
    size_t out_bytes, told_bytes;
    FILE *real_out = stdout, *real_err = stderr;
    stdout = open_memstream(&out, &out_bytes);
    stderr = open_memstream(&told, &told_bytes);
    MUST(stdout && stderr);
    int status = command(argc, argv);
    fclose(stdout);
    fclose(stderr);
    stdout = real_out;
    stderr = real_err;
    fuzz_tame(&(struct fuzz_image){(uint8_t *)told, told_bytes});
    for (const char *line = told; *line; line = strchr(line, '\n') + 1)
        MUST(!strncmp(line, "rtl-top: ", 9) && strchr(line, '\n'));
    MUST(status != 1 || told_bytes);
    free(told);
    *printed = (struct fuzz_image){(uint8_t *)out, out_bytes};
    return status;
}

/* Checks that no temporary file remains beside the output. */
static inline void fuzz_no_leftovers(const struct fuzz_folder *folder)
{
    DIR *dir = opendir(folder->path);
    MUST(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        MUST(strncmp(entry->d_name, ".rtl-top-", 9) != 0);
    closedir(dir);
}

#endif
