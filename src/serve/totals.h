/*
 * What the processes of a machine have counted together since the server began: it only grows, whoever comes and goes,
 * and whatever a damaged segment says. A process is added frame by frame, by what it grew since the frame before.
 */
#ifndef RTL_SERVE_TOTALS_H
#define RTL_SERVE_TOTALS_H

#include "serve/ranked.h"
#include "shm/hip_api_snapshot.h"
#include "shm/gpu_names.h"
#include "shm/segment_reader.h"
#include "text/names.h"

enum { RTL_SERVED_GPUS = 128 };                             /* the last one is of all that find no other */
static const uint64_t RTL_RANGES_KEPT_NS = 600000000000ull; /* without a process that has them */

struct rtl_served_gpu {
    uint32_t bdf;
    char name[RTL_AGENT_NAME_MAX + 1], uuid[RTL_AGENT_UUID_MAX + 1];
    uint64_t busy_ns;
    struct rtl_idle idle[RTL_IDLE_COUNT];
    struct rtl_prom_buckets wait;
    struct rtl_served_copies {
        uint64_t count, bytes;
        struct rtl_prom_buckets times;
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

/* What a process can have done in its time, as far as it hasn't been counted. What goes beyond that isn't true, and
 * adds nothing: one that says absurd numbers would take the room of others', or push them from what is shown. */
struct rtl_credit {
    uint64_t events, busy_ns, waited_ns, bytes;
};
enum {
    RTL_CREDIT_BUSY = 2 * RTL_QUEUES_MAX, /* kernels, copies and GPUs at once, all the time; events are one a ns */
    RTL_CREDIT_WAITING = 1 << 16,         /* packets that wait, calls and ranges that are open */
    RTL_CREDIT_BYTES = 1 << 16,           /* copied in a ns */
};

/* How much that is new a process may still bring. Counted down. */
struct rtl_share {
    uint32_t names;             /* of kernels that no other has, one for each RTL_SERIES_TEXT_EACH bytes begun */
    uint32_t gpus;              /* that no other has */
    uint32_t functions, ranges; /* likewise, of calls; and whose they are then */
    uint32_t by;
    struct rtl_credit credit;
    uint64_t refused; /* kernels that were one too many: they count among the others. Counted up */
    uint64_t untrue;  /* numbers beyond the credit. Counted up */
};

/* Time that has gone by. */
void rtl_credit_add(struct rtl_credit *credit, uint64_t ns);

/* `most`: kernels, and ranges, that have a series of their own. False without memory. */
bool rtl_totals_init(struct rtl_totals *totals, uint32_t most);
void rtl_totals_free(struct rtl_totals *totals);

/* What a process did between two snapshots of it; `earlier` NULL: from its start. `series` is the process's: numbers of
 * its kernels' series + 1 by row, 0 where not known so far; held until they are let go of. */
void rtl_totals_add(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                    uint32_t series[RTL_KERNELS_MAX], struct rtl_share *share);
void rtl_totals_let_go(struct rtl_totals *totals, uint32_t series[RTL_KERNELS_MAX]);
void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_hip_api_snapshot *earlier,
                          const struct rtl_hip_api_snapshot *later, struct rtl_share *share);
void rtl_totals_settle(struct rtl_totals *totals, uint64_t now_ns);

/* What a kernel's series is called; safe text. */
const char *rtl_totals_kernel(struct rtl_totals *totals, uint32_t number);
enum rtl_name_family rtl_totals_family(struct rtl_totals *totals, uint32_t number);

/* The PCI address of a process's GPU; RTL_NO_BDF when it hasn't described it. */
uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent);

#endif
