/*
 * kfd_ioctl.c - the driver's ioctls.
 *
 * The model dispatches on the ioctl number, not on the complete request, and copies as many argument bytes as the
 * request says. The structures grew from release to release; fields that the caller does not have stay zero.
 */
#include "kfd_abi.h"
#include "vgpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define KFD_MAJOR         1
#define KFD_MINOR         14 /* 1.14: with event ages */
#define NR_OUT_OF_TREE    0x80
#define RUNTIME_CORE_DUMP 0x80000000u
#define WAIT_MAX_MS       1000

/* The GPU's address space as KFD lays it out for GFX9. */
#define GPUVM_BASE   0x1000000ull
#define GPUVM_LIMIT  0x7fffffffffffull
#define LDS_BASE     0x1000000000000ull
#define SCRATCH_BASE 0x2000000000000ull

/* The runtime receives queue errors as exceptions (RUNTIME_ENABLE, ROCr 6), otherwise in the queue's inactive signal.
 * Written by the ioctl, read when queues are created, relaxed. */
static _Atomic bool exceptions;

union args {
    struct kfd_get_version version;
    struct kfd_create_queue create_queue;
    struct kfd_queue_id queue;
    struct kfd_update_queue update_queue;
    struct kfd_clock_counters clocks;
    struct kfd_apertures_old apertures_old;
    struct kfd_apertures apertures;
    struct kfd_create_event create_event;
    struct kfd_event_id event;
    struct kfd_wait_events wait;
    struct kfd_acquire_vm acquire_vm;
    struct kfd_alloc_memory alloc;
    struct kfd_free_memory free;
    struct kfd_map_memory map;
    struct kfd_tile_config tiles;
    struct kfd_queue_gws gws;
    struct kfd_xnack xnack;
    struct kfd_available_memory available;
    struct kfd_runtime_enable runtime;
    char bytes[1024];
};

static int get_version(union args *a)
{
    a->version.major = KFD_MAJOR;
    a->version.minor = KFD_MINOR;
    return 0;
}

static int create_queue(union args *a)
{
    struct kfd_create_queue *c = &a->create_queue;
    int gpu = vg_gpu_index(c->gpu_id);
    if (gpu < 0)
        return -EINVAL;
    if (c->type != KFD_QUEUE_AQL && c->type != KFD_QUEUE_SDMA && c->type != KFD_QUEUE_SDMA_XGMI &&
        c->type != KFD_QUEUE_SDMA_BY_ENGINE) {
        vg_log("CREATE_QUEUE: queue type %u isn't modelled (AQL and SDMA are)", c->type);
        return -EINVAL;
    }
    /* Find the map of loaded code objects here: dlsym on the engine thread could deadlock with a dlopen. */
    vg_kernels_set_debug_map(0);
    struct vg_queue *q = calloc(1, sizeof *q);
    if (!q)
        return -ENOMEM;
    q->gpu = gpu;
    q->sdma = c->type != KFD_QUEUE_AQL;
    q->ring_va = c->ring_base;
    q->ring_size = c->ring_size;
    q->wptr = (volatile uint64_t *)(uintptr_t)c->write_pointer;
    q->rptr = (volatile uint64_t *)(uintptr_t)c->read_pointer;
    q->save_area = atomic_load_explicit(&exceptions, memory_order_relaxed) ? c->save_address : 0;
    int r = vg_queue_create(q);
    if (r) {
        free(q);
        return r;
    }
    c->queue_id = q->id;
    /* With these doorbells, KFD's result includes the offset inside the doorbell pages. */
    c->doorbell_offset = vg_doorbell_offset(gpu) + q->doorbell_slot * 8;
    return 0;
}

static int destroy_queue(union args *a)
{
    struct vg_queue *q = vg_queue_remove(a->queue.queue_id);
    if (!q)
        return -EINVAL;
    free(q);
    return 0;
}

static int update_queue(union args *a)
{
    /* On this hardware the ring keeps its address. A queue with 0 percent of the GPU is suspended. */
    return vg_queue_suspend(a->update_queue.queue_id, a->update_queue.percentage == 0);
}

static int get_clock_counters(union args *a)
{
    uint64_t ns = vg_clock_ns();
    a->clocks.gpu_clock = vg_ns_to_ticks(ns);
    a->clocks.cpu_clock = ns;
    a->clocks.system_clock = ns;
    a->clocks.system_freq = 1000000000;
    return a->clocks.gpu_id && vg_gpu_index(a->clocks.gpu_id) < 0 ? -EINVAL : 0; /* 0: the CPU's node */
}

static void fill_apertures(struct kfd_aperture *p, int gpu)
{
    *p = (struct kfd_aperture){
        .lds_base = LDS_BASE,
        .lds_limit = LDS_BASE + 0xffffffff,
        .scratch_base = SCRATCH_BASE,
        .scratch_limit = SCRATCH_BASE + 0xffffffff,
        .gpuvm_base = GPUVM_BASE,
        .gpuvm_limit = GPUVM_LIMIT,
        .gpu_id = vg_gpu_id(gpu),
    };
}

