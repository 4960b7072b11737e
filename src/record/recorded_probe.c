/* The table of probes. See recorded_probe.h. */
/* clang-format off */
#include "record/recorded_probe.h"

#include <stdlib.h>
#include <string.h>

#define STRUCT struct rtl_probe_told
RTL_DEFINE_FIELDS(probe, PROBE)

const struct rtl_db_set rtl_probe_set = {
    "rtl_probe_sample",
    "CREATE TABLE rtl_probe_sample(recording INTEGER NOT NULL, frame INTEGER NOT NULL, kernel INTEGER NOT NULL, "
    "gpu INTEGER, stage TEXT NOT NULL, ended TEXT NOT NULL, why TEXT NOT NULL" RTL_PROBE_FIELDS(RTL_COLUMN)
    ", durations TEXT, busy TEXT, tail_times TEXT, gaps TEXT, die_busy TEXT, PRIMARY KEY(recording, frame)) WITHOUT ROWID;\n"
    "INSERT INTO rtl_label VALUES ('version', 1, 'probes');\n"
    "CREATE VIEW rtl_probes AS SELECT f.sequence, f.time_ns, k.name, k.full_name, k.short_name, p.* "
    "FROM rtl_probe_sample p JOIN rtl_frame f ON f.id = p.frame "
    "LEFT JOIN rtl_kernel k ON k.recording = p.recording AND k.kernel = p.kernel;\n"};
/* clang-format on */

/* The arrays of a probe, in the order of their columns. */
static const struct probe_array {
    size_t offset;
    uint32_t count;
} arrays[] = {
    {offsetof(struct rtl_probe_told, state.durations), RTL_PROBE_DURATIONS},
    {offsetof(struct rtl_probe_told, state.busy), RTL_PROBE_UNITS},
    {offsetof(struct rtl_probe_told, state.tail_ns), RTL_PROBE_DURATIONS},
    {offsetof(struct rtl_probe_told, state.gaps), RTL_PROBE_DURATIONS},
    {offsetof(struct rtl_probe_told, state.die), RTL_PROBE_UNITS_ALL - RTL_PROBE_UNITS}, /* all dies in sequence */
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };
static_assert(ARRAYS == sizeof((struct rtl_probe_writer){0}.text) / sizeof(struct rtl_text_buffer), "a text for each");

bool rtl_probe_has_news(const struct rtl_probe_writer *w)
{
    const struct rtl_probe_told *a = &w->last, *b = &w->now;
    if (!b->there || !w->any)
        return b->there;
    if (a->kernel != b->kernel || a->on_gpu != b->on_gpu || a->gpu != b->gpu || strcmp(a->stage, b->stage) != 0 ||
        strcmp(a->ended, b->ended) != 0 || strcmp(a->over, b->over) != 0 || rtl_fields_differ(&rtl_probe_fields, a, b))
        return true;
    for (int i = 0; i < ARRAYS; i++)
        if (memcmp((const char *)a + arrays[i].offset, (const char *)b + arrays[i].offset,
                   arrays[i].count * sizeof(uint64_t)) != 0)
            return true;
    return false;
}

void rtl_probe_write(struct rtl_probe_writer *w, struct rtl_db *db, int64_t recording, int64_t frame)
{
    const struct rtl_probe_told *p = &w->now;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        db,
        "INSERT INTO rtl_probe_sample(recording, frame, kernel, gpu, stage, ended, why" RTL_FIELD_NAMES(
            PROBE) ", durations, busy, tail_times, gaps, die_busy) VALUES(?, ?, ?, ?, ?, ?, "
                   "?" RTL_FIELD_MARKS(PROBE) ", ?, ?, ?, ?, ?)",
        recording, frame, p->kernel, p->gpu);
    if (!p->on_gpu)
        rtl_db_bind_null(st, 4);
    rtl_db_bind_strings(st, 5, p->stage, p->ended, p->over);
    int at = rtl_fields_bind(st, 8, &rtl_probe_fields, NULL, p);
    for (int i = 0; i < ARRAYS; i++, at++) {
        if (!rtl_counts_write((const uint64_t *)(const void *)((const char *)p + arrays[i].offset), arrays[i].count,
                              &w->text[i]))
            rtl_db_no_memory(db);
        rtl_db_bind_string(st, at, w->text[i].used ? w->text[i].bytes : NULL);
    }
    rtl_db_run(st);
}

void rtl_probe_writer_free(struct rtl_probe_writer *w)
{
    for (int i = 0; i < ARRAYS; i++)
        free(w->text[i].bytes);
}

void rtl_probe_read(struct rtl_db *db, int64_t recording, int64_t frame, struct rtl_probe_told *p)
{
    memset(p, 0, sizeof *p);
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(db,
                            "SELECT kernel, ifnull(gpu, -1), stage, ended, why" RTL_FIELD_NAMES(
                                PROBE) ", durations, busy, tail_times, gaps, die_busy FROM rtl_probe_sample "
                                       "WHERE recording = ? AND frame <= ? ORDER BY frame DESC LIMIT 1",
                            recording, frame);
    if (!rtl_db_step(st))
        return;
    int64_t kernel = rtl_db_int(st, 0), gpu = rtl_db_int(st, 1);
    if (kernel < 0 || kernel >= RTL_KERNELS_MAX || gpu < -1 || gpu >= RTL_AGENTS_MAX)
        rtl_db_damaged(db, "a probe is out of bounds");
    p->kernel = (uint32_t)kernel;
    p->on_gpu = gpu >= 0;
    p->gpu = p->on_gpu ? (uint32_t)gpu : 0;
    rtl_db_printable(st, 2, p->stage, sizeof p->stage);
    rtl_db_printable(st, 3, p->ended, sizeof p->ended);
    rtl_db_printable(st, 4, p->over, sizeof p->over);
    int at = rtl_fields_read(st, 5, &rtl_probe_fields, p);
    for (int i = 0; i < ARRAYS; i++, at++)
        if (!rtl_counts_read(rtl_db_text(st, at, NULL), (uint64_t *)(void *)((char *)p + arrays[i].offset),
                             arrays[i].count))
            rtl_db_damaged(db, "the numbers of a probe are malformed");
    rtl_db_reset(st);
    p->there = !rtl_db_status(db);
}
