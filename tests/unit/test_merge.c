/* Merging processes: their parts add up in any order, also after some have exited. */
#include "tui_synth.h"

#include "model/merge.h"
#include "model/ranks.h"
#include "watch/proc_scan.h"
#include "shm/gpu_names.h"
#include "stats/quantile.h"

#include <unistd.h>

enum { PROCESSES = 4 };
static struct synth *processes[PROCESSES];
static struct rtl_merge *merge;
static struct rtl_model *model;
static const char *const names[] = {"gemm", "attention", "norm", "ncclDevKernel_Generic", "softmax"};
enum { NAMES = sizeof names / sizeof *names };

static uint32_t seed;
static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static int setup(void **state)
{
    (void)state;
    seed = 7;
    for (int i = 0; i < PROCESSES; i++)
        processes[i] = synth_create(2, 2);
    merge = rtl_merge_create();
    model = rtl_model_create();
    return merge && model ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(model);
    rtl_merge_free(merge);
    for (int i = 0; i < PROCESSES; i++)
        synth_free(processes[i]);
    return 0;
}

static uint32_t join(struct rtl_merge *m, int pid)
{
    struct rtl_member_info info = {.pid = pid, .rank = pid % 100};
    snprintf(info.label, sizeof info.label, "R%d", pid % 100);
    uint32_t number = rtl_merge_join(m, &info);
    assert_int_not_equal(number, RTL_MEMBER_GONE);
    return number;
}

static void take(struct rtl_merge *m, uint32_t number, struct synth *p, uint64_t at)
{
    struct rtl_snapshot s = synth_snapshot(p, at);
    assert_true(rtl_merge_update(m, number, &s));
    rtl_snapshot_free(&s);
}

/* Make kernels in an order of its own, and some work. */
static void work(struct synth *p, uint32_t times)
{
    while (p->kernel_count < NAMES) {
        int n;
        bool there;
        do {
            n = (int)draw(NAMES);
            there = false;
            for (int i = 0; i < p->kernel_count; i++)
                there |= p->kernels[i].name == names[n];
        } while (there);
        synth_kernel(p, names[n]);
    }
    for (uint32_t i = 0; i < times; i++)
        synth_record(p, (int)draw(NAMES), 1000 + draw(1000000), 1 + draw(5));
    synth_untimed(p, (int)draw(NAMES), RTL_UNTIMED_OWN_SIGNAL, draw(9));
    for (int g = 0; g < 2; g++)
        p->busy_ns[g] += draw(1000000);
    synth_copies(p, (int)draw(2), RTL_COPY_H2D, 1000, 5000, 1 + draw(4));
}

static const struct rtl_kernel_snapshot *kernel(const struct rtl_snapshot *s, const char *name)
{
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (!strcmp(s->kernels[i].name, name))
            return &s->kernels[i];
    return NULL;
}

static uint64_t buckets(const struct rtl_histogram_copy *h)
{
    uint64_t sum = 0;
    for (uint32_t o = 0; o < h->octave_count; o++)
        for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
            sum += h->octaves[o].bucket[b] * (h->octaves[o].octave * 64u + (uint32_t)b + 1);
    return sum;
}

