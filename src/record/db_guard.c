/*
 * What keeps a file from doing harm: it may come from anywhere, and an SQLite file can hold what looks like a table and
 * is a program, a view that never ends, a trigger that writes for ever.
 *
 * Tables are tables: before a set of ours is used its tables are looked at, each is one, has no trigger, and computes
 * nothing but what ours do. What is left is data. Pages that point to one another in a circle are endless, too, so the
 * work of a statement is counted (db_work.c).
 */
#include "record/db_guard.h"
#include "record/db.h"
#include "record/db_private.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum {
    STEPS = 64,         /* of SQLite's machine between two looks */
    PATTERN_BYTES = 64, /* of GLOB: longer ones take for ever */
};

/* --- how much work --- */

static int count_steps(void *db)
{
    return rtl_db_give_up(db, STEPS);
}

/* The time that others hold a lock is waited for, in steps. */
static int wait_for_lock(void *data, int times)
{
    struct rtl_db *db = data;
    static const int steps_ms[] = {1, 2, 5, 10, 15, 20};
    enum { STEP_COUNT = sizeof steps_ms / sizeof *steps_ms, STEP_MS = 25 };
    unsigned waited = 0;
    for (int i = 0; i < times && i < STEP_COUNT; i++)
        waited += (unsigned)steps_ms[i];
    if (times > STEP_COUNT)
        waited += (unsigned)(times - STEP_COUNT) * STEP_MS;
    if (waited >= db->busy_ms || rtl_db_give_up(db, 0))
        return 0;
    unsigned step = (unsigned)(times < STEP_COUNT ? steps_ms[times] : STEP_MS), left = db->busy_ms - waited;
    sqlite3_sleep((int)(step < left ? step : left));
    return 1;
}

/* --- what may be computed --- */

/* Functions that tables of ours, of any version, and those of other tools use. SQLite names one with its arguments:
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
    /* its schema must not make SQLite do what only our own code may */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !db->write, NULL);
    sqlite3_drop_modules(db->handle, NULL); /* virtual tables: but for rtl_rows, which comes later */
}

/* --- tables --- */

static bool ask(struct rtl_db *db, const char *sql, const char *name, char *answer, size_t bytes)
{
    struct rtl_db_statement *st = rtl_db_prepare(db, sql);
    rtl_db_bind_text(st, 1, name, strlen(name));
    bool found = rtl_db_step(st);
    if (found)
        snprintf(answer, bytes, "%s", rtl_db_text(st, 0, NULL));
    rtl_db_reset(st);
    return found;
}

/* EXPLAIN lists what SQLite would run to read or write a row: no function may be in it. */
static void look_into(struct rtl_db *db, const char *before, const char *table, const char *behind)
{
    enum { OPCODE = 1, P4 = 5 };
    char sql[160];
    struct rtl_db_statement *st;
    snprintf(sql, sizeof sql, "EXPLAIN %s main.\"%s\"%s", before, table, behind);
    for (st = rtl_db_prepare(db, sql); rtl_db_step(st);)
        if (strstr(rtl_db_text(st, OPCODE, NULL), "Func") && !may_compute(rtl_db_text(st, P4, NULL)))
            rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not as rtl-top makes it: its table %s computes something", db->path,
                        table);
    rtl_db_reset(st);
}

/* True when it is there as a plain table; false, with an error, when it is there as something else. */
static bool is_plain_table(struct rtl_db *db, const char *table)
{
    char type[64];
    if (!ask(db,
             "SELECT CASE WHEN type = 'table' AND rootpage = 0 THEN 'virtual table' ELSE substr(type, 1, 20) END"
             " FROM sqlite_master WHERE name = ? COLLATE NOCASE",
             table, type, sizeof type))
        return false;
    if (strcmp(type, "table"))
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not as rtl-top makes it: %s in it is a %s and no table", db->path, table,
                    type);
    else if (ask(db, "SELECT '' FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE", table, type,
                 sizeof type))
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not as rtl-top makes it: its table %s has a trigger", db->path, table);
    look_into(db, "SELECT * FROM", table, "");
    if (db->write)
        look_into(db, "INSERT INTO", table, " DEFAULT VALUES");
    return !db->status;
}

bool rtl_db_has_set(struct rtl_db *db, const struct rtl_db_set *set)
{
    static const char create[] = "CREATE TABLE ";
    bool there = is_plain_table(db, set->table);
    for (const char *at = set->sql; there && !db->status && (at = strstr(at, create));) {
        char table[64];
        at += sizeof create - 1;
        snprintf(table, sizeof table, "%.*s", (int)strcspn(at, "( \n"), at);
        is_plain_table(db, table);
    }
    return there && !db->status;
}

enum rtl_db_status rtl_db_need(struct rtl_db *db, const struct rtl_db_set *set)
{
    bool ours = !db->open;
    if (db->status || rtl_db_has_set(db, set))
        return db->status;
    if (ours)
        rtl_db_begin(db);
    if (!rtl_db_has_set(db, set)) /* asked again: another process may have been faster */
        rtl_db_exec(db, set->sql);
    return ours ? rtl_db_commit(db) : db->status;
}
