/* What `rtl-top check` finds: a line each, and whether all is well. */
#ifndef RTL_COMMAND_CHECK_H
#define RTL_COMMAND_CHECK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "shm/elf_file.h"
#include "shm/profiler.h"

/* X(symbol, word that the line begins with) */
#define RTL_FINDINGS(X)                                          \
    X(OK, "ok")                                                  \
    X(OPEN, "open") /* can't be known before the program runs */ \
    X(WRONG, "wrong")

#define RTL_ENUM_FINDING(sym, word) RTL_FINDING_##sym,
enum rtl_finding { RTL_FINDINGS(RTL_ENUM_FINDING) };
#undef RTL_ENUM_FINDING

struct rtl_check {
    bool wrong;                   /* a line with RTL_FINDING_WRONG was printed */
    struct rtl_profiler profiler; /* reason why rocprofiler-sdk is active, from the checks so far */
    char runtime[PATH_MAX];       /* the file of the program's HSA runtime; "" = not known */
    bool other_loader;            /* the program asks for a dynamic loader that isn't this system's */
};

/* Prints a line: what was looked at, and what was found or what to do. */
__attribute__((format(printf, 4, 5))) void rtl_check_say(struct rtl_check *check, enum rtl_finding finding,
                                                         const char *what, const char *format, ...);

/* The system: the device, limits, room for a segment. */
void rtl_check_system(struct rtl_check *check);
/* What the environment says to library and runtime: modes, queues, tools. */
void rtl_check_environment(struct rtl_check *check, const char *library, bool preload);
/* Reports rocprofiler-sdk. `listed`: HSA_TOOLS_LIB already contains the library. The files searched are the program
 * and the libraries in its loader's list (loader_list.h). */
void rtl_check_profiler(struct rtl_check *check, bool listed, bool preload);
void rtl_check_profiler_files(struct rtl_check *check, const char *path, const char *list);
void rtl_check_profiler_process(struct rtl_check *check, pid_t pid, bool traced);
/* A program's file: 0, or 126 or 127 when it can't be executed. */
int rtl_check_program(struct rtl_check *check, const char *name);
/* Whether calls of HIP would be recorded, by the librtl-hip.so that lies beside the library. */
void rtl_check_hip(struct rtl_check *check, const char *name, const char *library);
void rtl_check_hip_process(struct rtl_check *check, pid_t pid);
/* As execvp looks for it: 0 and its path, or 126 or 127. */
int rtl_check_find_program(const char *name, char path[PATH_MAX]);
/* Programs that get rights of others: the kernel hides them, and what they load is their own business. */
bool rtl_check_gains_rights(const char *path);
/* The loader maps what it lists, and runs a library that audits: that is done to no file that another user may have
 * written, and to none that audits. */
bool rtl_check_may_be_listed(const char *path, const struct rtl_elf_file *elf);
/* A process: its exit status as that of the viewer's -p. */
int rtl_check_process(struct rtl_check *check, pid_t pid);

#endif