static int get_apertures_old(union args *a)
{
    unsigned n = vg_cfg.gpus < KFD_OLD_APERTURES ? (unsigned)vg_cfg.gpus : KFD_OLD_APERTURES;
    for (unsigned i = 0; i < n; i++)
        fill_apertures(&a->apertures_old.at[i], (int)i);
    a->apertures_old.n = n;
    return 0;
}

static int get_apertures(union args *a)
{
    struct kfd_aperture *p = (void *)(uintptr_t)a->apertures.ptr;
    unsigned room = a->apertures.n;
    for (int i = 0; p && i < vg_cfg.gpus && (unsigned)i < room; i++)
        fill_apertures(&p[i], i);
    a->apertures.n = (unsigned)vg_cfg.gpus;
    return 0;
}

static int create_event(union args *a)
{
    uint32_t id = vg_event_create(a->create_event.type, a->create_event.auto_reset);
    if (!id)
        return -ENOSPC;
    a->create_event.event_id = id;
    a->create_event.trigger_data = id;
    a->create_event.slot_index = id;
    /* Without an offset the runtime gives its signals no mailbox and polls. */
    if (!a->create_event.page_offset)
        a->create_event.page_offset = 1;
    return 0;
}

/*
 * A wait ends after WAIT_MAX_MS at the latest, as if timed out; the runtime then checks its signals again. ROCr 5.2
 * loses wake-ups by itself: the error signals of all its queues share one auto-reset event. Its event thread can
 * consume the wake-up of a thread that destroys a queue and has checked its signal but does not wait yet. Both then
 * wait for ever, on this model as on the real driver (seen for one of some thousand queues on a heavily loaded
 * machine).
 */
static int wait_events(union args *a)
{
    struct kfd_wait_events *w = &a->wait;
    uint32_t ms = w->timeout_ms < WAIT_MAX_MS ? w->timeout_ms : WAIT_MAX_MS;
    return vg_event_wait((struct kfd_event_data *)(uintptr_t)w->events, w->n, w->all, ms, &w->result);
}

static int acquire_vm(union args *a)
{
    return vg_gpu_index(a->acquire_vm.gpu_id) < 0 ? -EINVAL : 0;
}

static int alloc_memory(union args *a)
{
    struct kfd_alloc_memory *m = &a->alloc;
    struct vg_alloc want = {.va = m->va, .size = m->size, .flags = m->flags, .gpu = vg_gpu_index(m->gpu_id)}, got;
    if (want.gpu < 0)
        return -EINVAL;
    if (m->flags & KFD_MEM_AQL_QUEUE) {
        vg_log("ALLOC_MEMORY_OF_GPU: double-mapped rings (AQL_QUEUE_MEM, GFX7 and GFX8) aren't modelled");
        return -EINVAL;
    }
    if (m->flags & KFD_MEM_DOORBELL)
        want.kind = VG_MEM_DOORBELL;
    else if (m->flags & KFD_MEM_MMIO_REMAP)
        want.kind = VG_MEM_MMIO;
    else if (m->flags & KFD_MEM_USERPTR)
        want.kind = VG_MEM_USERPTR;
    else if (m->flags & KFD_MEM_VRAM)
        want.kind = VG_MEM_VRAM;
    else
        want.kind = VG_MEM_GTT;
    if (want.kind == VG_MEM_USERPTR)
        want.host = (char *)(uintptr_t)m->mmap_offset;
    int r = vg_mem_alloc(want, &got);
    if (r)
        return r;
    m->handle = got.handle;
    if (want.kind != VG_MEM_USERPTR)
        m->mmap_offset = got.offset;
    return 0;
}

/* Mapping is accepted but not enforced: an address is valid on all GPUs while its memory is allocated (README). */
static int map_memory(union args *a)
{
    struct vg_alloc m;
    if (!vg_mem_by_handle(a->map.handle, &m))
        return -EINVAL;
    a->map.n_success = a->map.n_devices;
    return 0;
}

static int available_memory(union args *a)
{
    int gpu = vg_gpu_index(a->available.gpu_id);
    if (gpu < 0)
        return -EINVAL;
    a->available.available = vg_mem_available(gpu);
    return 0;
}

static int free_memory(union args *a)
{
    return vg_mem_free(a->free.handle);
}

static int destroy_event(union args *a)
{
    return vg_event_destroy(a->event.event_id);
}

static int set_event(union args *a)
{
    return vg_event_set(a->event.event_id);
}

static int reset_event(union args *a)
{
    return vg_event_reset(a->event.event_id);
}

