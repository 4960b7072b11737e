/*
 * Copies records out of event rings while threads overwrite them, and counts lost ones. A record counts only if its own
 * number stands in it before and after the copy.
 */
#include <sys/stat.h>

#include "shm/hip_api_reader.h"
#include "shm/file_data.h"

static bool read_heads(int fd, uint64_t heads[RTL_HIP_API_BLOCKS])
{
    struct rtl_hip_api_thread threads[RTL_HIP_API_BLOCKS];
    if (!rtl_file_read(fd, threads, sizeof threads, RTL_HIP_API_THREADS_AT))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_BLOCKS; i++)
        heads[i] = threads[i].events <= INT64_MAX ? threads[i].events : 0; /* a larger number can't be true */
    return true;
}

bool rtl_hip_api_events_begin(int fd, struct rtl_hip_api_events *e)
{
    struct rtl_hip_api_header h;
    struct stat st;
    *e = (struct rtl_hip_api_events){0};
    if (fstat(fd, &st) != 0 || !rtl_file_read(fd, &h, sizeof h, 0) || h.magic != RTL_HIP_API_MAGIC ||
        h.major != RTL_HIP_API_MAJOR || h.minor < 1 || !h.events || (h.events & (h.events - 1)) ||
        h.events > RTL_HIP_API_EVENTS_MAX ||
        (uint64_t)st.st_size < RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, h.events) || !read_heads(fd, e->next))
        return false;
    e->records = h.events;
    for (uint32_t i = 0; i < RTL_HIP_API_BLOCKS; i++)
        e->next[i] = e->next[i] > h.events ? e->next[i] - h.events : 0;
    return true;
}

/* Skip overwritten records and count them as lost. */
static void skip_lost(struct rtl_hip_api_events *e, uint32_t block, uint64_t head)
{
    if (head <= e->records || e->next[block] >= head - e->records)
        return;
    e->lost += head - e->records - e->next[block];
    e->next[block] = head - e->records;
}

static struct rtl_hip_api_event to_time_line(const struct rtl_hip_api_events *e, const struct rtl_hip_api_event *event)
{
    struct rtl_hip_api_event moved = *event;
    moved.start_ns -= (uint64_t)e->ahead_ns;
    moved.end_ns -= (uint64_t)e->ahead_ns;
    return moved;
}

static uint32_t read_ring(int fd, struct rtl_hip_api_events *e, uint32_t block, uint64_t head,
                          struct rtl_hip_api_event *out, uint32_t most)
{
    uint64_t ring = RTL_HIP_API_EVENTS_OF(block, e->records);
    uint32_t count = 0;
    skip_lost(e, block, head);
    while (e->next[block] < head && count < most) {
        /* Copy up to the ring's end, then copy again: a record overwritten meanwhile has another number. */
        uint64_t first = e->next[block] & (e->records - 1), n = e->records - first;
        struct rtl_hip_api_event again[64];
        n = n < head - e->next[block] ? n : head - e->next[block];
        n = n < most - count ? n : most - count;
        n = n < sizeof again / sizeof *again ? n : sizeof again / sizeof *again;
        uint64_t at = ring + first * sizeof *out;
        struct rtl_hip_api_event *to = &out[count];
        if (!rtl_file_read(fd, to, n * sizeof *to, at) || !rtl_file_read(fd, again, n * sizeof *to, at))
            return count; /* the file was cut: no more records come */
        for (uint64_t i = 0; i < n; i++, e->next[block]++) {
            if (to[i].sequence == e->next[block] + 1 && again[i].sequence == to[i].sequence)
                out[count++] = to_time_line(e, &to[i]);
            else
                e->lost++;
        }
    }
    return count;
}

uint32_t rtl_hip_api_events(int fd, struct rtl_hip_api_events *e, struct rtl_hip_api_event *out, uint32_t most)
{
    uint64_t heads[RTL_HIP_API_BLOCKS];
    uint32_t count = 0;
    if (!e->records || !read_heads(fd, heads))
        return 0;
    for (uint32_t i = 0; i < RTL_HIP_API_BLOCKS && count < most; i++) {
        uint32_t block = (e->block + i) % RTL_HIP_API_BLOCKS;
        count += read_ring(fd, e, block, heads[block], out + count, most - count);
        if (count == most)
            e->block = (block + 1) % RTL_HIP_API_BLOCKS; /* so that a busy ring doesn't starve the others */
    }
    return count;
}
