/*
 * libFuzzer target: a hostile recording must never crash, hang or mislead the replay, and the replay never changes it.
 *
 * The input is a short program on a small valid recording of three frames. Byte 0 selects its kind: changes of the
 * file's bytes, statements that put other values, views, triggers and indices into its tables, or the file itself. The
 * target checks the replay against the promises of replay.h and segment_reader.h and compares it with itself
 * (record/diff.h). The runner bounds time and memory of an input.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "model/probe_figures.h"
#include "record/diff.h"
#include "record/recording.h"
#include "record/replay.h"
#include "watch/replay_group.h"
#include "shm/hip_api_snapshot.h"
#include "shm/hash.h"
#include "shm/reader_private.h"

enum { FILE_MAX = 1 << 20, PAGE = 512, FRAMES = 3, FRAMES_READ = 6 };
enum { BYTES, STATEMENTS, RAW };

static char folder[64], path[96];
static uint8_t base[FILE_MAX], now[FILE_MAX];
static size_t base_size;

static void clean_up(void)
{
    unlink(path);
    rmdir(folder);
}

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    names->full = names->short_name = k->name;
}

static void put_calls(struct rtl_snapshot *s, uint64_t t, const struct rtl_histogram_copy *h)
{
    const struct rtl_hip_api_room room = {2, 2, 3, 1, 1, 0};
    struct rtl_hip_api_snapshot *c = rtl_hip_api_allocate(s, &room);
    MUST(c);
    c->links = true;
    c->linked = t;
    c->rows[c->count++] = (struct rtl_hip_api_row_snapshot){
        .kind = RTL_HIP_API_COPY, .name_bytes = 9, .name = "hipMemcpy", .bytes = t * 100, .histogram = *h};
    c->rows[c->count++] = (struct rtl_hip_api_row_snapshot){
        .kind = RTL_HIP_API_RANGE, .name_bytes = 6, .name = "decode", .open = t, .histogram = *h};
    for (uint32_t i = 0; i < 2; i++)
        c->memory[c->memory_count++] = (struct rtl_hip_api_memory_snapshot){4711, i ? RTL_HIP_API_GPUS : 0, t, t, t};
    for (uint32_t i = 0; i < 3; i++)
        c->nodes[c->node_count++] = (struct rtl_hip_api_node_snapshot){
            .parent = i ? i - 1 : 0, .name_bytes = i, .name = {i ? 'a' : 0, i > 1 ? 'b' : 0}, .count = t};
    c->launches[c->launch_count++] =
        (struct rtl_hip_api_launch_snapshot){rtl_hash(s->kernels[0].name, s->kernels[0].name_length), *h};
    c->pairs[c->pair_count++] = (struct rtl_hip_api_pair_snapshot){2, c->launches[0].kernel, *h};
    c->pairs_over = t;
}

static void record(struct rtl_recording *r, uint64_t t)
{
    static const char *const names[] = {"_Z5firstv", "second", "third_kernel_with_a_longer_name"};
    struct rtl_octave octaves[3] = {{.octave = 3, .bucket = {[5] = (uint32_t)t}}, {.octave = 9, .bucket = {[1] = 2}}};
    uint64_t coarse[RTL_OCTAVES_MAX] = {[4] = t};
    struct rtl_kernel_snapshot kernels[3] = {0};
    struct rtl_queue_snapshot queues[2] = {0};
    struct rtl_agent_snapshot agents[2] = {0};
    struct rtl_copies_snapshot copies[2] = {0};
    for (uint32_t i = 0; i < 3; i++)
        kernels[i] = (struct rtl_kernel_snapshot){
            .id = i + 1, .name = names[i], .name_length = strlen(names[i]), .calls = t * (i + 1), .untimed = t};
    kernels[0].histogram = (struct rtl_histogram_copy){
        .count = t + 2, .total_ns = 5000 * t, .min_ns = 100, .max_ns = 9000, .octave_count = 2, .octaves = octaves};
    kernels[1].histogram =
        (struct rtl_histogram_copy){.count = t, .total_ns = 500 * t, .min_ns = 100, .max_ns = 900, .coarse = coarse};
    for (uint32_t i = 0; i < 2; i++) {
        queues[i] = (struct rtl_queue_snapshot){.slot = i, .agent = i, .dispatches = t * 9, .injected = t * 9};
        queues[i].untimed[1] = t;
        queues[i].path = i + 1;
        queues[i].path_reason = (uint32_t)t % 2 + 1;
        queues[i].wait = kernels[0].histogram;
        agents[i] = (struct rtl_agent_snapshot){.gpu = i, .name = "gfx90a", .busy_ns = t * 1000};
        copies[i] = (struct rtl_copies_snapshot){.agent = i, .direction = i, .count = t, .bytes = t * 100};
        copies[i].untimed[1] = t;
    }
    struct rtl_snapshot s = {.kernels = kernels,
                             .kernel_count = 3,
                             .queues = queues,
                             .queue_count = 2,
                             .agents = agents,
                             .agent_count = 2,
                             .copies = copies,
                             .copies_count = 2,
                             .taken_mono_ns = t * 1000000000};
    put_calls(&s, t, &kernels[0].histogram);
    struct rtl_probe_told probe = {.there = true, .kernel = 1, .stage = "armed", .on_gpu = true, .counted = true};
    probe.state.durations[9] = probe.state.busy[77] = probe.state.die[2].busy[78] = probe.state.dies =
        probe.state.tail_ns[20] = probe.state.gaps[5] = probe.state.waves = t;
    rtl_recording_probe(r, &probe);
    MUST(rtl_recording_add(r, &s, t * 1000, t == FRAMES) == RTL_DB_OK);
    for (struct rtl_block *b = s.storage, *next; b; b = next) { /* the arrays are ours */
        next = b->next;
        free(b);
    }
}

