/* Starts a command, forwards signals to it, waits for it. See launch.h. */
#include "launch/launch.h"
#include "options/complain.h"
#include "record/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- signals --- */

/* Signals that end or notify a program. Signals that stop and continue already reach the whole process group. */
static const int forwarded_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { FORWARDED = sizeof forwarded_signals / sizeof *forwarded_signals };

/* The process to forward signals to; 0 = none. Written with signals blocked or by the thread that reaps; read by the
 * handler. */
static volatile sig_atomic_t forward_to;
static volatile sig_atomic_t interrupted;

/* Doesn't forward a signal of the terminal (SI_KERNEL): the kernel sends it to the whole group, so the command has it.
 */
static void forward_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    if (forward_to > 0 && info->si_code <= 0)
        kill((pid_t)forward_to, number);
    errno = error;
}

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

bool rtl_launch_interrupted(void)
{
    bool was = interrupted;
    interrupted = 0;
    return was;
}

/* An ignored signal stays ignored, in this process and in the command (nohup, a shell's background job). */
static void handle_signals(bool detached, struct sigaction before[FORWARDED])
{
    struct sigaction pass = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction note = {.sa_handler = on_interrupt};
    for (int i = 0; i < FORWARDED; i++) {
        sigaction(forwarded_signals[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
            continue;
        if (!detached)
            sigaction(forwarded_signals[i], &pass, NULL);
        else if (forwarded_signals[i] == SIGINT)
            sigaction(forwarded_signals[i], &note, NULL);
    }
}

static void restore_signals(const struct sigaction before[FORWARDED])
{
    for (int i = 0; i < FORWARDED; i++)
        sigaction(forwarded_signals[i], &before[i], NULL);
}

/* --- the log file --- */

/* Returns $XDG_STATE_HOME/rtl-top, or the folder for temporary files. */
static bool log_folder(char *folder, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *tmp = getenv("TMPDIR");
    if (state && *state == '/') {
        if ((mkdir(state, 0700) == 0 || errno == EEXIST) &&
            (size_t)snprintf(folder, size, "%s/rtl-top", state) < size &&
            (mkdir(folder, 0700) == 0 || errno == EEXIST) && access(folder, W_OK) == 0)
            return true;
    }
    return (size_t)snprintf(folder, size, "%s", tmp && *tmp == '/' ? tmp : "/tmp") < size;
}

/* Creates a new file with a unique name that only its owner can read, whatever the folder contains. */
static int open_log(char log[PATH_MAX], const char *command, char *why, size_t why_bytes)
{
    struct rtl_safe_path at;
    char folder[PATH_MAX - NAME_MAX - 2], before[60], name[NAME_MAX + 1];
    const char *slash = strrchr(command, '/');
    int n = snprintf(before, sizeof before, "rtl-top-%.39s-", slash ? slash + 1 : command);
    for (char *c = before; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
            *c = '_';
    if (!log_folder(folder, sizeof folder) || n < 0) {
        snprintf(why, why_bytes, "%s", strerror(ENAMETOOLONG));
        return -1;
    }
    snprintf(log, PATH_MAX, "%s/", folder);
    if (!rtl_safe_path_find(&at, log, true, "cannot open", why, why_bytes))
        return -1;
    int fd = rtl_safe_path_create(at.folder, before, ".log", 0600, name);
    if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND)) /* so that the user may empty a log that grows */
        snprintf(why, why_bytes, "%s: %s", folder, strerror(errno));
    snprintf(log, PATH_MAX, "%s/%s", folder, name);
    rtl_safe_path_release(&at);
    return fd;
}

/* --- the command --- */

/* Runs in the new process until exec. Sends errors through `report`. */
static void exec_command(const struct rtl_launch *launch, const struct rtl_traced_env *env, int log, int report,
                         const struct sigaction before[FORWARDED], const sigset_t *mask)
{
    restore_signals(before);
    signal(SIGXFSZ, SIG_DFL); /* main ignores it only for itself */
    bool ok = true;
    if (launch->detached) {
        setsid();
        int none = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
        ok = none >= 0 && (none == STDIN_FILENO || dup2(none, STDIN_FILENO) >= 0);
        for (int fd = STDOUT_FILENO; ok && fd <= STDOUT_FILENO + 1; fd++)
            ok = dup2(log, fd) >= 0;
    }
    for (unsigned i = 0; ok && i < env->count; i++)
        ok = setenv(env->variable[i].name, env->variable[i].value, 1) == 0;
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (ok)
        execvp(launch->command[0], launch->command);
    int error = errno;
    while (write(report, &error, sizeof error) < 0 && errno == EINTR)
        ;
    _exit(RTL_LAUNCH_NOT_FOUND);
}

/* Returns the error of exec; 0 on success. */
static int exec_error(int report)
{
    int error = 0;
    ssize_t n;
    while ((n = read(report, &error, sizeof error)) < 0 && errno == EINTR)
        ;
    return n == sizeof error ? error : 0;
}

static int explain_exec(const char *name, int error, char *why, size_t why_bytes)
{
    if ((error == ENOENT || error == ENOTDIR) && !strchr(name, '/'))
        snprintf(why, why_bytes, "%s: not found in PATH", name);
    else if (error == ENOENT && access(name, F_OK) == 0)
        snprintf(why, why_bytes, "%s: its interpreter or loader does not exist", name);
    else
        snprintf(why, why_bytes, "%s: %s", name, strerror(error));
    return error == ENOENT || error == ENOTDIR ? RTL_LAUNCH_NOT_FOUND : RTL_LAUNCH_NOT_EXECUTABLE;
}

int rtl_launch_start(struct rtl_launch *launch, char **command, const struct rtl_traced_env *env, bool detached,
                     char *why, size_t why_bytes)
{
    struct sigaction before[FORWARDED];
    sigset_t all, mask;
    int report[2], log = -1;
    char error_text[PATH_MAX];
    *launch = (struct rtl_launch){.command = command, .detached = detached};
    if (detached && (log = open_log(launch->log, command[0], error_text, sizeof error_text)) < 0) {
        snprintf(why, why_bytes,
                 "cannot create a log file for the command's output: %s; set XDG_STATE_HOME or TMPDIR to a writable "
                 "folder",
                 error_text);
        return RTL_READER_USAGE;
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        snprintf(why, why_bytes, "cannot start a command: %s", strerror(errno));
        if (log >= 0)
            close(log);
        return RTL_READER_USAGE;
    }
    /* block signals from fork to exec, so that none is lost: the command receives it, or the handler forwards it */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    handle_signals(detached, before);
    fflush(NULL);
    /* if a supervisor has left SIGCHLD ignored, the command's exit status would be lost */
    void (*children)(int) = signal(SIGCHLD, SIG_DFL);
    launch->pid = fork();
    if (launch->pid == 0 && children == SIG_IGN)
        signal(SIGCHLD, SIG_IGN);
    if (launch->pid == 0)
        exec_command(launch, env, log, report[1], before, &mask);
    int error = launch->pid < 0 ? errno : 0;
    forward_to = launch->pid > 0 && !detached ? (sig_atomic_t)launch->pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    if (log >= 0)
        close(log);
    int status = 0;
    if (launch->pid < 0) {
        snprintf(why, why_bytes, "cannot start a command: %s", strerror(error));
        status = RTL_READER_USAGE;
    } else if ((error = exec_error(report[0])) != 0) {
        rtl_launch_wait(launch);
        status = explain_exec(command[0], error, why, why_bytes);
    }
    close(report[0]);
    if (status && detached)
        unlink(launch->log);
    if (status)
        restore_signals(before);
    return status;
}

/* --- the command's end --- */

static void reap_command(struct rtl_launch *launch, int options)
{
    siginfo_t info = {0};
    if (launch->ended)
        return;
    /* stop forwarding before reaping the process: afterwards its number can be reused */
    while (waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT | options) != 0)
        if (errno != EINTR)
            return;
    if (info.si_pid != launch->pid)
        return;
    forward_to = 0;
    while (waitpid(launch->pid, &launch->wait_status, 0) < 0 && errno == EINTR)
        ;
    launch->ended = true;
}

