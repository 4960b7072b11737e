/*
 * rtl-top run: starts a command traced and watches it, on the screen or in a stream.
 *
 * In a stream it is a wrapper that changes nothing: the command has our standard descriptors, gets the signals that are
 * sent to us, and its exit status is ours. On the screen it is a process of its own that we happen to watch.
 */
#include "base/clock.h"
#include "command/run.h"
#include "model/labels.h"
#include "session/commands.h"
#include "session/complain.h"
#include "session/launch.h"
#include "session/library.h"
#include "session/traced_env.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 0x1000, LIBRARY = LONG + RTL_OPTION_COUNT };
enum { SOON_NS = 10 * 1000000, LATER_NS = 100 * 1000000 };
static const uint64_t PATIENCE_NS = 5 * RTL_SEC; /* then it is said what is missing; the wait goes on */

static rtl_watcher *screen_watch;

void rtl_run_on_screen(rtl_watcher *watch)
{
    screen_watch = watch;
}

struct run {
    struct rtl_options options;
    const char *library;
    int mode; /* to start in, or -1 */
    char **command;
    bool screen; /* else a stream, or a trace alone */
};

/* --- the command line --- */

/* Of the viewer's options those that choose what to watch make no sense here. */
static bool allowed(int option, const char *word)
{
    switch (option) {
    case RTL_OPTION_PID:
    case RTL_OPTION_REPLAY:
    case RTL_OPTION_RECORDING:
    case RTL_OPTION_SNAPSHOT:
        rtl_complain("rtl-top run watches what it starts: it does not go with %s", word);
        return false;
    default:
        return true;
    }
}

/* The words up to the command: ours are taken out, the rest goes to the viewer's parser. False after a complaint. */
static bool split(struct run *r, int argc, char **argv, char **words, int *count)
{
    struct option longs[RTL_OPTION_COUNT + 2] = {0};
    char letters[2 * RTL_OPTION_COUNT + 3] = "+:";
    size_t used = 2;
    for (int i = 0; i < RTL_OPTION_COUNT; i++) {
        const struct rtl_option_info *o = &rtl_options[i];
        bool takes = *o->argument;
        longs[i] = (struct option){o->name, takes ? required_argument : no_argument, NULL, LONG + i};
        if (o->letter) {
            letters[used++] = (char)o->letter;
            if (takes)
                letters[used++] = ':';
        }
    }
    longs[RTL_OPTION_COUNT] = (struct option){"library", required_argument, NULL, LIBRARY};
    words[(*count)++] = argv[0];
    optind = 0;
    for (int c, from = 1; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1; from = optind) {
        int option = c >= LONG ? c - LONG : 0;
        while (c < LONG && option < RTL_OPTION_COUNT && rtl_options[option].letter != c)
            option++;
        if (c == '?' || c == ':') { /* the viewer's parser says what is wrong with it */
            while (from < optind)
                words[(*count)++] = argv[from++];
            return true;
        }
        if (c == LIBRARY) {
            r->library = optarg;
        } else if (option == RTL_OPTION_MODE) {
            r->mode = rtl_mode_parse(optarg);
            if (r->mode < 0) {
#define NAME(sym, num, name, text) " " name
                rtl_complain("--mode knows the modes" RTL_MODES(NAME) ", not '%s'", optarg);
#undef NAME
                return false;
            }
        } else {
            if (!allowed(option, argv[from]))
                return false;
            while (from < optind)
                words[(*count)++] = argv[from++];
        }
    }
    r->command = argv + optind;
    return true;
}

static bool parse(struct run *r, int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof *words), *text = NULL;
    int count = 0;
    *r = (struct run){.mode = -1};
    bool ok = words && split(r, argc, argv, words, &count);
    if (!words)
        rtl_complain("out of memory");
    if (ok && rtl_options_parse(count, words, &r->options, &text) != RTL_PARSED_RUN) {
        rtl_complain("%s", text ? text : "out of memory");
        ok = false;
    }
    if (ok && (!r->command || !r->command[0])) {
        rtl_complain("which command? rtl-top run [options] -- COMMAND [ARGUMENTS]");
        ok = false;
    }
    free(text);
    free(words);
    return ok;
}

