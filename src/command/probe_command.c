/* rtl-top probe: some dispatches of a kernel run a copy of it that records how long its waves take. */
#include "base/clock.h"
#include "base/version.h"
#include "command/probe_report.h"
#include "command/run.h"
#include "record/db.h"
#include "record/process_info.h"
#include "shm/control_client.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "watch/group_recorder.h"
#include "watch/kernel_choice.h"
#include "probing/probe_rounds.h"
#include "watch/proc_scan.h"
#include "stats/quantile.h"

#include <langinfo.h>
#include <string.h>
#include <time.h>

enum { STEP_NS = 20000000, RATE_STEPS = 25 }; /* pause between steps; steps that measure the rate: half a second */

struct probe_job {
    struct rtl_options options; /* units, ascii */
    pid_t pid;
    const char *name, *keep_folder, *write;
    uint64_t wanted, every, timeout_ns;
    int gpu;
    bool stalls, json, force;
    struct rtl_reader *reader;
    struct rtl_control_link control;
    struct rtl_names *names;
    struct rtl_probe_session *own_session; /* without `stalls` */
    struct rtl_probe_rounds *rounds;       /* with `stalls` */
    struct rtl_probe_keep keep;
    struct rtl_snapshot before; /* taken before the probe */
    const struct rtl_kernel_snapshot *kernel;
    /* describe the process; copied, since it may exit before the report */
    char title[160];
    struct rtl_recording_info described;
    struct rtl_proc_member_info process;
    struct rtl_probe_report report;
    int status; /* how the last session ended, as report.ended and `why` */
    char why[640];
};

static volatile sig_atomic_t stop_signal; /* written by the handler; 0 = none */

static void on_signal(int number)
{
    stop_signal = number;
}

/* --- the command line --- */

