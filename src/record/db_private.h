/* What the files of the database layer share; nobody else includes it. SQLite's types are only named here. */
#ifndef RTL_RECORD_DB_PRIVATE_H
#define RTL_RECORD_DB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/db_status.h"

enum { RTL_DB_WHY_BYTES = 512 };

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
    uint64_t work, budget; /* work: of what is no statement of ours; budget: of one of them, see db_work.c */
    uint64_t *meter;       /* what is charged now */
    enum rtl_db_status given_up;
};

/* Latches an error of SQLite's (db.c). */
void rtl_db_fail_code(struct rtl_db *db, int code);

#endif
