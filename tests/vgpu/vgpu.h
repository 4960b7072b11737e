/*
 * vgpu.h - what the files of the software GPU share.
 *
 * libvgpu.so is preloaded below an unmodified ROCr and plays the kernel driver (KFD) and the GPUs. Who runs what:
 *
 *   application threads   run the interposed libc and libdrm calls (interpose.c, drm.c) and from them the driver's
 *                         ioctls (kfd_ioctl.c, memory.c, events.c, topology.c).
 *   the engine thread     one for all GPUs and queues (engine.c). It polls doorbells, consumes packets (aql.c, sdma.c),
 *                         keeps simulated time and completes work. It takes no lock that an application thread holds
 *                         for long, and it never allocates while it works on packets, but for a kernel's first sight.
 *
 * What crosses between them, and how:
 *   - GPU address space: an immutable sorted table, published with a sequentially consistent pointer store by the
 * thread in the ioctl, read once a pass by the engine. A table or allocation that was taken out is reclaimed only after
 *     vg_engine_quiesce(): no pass that could have seen it is running any more (pass counter odd = inside a pass).
 *   - Queues: an array of slots, written under vg_state.lock with release stores, read by the engine with acquire
 * loads; destruction empties the slot, then quiesces, then frees.
 *   - Events: one mutex (events.c), held for a few instructions, taken by waiters and by the engine when it interrupts.
 *   - Rings, doorbells, read and write indices, signals: shared with the application exactly as with hardware; acquire
 *     loads on what the application publishes, release stores on what the engine publishes.
 * Everything else of the engine (timelines, in-flight heaps, kernel table, truth buffer) belongs to the engine thread.
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

struct vg_model {    /* one line of the table of GPUs that can be modelled */
    const char *gfx; /* the --gfx argument */
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
    uint64_t default_ticks;     /* of a kernel that the script doesn't name */
    uint64_t copy_bytes_per_us; /* of SDMA engines and of blit kernels */
    double drift_ppm;           /* of the agent clock against the system clock */
    int64_t shift_ticks;        /* a fault on purpose: by how much the times written to signals are off */
    const char *truth, *copy_truth, *waves;
    uint32_t wait_cycles; /* that memory takes, where waves are counted */
    uint32_t wave_units;  /* compute units that have waves; 0: all */
    const char *script;
    bool large_bar;       /* the host can reach GPU memory directly */
    bool read_index_late; /* a slot is given back when its packet has ended, not when it was launched */
    bool execute;         /* kernels compute */
    unsigned execute_threads;
    bool verbose;
};
extern struct vg_config vg_cfg;

void vg_config_load(void); /* exits with status 2 and one line on stderr if something in it is wrong */
const struct vg_model *vg_model_find(const char *gfx);

/* one line on stderr, prefixed "vgpu: "; safe on every thread */
void vg_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* the model can't go on honestly: says why and aborts the process */
_Noreturn void vg_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- the program's name (title.c) ---- */

/* of a program that the loader was started for (run --release), when the library is loaded */
void vg_show_program(int argc, char **argv);

/* ---- topology (topology.c) ---- */

/* gpu_id that KFD would show for GPU number gpu; vg_gpu_index is its inverse, -1 if there is none */
uint32_t vg_gpu_id(int gpu);
int vg_gpu_index(uint32_t gpu_id);
/* content of a topology file, NULL if there is no such file; the caller frees it */
char *vg_topology_file(const char *path, size_t *len);
/* names in a topology folder, '\0' separated, ending in an empty name; NULL if there is no such folder */
char *vg_topology_dir(const char *path);
bool vg_is_topology_path(const char *path);

/* ---- the rest of what the driver shows in /sys (sysfs.c); NULL or false: not ours ---- */

char *vg_sysfs_file(const char *path, size_t *len);
char *vg_sysfs_dir(const char *path);
bool vg_sysfs_link(const char *path, char *to, size_t size);
uint64_t vg_sysfs_number(const char *path, bool follow); /* an inode number: the same for the same file */

/* ---- memory (memory.c) ---- */

enum vg_mem_kind { VG_MEM_VRAM, VG_MEM_GTT, VG_MEM_USERPTR, VG_MEM_DOORBELL, VG_MEM_MMIO };

struct vg_alloc {
    uint64_t va, size;
    char *host; /* where the engine finds byte 0 */
    enum vg_mem_kind kind;
    uint32_t flags; /* as given to ALLOC_MEMORY_OF_GPU */
    int gpu;
    uint64_t handle;
    uint64_t offset; /* in the memfd; VG_NEVER for userptr */
};

