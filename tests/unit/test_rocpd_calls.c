/*
 * Calls, ranges and links of a trace: from a segment with arbitrary values, and in rocprofv3's JSON of files that other
 * tools wrote to. Impossible values are left out, references are resolved, and no event is lost between entries.
 */
#include "rocpd_fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <sys/mman.h>

#include "record/rocpd_calls.h"
#include "record/rocpd_refs.h"
#include "options/commands.h"

enum { RECORDS = 1024, RANGE = RTL_HIP_API_FUNCTIONS + 3 };
static const int64_t BASE = 5ll << RTL_ROCPD_SEQUENCE_BITS;

static int file = -1;
static uint64_t written;
static struct rtl_rocpd_calls *calls;

static void put(const void *bytes, size_t count, uint64_t at)
{
    assert_int_equal(pwrite(file, bytes, count, (off_t)at), count);
}

static void name(uint32_t row, uint32_t kind, const char *text, uint32_t bytes)
{
    struct rtl_hip_api_row r = {.state = 1, .kind = kind, .text_bytes = bytes};
    memcpy(r.text, text, strlen(text));
    put(&r, sizeof r, RTL_HIP_API_ROWS_AT + row * sizeof r);
}

static int begin(void **state)
{
    struct rtl_hip_api_header h = {.magic = RTL_HIP_API_MAGIC,
                                   .major = RTL_HIP_API_MAJOR,
                                   .minor = RTL_HIP_API_MINOR,
                                   .header_bytes = sizeof h,
                                   .rows_at = RTL_HIP_API_ROWS_AT,
                                   .memory_at = RTL_HIP_API_MEMORY_AT,
                                   .counters_at = RTL_HIP_API_COUNTERS_AT,
                                   .buckets_at = RTL_HIP_API_BUCKETS_AT,
                                   .pid = 1,
                                   .events = RECORDS,
                                   .blocks_used = 2};
    if (start(state))
        return 1;
    struct setup *s = *state;
    file = memfd_create("api", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, RECORDS)) != 0)
        return 1;
    put(&h, sizeof h, 0);
    name(0, RTL_HIP_API_LAUNCH, "hipLaunchKernel", 15);
    name(1, RTL_HIP_API_COPY, "hipMemcpyHtoDAsync", 18);
    name(2, 999, "hip\033[2J\xff", UINT32_MAX); /* an unknown kind, an impossible length */
    name(RANGE, RTL_HIP_API_RANGE, "step \"1\"\n", 9);
    written = 0;
    calls = rtl_rocpd_calls_begin(s->db, file, BASE, 4711, 0, rtl_text_escape);
    return calls ? 0 : 1;
}

static int end(void **state)
{
    rtl_rocpd_calls_free(calls);
    close(file);
    return stop(state);
}

static void event(const struct rtl_hip_api_event *e)
{
    struct rtl_hip_api_event copy = *e;
    uint64_t at = RTL_HIP_API_EVENTS_OF(1, RECORDS) + written % RECORDS * sizeof copy;
    copy.sequence = ++written;
    put(&copy, sizeof copy, at);
    put(&written, sizeof written,
        RTL_HIP_API_THREADS_AT + sizeof(struct rtl_hip_api_thread) + offsetof(struct rtl_hip_api_thread, events));
}

static void take(struct setup *s)
{
    rtl_db_begin(s->db);
    rtl_rocpd_calls_read(calls);
    rtl_rocpd_calls_write(calls);
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
}

/* Insert a row of rocpd_op, as the recorder does before it asks for the link. */
static void op(struct setup *s, int64_t id, uint64_t call)
{
    struct rtl_linked_event e = {.record = {.correlation = call, .grid = {64, 1, 1}, .workgroup = {8, 1, 1}}};
    struct rtl_db_statement *add = rtl_db_prepare(
        s->db, "INSERT INTO rocpd_op(id,gpuId,queueId,sequenceId,completionSignal,start,end,description_id,opType_id,"
               "roctxId,correlation_id) VALUES(?1,0,1,0,'',50,60,?2,1,0,?3)");
    int64_t kernel = rtl_rocpd_string(s->db, "a kernel");
    rtl_db_bind_int(add, 1, id);
    rtl_db_bind_int(add, 2, kernel);
    rtl_db_bind_int(add, 3, rtl_rocpd_calls_link(calls, &e).call);
    assert_true(rtl_db_run(add));
    rtl_rocpd_calls_op(calls, id, kernel, &e);
}

