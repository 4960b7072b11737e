/*
 * hsa_amd_queue_create as the public header has it, for the program that calls it and the stand-in that has it. Written
 * down again on purpose: with the library's own structure a wrong layout would agree with itself.
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

#endif
