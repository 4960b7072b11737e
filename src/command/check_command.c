/* rtl-top check: reports whether a command would be traced, without starting it, or whether a process is traced; and
 * what to do if not. check_system.c, check_program.c and check_profiler.c have the checks. */
#include "command/check.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "launch/library.h"
#include "shm/segment_reader.h"

#include <stdlib.h>

struct check_request {
    const char *library;
    int mode; /* mode to start in */
    bool preload;
    pid_t pid;
    char **command;
};

static int parse_check(struct check_request *r, int argc, char **argv)
{
    const char *mode = NULL;
    const struct rtl_own_value own[RTL_CHECK_OWN_COUNT] = {
        [RTL_CHECK_PID] = {.pid = &r->pid},
        [RTL_CHECK_MODE] = {.text = &mode},
        [RTL_CHECK_PRELOAD] = {.flag = &r->preload},
        [RTL_CHECK_LIBRARY] = {.text = &r->library},
    };
    struct rtl_arguments a;
    *r = (struct check_request){.mode = RTL_START_FROM_ENV};
    int status = rtl_arguments_read(&a, RTL_COMMAND_CHECK, true, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (mode && !rtl_start_mode_parse(mode, &r->mode))
        return RTL_WRONG(RTL_START_MODE_UNKNOWN, mode);
    r->command = argv + a.first;
    if (!r->pid == !r->command[0])
        return RTL_WRONG(
            "rtl-top check takes a command or a process: rtl-top check -- COMMAND, or rtl-top check -p PID");
    if (r->pid && (r->library || r->preload || r->mode != RTL_START_FROM_ENV))
        return RTL_WRONG(
            "-p can't be combined with --mode, --preload or --library: they describe the start of a command");
    return RTL_GO_ON;
}

static int check_command(struct rtl_check *check, const struct check_request *r)
{
    char library[PATH_MAX], why[2 * PATH_MAX];
    int status = rtl_check_program(check, r->command[0]);
    if (!rtl_library_find(r->library, library, why, sizeof why)) {
        rtl_check_say(check, RTL_FINDING_WRONG, "library", "%s", why);
    } else {
        rtl_check_loads(check, "library", library);
        rtl_check_environment(check, library, r->preload);
        if (r->preload && !rtl_library_can_preload(library, why, sizeof why))
            rtl_check_say(check, RTL_FINDING_WRONG, "preload", "%s", why);
        if (r->preload && check->other_loader)
            rtl_check_say(check, RTL_FINDING_OPEN, "preload",
                          "a loader of another libc (musl) can't load librtl.so: it ends every program with --preload");
        if (rtl_start_mode_is_hip(r->mode))
            rtl_check_hip(check, library);
    }
    rtl_check_system(check);
    return status ? status : check->wrong ? RTL_READER_NOT_TRACED : 0;
}

int rtl_check_command(int argc, char **argv)
{
    struct check_request r;
    struct rtl_check check = {0};
    int status = parse_check(&r, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    status = r.pid ? rtl_check_process(&check, r.pid) : check_command(&check, &r);
    free(check.elf);
    return rtl_exit_status(status);
}
