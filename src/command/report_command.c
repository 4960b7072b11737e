/*
 * rtl-top report: prints text to attach to a question: versions, the system, GPUs, and for each traced process the
 * runtime, queues with their path, notes, untimed dispatches and kernels.
 *
 * The report has no private data: no names of users or machines, no command lines, no paths; kernel names as hashes
 * unless --names is given.
 */
#include "base/version.h"
#include "model/labels.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "launch/runtime_release.h"
#include "shm/gpu_names.h"
#include "shm/hash.h"
#include "stats/quantile.h"
#include "text/names.h"
#include "text/text.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { LINE = 512, NODES = 64, INSTALLED = 16 };

struct report_request {
    pid_t pid; /* 0 = all */
    bool names;
};

/* Reads the value after `word` ("": none) at the start of a line of a file, without quotes, escaped; "" when absent. */
static void read_value(const char *path, const char *word, char *out, size_t size)
{
    char bytes[LINE];
    FILE *file = fopen(path, "re");
    *out = '\0';
    while (file && !*out && fgets(bytes, sizeof bytes, file)) {
        size_t length = strlen(word);
        if (strncmp(bytes, word, length) != 0)
            continue;
        const char *value = bytes + length + strspn(bytes + length, " =\"");
        rtl_text_escape(out, size, value, strcspn(value, "\"\n"));
    }
    if (file)
        fclose(file);
}

static const char *or_none(const char *text)
{
    return *text ? text : "-";
}

/* Prints every ROCm in the usual folders and in the active virtual environment. */
static void print_installed(void)
{
#define WHEEL "/lib/python3*/*-packages/rocm_sdk_core-*"
    const char *environment = getenv("VIRTUAL_ENV");
    const char *const places[][3] = {{"", "/opt/rocm/.info/version", "/opt/rocm"},
                                     {"", "/opt/rocm/core-*/.info/version", "/opt/rocm/core-*"},
                                     {"", "/opt/rocm-*/.info/version", "/opt/rocm-*"},
                                     {"/usr", WHEEL, "Python wheel"},
                                     {"/usr/local", WHEEL, "Python wheel"},
                                     {"/opt/*", WHEEL, "Python wheel"},
                                     {environment ? environment : "/none", WHEEL, "Python wheel"}};
    unsigned found = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char pattern[PATH_MAX], version[RTL_VERSION_MAX];
        glob_t all = {0};
        snprintf(pattern, sizeof pattern, "%s%s", places[i][0], places[i][1]);
        for (size_t at = 0; (at || !glob(pattern, 0, NULL, &all)) && at < all.gl_pathc && found < INSTALLED; at++)
            if (rtl_version_of_wheel(strrchr(all.gl_pathv[at], '/') + 1, version) ||
                rtl_version_file(0, all.gl_pathv[at], version))
                printf("%s%s (%s)", found++ ? ", " : "", version, places[i][2]);
        globfree(&all);
    }
    printf("%s\n", found ? "" : "-");
#undef WHEEL
}

static void print_system(void)
{
    char release[LINE], driver[LINE];
    struct utsname u;
    read_value("/etc/os-release", "PRETTY_NAME", release, sizeof release);
    read_value("/sys/module/amdgpu/version", "", driver, sizeof driver);
    printf("rtl-top %s, runtimes it was tested on: %s\n", RTL_VERSION, RTL_RELEASES_TESTED);
    if (!uname(&u))
        printf("system: %s %s %s, %s\n", u.sysname, u.release, u.machine, or_none(release));
    printf("driver: amdgpu %s; ROCm installed: ", or_none(driver));
    print_installed();
    for (int i = 0; i < NODES; i++) {
        char path[128], target[64], simds[64], location[64], firmware[64];
        snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%d/properties", i);
        read_value(path, "gfx_target_version", target, sizeof target);
        read_value(path, "simd_count", simds, sizeof simds);
        read_value(path, "location_id", location, sizeof location);
        read_value(path, "fw_version", firmware, sizeof firmware);
        if (*target && strcmp(target, "0") != 0)
            printf("GPU node %d: gfx_target_version %s, %s SIMDs, location %s, firmware %s\n", i, target,
                   or_none(simds), or_none(location), or_none(firmware));
    }
}

/* Prints the release of the runtime that the process has loaded, and that of /opt/rocm below the process's root. */
static void print_runtime(pid_t pid)
{
    char rocm[RTL_VERSION_MAX];
    struct rtl_runtime_release release = {.name = ""};
    rtl_runtime_release_loaded(pid, &release);
    rtl_version_file(pid, "opt/rocm/.info/version", rocm);
    printf("  runtime loaded: %s; ROCm there: %s\n", or_none(release.name), or_none(rocm));
}

static void print_queues(const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->agent_count; i++) {
        const struct rtl_agent_snapshot *a = &s->agents[i];
        printf("  %s %s: %" PRIu32 " CUs, %" PRIu64 " Hz, busy %" PRIu64 " ns, clock off by %" PRIu64
               " ns at most, its rate by %s ppm\n",
               rtl_gpu_name(a->gpu, a->bdf).text, a->name, a->compute_units, a->tick_hz, a->busy_ns,
               a->clock_residual_most_ns, a->clock_drift_over_ns ? rtl_format_ppb(a->clock_drift_ppb).text : RTL_NONE);
    }
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i];
        const char *way = rtl_queue_path_key(q->path), *why = rtl_path_reason_key(q->path_reason);
        printf("  queue in slot %" PRIu32 " of G%" PRIu32 ": %s, way %s (%s), %" PRIu32 " packets, dispatches %" PRIu64
               ", in flight %" PRIu64 "\n",
               q->slot, q->gpu,
               q->shared ? "shared"
               : q->live ? "live"
                         : "destroyed",
               way ? way : "-", why ? why : "-", q->size_packets, q->dispatches, q->depth);
    }
}

