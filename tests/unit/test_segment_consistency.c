/*
 * Consistency while the writer runs at full speed, and after it was killed at any point.
 *
 * A copy of a histogram that the reader accepts must be whole: the sum of its buckets is its count, and for kernels
 * that always take the same time its total is count times that. Millions are taken. Then processes that record flat out
 * are killed a thousand times, and what they leave must be read right every time.
 */
#include "segment_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>

#include "shm/reader_private.h"

/* fewer where each is an order of magnitude slower */
enum {
    COPIES = FIXTURE_TSAN || FIXTURE_ASAN ? 150000 : 3000000,
    KILLS = FIXTURE_TSAN || FIXTURE_ASAN ? 150 : 1000,
};

enum { KERNELS = 48, READERS = 2 };

struct shared {
    struct rtl_segment segment;
    uint32_t row[KERNELS];
    atomic_bool stop;
    atomic_ullong copies; /* accepted, by all readers */
};

/* Even kernels always take this long; odd ones wander over three octaves. */
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

/* NULL, or what was wrong: cmocka's assertions work on the main thread only. */
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
    /* two mappings of a page are two memories to ThreadSanitizer: one reader looks where the writer writes */
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

static void accepted_copies_are_whole(void **state)
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

/* The victim: records without end, with new kernels and octaves all the time. */
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

/* Checks what a killed writer left. Returns whether it died inside a record. */
static bool check_remains(const struct rtl_segment *segment)
{
    struct rtl_reader *reader = fixture_reader(segment);
    struct rtl_snapshot snapshot = {0};
    char name[32];
    uint32_t torn = 0, approximate = 0;
    for (uint32_t i = 0; i < 1024; i++) { /* twice the rows that it uses */
        uint64_t count = segment->histograms[i].count, sum = sum_in_segment(segment, i);
        assert_in_range(sum - count, 0, 1);
        torn += sum != count && count; /* in its very first record there is nothing to show yet */
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

static void killed_writers_leave_nothing_to_misread(void **state)
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
        /* from its first record on, at any moment of the next fraction of a millisecond */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_copies_are_whole),
        cmocka_unit_test(killed_writers_leave_nothing_to_misread),
    };
    return cmocka_run_group_tests_name("segment consistency", tests, NULL, NULL);
}
