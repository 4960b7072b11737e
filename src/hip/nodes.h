/* Ranges by nesting: a node for each name below each node (shm/hip_api.h). No lock, no allocation. */
#ifndef RTL_HIP_NODES_H
#define RTL_HIP_NODES_H

#include "hip/counters.h"

/* Return the node of a name below a node; RTL_HIP_API_NODE_OTHER when there are too many. */
uint32_t rtl_hip_api_node(struct rtl_hip_api *api, uint32_t parent, uint32_t row);
void rtl_hip_api_node_begins(struct rtl_hip_api *api, uint32_t node);
void rtl_hip_api_node_ends(struct rtl_hip_api *api, uint32_t node, uint64_t ns);

#endif
