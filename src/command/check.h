/* What `rtl-top check` finds: a line each, and whether all is well. */
#ifndef RTL_COMMAND_CHECK_H
#define RTL_COMMAND_CHECK_H

#include <stdbool.h>
#include <sys/types.h>

/* X(symbol, word that the line begins with) */
#define RTL_FINDINGS(X)                                          \
    X(OK, "ok")                                                  \
    X(OPEN, "open") /* can't be known before the program runs */ \
    X(WRONG, "wrong")

#define RTL_ENUM_FINDING(sym, word) RTL_FINDING_##sym,
enum rtl_finding { RTL_FINDINGS(RTL_ENUM_FINDING) };
#undef RTL_ENUM_FINDING

struct rtl_check {
    bool wrong; /* a line was */
};

/* Prints a line: what was looked at, and what was found or what to do. */
__attribute__((format(printf, 4, 5))) void rtl_check_say(struct rtl_check *check, enum rtl_finding finding,
                                                         const char *what, const char *format, ...);

/* The system: the device, limits, room for a segment. */
void rtl_check_system(struct rtl_check *check);
/* What the environment says to library and runtime: modes, queues, tools. */
void rtl_check_environment(struct rtl_check *check, const char *library);
/* A program's file: 0, or 126 or 127 when it can't be executed. */
int rtl_check_program(struct rtl_check *check, const char *name);
/* A process: its exit status as that of the viewer's -p. */
int rtl_check_process(struct rtl_check *check, pid_t pid);

#endif
