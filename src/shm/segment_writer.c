/*
 * Creates the segment: one memfd, sized, mapped once writable, sealed, described by its header.
 *
 * This runs at load inside other people's programs, so it first handles everything that could kill or disturb them: a
 * file size limit (SIGXFSZ), an address space limit, descriptor limits, mlockall, huge pages, core dumps, kernels
 * without the newer flags and seals. Each failure is an errno value and one line of text.
 */
#include "shm/segment_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory_file.h"
#include "shm/hash.h"

/* Younger than some libc headers that we want to build with. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

const struct rtl_control rtl_control_none = {0};

/* The last segment made, for rtl_segment_populate on kernels without MADV_POPULATE_WRITE, which has to go through
 * the descriptor. Written by rtl_segment_create before any other thread can know the segment. */
static struct {
    char *base;
    uint64_t size;
    int fd;
    dev_t device;
    ino_t inode; /* the descriptor is still the segment's while its device and inode are these */
} last_segment = {.fd = -1};

static const struct {
    uint32_t stride, capacity;
} sections[RTL_SECTION_KNOWN] = {
    [RTL_SECTION_KERNELS] = {sizeof(struct rtl_kernel), RTL_KERNELS_MAX},
    [RTL_SECTION_HISTOGRAMS] = {sizeof(struct rtl_histogram), RTL_HISTOGRAMS_MAX},
    [RTL_SECTION_DIRECTORY] = {sizeof(struct rtl_directory), RTL_HISTOGRAMS_MAX},
    [RTL_SECTION_COARSE] = {sizeof(struct rtl_coarse), RTL_HISTOGRAMS_MAX},
    [RTL_SECTION_CHUNKS] = {sizeof(struct rtl_chunk), RTL_CHUNKS_MAX + 1},
    [RTL_SECTION_QUEUES] = {sizeof(struct rtl_queue), RTL_QUEUES_MAX},
    [RTL_SECTION_AGENTS] = {sizeof(struct rtl_agent), RTL_AGENTS_MAX},
    [RTL_SECTION_DISPATCHES] = {sizeof(struct rtl_dispatches), RTL_QUEUES_MAX *RTL_KERNELS_MAX},
    [RTL_SECTION_NAMES] = {1, RTL_NAMES_BYTES},
    [RTL_SECTION_RING] = {sizeof(struct rtl_ring), 1},
    [RTL_SECTION_EVENTS] = {sizeof(struct rtl_event_record), 0}, /* capacity from the configuration */
    [RTL_SECTION_COPIES] = {sizeof(struct rtl_copies), RTL_COPIES_MAX},
    [RTL_SECTION_PROBE] = {RTL_PROBE_STATE_BYTES, 1},
    [RTL_SECTION_PROBE_DIES] = {sizeof(struct rtl_probe_die), RTL_PROBE_DIES - 1},
    [RTL_SECTION_GAPS] = {sizeof(struct rtl_gpu_gaps), RTL_AGENTS_MAX},
};

__attribute__((format(printf, 4, 5))) static int fail_with(int error, char *why, size_t why_bytes, const char *format,
                                                           ...)
{
    va_list args;
    va_start(args, format);
    if (why && why_bytes)
        vsnprintf(why, why_bytes, format, args);
    va_end(args);
    return -error;
}

static bool is_probes(int section)
{
    return section == RTL_SECTION_PROBE || section == RTL_SECTION_PROBE_DIES;
}

/* Each section starts on a page of its own, so that a page has one writer and can be populated alone; the two sections
 * of a probe are one part. */
static uint64_t lay_out(struct rtl_section section[RTL_SECTION_LIMIT], uint32_t events, bool links, bool probe)
{
    uint64_t at = 4096;
    /* the largest section that is fully populated lies last */
    static const int order[] = {RTL_SECTION_COPIES,     RTL_SECTION_GAPS, RTL_SECTION_PROBE,
                                RTL_SECTION_PROBE_DIES, RTL_SECTION_RING, RTL_SECTION_EVENTS};
    int count = RTL_SECTION_COUNT + (events ? 6 : 4);
    for (int n = 0; n < count; n++) {
        int i = n < RTL_SECTION_COUNT ? n : order[n - RTL_SECTION_COUNT];
        if (is_probes(i) && !probe)
            continue;
        uint32_t capacity = i == RTL_SECTION_EVENTS ? events : sections[i].capacity;
        uint32_t stride = i == RTL_SECTION_EVENTS && links ? sizeof(struct rtl_linked_event) : sections[i].stride;
        section[i] = (struct rtl_section){.offset = at, .stride = stride, .capacity = capacity};
        at = RTL_ALIGN_UP(at + (uint64_t)stride * capacity, i == RTL_SECTION_PROBE ? 64 : 4096);
    }
    return at;
}

