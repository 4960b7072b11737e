/* Frames for programs and pipes, as text, CSV or JSON. Each function writes one frame; the caller (rtl_batch) checks
 * the stream for errors once a frame. */
#ifndef RTL_COMMAND_OUTPUT_H
#define RTL_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "command/json_writer.h"
#include "model/model.h"
#include "model/ranks.h"
#include "record/probe_told.h"
#include "options/options.h"

struct rtl_output_frame {
    struct rtl_model *model;
    const struct rtl_options *options;
    pid_t pid;
    const char *title;                  /* command line, safe text */
    const char *restart;                /* of an observed process (watch/restart.h), or NULL */
    uint64_t number;                    /* frames written before */
    const struct rtl_probe_told *probe; /* of a recording; or NULL */
};

bool rtl_output_text(const struct rtl_output_frame *frame, FILE *out); /* false without memory */
bool rtl_output_csv(const struct rtl_output_frame *frame, FILE *out);
bool rtl_output_json(const struct rtl_output_frame *frame, FILE *out);

/* rtl-top api */
enum rtl_hip_api_form { RTL_HIP_API_TABLE, RTL_HIP_API_JSON, RTL_HIP_API_CSV, RTL_HIP_API_CSV_MORE /* no header */ };

/* Prints snapshot->hip_api on standard output, with the snapshot's kernels by range. False without memory. */
bool rtl_hip_api_print(const struct rtl_snapshot *snapshot, pid_t pid, enum rtl_hip_api_form form);

/* --- parts in JSON --- */

/* Adds all keys of a frame to `root`; the model's shown rows bound the kernels. */
void rtl_json_frame(struct json_writer *w, struct json_object *root, const struct rtl_output_frame *frame);

/* Adds all keys of a process, also for rtl-top list. */
void rtl_json_process(struct json_writer *w, struct json_object *o, const struct rtl_model *m,
                      const struct rtl_process_row *row);

/* Adds the frame's key "api": null if the process records no calls. */
void rtl_json_hip_api(struct json_writer *w, struct json_object *root, const struct rtl_model *m);
/* Adds a row's numbers since the start; null for times of a row without calls. */
void rtl_json_hip_api_row(struct json_writer *w, struct json_object *o, const struct rtl_hip_api_row_snapshot *row);
/* Adds each kernel's dispatches by the innermost range that submitted them. */
void rtl_json_range_kernels(struct json_writer *w, struct json_object *o, const struct rtl_snapshot *s,
                            struct rtl_names *names);
/* Adds memory in use, and counts of calls and ranges that are not followed. */
void rtl_json_hip_api_rest(struct json_writer *w, struct json_object *root, const struct rtl_hip_api_snapshot *api);

/* Adds the frame's key "probe". */
void rtl_json_probe(struct json_writer *w, struct json_object *root, const struct rtl_model *m,
                    const struct rtl_probe_told *probe);

/* Adds what a probe has measured; compute_units 0 = unknown. others_mean_ns is the mean of dispatches that weren't
 * probed, with `before` since the process's start; 0 = none was timed. */
void rtl_json_probe_numbers(struct json_writer *w, struct json_object *root, const struct rtl_probe_state *state,
                            uint32_t compute_units, uint64_t others_mean_ns, bool before);
/* Adds the key "hash". */
void rtl_json_probe_hash(struct json_writer *w, struct json_object *o, uint64_t hash);

#endif