static void print_counts(const struct rtl_snapshot *s)
{
    printf("  dispatches: counted %" PRIu64 ", timed %" PRIu64 ", not timed %" PRIu64 "\n", s->counted, s->timed,
           s->untimed_total);
#define REASON(sym, num, key, text, writer) \
    if (s->untimed[RTL_UNTIMED_##sym])      \
        printf("    %s %" PRIu64 "\n", key, s->untimed[RTL_UNTIMED_##sym]);
    RTL_UNTIMED_REASONS(REASON)
#undef REASON
#define NOTE(sym, bit, key, text)  \
    if (s->notes & RTL_NOTE_##sym) \
        printf("  note %s: %s\n", key, text);
    RTL_NOTES(NOTE)
#undef NOTE
    printf("  signals: %" PRIu64 " created, %" PRIu64 " in use, %" PRIu64 " at most, limit %" PRIu64 "\n",
           s->signals_created, s->signals_in_use, s->signals_peak, s->signals_limit);
    for (uint32_t i = 0; i < s->copies_count; i++)
        printf("  copies G%" PRIu32 " direction %" PRIu32 ": %" PRIu64 ", %" PRIu64 " bytes, timed %" PRIu64 "\n",
               s->copies[i].gpu, s->copies[i].direction, s->copies[i].count, s->copies[i].bytes,
               s->copies[i].histogram.count);
}

static void print_kernels(const struct rtl_snapshot *s, bool names)
{
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        char *full = rtl_name_full(k->name, k->name_length), *plain = names && full ? full : NULL;
        uint64_t at[2];
        rtl_p50_p99(&k->histogram, at);
        printf("  kernel %016" PRIx64 " %s: calls %" PRIu64 ", timed %" PRIu64 ", total %" PRIu64 " ns, p50 %" PRIu64
               ", p99 %" PRIu64 ", max %" PRIu64 "%s%s\n",
               rtl_hash(k->name, k->name_length), full ? rtl_name_family_name(rtl_name_family(k->name, full)) : "other",
               k->calls, k->histogram.count, k->histogram.total_ns, at[0], at[1],
               k->histogram.count ? k->histogram.max_ns : 0, plain ? " " : "", plain ? plain : "");
        free(full);
    }
}

/* Returns 0, or an exit status with a line in `why` if the process can't be read. */
static int print_process(pid_t pid, bool names, char *why, size_t why_bytes)
{
    struct rtl_reader *reader;
    struct rtl_snapshot s = {0};
    int status = (int)rtl_reader_open(pid, &reader, why, why_bytes);
    if (status)
        return status;
    status = (int)rtl_reader_snapshot(reader, &s);
    if (status) {
        snprintf(why, why_bytes, "the segment of process %d is damaged, or there is no memory", (int)pid);
    } else {
        printf("process %d: librtl.so %s, mode %s (started with %s), HSA tables %" PRIu32 ".%" PRIu32
               ", seals %#" PRIx32 ", watched for %" PRIu64 " s\n",
               (int)pid, or_none(s.library_version), rtl_mode_label(s.mode), rtl_mode_label(s.mode_started),
               s.runtime_major, s.runtime_minor, s.seals, (s.taken_mono_ns - s.start_mono_ns) / 1000000000);
        print_runtime(pid);
        print_queues(&s);
        print_counts(&s);
        print_kernels(&s, names);
    }
    rtl_snapshot_free(&s);
    rtl_reader_close(reader);
    return status;
}

static int parse_report(struct report_request *request, int argc, char **argv)
{
    const struct rtl_own_value own[RTL_REPORT_OWN_COUNT] = {
        [RTL_REPORT_PID] = {.pid = &request->pid},
        [RTL_REPORT_NAMES] = {.flag = &request->names},
    };
    struct rtl_arguments a;
    int status = rtl_arguments_read(&a, RTL_COMMAND_REPORT, false, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (a.first < argc)
        return RTL_WRONG("rtl-top report takes no '%s'", argv[a.first]);
    return RTL_GO_ON;
}

int rtl_report_command(int argc, char **argv)
{
    struct report_request request = {0};
    char why[512];
    pid_t *pids = NULL;
    int status = parse_report(&request, argc, argv), count = 0, one;
    if (status != RTL_GO_ON)
        return status;
    status = 0;
    print_system();
    if (request.pid) {
        if ((status = print_process(request.pid, request.names, why, sizeof why)))
            rtl_complain("%s", why);
    } else {
        count = rtl_discover(&pids);
        for (int i = 0; i < count; i++)
            if ((one = print_process(pids[i], request.names, why, sizeof why)))
                printf("process %d: not read, status %d\n", (int)pids[i], one);
        if (count <= 0)
            printf("no traced process that may be seen\n");
        free(pids);
    }
    return rtl_exit_status(status);
}
