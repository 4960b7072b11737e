/*
 * libFuzzer target: any state of a probe in a process's segment. Reading it is bounded. The viewer finishes after
 * bounded time, withdraws its request, and has a reason. Figures from such numbers stay within bounds.
 *
 * The input: steps, each a change of the state and how the viewer polls it.
 *
 * fuzz: -timeout=5 -rss_limit_mb=512 -max_len=2048
 */
#include <unistd.h>

#include "fuzz.h"
#include "model/probe_figures.h"
#include "probing/probe_plan.h"
#include "shm/probe_client.h"
#include "shm/reader_private.h"
#include "shm/segment_writer.h"

static struct rtl_segment segment;
static struct rtl_reader *reader;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .control = true, .probe = true};
    char why[200];
    (void)argc;
    (void)argv;
    MUST(rtl_segment_create(&segment, &config, why, sizeof why) == 0 && segment.probe);
    MUST(rtl_reader_open_fd(dup(segment.fd), &reader, why, sizeof why) == RTL_READER_OK);
    return 0;
}

/* Checks the invariants of figures, for any numbers. */
static void judge(const struct rtl_probe_state *s)
{
    struct rtl_probe_figures f;
    rtl_probe_figures(s, &f);
    MUST(f.p50.low <= f.p50.high && f.p99.low <= f.p99.high && f.tail_p50.low <= f.tail_p50.high);
    MUST(f.units <= rtl_probe_units(s) && f.hottest_count <= RTL_PROBE_HOTTEST);
    MUST(f.units == 0 ? f.hottest_count == 0 : f.imbalance > 0.999 && f.imbalance <= RTL_PROBE_UNITS_ALL);
    MUST(f.dies.busy == 0 || (f.dies.imbalance > 0.999 && f.dies.imbalance <= RTL_PROBE_DIES));
    MUST(f.dies.busy <= RTL_PROBE_DIES && (f.dies.there || !f.dies.busy) && s->dies <= RTL_PROBE_DIES);
    for (uint32_t i = 1; i < f.hottest_count; i++)
        MUST(f.hottest[i - 1].cycles >= f.hottest[i].cycles);
    MUST(f.first >= 0 && f.last < RTL_PROBE_DURATIONS);
    MUST(f.gap_share >= 0 && f.gap_share <= 1 && f.gap_p50.low <= f.gap_p99.high);
    MUST(strlen(rtl_probe_cycles_text(f.p99).text) > 0 && rtl_probe_slower(&f, s->recorded) >= 0);
}

/* Changes the state as the library would, or changes any word of it. */
static void change(struct fuzz_input *in, uint16_t number)
{
    uint8_t how = (uint8_t)fuzz_take(in, 1);
    uint64_t *words = (uint64_t *)(void *)segment.probe;
    if (how & 1)
        words[fuzz_take(in, 2) % (sizeof *segment.probe / 8)] = fuzz_take(in, how & 2 ? 8 : 1);
    if (how & 4)
        segment.probe->number = number;
    if (how & 8) {
        segment.probe->phase = (uint8_t)(fuzz_take(in, 1) % (RTL_PROBE_PHASE_COUNT + 1));
        segment.probe->why = (uint8_t)(fuzz_take(in, 1) % (RTL_PROBE_WHY_COUNT + 1));
    }
    if (how & 16) {
        segment.probe->kernel_object = 0x1000;
        segment.probe->agent = 1;
        segment.probe->block = 0x7000;
    }
    if (how & 32)
        segment.probe->dispatches += fuzz_take(in, 1);
    if (!(how & 64))
        segment.probe->sequence &= ~1u;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct rtl_probe_plan p;
    struct rtl_probe_state state;
    char text[300];
    uint64_t now = 1000000000000ull, first = now;
    uint16_t number = (uint16_t)fuzz_take(&in, 2);
    bool asked = false, taken_back = true;
    memset(segment.probe, 0, sizeof *segment.probe);
    const struct rtl_probe_plan_targets plan = {.target = {{0x1000, 1}, {0x2000, 2}},
                                                .targets = (uint32_t)fuzz_take(&in, 1) % 3,
                                                .every = 10,
                                                .wanted = fuzz_take(&in, 1),
                                                .total_ns = 60000000000ull};
    rtl_probe_plan_begin(&p, &plan, now);
    while (p.stage != RTL_PROBING_AT_END) {
        bool more = in.left > 0;
        if (more)
            change(&in, number);
        uint8_t how = (uint8_t)fuzz_take(&in, 1);
        bool read = rtl_reader_probe(reader, &state);
        if (read) {
            MUST(state.phase < RTL_PROBE_PHASE_COUNT && state.why < RTL_PROBE_WHY_COUNT);
            MUST(state.recorded <= state.probed && state.probed <= state.dispatches && state.tails <= state.recorded);
            judge(&state);
        }
        struct rtl_probe_plan_seen seen = {
            .alive = how != 255, .state = read ? &state : NULL, .heartbeat = how, .beats = how & 1};
        switch (rtl_probe_plan_step(&p, &seen, now)) {
        case RTL_PROBING_DO_ASK:
            asked = true;
            taken_back = p.ask == RTL_PROBE_ASK_DISARM;
            rtl_probe_plan_asked(&p, ++number, now);
            break;
        case RTL_PROBING_DO_PATCH:
            MUST(p.state.block && p.state.kernel_object == plan.target[p.target].kernel_object);
            rtl_probe_plan_patched(&p, how & 2 ? RTL_PROBE_NONE : RTL_PROBE_CALL, 1, how & 2 ? 100 : 0, now);
            break;
        default:
            break;
        }
        MUST(!rtl_probe_plan_holds(&p) || asked);
        if (how == 254)
            rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
        now += more ? (uint64_t)how * 10000000 : 1000000000;
        MUST(now - first < plan.total_ns + 20 * 1000000000ull + size * 2550000000ull);
    }
    /* a request that was not withdrawn is over, another viewer's, or gone with its process */
    MUST(taken_back || p.disarmed);
    rtl_probe_plan_text(&p, text, sizeof text);
    MUST(*text && !strchr(text, '\n') && *rtl_probe_plan_word(&p));
    return 0;
}
