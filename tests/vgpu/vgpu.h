/*
 * vgpu.h - the interfaces between the files of the software GPU.
 *
 * libvgpu.so is preloaded below an unmodified ROCr and plays the kernel driver (KFD) and the GPUs. Its threads:
 *
 *   application threads   run the interposed libc and libdrm calls (interpose.c, drm.c) and from them the driver's
 *                         ioctls (kfd_ioctl.c, memory.c, events.c, topology.c).
 *   the engine thread     serves all GPUs and queues (engine.c). It polls doorbells, consumes packets (aql.c, sdma.c),
 *                         keeps simulated time and completes work. It shares only locks that are held for a few
 *                         instructions. While it works on packets it allocates only for a kernel's first dispatch.
 *
 * These threads share:
 *   - GPU address space: an immutable sorted table. An ioctl publishes it with a sequentially consistent pointer
 *     store; the engine reads the pointer once a pass. A removed table or allocation is freed only after
 *     vg_engine_quiesce(), when no pass that could have read it is still running (pass counter odd = inside a pass).
 *   - Queues: an array of slots, written under engine.c's lock with release stores, read by the engine with acquire
 *     loads. Destroying a queue empties the slot, then quiesces, then frees.
 *   - Events: one mutex (events.c), held for a few instructions by waiters and by the engine when it interrupts.
 *   - Rings, doorbells, read and write indices, signals: shared with the application exactly as with hardware. The
 *     engine uses acquire loads on the application's stores and release stores for its own.
 * All other engine data (timelines, in-flight heaps, kernel table, truth buffer) belongs to the engine thread.
 */
#ifndef VGPU_H
#define VGPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hsa/hsa.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#define VG_EXPORT     __attribute__((visibility("default")))
#define VG_MAX_GPUS   16
#define VG_MAX_QUEUES 1024 /* of the process, over all GPUs */
#define VG_TICK_NS    10   /* agent clock: 100 MHz */
#define VG_NEVER      UINT64_MAX

/* ---- configuration (config.c): written once by the library's constructor, read-only afterwards ---- */

struct vg_model {    /* a GPU model: one row of config.c's table */
    const char *gfx; /* argument of --gfx */
    const char *marketing;
    uint32_t target_version; /* gfx_target_version of the topology */
    uint32_t device_id;
    uint32_t cu_count, arrays, arrays_per_engine, cu_per_array;
    uint32_t simd_per_cu, waves_per_simd;
    uint32_t sdma_engines, xgmi_engines, num_xcc;
    uint32_t clock_mhz, mem_clock_mhz, mem_width;
    uint32_t l2_kb;
    uint64_t vram;
    uint32_t family;
    uint32_t capability;
};

struct vg_config {
    int gpus;
    const struct vg_model *model;
    uint64_t seed;
    uint64_t default_ticks;     /* for kernels that the script does not name */
    uint64_t copy_bytes_per_us; /* SDMA engines and blit kernels */
    double drift_ppm;           /* agent clock against system clock */
    int64_t shift_ticks;        /* injected fault: offset added to the times written to signals */
    const char *truth, *copy_truth, *waves;
    uint32_t wait_cycles; /* cycles of a memory access, where waves are counted */
    uint32_t wave_units;  /* number of compute units that have waves; 0: all */
    const char *script;
    bool pcie;            /* PCI Express connects the GPUs, not XGMI */
    bool reload_script;   /* read the script again when its file changes */
    bool large_bar;       /* the host can reach GPU memory directly */
    bool read_index_late; /* release a slot when its packet has ended instead of when it was launched */
    bool execute;         /* run the kernels' machine code */
    unsigned execute_threads;
    bool verbose;
};
extern struct vg_config vg_cfg;

void vg_config_load(void); /* on an invalid setting, exits with status 2 and one line on stderr */
const struct vg_model *vg_model_find(const char *gfx);

/* Write one line to stderr, prefixed "vgpu: ". Safe on every thread. */
void vg_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print why the model cannot continue correctly, then abort the process. */
_Noreturn void vg_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- the program's name (title.c) ---- */

/* Set the process title when the loader was run to start the program (run --release). Called at library load. */
void vg_show_program(int argc, char **argv);

/* ---- topology (topology.c) ---- */

/* gpu_id that KFD would report for GPU number gpu. vg_gpu_index is the inverse; -1: unknown id. */
uint32_t vg_gpu_id(int gpu);
int vg_gpu_index(uint32_t gpu_id);
/* Content of a topology file, NULL if there is no such file. The caller frees it. */
char *vg_topology_file(const char *path, size_t *len);
/* Names in a topology folder, each ended by '\0', the list by an empty name. NULL if there is no such folder. */
char *vg_topology_dir(const char *path);
bool vg_is_topology_path(const char *path);

