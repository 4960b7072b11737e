/*
 * Protection from hostile files. An SQLite file can hold programs that look like tables: a view without end, a trigger
 * that writes forever.
 *
 * Before a set is used its tables are checked: each is a table, has no trigger, and computes only what our own tables
 * compute. Pages that point to one another in a circle are endless, too, so every statement's work is counted, and more
 * work than the file's size explains is damage (rtl_db_give_up).
 */
#include "record/db.h"
#include "record/db_private.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum {
    STEPS = 64,         /* of SQLite's machine between two calls of count_steps */
    PATTERN_BYTES = 64, /* of GLOB: a longer pattern can take forever */
};

/* --- work and waiting --- */

static int count_steps(void *db)
{
    return rtl_db_give_up(db, STEPS);
}

/* Wait for a lock of another process: 1 ms ten times, then 25 ms each, busy_ms in total. */
static int wait_for_lock(void *data, int times)
{
    enum { SHORT_WAITS = 10, LONG_MS = 25 };
    struct rtl_db *db = data;
    int waited = times < SHORT_WAITS ? times : SHORT_WAITS + (times - SHORT_WAITS) * LONG_MS;
    int left = (int)db->busy_ms - waited, step = times < SHORT_WAITS ? 1 : LONG_MS;
    if (left <= 0 || rtl_db_give_up(db, 0))
        return 0;
    sqlite3_sleep(step < left ? step : left);
    return 1;
}

/* --- allowed functions --- */

/* Functions in tables of rtl-top (any version) and of other tools. SQLite writes the argument count behind the name:
 * "printf(-1)". */
static bool may_compute(const char *function)
{
    static const char *const may[] = {"printf", "format", "typeof"};
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        if (!strncmp(function, may[i], strlen(may[i])) && function[strlen(may[i])] == '(')
            return true;
    return false;
}

void rtl_db_guard(struct rtl_db *db)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, RTL_DB_VALUE_MAX},
                                    {SQLITE_LIMIT_SQL_LENGTH, 1 << 18},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db->handle, limits[i][0], limits[i][1]);
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_handler(db->handle, wait_for_lock, db);
    sqlite3_progress_handler(db->handle, STEPS, count_steps, db);
    /* the file's schema must not run functions, write to system tables or load code */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !db->write, NULL);
    sqlite3_drop_modules(db->handle, NULL); /* no virtual tables */
}

/* --- tables --- */

static bool query_text(struct rtl_db *db, const char *sql, const char *name, char *answer, size_t bytes)
{
    struct rtl_db_statement *st = rtl_db_prepare(db, sql);
    rtl_db_bind_string(st, 1, name);
    bool found = rtl_db_step(st);
    if (found)
        snprintf(answer, bytes, "%s", rtl_db_text(st, 0, NULL));
    rtl_db_reset(st);
    return found;
}

static void refuse_table(struct rtl_db *db, const char *table, const char *why)
{
    rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not as rtl-top makes it: its table %s %s", db->path, table, why);
}

/*
 * Check a statement on a table: EXPLAIN lists the operations, which must not call other functions. SQLite prepares an
 * EXPLAIN only once: after another process has changed the schema, a kept statement would list freed operations.
 */
static void check_operations(struct rtl_db *db, const char *before, const char *table, const char *behind)
{
    enum { OPCODE = 1, P4 = 5 };
    char sql[160];
    struct rtl_db_statement *st;
    snprintf(sql, sizeof sql, "EXPLAIN %s main.\"%s\"%s", before, table, behind);
    for (st = rtl_db_prepare(db, sql); rtl_db_step(st);)
        if (strstr(rtl_db_text(st, OPCODE, NULL), "Func") && !may_compute(rtl_db_text(st, P4, NULL)))
            refuse_table(db, table, "computes something");
    rtl_db_forget(st);
}

/* True if the table exists and is plain; false, with an error, if the name belongs to something else. */
static bool is_plain_table(struct rtl_db *db, const char *table)
{
    char type[64];
    if (!query_text(db,
                    "SELECT CASE WHEN type = 'table' AND rootpage = 0 THEN 'virtual table' ELSE substr(type, 1, 20) END"
                    " FROM sqlite_master WHERE name = ? COLLATE NOCASE",
                    table, type, sizeof type))
        return false;
    if (strcmp(type, "table"))
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not as rtl-top makes it: %s in it is a %s and no table", db->path, table,
                    type);
    else if (query_text(db, "SELECT '' FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
                        table, type, sizeof type))
        refuse_table(db, table, "has a trigger");
    check_operations(db, "SELECT * FROM", table, "");
    if (db->write)
        check_operations(db, "INSERT INTO", table, " DEFAULT VALUES");
    return !db->status;
}

bool rtl_db_has_set(struct rtl_db *db, const struct rtl_db_set *set)
{
    static const char create[] = "CREATE TABLE ";
    bool exists = is_plain_table(db, set->table);
    for (const char *at = set->sql; exists && !db->status && (at = strstr(at, create));) {
        char table[64];
        at += sizeof create - 1;
        snprintf(table, sizeof table, "%.*s", (int)strcspn(at, "( \n"), at);
        is_plain_table(db, table);
    }
    return exists && !db->status;
}

enum rtl_db_status rtl_db_need(struct rtl_db *db, const struct rtl_db_set *set)
{
    bool ours = !db->open;
    if (db->status || rtl_db_has_set(db, set))
        return db->status;
    if (ours)
        rtl_db_begin(db);
    if (!rtl_db_has_set(db, set)) /* another process may have created it in between */
        rtl_db_exec(db, set->sql);
    return ours ? rtl_db_commit(db) : db->status;
}
