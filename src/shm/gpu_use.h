/*
 * Collects from a process's environment, mappings, descriptors and program why there is no segment. It decides nothing.
 */
#ifndef RTL_SHM_GPU_USE_H
#define RTL_SHM_GPU_USE_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/process.h"
#include "shm/profiler.h"

enum { RTL_TOOLS_LIB_MAX = 1024 };

struct rtl_gpu_use {
    bool environment;              /* the environment is readable */
    bool asked;                    /* HSA_TOOLS_LIB lists a librtl.so */
    bool preloaded;                /* LD_PRELOAD lists one: the loader maps the library before any runtime */
    bool missing;                  /* that path doesn't exist where the process runs */
    bool runtime;                  /* the HSA runtime is loaded */
    bool library;                  /* librtl.so is loaded */
    struct rtl_profiler profiler;  /* whether rocprofiler-sdk is active in the process */
    bool device;                   /* /dev/kfd is open */
    bool no_device;                /* /dev/kfd doesn't exist where the process runs */
    bool no_right;                 /* the process may not open /dev/kfd */
    bool bits32;                   /* a 32-bit program */
    bool unlinked;                 /* a program without a dynamic loader */
    char tools[RTL_TOOLS_LIB_MAX]; /* HSA_TOOLS_LIB, printable; "" = none */
};

/* Read the process again; facts seen once stay set. */
void rtl_gpu_use_read(const struct rtl_process *process, struct rtl_gpu_use *use);

/* Explain why such a process is not traced and what to do, in one line that begins with its number and name. `ended`:
 * the process has ended. */
void rtl_gpu_use_explain(const struct rtl_process *process, const struct rtl_gpu_use *use, bool ended, char *why,
                         size_t why_bytes);

/* Explain the same for a running process, also for kernel threads and zombies. Returns RTL_READER_NOT_TRACED. */
enum rtl_reader_status rtl_explain_untraced(const struct rtl_process *process, char *why, size_t why_bytes);

#endif
