/*
 * libFuzzer target: several processes merged into one, from wrong snapshots: counters that go back, the same name in
 * many rows, octaves that are duplicate, unordered or beyond the last, GPUs with the same or no address, queues and
 * copies of absent GPUs, processes that start, end and start again. The merge must be well formed. The target draws and
 * compares everything.
 *
 * The input: steps, each a byte that selects the event, and its numbers.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=2048
 */
#include "fuzz.h"

#include "model/merge.h"
#include "model/model.h"
#include "model/cells.h"
#include "model/ranks.h"
#include "watch/proc_scan.h"

enum { KERNELS = 6, OCTAVES = 4, AGENTS = 4, QUEUES = 3, COPIES = 3 };

struct storage {
    struct rtl_kernel_snapshot kernels[KERNELS];
    struct rtl_octave octaves[KERNELS + QUEUES + COPIES][OCTAVES];
    uint64_t coarse[RTL_OCTAVES_MAX];
    struct rtl_agent_snapshot agents[AGENTS];
    struct rtl_queue_snapshot queues[QUEUES];
    struct rtl_copies_snapshot copies[COPIES];
};

static struct rtl_histogram_copy histogram(struct fuzz_input *in, struct storage *s, int place)
{
    struct rtl_histogram_copy h = {.octaves = s->octaves[place], .octave_count = fuzz_take(in, 1) % (OCTAVES + 1)};
    h.count = fuzz_take(in, 1) & 1 ? fuzz_take(in, 8) : fuzz_take(in, 1);
    h.total_ns = fuzz_take(in, 4);
    h.min_ns = fuzz_take(in, 2);
    h.max_ns = fuzz_take(in, 4);
    for (uint32_t o = 0; o < h.octave_count; o++) {
        s->octaves[place][o].octave = (uint8_t)fuzz_take(in, 1);
        s->octaves[place][o].bucket[fuzz_take(in, 1) % RTL_CHUNK_BUCKETS] = fuzz_take(in, 2);
    }
    if (h.count % 7 == 3)
        h.coarse = s->coarse;
    return h;
}

static void take(struct fuzz_input *in, struct rtl_merge *merge, uint32_t number, bool adopt)
{
    static const char *const names[] = {"gemm", "ncclDevKernel_Generic", "", "(other kernels)", "norm", "x"};
    static struct storage s;
    memset(&s, 0, sizeof s);
    struct rtl_snapshot snapshot = {.kernels = s.kernels, .queues = s.queues, .agents = s.agents, .copies = s.copies};
    snapshot.kernel_count = fuzz_take(in, 1) % (KERNELS + 1);
    snapshot.queue_count = fuzz_take(in, 1) % (QUEUES + 1);
    snapshot.agent_count = fuzz_take(in, 1) % (AGENTS + 1);
    snapshot.copies_count = fuzz_take(in, 1) % (COPIES + 1);
    snapshot.mode = (uint32_t)fuzz_take(in, 1);
    snapshot.counted = fuzz_take(in, 2);
    snapshot.start_mono_ns = fuzz_take(in, 2);
    for (uint32_t i = 0; i < snapshot.kernel_count; i++) {
        struct rtl_kernel_snapshot *k = &s.kernels[i];
        uint64_t id = fuzz_take(in, 2);
        k->id = id > 60000 ? RTL_KERNELS_MAX + (uint32_t)id : (uint32_t)(id % 40);
        k->name = names[fuzz_take(in, 1) % (sizeof names / sizeof *names)];
        k->name_length = strlen(k->name);
        k->calls = fuzz_take(in, 2);
        k->histogram = histogram(in, &s, (int)i);
    }
    for (uint32_t i = 0; i < snapshot.agent_count; i++) {
        s.agents[i].gpu = (uint32_t)fuzz_take(in, 1) % 80;
        s.agents[i].bdf = fuzz_take(in, 1) & 1 ? UINT32_MAX : (uint32_t)fuzz_take(in, 1);
        s.agents[i].uuid[0] = (char)(fuzz_take(in, 1) & 3 ? 0 : 'G');
        s.agents[i].busy_ns = fuzz_take(in, 4);
    }
    for (uint32_t i = 0; i < snapshot.queue_count; i++) {
        s.queues[i].slot = (uint32_t)fuzz_take(in, 2);
        s.queues[i].gpu = (uint32_t)fuzz_take(in, 1);
        s.queues[i].live = true;
        s.queues[i].wait = histogram(in, &s, KERNELS + (int)i);
    }
    for (uint32_t i = 0; i < snapshot.copies_count; i++) {
        s.copies[i].gpu = (uint32_t)fuzz_take(in, 1);
        s.copies[i].direction = (uint32_t)fuzz_take(in, 1) % 6;
        s.copies[i].histogram = histogram(in, &s, KERNELS + QUEUES + (int)i);
    }
    if (adopt)
        rtl_merge_adopt(merge, number, &snapshot);
    else
        rtl_merge_update(merge, number, &snapshot);
}

