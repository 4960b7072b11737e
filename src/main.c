/* rtl-top: parses the command line, attaches to the process, watches it. What it does lies in the other files. */
#include "command/run.h"
#include "options/command_line.h"
#include "options/commands.h"
#include "options/complain.h"
#include "options/config.h"
#include "options/progress.h"
#include "tui/screen.h"
#include "text/text.h"
#include "tui/screens.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print(const char *text)
{
    if (text)
        fputs(text, stdout);
    return rtl_stdout_written() ? 0 : RTL_READER_USAGE;
}

/* Without -p and without a terminal to choose on: say which processes there are. */
static int no_process(void)
{
    pid_t *pids = NULL;
    int count = rtl_discover(&pids);
    char list[300] = "";
    for (int i = 0; i < count && i < 20; i++)
        rtl_text_append(list, sizeof list, " %d", (int)pids[i]);
    rtl_complain("which process? Give it with -p PID; traced now:%s%s", list,
                 count <= 0   ? " none that you may see (start one with HSA_TOOLS_LIB=librtl.so)"
                 : count > 20 ? " ..."
                              : "");
    free(pids);
    return RTL_READER_USAGE;
}

/* "rtl-top NAME ...": the status of a command that has a function of its own, or -1 when there is none of that name. */
static int command(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int, char **);
    } commands[] = {
#define COMMAND(sym, name_, function, arguments, meaning) {name_, function},
        RTL_COMMANDS(RTL_NO_COMMAND, COMMAND)
#undef COMMAND
    };
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    return -1;
}

static int replay(const struct rtl_options *options, bool terminal)
{
    struct rtl_player player;
    char why[512];
    rtl_progress_begin("reading", options->replay);
    rtl_db_stop_when(rtl_progress_tick);
    int status = (int)rtl_player_open(&player, options->replay, options->pid, options->recording, why, sizeof why);
    rtl_progress_end();
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    if (options->output != RTL_OUTPUT_SCREEN) {
        status = rtl_batch_replay(options, &player);
    } else if (!terminal) {
        rtl_complain("standard output is not a terminal: use -b, --csv or --json");
        status = RTL_READER_USAGE;
    } else {
        status = rtl_loop_replay(options, &player);
    }
    rtl_player_close(&player);
    return status;
}

/* Nothing was said of a process: the only one, or the list of all; none is waited for. -1, or the exit status. */
static int choose(struct rtl_options *options)
{
    pid_t *pids = NULL;
    int count = rtl_discover(&pids);
    options->pid = count == 1 ? pids[0] : 0;
    free(pids);
    if (count > 1) {
        options->all = options->apart = options->list_first = true;
        return -1;
    }
    if (!options->pid)
        options->pid = rtl_pick(options);
    if (options->pid <= 0)
        return options->pid < 0 ? RTL_READER_USAGE : 0;
    options->pids[options->pid_count++] = options->pid;
    return -1;
}

/*
 * A descriptor from 0 to 2 that came closed would be that of the next file to be opened: a recording or the process's
 * control page, into which output or messages went then. What takes the place can be neither written nor read, so that
 * whoever tries is told.
 */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            _exit(RTL_READER_USAGE); /* there is nobody to tell */
}

int main(int argc, char **argv)
{
    struct rtl_options options;
    struct rtl_process_set *targets = NULL;
    char *text, why[512] = "";
    hold_standard_descriptors();
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* JSON and CSV have no decimal comma */
    signal(SIGXFSZ, SIG_IGN);   /* a limit of the file size is an error of the write, not the end */
    rtl_config_load();
    rtl_run_on_screen(rtl_loop_live);
    int done = command(argc, argv);
    if (done >= 0)
        return done;
    enum rtl_parsed parsed = rtl_command_line_parse(argc, argv, &options, &text);
    if (parsed != RTL_PARSED_RUN) {
        int status = RTL_READER_USAGE;
        if (parsed == RTL_PARSED_DONE)
            status = print(text);
        if (parsed == RTL_PARSED_DONE && !status && rtl_option_asked(&options, RTL_OPTION_VERSION)) {
            printf("SQLite %s, %s\n", rtl_db_library(), rtl_screen_library());
            status = print(NULL);
        }
        if (parsed == RTL_PARSED_WRONG)
            rtl_complain("%s", text ? text : "out of memory");
        free(text);
        return status;
    }
    rtl_settings_complete(rtl_config_settings(), &options);
    bool screen = options.output == RTL_OUTPUT_SCREEN;
    bool terminal = isatty(STDOUT_FILENO);
    if (options.replay)
        return replay(&options, terminal);
    bool alone = options.trace && screen && !options.write; /* a recorder of traces needs no terminal */
    if (!rtl_options_name_process(&options) && (!screen || terminal || alone)) {
        if (!screen || alone)
            return no_process();
        int status = choose(&options);
        if (status >= 0)
            return status;
    }
    /* What is wrong with the process comes first: a script that asks for the status gets the one that it asks for. */
    enum rtl_reader_status status =
        rtl_options_name_process(&options) ? rtl_process_set_open(&options, &targets, why, sizeof why) : RTL_READER_OK;
    if (status != RTL_READER_OK) {
        rtl_complain("%s", why);
        return (int)status;
    }
    if (screen && !terminal && !options.snapshot && !alone && options.mode < 0) {
        rtl_complain("standard output is not a terminal: use -b, --csv or --json");
        rtl_process_set_close(targets);
        return RTL_READER_USAGE;
    }
    int result = options.mode >= 0  ? rtl_change_mode(&options, targets)
                 : options.snapshot ? rtl_snapshot_once(&options, targets)
                 : options.trace    ? rtl_trace(&options, targets, rtl_loop_live)
                 : screen           ? rtl_loop_live(&options, targets, NULL)
                                    : rtl_batch(&options, targets);
    rtl_process_set_close(targets);
    return result;
}