static size_t read_back(uint8_t *to)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(to, 1, FILE_MAX, f) : 0;
    if (f)
        fclose(f);
    return n;
}

static void write_to(const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "w");
    MUST(f && fwrite(bytes, 1, size, f) == size && !fclose(f));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct rtl_recording *r[2];
    char why[512], sql[64];
    sqlite3 *handle;
    struct rtl_recording_info info = {
        .kind = RTL_RECORDING_SERIES, .pid = 4711, .title = "t", .recorder = "fuzz", .name_kernel = name_kernel};
    (void)argc;
    (void)argv;
    snprintf(folder, sizeof folder, "%s/rtl-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    MUST(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.db", folder);
    atexit(clean_up);
    for (int i = 0; i < 2; i++, info.pid++)
        MUST(rtl_recording_open(path, false, 50, &info, &r[i], why, sizeof why) == RTL_DB_OK);
    for (uint64_t t = 1; t <= FRAMES; t++)
        for (uint64_t i = 0; i < 2; i++)
            if (t > i) /* the second process starts later */
                record(r[i], t);
    for (int i = 0; i < 2; i++)
        rtl_recording_close(r[i]);
    MUST(sqlite3_open(path, &handle) == SQLITE_OK);
    snprintf(sql, sizeof sql, "PRAGMA page_size = %d; VACUUM", PAGE); /* a small file, so that changes hit data */
    MUST(sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(handle);
    base_size = read_back(base);
    return 0;
}

/* Changes bytes: 2 bytes of place, in units that reach the end of the file, 1 of count, then the bytes. */
static size_t change_bytes(const uint8_t *data, size_t size)
{
    size_t length = base_size;
    memcpy(now, base, base_size);
    while (size >= 4) {
        size_t at = ((size_t)data[0] << 8 | data[1]) % base_size, n = data[2] % 16 + 1u;
        data += 3;
        size -= 3;
        n = n < size ? n : size;
        n = n < length - at ? n : length - at;
        memcpy(now + at, data, n);
        data += n;
        size -= n;
    }
    return length;
}

static int no_longer(void *left)
{
    return --*(int *)left < 0;
}

