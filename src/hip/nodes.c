/* Finds and makes nodes (counters.h): a table from parent and name to the node's number. A node gets its number before
 * it can have children, so a parent's number is always smaller. A thread that loses the race for a place wastes its
 * number: that node never becomes READY. */
#include "hip/counters.h"

#include <stdatomic.h>

enum { PLACES = 2 * RTL_HIP_API_NODES, PROBES = 64, NUMBER_BITS = 16 };

static _Atomic(uint64_t) places[PLACES]; /* any: 0 = free; TAKEN | parent << 32 | row << 16 | number, set once */
static const uint64_t TAKEN = 1ull << 63;

static void describe_node(struct rtl_hip_api_node *node, uint32_t parent, uint32_t row)
{
    __atomic_store_n(&node->row, row, __ATOMIC_RELAXED);
    __atomic_store_n(&node->parent, parent, __ATOMIC_RELAXED);
    __atomic_store_n(&node->state, 1u, __ATOMIC_RELEASE);
}

/* RTL_HIP_API_NODE_OTHER when there are none left. */
static uint32_t claim_node_number(struct rtl_hip_api *api)
{
    static _Atomic(uint32_t) used = RTL_HIP_API_NODE_FIRST;
    uint32_t number = atomic_load_explicit(&used, memory_order_relaxed);
    do {
        if (number >= RTL_HIP_API_NODES)
            return RTL_HIP_API_NODE_OTHER;
    } while (
        !atomic_compare_exchange_weak_explicit(&used, &number, number + 1, memory_order_relaxed, memory_order_relaxed));
    rtl_hip_api_add(&api->header->nodes_used, 1);
    return number;
}

uint32_t rtl_hip_api_node(struct rtl_hip_api *api, uint32_t parent, uint32_t row)
{
    uint64_t key = TAKEN | (uint64_t)parent << 32 | (uint64_t)row << NUMBER_BITS;
    uint32_t first = (uint32_t)((key >> NUMBER_BITS) * 0x9e3779b97f4a7c15ull >> 40), number = RTL_HIP_API_NODE_OTHER;
    for (uint32_t i = 0; i < PROBES; i++) {
        _Atomic(uint64_t) *place = &places[(first + i) % PLACES];
        uint64_t is = atomic_load_explicit(place, memory_order_acquire);
        if (!is) {
            number = number == RTL_HIP_API_NODE_OTHER ? claim_node_number(api) : number;
            if (number == RTL_HIP_API_NODE_OTHER)
                return number;
            if (atomic_compare_exchange_strong_explicit(place, &is, key | number, memory_order_acq_rel,
                                                        memory_order_acquire)) {
                describe_node(&api->nodes[number], parent, row);
                return number;
            }
        }
        if (is >> NUMBER_BITS == key >> NUMBER_BITS)
            return (uint32_t)is & ((1u << NUMBER_BITS) - 1);
    }
    return RTL_HIP_API_NODE_OTHER;
}

void rtl_hip_api_node_begins(struct rtl_hip_api *api, uint32_t node)
{
    rtl_hip_api_add(&api->nodes[node].open, 1);
}

void rtl_hip_api_node_ends(struct rtl_hip_api *api, uint32_t node, uint64_t ns)
{
    struct rtl_hip_api_node *n = &api->nodes[node];
    rtl_hip_api_add(&n->total_ns, ns);
    rtl_hip_api_raise(&n->most_ns, ns);
    rtl_hip_api_add(&n->count, 1);
    rtl_hip_api_add(&n->open, UINT64_MAX);
}
