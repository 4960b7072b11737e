/* Bounds of a merge: memory, ids and names, shared fairly among the processes. */
#include "tui_synth.h"

#include "model/merge.h"
#include "model/merge_parts.h"

enum { GREEDY = 3000, OCTAVES = 8, TIMES = OCTAVES * RTL_CHUNK_BUCKETS };

/* A process with many kernels, whose histograms are as full as possible. */
struct greedy {
    struct rtl_snapshot snapshot;
    struct rtl_kernel_snapshot kernels[GREEDY];
    char names[GREEDY][40];
    struct rtl_octave octaves[OCTAVES];
};

static struct greedy *greedy(int who, uint32_t kernels)
{
    struct greedy *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->snapshot.kernels = g->kernels;
    g->snapshot.kernel_count = kernels;
    for (uint32_t o = 0; o < OCTAVES; o++) {
        g->octaves[o].octave = (uint8_t)(10 + o);
        for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
            g->octaves[o].bucket[b] = 1;
    }
    for (uint32_t i = 0; i < kernels; i++) {
        snprintf(g->names[i], sizeof g->names[i], "kernel %u of %d", i, who);
        g->kernels[i] = (struct rtl_kernel_snapshot){
            .id = i, .name = g->names[i], .name_length = strlen(g->names[i]), .calls = TIMES};
        g->kernels[i].histogram = (struct rtl_histogram_copy){.count = TIMES,
                                                              .total_ns = 1000000,
                                                              .min_ns = 1,
                                                              .max_ns = 1u << 30,
                                                              .octaves = g->octaves,
                                                              .octave_count = OCTAVES};
    }
    return g;
}

static void call_all(struct greedy *g)
{
    for (uint32_t o = 0; o < OCTAVES; o++)
        for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
            g->octaves[o].bucket[b]++;
    for (uint32_t i = 0; i < g->snapshot.kernel_count; i++) {
        g->kernels[i].calls += TIMES;
        g->kernels[i].histogram.count += TIMES;
        g->kernels[i].histogram.total_ns += 1000000;
    }
}

static uint32_t join(struct rtl_merge *m, int pid)
{
    return rtl_merge_join(m, &(struct rtl_member_info){.pid = pid, .rank = -1});
}

/* Check a frame's sums: the greedy process's may be coarse, the other one's must be exact. Return true when some are
 * coarse.
 */
static bool check_sums(const struct rtl_snapshot *s, uint64_t calls)
{
    bool coarse = false;
    assert_int_equal(s->kernel_count, GREEDY + 10);
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        bool is_greedy = strstr(k->name, "of 0") != NULL;
        uint64_t sum = 0, times = is_greedy ? calls : 1;
        for (uint32_t o = 0; o < k->histogram.octave_count; o++)
            for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
                sum += k->histogram.octaves[o].bucket[b];
        for (int o = 0; k->histogram.coarse && o < RTL_OCTAVES_MAX; o++)
            sum += k->histogram.coarse[o];
        assert_int_equal(k->calls, times * TIMES);
        assert_int_equal(k->histogram.count, k->calls);
        assert_int_equal(sum, k->calls);
        assert_int_equal(k->histogram.total_ns, times * 1000000);
        assert_int_equal(k->histogram.approximate, k->histogram.coarse != NULL);
        if (is_greedy)
            coarse |= k->histogram.coarse != NULL;
        else
            assert_int_equal(k->histogram.octave_count, OCTAVES);
    }
    return coarse;
}

/* Sum the bytes of the snapshots' parts, each counted once: neighbouring frames may share a part. */
static size_t bytes_of(const struct rtl_snapshot *s, int frames, uint32_t member)
{
    size_t bytes = 0;
    for (int f = 0; f < frames; f++)
        for (uint32_t g = 0; g < s[f].parts->group_count; g++)
            for (uint32_t i = 0; i < s[f].parts->groups[g]->count; i++) {
                const struct rtl_part *part = s[f].parts->groups[g]->parts[i];
                bool again = f && s[f - 1].parts->groups[g]->parts[i] == part;
                bytes += part->member == member && !again ? part->bytes : 0;
            }
    return bytes;
}

