/*
 * rtl-top run: starts a command traced and watches it, on the screen or in a stream.
 *
 * In a stream, the command inherits the standard descriptors and gets rtl-top's signals, and rtl-top exits with its
 * status. On the screen, the command is a process like any other.
 */
#include "base/clock.h"
#include "command/run.h"
#include "record/db.h"
#include "record/outfile.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "watch/group_recorder.h"
#include "launch/launch.h"
#include "watch/process_set.h"
#include "watch/traced_child.h"
#include "launch/library.h"
#include "options/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_SOON_NS = 10 * 1000000, POLL_LATER_NS = 100 * 1000000, SNAPSHOT_BUSY_MS = 5000 };
static const uint64_t PATIENCE_NS = 5 * RTL_SEC; /* then explain what is missing and keep waiting */

static rtl_watcher *screen_watch;

void rtl_run_set_screen(rtl_watcher *watch_command)
{
    screen_watch = watch_command;
}

struct run_request {
    struct rtl_options options;
    const char *library;
    struct rtl_traced_request request;
    char **command;
    bool screen; /* false: a stream, or only a trace */
};

/* --- the command line --- */

static int parse_run(struct run_request *r, int argc, char **argv)
{
    const char *mode = NULL;
    const struct rtl_own_value own[RTL_RUN_OWN_COUNT] = {
        [RTL_RUN_MODE] = {.text = &mode},
        [RTL_RUN_PROBE] = {.flag = &r->request.probe},
        [RTL_RUN_PRELOAD] = {.flag = &r->request.preload},
        [RTL_RUN_LIBRARY] = {.text = &r->library},
    };
    struct rtl_arguments a;
    char *text = NULL;
    *r = (struct run_request){.request = {.start_mode = RTL_START_FROM_ENV}};
    rtl_options_default(&r->options);
    int status = rtl_arguments_read(&a, RTL_COMMAND_RUN, true, own, &r->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    r->command = argv + a.first;
    if (mode && !rtl_start_mode_parse(mode, &r->request.start_mode))
        return RTL_WRONG(RTL_START_MODE_UNKNOWN, mode);
    if (!r->command[0])
        return RTL_WRONG("which command? rtl-top run [options] -- COMMAND [ARGUMENTS]");
    if (r->options.snapshot && r->options.trace)
        return RTL_WRONG("--trace and --snapshot exclude one another; -w FILE records the statistics beside a trace");
    r->options.pid_count = r->options.snapshot != NULL; /* the command is the process; its pid isn't known yet */
    bool right = rtl_options_check(&r->options, &text) == RTL_PARSED_RUN;
    r->options.pid_count = 0;
    if (!right)
        rtl_complain("%s", text ? text : "out of memory");
    free(text);
    return right ? RTL_GO_ON : (int)RTL_READER_USAGE;
}

/* Checks the output files and decides between screen and stream. Returns 0, or an exit status after a complaint. */
static int choose_output(struct run_request *r)
{
    struct rtl_options *o = &r->options;
    rtl_settings_complete(rtl_config_settings(), o);
    bool alone = (o->trace && !o->write) || o->snapshot;
    char why[512];
    struct stat st;
    /* report an unwritable file before starting the command; don't open a pipe twice */
    if (o->file && (stat(o->file, &st) != 0 || S_ISREG(st.st_mode))) {
        const struct rtl_outfile_options options = {.force = o->force, .others = {o->write, o->trace}};
        struct rtl_outfile *file = rtl_outfile_open(o->file, &options, why, sizeof why);
        if (!file)
            return rtl_refuse(RTL_DB_PATH, "%s", why);
        rtl_outfile_close(file);
    }
    const char *const recordings[] = {o->write, o->trace, o->snapshot};
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        enum rtl_db_status status = recordings[i] ? rtl_db_check(recordings[i], o->force, why, sizeof why) : RTL_DB_OK;
        if (status)
            return rtl_refuse((int)status, "%s", why);
    }
    r->screen = o->output == RTL_OUTPUT_SCREEN && !alone && isatty(STDOUT_FILENO);
    if (r->screen || o->output != RTL_OUTPUT_SCREEN || alone)
        return 0;
    if (!o->write)
        return RTL_WRONG("standard output is not a terminal: use -b, --csv, --json, -w, --snapshot or --trace");
    o->output = RTL_OUTPUT_TEXT; /* only record, print nothing */
    o->file = "/dev/null";
    return 0;
}

/* --- waiting for a traced process --- */

/* Asks after Ctrl-C before the screen what to do with the command. True if rtl-top should exit. */
static bool ask_user(struct rtl_launch *launch)
{
    char answer[16] = "";
    FILE *terminal = fopen("/dev/tty", "re");
    rtl_complain("%s runs as process %d. l leaves it running, e ends it, Enter keeps waiting", launch->command[0],
                 (int)launch->pid);
    if (!terminal || !fgets(answer, sizeof answer, terminal))
        answer[0] = 'l'; /* Ctrl-C again, or no terminal */
    if (terminal)
        fclose(terminal);
    if (*answer == 'e')
        rtl_launch_terminate(launch);
    return *answer == 'l';
}

