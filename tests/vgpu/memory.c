/*
 * memory.c - GPU memory and the GPU address space.
 *
 * One sparse memfd is the memory of all GPUs (VRAM, GTT, doorbells, MMIO page). Every descriptor of /dev/kfd and the
 * render nodes refers to it, so the runtime's own mmap calls reach it at the offsets that ALLOC_MEMORY_OF_GPU returns.
 * The engine uses its own mapping, which the application cannot unmap: memory freed under a running queue reads as
 * zeros and never faults. Userptr memory belongs to the application and is used in place.
 *
 * The address space is a sorted array of allocations. An ioctl replaces the array (under `lock`); the engine reads it
 * once a pass. vgpu.h describes how an old array is freed.
 */
#include "vgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE           4096ull
#define DOORBELL_BYTES 8192ull /* a process's doorbell pages on one GPU: 1024 doorbells of 8 bytes */
/* Room for one GPU's doorbells and, in its middle, its MMIO page. The upper half of the driver's offsets selects the
 * kind, and a thunk uses the lower half of its first queue's offset as the place inside the page; so multiples of 4
 * GiB. */
#define DEVICE_BYTES (1ull << 32)
#define FIRST_OFFSET (DEVICE_BYTES * (VG_MAX_GPUS + 1))

struct space {
    uint64_t generation; /* tells tables apart even when an address is reused */
    unsigned n;
    struct vg_alloc *at[]; /* sorted by va */
};

struct hole {
    uint64_t offset, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int memfd = -1;
static dev_t mem_dev;
static ino_t mem_ino;
static char *memory_base; /* the engine's mapping of the memfd */
static uint64_t space_bytes;
static struct hole *holes; /* free ranges of the memfd, sorted by offset; under lock */
static unsigned hole_n, hole_cap;
static uint64_t vram_used[VG_MAX_GPUS]; /* under lock */
static uint64_t next_handle = 1;        /* under lock */
static struct space empty_space;
/* Written under lock (seq_cst), read by the engine in vg_mem_begin_pass. */
static _Atomic(struct space *) current = &empty_space;

/* Engine thread only: the table of this pass and the most recent allocations found. */
static struct space *pass_space = &empty_space;
static uint64_t pass_generation;
#define RECENT 8
static struct vg_alloc *recent[RECENT];
static unsigned recent_next;

/* If files may not grow (a hard RLIMIT_FSIZE), the memory is an anonymous shared mapping; the memfd then only marks the
 * model's descriptors, and vg_mem_map makes the runtime's mappings from the anonymous one. */
static bool anonymous;

/* RLIMIT_FSIZE is meant for the application's files but would also stop this ftruncate (with SIGXFSZ). */
static int grow_memfd(int fd, uint64_t bytes)
{
    struct rlimit old, more;
    bool raised = false;
    if (!getrlimit(RLIMIT_FSIZE, &old) && old.rlim_cur != RLIM_INFINITY && old.rlim_cur < bytes) {
        more.rlim_cur = more.rlim_max = RLIM_INFINITY;
        if (setrlimit(RLIMIT_FSIZE, &more)) {
            more = old;
            more.rlim_cur = old.rlim_max;
            setrlimit(RLIMIT_FSIZE, &more);
        }
        raised = true;
    }
    sigset_t xfsz, mask;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &mask);
    int r = ftruncate(fd, (off_t)bytes);
    if (r) {
        struct timespec none = {0, 0};
        sigtimedwait(&xfsz, NULL, &none);
        errno = EFBIG;
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (raised)
        setrlimit(RLIMIT_FSIZE, &old);
    return r;
}

static int open_locked(void)
{
    if (memfd >= 0)
        return 0;
    int fd = memfd_create("vgpu-memory", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    /* Address space may be limited (RLIMIT_AS): try smaller sizes. */
    for (uint64_t bytes = 4ull << 40; bytes > FIRST_OFFSET; bytes >>= 2) {
        anonymous = grow_memfd(fd, bytes);
        void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE | (anonymous ? MAP_ANONYMOUS : 0), anonymous ? -1 : fd, 0);
        if (p == MAP_FAILED)
            continue;
        madvise(p, bytes, MADV_DONTFORK);
        madvise(p, bytes, MADV_DONTDUMP);
        memory_base = p;
        space_bytes = bytes;
        break;
    }
    struct stat st;
    if (!memory_base || fstat(fd, &st)) {
        int e = memory_base ? errno : ENOMEM;
        close(fd);
        errno = e;
        return -1;
    }
    /* Keep low descriptors free for programs that rely on them (close loops, select, tests that print them). */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 200);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    mem_dev = st.st_dev;
    mem_ino = st.st_ino;
    memfd = fd;
    holes = malloc(sizeof *holes * 64);
    hole_cap = 64;
    hole_n = 1;
    holes[0] = (struct hole){FIRST_OFFSET, space_bytes - FIRST_OFFSET};
    /* An unrung doorbell reads as all ones, because 0 is the valid doorbell value of packet 0. */
    for (int g = 0; g < vg_cfg.gpus; g++)
        memset(memory_base + vg_doorbell_offset(g), 0xff, DOORBELL_BYTES);
    return 0;
}

