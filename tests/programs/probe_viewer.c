/*
 * probe_viewer.c - a viewer that probes one kernel of a process and prints the library's answers.
 *
 * probe_viewer PID KERNEL [every=N] [wanted=N] [cycles=N] [agent=N] [nth=N] [for=SECONDS] [file=FILE] [wrong=WHAT]
 * [leave]
 *
 * file: the kernel's code object, if it cannot be found in the process; nth: which of the code objects that have the
 * kernel (default: the last); cycles: how often to arm and disarm; for: time limit; leave: exit without disarming once
 * a dispatch was recorded. wrong: hash, code, object, agent, every, short, shift. Output lines are "name value". Exit
 * status 0 if the probe came to its end, with any result.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/debug_list.h"
#include "observe/kernel_code.h"
#include "probe/patch.h"
#include "shm/probe_client.h"
#include "shm/reader_private.h"

static struct {
    const char *kernel, *wrong, *file;
    uint64_t every, wanted, cycles, agent, nth, seconds;
    bool leave;
    void *code;
    size_t bytes;
    uint64_t object, found;
    uint64_t until;
} w = {.every = 1, .cycles = 1, .nth = UINT64_MAX, .seconds = 60, .wrong = ""};

static struct rtl_reader *reader;
static struct rtl_probe_link page;
static struct rtl_probe_state probe_state;

static const char *const phases[] = {
#define NAME(sym, num, json, text) [num] = json,
    RTL_PROBE_PHASES(NAME)};
static const char *const whys[] = {RTL_PROBE_ENDS_WHY(NAME)};
#undef NAME

static bool use_code(void *context, const struct rtl_kernel_code *code)
{
    (void)context;
    if (code->object == probe_state.probed_object)
        return true; /* a probe's copy, still loaded under the kernel's name, is skipped */
    if (w.nth != UINT64_MAX && w.found++ != w.nth)
        return true;
    free(w.code);
    w.code = malloc(code->size);
    memcpy(w.code, code->bytes, code->size);
    w.bytes = code->size;
    w.object = code->object;
    return true;
}

/* Read the named file, and find the kernel object in the segment. */
static bool find_file(void)
{
    FILE *in = fopen(w.file, "rb");
    struct rtl_kernel row;
    if (!w.code && in) {
        w.code = malloc(RTL_PROBE_CODE_MAX);
        w.bytes = fread(w.code, 1, RTL_PROBE_CODE_MAX, in);
    }
    if (in)
        fclose(in);
    for (uint32_t i = RTL_KERNEL_FIRST; i < reader->kernels; i++) {
        const char *name = rtl_reader_kernel_name(reader, i);
        if (!name)
            break;
        if (strcmp(name, w.kernel) == 0 && rtl_fetch_entry(reader, RTL_SECTION_KERNELS, i, 0, &row, sizeof row))
            w.object = row.kernel_object;
    }
    return w.object != 0;
}

static bool find_code(pid_t pid)
{
    if (w.file)
        return find_file();
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    char path[64];
    if (rtl_target_memory_open(pid, &memory) || rtl_mappings_read(pid, &mappings))
        return false;
    struct rtl_debug_lists lists;
    bool has_lists = rtl_debug_lists_find(&memory, &mappings, &lists);
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int files = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (has_lists)
        rtl_kernel_code_find(&memory, &lists, files, w.kernel, use_code, NULL);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    return w.code != NULL;
}

static bool is_wrong(const char *what)
{
    return strcmp(w.wrong, what) == 0;
}

static void beat_once(void)
{
    static uint64_t last;
    struct timespec moment = {0, 5000000};
    uint64_t now = rtl_mono_ns();
    if (now - last > 500000000)
        rtl_probe_heartbeat(&page);
    last = now - last > 500000000 ? now : last;
    nanosleep(&moment, NULL);
    rtl_reader_probe(reader, &probe_state);
    if (now > w.until || !rtl_reader_alive(reader)) {
        printf("gave_up %s\n", now > w.until ? "time" : "gone");
        exit(3);
    }
}

static void await_answer(uint16_t number)
{
    while (probe_state.number != number)
        beat_once();
}

static void print_state(void)
{
    printf("phase %s\nwhy %s\nstatus 0x%" PRIx32 "\n", phases[probe_state.phase], whys[probe_state.why],
           probe_state.status);
    printf("kernel %s\n", rtl_reader_kernel_name(reader, probe_state.kernel)
                              ? rtl_reader_kernel_name(reader, probe_state.kernel)
                              : "?");
    printf("dispatches %" PRIu64 "\nprobed %" PRIu64 "\nrecorded %" PRIu64 "\n", probe_state.dispatches,
           probe_state.probed, probe_state.recorded);
    printf("waves %" PRIu64 "\nwaves_expected %" PRIu64 "\nsum %" PRIu64 "\nmin %" PRIu64 "\nmax %" PRIu64 "\n",
           probe_state.waves, probe_state.waves_expected, probe_state.sum, probe_state.min, probe_state.max);
    uint64_t durations = 0, busy = 0, tails = 0;
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++)
        durations += probe_state.durations[i], tails += probe_state.tail_ns[i];
    for (int i = 0; i < RTL_PROBE_UNITS; i++)
        busy += probe_state.busy[i];
    printf("durations %" PRIu64 "\nbusy %" PRIu64 "\ntails %" PRIu64 "\ntails_counted %" PRIu64 "\n", durations, busy,
           probe_state.tails, tails);
    printf("duration_total_ns %" PRIu64 "\nduration_min_ns %" PRIu64 "\nduration_max_ns %" PRIu64 "\n",
           probe_state.duration_total_ns, probe_state.duration_min_ns, probe_state.duration_max_ns);
    printf("tail_total_ns %" PRIu64 "\ntail_max_ns %" PRIu64 "\ntail_step_ns %" PRIu64 "\ncode_bytes %" PRIu32
           "\ncode_hash %016" PRIx64 "\n",
           probe_state.tail_total_ns, probe_state.tail_max_ns, probe_state.tail_step_ns, probe_state.code_bytes,
           probe_state.code_hash);
}

