/* The results of rtl-top probe as text and JSON, and the files of --keep. */
#ifndef RTL_COMMAND_PROBE_REPORT_H
#define RTL_COMMAND_PROBE_REPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/probe_figures.h"
#include "probing/stall_costs.h"
#include "probing/probe_session.h"
#include "text/units.h"

struct rtl_probe_report {
    pid_t pid;
    const char *title;                       /* command line, safe text */
    const char *name, *mangled;              /* of the kernel; safe text */
    const struct rtl_probe_session *session; /* finished; with `stalls` the last session that recorded something */
    const char *ended,
        *why; /* word and line about the end of the last session; `ended` is "" if all wanted dispatches were probed */
    bool every_chosen; /* the viewer chose `every`, for this rate of dispatches */
    double per_second;
    uint64_t others_mean_ns; /* mean of dispatches that weren't probed; 0 = none was timed */
    bool others_before;      /* that mean counts since the process's start, as none was timed meanwhile */
    const struct rtl_stalls_report *stalls; /* ranked waits; NULL without --stalls */
    enum rtl_unit units;
    bool ascii;
};

bool rtl_probe_report_text(const struct rtl_probe_report *report); /* false without memory */
bool rtl_probe_report_json(const struct rtl_probe_report *report);

/* --keep: makes the folder if needed and opens original.co, probed.co and probe.txt in it. Call it before probing, to
 * report unwritable files early. Returns 0, or an exit status after a complaint. */
enum { RTL_PROBE_FILES = 3 };
struct rtl_probe_keep {
    const char *folder; /* NULL = without --keep */
    bool force;
    struct rtl_outfile *file[RTL_PROBE_FILES];
};
int rtl_probe_keep_open(struct rtl_probe_keep *keep, const char *folder, bool force);
/* Writes the files that exist: a refused kernel has no probed code; that of an earlier probe is removed. */
int rtl_probe_keep_write(struct rtl_probe_keep *keep, const struct rtl_probe_report *report);
void rtl_probe_keep_close(struct rtl_probe_keep *keep);

#endif