/* Check that every number of the merged snapshot is the sum over the processes' last snapshots. */
static void assert_sum(const struct rtl_snapshot *s, struct synth *const *of, int count)
{
    uint64_t counted = 0, timed = 0, busy[2] = {0, 0}, copies = 0, copied = 0;
    for (int n = 0; n < NAMES; n++) {
        struct rtl_kernel_snapshot sum = {0};
        uint64_t weighted = 0, least = 0;
        for (int i = 0; i < count; i++) {
            struct rtl_snapshot one = synth_snapshot(of[i], 1);
            const struct rtl_kernel_snapshot *k = kernel(&one, names[n]);
            if (k) {
                sum.calls += k->calls;
                sum.untimed += k->untimed;
                sum.histogram.count += k->histogram.count;
                sum.histogram.total_ns += k->histogram.total_ns;
                weighted += buckets(&k->histogram);
                if (k->histogram.count && (!least || k->histogram.min_ns < least))
                    least = k->histogram.min_ns;
            }
            if (n == 0) {
                counted += one.counted;
                timed += one.timed;
                for (uint32_t a = 0; a < one.agent_count; a++)
                    busy[one.agents[a].gpu] += one.agents[a].busy_ns;
                for (uint32_t c = 0; c < one.copies_count; c++)
                    copies += one.copies[c].count;
            }
            rtl_snapshot_free(&one);
        }
        const struct rtl_kernel_snapshot *k = kernel(s, names[n]);
        assert_int_equal(k ? k->calls : 0, sum.calls);
        if (!k)
            continue;
        assert_int_equal(k->untimed, sum.untimed);
        assert_int_equal(k->histogram.count, sum.histogram.count);
        assert_int_equal(k->histogram.total_ns, sum.histogram.total_ns);
        assert_int_equal(buckets(&k->histogram), weighted);
        assert_int_equal(k->histogram.min_ns, least);
        const struct rtl_group *group = rtl_group_of(s, k);
        assert_non_null(group);
        uint64_t parts = 0;
        for (uint32_t i = 0; i < group->count; i++)
            parts += group->parts[i]->kernel.calls;
        assert_int_equal(parts, k->calls);
    }
    assert_int_equal(s->counted, counted);
    assert_int_equal(s->timed, timed);
    for (uint32_t a = 0; a < s->agent_count; a++)
        assert_int_equal(s->agents[a].busy_ns, busy[s->agents[a].gpu]);
    for (uint32_t c = 0; c < s->copies_count; c++)
        copied += s->copies[c].count;
    assert_int_equal(copied, copies);
}