static uint32_t seal_segment(int fd)
{
    rtl_memory_file_seal(fd);
    int held = fcntl(fd, F_GET_SEALS);
    return held < 0 ? 0 : (uint32_t)held;
}

/* Read the process's name, not this thread's. */
static void read_comm(char comm[RTL_COMM_MAX])
{
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, comm, RTL_COMM_MAX - 1);
    if (fd >= 0)
        close(fd);
    if (n > 0) {
        comm[n] = '\0';
        comm[strcspn(comm, "\n")] = '\0';
    } else {
        snprintf(comm, RTL_COMM_MAX, "%s", program_invocation_short_name ? program_invocation_short_name : "?");
    }
}

/* Create a page that viewers write and the library only reads: it is mapped read-only, after its constant part `first`
 * was written through the descriptor. NULL on failure; otherwise *fd and *inode identify the descriptor. */
static const void *make_page(const char *name, const void *first, size_t first_bytes, size_t bytes, uint32_t *fd_out,
                             uint64_t *inode)
{
    struct stat identity;
    int fd = rtl_memory_file(name);
    if (fd < 0)
        return NULL;
    void *page = MAP_FAILED;
    if (fchmod(fd, S_IRUSR | S_IWUSR) == 0 && ftruncate(fd, (off_t)bytes) == 0 &&
        pwrite(fd, first, first_bytes, 0) == (ssize_t)first_bytes &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 && fstat(fd, &identity) == 0)
        page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        close(fd);
        return NULL;
    }
    madvise(page, bytes, MADV_DONTDUMP);
    *fd_out = (uint32_t)fd;
    *inode = identity.st_ino;
    return page;
}

static void make_control(struct rtl_segment *segment)
{
    struct rtl_control first = {.magic = RTL_CONTROL_MAGIC,
                                .version = RTL_CONTROL_VERSION,
                                .bytes = RTL_CONTROL_BYTES,
                                .pid = (uint64_t)getpid(),
                                .word = rtl_control_encode((struct rtl_control_request){.mode = RTL_MODE_NONE})};
    struct rtl_header *h = segment->header;
    const void *page =
        make_page(RTL_CONTROL_NAME, &first, sizeof first, RTL_CONTROL_BYTES, &h->control_fd, &h->control_inode);
    if (!page)
        return;
    segment->control = page;
    (void)__atomic_load_n(&segment->control->word, __ATOMIC_RELAXED); /* so that no dispatch touches it first */
}

/* Create a probe's state, at `state` in the segment, and the probe page. Both or neither. */
static void make_probe(struct rtl_segment *segment, struct rtl_probe_state *state)
{
    struct rtl_probe_page first = {.magic = RTL_PROBE_MAGIC,
                                   .version = RTL_PROBE_VERSION,
                                   .bytes = RTL_PROBE_PAGE_BYTES,
                                   .pid = (uint64_t)getpid(),
                                   .word = rtl_probe_encode((struct rtl_probe_word){.ask = RTL_PROBE_ASK_NOTHING})};
    if (!rtl_segment_populate(state, sizeof *state) ||
        getrandom(&segment->probe_key, sizeof segment->probe_key, 0) != sizeof segment->probe_key)
        return;
    segment->probe_page =
        make_page(RTL_PROBE_NAME, &first, sizeof first, RTL_PROBE_PAGE_BYTES, &state->page_fd, &state->page_inode);
    if (!segment->probe_page)
        return;
    state->kernel = RTL_KERNEL_UNKNOWN;
    state->key_at = (uint64_t)(uintptr_t)&segment->probe_key;
    segment->probe = state;
}