/* opens the memfd that stands behind /dev/kfd and the render nodes; -1 with errno */
int vg_mem_open(void);
bool vg_mem_is_device_fd(int fd);
int vg_mem_dup(bool cloexec);
/* the runtime's mmap of our descriptor; NULL: the kernel can do it */
void *vg_mem_map(void *at, size_t len, int prot, int flags, uint64_t offset);
int vg_mem_alloc(struct vg_alloc want, struct vg_alloc *out);
int vg_mem_free(uint64_t handle);
/* a copy of the allocation, false if there is none */
bool vg_mem_by_handle(uint64_t handle, struct vg_alloc *out);
uint64_t vg_mem_available(int gpu);
void *vg_mem_host(uint64_t va, uint64_t len); /* any thread; NULL: not mapped */
uint64_t vg_doorbell_offset(int gpu);
bool vg_is_doorbell_offset(uint64_t offset);
volatile uint64_t *vg_doorbell(int gpu, unsigned slot);
/* engine only, inside a pass: */
void vg_mem_begin_pass(void);
void *vg_xlate(uint64_t va, uint64_t len); /* NULL: not mapped */
const struct vg_alloc *vg_alloc_at(uint64_t va);
/* the same for threads that work for the engine within its pass */
const struct vg_alloc *vg_alloc_find(uint64_t va);
/* any thread: copies from an address of this process that may not be there; false if it isn't */
bool vg_safe_read(void *dst, uint64_t addr, size_t len);
void vg_mem_reset_after_fork(void);

/* ---- events (events.c) ---- */

#define VG_EVENT_LIMIT 4096
enum { VG_EVENT_SIGNAL = 0, VG_EVENT_HW_EXCEPTION = 3, VG_EVENT_MEMORY = 8 };
uint32_t vg_event_create(uint32_t type, bool auto_reset); /* 0: none left */
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

/* kernels that run: a min-heap by end time (then by age), one a queue */
struct vg_flight {
    uint64_t end, start, seq;
    uint64_t signal;          /* GPU address, 0 if none */
    uint64_t index;           /* packet index */
    struct vg_kernel *kernel; /* NULL for barriers */
    bool profile;
};
#define VG_FLIGHT_MAX 1024 /* kernels of one queue that run at the same time */
struct vg_heap {
    unsigned n;
    uint64_t seq;
    struct vg_flight at[VG_FLIGHT_MAX];
};
void vg_heap_push(struct vg_heap *h, struct vg_flight f);
struct vg_flight vg_heap_pop(struct vg_heap *h);

/* when the model last completed a signal, in ticks: gives a barrier its exact end (engine only) */
void vg_signal_time_set(uint64_t va, uint64_t tick);
bool vg_signal_time_get(uint64_t va, uint64_t *tick);

/* ---- waking the engine (doorbell.c) ---- */

bool vg_bell_open(void); /* false: no userfaultfd, the engine naps */
void vg_bell_add(uint64_t va, uint64_t len);
void vg_bell_kick(void); /* any thread */
bool vg_bell_arm(void);  /* engine: */
bool vg_bell_disarm(bool armed);
/* nap: look again soon whatever happens, with doubling length */
void vg_bell_wait(bool armed, bool nap, uint64_t max_ns);
void vg_bell_active(void);
void vg_bell_reset_after_fork(void);

/* ---- the engine (engine.c) ---- */

struct vg_queue {
    int gpu;
    uint32_t id; /* KFD's queue id */
    bool sdma;
    bool halted;            /* an error stopped it (engine) */
    _Atomic bool suspended; /* UPDATE_QUEUE with 0 percent; written in the ioctl, relaxed */
    unsigned doorbell_slot;
    volatile uint64_t *doorbell;
    uint64_t last_doorbell;
    /* AQL: the ring in packets; SDMA: the ring in bytes */
    char *ring;
    uint64_t ring_va;
    uint64_t ring_size;
    volatile uint64_t *wptr, *rptr;
    volatile amd_queue_t *amd; /* AQL only */
    uint64_t save_area;        /* AQL: context save area, whose header says where exceptions go; 0: none wanted */
    uint64_t truth_id;         /* hsa_queue_t.id, read at the first dispatch */
    /* engine thread: */
    uint64_t rd;            /* next packet (AQL) or byte (SDMA) */
    uint64_t limit;         /* how far the doorbell lets us go */
    uint64_t given_back;    /* AQL, read index late: packets below have ended */
    uint64_t seen;          /* packets (bytes) below were there in an earlier pass already */
    uint64_t arrival;       /* when those above came, at the latest */
    uint64_t cp;            /* the packet processor is busy until then */
    uint64_t max_end;       /* end of the latest kernel launched */
    uint64_t blocked_since; /* a barrier or poll was first found unsatisfied then; 0: none */
    uint64_t copy_done;     /* SDMA: bytes of the packet at hand already moved */
    uint64_t copy_start;
    bool executed; /* AQL: a kernel of this pass computed */
    struct vg_heap flight;
};

