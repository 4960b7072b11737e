/* The checks of rtl-top check: each prints lines with its findings. */
#ifndef RTL_COMMAND_CHECK_H
#define RTL_COMMAND_CHECK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "shm/profiler.h"

enum rtl_finding {
    RTL_FINDING_OK,
    RTL_FINDING_OPEN, /* not known before the program runs */
    RTL_FINDING_WRONG
};

struct rtl_check {
    bool wrong;                   /* a line with RTL_FINDING_WRONG was printed */
    struct rtl_profiler profiler; /* why rocprofiler-sdk is active, according to the checks so far */
    char runtime[PATH_MAX];       /* file of the program's HSA runtime; "" = unknown */
    char program[PATH_MAX];       /* file of the command; "" = there is none */
    bool gains_rights;            /* the program runs with rights of another user */
    struct rtl_elf_file *elf;     /* of the program; NULL = it can't be read. The caller frees it */
    bool other_loader;            /* the program needs a dynamic loader other than this system's */
};

/* Prints a line: what was checked, and the finding or what to do. */
__attribute__((format(printf, 4, 5))) void rtl_check_say(struct rtl_check *check, enum rtl_finding finding,
                                                         const char *what, const char *format, ...);

/* Reports whether this system's loader can load the library and what that library needs. */
void rtl_check_loads(struct rtl_check *check, const char *what, const char *library);

/* Reports the libraries in HSA_TOOLS_LIB (true if one is a librtl.so) and in LD_PRELOAD. */
bool rtl_check_tools(struct rtl_check *check, const char *library);
void rtl_check_preloads(struct rtl_check *check, const char *hip);

/* Checks the system: device, limits, room for a segment. */
void rtl_check_system(struct rtl_check *check);
/* Checks what environment variables tell the library and the runtime: modes, queues, tools. */
void rtl_check_environment(struct rtl_check *check, const char *library, bool preload);
/* Reports rocprofiler-sdk. `listed`: HSA_TOOLS_LIB already contains the library. The files searched are the program
 * and the libraries in its loader's list (library.h). */
void rtl_check_profiler(struct rtl_check *check, bool listed, bool preload);
void rtl_check_profiler_files(struct rtl_check *check, const char *path, const char *list);
void rtl_check_profiler_process(struct rtl_check *check, pid_t pid, bool traced);
/* Checks a program's file and keeps what it is. Returns 0, or 126 or 127 if it can't be executed. */
int rtl_check_program(struct rtl_check *check, const char *name);
/* Checks whether librtl-hip.so beside the library would record the program's HIP calls. */
void rtl_check_hip(struct rtl_check *check, const char *library);
/* Checks a process. Returns the exit status that -p would have. */
int rtl_check_process(struct rtl_check *check, pid_t pid);

#endif
