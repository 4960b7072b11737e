/* A probe's measurements as JSON, for rtl-top probe and for a frame of a recording. */
#ifndef RTL_COMMAND_JSON_PROBE_H
#define RTL_COMMAND_JSON_PROBE_H

#include "command/json_writer.h"
#include "model/model.h"
#include "record/probe_told.h"

struct rtl_probe_numbers {
    const struct rtl_probe_state *state;
    uint32_t compute_units;  /* 0 = unknown */
    uint64_t others_mean_ns; /* mean of dispatches that weren't probed; 0 = none was timed */
    bool others_before;      /* that mean counts since the process's start */
};
void rtl_json_probe_numbers(struct json_writer *w, struct json_object *root, const struct rtl_probe_numbers *numbers);
/* Adds the key "hash". */
void rtl_json_probe_hash(struct json_writer *w, struct json_object *o, uint64_t hash);

/* Adds the key "probe". */
void rtl_json_probe(struct json_writer *w, struct json_object *root, const struct rtl_model *m,
                    const struct rtl_probe_told *probe);

#endif