static int parse_probe_options(struct probe_job *p, int argc, char **argv)
{
    const char *timeout = NULL;
    uint64_t gpu = UINT64_MAX;
    const struct rtl_own_value own[RTL_PROBE_OWN_COUNT] = {
        [RTL_PROBE_PID] = {.pid = &p->pid},
        [RTL_PROBE_KERNEL] = {.text = &p->name, .needs = "a kernel's name, or a part of it"},
        [RTL_PROBE_WANTED] = {.number = &p->wanted,
                              .least = 1,
                              .most = UINT32_MAX,
                              .needs = "a number of dispatches from 1 to "},
        [RTL_PROBE_ONE_IN] = {.number = &p->every,
                              .least = 1,
                              .most = RTL_PROBE_EVERY_MAX,
                              .needs = "a number from 1 to "},
        [RTL_PROBE_GPU] = {.number = &gpu, .most = RTL_AGENTS_MAX - 1, .needs = "the number of a GPU, from 0"},
        [RTL_PROBE_TIMEOUT] = {.text = &timeout},
        [RTL_PROBE_STALLS] = {.flag = &p->stalls},
        [RTL_PROBE_AS_JSON] = {.flag = &p->json},
        [RTL_PROBE_KEEP] = {.text = &p->keep_folder, .needs = "the name of a folder"},
        [RTL_PROBE_WRITE] = {.text = &p->write, .needs = "the name of a file"},
        [RTL_PROBE_FORCE] = {.flag = &p->force},
    };
    struct rtl_arguments a;
    *p = (struct probe_job){.timeout_ns = 60 * RTL_SEC};
    rtl_options_default(&p->options);
    p->options.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    int status = rtl_arguments_read(&a, RTL_COMMAND_PROBE, false, own, &p->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (timeout && !rtl_parse_interval(timeout, &p->timeout_ns))
        return RTL_WRONG("--timeout needs seconds from 0.05 to 3600, such as 10, 0.5 or 5m, not '%s'", timeout);
    p->gpu = gpu < RTL_AGENTS_MAX ? (int)gpu : -1;
    if (a.first < argc)
        return RTL_WRONG("rtl-top probe accepts no '%s': rtl-top probe -p PID -k NAME", argv[a.first]);
    if (!p->pid)
        return RTL_WRONG("which process? rtl-top probe -p PID -k NAME");
    if (!p->name)
        return RTL_WRONG("which kernel? rtl-top probe -p %d -k NAME", (int)p->pid);
    if (p->force && !p->keep_folder && !p->write)
        return RTL_WRONG("--force needs --keep or -w");
    if (p->stalls && p->write)
        return RTL_WRONG("-w can't be combined with --stalls: recordings have no place for its numbers");
    if (!p->wanted)
        p->wanted = p->stalls ? RTL_PROBE_ROUND_WANTED : 100;
    return RTL_GO_ON;
}

/* --- choosing the kernel --- */

static const char *name_of(const struct probe_job *p, const struct rtl_kernel_snapshot *k, enum rtl_name_form form)
{
    return rtl_names_form(p->names, k->id, k->name, k->name_length, form);
}

static int choose_kernel(struct probe_job *p)
{
    struct rtl_kernel_choice choice;
    rtl_kernel_choose(&p->before, p->names, p->name, &choice);
    p->kernel = choice.kernel;
    if (p->kernel)
        return 0;
    if (!choice.count)
        return rtl_refuse(RTL_READER_NOT_PROBED,
                          "process %d has dispatched no kernel whose name has '%s'; their names: rtl-top -p %d -b -n 1",
                          (int)p->pid, p->name, (int)p->pid);
    rtl_complain("%u kernels of process %d have '%s' in their names; which one?", choice.count, (int)p->pid, p->name);
    for (uint32_t i = 0; i < choice.count && i < RTL_CANDIDATES_MAX; i++)
        rtl_complain("  %s", rtl_kernel_candidate(&choice, i, p->names, p->options.ascii));
    if (choice.count > RTL_CANDIDATES_MAX)
        rtl_complain("  and %u more", choice.count - RTL_CANDIDATES_MAX);
    return RTL_READER_USAGE;
}

static void pause_for(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* Measure dispatches of the kernel per second, over half a second. */
static double measure_rate(struct probe_job *p)
{
    struct rtl_snapshot now = {0};
    double per_second = 0;
    for (int i = 0; i < RATE_STEPS && !stop_signal && rtl_reader_alive(p->reader); i++) {
        rtl_control_heartbeat(&p->control);
        pause_for(STEP_NS);
    }
    if (rtl_reader_snapshot(p->reader, &now) != RTL_READER_OK)
        return 0;
    const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(&now, p->kernel->id);
    uint64_t ns = now.taken_mono_ns - p->before.taken_mono_ns;
    if (k && ns && k->calls > p->kernel->calls)
        per_second = (double)(k->calls - p->kernel->calls) * 1e9 / (double)ns;
    rtl_snapshot_free(&now);
    return per_second;
}

static uint64_t median_ns(const struct rtl_histogram_copy *since_start)
{
    static const double half[] = {0.5};
    uint64_t value = 0;
    return rtl_quantiles(NULL, since_start, half, 1, &value) ? value : 0;
}

/* --- running the probe --- */

static int status_of(const struct rtl_probe_plan *probing)
{
    switch (probing->over) {
    case RTL_PROBING_EXITED:
        return RTL_READER_EXITED;
    case RTL_PROBING_DAMAGED:
    case RTL_PROBING_UNREADABLE:
        return RTL_READER_VERSION;
    case RTL_PROBING_CODE_DENIED:
        return RTL_READER_PERMISSION;
    default:
        return rtl_probe_plan_is_done(probing) ? 0 : RTL_READER_NOT_PROBED;
    }
}

static void note_end(struct probe_job *p, const struct rtl_probe_plan *probing)
{
    p->status = status_of(probing);
    p->report.ended = rtl_probe_plan_word(probing);
    rtl_probe_plan_text(probing, p->why, sizeof p->why);
}

/* Keep the process timing until the next step. True once, when the user has stopped the probe. */
static bool wait_for_step(struct probe_job *p, bool *stopped)
{
    bool stops = stop_signal && !*stopped;
    rtl_control_heartbeat(&p->control);
    *stopped |= stops;
    return stops;
}

/* Complain that no session could be opened; return the status. */
static int open_failed(struct probe_job *p, int status)
{
    p->report.ended = "no_page";
    p->status = status;
    if (!rtl_reader_alive(p->reader)) /* the process has exited, so nothing can be opened */
        note_end(p, &(struct rtl_probe_plan){.over = RTL_PROBING_EXITED});
    return rtl_refuse(p->status, "%s", p->why);
}

static int run_once(struct probe_job *p, const struct rtl_probe_wish *wish)
{
    bool stopped = false;
    int status =
        (int)rtl_probe_session_open(p->reader, p->pid, &p->before, wish, &p->own_session, p->why, sizeof p->why);
    if (status)
        return open_failed(p, status);
    p->report.session = p->own_session;
    for (;; pause_for(STEP_NS)) {
        uint64_t now = rtl_mono_ns();
        if (wait_for_step(p, &stopped))
            rtl_probe_session_stop(p->own_session, now);
        if (!rtl_probe_session_step(p->own_session, rtl_reader_alive(p->reader), now))
            break;
        const struct rtl_probe_plan *probing = &p->report.session->probing;
        uint64_t done = probing->counted ? probing->state.recorded : 0;
        rtl_progress_at(done < p->wanted ? done : p->wanted, p->wanted);
    }
    note_end(p, &p->report.session->probing);
    return 0;
}

static int run_rounds(struct probe_job *p, const struct rtl_probe_wish *wish)
{
    struct rtl_probe_rounds_ending ending;
    bool stopped = false;
    int status = (int)rtl_probe_rounds_open(p->reader, p->pid, &p->before, wish, &p->rounds, p->why, sizeof p->why);
    if (status)
        return open_failed(p, status);
    for (;; pause_for(STEP_NS)) {
        uint64_t now = rtl_mono_ns();
        if (wait_for_step(p, &stopped))
            rtl_probe_rounds_stop(p->rounds, now);
        if (!rtl_probe_rounds_step(p->rounds, rtl_reader_alive(p->reader), now))
            break;
        struct rtl_stall_costs_progress far = rtl_probe_rounds_progress(p->rounds);
        rtl_progress_at(far.done, far.total);
    }
    rtl_probe_rounds_ending(p->rounds, &ending);
    note_end(p, &ending.plan);
    p->report.session = ending.session;
    p->report.stalls = rtl_probe_rounds_stalls(p->rounds);
    snprintf(p->why, sizeof p->why, "%s", ending.why);
    if (ending.refused) {
        p->status = (int)ending.refused;
        p->report.ended = "no_page";
    }
    return 0;
}

/* Fill in the mean duration of unprobed dispatches: during the probe, or else since the process's start. */
static void fill_others(struct probe_job *p, const struct rtl_snapshot *after)
{
    struct rtl_probe_report *report = &p->report;
    const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(after, p->kernel->id);
    report->others_mean_ns = k ? rtl_probe_others_ns(&p->kernel->histogram, &k->histogram) : 0;
    report->others_before = !report->others_mean_ns;
    if (report->others_before && k)
        report->others_mean_ns = rtl_probe_others_ns(NULL, &k->histogram);
}

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    const struct probe_job *p = context;
    names->full = name_of(p, k, RTL_NAME_FULL);
    names->short_name =
        rtl_names_cell(p->names, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, p->options.ascii);
}

/* Copy the facts about the process that need it alive. */
static void describe_process(struct probe_job *p)
{
    rtl_proc_title(p->pid, "", p->title, sizeof p->title);
    p->described = (struct rtl_recording_info){.kind = RTL_RECORDING_SNAPSHOT,
                                               .pid = p->pid,
                                               .title = p->title,
                                               .recorder = "rtl-top " RTL_VERSION,
                                               .name_kernel = name_kernel,
                                               .context = p};
    if (!p->write)
        return;
    rtl_recording_describe(p->pid, &p->described);
    rtl_process_info_read(p->pid, &p->process);
    p->described.process = &p->process;
}

/* -w: record a snapshot of the process with the probe's results. */
static int record_probe(struct probe_job *p, const struct rtl_snapshot *after)
{
    struct rtl_recording *recording;
    struct rtl_probe_told told;
    char why[512];
    enum rtl_db_status status = rtl_recording_open(p->write, p->force, 0, &p->described, &recording, why, sizeof why);
    if (status)
        return rtl_refuse((int)status, "%s", why);
    rtl_probe_session_report(p->report.session, &told);
    rtl_recording_probe(recording, &told);
    status = rtl_recording_add(recording, after, rtl_real_ns(), !rtl_reader_alive(p->reader));
    if (status)
        rtl_complain("%s", rtl_recording_why(recording));
    else if (*rtl_recording_left_out(recording, why, sizeof why))
        rtl_complain("recorded without the probe: %s", why), status = RTL_DB_SCHEMA;
    rtl_recording_close(recording);
    return (int)status;
}

static int complain_damaged(const struct probe_job *p)
{
    return rtl_refuse(RTL_READER_VERSION, "the segment of process %d is damaged", (int)p->pid);
}

static int report_probe(struct probe_job *p)
{
    struct rtl_snapshot after = {0};
    int recorded = 0;
    bool read = rtl_reader_snapshot(p->reader, &after) == RTL_READER_OK;
    if (read)
        fill_others(p, &after);
    bool printed = p->json ? rtl_probe_report_json(&p->report) : rtl_probe_report_text(&p->report);
    if (p->write && read)
        recorded = record_probe(p, &after);
    else if (p->write)
        recorded = complain_damaged(p);
    rtl_snapshot_free(&after);
    if (!printed)
        return RTL_WRONG("out of memory");
    int status = p->status;
    if (!rtl_stdout_written())
        status = RTL_DB_FULL;
    else if (status)
        rtl_complain("%s", p->why);
    int kept = rtl_probe_keep_write(&p->keep, &p->report);
    return recorded ? recorded : kept ? kept : status;
}

static int run_probe(struct probe_job *p)
{
    char why[512];
    int status = (int)rtl_reader_snapshot(p->reader, &p->before);
    if (status)
        return complain_damaged(p);
    if ((status = choose_kernel(p)))
        return status;
    if (p->write && (status = (int)rtl_db_check(p->write, p->force, why, sizeof why)))
        return rtl_refuse(status, "%s", why);
    if (p->keep_folder && (status = rtl_probe_keep_open(&p->keep, p->keep_folder, p->force)))
        return status; /* last check, because it creates a folder */
    describe_process(p);
    struct rtl_probe_wish wish = {.kernel = p->kernel->name,
                                  .row = p->kernel->id,
                                  .duration_ns = median_ns(&p->kernel->histogram),
                                  .wanted = p->wanted,
                                  .every = (uint32_t)p->every,
                                  .gpu = p->gpu,
                                  .total_ns = p->timeout_ns};
    struct rtl_probe_link link; /* opened early, so that a process without probes is refused at once */
    if ((status = (int)rtl_probe_open(p->reader, &link, why, sizeof why)))
        return rtl_refuse(status, "%s%s", why,
                          status == RTL_READER_NO_PROBE && rtl_probe_wants_setting(p->reader)
                              ? "; start it with: rtl-top run --probe -- COMMAND"
                              : "");
    rtl_probe_close(&link);
    if (!wish.every)
        wish.per_second = measure_rate(p);
    p->report = (struct rtl_probe_report){.pid = p->pid,
                                          .title = p->title,
                                          .why = p->why,
                                          .name = name_of(p, p->kernel, RTL_NAME_FULL),
                                          .mangled = name_of(p, p->kernel, RTL_NAME_MANGLED),
                                          .every_chosen = !wish.every,
                                          .per_second = wish.per_second,
                                          .units = p->options.units,
                                          .ascii = p->options.ascii};
    rtl_progress_begin("probing", p->name);
    status = p->stalls ? run_rounds(p, &wish) : run_once(p, &wish);
    rtl_progress_end();
    if (status)
        return status;
    return report_probe(p);
}

int rtl_probe_command(int argc, char **argv)
{
    struct probe_job p;
    char why[1000];
    int status = parse_probe_options(&p, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if ((status = (int)rtl_reader_open(p.pid, &p.reader, why, sizeof why)))
        return rtl_refuse(status, "%s", why);
    rtl_handle_stop_signals(on_signal); /* after the report, the command ends itself by the same signal */
    rtl_control_open(p.reader, &p.control, NULL, 0);
    p.names = rtl_names_create();
    status = p.names ? run_probe(&p) : RTL_WRONG("out of memory");
    rtl_probe_session_close(p.own_session);
    rtl_probe_rounds_free(p.rounds);
    rtl_probe_keep_close(&p.keep);
    rtl_names_free(p.names);
    rtl_control_close(&p.control);
    rtl_snapshot_free(&p.before);
    rtl_reader_close(p.reader);
    if (stop_signal) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
    return status;
}