/* ---- the driver's other files in /sys (sysfs.c); NULL or false: the path is not the model's ---- */

char *vg_sysfs_file(const char *path, size_t *len);
char *vg_sysfs_dir(const char *path);
bool vg_sysfs_link(const char *path, char *to, size_t size);
uint64_t vg_sysfs_number(const char *path, bool follow); /* inode number: equal for equal files */

/* ---- memory (memory.c) ---- */

enum vg_mem_kind { VG_MEM_VRAM, VG_MEM_GTT, VG_MEM_USERPTR, VG_MEM_DOORBELL, VG_MEM_MMIO };

struct vg_alloc {
    uint64_t va, size;
    char *host; /* host address of byte 0, for the engine */
    enum vg_mem_kind kind;
    uint32_t flags; /* flags of ALLOC_MEMORY_OF_GPU */
    int gpu;
    uint64_t handle;
    uint64_t offset; /* in the memfd; VG_NEVER for userptr */
};

/* Open the memfd behind /dev/kfd and the render nodes; -1 with errno. */
int vg_mem_open(void);
bool vg_mem_is_device_fd(int fd);
int vg_mem_dup(bool cloexec);
/* The runtime's mmap of the model's descriptor. NULL: the kernel's own mmap can do it. */
void *vg_mem_map(void *at, size_t len, int prot, int flags, uint64_t offset);
int vg_mem_alloc(struct vg_alloc want, struct vg_alloc *out);
int vg_mem_free(uint64_t handle);
/* Copy the allocation to *out; false if the handle is unknown. */
bool vg_mem_by_handle(uint64_t handle, struct vg_alloc *out);
uint64_t vg_mem_available(int gpu);
void *vg_mem_host(uint64_t va, uint64_t len); /* any thread; NULL: not mapped */
uint64_t vg_doorbell_offset(int gpu);
bool vg_is_doorbell_offset(uint64_t offset);
volatile uint64_t *vg_doorbell(int gpu, unsigned slot);
/* Engine only, inside a pass: */
void vg_mem_begin_pass(void);
void *vg_xlate(uint64_t va, uint64_t len); /* NULL: not mapped */
const struct vg_alloc *vg_alloc_at(uint64_t va);
/* vg_alloc_at() for threads that work for the engine within its pass. */
const struct vg_alloc *vg_alloc_find(uint64_t va);
/* Copy from an address of this process that may be unmapped; false if it is. Any thread. */
bool vg_safe_read(void *dst, uint64_t addr, size_t len);
void vg_mem_reset_after_fork(void);

/* ---- events (events.c) ---- */

#define VG_EVENT_LIMIT 4096
enum { VG_EVENT_SIGNAL = 0, VG_EVENT_HW_EXCEPTION = 3, VG_EVENT_MEMORY = 8 };
uint32_t vg_event_create(uint32_t type, bool auto_reset); /* 0: all ids are in use */
int vg_event_destroy(uint32_t id);
int vg_event_set(uint32_t id);
int vg_event_reset(uint32_t id);
void vg_event_fault(int gpu, uint64_t va); /* raises every memory event */
struct kfd_event_data;
int vg_event_wait(struct kfd_event_data *events, uint32_t n, bool all, uint32_t timeout_ms, uint32_t *result);
void vg_events_reset_after_fork(void);

/* ---- the driver (kfd_ioctl.c) ---- */

int vg_kfd_ioctl(unsigned long request, void *arg);

int vg_drm_ioctl(unsigned long request, void *arg); /* drm.c */

/* ---- simulated time (timeline.c) ---- */

uint64_t vg_clock_ns(void);           /* CLOCK_BOOTTIME, the system clock that KFD reports */
uint64_t vg_ns_to_ticks(uint64_t ns); /* system ns -> agent ticks, with the configured drift */
uint64_t vg_ticks_to_ns(uint64_t ticks);

/* Running kernels of a queue: a min-heap by end time, then by age. */
struct vg_flight {
    uint64_t end, start, seq;
    uint64_t signal;          /* GPU address, 0 if none */
    uint64_t index;           /* packet index */
    struct vg_kernel *kernel; /* NULL for barriers */
    bool profile;
};
#define VG_FLIGHT_MAX 1024 /* kernels of one queue that can run at the same time */
struct vg_heap {
    unsigned n;
    uint64_t seq;
    struct vg_flight at[VG_FLIGHT_MAX];
};
void vg_heap_push(struct vg_heap *h, struct vg_flight f);
struct vg_flight vg_heap_pop(struct vg_heap *h);