static void merged_numbers_are_the_sums_of_the_parts(void **state)
{
    (void)state;
    uint32_t numbers[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        numbers[i] = join(merge, 100 + i);
    for (uint64_t frame = 1; frame < 30; frame++) {
        struct rtl_snapshot s;
        for (int i = 0; i < PROCESSES; i++) {
            if (draw(3))
                work(processes[i], draw(20));
            take(merge, numbers[i], processes[i], frame);
        }
        assert_true(rtl_merge_make(merge, frame, &s));
        assert_sum(&s, processes, PROCESSES);
        assert_int_equal(s.queue_count, 2 * PROCESSES);
        for (uint32_t i = 1; i < s.kernel_count; i++)
            assert_true(s.kernels[i - 1].id < s.kernels[i].id);
        for (uint32_t i = 1; i < s.queue_count; i++)
            assert_true(s.queues[i - 1].slot < s.queues[i].slot);
        rtl_snapshot_free(&s);
    }
}

static void the_order_of_processes_does_not_matter(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        work(processes[i], 30);
    struct rtl_merge *other = rtl_merge_create();
    struct rtl_snapshot a, b;
    for (int i = 0; i < PROCESSES; i++) {
        take(merge, join(merge, 100 + i), processes[i], 1);
        take(other, join(other, 103 - i), processes[PROCESSES - 1 - i], 1);
    }
    assert_true(rtl_merge_make(merge, 1, &a) && rtl_merge_make(other, 1, &b));
    assert_int_equal(a.kernel_count, b.kernel_count);
    assert_int_equal(a.agent_count, b.agent_count);
    for (int n = 0; n < NAMES; n++) {
        const struct rtl_kernel_snapshot *x = kernel(&a, names[n]), *y = kernel(&b, names[n]);
        assert_int_equal(x != NULL, y != NULL);
        if (!x)
            continue;
        assert_int_equal(x->calls, y->calls);
        assert_int_equal(x->histogram.min_ns, y->histogram.min_ns);
        assert_int_equal(x->histogram.max_ns, y->histogram.max_ns);
        assert_int_equal(buckets(&x->histogram), buckets(&y->histogram));
    }
    for (uint32_t g = 0; g < a.agent_count; g++) {
        assert_int_equal(a.agents[g].bdf, b.agents[g].bdf);
        assert_int_equal(a.agents[g].gpu, b.agents[g].gpu);
        assert_int_equal(a.agents[g].busy_ns, b.agents[g].busy_ns);
    }
    rtl_snapshot_free(&a);
    rtl_snapshot_free(&b);
    rtl_merge_free(other);
}

/* Processes start and exit, in more generations than are stored one by one. */
static void merged_totals_never_go_back(void **state)
{
    (void)state;
    enum { GENERATIONS = 2 * RTL_MEMBERS_MAX };
    uint64_t calls[NAMES] = {0}, counted = 0, busy = 0, copied = 0, expected = 0;
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        struct synth *p = synth_create(2, 2);
        uint32_t number = join(merge, 5000); /* always the same pid */
        assert_int_equal(number, i);
        for (int frame = 0; frame < 2; frame++) {
            struct rtl_snapshot s;
            work(p, 3);
            take(merge, number, p, i);
            assert_true(rtl_merge_make(merge, 2 * i + (uint64_t)frame, &s));
            uint64_t now_busy = 0, now_copied = 0;
            for (int n = 0; n < NAMES; n++) {
                const struct rtl_kernel_snapshot *k = kernel(&s, names[n]);
                uint64_t now = k ? k->calls : 0;
                assert_true(now >= calls[n]);
                calls[n] = now;
            }
            for (uint32_t a = 0; a < s.agent_count; a++)
                now_busy += s.agents[a].busy_ns;
            for (uint32_t c = 0; c < s.copies_count; c++)
                now_copied += s.copies[c].count;
            assert_true(s.counted >= counted && now_busy >= busy && now_copied >= copied);
            counted = s.counted;
            busy = now_busy;
            copied = now_copied;
            assert_true(s.parts->member_count <= RTL_MEMBERS_ENDED_MAX + 2);
            assert_int_equal(s.queue_count, 2);
            rtl_snapshot_free(&s);
        }
        for (int k = 0; k < p->kernel_count; k++)
            expected += p->kernels[k].calls;
        rtl_merge_leave(merge, number);
        synth_free(p);
    }
    uint64_t sum = 0;
    for (int n = 0; n < NAMES; n++)
        sum += calls[n];
    assert_int_equal(sum, expected);
    assert_int_equal(counted, expected);
}

static void earlier_snapshots_stay_unchanged(void **state)
{
    (void)state;
    uint32_t a = join(merge, 100), b = join(merge, 101);
    struct rtl_snapshot before, after;
    work(processes[0], 20);
    work(processes[1], 20);
    take(merge, a, processes[0], 1);
    take(merge, b, processes[1], 1);
    assert_true(rtl_merge_make(merge, 1, &before));
    uint64_t calls = before.kernels[0].calls, sum = buckets(&before.kernels[0].histogram);
    const struct rtl_group *untouched = NULL;
    synth_record(processes[0], 0, 5000, 7);
    take(merge, a, processes[0], 2);
    assert_true(rtl_merge_make(merge, 2, &after));
    assert_int_equal(before.kernels[0].calls, calls);
    assert_int_equal(buckets(&before.kernels[0].histogram), sum);
    uint32_t shared = 0;
    for (uint32_t i = 0; i < after.kernel_count; i++) {
        untouched = rtl_group_of(&after, &after.kernels[i]);
        shared += untouched == rtl_group_of(&before, kernel(&before, after.kernels[i].name));
    }
    assert_int_equal(shared, after.kernel_count - 1); /* only changed rows are copied */
    rtl_merge_leave(merge, a);
    rtl_snapshot_free(&after);
    assert_int_equal(before.kernels[0].calls, calls);
    rtl_snapshot_free(&before);
}

