/*
 * Shared by the tests of traces: a segment with two GPUs, three queues and two kernels, its recording, and queries on
 * the file.
 */
#ifndef RTL_TESTS_ROCPD_FIXTURE_H
#define RTL_TESTS_ROCPD_FIXTURE_H

#include "segment_fixture.h"
#include "unlinked.h"

#include <stdio.h>

#include "record/rocpd.h"
#include "shm/event_ring.h"
#include "text/text.h"

struct setup {
    struct rtl_segment segment;
    struct rtl_reader *reader;
    struct rtl_db *db;
    struct rtl_rocpd *rocpd;
    char path[64];
};

static inline struct rtl_db *open_db(const char *path, bool write)
{
    char why[300];
    struct rtl_db *db;
    struct rtl_db_options options = {.write = write, .page_bytes = RTL_ROCPD_PAGE};
    if (rtl_db_open(path, &options, &db, why, sizeof why))
        fail_msg("%s", why);
    return db;
}

static inline int start(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    struct rtl_segment_config config = fixture_config;
    char why[300];
    config.events = RTL_EVENTS_MIN;
    if (rtl_segment_create(&s->segment, &config, why, sizeof why))
        return 1;
    for (uint32_t a = 0; a < 2; a++)
        s->segment.agents[a] = (struct rtl_agent){.state = 1, .gpu = a, .bdf = 0x10300 + 0x100 * a, .name = "gfx\"90a"};
    for (uint32_t q = 0; q < 3; q++)
        s->segment.queues[q] = (struct rtl_queue){.generation = 2,
                                                  .agent = q % 2,
                                                  .queue_id = 70 + q,
                                                  .live = 1,
                                                  .packets = 1,
                                                  .injected = 9,
                                                  .completed = 5};
    fixture_kernel(&s->segment, "plain");
    fixture_kernel(&s->segment, "with \"quotes\" and \x01\xff bytes");
    s->reader = fixture_reader(&s->segment);
    snprintf(s->path, sizeof s->path, "/tmp/rtl-test-rocpd-%d.db", (int)getpid());
    unlink(s->path);
    s->db = open_db(s->path, true);
    s->rocpd = rtl_rocpd_begin(s->db, s->reader, 4711, "serve \"x\"", rtl_text_escape);
    if (!s->rocpd)
        fail_msg("%s", rtl_db_why(s->db));
    *state = s;
    return 0;
}

static inline int stop(void **state)
{
    struct setup *s = *state;
    rtl_rocpd_free(s->rocpd);
    rtl_db_close(s->db);
    rtl_reader_close(s->reader);
    fixture_drop(&s->segment);
    unlink(s->path);
    free(s);
    return 0;
}

static inline void write_records(struct setup *s, struct rtl_event_record *records, uint32_t n)
{
    struct rtl_rocpd_state state = {.events = {.next = n}};
    for (uint32_t i = 0; i < n; i++)
        if (!records[i].sequence)
            records[i].sequence = i + 1;
    if (write_unlinked(s->rocpd, records, n, &state, NULL))
        fail_msg("%s", rtl_db_why(s->db));
}

/* Check an SQL answer through a second connection. */
static inline void assert_sql(const struct setup *s, const char *sql, const char *want)
{
    struct rtl_db *db = open_db(s->path, false);
    struct rtl_db_statement *st = rtl_db_prepare(db, sql);
    char got[2000] = "";
    while (rtl_db_step(st))
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", *got ? "|" : "", rtl_db_text(st, 0, NULL));
    if (rtl_db_status(db))
        fail_msg("%s: %s", sql, rtl_db_why(db));
    if (strcmp(got, want))
        fail_msg("%s\n gives %s\n   not %s", sql, got, want);
    rtl_db_close(db);
}

#endif
