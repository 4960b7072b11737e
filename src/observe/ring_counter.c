/* Counts packets. See ring_counter.h. */
#include "observe/ring_counter.h"

enum { TYPE_INVALID = 1, TYPE_DISPATCH = 2, TYPE_BARRIER_AND = 3, TYPE_BARRIER_OR = 5 };

/* A dispatch has one to three dimensions, none of them empty, and a kernel; packets of other kinds have zeros there. */
static bool has_dispatch_fields(const struct rtl_ring_packet *p)
{
    return (p->setup & 3) && p->setup <= 3 && p->workgroup[0] && p->workgroup[1] && p->workgroup[2] && p->grid[0] &&
           p->grid[1] && p->grid[2] && p->kernel_object;
}

enum rtl_packet_kind rtl_packet_kind(const struct rtl_ring_packet *p, bool consumed)
{
    switch (p->header & 0xff) {
    case TYPE_INVALID:
        if (!consumed)
            return RTL_PACKET_UNREADY;
        return has_dispatch_fields(p) ? RTL_PACKET_DISPATCH : RTL_PACKET_OTHER;
    case TYPE_DISPATCH:
        return RTL_PACKET_DISPATCH;
    case TYPE_BARRIER_AND:
    case TYPE_BARRIER_OR:
        return RTL_PACKET_BARRIER;
    default:
        return RTL_PACKET_OTHER;
    }
}

void rtl_ring_counter_begin(struct rtl_ring_counter *c, uint32_t size, uint64_t write_index, bool whole)
{
    *c = (struct rtl_ring_counter){
        .next = write_index > size ? write_index - size : 0, .size = size, .ours = whole ? 0 : write_index};
    c->lost = whole ? c->next : 0;
}

uint64_t rtl_ring_counter_wanted(const struct rtl_ring_counter *c, uint64_t write_index, uint64_t read_index)
{
    uint64_t end =
        read_index + c->size < write_index && read_index + c->size >= read_index ? read_index + c->size : write_index;
    return end > c->next ? end - c->next : 0;
}

uint64_t rtl_ring_counter_count(struct rtl_ring_counter *c, const struct rtl_ring_packet *packets, uint64_t count,
                                uint64_t read_index, uint64_t write_after, uint64_t read_after,
                                rtl_ring_counter_visit *take, void *context)
{
    uint64_t first = c->next, safe = write_after > c->size ? write_after - c->size : 0;
    if (safe > read_after)
        safe = read_after;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        bool consumed = number < read_index;
        if (number < safe) {
            c->lost += number >= c->ours;
            c->next = number + 1;
            continue;
        }
        enum rtl_packet_kind kind = rtl_packet_kind(&packets[i], consumed);
        if (kind == RTL_PACKET_UNREADY || !take(context, number, &packets[i], kind, consumed))
            break;
        c->next = number + 1;
    }
    if (c->next < safe) { /* also packets that were not copied */
        uint64_t from = c->next > c->ours ? c->next : c->ours;
        c->lost += safe > from ? safe - from : 0;
        c->next = safe;
    }
    return c->next - first;
}
