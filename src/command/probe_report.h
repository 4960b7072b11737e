/* What `rtl-top probe` has found out, as text and as JSON; and the code that it keeps. */
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
    const char *name, *mangled;              /* the kernel's: safe text */
    const struct rtl_probe_session *session; /* over; with `stalls` the last one that recorded something */
    const char *ended, *why;                 /* a word, and a line, of the last one; "" where as many as were wanted */
    bool every_chosen;                       /* by us, for this rate: */
    double per_second;
    uint64_t others_mean_ns;              /* of dispatches that weren't probed; 0: none was timed */
    bool others_before;                   /* none meanwhile: since the process's start */
    const struct rtl_stall_costs *stalls; /* waits were timed, ranked; NULL: they weren't asked for */
    enum rtl_unit units;
    bool ascii;
};

bool rtl_probe_report_text(const struct rtl_probe_report *report); /* false without memory */
bool rtl_probe_report_json(const struct rtl_probe_report *report);

/*
 * --keep: original.co, probed.co and probe.txt in the folder, which is made where there is none. Opened before anything
 * is probed, so that what can't be written is told first. Exit statuses; 0 = all is well, otherwise it was told why
 * not.
 */
struct rtl_probe_keep;
int rtl_probe_keep_open(const char *folder, bool force, struct rtl_probe_keep **keep);
/* Those that there are: a refused kernel has no probed code, nor does that of an earlier one stay. NULL is allowed. */
int rtl_probe_keep_write(struct rtl_probe_keep *keep, const struct rtl_probe_report *report);
void rtl_probe_keep_close(struct rtl_probe_keep *keep);

#endif
