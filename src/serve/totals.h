/*
 * What the processes of a machine have counted together since the server began: it only grows, whoever comes and goes,
 * and whatever a damaged segment says. A process is added frame by frame, by what it grew since the frame before.
 */
#ifndef RTL_SERVE_TOTALS_H
#define RTL_SERVE_TOTALS_H

#include "serve/ranked.h"
#include "shm/api_reader.h"
#include "shm/gpu_names.h"
#include "shm/segment_reader.h"
#include "text/names.h"

enum { RTL_SERVED_GPUS = 64 }; /* the last one is of all that find no other */

struct rtl_served_gpu {
    uint32_t bdf;
    char name[RTL_AGENT_NAME_MAX + 1], uuid[RTL_AGENT_UUID_MAX + 1];
    uint64_t busy_ns;
    struct rtl_idle idle[RTL_IDLE_COUNT];
    struct rtl_classes wait;
    struct rtl_served_copies {
        uint64_t count, bytes;
        struct rtl_classes times;
    } copies[RTL_DIRECTION_COUNT];
};

struct rtl_totals {
    struct rtl_names *names;
    struct rtl_ranked kernels, functions, ranges;
    struct rtl_tally families[RTL_FAMILY_COUNT];
    uint64_t untimed[RTL_UNTIMED_LIMIT];
    uint32_t gpu_count;
    struct rtl_served_gpu gpus[RTL_SERVED_GPUS];
};

/* `most`: kernels, and ranges, that have a series of their own. False without memory. */
bool rtl_totals_init(struct rtl_totals *totals, uint32_t most);
void rtl_totals_free(struct rtl_totals *totals);

/* What a process did between two snapshots of it; `earlier` NULL: from its start. `series` is the process's: numbers of
 * its kernels' series + 1 by row, 0 where not known so far. */
void rtl_totals_add(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                    uint32_t series[RTL_KERNELS_MAX]);
void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_api_copy *earlier,
                          const struct rtl_api_copy *later);
void rtl_totals_settle(struct rtl_totals *totals, uint64_t now_ns);

/* What a kernel's series is called; safe text. */
const char *rtl_totals_kernel(struct rtl_totals *totals, uint32_t number);
enum rtl_name_family rtl_totals_family(struct rtl_totals *totals, uint32_t number);

/* The PCI address of a process's GPU; RTL_NO_BDF when it hasn't described it. */
uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent);

#endif