static void the_first_process_keeps_its_numbers(void **state)
{
    (void)state;
    work(processes[0], 30);
    work(processes[1], 30);
    struct rtl_snapshot alone = synth_snapshot(processes[0], 1), s;
    uint32_t a = join(merge, 100), b = join(merge, 101);
    assert_true(rtl_merge_adopt(merge, a, &alone));
    take(merge, b, processes[1], 1);
    assert_true(rtl_merge_make(merge, 1, &s));
    for (uint32_t i = 0; i < alone.kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = kernel(&s, alone.kernels[i].name);
        assert_non_null(k);
        assert_int_equal(k->id, alone.kernels[i].id);
    }
    for (uint32_t i = 0; i < alone.queue_count; i++) {
        assert_int_equal(s.queues[i].slot, alone.queues[i].slot);
        assert_int_equal(s.queues[i].gpu, alone.queues[i].gpu);
    }
    rtl_snapshot_free(&alone);
    rtl_snapshot_free(&s);
}

static void gpus_are_merged_by_address(void **state)
{
    (void)state;
    static const uint32_t bdf[2] = {0x0500, 0x0300};
    struct rtl_snapshot s;
    for (uint32_t i = 0; i < 2; i++) { /* each process calls its only GPU number 0 */
        struct rtl_snapshot one = synth_snapshot(processes[i], 1);
        one.agent_count = 1;
        one.agents[0].gpu = 0;
        one.agents[0].bdf = bdf[i];
        one.agents[0].busy_ns = 10 + i;
        for (uint32_t q = 0; q < one.queue_count; q++)
            one.queues[q].gpu = 0;
        assert_true(rtl_merge_update(merge, join(merge, 100 + (int)i), &one));
        rtl_snapshot_free(&one);
    }
    assert_true(rtl_merge_make(merge, 1, &s));
    assert_int_equal(s.agent_count, 2);
    assert_int_equal(s.agents[0].bdf, 0x0300);
    assert_int_equal(s.agents[0].gpu, 0);
    assert_int_equal(s.agents[0].busy_ns, 11);
    assert_int_equal(s.agents[1].bdf, 0x0500);
    assert_int_equal(s.queues[0].gpu, 1); /* the first process's */
    assert_int_equal(s.queues[0].pid, 100);
    assert_int_equal(s.queues[2].gpu, 0);
    assert_int_equal(s.parts->members[0].gpus, 2);
    rtl_snapshot_free(&s);
}

/* A snapshot of some processes comes before all are read; later snapshots equal those of a merge at once. */
static void some_of_many_processes_are_merged_first(void **state)
{
    (void)state;
    static const uint32_t bdf[2] = {0x0500, 0x0300};
    struct rtl_snapshot some = {0}, s;
    uint32_t number[2] = {join(merge, 100), join(merge, 101)}, rounds = 1;
    for (uint32_t i = 0; i < 2; i++) {
        work(processes[i], 20);
        struct rtl_snapshot one = synth_snapshot(processes[i], 1);
        one.agent_count = 1;
        one.agents[0].gpu = 0;
        one.agents[0].bdf = bdf[i];
        for (uint32_t q = 0; q < one.queue_count; q++)
            one.queues[q].gpu = 0;
        assert_true(rtl_merge_update(merge, number[i], &one));
        rtl_snapshot_free(&one);
        if (!i)
            assert_true(rtl_merge_make_partly(merge, 1, &some));
    }
    assert_int_equal(some.kernel_count, NAMES);
    assert_int_equal(some.agents[0].bdf, 0x0500);
    assert_int_equal(some.parts->member_count, 2);
    assert_int_equal(some.parts->members[1].start_mono_ns, 0); /* nothing is known of it yet */
    for (; rtl_merge_sum_some(merge, 2); rounds++)
        assert_true(rounds < NAMES);
    assert_int_equal(rounds, (NAMES + 1) / 2);
    assert_true(rtl_merge_make(merge, 2, &s));
    assert_int_equal(s.agents[0].bdf, 0x0300); /* and stays G0 from now on */
    assert_int_equal(s.agents[0].gpu, 0);
    assert_int_equal(s.queues[0].gpu, 1);
    assert_true(s.counted > some.counted);
    rtl_snapshot_free(&some);
    rtl_snapshot_free(&s);
}

