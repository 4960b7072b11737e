/*
 * Recording a trace while something else goes on: a thread that empties the event ring of a process into a file.
 *
 * It has a reader and a database of its own and shares nothing with the rest of rtl-top. Records are gathered in memory
 * and written a quarter of a second's at a time, so the file is locked for moments only and several recorders can share
 * it; a crash loses at most that much. It ends by itself when the process has ended and the ring is empty, and on an
 * error.
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
    bool force; /* replace a file that is not ours */
    rtl_rocpd_escape *escape;
    uint64_t look_ns; /* between two looks at queue depths and signals */
};

struct rtl_tracer_result {
    int status;                          /* exit status of rtl-top */
    char why[512];                       /* one line when the status is not 0 */
    uint64_t rows, copies;               /* written: all, and those of them that are copies */
    uint64_t calls, markers, calls_lost; /* of HIP and roctx, where they are recorded */
    uint64_t linked;                     /* dispatches and copies that have their call */
    uint64_t lost;                       /* overwritten in the ring before they were read, since the recording began */
    uint64_t before;                     /* overwritten before it began */
    uint64_t left_out;                   /* read and not written, because it had to end at once */
    uint64_t unknown;                    /* written with a queue or GPU that the process doesn't have */
    bool exited;                         /* it ended because the process did */
};

/* Opens everything, so that whatever is wrong is known now, and starts the thread. 0, or an exit status and `why`. */
int rtl_tracer_start(const struct rtl_tracer_options *options, struct rtl_tracer **tracer, char *why, size_t why_bytes);

/* False once it has ended by itself. */
bool rtl_tracer_running(struct rtl_tracer *tracer);

/* Why it ended before it was told to, one line; NULL while all is well. Stays valid until it is stopped. */
const char *rtl_tracer_trouble(struct rtl_tracer *tracer);

/*
 * Asks it to end, and returns at once: what is in the ring now is written, at most as much as the ring holds.
 * `at_once`: that is left out, and what was written stays.
 */
void rtl_tracer_end(struct rtl_tracer *tracer, bool at_once);

/* Writes what is in the ring, closes the file and says how it went. Frees the tracer. */
struct rtl_tracer_result rtl_tracer_stop(struct rtl_tracer *tracer);

#endif