bool rtl_launch_ended(struct rtl_launch *launch)
{
    reap_command(launch, WNOHANG);
    return launch->ended;
}

void rtl_launch_wait(struct rtl_launch *launch)
{
    reap_command(launch, 0);
}

int rtl_launch_exit_status(const struct rtl_launch *launch)
{
    return WIFEXITED(launch->wait_status) ? WEXITSTATUS(launch->wait_status)
                                          : RTL_LAUNCH_SIGNALLED + WTERMSIG(launch->wait_status);
}

void rtl_launch_terminate(struct rtl_launch *launch)
{
    if (!launch->detached || rtl_launch_ended(launch))
        return;
    /* the command leads a session, so its number is that of its own process group */
    kill(-launch->pid, launch->end_requests++ ? SIGKILL : SIGTERM);
}

void rtl_launch_report(struct rtl_launch *launch)
{
    if (!launch->detached)
        return;
    if (!rtl_launch_ended(launch))
        rtl_complain("%s continues as process %d: rtl-top -p %d shows it again; its output goes into %s",
                     launch->command[0], (int)launch->pid, (int)launch->pid, launch->log);
    else if (WIFSIGNALED(launch->wait_status))
        rtl_complain("%s was ended by signal %d (%s); its output is in %s", launch->command[0],
                     WTERMSIG(launch->wait_status), strsignal(WTERMSIG(launch->wait_status)), launch->log);
    else
        rtl_complain("%s has ended with status %d; its output is in %s", launch->command[0],
                     WEXITSTATUS(launch->wait_status), launch->log);
}
