/* Frames for programs and pipes, as text, CSV or JSON. Each function writes one frame; the caller (rtl_batch) checks
 * the stream for errors once a frame. */
#ifndef RTL_COMMAND_OUTPUT_H
#define RTL_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "model/model.h"
#include "record/probe_told.h"
#include "options/options.h"

struct rtl_output_frame {
    struct rtl_model *model;
    const struct rtl_options *options;
    pid_t pid;
    const char *title;                  /* command line, safe text */
    uint64_t number;                    /* frames written before */
    const struct rtl_probe_told *probe; /* of a recording; or NULL */
};

bool rtl_output_text(const struct rtl_output_frame *frame, FILE *out); /* false without memory */
bool rtl_output_csv(const struct rtl_output_frame *frame, FILE *out);
bool rtl_output_json(const struct rtl_output_frame *frame, FILE *out);

#endif
