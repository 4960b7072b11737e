/* Records of the event ring without their links, for tests that don't need links. */
#ifndef RTL_TESTS_UNLINKED_H
#define RTL_TESTS_UNLINKED_H

#include <stdlib.h>

#include "record/rocpd.h"
#include "shm/segment_reader.h"

/* Read up to `most` records with rtl_reader_linked_events. */
static inline uint32_t read_unlinked(const struct rtl_reader *reader, struct rtl_events *events,
                                     struct rtl_event_record *out, uint32_t most)
{
    struct rtl_linked_event *linked = malloc(most * sizeof *linked);
    uint32_t count = linked ? rtl_reader_linked_events(reader, events, linked, most) : 0;
    for (uint32_t i = 0; i < count; i++)
        out[i] = linked[i].record;
    free(linked);
    return count;
}

static inline enum rtl_db_status write_unlinked(struct rtl_rocpd *rocpd, const struct rtl_event_record *records,
                                                uint32_t count, struct rtl_rocpd_state *state,
                                                const _Atomic bool *leave)
{
    struct rtl_linked_event *linked = calloc(count ? count : 1, sizeof *linked);
    if (!linked)
        abort();
    for (uint32_t i = 0; i < count; i++)
        linked[i].record = records[i];
    enum rtl_db_status status = rtl_rocpd_write_linked(rocpd, linked, count, state, leave);
    free(linked);
    return status;
}

#endif
