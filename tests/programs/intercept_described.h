/*
 * intercept_described.h - hsa_amd_queue_create and hsa_amd_memory_async_batch_copy as in the public header, for
 * programs that call them and the preload that emulates them. Duplicated on purpose: with the library's own structure a
 * wrong layout would agree with itself.
 */
#ifndef INTERCEPT_DESCRIBED_H
#define INTERCEPT_DESCRIBED_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>

struct description {
    uint16_t version, flags;
    uint8_t engine, reserved_header[3];
    uint32_t size_bytes;
    hsa_amd_queue_priority_t priority;
    void (*error)(hsa_status_t, hsa_queue_t *, void *);
    void *data;
    hsa_queue_t *queue;
    struct {
        const uint32_t *mask;
        hsa_queue_type32_t type;
        uint32_t private_segment, mask_bits, reserved[3];
    } compute;
    uint32_t traffic_class;
    uint8_t reserved[20];
};

enum { OPERATION_LINEAR, OPERATION_BROADCAST, OPERATION_SWAP, OPERATION_KINDS = 6, ENTRIES_MOST = 1024 };

struct operation {
    uint16_t version, type, num_entries, traffic_class;
    hsa_signal_t completion_signal;
    union {
        void *src;
        void **src_list;
    };
    hsa_agent_t src_agent;
    union {
        hsa_agent_t dst_agent;
        hsa_agent_t *dst_agent_list;
    };
    union {
        void *dst;
        void **dst_list;
    };
    union {
        struct {
            size_t size, unused_size;
        };
        struct {
            size_t src_size, dst_size;
        };
        size_t *size_list;
    };
    struct {
        uint16_t function, scope;
        uint32_t reserved;
        void *addr;
        uint64_t value, mask;
    } wait;
    struct {
        uint16_t operation, scope;
        uint32_t reserved;
        void *addr;
        uint64_t data;
    } signal;
    uint64_t reserved1[1];
};

#endif