/* A process that calls all its kernels all the time gets coarse histograms. */
static void merged_processes_share_memory_fairly(void **state)
{
    (void)state;
    enum { FRAMES = 12 };
    struct rtl_merge *m = rtl_merge_create();
    struct greedy *g = greedy(0, GREEDY), *modest = greedy(1, 10);
    struct rtl_snapshot s[FRAMES + 1];
    uint32_t a = join(m, 1), b = join(m, 2);
    bool coarse = false;
    for (int f = 0; f < FRAMES; f++) {
        call_all(g);
        assert_true(rtl_merge_update(m, a, &g->snapshot));
        assert_true(rtl_merge_update(m, b, &modest->snapshot));
        assert_true(rtl_merge_make(m, SYNTH_START + (uint64_t)f, &s[f]));
        coarse = check_sums(&s[f], 2 + (uint64_t)f);
    }
    assert_true(coarse);
    assert_in_range(bytes_of(s, FRAMES, a), 60 << 20, 68 << 20);
    assert_true(bytes_of(s, FRAMES, b) < 100000);
    for (int f = 0; f < FRAMES; f++)
        rtl_snapshot_free(&s[f]);
    /* released memory is reused */
    call_all(g);
    assert_true(rtl_merge_update(m, a, &g->snapshot));
    assert_true(rtl_merge_make(m, SYNTH_START + FRAMES, &s[FRAMES]));
    assert_false(check_sums(&s[FRAMES], 2 + FRAMES));
    rtl_snapshot_free(&s[FRAMES]);
    rtl_merge_free(m);
    free(g);
    free(modest);
}

/* However many names the first processes have, a later process can still name some; its other kernels are "(other
 * kernels)".
 */
static void ids_are_reserved_for_later_processes(void **state)
{
    (void)state;
    enum { FIRST = 6, LATE_NAMES = 30 };
    struct rtl_merge *m = rtl_merge_create();
    struct rtl_snapshot s;
    uint64_t calls = 0;
    uint32_t late = 0;
    for (int i = 0; i <= FIRST; i++) {
        struct greedy *g = greedy(i, i < FIRST ? GREEDY : LATE_NAMES);
        assert_true(rtl_merge_update(m, join(m, 1 + i), &g->snapshot));
        calls += (uint64_t)g->snapshot.kernel_count * TIMES;
        free(g);
    }
    assert_true(rtl_merge_make(m, SYNTH_START, &s));
    assert_true(s.kernel_count <= RTL_KERNELS_MAX);
    for (uint32_t i = 0; i < s.kernel_count; i++) {
        late += strstr(s.kernels[i].name, "of 6") != NULL;
        calls -= s.kernels[i].calls;
    }
    assert_in_range(late, 10, LATE_NAMES - 1);
    assert_int_equal(calls, 0); /* nothing is lost */
    rtl_snapshot_free(&s);
    rtl_merge_free(m);
}

/* The reserve also holds for names of maximum length. */
static void name_memory_is_reserved_for_later_processes(void **state)
{
    (void)state;
    enum { LONG = 300, FIRST = 4 };
    struct rtl_merge *m = rtl_merge_create();
    struct rtl_snapshot s;
    uint32_t late = 0;
    for (int i = 0; i <= FIRST; i++) {
        struct greedy *g = greedy(i, i < FIRST ? LONG : 20);
        for (uint32_t k = 0; i < FIRST && k < LONG; k++) {
            size_t length = RTL_NAME_MAX;
            char *name = malloc(length + 1);
            memset(name, 'x', length);
            memcpy(name, g->names[k], strlen(g->names[k]));
            name[length] = 0;
            g->kernels[k].name = name;
            g->kernels[k].name_length = length;
        }
        assert_true(rtl_merge_update(m, join(m, 1 + i), &g->snapshot));
        for (uint32_t k = 0; i < FIRST && k < LONG; k++)
            free((void *)(uintptr_t)g->kernels[k].name);
        free(g);
    }
    assert_true(rtl_merge_make(m, SYNTH_START, &s));
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s.kernel_count; i++) {
        late += strstr(s.kernels[i].name, "of 4") != NULL;
        bytes += s.kernels[i].name_length;
    }
    assert_int_equal(late, 20);
    assert_in_range(bytes, 3u * RTL_NAMES_BYTES - RTL_NAME_MAX, 3u * RTL_NAMES_BYTES + 5 * RTL_NAME_MAX);
    rtl_snapshot_free(&s);
    rtl_merge_free(m);
}