/* Copy the variables behind the names of the fixed rows. Without memory the segment has none. */
static void publish_environment(struct rtl_segment *segment, const struct rtl_segment_config *config)
{
    uint32_t bytes = config->environment_bytes < RTL_ENVIRONMENT_MAX ? config->environment_bytes : RTL_ENVIRONMENT_MAX;
    uint64_t offset = segment->names_used;
    if (!bytes || !rtl_segment_populate(segment->names + offset, bytes))
        return;
    memcpy(segment->names + offset, config->environment, bytes);
    segment->header->environment_offset = offset;
    segment->header->environment_length = bytes;
    segment->names_used = offset + RTL_ALIGN_UP(bytes, 8);
    segment->header->names_used = offset + RTL_ALIGN_UP(bytes, 8);
}

static void publish_header(struct rtl_segment *segment, const struct rtl_segment_config *config,
                           const struct rtl_section section[RTL_SECTION_LIMIT], uint32_t seals)
{
    struct rtl_header *h = segment->header;
    h->major = RTL_SEGMENT_MAJOR;
    h->minor = RTL_SEGMENT_MINOR;
    h->header_bytes = sizeof *h;
    h->size = segment->size;
    h->features_required = segment->ring ? RTL_FEATURE_COPY_EVENTS : 0;
    h->features_optional = RTL_FEATURE_COPIES | RTL_FEATURE_GAPS | (segment->ring ? RTL_FEATURE_EVENTS : 0) |
                           (segment->probe ? RTL_FEATURE_PROBE : 0);
    h->section_count = RTL_SECTION_KNOWN;
    for (int i = 0; i < RTL_SECTION_KNOWN; i++) {
        bool events = i == RTL_SECTION_RING || i == RTL_SECTION_EVENTS;
        if (events ? segment->ring != NULL : !is_probes(i) || segment->probe)
            h->section[i] = section[i];
    }
    h->pid = (uint64_t)getpid();
    h->start_mono_ns = rtl_mono_ns();
    h->start_real_ns = rtl_real_ns();
    h->mode = config->mode;
    h->calls = config->calls;
    h->in_force = RTL_IN_FORCE(config->mode, config->mode == RTL_MODE_OFF ? RTL_ACTIVITY_OFF : RTL_ACTIVITY_TIMING,
                               0); /* until rtl_segment_set_in_force */
    h->seals = seals;
    h->runtime_major = config->runtime_major;
    h->runtime_minor = config->runtime_minor;
    h->table_core_bytes = config->table_core_bytes;
    h->table_ext_bytes = config->table_ext_bytes;
    h->signals_limit = config->signals_limit;
    publish_environment(segment, config);
    read_comm(h->comm);
    if (config->library_version)
        snprintf(h->library_version, sizeof h->library_version, "%s", config->library_version);
    /* last: a viewer that opens the descriptor early sees no segment, rather than half of one */
    __atomic_store_n(&h->magic, RTL_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

int rtl_segment_create(struct rtl_segment *segment, const struct rtl_segment_config *config, char *why,
                       size_t why_bytes)
{
    struct rtl_section section[RTL_SECTION_LIMIT] = {{0}};
    uint64_t size = lay_out(section, config->events, config->links, config->probe);

    memset(segment, 0, sizeof *segment);
    segment->fd = -1;
    segment->control = &rtl_control_none;
    if (why && why_bytes)
        why[0] = '\0';

    if (!rtl_file_size_allowed(size))
        return fail_with(EFBIG, why, why_bytes,
                         "the file size limit (ulimit -f) is below the segment's %llu MB (sparse)",
                         (unsigned long long)(size >> 20));

    int fd = rtl_memory_file(RTL_SEGMENT_NAME);
    if (fd < 0)
        return fail_with(errno, why, why_bytes, "no memfd for the segment: %s", strerror(errno));

    void *base = NULL;
    int error = 0;
    last_segment.fd = -1; /* data of an earlier segment doesn't apply to this one */
    if (ftruncate(fd, (off_t)size) != 0) {
        error = errno;
        fail_with(error, why, why_bytes, "cannot size the segment: %s", strerror(error));
    } else if (!(base = rtl_map_sparse(fd, size))) {
        error = errno;
        fail_with(error, why, why_bytes, "cannot map the segment's %llu MB of address space: %s",
                  (unsigned long long)(size >> 20),
                  error == EAGAIN ? "the program locks its memory (mlockall) and ulimit -l is too low"
                                  : strerror(error));
    } else if (!rtl_segment_populate(base, 4096)) {
        error = ENOMEM;
        fail_with(error, why, why_bytes, "no memory for the segment");
        munmap(base, size);
    }
    if (error) {
        close(fd);
        return -error;
    }

    char *at = base;
    segment->header = base;
    segment->kernels = (void *)(at + section[RTL_SECTION_KERNELS].offset);
    segment->histograms = (void *)(at + section[RTL_SECTION_HISTOGRAMS].offset);
    segment->directory = (void *)(at + section[RTL_SECTION_DIRECTORY].offset);
    segment->coarse = (void *)(at + section[RTL_SECTION_COARSE].offset);
    segment->chunks = (void *)(at + section[RTL_SECTION_CHUNKS].offset);
    segment->queues = (void *)(at + section[RTL_SECTION_QUEUES].offset);
    segment->agents = (void *)(at + section[RTL_SECTION_AGENTS].offset);
    segment->dispatches = (void *)(at + section[RTL_SECTION_DISPATCHES].offset);
    segment->names = at + section[RTL_SECTION_NAMES].offset;
    segment->copies = (void *)(at + section[RTL_SECTION_COPIES].offset);
    segment->gaps = (void *)(at + section[RTL_SECTION_GAPS].offset);
    segment->size = size;
    segment->fd = fd;
    struct stat identity;
    if (fstat(fd, &identity) == 0) {
        last_segment.base = base;
        last_segment.size = size;
        last_segment.device = identity.st_dev;
        last_segment.inode = identity.st_ino;
        last_segment.fd = fd;
    }

    if (config->events) {
        uint64_t from = section[RTL_SECTION_RING].offset;
        if (rtl_segment_populate(at + from, size - from)) {
            segment->ring = (void *)(at + from);
            segment->events = (void *)(at + section[RTL_SECTION_EVENTS].offset);
            segment->event_mask = config->events - 1;
            segment->event_links = config->links;
        }
    }

    /* The two fixed rows come first, to get their fixed ids. */
    static const char *const fixed[RTL_KERNEL_FIRST] = {
        [RTL_KERNEL_OTHER] = "(other kernels)", [RTL_KERNEL_UNKNOWN] = "(unknown kernel)"};
    for (uint32_t i = 0; i < RTL_KERNEL_FIRST; i++)
        rtl_segment_add_kernel(segment, fixed[i], (uint32_t)strlen(fixed[i]), 0);

    if (config->control)
        make_control(segment);
    if (config->probe)
        make_probe(segment, (void *)(at + section[RTL_SECTION_PROBE].offset));
    publish_header(segment, config, section, seal_segment(fd));
    return 0;
}

void rtl_segment_set_in_force(struct rtl_segment *segment, enum rtl_mode mode, enum rtl_activity activity,
                              uint16_t number)
{
    __atomic_store_n(&segment->header->in_force, RTL_IN_FORCE(mode, activity, number), __ATOMIC_RELEASE);
}

void rtl_segment_set_state(struct rtl_segment *segment, enum rtl_state state)
{
    __atomic_store_n(&segment->header->state, (uint32_t)state, __ATOMIC_RELEASE);
}

void rtl_segment_note(struct rtl_segment *segment, uint32_t notes)
{
    __atomic_fetch_or(&segment->header->notes, notes, __ATOMIC_RELAXED);
}

/* Reserve bytes of names; UINT64_MAX if they don't fit. Compare-and-swap, so that a name that is too long leaves the
 * room to others. */
static uint64_t reserve_name(struct rtl_segment *segment, uint64_t room)
{
    uint64_t used = atomic_load_explicit(&segment->names_used, memory_order_relaxed);
    do {
        if (room > RTL_NAMES_BYTES - used)
            return UINT64_MAX;
    } while (!atomic_compare_exchange_weak_explicit(&segment->names_used, &used, used + room, memory_order_relaxed,
                                                    memory_order_relaxed));
    return used;
}

static uint32_t reserve_row(struct rtl_segment *segment)
{
    uint32_t row = atomic_load_explicit(&segment->kernel_count, memory_order_relaxed);
    do {
        if (row >= RTL_KERNELS_MAX)
            return UINT32_MAX;
    } while (!atomic_compare_exchange_weak_explicit(&segment->kernel_count, &row, row + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return row;
}

static uint32_t count_no_room(struct rtl_segment *segment, enum rtl_note note)
{
    rtl_segment_note(segment, note);
    __atomic_fetch_add(&segment->header->kernels_over, 1, __ATOMIC_RELAXED);
    return RTL_KERNEL_OTHER;
}

/* Copy a name; cut a long one, and end it in a hash that distinguishes names of the same beginning. */
static void write_name(char *to, uint32_t kept, const char *name, uint32_t length)
{
    enum { MARK = 17 };
    if (kept == length) {
        memcpy(to, name, length);
        return;
    }
    uint64_t hash = rtl_hash(name, length);
    memcpy(to, name, kept - MARK);
    to[kept - MARK] = '~';
    for (uint32_t i = 1; i < MARK; i++)
        to[kept - i] = "0123456789abcdef"[hash >> 4 * (i - 1) & 15];
}

uint32_t rtl_segment_add_kernel(struct rtl_segment *segment, const char *name, uint32_t length, uint64_t kernel_object)
{
    uint32_t kept = length < RTL_NAME_MAX ? length : RTL_NAME_MAX;
    if (atomic_load_explicit(&segment->kernel_count, memory_order_relaxed) >= RTL_KERNELS_MAX)
        return count_no_room(segment, RTL_NOTE_KERNELS_FULL); /* before reserving names for it */
    uint64_t room = RTL_ALIGN_UP(kept, 8); /* readers fetch words, so no word may hold parts of two names */
    uint64_t offset = reserve_name(segment, room);
    if (offset == UINT64_MAX)
        return count_no_room(segment, RTL_NOTE_NAMES_FULL);
    uint32_t row = reserve_row(segment);
    if (row == UINT32_MAX)
        return count_no_room(segment, RTL_NOTE_KERNELS_FULL);

    struct rtl_kernel *k = &segment->kernels[row];
    write_name(segment->names + offset, kept, name, length);
    __atomic_store_n(&k->name_length, kept, __ATOMIC_RELAXED);
    __atomic_store_n(&k->name_offset, offset, __ATOMIC_RELAXED);
    __atomic_store_n(&k->kernel_object, kernel_object, __ATOMIC_RELAXED);
    __atomic_store_n(&k->first_mono_ns, rtl_mono_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&k->state, RTL_KERNEL_READY, __ATOMIC_RELEASE);
    /* for readers only; added, not stored, because two threads may come here in either order */
    __atomic_fetch_add(&segment->header->kernel_count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&segment->header->names_used, room, __ATOMIC_RELAXED);
    return row;
}

bool rtl_segment_populate(void *address, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)address & ~(page - 1);
    uint64_t length = RTL_ALIGN_UP((uintptr_t)address + bytes, page) - from;
    int result;
    do
        result = madvise((void *)from, length, MADV_POPULATE_WRITE);
    while (result != 0 && errno == EINTR);
    if (result == 0)
        return true;
    if (errno == ENOMEM || errno == EFAULT || errno == EHWPOISON)
        return false;
    /* Before Linux 5.14 (EINVAL), or in a sandbox that doesn't know the call: allocate the pages in the file. */
    uintptr_t base = (uintptr_t)last_segment.base;
    if (last_segment.fd < 0 || from < base || from + length > base + last_segment.size)
        return true; /* private memory */
    struct stat now;
    if (fstat(last_segment.fd, &now) != 0 || now.st_dev != last_segment.device || now.st_ino != last_segment.inode)
        return false; /* the application has closed it: the number may be its own file now */
    /* not fallocate(): it is a cancellation point, and callers are not */
    return syscall(SYS_fallocate, last_segment.fd, 0, (off_t)(from - base), (off_t)length) == 0 || errno == EOPNOTSUPP;
}
