/*
 * How far a process has come on its way to being traced: what its environment, its mappings, its descriptors and its
 * program say. None of it decides anything; it explains why there is no segment.
 */
#ifndef RTL_SHM_GPU_USE_H
#define RTL_SHM_GPU_USE_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/process.h"
#include "shm/profiler.h"

enum { RTL_TOOLS_LIB_MAX = 1024 };

struct rtl_gpu_use {
    bool environment;              /* its environment could be read */
    bool asked;                    /* HSA_TOOLS_LIB there lists a librtl.so */
    bool preloaded;                /* LD_PRELOAD lists one: the loader maps the library before any runtime */
    bool missing;                  /* by a path at which, where the process runs, there is nothing */
    bool runtime;                  /* the HSA runtime is loaded */
    bool library;                  /* librtl.so is */
    struct rtl_profiler profiler;  /* whether rocprofiler-sdk is active in the process */
    bool device;                   /* /dev/kfd is open */
    bool no_device;                /* there is no /dev/kfd where it runs, */
    bool no_right;                 /* or it may not open it */
    bool bits32;                   /* a 32-bit program */
    bool unlinked;                 /* a program without a dynamic loader */
    char tools[RTL_TOOLS_LIB_MAX]; /* HSA_TOOLS_LIB, printable; "" = none */
};

/* Looks again; what was seen once stays. */
void rtl_gpu_use_look(const struct rtl_process *process, struct rtl_gpu_use *use);

/* Why such a process is not traced, and what to do: a line that begins with its number and name. `ended`: it is no
 * more. */
void rtl_gpu_use_explain(const struct rtl_process *process, const struct rtl_gpu_use *use, bool ended, char *why,
                         size_t why_bytes);

/* The same for a process that is looked at now, kernel threads and zombies too: RTL_READER_NOT_TRACED. */
enum rtl_reader_status rtl_explain_untraced(const struct rtl_process *process, char *why, size_t why_bytes);

#endif