/* Runs statements of 4 bytes each: anyone can run these on a file before passing it on. */
static void run_statements(const uint8_t *data, size_t size)
{
    static const char *const tables[] = {
        "rtl_recording",       "rtl_gpu",         "rtl_kernel",        "rtl_frame",
        "rtl_kernel_sample",   "rtl_untimed",     "rtl_gpu_sample",    "rtl_queue_sample",
        "rtl_queue_histogram", "rtl_label",       "rtl_copies_sample", "rtl_copies_untimed",
        "rtl_queue_way",       "rtl_call",        "rtl_call_sample",   "rtl_range",
        "rtl_range_sample",    "rtl_call_memory", "rtl_call_frame",    "rtl_launch_sample",
        "rtl_process",         "rtl_pair_frame",  "rtl_pair_sample",   "rtl_probe_sample",
        "rtl_queue_error"};
    static const char *const values[] = {"NULL",
                                         "0",
                                         "-1",
                                         "1",
                                         "65536",
                                         "9223372036854775807",
                                         "'text'",
                                         "x'ff00'",
                                         "1e300",
                                         "'[0,1]'",
                                         "'[2303,1]'",
                                         "'[1,9223372036854775807,1,-1]'",
                                         "zeroblob(70000)",
                                         "printf('[%.5000c', '1')"};
    static const char *const forms[] = {
        "UPDATE OR IGNORE %1$s SET %2$s = %3$s",
        "UPDATE OR IGNORE %1$s SET %2$s = %2$s + %4$d",
        "UPDATE OR IGNORE %1$s SET %2$s = %3$s WHERE %2$s = %4$d",
        "DELETE FROM %1$s WHERE %2$s = %4$d",
        "DROP TABLE %1$s",
        "ALTER TABLE %1$s RENAME TO t%4$d; CREATE VIEW %1$s AS SELECT * FROM t%4$d",
        "CREATE TRIGGER t%4$d AFTER INSERT ON %1$s BEGIN DELETE FROM rtl_frame; END",
        "CREATE INDEX i%4$d ON %1$s(%2$s + %4$d)",
        "ALTER TABLE %1$s RENAME COLUMN %2$s TO c%4$d",
        "ALTER TABLE %1$s ADD COLUMN c%4$d AS (hex(%2$s)) VIRTUAL",
        "ALTER TABLE %1$s RENAME TO t%4$d; CREATE TABLE %1$s AS SELECT * FROM t%4$d, t%4$d",
        "DROP INDEX rtl_frame_order",
        "PRAGMA user_version = %4$d",
        "PRAGMA journal_mode = WAL",
        "INSERT OR IGNORE INTO %1$s SELECT * FROM %1$s",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET %5$s = %3$s WHERE name = '%1$s'",
    };
    static const char *const of_schema[] = {"rootpage", "type", "sql", "name"};
    sqlite3 *handle;
    sqlite3_stmt *st;
    MUST(sqlite3_open(path, &handle) == SQLITE_OK);
    sqlite3_exec(handle, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    for (; size >= 4; data += 4, size -= 4) {
        const char *table = tables[data[1] % (sizeof tables / sizeof *tables)];
        char sql[400], column[64] = "x";
        int left = 200;
        sqlite3_progress_handler(handle, 1000, no_longer, &left);
        snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') WHERE cid = %d", table, data[2] % 40);
        if (!sqlite3_prepare_v2(handle, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_ROW)
            snprintf(column, sizeof column, "\"%.50s\"", (const char *)sqlite3_column_text(st, 0));
        sqlite3_finalize(st);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(sql, sizeof sql, forms[data[0] % (sizeof forms / sizeof *forms)], table, column,
                 values[data[3] % (sizeof values / sizeof *values)], (int)data[3], of_schema[data[2] % 4]);
#pragma GCC diagnostic pop
        sqlite3_exec(handle, sql, NULL, NULL, NULL);
    }
    sqlite3_close(handle);
}

static void check(const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        MUST(k->id < RTL_KERNELS_MAX && (i == 0 || k->id > k[-1].id));
        MUST(k->name && k->name_length <= RTL_NAME_MAX && !k->name[k->name_length]);
        for (uint32_t o = 0; o < k->histogram.octave_count; o++)
            MUST(k->histogram.octaves[o].octave < RTL_OCTAVES_MAX);
    }
    for (uint32_t i = 0; i < s->queue_count; i++)
        MUST(s->queues[i].slot < RTL_QUEUES_MAX && (i == 0 || s->queues[i].slot > s->queues[i - 1].slot));
    for (uint32_t i = 0; i < s->agent_count; i++)
        MUST(s->agents[i].gpu < RTL_AGENTS_MAX && memchr(s->agents[i].name, 0, sizeof s->agents[i].name));
    MUST(s->copies_count <= RTL_COPIES_MAX && memchr(s->comm, 0, sizeof s->comm));
}

static void check_calls(const struct rtl_hip_api_snapshot *c)
{
    for (uint32_t i = 0; c && i < c->count; i++) {
        MUST(c->rows[i].name_bytes <= RTL_HIP_API_TEXT && !c->rows[i].name[c->rows[i].name_bytes]);
        MUST(!i || rtl_hip_api_compare_rows(&c->rows[i - 1], &c->rows[i]) < 0);
    }
    for (uint32_t i = 0; c && i < c->node_count; i++)
        MUST(i ? c->nodes[i].parent < i : !c->nodes[i].parent);
    for (uint32_t i = 0; c && i < c->memory_count; i++)
        MUST(c->memory[i].place < RTL_HIP_API_PLACES);
    for (uint32_t i = 0; c && i < c->pair_count; i++) {
        MUST(c->pairs[i].node && c->pairs[i].node < c->node_count);
        MUST(!i || c->pairs[i - 1].node <= c->pairs[i].node);
    }
}

/* Reads the probe at all (few) frames, or up to a read error. */
static void check_probes(struct rtl_replay *r)
{
    for (uint32_t i = 0; i < FRAMES_READ; i++) {
        struct rtl_probe_told probe;
        struct rtl_probe_figures figures;
        if (rtl_replay_probe(r, i, &probe)) {
            MUST(rtl_replay_why(r)[0] && !probe.there);
            return;
        }
        MUST(probe.kernel < RTL_KERNELS_MAX && probe.gpu < RTL_AGENTS_MAX);
        MUST(memchr(probe.stage, 0, sizeof probe.stage) && memchr(probe.over, 0, sizeof probe.over));
        MUST(memchr(probe.ended, 0, sizeof probe.ended));
        rtl_probe_figures(&probe.state, &figures);
    }
}

/* Replays all processes that were recorded together, forwards and backwards. */
static void replay_together(struct rtl_replay *r)
{
    struct rtl_replay_group *g;
    char why[512] = "";
    if (rtl_replay_group_open(path, r, &g, why, sizeof why)) {
        MUST(*why && !strchr(why, '\n'));
        return;
    }
    uint32_t frames = g ? rtl_replay_group_frames(g) : 0, end = frames < FRAMES_READ ? frames : FRAMES_READ;
    for (uint32_t i = 0; i < 2 * end; i++) {
        struct rtl_snapshot s;
        bool exited;
        uint32_t frame = i < end ? i : 2 * end - 1 - i;
        if (rtl_replay_group_read(g, frame, &s, &exited)) {
            MUST(rtl_replay_group_why(g)[0]);
            break;
        }
        for (uint32_t k = 0; k < s.kernel_count; k++)
            MUST(s.kernels[k].id < RTL_KERNELS_MAX && (!k || s.kernels[k].id > s.kernels[k - 1].id));
        rtl_replay_group_title(g, why, sizeof why);
        rtl_snapshot_free(&s);
    }
    rtl_replay_group_close(g);
}

static void replay_all(void)
{
    struct rtl_replay *r;
    struct rtl_snapshot first = {0}, last = {0};
    char why[512] = "";
    bool exited;
    enum rtl_db_status status = rtl_replay_open(path, 0, 0, &r, why, sizeof why);
    if (status) {
        MUST(*why && !strchr(why, '\n'));
        return;
    }
    const struct rtl_replay_info *info = rtl_replay_info(r);
    uint32_t end = info->frames < FRAMES_READ ? info->frames : FRAMES_READ;
    MUST(info->frames && memchr(info->title, 0, sizeof info->title));
    status = rtl_replay_read(r, end - 1, &last, &exited);
    if (!status)
        status = rtl_replay_read(r, 0, &first, &exited);
    if (!status) {
        struct rtl_diff diff;
        check(&first);
        check(&last);
        check_calls(first.hip_api);
        check_calls(last.hip_api);
        check_probes(r);
        struct rtl_diff_span a = {.later = &first}, b = {.earlier = &first, .later = &last};
        MUST(rtl_diff_make(&a, &b, &diff));
        rtl_diff_free(&diff);
        replay_together(r);
    } else {
        MUST(rtl_replay_why(r)[0]);
    }
    rtl_snapshot_free(&first);
    rtl_snapshot_free(&last);
    rtl_replay_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t after[FILE_MAX];
    if (size < 1)
        return 0;
    int kind = data[0] % 3;
    if (kind == BYTES)
        write_to(now, change_bytes(data + 1, size - 1));
    else
        write_to(kind == RAW ? data + 1 : base, kind == RAW ? size - 1 : base_size);
    if (kind == STATEMENTS)
        run_statements(data + 1, size - 1);
    size_t before = read_back(now);
    replay_all();
    MUST(read_back(after) == before && !memcmp(now, after, before));
    unlink(path);
    MUST(!rmdir(folder) && !mkdir(folder, 0700)); /* the folder held no other file */
    return 0;
}