/* Packing and unpacking a kernel's buckets changes nothing. */
static void parts_are_unpacked_unchanged(void **state)
{
    (void)state;
    struct rtl_merge *m = rtl_merge_create();
    struct greedy *g = greedy(0, 3);
    uint64_t coarse[RTL_OCTAVES_MAX] = {0, 0, 5, [35] = 7};
    struct rtl_unpacked room;
    struct rtl_snapshot s;
    g->octaves[3].bucket[0] = (1ull << 52) - 1;
    memset(g->octaves[5].bucket, 0, sizeof g->octaves[5].bucket);
    g->kernels[1].histogram.coarse = coarse;
    g->kernels[2].histogram.octave_count = 0;
    assert_true(rtl_merge_update(m, join(m, 1), &g->snapshot));
    assert_true(rtl_merge_make(m, SYNTH_START, &s));
    for (uint32_t i = 0; i < 3; i++) {
        struct rtl_histogram_copy h = rtl_part_histogram(rtl_group_of(&s, &s.kernels[i])->parts[0], &room);
        assert_int_equal(h.octave_count, i < 2 ? OCTAVES - 1 : 0);
        for (uint32_t o = 0; o < h.octave_count; o++) {
            const struct rtl_octave *was = &g->octaves[o + (o >= 5)];
            assert_int_equal(h.octaves[o].octave, was->octave);
            assert_memory_equal(h.octaves[o].bucket, was->bucket, sizeof was->bucket);
        }
        assert_int_equal(h.coarse != NULL, i == 1);
        if (h.coarse)
            assert_memory_equal(h.coarse, coarse, sizeof coarse);
    }
    rtl_snapshot_free(&s);
    rtl_merge_free(m);
    free(g);
}

/* A user with a limit can't use up the ids, even by starting and ending processes. */
static void a_limited_users_names_leave_ids_for_others(void **state)
{
    (void)state;
    enum { PROCESSES = 6, OTHERS = 2000 };
    struct rtl_merge *m = rtl_merge_create();
    struct rtl_snapshot s;
    uint32_t named = 0;
    for (int i = 0; i <= PROCESSES; i++) {
        struct greedy *g = greedy(i, i < PROCESSES ? GREEDY : OTHERS);
        const struct rtl_member_info info = {.pid = 1 + i, .rank = -1, .owner = i < PROCESSES ? 5 : 6};
        uint32_t number = rtl_merge_join(m, &info);
        assert_true(rtl_merge_update(m, number, &g->snapshot));
        assert_true(rtl_merge_memory(m, number) > 0);
        if (i < PROCESSES)
            rtl_merge_drop(m, number);
        assert_true((rtl_merge_memory(m, number) > 0) == (i == PROCESSES));
        free(g);
    }
    assert_true(rtl_merge_make(m, SYNTH_START, &s));
    for (uint32_t i = 0; i < s.kernel_count; i++)
        named += strstr(s.kernels[i].name, "of 6") != NULL;
    assert_int_equal(named, OTHERS);
    assert_in_range(s.kernel_count - named, RTL_KERNELS_MAX / 2 - 256, RTL_KERNELS_MAX / 2);
    rtl_snapshot_free(&s);
    rtl_merge_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_processes_share_memory_fairly),
        cmocka_unit_test(ids_are_reserved_for_later_processes),
        cmocka_unit_test(a_limited_users_names_leave_ids_for_others),
        cmocka_unit_test(name_memory_is_reserved_for_later_processes),
        cmocka_unit_test(parts_are_unpacked_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