int vg_queue_create(struct vg_queue *q);     /* registers it and starts the engine; -errno */
struct vg_queue *vg_queue_take(uint32_t id); /* takes it out of the engine; NULL if unknown */
int vg_queue_suspend(uint32_t id, bool suspended);
void vg_engine_quiesce(void);  /* waits until no pass is running that began before */
extern bool vg_engine_recheck; /* engine: a queue waits for memory that the host may write without ringing a bell */
void vg_engine_flush(void);    /* before the process ends: truth to the file, bounded wait */
void vg_engine_reset_after_fork(void);
void vg_engine_lock(void);
void vg_engine_unlock(void);

/* one pass over a queue: does what is due at tick now; returns whether anything was done, lowers *due to the tick at
 * which there is something to do next (VG_NEVER: only when the application acts) */
bool vg_aql_step(struct vg_queue *q, uint64_t now, uint64_t *due);
bool vg_sdma_step(struct vg_queue *q, uint64_t now, uint64_t *due);
/* the signal's value changed by the model: decrement, interrupt if it wants one */
void vg_signal_complete(uint64_t va, uint64_t start, uint64_t end, bool profile);
enum vg_error { VG_ERROR_CODE, VG_ERROR_PACKET, VG_ERROR_VENDOR_PACKET };
void vg_queue_halt(struct vg_queue *q, enum vg_error error);

/* ---- kernels (kernels.c, blit.c) ---- */

/* a kernel whose work the model does */
enum vg_blit_result { VG_BLIT_DONE, VG_BLIT_FAULT, VG_BLIT_WAIT };
struct vg_blit {
    const char *name;
    unsigned arg_bytes; /* of kernel arguments that it reads */
    /* *bytes: how much was moved; FAULT: *bad isn't mapped; WAIT: a condition in memory doesn't hold yet, nothing was
     * done */
    enum vg_blit_result (*run)(const void *args, uint64_t *bytes, uint64_t *bad);
};

struct vg_kernel {
    uint64_t object;  /* address of the kernel descriptor */
    const char *name; /* as in the code object, without ".kd" */
    size_t name_len;
    const struct vg_blit *blit; /* NULL: takes time and does nothing */
    const struct vg_rule *rule;
    uint64_t rng[4];
    /* where the name was found, to notice that other code was loaded there since */
    const char *name_at;
    const void *sym_at;
    unsigned char sym[24];
    uint64_t unknown_at; /* of --execute: where it met what isn't modelled, as told */
    unsigned flights;    /* running; it stays as long as there are any */
    bool replaced;       /* other code is at its address now */
    struct vg_kernel *next;
};
struct vg_kernel *vg_kernel_find(uint64_t object);
void vg_kernel_done(struct vg_kernel *k); /* one flight less */
void vg_kernels_set_debug_map(uint64_t r_debug);
void vg_kernels_reset_after_fork(void);
/* ROCr's own kernels, by their machine code (blit.c); HIP's, by name (blit_hip.c); NULL: neither */
const struct vg_blit *vg_blit_recognise(uint64_t object);
const struct vg_blit *vg_blit_by_name(const char *name);
bool vg_gpu_copy(uint64_t dst, uint64_t src, uint64_t bytes, uint64_t *bad);

/* ---- kernels that compute (execute.c) ---- */

/* runs a dispatch whose packet lies at GPU address `packet`; false: *bad isn't memory */
bool vg_execute(struct vg_queue *q, const hsa_kernel_dispatch_packet_t *d, struct vg_kernel *k, uint64_t packet,
                uint64_t *bad);
void vg_execute_end(void); /* the process ends: says once more if its results can't be trusted */
void vg_execute_reset_after_fork(void);

/* ---- durations (script.c) ---- */

struct vg_rule;
/* reads the script; on an error fills err with one line and returns false */
bool vg_script_load(const char *path, char *err, size_t err_len);
const struct vg_rule *vg_script_match(const char *name);
void vg_rng_seed(uint64_t rng[4], uint64_t seed, const char *name);
uint64_t vg_draw_ticks(const struct vg_rule *rule, uint64_t rng[4]);

/* ---- truth (truth.c): engine thread, but for vg_truth_open ---- */

/* Either may be NULL. What is open already stays so. */
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
