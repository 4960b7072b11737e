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

/* Numbers missing in the tables have no name. */
#define KEY(sym, num, key, text)  [num] = key,
#define TEXT(sym, num, key, text) [num] = text,
static const char *const path_keys[] = {RTL_QUEUE_PATHS(KEY)};
static const char *const reason_keys[] = {RTL_PATH_REASONS(KEY)};
static const char *const reason_texts[] = {RTL_PATH_REASONS(TEXT)};
#undef KEY
#undef TEXT

const char *rtl_queue_path_key(uint32_t way)
{
    return way < sizeof path_keys / sizeof *path_keys ? path_keys[way] : NULL;
}

const char *rtl_path_reason_key(uint32_t why)
{
    return why < sizeof reason_keys / sizeof *reason_keys ? reason_keys[why] : NULL;
}

const char *rtl_path_reason_text(uint32_t why)
{
    return why < sizeof reason_texts / sizeof *reason_texts ? reason_texts[why] : NULL;
}