/* Tick at which the model last completed a signal: a barrier's exact end. Engine only. */
void vg_signal_time_set(uint64_t va, uint64_t tick);
bool vg_signal_time_get(uint64_t va, uint64_t *tick);

/* ---- waking the engine (doorbell.c) ---- */

bool vg_bell_open(void); /* false: no userfaultfd, the engine naps */
void vg_bell_add(uint64_t va, uint64_t len);
void vg_bell_kick(void); /* any thread */
bool vg_bell_arm(void);  /* engine only */
bool vg_bell_disarm(bool armed);
/* nap: sleep for a short time, doubled at each call, even without an event. */
void vg_bell_wait(bool armed, bool nap, uint64_t max_ns);
void vg_bell_active(void);
void vg_bell_reset_after_fork(void);

/* ---- the engine (engine.c) ---- */

struct vg_queue {
    int gpu;
    uint32_t id; /* KFD's queue id */
    bool sdma;
    bool halted;            /* stopped by an error (engine) */
    _Atomic bool suspended; /* by UPDATE_QUEUE with 0 percent; written in the ioctl, relaxed */
    unsigned doorbell_slot;
    volatile uint64_t *doorbell;
    uint64_t last_doorbell;
    /* AQL: the ring in packets; SDMA: the ring in bytes */
    char *ring;
    uint64_t ring_va;
    uint64_t ring_size;
    volatile uint64_t *wptr, *rptr;
    volatile amd_queue_t *amd; /* AQL only */
    uint64_t
        save_area;     /* AQL: context save area, whose header locates the exception payload; 0: no exceptions wanted */
    uint64_t truth_id; /* hsa_queue_t.id, read at the first dispatch */
    /* Engine thread: */
    uint64_t rd;            /* next packet (AQL) or byte (SDMA) */
    uint64_t limit;         /* packets (bytes) below may be consumed: the write index at the last doorbell */
    uint64_t released;      /* AQL, read index late: packets below have ended */
    uint64_t seen;          /* packets (bytes) below were already present in an earlier pass */
    uint64_t arrival;       /* latest possible arrival of those above */
    uint64_t cp;            /* the packet processor is busy until this tick */
    uint64_t max_end;       /* end of the latest kernel launched */
    uint64_t meeting;       /* number of the arrival that waits for other ranks; 0: none */
    uint64_t blocked_since; /* tick at which a barrier or poll was first found unsatisfied; 0: none */
    uint64_t copy_done;     /* SDMA: bytes already moved of the current packet */
    uint64_t copy_start;
    bool executed; /* AQL: a kernel of this pass was executed */
    struct vg_heap flight;
};

int vg_queue_create(struct vg_queue *q);       /* registers the queue and starts the engine; -errno */
struct vg_queue *vg_queue_remove(uint32_t id); /* removes the queue from the engine; NULL if unknown */
int vg_queue_suspend(uint32_t id, bool suspended);
void vg_engine_quiesce(void);  /* waits until every pass that began earlier has ended */
extern bool vg_engine_recheck; /* engine: a queue waits for memory that the host may write without ringing a doorbell */
void vg_engine_flush(void);    /* before the process ends: write the truth to its file; bounded wait */
void vg_engine_reset_after_fork(void);
void vg_engine_lock(void);
void vg_engine_unlock(void);

/* Run one pass over a queue: do the work that is due at tick now. Return true if anything was done. Lower *due to the
 * tick of the next work (VG_NEVER: only after the application acts). */
bool vg_aql_step(struct vg_queue *q, uint64_t now, uint64_t *due);
bool vg_sdma_step(struct vg_queue *q, uint64_t now, uint64_t *due);
/* Complete a signal: decrement its value, interrupt if it asks for one. */
void vg_signal_complete(uint64_t va, uint64_t start, uint64_t end, bool profile);
enum vg_error {
    VG_ERROR_NONE,
    VG_ERROR_CODE,
    VG_ERROR_PACKET,
    VG_ERROR_VENDOR_PACKET,
    VG_ERROR_APERTURE,
    VG_ERROR_INSTRUCTION,
    VG_ERROR_MEMORY, /* an error of the GPU: calls vg_event_fault, not vg_queue_halt */
};
void vg_queue_halt(struct vg_queue *q, enum vg_error error);

/* ---- kernels (kernels.c, blit.c) ---- */

/* A kernel whose work the model does itself. */
enum vg_blit_result { VG_BLIT_DONE, VG_BLIT_FAULT, VG_BLIT_WAIT };
struct vg_blit {
    const char *name;
    unsigned arg_bytes; /* bytes of kernel arguments that it reads */
    /* *bytes: number of bytes moved. FAULT: *bad is not mapped. WAIT: a condition in memory does not hold yet, nothing
     * was done. */
    enum vg_blit_result (*run)(const void *args, uint64_t *bytes, uint64_t *bad);
};