/* One cycle: prepare, arm, and disarm if necessary. */
static void probe_once(bool last)
{
    struct rtl_probe_patch patch;
    await_answer(rtl_probe_prepare(reader, &page, is_wrong("object") ? w.object + 8 : w.object,
                                   is_wrong("agent") ? 63 : (uint32_t)w.agent));
    if (probe_state.phase != RTL_PROBE_PHASE_PREPARED)
        return;
    struct rtl_probe_order order = {.code = w.code,
                                    .bytes = w.bytes,
                                    .kernel = w.kernel,
                                    .object = w.object,
                                    .block = probe_state.block,
                                    .ends_shift = 4};
    enum rtl_probe_refusal refusal = rtl_probe_patch(&order, &patch);
    if (refusal) {
        printf("refused %s\n", rtl_probe_refusal_text(refusal));
        exit(4);
    }
    struct rtl_probe_request request = {.kernel_object = w.object,
                                        .agent = (uint32_t)w.agent,
                                        .wanted = w.wanted,
                                        .every = is_wrong("every") ? 0 : (uint32_t)w.every,
                                        .ends_shift = is_wrong("shift") ? 64 : 4};
    if (is_wrong("code"))
        memset(patch.code, 0, patch.bytes);
    if (is_wrong("short"))
        patch.bytes /= 2;
    uint16_t number = rtl_probe_arm(reader, &page, probe_state.number, &request, patch.code, patch.bytes);
    if (is_wrong("hash")) {
        page.page->request.code_hash++;
        page.page->request.proof =
            rtl_probe_proof(&page.key, &page.page->request, RTL_PROBE_ASK_ARM, probe_state.accepted, patch.code);
        number = (uint16_t)(number + 1);
        __atomic_store_n(&page.page->word,
                         rtl_probe_encode((struct rtl_probe_word){.number = number, .ask = RTL_PROBE_ASK_ARM}),
                         __ATOMIC_RELEASE);
    }
    await_answer(number);
    rtl_probe_patch_free(&patch);
    while (probe_state.phase == RTL_PROBE_PHASE_ARMED && (w.wanted || w.cycles == 1 || !last)) {
        if (w.leave && probe_state.recorded)
            _exit(0);
        if (w.cycles > 1 && !w.wanted)
            break;
        beat_once();
    }
    if (probe_state.phase == RTL_PROBE_PHASE_ARMED)
        await_answer(rtl_probe_disarm(reader, &page));
    while (probe_state.phase != RTL_PROBE_PHASE_OVER)
        beat_once();
}

static void read_argument(const char *argument)
{
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {{"every=", &w.every}, {"wanted=", &w.wanted}, {"cycles=", &w.cycles},
                   {"agent=", &w.agent}, {"nth=", &w.nth},       {"for=", &w.seconds}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strncmp(argument, numbers[i].name, strlen(numbers[i].name)) == 0)
            *numbers[i].value = strtoull(argument + strlen(numbers[i].name), NULL, 0);
    if (strncmp(argument, "wrong=", 6) == 0)
        w.wrong = argument + 6;
    if (strncmp(argument, "file=", 5) == 0)
        w.file = argument + 5;
    w.leave |= strcmp(argument, "leave") == 0;
}

int main(int argc, char **argv)
{
    char why[300];
    if (argc < 3) {
        fprintf(stderr, "usage: probe_viewer PID KERNEL [NAME=VALUE]... [leave]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t pid = (pid_t)strtol(argv[1], NULL, 10);
    w.kernel = argv[2];
    for (int i = 3; i < argc; i++)
        read_argument(argv[i]);
    w.until = rtl_mono_ns() + w.seconds * 1000000000ull;
    enum rtl_reader_status status = rtl_reader_open(pid, &reader, why, sizeof why);
    if (status == RTL_READER_OK)
        status = rtl_probe_open(reader, &page, why, sizeof why);
    if (status != RTL_READER_OK) {
        printf("error %d %s\n", (int)status, why);
        return 2;
    }
    do
        beat_once();
    while (!find_code(pid));
    for (uint64_t i = 0; i < w.cycles; i++)
        probe_once(i + 1 == w.cycles);
    print_state();
    return 0;
}
