/*
 * Consistency while the writer runs, and after it was killed at any point.
 *
 * An accepted copy of a histogram must be complete: the sum of its buckets is its count, and for kernels of constant
 * duration its total is count times that duration. Three tests check this. One stops the writer after each instruction
 * and reads the memory. One runs a conforming writer between any two words that the reader loads. One runs both at full
 * speed on two cores, because only this exercises the order in which stores become visible. Processes that record at
 * full speed are also killed at random moments.
 */
#include "segment_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "shm/reader_private.h"
#include "shm/segment_reader.h"

/* fewer rounds where each is an order of magnitude slower */
enum {
    COPIES = FIXTURE_TSAN || FIXTURE_ASAN ? 20000 : 300000,
    KILLS = FIXTURE_TSAN || FIXTURE_ASAN ? 20 : 100,
};

enum { KERNELS = 48, READERS = 2 };

struct shared {
    struct rtl_segment segment;
    uint32_t row[KERNELS];
    atomic_bool stop;
    atomic_ullong copies; /* accepted, by all readers */
};

/* Even kernels always take this long; odd ones vary over three octaves. */
static uint64_t constant_of(uint32_t kernel)
{
    return 1000 + 777 * kernel;
}

static void *write_flat_out(void *argument)
{
    struct shared *s = argument;
    struct rtl_recorder *recorder = rtl_recorder_create(&s->segment);
    uint64_t seed = 11;
    while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        for (int i = 0; i < 1000; i++) {
            uint64_t random = fixture_random(&seed);
            uint32_t k = (uint32_t)(random % KERNELS);
            rtl_recorder_record(recorder, s->row[k], k % 2 ? 4000 + (random >> 20) % 30000 : constant_of(k));
        }
        rtl_recorder_prepare(recorder);
    }
    rtl_recorder_destroy(recorder);
    return NULL;
}

/* Return NULL or the error: cmocka's assertions work on the main thread only. */
static const char *check_all_the_time(struct shared *s, bool through_the_writers_mapping)
{
    struct rtl_reader *reader;
    struct rtl_snapshot snapshot;
    char why[200];
    static char wrong[READERS + 1][200];
    static atomic_int slot;
    char *text = wrong[atomic_fetch_add(&slot, 1) % (READERS + 1)];
    uint64_t last[KERNELS] = {0};

    if (rtl_reader_open_fd(dup(s->segment.fd), &reader, why, sizeof why) != RTL_READER_OK)
        return "not opened";
    /* to ThreadSanitizer two mappings of a page are two memories: one reader uses the writer's mapping */
    const char *own = reader->base;
    if (through_the_writers_mapping)
        reader->base = (const char *)s->segment.header;
    while (!atomic_load(&s->stop)) {
        uint64_t accepted = 0;
        if (rtl_reader_snapshot(reader, &snapshot) != RTL_READER_OK)
            return "no snapshot";
        for (uint32_t i = 0; i < snapshot.kernel_count; i++) {
            const struct rtl_kernel_snapshot *k = &snapshot.kernels[i];
            const struct rtl_histogram_copy *h = &k->histogram;
            uint32_t n = k->id - s->row[0];
            if (h->approximate)
                continue;
            accepted++;
            if (h->count != fixture_sum(h) || h->count < last[n] ||
                (n % 2 == 0 && h->total_ns != h->count * constant_of(n)) ||
                (n % 2 == 0 && (h->min_ns != constant_of(n) || h->max_ns != constant_of(n)))) {
                snprintf(text, sizeof wrong[0], "kernel %u: count %llu, sum %llu, before %llu, total %llu", n,
                         (unsigned long long)h->count, (unsigned long long)fixture_sum(h), (unsigned long long)last[n],
                         (unsigned long long)h->total_ns);
                return text;
            }
            last[n] = h->count;
        }
        rtl_snapshot_free(&snapshot);
        atomic_fetch_add(&s->copies, accepted);
    }
    uint64_t whole = reader->whole, retried = reader->retried, unsettled = reader->unsettled;
    print_message("# a reader: %llu accepted, %llu tries met the writer, %llu shown as approximate\n",
                  (unsigned long long)whole, (unsigned long long)retried, (unsigned long long)unsettled);
    reader->base = own;
    rtl_reader_close(reader);
    return NULL;
}