/* --- the slowest process --- */

static void tick(uint64_t at, int count)
{
    struct rtl_snapshot s;
    for (int i = 0; i < count; i++)
        take(merge, (uint32_t)i, processes[i], at);
    assert_true(rtl_merge_make(merge, SYNTH_START + at, &s));
    assert_true(rtl_model_add(model, &s, at));
}

static const struct rtl_row *row_of(const char *name)
{
    for (uint32_t i = 0; i < model->row_count; i++)
        if (!strcmp(model->rows[i].kernel->name, name))
            return &model->rows[i];
    return NULL;
}

static void the_slow_process_is_named(void **state)
{
    (void)state;
    struct rtl_slowest slowest;
    char text[32];
    for (int i = 0; i < PROCESSES; i++) {
        join(merge, 100 + i);
        for (int n = 0; n < NAMES; n++)
            synth_kernel(processes[i], names[n]);
        for (int n = 0; n < NAMES; n++)
            synth_record(processes[i], n, 900000, 100); /* long ago: outside the window */
    }
    tick(1 * RTL_SEC, PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        synth_record(processes[i], 0, i == 2 ? 200000 : 100000 + 1000 * (uint64_t)i, 10);
        synth_record(processes[i], 3, i == 1 ? 20000 : 100000, 10); /* a collective */
        if (i == 1)
            synth_record(processes[i], 3, 490000, 2); /* long waits, which make its mean that of the others */
        synth_record(processes[i], 4, i == 1 ? 500000 : 100000, i == 1 ? 4 : 10); /* too few */
        synth_record(processes[i], 2, 50000, i == 3 ? 10 : 0);
    }
    tick(2 * RTL_SEC, PROCESSES);
    assert_true(rtl_slowest(model, row_of("gemm"), &slowest));
    assert_int_equal(slowest.rank.member->info.pid, 102);
    assert_int_equal(slowest.compared, PROCESSES);
    assert_true(slowest.rank.against > 1.97 &&
                slowest.rank.against < 1.99); /* 200 against the median of 100, 101, 103 */
    rtl_slowest_text(model, row_of("gemm"), text, sizeof text);
    assert_string_equal(text, "R2 2.0x");
    assert_true(rtl_slowest(model, row_of("ncclDevKernel_Generic"), &slowest));
    assert_true(slowest.collective);
    assert_int_equal(slowest.rank.member->info.pid, 101);
    rtl_slowest_text(model, row_of("ncclDevKernel_Generic"), text, sizeof text);
    assert_string_equal(text, "R1 last");
    assert_true(rtl_slowest(model, row_of("softmax"), &slowest));
    assert_int_equal(slowest.compared, PROCESSES - 1);
    rtl_slowest_text(model, row_of("softmax"), text, sizeof text);
    assert_string_equal(text, "=");
    assert_false(rtl_slowest(model, row_of("norm"), &slowest)); /* no process to compare with */
    rtl_slowest_text(model, row_of("attention"), text, sizeof text);
    assert_string_equal(text, "-");

    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    assert_int_equal(rtl_ranks(model, row_of("gemm"), true, ranks, RTL_MEMBERS_MAX), PROCESSES);
    assert_int_equal(ranks[2].window_calls, 10);
    assert_true(ranks[1].against > 0.980 && ranks[1].against < 0.981); /* 101 against 103, of 100, 103, 200 */
    assert_int_equal(ranks[2].window_total_ns, 2000000);
    assert_true(ranks[2].has_quantiles && ranks[2].p99 > 190000 && ranks[2].p99 < 210000);
    assert_int_equal(rtl_ranks(model, row_of("gemm"), true, ranks, 2), 2);

    struct rtl_process_row rows[RTL_MEMBERS_MAX];
    assert_int_equal(rtl_process_rows(model, rows, RTL_MEMBERS_MAX), PROCESSES);
    assert_ptr_equal(rows[2].top, row_of("gemm"));
    assert_ptr_equal(rows[1].worst, row_of("softmax"));
    assert_true(rows[2].rate > 29.9 && rows[2].rate < 30.1); /* of a window of one second */
}

