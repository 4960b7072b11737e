/* Parses the command line and runs the command, or attaches to the process and watches it. */
#include "command/run.h"
#include "options/arguments.h"
#include "options/commands.h"
#include "options/complain.h"
#include "options/config.h"
#include "tui/screen.h"
#include "text/text.h"
#include "tui/loop_state.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_text(const char *text)
{
    if (text)
        fputs(text, stdout);
    return rtl_stdout_written() ? 0 : RTL_READER_USAGE;
}

/* Lists the traced processes when there is no -p and no terminal to choose on. */
static int list_traced(void)
{
    pid_t *pids = NULL;
    int count = rtl_discover(&pids);
    char list[300] = "";
    for (int i = 0; i < count && i < 20; i++)
        rtl_text_append(list, sizeof list, " %d", (int)pids[i]);
    if (count > 20)
        rtl_text_append(list, sizeof list, " ...");
    if (count <= 0)
        rtl_text_append(list, sizeof list, " none that you may see (rtl-top run PROGRAM... starts one)");
    rtl_complain("which process? Give it with -p PID; traced now:%s", list);
    free(pids);
    return RTL_READER_USAGE;
}

/* Runs "rtl-top NAME ..." if NAME is a command with a function. Returns its exit status, or -1. */
static int run_command(int argc, char **argv)
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

static int run_replay(const struct rtl_options *options, bool terminal)
{
    struct rtl_player player;
    char why[512];
    rtl_progress_begin("reading", options->replay);
    rtl_db_stop_when(rtl_progress_tick);
    int status = (int)rtl_player_open(&player, options->replay, options->pid, options->recording, why, sizeof why);
    rtl_progress_end();
    if (status)
        return rtl_refuse(status, "%s", why);
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

/* Selects the process without -p: the only traced process, or all of them, with their list first. */
static void choose_process(struct rtl_options *options)
{
    pid_t *pids = NULL;
    if (rtl_discover(&pids) == 1)
        options->pid = options->pids[options->pid_count++] = pids[0];
    else
        options->all = options->apart = options->list_first = true;
    free(pids);
}

/*
 * Opens closed standard descriptors. Otherwise the next opened file, such as a recording or a process's control page,
 * would get the number of standard output, and output would overwrite it. The replacement fails on each use, which
 * reports the fault.
 */
static void hold_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            _exit(RTL_READER_USAGE); /* no descriptor for a message */
}

int main(int argc, char **argv)
{
    struct rtl_options options;
    struct rtl_process_set *set = NULL;
    char *text, why[512] = "";
    hold_standard_descriptors();
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* JSON and CSV have no decimal comma */
    signal(SIGXFSZ, SIG_IGN);   /* a write beyond the limit of file sizes fails, instead of ending the program */
    rtl_config_load();
    rtl_run_set_screen(rtl_loop_live);
    int done = run_command(argc, argv);
    if (done >= 0)
        return done;
    enum rtl_parsed parsed = rtl_command_line_parse(argc, argv, &options, &text);
    if (parsed != RTL_PARSED_RUN) {
        int status = RTL_READER_USAGE;
        if (parsed == RTL_PARSED_DONE)
            status = print_text(text);
        if (parsed == RTL_PARSED_DONE && !status && rtl_option_asked(&options, RTL_OPTION_VERSION)) {
            printf("SQLite %s, %s\n", rtl_db_library(), rtl_screen_library());
            status = print_text(NULL);
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
        return run_replay(&options, terminal);
    bool alone = options.trace && screen && !options.write; /* recording a trace needs no terminal */
    if (!rtl_options_name_process(&options) && (!screen || terminal || alone)) {
        if (!screen || alone)
            return list_traced();
        choose_process(&options);
    }
    /* Attaches before checking the terminal: a script gets the exit status of an unusable process first. */
    enum rtl_reader_status status =
        rtl_options_name_process(&options) ? rtl_process_set_open(&options, &set, why, sizeof why) : RTL_READER_OK;
    if (status != RTL_READER_OK)
        return rtl_refuse((int)status, "%s", why);
    if (screen && !terminal && !options.snapshot && !alone && options.mode < 0) {
        rtl_complain("standard output is not a terminal: use -b, --csv or --json");
        rtl_process_set_close(set);
        return RTL_READER_USAGE;
    }
    int result;
    if (options.mode >= 0)
        result = rtl_change_mode(&options, set);
    else if (options.snapshot)
        result = rtl_write_snapshot(&options, set);
    else if (options.trace)
        result = rtl_trace(&options, set, rtl_loop_live);
    else
        result = screen ? rtl_loop_live(&options, set, NULL) : rtl_batch(&options, set);
    rtl_process_set_close(set);
    return result;
}
