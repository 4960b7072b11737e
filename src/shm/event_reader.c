/*
 * Copies records out of the event ring while the worker overwrites them, and counts lost ones.
 *
 * A record counts only if its own number stands in it before and after the copy. Skipped records are lost: one by one
 * or, if the writer has lapped the reader, all at once.
 */
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

uint32_t rtl_reader_events_capacity(const struct rtl_reader *reader)
{
    return reader->view[RTL_SECTION_EVENTS].capacity;
}

static bool read_ring_head(const struct rtl_reader *reader, uint64_t *head)
{
    return rtl_fetch_entry(reader, RTL_SECTION_RING, 0, offsetof(struct rtl_ring, head), head, sizeof *head) &&
           *head <= INT64_MAX; /* a larger number can't be true */
}

bool rtl_reader_events_begin(const struct rtl_reader *reader, struct rtl_events *events)
{
    uint64_t head, capacity = rtl_reader_events_capacity(reader);
    if (!capacity || !read_ring_head(reader, &head))
        return false;
    events->first = events->next = head > capacity ? head - capacity : 0;
    events->lost = 0;
    return true;
}

/* Skip overwritten records and count them as lost. */
static void skip_overwritten(struct rtl_events *events, uint64_t head, uint64_t capacity)
{
    if (head <= capacity || events->next >= head - capacity)
        return;
    events->lost += head - capacity - events->next;
    events->next = head - capacity;
}

uint32_t rtl_reader_linked_events(const struct rtl_reader *reader, struct rtl_events *events,
                                  struct rtl_linked_event *out, uint32_t most)
{
    bool links = reader->view[RTL_SECTION_EVENTS].stride >= sizeof *out;
    uint64_t head, again, capacity = rtl_reader_events_capacity(reader);
    uint32_t count = 0;
    if (!capacity || !read_ring_head(reader, &head))
        return 0;
    skip_overwritten(events, head, capacity);
    for (; events->next < head && count < most; events->next++) {
        uint32_t entry = (uint32_t)(events->next & (capacity - 1));
        struct rtl_event_record *to = &out[count].record;
        if (!links)
            out[count].link = (struct rtl_event_link){0};
        if (!rtl_fetch_entry(reader, RTL_SECTION_EVENTS, entry, 0, to, links ? sizeof *out : sizeof *to) ||
            !rtl_fetch_entry(reader, RTL_SECTION_EVENTS, entry, 0, &again, sizeof again))
            return count; /* the file was cut: no more records come */
        if (to->sequence == events->next + 1 && again == to->sequence) {
            if (!(to->flags & RTL_EVENT_AGENT_CLOCK))
                to->start_ns = rtl_reader_line(reader, to->start_ns);
            out[count].link.entry_ns = rtl_reader_line(reader, out[count].link.entry_ns);
            count++;
            continue;
        }
        events->lost++;
        /* the writer has overtaken us: find out how many more are lost */
        if (!read_ring_head(reader, &again) || again < head)
            continue;
        events->next++;
        skip_overwritten(events, again, capacity);
        events->next--;
    }
    return count;
}

const char *rtl_reader_kernel_name(struct rtl_reader *reader, uint32_t kernel)
{
    bool damaged = false;
    return rtl_reader_name(reader, kernel, &damaged);
}

uint64_t rtl_reader_kernel_object(const struct rtl_reader *reader, uint32_t kernel)
{
    struct rtl_kernel row;
    if (kernel >= reader->kernels || !rtl_fetch_entry(reader, RTL_SECTION_KERNELS, kernel, 0, &row, sizeof row))
        return 0;
    return row.state == RTL_KERNEL_READY ? row.kernel_object : 0;
}
