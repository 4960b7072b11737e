/* Numbers of each kernel of an observed process: calls, the last launch, times. Threads: one at a time. */
#ifndef RTL_OBSERVE_OBSERVED_ROWS_H
#define RTL_OBSERVE_OBSERVED_ROWS_H

#include <stdbool.h>

#include "observe/kernel_names.h"
#include "observe/read_convention.h"
#include "observe/ring_counter.h"
#include "shm/segment_reader.h"

struct rtl_observed_row {
    uint64_t calls;
    uint64_t early_ns, late_ns;  /* time at the head of queues, under each convention */
    struct rtl_ring_packet last; /* the last launch */
    /* of dispatches with exact times */
    uint64_t timed, total_ns, min_ns, max_ns;
    uint64_t *octave[RTL_OCTAVES_MAX];
    /* estimates in snapshots, which never decrease */
    uint64_t estimated_ns, estimated_calls, estimated_head_ns;
};

struct rtl_observed_rows {
    struct rtl_observed_row *at;
    uint32_t count;
    uint64_t early_ns, late_ns;         /* of all rows */
    uint64_t early_all_ns, late_all_ns; /* the same with late polls at their full length */
};

/* Make room for so many rows; false without memory. */
bool rtl_observed_rows_grow(struct rtl_observed_rows *rows, uint32_t count);
void rtl_observed_rows_free(struct rtl_observed_rows *rows);

/* Record a duration from a signal; false without memory. */
bool rtl_observed_row_time(struct rtl_observed_row *row, uint64_t ns);

/* Copy the rows into a snapshot, with their estimates. False without memory. */
bool rtl_observed_rows_copy(struct rtl_observed_rows *rows, const struct rtl_kernel_names *names,
                            enum rtl_convention convention, struct rtl_snapshot *snapshot);

#endif