static void *read_without_pause(void *argument)
{
    struct shared *s = argument;
    static atomic_int readers;
    const char *wrong = check_all_the_time(s, atomic_fetch_add(&readers, 1) == 0);
    if (wrong)
        atomic_store(&s->stop, true);
    return (void *)(uintptr_t)wrong;
}

static void accepted_copies_are_complete(void **state)
{
    (void)state;
    static struct shared s;
    pthread_t writer, readers[READERS];
    char name[32];
    fixture_segment(&s.segment);
    for (uint32_t i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "k%u", i);
        s.row[i] = fixture_kernel(&s.segment, name);
    }
    assert_int_equal(pthread_create(&writer, NULL, write_flat_out, &s), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_without_pause, &s), 0);

    uint64_t deadline = fixture_now_ns() + 120000000000ull; /* so that a hang is a failure; never reached otherwise */
    while (atomic_load(&s.copies) < COPIES && !atomic_load(&s.stop) && fixture_now_ns() < deadline)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    uint64_t copies = atomic_load(&s.copies);
    atomic_store(&s.stop, true);
    pthread_join(writer, NULL);
    for (int i = 0; i < READERS; i++) {
        void *wrong = NULL;
        pthread_join(readers[i], &wrong);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
    assert_true(copies >= COPIES);
    fixture_drop(&s.segment);
}

/* The process to be killed: endless records, with new kernels and octaves all the time. */
static void record_until_killed(struct rtl_segment *segment, uint64_t seed)
{
    struct rtl_recorder *recorder = rtl_recorder_create(segment);
    uint32_t row[512], rows = 0;
    char name[32];
    for (uint64_t n = 0;; n++) {
        if (rows < 512 && n % 64 == 0) {
            int length = snprintf(name, sizeof name, "kernel %u", rows);
            row[rows] = rtl_segment_add_kernel(segment, name, (uint32_t)length, rows);
            rows++;
        }
        uint64_t random = fixture_random(&seed);
        rtl_recorder_record(recorder, row[random % rows], 64 + (random >> 32) % 100000);
    }
}

static uint64_t sum_in_segment(const struct rtl_segment *segment, uint32_t histogram)
{
    uint64_t sum = 0;
    for (int octave = 0; octave < RTL_OCTAVES_MAX; octave++) {
        uint16_t chunk = segment->directory[histogram].chunk[octave];
        for (int b = 0; chunk && b < RTL_CHUNK_BUCKETS; b++)
            sum += segment->chunks[chunk].bucket[b];
    }
    return sum;
}

/* Check a killed writer's segment. Return whether it died within a record. */
static bool check_remains(const struct rtl_segment *segment)
{
    struct rtl_reader *reader = fixture_reader(segment);
    struct rtl_snapshot snapshot = {0};
    char name[32];
    uint32_t torn = 0, approximate = 0;
    for (uint32_t i = 0; i < 1024; i++) { /* twice the number of rows in use */
        uint64_t count = segment->histograms[i].count, sum = sum_in_segment(segment, i);
        assert_in_range(sum - count, 0, 1);
        torn += sum != count && count; /* its very first record has nothing to compare with */
    }
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    for (uint32_t i = 0; i < snapshot.kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &snapshot.kernels[i];
        const struct rtl_histogram *h = &segment->histograms[k->id];
        approximate += k->histogram.approximate;
        assert_int_equal(k->histogram.count, fixture_sum(&k->histogram));
        if (k->histogram.approximate)
            assert_int_equal(k->histogram.count, h->count + 1);
        else
            assert_int_equal(k->histogram.count, h->count);
        snprintf(name, sizeof name, "kernel %u", k->id - RTL_KERNEL_FIRST);
        assert_string_equal(k->name, name);
    }
    assert_true(torn <= 1);
    assert_int_equal(approximate, torn);
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(reader);
    return torn;
}