/* Data parallel ranks have other requests, so only tensor parallel ranks of one data parallel rank are compared. */
static void ranks_are_compared_within_their_group(void **state)
{
    (void)state;
    static const char *const labels[] = {"DP0_TP0", "DP0_TP1", "DP1_TP0", "DP1_TP1"};
    static const uint64_t means[] = {100000, 130000, 110000, 115000};
    struct rtl_slowest slowest;
    char text[48];
    for (int i = 0; i < 4; i++) {
        struct rtl_member_info info = {.pid = 100 + i, .rank = -1};
        snprintf(info.label, sizeof info.label, "%s", labels[i]);
        rtl_merge_join(merge, &info);
        synth_kernel(processes[i], names[0]);
    }
    tick(1 * RTL_SEC, 4);
    for (int i = 0; i < 4; i++)
        synth_record(processes[i], 0, means[i], 10);
    tick(2 * RTL_SEC, 4);
    assert_true(rtl_slowest(model, row_of(names[0]), &slowest));
    assert_int_equal(slowest.rank.member->info.pid, 101);
    assert_int_equal(slowest.compared, 4);
    rtl_slowest_text(model, row_of(names[0]), text, sizeof text);
    assert_string_equal(text, "DP0_TP1 1.3x");

    /* a worker that renames itself, and then hides its environment */
    struct rtl_member_info info = {.pid = 103, .rank = 3, .label = "R3", .title = "renamed"};
    rtl_merge_describe(merge, 3, &info);
    info = (struct rtl_member_info){.pid = 103, .rank = -1, .title = "again"};
    rtl_merge_describe(merge, 3, &info);
    rtl_merge_describe(merge, 9, &info);
    info =
        (struct rtl_member_info){.pid = 103, .rank = -1, .title = "?"}; /* its arguments couldn't be read this time */
    rtl_merge_describe(merge, 3, &info);
    tick(3 * RTL_SEC, 4);
    const struct rtl_member *member = rtl_member_of(&model->latest->snapshot, 3);
    assert_string_equal(member->name, "R3");
    assert_int_equal(member->info.rank, 3);
    assert_string_equal(member->info.title, "again");
}

static void windows_continue_when_a_second_process_joins(void **state)
{
    (void)state;
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    synth_kernel(processes[0], names[0]);
    synth_record(processes[0], 0, 1000, 50);
    synth_tick(processes[0], model, 1 * RTL_SEC);
    struct rtl_snapshot alone = synth_snapshot(processes[0], 2);
    assert_true(rtl_merge_adopt(merge, join(merge, 100), &alone));
    rtl_snapshot_free(&alone);
    join(merge, 101);
    synth_kernel(processes[1], names[0]);
    synth_record(processes[1], 0, 1000, 8);
    synth_record(processes[0], 0, 1000, 6);
    tick(2 * RTL_SEC, 2);
    assert_int_equal(model->rows[0].window_calls, 14);
    assert_int_equal(rtl_ranks(model, &model->rows[0], false, ranks, RTL_MEMBERS_MAX), 2);
    assert_int_equal(ranks[0].window_calls, 6);
    assert_int_equal(ranks[1].window_calls, 8);
}

/* --- identifying processes --- */