static void impossible_events_are_left_out(void **state)
{
    struct setup *s = *state;
    event(&(struct rtl_hip_api_event){.id = 10, .start_ns = 100, .end_ns = 200, .tid = 3, .code = -5});
    event(
        &(struct rtl_hip_api_event){.id = 11, .start_ns = 900, .end_ns = 20, .tid = 3, .row = 1, .bytes = UINT64_MAX});
    event(&(struct rtl_hip_api_event){.id = 12, .start_ns = UINT64_MAX, .end_ns = UINT64_MAX, .row = 2});
    event(&(struct rtl_hip_api_event){.id = 0, .row = 0});                     /* no id */
    event(&(struct rtl_hip_api_event){.id = 13, .row = RTL_HIP_API_ROWS});     /* no such function */
    event(&(struct rtl_hip_api_event){.id = 14, .row = UINT16_MAX});           /* no such function */
    event(&(struct rtl_hip_api_event){.id = 15, .row = RTL_HIP_API_ROWS - 1}); /* a function without a name */
    event(&(struct rtl_hip_api_event){.id = 10, .start_ns = 1, .end_ns = 2});  /* an id that is in use */
    event(&(struct rtl_hip_api_event){.id = UINT64_MAX, .start_ns = 7, .end_ns = 8, .row = RANGE, .node = UINT32_MAX});
    take(s);
    assert_sql(s, "SELECT count(*) FROM rocpd_api WHERE id >= 5 << 40", "5");
    assert_sql(s, "SELECT count(*) FROM rocpd_api WHERE end < start OR start < 0", "0");
    assert_sql(s,
               "SELECT count(*) FROM rocpd_api a LEFT JOIN rocpd_string n ON n.id = a.apiName_id LEFT JOIN rocpd_string"
               " s ON s.id = a.args_id WHERE n.id IS NULL OR s.id IS NULL",
               "0");
    assert_sql(s, "SELECT start, args_id <> 1 FROM rocpd_api WHERE id = (5 << 40) + (1 << 38) + 10", "100");
    assert_sql(s, "SELECT s.string FROM rocpd_string s JOIN rocpd_api a ON a.args_id = s.id WHERE a.start = 100",
               "returned -5");
    assert_sql(s, "SELECT count(*) FROM rocpd_string WHERE string GLOB '*' || char(27) || '*'", "0");
    assert_sql(s, "SELECT n.string FROM rocpd_string n JOIN rocpd_op o ON o.description_id = n.id WHERE o.gpuId < 0",
               "step \"1\"\\x0a");
    assert_sql(
        s, "SELECT roctxId = correlation_id AND roctxId IN (SELECT id FROM rocpd_api) FROM rocpd_op WHERE gpuId < 0",
        "1");
    assert_sql(s, "SELECT kind || ' ' || sync || ' ' || (size > 0) FROM rocpd_copyapi", "1 0 1");
    assert_int_equal(rtl_rocpd_calls_sums(calls).markers, 1);
}

static void ops_are_linked_to_earlier_and_later_calls(void **state)
{
    struct setup *s = *state;
    event(&(struct rtl_hip_api_event){.id = 20, .start_ns = 1, .end_ns = 2});
    take(s);
    rtl_db_begin(s->db);
    op(s, BASE + 1, 20);
    op(s, BASE + 2, 21); /* the call comes later */
    op(s, BASE + 3, 22); /* the call never comes */
    op(s, BASE + 4, 0);  /* no call */
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
    assert_int_equal(rtl_rocpd_calls_sums(calls).linked, 1);
    event(&(struct rtl_hip_api_event){.id = 21, .start_ns = 3, .end_ns = 4});
    take(s);
    assert_int_equal(rtl_rocpd_calls_sums(calls).linked, 2);
    assert_int_equal(rtl_rocpd_calls_sums(calls).waiting, 1);
    rtl_db_begin(s->db);
    rtl_rocpd_calls_end(calls);
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
    assert_sql(s, "SELECT (op_id & 15) || '-' || (api_id & 255) FROM rocpd_api_ops ORDER BY op_id", "1-20|2-21");
    assert_sql(s, "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND correlation_id <> 0", "2");
    assert_sql(s, "SELECT count(*) FROM rocpd_kernelapi WHERE gridX = 64 AND workgroupX = 8", "2");
}

