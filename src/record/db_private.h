/* Shared by the files of the database layer (db.h) only. */
#ifndef RTL_RECORD_DB_PRIVATE_H
#define RTL_RECORD_DB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "record/db_status.h"
#include "record/safe_path.h"

enum { RTL_DB_WHY_BYTES = 512 };

struct sqlite3;
struct sqlite3_stmt;
struct rtl_db_files;

struct rtl_db_statement {
    struct rtl_db *db;
    struct sqlite3_stmt *st;
    uint64_t work; /* steps since it was started */
    struct rtl_db_statement *next;
};

struct rtl_db {
    struct sqlite3 *handle;
    struct rtl_db_files *files;
    char *path; /* as the user named it */
    struct rtl_safe_path at;
    bool write, open; /* open: a transaction of rtl_db_begin */
    bool made;        /* this database created the file */
    int64_t version;  /* of the file's content after its creation: another writer's commit changes it */
    bool ran_out;     /* a write failed or found no space */
    enum rtl_db_status status;
    char why[RTL_DB_WHY_BYTES];
    struct rtl_db_statement *statements;
    unsigned busy_ms;
    uint64_t work;   /* steps of SQL outside our statements */
    uint64_t budget; /* limit for each meter, see rtl_db_give_up */
    uint64_t *meter; /* `work` of the database or of the running statement */
    enum rtl_db_status given_up;
};

/* --- db.c, db_guard.c --- */

void rtl_db_fail_code(struct rtl_db *db, int code); /* latch an error of SQLite */
void rtl_db_guard(struct rtl_db *db);               /* set the limits of a new connection (db_guard.c) */

/* --- db_vfs.c: the files of one database, as the file system that SQLite sees --- */

/* Open db->path through a file system of its own; sets db->files and db->handle. Returns SQLite's code. */
int rtl_db_files_open(struct rtl_db *db);
void rtl_db_files_free(struct rtl_db_files *files); /* after the database was closed */
/* Return and clear why a file beside the database was refused: the status and a line; OK if none was. */
enum rtl_db_status rtl_db_files_refused(struct rtl_db_files *files, char *why, size_t why_bytes);
bool rtl_db_files_is(const struct rtl_db_files *files, const struct stat *info); /* is this the open file? */
uint64_t rtl_db_files_size(const struct rtl_db_files *files);                    /* of the database */
uint64_t rtl_db_files_log_size(const struct rtl_db_files *files);                /* of its -wal, 0 without one */
/* Read the first bytes of the file; returns their number, fewer for a shorter file, -1 if it can't be read. */
int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes);
/* Return whether the file is in WAL mode or has a -wal beside it. */
bool rtl_db_files_has_log(struct rtl_db_files *files);
/* Empty the file and remove the files beside it, unless another process has it locked. Returns SQLite's code. */
int rtl_db_files_empty(struct rtl_db_files *files);

/* Charge steps of work; true if it exceeds the budget, which grows with the file, or if the user asked to leave. */
bool rtl_db_give_up(struct rtl_db *db, uint64_t work);

/* --- db_journal.c: judges the journal of an interrupted transaction before SQLite opens it --- */

enum rtl_journal {
    RTL_JOURNAL_FINE,   /* SQLite may open it, or there is none */
    RTL_JOURNAL_ODD,    /* not a plain file, or it has a second name, or belongs to another user */
    RTL_JOURNAL_NAMES,  /* it names another file, which SQLite would delete */
    RTL_JOURNAL_FAILED, /* it can't be read: errno */
};

/*
 * Return whether SQLite may open this path (the database's plus -journal, -wal or -shm): it does not exist (*exists
 * false), or it is a plain file with one name, owned by a user who may write the database. Otherwise SQLite could write
 * to, truncate or wait for a file of another user, or read a file that another user planted in /tmp.
 */
bool rtl_journal_is_plain(const char *path, bool *exists);

/* Judge the content, too: does it name another file? The pages are not checked. */
enum rtl_journal rtl_journal_judge(const char *path);

/* Identifies a version of a file by the file's number, size and times. */
struct rtl_file_version {
    bool exists;
    struct stat info;
};
void rtl_file_version_read(struct rtl_file_version *version, const char *path);
/* Return whether the file is unchanged, or still absent. */
bool rtl_file_is_same(const struct rtl_file_version *version, const char *path);

static inline uint32_t rtl_db_big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

#endif
