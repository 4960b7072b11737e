/* Shared by the files of the database layer only. */
#ifndef RTL_RECORD_DB_PRIVATE_H
#define RTL_RECORD_DB_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

void rtl_db_fail_code(struct rtl_db *db, int code); /* latch an error of SQLite */
void rtl_db_guard(struct rtl_db *db);               /* set the limits of a new connection (db_guard.c) */

#endif
