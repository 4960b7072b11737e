/*
 * Reads the event ring: copies records out while the worker overwrites them, and counts those that it didn't get.
 *
 * A record counts as read only if its own number was in it before and after the copy. The others are counted as lost,
 * one by one or, when the writer has gone round the ring, all at once.
 */
#include "shm/reader_private.h"

uint32_t rtl_reader_events_capacity(const struct rtl_reader *reader)
{
    return reader->events ? reader->view[RTL_SECTION_EVENTS].capacity : 0;
}

static bool head_of(const struct rtl_reader *reader, uint64_t *head)
{
    return rtl_fetch_entry(reader, RTL_SECTION_RING, 0, offsetof(struct rtl_ring, head), head, sizeof *head) &&
           *head <= INT64_MAX; /* nobody has written that many */
}

bool rtl_reader_events_begin(const struct rtl_reader *reader, struct rtl_events *events)
{
    uint64_t head, capacity = rtl_reader_events_capacity(reader);
    if (!capacity || !head_of(reader, &head))
        return false;
    events->first = events->next = head > capacity ? head - capacity : 0;
    events->lost = 0;
    return true;
}

/* Passes over what has been overwritten by now. */
static void skip(struct rtl_events *events, uint64_t head, uint64_t capacity)
{
    if (head <= capacity || events->next >= head - capacity)
        return;
    events->lost += head - capacity - events->next;
    events->next = head - capacity;
}

uint32_t rtl_reader_events(const struct rtl_reader *reader, struct rtl_events *events, struct rtl_event_record *out,
                           uint32_t most)
{
    uint64_t head, again, capacity = rtl_reader_events_capacity(reader);
    uint32_t count = 0;
    if (!capacity || !head_of(reader, &head))
        return 0;
    skip(events, head, capacity);
    for (; events->next < head && count < most; events->next++) {
        uint32_t entry = (uint32_t)(events->next & (capacity - 1));
        struct rtl_event_record *to = &out[count];
        if (!rtl_fetch_entry(reader, RTL_SECTION_EVENTS, entry, 0, to, sizeof *to) ||
            !rtl_fetch_entry(reader, RTL_SECTION_EVENTS, entry, 0, &again, sizeof again))
            return count; /* a file that was cut: nothing more will come */
        if (to->sequence == events->next + 1 && again == to->sequence) {
            count++;
            continue;
        }
        events->lost++;
        /* the writer has overwritten it meanwhile, and others with it perhaps */
        if (!head_of(reader, &again) || again < head)
            continue;
        events->next++;
        skip(events, again, capacity);
        events->next--;
    }
    return count;
}

const char *rtl_reader_kernel_name(struct rtl_reader *reader, uint32_t kernel)
{
    bool damaged = false;
    return rtl_reader_name(reader, kernel, &damaged);
}