struct vg_kernel {
    uint64_t object;  /* address of the kernel descriptor */
    const char *name; /* as in the code object, without ".kd" */
    size_t name_len;
    const struct vg_blit *blit; /* NULL: the kernel takes time and does nothing */
    const struct vg_rule *rule;
    unsigned script_version; /* of `rule` */
    uint64_t rng[4];
    /* Where the name was found, to detect that other code has since been loaded there. */
    const char *name_at;
    const void *sym_at;
    unsigned char sym[24];
    uint64_t unknown_at; /* with --execute: the last reported address of an instruction that is not modelled */
    unsigned flights;    /* running dispatches; the record stays until 0 */
    bool replaced;       /* other code is now at its address */
    struct vg_kernel *next;
};
struct vg_kernel *vg_kernel_find(uint64_t object);
void vg_kernel_done(struct vg_kernel *k); /* one flight has ended */
void vg_kernels_set_debug_map(uint64_t r_debug);
void vg_kernels_reset_after_fork(void);
/* ROCr's own kernels by their machine code (blit.c), HIP's by name (blit_hip.c). NULL: neither. */
const struct vg_blit *vg_blit_recognise(uint64_t object);
const struct vg_blit *vg_blit_by_name(const char *name);
bool vg_gpu_copy(uint64_t dst, uint64_t src, uint64_t bytes, uint64_t *bad);

/* ---- kernels that compute (execute.c) ---- */

/* Run a dispatch whose packet is at GPU address `packet`; false: *bad is not memory. */
bool vg_execute(struct vg_queue *q, const hsa_kernel_dispatch_packet_t *d, struct vg_kernel *k, uint64_t packet,
                uint64_t *bad);
void vg_execute_end(void); /* at process exit: repeat the warning if results cannot be trusted */
void vg_execute_reset_after_fork(void);

/* ---- durations (script.c) ---- */

struct vg_rule;
/* Read the script; on an error fill err with one line and return false. */
bool vg_script_load(const char *path, char *err, size_t err_len);
/* Read the script again if the file has changed; a wrong one is reported, and the rules stay. Engine only. Rules that a
 * kernel has found are valid for ever; after a change of vg_script_version they may not be the current ones. */
void vg_script_reload(void);
extern unsigned vg_script_version;
const struct vg_rule *vg_script_match(const char *name);
/* Does the kernel wait for those of the other ranks (meet.c): while it runs, or before its start? */
enum vg_meeting { VG_MEETS_NOBODY, VG_MEETS_RUNNING, VG_MEETS_BEFORE };
enum vg_meeting vg_rule_meets(const struct vg_rule *rule);
enum vg_error vg_rule_error(const struct vg_rule *rule); /* the rule may be NULL */
void vg_rng_seed(uint64_t rng[4], uint64_t seed, const char *name);
uint64_t vg_draw_ticks(const struct vg_rule *rule, uint64_t rng[4]);

/* ---- kernels of several processes that wait for one another (meet.c) ---- */

bool vg_meet_open(const char *path, const char *place, char *err, size_t err_len);
/* Engine: note the next arrival of this rank at this tick and return its number. */
uint64_t vg_meet_arrive(uint64_t start);
/* Engine: false until every other rank has arrived as often, or left. Then *met becomes at least the last tick. */
bool vg_meet(uint64_t number, uint64_t *met);
void vg_meet_leave(void); /* before the process ends */
void vg_meet_reset_after_fork(void);

/* ---- truth (truth.c): engine thread, except vg_truth_open ---- */

/* Each path may be NULL. A file that is already open stays open. */
bool vg_truth_open(const char *kernels, const char *copies, const char *waves, char *err, size_t err_len);
bool vg_truth_on(void);
bool vg_truth_of_copies(void);
bool vg_truth_of_waves(void);
enum { WAVE_NUMBERS = 5 }; /* unit, waves, cycles, gaps, gap cycles */
void vg_truth_waves(const uint64_t numbers[WAVE_NUMBERS], const char *name, size_t name_len);
void vg_truth_copy(int gpu, uint64_t queue, uint64_t start, uint64_t end, uint64_t bytes); /* ticks */
void vg_truth_write(int gpu, uint64_t queue, uint64_t index, uint64_t start, uint64_t end, bool signal,
                    const char *name, size_t name_len);
void vg_truth_flush(void);
void vg_truth_close(void);

#endif
