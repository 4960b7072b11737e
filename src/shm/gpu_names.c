/* Names of GPUs, queues and queue paths. See gpu_names.h. */
#include "shm/gpu_names.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "shm/tables.h"

struct rtl_gpu_name rtl_pci_address(uint32_t bdf)
{
    struct rtl_gpu_name n = {""};
    if (bdf != RTL_NO_BDF)
        snprintf(n.text, sizeof n.text, "%04x:%02x:%02x.%x", bdf >> 16, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    return n;
}

struct rtl_gpu_name rtl_gpu_name(uint32_t gpu, uint32_t bdf)
{
    struct rtl_gpu_name n, address = rtl_pci_address(bdf);
    const char *shown = *address.text && bdf >> 16 == 0 ? address.text + 5 : address.text;
    snprintf(n.text, sizeof n.text, "G%" PRIu32 "%s%.20s", gpu, *shown ? " " : "", shown);
    return n;
}

struct rtl_gpu_name rtl_queue_name(uint32_t gpu, uint32_t bdf, uint64_t queue_id)
{
    struct rtl_gpu_name n, of = rtl_gpu_name(gpu, bdf);
    snprintf(n.text, sizeof n.text, "%.35s queue %" PRIu64, of.text, queue_id);
    return n;
}

struct rtl_gpu_name rtl_other_queues_name(uint32_t gpu, uint32_t bdf)
{
    struct rtl_gpu_name n, of = rtl_gpu_name(gpu, bdf);
    snprintf(n.text, sizeof n.text, "%.35s other queues", of.text);
    return n;
}

struct way_name {
    const char *key, *text;
};
#define NAME(sym, num, key, text) [num] = {key, text},
static const struct way_name ways[] = {RTL_QUEUE_PATHS(NAME)}, reasons[] = {RTL_PATH_REASONS(NAME)};
#undef NAME

/* Numbers missing in the tables have zeros: no name. */
static struct way_name name_of(const struct way_name *names, size_t count, uint32_t number)
{
    return number < count ? names[number] : (struct way_name){NULL, NULL};
}

const char *rtl_queue_path_key(uint32_t way)
{
    return name_of(ways, sizeof ways / sizeof *ways, way).key;
}

const char *rtl_queue_path_meaning(uint32_t way)
{
    return name_of(ways, sizeof ways / sizeof *ways, way).text;
}

const char *rtl_path_reason_key(uint32_t why)
{
    return name_of(reasons, sizeof reasons / sizeof *reasons, why).key;
}

const char *rtl_path_reason_text(uint32_t why)
{
    return name_of(reasons, sizeof reasons / sizeof *reasons, why).text;
}
