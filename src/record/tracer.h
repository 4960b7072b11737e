/*
 * Recording a trace in the background: a thread copies the event ring of a process into a file.
 *
 * The thread has its own reader and database and shares nothing with other parts of rtl-top. It buffers records and
 * writes them every 250 ms, so that the file is locked briefly and several recorders can share it; a crash loses at
 * most that much. The thread ends when the process has ended and the ring is empty, and after an error.
 */
#ifndef RTL_RECORD_TRACER_H
#define RTL_RECORD_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/rocpd.h"

struct rtl_tracer;

struct rtl_tracer_options {
    pid_t pid;
    const char *title; /* the command line, for the file */
    const char *file;
    bool force; /* replace a file that is not a recording */
    rtl_rocpd_escape *escape;
    uint64_t sample_ns; /* interval of the samples of queue depths and signals */
};

struct rtl_tracer_result {
    int status;                   /* exit status of rtl-top */
    char why[512];                /* one line when the status is not 0 */
    struct rtl_rocpd_state state; /* after the last write */
    bool exited;                  /* the process has ended */
};

/* Open everything, then start the thread. Returns 0, or an exit status and `why`. */
int rtl_tracer_start(const struct rtl_tracer_options *options, struct rtl_tracer **tracer, char *why, size_t why_bytes);

/* False once the thread has ended by itself. */
bool rtl_tracer_running(struct rtl_tracer *tracer);

/* Why the thread ended early, one line; else NULL. Valid until rtl_tracer_stop. */
const char *rtl_tracer_trouble(struct rtl_tracer *tracer);

/* Ask the thread to end, without waiting. It first writes the records in the ring, at most the ring's capacity.
 * `at_once`: it drops them. */
void rtl_tracer_end(struct rtl_tracer *tracer, bool at_once);

/* Write the records in the ring, close the file and free the tracer. */
struct rtl_tracer_result rtl_tracer_stop(struct rtl_tracer *tracer);

#endif
