/*
 * What has to be known of the numbers: the mode, what of the window's dispatches was not timed and why, and how packets
 * come to the library. Pure.
 */
#ifndef RTL_MODEL_COVERAGE_H
#define RTL_MODEL_COVERAGE_H

#include "model/model.h"

enum { RTL_WAY_LINES = 6 };
/* A way in which packets of some queues come, and why so. */
struct rtl_way_line {
    uint32_t way, why;
};
/* The ways of the process's queues, each pair once, in the order of the queues; returns how many. */
int rtl_way_lines(const struct rtl_model *model, struct rtl_way_line lines[RTL_WAY_LINES]);
const char *rtl_way_label(uint32_t way);     /* "native"; "-" when it isn't told, "unknown" */
const char *rtl_way_why_label(uint32_t why); /* "rings_itself", likewise */
const char *rtl_way_why_words(uint32_t why); /* the same in words: for people */
/* "queues demoted (another writer moves the queue's index)", for the whole process; "" when all queues are native by
 * default. */
void rtl_ways_text(const struct rtl_model *model, char *out, size_t size);

/*
 * The mode, what of the window's dispatches was not timed and why, and what else has to be known, most important first.
 * Sums since the start that the rest of the line is not about are in the help, the queues and the outputs.
 */
void rtl_coverage_text(const struct rtl_model *model, char *out, size_t size);
/*
 * The same for a screen: after the sums, and in two words while there is nothing to be said. What is only of interest
 * when it is much, drops and the pool of signals, is there when it is. Where it is longer than `columns` whole parts
 * are left out, the least important first, and " [?]" stands at its end; false then.
 */
enum { RTL_COVERAGE_BYTES = 1024 }; /* room for any */
bool rtl_coverage_line(const struct rtl_model *model, int columns, char *out, size_t size);

#endif