static void ranks_are_parsed(void **state)
{
    (void)state;
#define BYTES(text) text, sizeof(text)
    static const struct {
        const char *arguments;
        size_t argument_bytes;
        const char *environment;
        size_t environment_bytes;
        const char *label;
        int rank;
    } cases[] = {
        {BYTES("python3\0serve.py"), BYTES("A=1\0RANK=5\0LOCAL_RANK=1"), "R5", 5},
        {BYTES("python3\0serve.py"), BYTES("A=1\0LOCAL_RANK=1"), "R1", 1},
        {BYTES("VLLM::Worker_TP3"), BYTES("RANK=9"), "TP3", 3},
        {BYTES("a\0--rank=12"), BYTES("X"), "R12", 12},
        {BYTES("a\0--local_rank\0007"), BYTES("X"), "R7", 7},
        {BYTES("VLLM::Worker_DP1_TP0_EP1"), BYTES("RANK=9"), "DP1_TP0_EP1", -1},
        {BYTES("/opt/model_TP8/bin/python3\0serve.py_TP7"), BYTES("RANK=9"), "R9", 9},
        {BYTES("sglang::scheduler"), BYTES("RANK=5"), "R5", 5},
        {BYTES("a"), BYTES("PMIX_RANK=3\0SLURM_PROCID=4"), "R3", 3},
        {BYTES("a"), BYTES("OMPI_COMM_WORLD_RANK=2\0OMPI_COMM_WORLD_LOCAL_RANK=0"), "R2", 2},
        {BYTES("a"), BYTES("PMI_RANK=6\0PMI_SIZE=8"), "R6", 6},
        {BYTES("a"), BYTES("MV2_COMM_WORLD_RANK=1"), "R1", 1},
        {BYTES("a"), BYTES("SLURM_LOCALID=1\0SLURM_PROCID=13"), "R13", 13},
        {BYTES("a"), BYTES("FLUX_TASK_LOCAL_ID=1\0FLUX_TASK_RANK=9"), "R9", 9},
        {BYTES("a"), BYTES("PALS_LOCAL_RANKID=1\0PALS_RANKID=10"), "R10", 10},
        {BYTES("ray::RayWorkerWrapper.execute_method"), BYTES("RANK=4"), "R4", 4},
        {BYTES("python3\0-u\0pretrain_gpt.py\0--tensor-model-parallel-size\0002"), BYTES("RANK=3\0WORLD_SIZE=8"), "R3",
         3},
        {BYTES("python3\0train.py\0--local_rank=2\0--deepspeed"), BYTES("X"), "R2", 2}, /* DeepSpeed */
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=6"), "D6", -1},
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=6,7"), "", -1},
        {BYTES("a\0--rank"), BYTES("RANK="), "", -1},
        {BYTES("a"), BYTES("RANK=5x\0NO_RANK=5"), "", -1},
        {BYTES("a"), BYTES("RANKS5"), "", -1},
        {BYTES("a"), BYTES("RANK=999999999999"), "", -1},
        {"", 0, "", 0, "", -1},
        {"_TP", 3, "RANK=77", 6, "R7", 7}, /* truncated: complete variables count */
        /* a list has numbers of the devices that the list before it selects */
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=0\0HIP_VISIBLE_DEVICES=0"), "D0", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=1\0HIP_VISIBLE_DEVICES=0"), "D1", -1},
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=1\0ROCR_VISIBLE_DEVICES=2,3"), "D3", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=1"), "D1", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=2,3\0CUDA_VISIBLE_DEVICES=0"), "D2", -1},
        {BYTES("a"), BYTES("CUDA_VISIBLE_DEVICES=4"), "D4", -1},
        {BYTES("a"), BYTES("CUDA_VISIBLE_DEVICES=4\0HIP_VISIBLE_DEVICES=5"), "D5", -1},
        {BYTES("a"), BYTES("CUDA_VISIBLE_DEVICES=4\0HIP_VISIBLE_DEVICES="), "D4", -1},
        {BYTES("a"), BYTES("GPU_DEVICE_ORDINAL=1\0ROCR_VISIBLE_DEVICES=7,3"), "D3", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=2,3"), "", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES="), "", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=2\0HIP_VISIBLE_DEVICES=1"), "", -1}, /* only one device is left */
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=2,x,3"), "D2", -1}, /* an invalid entry ends the list */
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=4,,5"), "D4", -1},
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=-1"), "", -1},
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=,3"), "", -1},
        {BYTES("a"), BYTES("HIP_VISIBLE_DEVICES=3,3"), "D3", -1}, /* so does a repeated entry */
        /* the number of a device that is named by its UUID is not known */
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=GPU-7b3e5d2c9a100000"), "", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=GPU-7b3e5d2c9a100000,5\0HIP_VISIBLE_DEVICES=1"), "D5", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=5,6\0HIP_VISIBLE_DEVICES=GPU-7b3e5d2c9a100000"), "", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=GPU-1,GPU-2"), "", -1},
        {BYTES("a"), BYTES("ROCR_VISIBLE_DEVICES=3,GPU-"), "D3", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtl_member_info info;
        const struct rtl_proc_text arguments = {cases[i].arguments, cases[i].argument_bytes};
        const struct rtl_proc_text environment = {cases[i].environment, cases[i].environment_bytes};
        rtl_rank_from(&arguments, &environment, &info);
        if (strcmp(info.label, cases[i].label) != 0 || info.rank != cases[i].rank)
            fail_msg("case %zu gives '%s' %d", i, info.label, info.rank);
    }
}

