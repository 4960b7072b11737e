/* Rows in memory as a virtual table of SQLite, read from the first row to the last. See rtl_db_feed in db.h. */
#include "record/db.h"
#include "record/db_private.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

struct rows_table {
    sqlite3_vtab base; /* first: SQLite's view of it */
    const struct rtl_db_rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct rtl_db_rows *rows;
    size_t at;
};

static int rows_connect(sqlite3 *handle, void *data, int argc, const char *const *argv, sqlite3_vtab **out,
                        char **error)
{
    const struct rtl_db_rows *rows = data;
    char sql[160] = "CREATE TABLE rtl_rows(c0";
    (void)argc;
    (void)argv;
    (void)error;
    for (unsigned i = 1; i < rows->columns; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ",c%u", i);
    strcat(sql, ")");
    struct rows_table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct rows_table){.rows = rows};
    *out = &table->base;
    return sqlite3_declare_vtab(handle, sql);
}

static int rows_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int rows_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct rows_cursor){.rows = ((struct rows_table *)table)->rows};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int rows_first(sqlite3_vtab_cursor *cursor, int plan, const char *name, int argc, sqlite3_value **argv)
{
    (void)plan;
    (void)name;
    (void)argc;
    (void)argv;
    ((struct rows_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    ((struct rows_cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int rows_end(sqlite3_vtab_cursor *cursor)
{
    const struct rows_cursor *c = (const struct rows_cursor *)cursor;
    return c->at >= c->rows->count;
}

static int rows_value(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct rows_cursor *c = (const struct rows_cursor *)cursor;
    sqlite3_result_int64(context, c->rows->values[c->at * c->rows->columns + (unsigned)column]);
    return SQLITE_OK;
}

static int rows_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((struct rows_cursor *)cursor)->at;
    return SQLITE_OK;
}

void rtl_db_feed(struct rtl_db *db, const struct rtl_db_rows *rows)
{
    static const sqlite3_module module = {.xConnect = rows_connect, /* no xCreate: the table exists without CREATE */
                                          .xDisconnect = rows_disconnect,
                                          .xBestIndex = rows_plan,
                                          .xOpen = rows_open,
                                          .xClose = rows_close,
                                          .xFilter = rows_first,
                                          .xNext = rows_next,
                                          .xEof = rows_end,
                                          .xColumn = rows_value,
                                          .xRowid = rows_id};
    union {
        const void *in;
        void *out;
    } data = {.in = rows};
    int code = db->status ? SQLITE_OK : sqlite3_create_module(db->handle, "rtl_rows", &module, data.out);
    if (code)
        rtl_db_fail_code(db, code);
}