static void a_killed_writers_segment_is_not_misread(void **state)
{
    (void)state;
    uint64_t seed = 0x5eed;
    int inside = 0;
    for (int i = 0; i < KILLS; i++) {
        struct rtl_segment segment;
        fixture_segment(&segment);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            record_until_killed(&segment, fixture_random(&seed) | 1);
        /* kill it at any moment from its first record on, within a fraction of a millisecond */
        uint64_t deadline = fixture_now_ns() + 60000000000ull;
        while (!__atomic_load_n(&segment.histograms[RTL_KERNEL_FIRST].count, __ATOMIC_RELAXED)) {
            if (fixture_now_ns() > deadline) {
                kill(pid, SIGKILL);
                fail_msg("the writer never wrote");
            }
            sched_yield();
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(fixture_random(&seed) % 400000)}, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        inside += check_remains(&segment);
        fixture_drop(&segment);
    }
    print_message("# %d of %d died inside a record\n", inside, KILLS);
}

/* --- the writer, instruction by instruction --- */

/* The first value of an octave, new extremes on either side, the fast path, all in one kernel; the expected sum is
 * known at any time.
 */
static const uint64_t stepped[] = {1500, 1500, 1510, 90, 100, 3000000, 1490, 2000};
enum { STEPPED = sizeof stepped / sizeof *stepped };

/* Check that a reader finds the records up to `from` or one more. Return their number. */
static uint32_t check_between(struct rtl_reader *reader, uint32_t row, uint32_t from)
{
    struct rtl_snapshot snapshot = {0};
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    const struct rtl_kernel_snapshot *k = fixture_find(&snapshot, row);
    uint32_t count = k ? (uint32_t)k->histogram.count : 0;
    assert_in_range(count, from, from + 1);
    assert_true(count <= STEPPED);
    if (k)
        assert_int_equal(count, fixture_sum(&k->histogram));
    if (k && !k->histogram.approximate) {
        uint64_t total = 0, min = UINT64_MAX, max = 0;
        for (uint32_t i = 0; i < count; i++) {
            total += stepped[i];
            min = stepped[i] < min ? stepped[i] : min;
            max = stepped[i] > max ? stepped[i] : max;
        }
        assert_int_equal(k->histogram.total_ns, total);
        assert_int_equal(k->histogram.min_ns, min);
        assert_int_equal(k->histogram.max_ns, max);
    }
    rtl_snapshot_free(&snapshot);
    return count;
}

static void a_writer_may_stop_after_any_instruction(void **state)
{
    (void)state;
    struct rtl_segment segment;
    int status = 0;
    if (FIXTURE_TSAN)
        skip(); /* a hundred times the instructions, almost none of them the product's */
    fixture_segment(&segment);
    uint32_t row = fixture_kernel(&segment, "stepped"), steps = 0, count = 0;
    struct rtl_recorder *recorder = rtl_recorder_create(&segment);
    struct rtl_reader *reader = fixture_reader(&segment);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        for (int i = 0; i < STEPPED; i++)
            rtl_recorder_record(recorder, row, stepped[i]);
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* ptrace is not permitted here */
    /* single-step through raise() and out of it again */
    for (bool done = false; !done; steps++) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSTOPPED(status));
        done = WSTOPSIG(status) == SIGSTOP && count == STEPPED;
        uint32_t now = check_between(reader, row, count);
        /* it continues where it was: an approximate copy may hold one value more than was recorded */
        count = (uint32_t)segment.histograms[row].count;
        assert_in_range(now, count, count + 1);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(count, STEPPED);
    print_message("# stopped after each of %u instructions\n", steps);
    rtl_reader_close(reader);
    rtl_recorder_destroy(recorder);
    fixture_drop(&segment);
}

/* --- the reader, word by word --- */

/* A conforming writer that runs at those words of the reader that the test chooses. */
struct interleaved {
    struct rtl_segment *segment;
    uint32_t row, stores; /* done so far: five per record */
    uint32_t word;        /* index of the next word of the histogram that the reader loads */
    struct {
        uint32_t word, stores;
    } go[2];
};

/* All records take 1000 ns except for the extremes: record n takes 1000 - n, so that the minimum always changes. */
static void store_next(struct interleaved *w)
{
    struct rtl_histogram *h = &w->segment->histograms[w->row];
    uint64_t n = w->stores / 5, ns = 1000 - n;
    uint32_t bucket = rtl_bucket_of(ns);
    uint16_t chunk = w->segment->directory[w->row].chunk[bucket / RTL_CHUNK_BUCKETS];
    switch (w->stores++ % 5) {
    case 0:
        w->segment->chunks[chunk].bucket[bucket % RTL_CHUNK_BUCKETS]++;
        break;
    case 1:
        h->min_ns = ns;
        break;
    case 2:
        h->max_ns = 1000;
        break;
    case 3:
        h->total_ns += ns;
        break;
    default:
        h->count++;
    }
}

