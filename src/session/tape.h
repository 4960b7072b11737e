/*
 * The recorder behind -w, --snapshot and the keys x and S: what the viewer has seen, into a file, named as on screen.
 * Errors are told once a streak; the viewer goes on.
 */
#ifndef RTL_SESSION_TAPE_H
#define RTL_SESSION_TAPE_H

#include "model/model.h"
#include "record/recording.h"
#include "session/options.h"

enum { RTL_TAPE_PATH = 512 };

struct rtl_tape {
    struct rtl_model *model; /* whose names are used */
    const struct rtl_options *options;
    pid_t pid;
    const char *title; /* outlives the tape */
    char path[RTL_TAPE_PATH];
    struct rtl_recording *recording; /* NULL = off */
    enum rtl_db_status last;         /* of the last frame */
    char why[512];                   /* what the last failure was */
};

void rtl_tape_init(struct rtl_tape *tape, struct rtl_model *model, const struct rtl_options *options, pid_t pid,
                   const char *title);
/* Starts recording; on failure `why` says what is wrong. */
enum rtl_db_status rtl_tape_start(struct rtl_tape *tape, unsigned busy_ms);
/* Adds a frame if it is on. The status of the frame; tape->last is that of the one before until this returns. */
enum rtl_db_status rtl_tape_add(struct rtl_tape *tape, const struct rtl_snapshot *snapshot, uint64_t real_ns,
                                bool exited);
void rtl_tape_stop(struct rtl_tape *tape);
/* Adds a snapshot to the file, whether a series is being recorded into it or not. */
enum rtl_db_status rtl_tape_snapshot(struct rtl_tape *tape, const char *path, const struct rtl_snapshot *snapshot,
                                     uint64_t real_ns, unsigned busy_ms);

#endif