struct sqlite3_stmt;
static uint64_t steps;

int sqlite3_step(struct sqlite3_stmt *st); /* Replaces SQLite's own: counts the steps. */
int sqlite3_step(struct sqlite3_stmt *st)
{
    static int (*real)(struct sqlite3_stmt *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_step");
    steps++;
    return real(st);
}

/* Only a bounded number of ops waits for calls that never come: the newest. Older ops are written without a link. */
static void ops_that_wait_too_long_get_no_call(void **state)
{
    enum { MOST = 32768, MORE = 5 };
    struct setup *s = *state;
    rtl_db_begin(s->db);
    for (int64_t i = 1; i <= MOST + MORE; i++)
        op(s, BASE + i, 100);
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
    assert_sql(s, "SELECT count(*) || ' ' || max(id & 65535) FROM rocpd_op WHERE gpuId >= 0 AND correlation_id = 0",
               "5 5");
    event(&(struct rtl_hip_api_event){.id = 99, .start_ns = 1, .end_ns = 2});
    steps = 0;
    take(s);
    assert_in_range(steps, 1, 50); /* no step per waiting op */
    assert_int_equal(rtl_rocpd_calls_sums(calls).waiting, MOST);
    event(&(struct rtl_hip_api_event){.id = 100, .start_ns = 3, .end_ns = 4});
    take(s);
    assert_int_equal(rtl_rocpd_calls_sums(calls).linked, MOST);
    assert_int_equal(rtl_rocpd_calls_sums(calls).waiting, 0);
    assert_sql(s, "SELECT count(*) FROM rocpd_kernelapi", "1");
}

static void overwritten_events_are_counted(void **state)
{
    struct setup *s = *state;
    for (uint64_t i = 1; i <= RECORDS + 100; i++)
        event(&(struct rtl_hip_api_event){.id = 1000 + i, .start_ns = i, .end_ns = i});
    take(s);
    struct rtl_rocpd_calls_sums sums = rtl_rocpd_calls_sums(calls);
    assert_int_equal(sums.calls + sums.lost, RECORDS + 100);
    assert_true(sums.lost >= 100 && sums.calls > 0);
}

/* --- rocprofv3's JSON --- */

static struct json_object *exported(struct setup *s)
{
    static char words[][16] = {"export", "--rocprofv3", "--force"};
    char out[80];
    snprintf(out, sizeof out, "%s.json", s->path);
    char *argv[] = {words[0], s->path, words[1], out, words[2], NULL};
    int quiet = dup(2), none = open("/dev/null", O_WRONLY);
    dup2(none, 2);
    int status = rtl_export_command(5, argv);
    dup2(quiet, 2);
    close(quiet);
    close(none);
    assert_int_equal(status, 0);
    struct json_object *all = json_object_from_file(out), *entries;
    unlink(out);
    assert_non_null(all);
    assert_true(json_object_object_get_ex(all, "rocprofiler-sdk-tool", &entries));
    json_object_get(entries);
    json_object_put(all);
    return entries;
}

/* Return the object below a path of keys. */
static struct json_object *at(struct json_object *o, const char *a, const char *b)
{
    assert_true(json_object_object_get_ex(o, a, &o));
    if (b)
        assert_true(json_object_object_get_ex(o, b, &o));
    return o;
}

static void sql(struct setup *s, const char *text)
{
    rtl_db_begin(s->db);
    rtl_db_exec(s->db, text);
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
}

static void json_has_an_entry_per_process_and_one_for_unknown_ones(void **state)
{
    struct setup *s = *state;
    sql(s,
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('process 5', '{\"pid\":55,\"command\":\"serve \\\"5\\\"\"}'),"
        " ('process 9', '{\"pid\":99,\"comm\":\"nine\"}'), ('process 8388608', '{\"pid\":1}'),"
        " ('process -3', '{\"pid\":1}'), ('process 9', '{\"pid\":98}'), ('process 7', 'no JSON')");
    event(&(struct rtl_hip_api_event){.id = 20, .start_ns = 40, .end_ns = 45});
    event(&(struct rtl_hip_api_event){.id = 21, .start_ns = 40, .end_ns = 45, .row = 1});
    event(&(struct rtl_hip_api_event){.id = 22, .start_ns = 41, .end_ns = 41, .row = RANGE});
    take(s);
    rtl_db_begin(s->db);
    op(s, BASE + 1, 20);
    op(s, (9ll << 40) + 1, 0);
    op(s, 7, 0);
    op(s, (8ll << 40) + 1, 0); /* of an unknown process */
    op(s, INT64_MAX, 0);
    op(s, -9, 0);
    assert_int_equal(rtl_db_commit(s->db), RTL_DB_OK);
    struct json_object *entries = exported(s);
    size_t count = json_object_array_length(entries), dispatches = 0, five = 0;
    for (size_t i = 0; i < count; i++) {
        struct json_object *entry = json_object_array_get_idx(entries, i);
        size_t n = json_object_array_length(at(entry, "buffer_records", "kernel_dispatch"));
        dispatches += n;
        assert_int_equal(json_object_array_length(at(entry, "kernel_symbols", NULL)), n ? 1 : 0);
        if (json_object_get_int64(at(entry, "metadata", "pid")) != 55)
            continue;
        five++;
        assert_int_equal(n, 1);
        assert_string_equal(json_object_get_string(json_object_array_get_idx(at(entry, "metadata", "command"), 0)),
                            "serve \"5\"");
        assert_int_equal(json_object_get_int64(at(entry, "metadata", "init_time")), 40);
        assert_int_equal(json_object_get_int64(at(entry, "metadata", "fini_time")), 60);
        assert_int_equal(json_object_array_length(at(entry, "buffer_records", "hip_api")), 2);
        struct json_object *marker = json_object_array_get_idx(at(entry, "buffer_records", "marker_api"), 0);
        assert_int_equal(json_object_get_int64(at(marker, "operation", NULL)), 0); /* roctxMarkA has no duration */
        struct json_object *kinds = at(entry, "strings", "buffer_records");
        struct json_object *hip = json_object_array_get_idx(kinds, 5), *names = at(hip, "operations", NULL);
        assert_string_equal(json_object_get_string(at(hip, "kind", NULL)), "HIP_RUNTIME_API");
        assert_int_equal(json_object_array_length(names), 2);
        struct json_object *first = json_object_array_get_idx(at(entry, "buffer_records", "hip_api"), 0);
        assert_int_equal(json_object_get_int64(at(first, "operation", NULL)), 0); /* equal times: sorted by id */
        assert_string_equal(json_object_get_string(json_object_array_get_idx(names, 0)), "hipLaunchKernel");
    }
    assert_int_equal(five, 1);
    assert_int_equal(dispatches, 6);
    json_object_put(entries);
}

static void an_empty_trace_has_one_entry(void **state)
{
    struct setup *s = *state;
    sql(s, "DELETE FROM rocpd_metadata");
    struct json_object *entries = exported(s);
    assert_int_equal(json_object_array_length(entries), 1);
    assert_int_equal(
        json_object_array_length(at(json_object_array_get_idx(entries, 0), "buffer_records", "marker_api")), 0);
    json_object_put(entries);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(impossible_events_are_left_out),
        TEST(ops_are_linked_to_earlier_and_later_calls),
        TEST(ops_that_wait_too_long_get_no_call),
        TEST(overwritten_events_are_counted),
        TEST(json_has_an_entry_per_process_and_one_for_unknown_ones),
        TEST(an_empty_trace_has_one_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