static bool lies_in(const struct rtl_segment *segment, uint64_t offset, const void *what, size_t bytes)
{
    uint64_t from = (uint64_t)((const char *)what - (const char *)segment->header);
    return offset >= from && offset < from + bytes;
}

static void go_on(void *context, uint64_t offset)
{
    struct interleaved *w = context;
    const struct rtl_segment *s = w->segment;
    if (!lies_in(s, offset, &s->histograms[w->row], sizeof *s->histograms) &&
        !lies_in(s, offset, &s->directory[w->row], sizeof *s->directory) &&
        !lies_in(s, offset, &s->chunks[1], sizeof *s->chunks))
        return; /* another histogram's word, or none */
    for (int i = 0; i < 2; i++)
        for (uint32_t n = 0; w->word == w->go[i].word && n < w->go[i].stores; n++)
            store_next(w);
    w->word++;
}

static void check_interleaved(struct rtl_reader *reader, struct interleaved *w)
{
    struct rtl_snapshot snapshot = {0};
    assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
    const struct rtl_kernel_snapshot *k = fixture_find(&snapshot, w->row);
    assert_non_null(k);
    const struct rtl_histogram_copy *h = &k->histogram;
    if (h->count != fixture_sum(h))
        fail_msg("the count is not the sum");
    /* count records of 1000, 999, ... */
    if (!h->approximate &&
        (h->total_ns != 1000 * h->count - h->count * (h->count - 1) / 2 || h->min_ns != 1001 - h->count))
        fail_msg("%u stores before word %u and %u before %u: count %u, total %u, min %u", w->go[0].stores,
                 w->go[0].word, w->go[1].stores, w->go[1].word, (unsigned)h->count, (unsigned)h->total_ns,
                 (unsigned)h->min_ns);
    rtl_snapshot_free(&snapshot);
}

static void the_writer_may_run_between_any_two_words(void **state)
{
    (void)state;
    struct rtl_segment segment;
    fixture_segment(&segment);
    struct interleaved w = {.segment = &segment, .row = fixture_kernel(&segment, "interleaved")};
    struct rtl_reader *reader = fixture_reader(&segment);
    struct rtl_histogram *h = &segment.histograms[w.row];
    segment.directory[w.row].chunk[rtl_bucket_of(1000) / RTL_CHUNK_BUCKETS] = 1;
    w.go[0].word = w.go[1].word = UINT32_MAX;
    for (int i = 0; i < 10; i++)
        store_next(&w);
    reader->meanwhile = go_on;
    reader->meanwhile_context = &w;
    check_interleaved(reader, &w);
    const uint32_t words = w.word, step = FIXTURE_TSAN || FIXTURE_ASAN ? 29 : 3; /* and as many in a second attempt */
    uint32_t tried = 0;
    for (uint32_t first = 0; first < words; first++)
        for (uint32_t second = first + 1; second < 2 * words; second += step)
            for (uint32_t stores = 1; stores <= 5; stores++) {
                memset(h, 0, sizeof *h);
                memset(&segment.chunks[1], 0, sizeof segment.chunks[1]);
                w.stores = w.word = 0;
                for (int i = 0; i < 10; i++)
                    store_next(&w);
                w.go[0].word = first;
                w.go[0].stores = stores;
                w.go[1].word = second;
                w.go[1].stores = 6 - stores;
                check_interleaved(reader, &w);
                tried++;
            }
    print_message("# %u interleavings with a reader of %u words\n", tried, words);
    rtl_reader_close(reader);
    fixture_drop(&segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_may_stop_after_any_instruction),
        cmocka_unit_test(the_writer_may_run_between_any_two_words),
        cmocka_unit_test(accepted_copies_are_complete),
        cmocka_unit_test(a_killed_writers_segment_is_not_misread),
    };
    return cmocka_run_group_tests_name("segment consistency", tests, NULL, NULL);
}