static int tile_config(union args *a)
{
    a->tiles.n_tiles = a->tiles.n_macro_tiles = 0;
    a->tiles.gb_addr_config = 0x26010042;
    a->tiles.banks = a->tiles.ranks = 0;
    return 0;
}

static int xnack_mode(union args *a)
{
    if (a->xnack.enabled > 0)
        return -EPERM; /* like a GPU without retry faults */
    a->xnack.enabled = 0;
    return 0;
}

static int queue_gws(union args *a)
{
    a->gws.first = 0;
    return 0;
}

static int runtime_enable(union args *a)
{
    if (a->runtime.mode_mask & 1)
        vg_kernels_set_debug_map(a->runtime.r_debug);
    /* Claim core dumps for the driver, so that the runtime does not write them. */
    a->runtime.capabilities = RUNTIME_CORE_DUMP;
    atomic_store_explicit(&exceptions, a->runtime.mode_mask & 1, memory_order_relaxed);
    return 0;
}

/* Accept calls without effect on the model: no caches, one address space, no debugger, all compute units. */
static int accepted(union args *a)
{
    (void)a;
    return 0;
}

static const struct {
    const char *name;
    int (*fn)(union args *);
} table[] = {
    [0x01] = {"GET_VERSION", get_version},
    [0x02] = {"CREATE_QUEUE", create_queue},
    [0x03] = {"DESTROY_QUEUE", destroy_queue},
    [0x04] = {"SET_MEMORY_POLICY", accepted},
    [0x05] = {"GET_CLOCK_COUNTERS", get_clock_counters},
    [0x06] = {"GET_PROCESS_APERTURES", get_apertures_old},
    [0x07] = {"UPDATE_QUEUE", update_queue},
    [0x08] = {"CREATE_EVENT", create_event},
    [0x09] = {"DESTROY_EVENT", destroy_event},
    [0x0A] = {"SET_EVENT", set_event},
    [0x0B] = {"RESET_EVENT", reset_event},
    [0x0C] = {"WAIT_EVENTS", wait_events},
    [0x11] = {"SET_SCRATCH_BACKING_VA", accepted},
    [0x12] = {"GET_TILE_CONFIG", tile_config},
    [0x13] = {"SET_TRAP_HANDLER", accepted},
    [0x14] = {"GET_PROCESS_APERTURES_NEW", get_apertures},
    [0x15] = {"ACQUIRE_VM", acquire_vm},
    [0x16] = {"ALLOC_MEMORY_OF_GPU", alloc_memory},
    [0x17] = {"FREE_MEMORY_OF_GPU", free_memory},
    [0x18] = {"MAP_MEMORY_TO_GPU", map_memory},
    [0x19] = {"UNMAP_MEMORY_FROM_GPU", map_memory},
    [0x1A] = {"SET_CU_MASK", accepted},
    [0x1B] = {"GET_QUEUE_WAVE_STATE", NULL},
    [0x1C] = {"GET_DMABUF_INFO", NULL},
    [0x1D] = {"IMPORT_DMABUF", NULL},
    [0x1E] = {"ALLOC_QUEUE_GWS", queue_gws},
    [0x1F] = {"SMI_EVENTS", NULL},
    [0x20] = {"SVM", NULL},
    [0x21] = {"SET_XNACK_MODE", xnack_mode},
    [0x22] = {"CRIU_OP", NULL},
    [0x23] = {"AVAILABLE_MEMORY", available_memory},
    [0x24] = {"EXPORT_DMABUF", NULL},
    [0x25] = {"RUNTIME_ENABLE", runtime_enable},
    [0x26] = {"DBG_TRAP", NULL},
};

int vg_kfd_ioctl(unsigned long request, void *arg)
{
    unsigned nr = _IOC_NR(request), size = _IOC_SIZE(request);
    if (nr >= NR_OUT_OF_TREE) {
        /* AMD's own kernel packages have more ioctls. Runtimes try them and expect the upstream driver's answer. */
        if (vg_cfg.verbose)
            vg_log("KFD ioctl 0x%02x is out of tree: ENOTTY", nr);
        errno = ENOTTY;
        return -1;
    }
    const char *name = nr < sizeof table / sizeof *table ? table[nr].name : NULL;
    if (!name || !table[nr].fn || size > sizeof(union args)) {
        vg_log("KFD ioctl 0x%02x (%s, %u bytes) isn't modelled: EINVAL", nr, name ? name : "unknown", size);
        errno = EINVAL;
        return -1;
    }
    union args a;
    memset(&a, 0, sizeof a);
    if (size)
        memcpy(&a, arg, size);
    int r = table[nr].fn(&a);
    if (size && (_IOC_DIR(request) & _IOC_READ))
        memcpy(arg, &a, size);
    if (vg_cfg.verbose)
        vg_log("KFD %s: %s", name, r ? strerror(-r) : "ok");
    if (r) {
        errno = -r;
        return -1;
    }
    return 0;
}