/* Checks the invariants that readers of a snapshot rely on. */
static void is_well_formed(const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        const struct rtl_group *group = rtl_group_of(s, k);
        uint64_t calls = 0, count = 0;
        MUST(k->id < RTL_KERNELS_MAX && (!i || s->kernels[i - 1].id < k->id));
        MUST(k->name && strlen(k->name) == k->name_length && group && group->count);
        for (uint32_t p = 0; p < group->count; p++) {
            calls += group->parts[p]->kernel.calls;
            count += group->parts[p]->kernel.histogram.count;
            MUST(group->parts[p]->kernel.id == k->id);
            if (p)
                MUST(group->parts[p - 1]->member < group->parts[p]->member ||
                     group->parts[p - 1]->row < group->parts[p]->row);
        }
        MUST(calls == k->calls && count == k->histogram.count);
        for (uint32_t o = 0; o < k->histogram.octave_count; o++)
            MUST(k->histogram.octaves[o].octave < RTL_OCTAVES_MAX &&
                 (!o || k->histogram.octaves[o - 1].octave < k->histogram.octaves[o].octave));
    }
    for (uint32_t i = 0; i < s->agent_count; i++)
        MUST(s->agents[i].gpu < RTL_AGENTS_MAX && (!i || s->agents[i - 1].gpu < s->agents[i].gpu));
    for (uint32_t i = 0; i < s->queue_count; i++)
        MUST(s->queues[i].gpu < RTL_AGENTS_MAX);
    MUST(s->copies_count <= RTL_COPIES_MAX);
    for (uint32_t i = 1; i < s->parts->member_count; i++)
        MUST(s->parts->members[i - 1].number < s->parts->members[i].number);
    for (uint32_t i = 0; i < s->parts->member_count; i++)
        for (uint32_t j = 0; j <= i; j++)
            MUST(i == j ? *s->parts->members[i].name &&
                              strnlen(s->parts->members[i].name, RTL_MEMBER_LABEL) < RTL_MEMBER_LABEL
                        : strcmp(s->parts->members[i].name, s->parts->members[j].name) != 0);
}

/* Runs all functions that compare processes. */
static void compare(struct rtl_model *m)
{
    static struct rtl_rank ranks[RTL_MEMBERS_MAX];
    static struct rtl_process_row rows[RTL_MEMBERS_MAX];
    char text[64];
    for (uint32_t r = 0; r < m->row_count; r++) {
        MUST(rtl_ranks(m, &m->rows[r], true, ranks, RTL_MEMBERS_MAX) <= RTL_MEMBERS_MAX);
        rtl_slowest_text(m, &m->rows[r], text, sizeof text);
        rtl_slowest_value(m, &m->rows[r]);
    }
    uint32_t count = rtl_process_rows(m, rows, RTL_MEMBERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_process_cells cells;
        rtl_process_cells(m, &rows[i], RTL_UNIT_AUTO, 1, &cells);
    }
}

/* The environment and arguments of another process. */
static void read_rank(const uint8_t *data, size_t size)
{
    struct rtl_member_info info;
    size_t half = size / 2;
    char *bytes = malloc(size + 1), container[20];
    MUST(bytes);
    memcpy(bytes, data, size);
    bytes[size] = 0;
    rtl_container_from(bytes, container, sizeof container);
    const struct rtl_proc_text arguments = {bytes, half}, environment = {bytes + half, size - half};
    rtl_rank_from(&arguments, &environment, &info);
    MUST(strlen(info.label) < sizeof info.label && info.rank >= -1);
    free(bytes);
}

/* Facts about a process, with a label as rtl-top writes it, or with any bytes, as in a damaged recording. */
static struct rtl_member_info take_info(struct fuzz_input *in)
{
    static const char *const labels[] = {"", "R0", "TP0", "DP0_TP0", "DP1_TP0", "DP1_TP1_EP3", "D0", "PP1_TP0"};
    struct rtl_member_info info = {.pid = 1, .rank = -1};
    uint8_t choice = (uint8_t)fuzz_take(in, 1);
    info.pid += choice >> 5;
    snprintf(info.label, sizeof info.label, "%s", labels[choice & 7]);
    for (size_t i = 0; choice & 8 && i < sizeof info.label - 1; i++)
        info.label[i] = (char)fuzz_take(in, 1);
    return info;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct rtl_merge *merge = rtl_merge_create();
    struct rtl_model *model = rtl_model_create();
    uint32_t joined = 0;
    uint64_t at = 0;
    read_rank(data, size);
    MUST(merge && model);
    while (in.left) {
        uint8_t step = (uint8_t)fuzz_take(&in, 1);
        uint32_t number = joined ? (uint32_t)(step >> 3) % joined : 0;
        struct rtl_snapshot s;
        switch (step & 7) {
        case 0: {
            struct rtl_member_info info = take_info(&in);
            for (uint32_t i = 0; i < (step & 8 ? 40u : 1u); i++) /* more than the merge keeps after their end */
                if (rtl_merge_join(merge, &info) != RTL_MEMBER_GONE)
                    joined++;
            break;
        }
        case 1:
            rtl_merge_leave(merge, number);
            break;
        case 2:
            take(&in, merge, number, joined == 1 && !at);
            break;
        case 3:
            if (rtl_merge_make(merge, ++at * 1000000000ull, &s)) {
                is_well_formed(&s);
                MUST(rtl_model_add(model, &s, at));
                compare(model);
            }
            break;
        default:
            take(&in, merge, number, false);
        }
    }
    rtl_model_free(model);
    rtl_merge_free(merge);
    return 0;
}
