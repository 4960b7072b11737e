/*
 * Sums over all processes of the machine since the server's start. A process is added frame by frame, by its growth
 * since the previous frame, so the sums never decrease when processes end or a segment is damaged.
 */
#ifndef RTL_SERVE_TOTALS_H
#define RTL_SERVE_TOTALS_H

#include "serve/ranked.h"
#include "shm/hip_api_snapshot.h"
#include "shm/gpu_names.h"
#include "shm/segment_reader.h"
#include "text/names.h"
#include "watch/users.h"

enum { RTL_SERVED_GPUS = 128 }; /* the last one collects GPUs without an own entry */
static const uint64_t RTL_RANGES_KEPT_NS =
    600000000000ull; /* how long functions and ranges without a process are kept */

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
    uint64_t queue_errors[RTL_QUEUE_ERROR_COUNT + 1]; /* in the order of RTL_QUEUE_ERRORS; the last one: unknown */
    uint32_t gpu_count;
    struct rtl_served_gpu gpus[RTL_SERVED_GPUS];
};

/* Upper bounds for the growth that a process can have in its lifetime, less the growth already counted. Larger numbers
 * are false and add nothing: they would push other series out of the page. */
struct rtl_credit {
    uint64_t events, busy_ns, waited_ns, bytes;
};
enum {
    RTL_CREDIT_BUSY = 2 * RTL_QUEUES_MAX, /* kernels, copies and GPUs busy at the same time; events: one per ns */
    RTL_CREDIT_WAITING = 1 << 16,         /* waiting packets, open calls and ranges at the same time */
    RTL_CREDIT_BYTES = 1 << 16,           /* copied per ns */
};

/* Quota of new objects that a process may add; counted down. */
struct rtl_share {
    uint32_t names;             /* new kernels; a name costs one for each RTL_SERIES_TEXT_EACH bytes begun */
    uint32_t gpus;              /* new GPUs */
    uint32_t functions, ranges; /* new functions and ranges */
    uint32_t owner;             /* uid that owns them */
    struct rtl_credit credit;
    uint64_t refused; /* kernels beyond the quota, which count as "(other)". Counted up */
    uint64_t untrue;  /* numbers beyond the credit. Counted up */
};

/* Add the credit for elapsed time. */
void rtl_credit_add(struct rtl_credit *credit, uint64_t ns);

/* `most`: number of kernels and of ranges with their own series. False without memory. */
bool rtl_totals_init(struct rtl_totals *totals, uint32_t most);
void rtl_totals_free(struct rtl_totals *totals);

/* Add the growth between two snapshots of a process; `earlier` NULL: since its start. `series` belongs to the process:
 * by row the number of the kernel's series + 1, 0 = unknown; held until rtl_totals_release. */
void rtl_totals_add(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                    uint32_t series[RTL_KERNELS_MAX], struct rtl_share *share);
void rtl_totals_release(struct rtl_totals *totals, uint32_t series[RTL_KERNELS_MAX]);
void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_hip_api_snapshot *earlier,
                          const struct rtl_hip_api_snapshot *later, struct rtl_share *share);
void rtl_totals_settle(struct rtl_totals *totals, uint64_t now_ns);

/* Return the label of a kernel's series; safe text. */
const char *rtl_totals_kernel(struct rtl_totals *totals, uint32_t number);
enum rtl_name_family rtl_totals_family(struct rtl_totals *totals, uint32_t number);

/* Return the PCI address of a process's GPU; RTL_NO_BDF if the process has not described it. */
uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent);

/*
 * Shares of names and GPUs per user (watch/users.h has the other limits). No user may have more of them than stay free,
 * so some are left for the next user. The server's own user has no limit.
 */
enum {
    RTL_USER_NAMES = RTL_SERIES_MAX / 2,    /* at once, for each: kernels that no other user has, ranges, functions */
    RTL_PROCESS_NAMES = RTL_SERIES_MAX / 4, /* of them for one process */
    RTL_USER_GPUS = RTL_SERVED_GPUS / 2,    /* ever */
};

/* Return the share left for a process that has added `names` so far; rtl_user_charge_share charges what it used. */
struct rtl_share rtl_user_share(const struct rtl_user *user, const struct rtl_totals *totals, uint32_t names);
/* Set the share of functions and ranges. */
void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share);
void rtl_user_charge_share(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                           const struct rtl_share *after);
void rtl_user_release_names(struct rtl_user *user, uint32_t names);

#endif