int vg_mem_open(void)
{
    pthread_mutex_lock(&lock);
    int r = open_locked();
    pthread_mutex_unlock(&lock);
    return r;
}

int vg_mem_dup(bool cloexec)
{
    if (vg_mem_open())
        return -1;
    return fcntl(memfd, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

bool vg_mem_is_device_fd(int fd)
{
    struct stat st;
    return memfd >= 0 && !fstat(fd, &st) && st.st_dev == mem_dev && st.st_ino == mem_ino;
}

void *vg_mem_map(void *at, size_t len, int prot, int flags, uint64_t offset)
{
    if (!anonymous)
        return NULL;
    if (offset > space_bytes || len > space_bytes - offset) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    /* An old length of 0 makes a second mapping of these shared pages. */
    void *p = mremap(memory_base + offset, 0, len, MREMAP_MAYMOVE | (flags & MAP_FIXED ? MREMAP_FIXED : 0), at);
    if (p != MAP_FAILED && prot != (PROT_READ | PROT_WRITE))
        mprotect(p, len, prot);
    return p;
}

uint64_t vg_doorbell_offset(int gpu)
{
    return DEVICE_BYTES + (uint64_t)gpu * DEVICE_BYTES;
}

bool vg_is_doorbell_offset(uint64_t offset)
{
    return offset >= DEVICE_BYTES && offset < FIRST_OFFSET && offset % DEVICE_BYTES < DOORBELL_BYTES;
}

static uint64_t mmio_offset(int gpu)
{
    return vg_doorbell_offset(gpu) + DEVICE_BYTES / 2;
}

volatile uint64_t *vg_doorbell(int gpu, unsigned slot)
{
    return (volatile uint64_t *)(void *)(memory_base + vg_doorbell_offset(gpu)) + slot;
}

/* --- offsets of the memfd: first fit, merged when freed --- */

static uint64_t allocate_offset(uint64_t size)
{
    /* Large blocks are aligned to 2 MiB, so that huge pages stay possible. */
    uint64_t align = size >= 2u << 20 ? 2u << 20 : PAGE;
    for (unsigned i = 0; i < hole_n; i++) {
        uint64_t at = (holes[i].offset + align - 1) & ~(align - 1), end = holes[i].offset + holes[i].size;
        if (at + size > end)
            continue;
        uint64_t head = at - holes[i].offset, tail = end - (at + size);
        if (head && tail) {
            if (hole_n == hole_cap) {
                struct hole *more = realloc(holes, sizeof *holes * hole_cap * 2);
                if (!more)
                    return VG_NEVER;
                holes = more;
                hole_cap *= 2;
            }
            memmove(&holes[i + 1], &holes[i], (hole_n - i) * sizeof *holes);
            hole_n++;
            holes[i].size = head;
            holes[i + 1] = (struct hole){at + size, tail};
        } else if (head) {
            holes[i].size = head;
        } else if (tail) {
            holes[i] = (struct hole){at + size, tail};
        } else {
            memmove(&holes[i], &holes[i + 1], (hole_n - i - 1) * sizeof *holes);
            hole_n--;
        }
        return at;
    }
    return VG_NEVER;
}

static void free_offset(uint64_t offset, uint64_t size)
{
    madvise(memory_base + offset, size, MADV_REMOVE);
    unsigned i = 0;
    while (i < hole_n && holes[i].offset < offset)
        i++;
    bool left = i && holes[i - 1].offset + holes[i - 1].size == offset;
    bool right = i < hole_n && offset + size == holes[i].offset;
    if (left && right) {
        holes[i - 1].size += size + holes[i].size;
        memmove(&holes[i], &holes[i + 1], (hole_n - i - 1) * sizeof *holes);
        hole_n--;
    } else if (left) {
        holes[i - 1].size += size;
    } else if (right) {
        holes[i] = (struct hole){offset, size + holes[i].size};
    } else {
        if (hole_n == hole_cap) {
            struct hole *more = realloc(holes, sizeof *holes * hole_cap * 2);
            if (!more)
                return; /* only this range leaks */
            holes = more;
            hole_cap *= 2;
        }
        memmove(&holes[i + 1], &holes[i], (hole_n - i) * sizeof *holes);
        holes[i] = (struct hole){offset, size};
        hole_n++;
    }
}

/* --- the table --- */

static unsigned upper(const struct space *s, uint64_t va)
{
    unsigned lo = 0, hi = s->n;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (s->at[mid]->va <= va)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo; /* first allocation that begins after va */
}

/* Publish the table with `add` inserted or `take` removed; return the old table. */
static struct space *replace_space(struct vg_alloc *add, const struct vg_alloc *take)
{
    struct space *old = atomic_load(&current);
    struct space *s = malloc(sizeof *s + (old->n + 1) * sizeof *s->at);
    if (!s)
        return NULL;
    s->generation = old->generation + 1;
    s->n = 0;
    for (unsigned i = 0; i < old->n; i++) {
        if (add && add->va < old->at[i]->va) {
            s->at[s->n++] = add;
            add = NULL;
        }
        if (old->at[i] != take)
            s->at[s->n++] = old->at[i];
    }
    if (add)
        s->at[s->n++] = add;
    atomic_store(&current, s);
    return old;
}

int vg_mem_alloc(struct vg_alloc want, struct vg_alloc *out)
{
    if (!want.size || want.va + want.size < want.va)
        return -EINVAL;
    struct vg_alloc *a = malloc(sizeof *a);
    if (!a)
        return -ENOMEM;
    *a = want;
    a->size = (a->size + PAGE - 1) & ~(PAGE - 1);
    pthread_mutex_lock(&lock);
    int r = open_locked() ? -ENOMEM : 0;
    if (r)
        goto fail;
    switch (a->kind) {
    case VG_MEM_DOORBELL:
        a->offset = vg_doorbell_offset(a->gpu);
        break;
    case VG_MEM_MMIO:
        a->offset = mmio_offset(a->gpu);
        break;
    case VG_MEM_USERPTR:
        a->offset = VG_NEVER;
        break;
    case VG_MEM_VRAM:
        if (vram_used[a->gpu] + a->size > vg_cfg.model->vram) {
            r = -ENOMEM;
            goto fail;
        }
        /* fall through */
    case VG_MEM_GTT:
        a->offset = allocate_offset(a->size);
        if (a->offset == VG_NEVER) {
            r = -ENOMEM;
            goto fail;
        }
        break;
    }
    if (a->offset != VG_NEVER)
        a->host = memory_base + a->offset;
    a->handle = next_handle++;
    struct space *old = replace_space(a, NULL);
    if (!old) {
        r = -ENOMEM;
        goto fail;
    }
    if (a->kind == VG_MEM_VRAM)
        vram_used[a->gpu] += a->size;
    *out = *a;
    pthread_mutex_unlock(&lock);
    vg_engine_quiesce();
    if (old != &empty_space)
        free(old);
    return 0;
fail:
    pthread_mutex_unlock(&lock);
    free(a);
    return r;
}

static struct vg_alloc *by_handle(uint64_t handle)
{
    const struct space *s = atomic_load(&current);
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i]->handle == handle)
            return s->at[i];
    return NULL;
}

