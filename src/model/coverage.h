/*
 * The coverage line: the mode, how many of the window's dispatches were not timed and why, and how packets reach the
 * library. Pure.
 */
#ifndef RTL_MODEL_COVERAGE_H
#define RTL_MODEL_COVERAGE_H

#include "model/model.h"

enum { RTL_QUEUE_PATH_LINES = 6 };
/* A path on which packets reach the library, and its reason. */
struct rtl_queue_path_line {
    uint32_t path, why;
};
/* List the paths of the process's queues, each pair once, in the order of the queues; return the count. */
int rtl_queue_path_lines(const struct rtl_model *model, struct rtl_queue_path_line lines[RTL_QUEUE_PATH_LINES]);
const char *rtl_queue_path_label(uint32_t way);  /* "native"; "-" for 0, "unknown" of a newer library */
const char *rtl_path_reason_label(uint32_t why); /* "rings_itself"; likewise */
const char *rtl_path_reason_words(uint32_t why); /* a sentence's part; likewise */
/* "queues demoted (another writer moves the queue's index)"; "" if all paths have the default reason. */
void rtl_queue_paths_text(const struct rtl_model *model, char *out, size_t size);

/* Write the complete line: the mode, untimed dispatches by reason, and remarks, without sums since the start. */
void rtl_coverage_text(const struct rtl_model *model, char *out, size_t size);
/*
 * Write the line for a screen: sums first, and only "all timed" if all is well. Drops and the signal pool appear when
 * they matter. A line longer than `columns` loses its least important parts and ends with " [?]"; then the result is
 * false.
 */
enum { RTL_COVERAGE_BYTES = 1024 }; /* room for any */
bool rtl_coverage_line(const struct rtl_model *model, int columns, char *out, size_t size);

#endif
