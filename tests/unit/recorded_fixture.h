/* Recordings of a synthetic process in one file: make, query and change them. */
#ifndef RECORDED_FIXTURE_H
#define RECORDED_FIXTURE_H

#include "record_fixture.h"

#include "record/recording.h"

static inline void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    names->full = names->short_name = k->name;
}

static inline struct rtl_recording *record(const char *kind)
{
    const struct rtl_recording_info info = {.kind = kind,
                                            .pid = 4711,
                                            .title = "serve",
                                            .recorder = "test",
                                            .interval_ns = RTL_SEC,
                                            .name_kernel = name_kernel};
    struct rtl_recording *r;
    if (rtl_recording_open(path, false, 50, &info, &r, why, sizeof why))
        fail_msg("%s", why);
    return r;
}

static inline void exec_sql(const char *sql)
{
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
    rtl_db_exec(db, sql);
    if (rtl_db_status(db))
        fail_msg("%s: %s", sql, rtl_db_why(db));
    rtl_db_close(db);
}

static inline int64_t ask_sql(const char *sql)
{
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why), RTL_DB_OK);
    int64_t answer = rtl_db_one(db, sql);
    if (rtl_db_status(db))
        fail_msg("%s: %s", sql, rtl_db_why(db));
    rtl_db_close(db);
    return answer;
}

#endif