/* Returns the reader of the traced process, or NULL after a complaint. *left: the user chose to exit. */
static struct rtl_reader *wait_for_segment(struct rtl_launch *launch, pid_t *pid, bool *left)
{
    uint64_t from = rtl_mono_ns();
    char why[2000];
    struct rtl_reader *reader;
    struct rtl_traced_child child = {.launch = launch};
    for (bool reported = false;;) {
        bool ended = rtl_launch_ended(launch); /* before the search: what it finds after the end is final */
        enum rtl_reader_status status = rtl_traced_child_find(&child, &reader, pid, why, sizeof why);
        if (status == RTL_READER_OK)
            return reader;
        uint64_t waited = rtl_mono_ns() - from;
        bool overdue = waited > PATIENCE_NS && !reported;
        if (status == RTL_READER_NOT_TRACED && (ended || overdue))
            rtl_traced_child_explain(&child, why, sizeof why);
        if (ended || overdue)
            rtl_complain("%s", why);
        /* a segment that is being created first looks unreadable */
        if (ended || (overdue && status != RTL_READER_NOT_TRACED))
            return NULL;
        reported |= overdue;
        if (launch->detached && rtl_launch_interrupted() && ask_user(launch)) {
            *left = true;
            return NULL;
        }
        nanosleep(&(struct timespec){.tv_nsec = waited < 2 * RTL_SEC ? POLL_SOON_NS : POLL_LATER_NS}, NULL);
    }
}

/* --- watching --- */

/* A rtl_process_set_sink: writes each of several processes once, in its last state. */
static void record_at_end(void *group, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                          uint64_t real_ns, bool ended)
{
    if (ended)
        rtl_group_recorder_add(group, number, pid, snapshot, real_ns, ended);
}

/* Waits for the end of all processes; a segment stays readable after it. */
static int write_snapshot_at_end(const struct rtl_options *options, struct rtl_process_set *set)
{
    struct rtl_snapshot snapshot = {0};
    struct rtl_group_recorder group;
    uint64_t next_ns = 0;
    bool alive = true;
    rtl_group_recorder_init(&group, options, RTL_RECORDING_SNAPSHOT, options->snapshot, SNAPSHOT_BUSY_MS);
    rtl_process_set_on_snapshot(set, record_at_end, &group);
    while (alive) {
        alive = rtl_process_set_alive(set);
        if (!alive || rtl_mono_ns() >= next_ns) {
            rtl_process_set_send_heartbeat(set, NULL);
            if (!rtl_process_set_is_single(set) && rtl_process_set_snapshot(set, &snapshot) == RTL_READER_OK)
                rtl_snapshot_free(&snapshot);
            next_ns = rtl_mono_ns() + RTL_SEC;
        }
        nanosleep(&(struct timespec){.tv_nsec = POLL_SOON_NS}, NULL);
    }
    int status = (int)group.last;
    if (status)
        rtl_complain("%s", group.why);
    else if (rtl_process_set_is_single(set))
        status = rtl_write_snapshot(options, set);
    else
        rtl_complain("%u process%s written to %s", (unsigned)group.count, group.count == 1 ? "" : "es",
                     options->snapshot);
    rtl_process_set_on_snapshot(set, NULL, NULL);
    rtl_group_recorder_free(&group);
    return status;
}

static int watch_command(struct run_request *r, struct rtl_launch *launch)
{
    pid_t pid = 0;
    bool left = false;
    int status = 0;
    struct rtl_options *o = &r->options;
    if (r->screen)
        rtl_complain("%s runs as process %d, its output goes into %s; waiting until it uses the GPU",
                     launch->command[0], (int)launch->pid, launch->log);
    struct rtl_reader *reader = wait_for_segment(launch, &pid, &left);
    if (reader) {
        o->launch = launch;
        o->pid = pid;
        o->pids[0] = launch->pid;
        o->pid_count = 1;
        o->no_children = false;
        struct rtl_process_set *set = rtl_process_set_adopt(o, pid, reader);
        if (!set)
            return RTL_WRONG("out of memory");
        if (o->trace)
            status = rtl_trace(o, set, screen_watch);
        else if (o->snapshot)
            status = write_snapshot_at_end(o, set);
        else
            status = r->screen ? screen_watch(o, set, NULL) : rtl_batch(o, set);
        rtl_process_set_close(set);
    }
    const char *missing = o->snapshot ? o->snapshot : o->trace ? o->trace : o->write;
    if (!reader && !left && missing) /* the reason was printed */
        status = rtl_refuse(RTL_READER_NOT_TRACED, "nothing is written to %s: no process was traced", missing);
    return status == RTL_READER_EXITED ? 0 : status;
}

int rtl_run_command(int argc, char **argv)
{
    char library[PATH_MAX], why[3 * PATH_MAX];
    struct rtl_traced_env env;
    static struct rtl_launch launch; /* static: it is large, and signal handlers use it */
    struct run_request r;
    int status = parse_run(&r, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if ((status = choose_output(&r)) != 0)
        return status;
    r.request.ring = r.options.trace != NULL;
    if (!rtl_library_find(r.library, library, why, sizeof why) ||
        !rtl_traced_env_make(&env, library, &r.request, why, sizeof why))
        return RTL_WRONG("%s", why);
    status = rtl_launch_start(&launch, r.command, &env, r.screen, why, sizeof why);
    rtl_traced_env_free(&env);
    if (status)
        return rtl_refuse(status, "%s", why);
    status = watch_command(&r, &launch);
    if (!r.screen)
        rtl_launch_wait(&launch);
    rtl_launch_report(&launch);
    int command = rtl_launch_ended(&launch) ? rtl_launch_exit_status(&launch) : 0;
    return command ? command : status;
}