/* Where it is to be seen. */
static bool choose_place(struct run *r)
{
    struct rtl_options *o = &r->options;
    const char *no_color = getenv("NO_COLOR");
    o->no_color |= no_color && *no_color;
    o->ascii |= strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    bool alone = o->trace && !o->write;
    r->screen = o->output == RTL_OUTPUT_SCREEN && !alone && isatty(STDOUT_FILENO);
    if (r->screen || o->output != RTL_OUTPUT_SCREEN || alone)
        return true;
    if (!o->write) {
        rtl_complain("standard output is not a terminal: use -b, --csv, --json, -w or --trace");
        return false;
    }
    o->output = RTL_OUTPUT_TEXT; /* recorded, and nothing printed */
    o->file = "/dev/null";
    return true;
}

/* --- until there is something to watch --- */

/* Ctrl-C before the screen: what shall become of the command? True when the wait is over. */
static bool ask(struct rtl_launch *launch)
{
    char answer[16] = "";
    FILE *terminal = fopen("/dev/tty", "re");
    rtl_complain("%s runs as process %d. l leaves it running, e ends it, Enter goes on waiting", launch->command[0],
                 (int)launch->pid);
    if (!terminal || !fgets(answer, sizeof answer, terminal))
        answer[0] = 'l'; /* Ctrl-C again, or nobody is there */
    if (terminal)
        fclose(terminal);
    if (*answer == 'e')
        rtl_launch_end(launch);
    return *answer == 'l';
}

/* A reader of the traced process, or NULL: it was said why not. *left: the user went away. */
static struct rtl_reader *wait_for_segment(struct rtl_launch *launch, pid_t *pid, bool *left)
{
    uint64_t from = rtl_mono_ns();
    char why[2000];
    struct rtl_reader *reader;
    for (bool said = false;;) {
        bool ended = rtl_launch_ended(launch); /* asked first: what is seen after its end is final */
        enum rtl_reader_status status = rtl_launch_look(launch, &reader, pid, why, sizeof why);
        if (status == RTL_READER_OK)
            return reader;
        uint64_t waited = rtl_mono_ns() - from;
        bool late = waited > PATIENCE_NS && !said;
        if (status == RTL_READER_NOT_TRACED && (ended || late))
            rtl_launch_explain(launch, why, sizeof why);
        if (status != RTL_READER_NOT_TRACED || ended || late)
            rtl_complain("%s", why);
        if (status != RTL_READER_NOT_TRACED || ended)
            return NULL;
        said |= late;
        if (launch->detached && rtl_launch_interrupted() && ask(launch)) {
            *left = true;
            return NULL;
        }
        nanosleep(&(struct timespec){.tv_nsec = waited < 2 * RTL_SEC ? SOON_NS : LATER_NS}, NULL);
    }
}

/* --- */

static int watch(struct run *r, struct rtl_launch *launch)
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
        status = o->trace    ? rtl_trace(o, reader, pid, screen_watch)
                 : r->screen ? screen_watch(o, reader, pid, NULL)
                             : rtl_batch(o, reader, pid);
        rtl_reader_close(reader);
    }
    return status == RTL_READER_EXITED ? 0 : status;
}

int rtl_run_command(int argc, char **argv)
{
    char library[PATH_MAX], why[2 * PATH_MAX];
    struct rtl_traced_env env;
    static struct rtl_launch launch; /* large, and the signal handlers' */
    struct run r;
    if (!parse(&r, argc, argv) || !choose_place(&r))
        return RTL_READER_USAGE;
    if (!rtl_library_find(r.library, library, why, sizeof why) ||
        !rtl_traced_env_make(&env, library, r.mode, r.options.trace != NULL, why, sizeof why)) {
        rtl_complain("%s", why);
        return RTL_READER_USAGE;
    }
    int status = rtl_launch_start(&launch, r.command, &env, r.screen, why, sizeof why);
    rtl_traced_env_free(&env);
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    status = watch(&r, &launch);
    if (!r.screen)
        rtl_launch_wait(&launch);
    rtl_launch_tell(&launch);
    int command = rtl_launch_ended(&launch) ? rtl_launch_exit_status(&launch) : 0;
    return command ? command : status;
}
