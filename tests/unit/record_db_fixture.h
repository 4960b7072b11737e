/* A file of one table, for tests of the database layer and of the files beside a database. */
#ifndef RECORD_DB_FIXTURE_H
#define RECORD_DB_FIXTURE_H

#include "record_fixture.h"

static const struct rtl_db_set numbers = {"test_number", "CREATE TABLE test_number(n INTEGER, t TEXT)"};
static const struct rtl_db_options reading = {.busy_ms = 50}, writing = {.write = true, .busy_ms = 50},
                                   forced = {.write = true, .force = true, .busy_ms = 50};

static inline struct rtl_db *open_db(const struct rtl_db_options *options)
{
    struct rtl_db *db;
    if (rtl_db_open(path, options, &db, why, sizeof why))
        fail_msg("%s", why);
    return db;
}

static inline void insert(struct rtl_db *db, int64_t from, int64_t to)
{
    struct rtl_db_statement *st = rtl_db_prepare(db, "INSERT INTO test_number VALUES(?, ?)");
    for (int64_t n = from; n < to; n++) {
        rtl_db_bind_int(st, 1, n);
        rtl_db_bind_text(st, 2, "a text of some length, so that pages fill", 41);
        rtl_db_run(st);
    }
}

static inline void make_recording(int64_t rows)
{
    struct rtl_db *db = open_db(&writing);
    assert_int_equal(rtl_db_need(db, &numbers), RTL_DB_OK);
    rtl_db_begin(db);
    insert(db, 0, rows);
    assert_int_equal(rtl_db_commit(db), RTL_DB_OK);
    rtl_db_close(db);
}

static inline int64_t rows(struct rtl_db *db)
{
    return rtl_db_one(db, "SELECT count(*) FROM test_number");
}

static inline void refuses(const struct rtl_db_options *options, enum rtl_db_status status, const char *says)
{
    struct rtl_db *db;
    *why = 0;
    assert_int_equal(rtl_db_open(path, options, &db, why, sizeof why), status);
    assert_null(db);
    if (!strstr(why, says) || !strstr(why, path) || strchr(why, '\n'))
        fail_msg("'%s' lacks '%s'", why, says);
}

#endif