bool vg_mem_by_handle(uint64_t handle, struct vg_alloc *out)
{
    pthread_mutex_lock(&lock);
    const struct vg_alloc *a = by_handle(handle);
    if (a)
        *out = *a;
    pthread_mutex_unlock(&lock);
    return a;
}

int vg_mem_free(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct vg_alloc *a = by_handle(handle);
    struct space *old = a ? replace_space(NULL, a) : NULL;
    pthread_mutex_unlock(&lock);
    if (!a)
        return -EINVAL;
    if (!old)
        return -ENOMEM;
    vg_engine_quiesce(); /* from here on no pass uses this memory */
    pthread_mutex_lock(&lock);
    if (a->kind == VG_MEM_VRAM || a->kind == VG_MEM_GTT)
        free_offset(a->offset, a->size);
    if (a->kind == VG_MEM_VRAM)
        vram_used[a->gpu] -= a->size;
    pthread_mutex_unlock(&lock);
    free(a);
    free(old);
    return 0;
}

uint64_t vg_mem_available(int gpu)
{
    pthread_mutex_lock(&lock);
    uint64_t left = vg_cfg.model->vram - vram_used[gpu];
    pthread_mutex_unlock(&lock);
    return left;
}

void *vg_mem_host(uint64_t va, uint64_t len)
{
    pthread_mutex_lock(&lock);
    const struct space *s = atomic_load(&current);
    unsigned i = upper(s, va);
    const struct vg_alloc *a = i ? s->at[i - 1] : NULL;
    void *p = a && va - a->va < a->size && len <= a->size - (va - a->va) ? a->host + (va - a->va) : NULL;
    pthread_mutex_unlock(&lock);
    return p;
}

