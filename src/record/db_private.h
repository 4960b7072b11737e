/* What the files of the database layer share; nobody else includes it. SQLite's types are only named here. */
#ifndef RTL_RECORD_DB_PRIVATE_H
#define RTL_RECORD_DB_PRIVATE_H

#include "record/db.h"

enum { RTL_DB_WHY_BYTES = 512 };

struct stat;
struct sqlite3;
struct sqlite3_stmt;
struct rtl_db_files;

struct rtl_db_statement {
    struct rtl_db *db;
    struct sqlite3_stmt *st;
    uint64_t work; /* since it was started */
    struct rtl_db_statement *next;
};

struct rtl_db {
    struct sqlite3 *handle;
    struct rtl_db_files *files;
    char *path;
    bool write, open; /* open: a transaction of ours */
    bool made;        /* the file: it was not there before */
    bool ran_out;     /* a write found no room, or failed */
    enum rtl_db_status status;
    char why[RTL_DB_WHY_BYTES];
    struct rtl_db_statement *statements;
    unsigned busy_ms;
    uint64_t work, budget; /* work: of what is no statement of ours; budget: of one of them, see db_guard.c */
    uint64_t *meter;       /* what is charged now */
    enum rtl_db_status given_up;
};

/* Latches an error of SQLite's (db.c). */
void rtl_db_fail_code(struct rtl_db *db, int code);

/* --- the files of one database (db_vfs.c) --- */

/* How SQLite reaches them: by a file system of its own, under a name for sqlite3_open_v2. NULL without memory. */
struct rtl_db_files *rtl_db_files_create(struct rtl_db *db);
void rtl_db_files_free(struct rtl_db_files *files); /* after the database was closed */
const char *rtl_db_files_system(const struct rtl_db_files *files);
/* Why a file beside the database was refused: the status, and a line that is taken away by asking; else OK. */
enum rtl_db_status rtl_db_files_refused(struct rtl_db_files *files, char *why, size_t why_bytes);
bool rtl_db_files_is(const struct rtl_db_files *files, const struct stat *facts); /* whether that is what is open */
uint64_t rtl_db_files_size(const struct rtl_db_files *files);                     /* of the database */
uint64_t rtl_db_files_log_size(const struct rtl_db_files *files);                 /* of its -wal, 0 when it has none */
/* The first bytes of the file, whatever it is; less than `bytes` when it is shorter, -1 when it can't be read. */
int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes);
/* Empties the file and takes away what lies beside it, while nobody else has it locked; SQLite's code. */
int rtl_db_files_empty(struct rtl_db_files *files);

/* --- what keeps a file from doing harm (db_guard.c) --- */

void rtl_db_guard(struct rtl_db *db); /* of a connection that was just opened */
/* Charges work; true when it was too much, or when the user has asked to leave. */
bool rtl_db_give_up(struct rtl_db *db, uint64_t work);

#endif
