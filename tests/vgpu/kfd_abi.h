/*
 * kfd_abi.h - the layouts and numbers of KFD's user interface that the model answers, as of KFD 1.14.
 *
 * Repeated here because distributions' headers are incomplete: Debian 12's linux/kfd_ioctl.h is 1.11 and includes a
 * header that its package lacks. kfd_ioctl.c has their meaning.
 */
#ifndef VGPU_KFD_ABI_H
#define VGPU_KFD_ABI_H

#include <stdint.h>

enum { KFD_QUEUE_SDMA = 1, KFD_QUEUE_AQL = 2, KFD_QUEUE_SDMA_XGMI = 3, KFD_QUEUE_SDMA_BY_ENGINE = 4 };

/* Flags of alloc_memory. */
#define KFD_MEM_VRAM       (1u << 0)
#define KFD_MEM_GTT        (1u << 1)
#define KFD_MEM_USERPTR    (1u << 2)
#define KFD_MEM_DOORBELL   (1u << 3)
#define KFD_MEM_MMIO_REMAP (1u << 4)
#define KFD_MEM_AQL_QUEUE  (1u << 27)

struct kfd_get_version {
    uint32_t major, minor;
};

struct kfd_create_queue {
    uint64_t ring_base, write_pointer, read_pointer, doorbell_offset;
    uint32_t ring_size, gpu_id, type, percentage, priority, queue_id;
    uint64_t eop_address, eop_size, save_address;
    uint32_t save_size, stack_size;
};

struct kfd_queue_id {
    uint32_t queue_id, pad;
};

struct kfd_update_queue {
    uint64_t ring_base;
    uint32_t queue_id, ring_size, percentage, priority;
};

struct kfd_clock_counters {
    uint64_t gpu_clock, cpu_clock, system_clock, system_freq;
    uint32_t gpu_id, pad;
};

struct kfd_aperture {
    uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
    uint32_t gpu_id, pad;
};

#define KFD_OLD_APERTURES 7
struct kfd_apertures_old {
    struct kfd_aperture at[KFD_OLD_APERTURES];
    uint32_t n, pad;
};

struct kfd_apertures {
    uint64_t ptr;
    uint32_t n, pad;
};

struct kfd_create_event {
    uint64_t page_offset;
    uint32_t trigger_data, type, auto_reset, node_id, event_id, slot_index;
};

struct kfd_event_id {
    uint32_t event_id, pad;
};

/* One event of wait_events. Since 1.14 the first word of the data is an age. */
struct kfd_event_data {
    union {
        uint64_t age;
        struct {
            uint32_t not_present, read_only, no_execute, imprecise;
            uint64_t va;
            uint32_t gpu_id, error_type;
        } fault;
    };
    uint64_t ext;
    uint32_t event_id, pad;
};
_Static_assert(sizeof(struct kfd_event_data) == 48, "layout of the driver");

enum { KFD_WAIT_COMPLETE = 0, KFD_WAIT_TIMEOUT = 1, KFD_WAIT_FAIL = 2 };
struct kfd_wait_events {
    uint64_t events;
    uint32_t n, all, timeout_ms, result;
};

struct kfd_acquire_vm {
    uint32_t drm_fd, gpu_id;
};

struct kfd_alloc_memory {
    uint64_t va, size, handle, mmap_offset;
    uint32_t gpu_id, flags;
};

struct kfd_free_memory {
    uint64_t handle;
};

struct kfd_map_memory {
    uint64_t handle, devices;
    uint32_t n_devices, n_success;
};

struct kfd_tile_config {
    uint64_t tiles, macro_tiles;
    uint32_t n_tiles, n_macro_tiles, gpu_id, gb_addr_config, banks, ranks;
};

struct kfd_queue_gws {
    uint32_t queue_id, n, first, pad;
};

struct kfd_xnack {
    int32_t enabled;
};

struct kfd_available_memory {
    uint64_t available;
    uint32_t gpu_id, pad;
};

struct kfd_runtime_enable {
    uint64_t r_debug;
    uint32_t mode_mask, capabilities;
};

#endif