static void containers_are_named_from_cgroups(void **state)
{
    (void)state;
    char out[20];
    rtl_container_from(
        "0::/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n", out,
        sizeof out);
    assert_string_equal(out, "0123456789ab");
    rtl_container_from("0::/user.slice/user-1000.slice/session-3.scope\n", out, sizeof out);
    assert_string_equal(out, "");
}

static void the_scan_finds_this_process(void **state)
{
    (void)state;
    struct rtl_proc_entry *entries;
    int count = rtl_proc_scan(&entries), me = -1;
    for (int i = 0; i < count; i++)
        if (entries[i].pid == getpid())
            me = i;
    assert_true(me >= 0);
    assert_int_equal(entries[me].parent, getppid());
    assert_true(entries[me].start_time > 0);
    free(entries);
    assert_true(rtl_proc_has_name(getpid(), "test_merge"));
    assert_false(rtl_proc_has_name(getpid(), "test_merg"));
}

static void lost_packets_are_summed(void **state)
{
    (void)state;
    struct rtl_snapshot merged;
    for (int i = 0; i < 2; i++) {
        struct rtl_snapshot s = synth_snapshot(processes[i], 1);
        s.packets_lost = i ? 7 : 5;
        assert_true(rtl_merge_update(merge, join(merge, 100 + i), &s));
        rtl_snapshot_free(&s);
    }
    assert_true(rtl_merge_make(merge, 1, &merged));
    assert_int_equal(merged.packets_lost, 12);
    rtl_snapshot_free(&merged);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(merged_numbers_are_the_sums_of_the_parts),
        TEST(the_order_of_processes_does_not_matter),
        TEST(merged_totals_never_go_back),
        TEST(earlier_snapshots_stay_unchanged),
        TEST(the_first_process_keeps_its_numbers),
        TEST(gpus_are_merged_by_address),
        TEST(some_of_many_processes_are_merged_first),
        TEST(the_slow_process_is_named),
        TEST(ranks_are_compared_within_their_group),
        TEST(windows_continue_when_a_second_process_joins),
        TEST(ranks_are_parsed),
        TEST(containers_are_named_from_cgroups),
        TEST(the_scan_finds_this_process),
        TEST(lost_packets_are_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