/* --- the engine's side --- */

void vg_mem_begin_pass(void)
{
    struct space *s = atomic_load(&current);
    pass_space = s;
    if (s->generation == pass_generation)
        return;
    pass_generation = s->generation;
    memset(recent, 0, sizeof recent);
}

const struct vg_alloc *vg_alloc_at(uint64_t va)
{
    for (unsigned i = 0; i < RECENT; i++)
        if (recent[i] && va - recent[i]->va < recent[i]->size)
            return recent[i];
    unsigned i = upper(pass_space, va);
    if (!i || va - pass_space->at[i - 1]->va >= pass_space->at[i - 1]->size)
        return NULL;
    recent[recent_next++ % RECENT] = pass_space->at[i - 1];
    return pass_space->at[i - 1];
}

const struct vg_alloc *vg_alloc_find(uint64_t va)
{
    unsigned i = upper(pass_space, va);
    return i && va - pass_space->at[i - 1]->va < pass_space->at[i - 1]->size ? pass_space->at[i - 1] : NULL;
}

void *vg_xlate(uint64_t va, uint64_t len)
{
    const struct vg_alloc *a = vg_alloc_at(va);
    if (!a || len > a->size - (va - a->va))
        return NULL;
    return a->host + (va - a->va);
}

bool vg_safe_read(void *dst, uint64_t addr, size_t len)
{
    struct iovec to = {dst, len}, from = {(void *)(uintptr_t)addr, len};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)len;
}

void vg_mem_reset_after_fork(void)
{
    /* The child has no engine and no mapping of the memory (MADV_DONTFORK); if it opens the GPUs, it starts with new
     * ones. */
    pthread_mutex_init(&lock, NULL);
    if (memfd >= 0)
        close(memfd);
    memfd = -1;
    memory_base = NULL;
    mem_ino = 0;
    memset(vram_used, 0, sizeof vram_used);
    atomic_store(&current, &empty_space);
    pass_space = &empty_space;
    pass_generation = 0;
    memset(recent, 0, sizeof recent);
}
