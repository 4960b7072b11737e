/*
 * Kernel names, executables and rows (kernel_rows.h).
 *
 * A name is kept once for the life of the process, up to a bound; further kernels count as "other". Data of an
 * executable is freed with it. All changes are made under the create lock; dispatching threads read the map and the
 * names without it.
 */
#include "intercept/track/kernel_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "intercept/base/tool.h"
#include "shm/hash.h"

enum {
    NAME_BLOCK = 1024,           /* names in a block */
    NAME_BLOCKS = 1024,          /* 1 M names */
    NAMES_BYTES_MAX = 128 << 20, /* bound on the text for a server that compiles new kernels for ever */
    EXECUTABLE_BUCKETS = 512,
    ROWS_AHEAD = 256, /* rows, and bytes of names, whose pages are populated ahead */
    TEXT_AHEAD = 128 << 10,
};

#define ROW_TAKING (UINT32_MAX - 1) /* a thread is assigning the row right now */

struct kernel_name {
    const char *text;     /* create */
    uint32_t length;      /* create */
    uint32_t next;        /* create: next in the bucket, 0 = end */
    uint64_t hash;        /* create */
    _Atomic uint32_t row; /* any dispatching thread: NONE, TAKING, then the row for ever (release) */
};

struct loaded_executable {
    struct loaded_executable *next;
    uint64_t handle;
    size_t count;
    struct {
        uint64_t object, agent;
    } kernel[];
};

struct rtl_map rtl_kernel_map;

/* Name 0 stands for all names without room. */
static struct kernel_name other_name = {.text = "", .row = RTL_KERNEL_OTHER};
static struct kernel_name *_Atomic blocks[NAME_BLOCKS];           /* create stores (release), any loads */
static uint32_t name_count = 1;                                   /* create */
static uint64_t name_bytes;                                       /* create */
static uint32_t *buckets, bucket_count;                           /* create */
static struct loaded_executable *executables[EXECUTABLE_BUCKETS]; /* create */

static struct kernel_name *name_at(uint32_t number)
{
    if (number == 0)
        return &other_name;
    return &atomic_load_explicit(&blocks[number / NAME_BLOCK], memory_order_acquire)[number % NAME_BLOCK];
}

static uint64_t hash_name(const char *text, size_t length)
{
    uint64_t h = rtl_hash(text, length);
    return h ^ h >> 32;
}

static bool grow_buckets(void)
{
    uint32_t n = bucket_count ? 2 * bucket_count : 1024;
    uint32_t *more = calloc(n, sizeof *more);
    if (!more)
        return bucket_count != 0; /* longer chains still work */
    for (uint32_t number = 1; number < name_count; number++) {
        struct kernel_name *name = name_at(number);
        name->next = more[name->hash % n];
        more[name->hash % n] = number;
    }
    free(buckets);
    buckets = more;
    bucket_count = n;
    return true;
}

/* Return the number of that name, new or known; 0 when there is no room. */
static uint32_t intern_name(const char *text, size_t length)
{
    if (name_count >= bucket_count && !grow_buckets())
        return 0;
    uint64_t hash = hash_name(text, length);
    for (uint32_t number = buckets[hash % bucket_count]; number; number = name_at(number)->next) {
        const struct kernel_name *name = name_at(number);
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return number;
    }
    if (name_count >= NAME_BLOCK * NAME_BLOCKS || length > NAMES_BYTES_MAX - name_bytes)
        return 0;
    struct kernel_name *block = atomic_load_explicit(&blocks[name_count / NAME_BLOCK], memory_order_relaxed);
    if (!block) {
        block = calloc(NAME_BLOCK, sizeof *block);
        if (!block)
            return 0;
        atomic_store_explicit(&blocks[name_count / NAME_BLOCK], block, memory_order_release);
    }
    char *copy = malloc(length + 1);
    if (!copy)
        return 0;
    memcpy(copy, text, length);
    copy[length] = '\0';

    struct kernel_name *name = &block[name_count % NAME_BLOCK];
    name->text = copy;
    name->length = (uint32_t)length;
    name->hash = hash;
    atomic_store_explicit(&name->row, RTL_ROW_NONE, memory_order_relaxed);
    name->next = buckets[hash % bucket_count];
    buckets[hash % bucket_count] = name_count;
    name_bytes += length;
    return name_count++;
}

/* Return the name's row. The thread that dispatches the name first assigns it; a second thread meanwhile waits,
 * because two rows would split the count. It sleeps, so that a thread of higher priority doesn't block the first
 * one. */
static uint32_t assign_row(struct kernel_name *name, uint64_t kernel_object)
{
    uint32_t row = RTL_ROW_NONE;
    if (atomic_compare_exchange_strong_explicit(&name->row, &row, ROW_TAKING, memory_order_acquire,
                                                memory_order_acquire)) {
        row = rtl_segment_add_kernel(&rtl_tool.segment, name->text, name->length, kernel_object);
        atomic_store_explicit(&name->row, row, memory_order_release);
        return row;
    }
    int error = errno;
    while (row == ROW_TAKING) {
        struct timespec moment = {0, 10000};
        syscall(SYS_nanosleep, &moment, NULL); /* not nanosleep(): a thread must not be cancelled here */
        row = atomic_load_explicit(&name->row, memory_order_acquire);
    }
    errno = error;
    return row;
}

uint32_t rtl_kernels_first(struct rtl_map_entry *entry, uint64_t kernel_object)
{
    if (!entry) {
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_UNKNOWN_KERNEL);
        return RTL_KERNEL_UNKNOWN;
    }
    uint64_t value = atomic_load_explicit(&entry->value, memory_order_acquire);
    uint32_t row = assign_row(name_at((uint32_t)(value >> 32)), kernel_object);
    /* Fails if the address became another kernel's meanwhile; that kernel's first dispatch completes the value. */
    atomic_compare_exchange_strong_explicit(&entry->value, &value, (value & ~(uint64_t)UINT32_MAX) | row,
                                            memory_order_release, memory_order_relaxed);
    return row;
}

static size_t length_without_suffix(const char *name, size_t length)
{
    return length > 3 && memcmp(name + length - 3, ".kd", 3) == 0 ? length - 3 : length;
}

void rtl_kernels_load(uint64_t handle, const struct rtl_loaded_kernel *kernels, size_t count)
{
    struct loaded_executable *executable = malloc(sizeof *executable + count * sizeof executable->kernel[0]);
    if (!executable)
        return; /* its kernels count as unknown, with a note */
    executable->handle = handle;
    executable->count = 0;

    pthread_mutex_lock(&rtl_tool.create);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = intern_name(kernels[i].name, length_without_suffix(kernels[i].name, kernels[i].length));
        uint32_t row = atomic_load_explicit(&name_at(number)->row, memory_order_acquire);
        if (row == ROW_TAKING)
            row = RTL_ROW_NONE;
        if (!rtl_map_set(&rtl_kernel_map, kernels[i].kernel_object, (uint64_t)number << 32 | row))
            continue;
        executable->kernel[executable->count].object = kernels[i].kernel_object;
        executable->kernel[executable->count++].agent = kernels[i].agent;
    }
    struct loaded_executable **bucket = &executables[(handle >> 4) % EXECUTABLE_BUCKETS];
    executable->next = *bucket;
    *bucket = executable;
    pthread_mutex_unlock(&rtl_tool.create);
}

/* Remove an executable from the list and its kernels from the map. Create lock held. */
static void drop_executable(struct loaded_executable **link)
{
    struct loaded_executable *executable = *link;
    *link = executable->next;
    for (size_t i = 0; i < executable->count; i++)
        rtl_map_remove(&rtl_kernel_map, executable->kernel[i].object);
    free(executable);
}

void rtl_kernels_forget(uint64_t handle)
{
    pthread_mutex_lock(&rtl_tool.create);
    struct loaded_executable **link = &executables[(handle >> 4) % EXECUTABLE_BUCKETS];
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    if (*link)
        drop_executable(link);
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_kernels_forget_all(void)
{
    pthread_mutex_lock(&rtl_tool.create);
    for (int i = 0; i < EXECUTABLE_BUCKETS; i++)
        while (executables[i])
            drop_executable(&executables[i]);
    pthread_mutex_unlock(&rtl_tool.create);
}

uint32_t rtl_kernels_describe(uint64_t kernel_object, char *name, size_t bytes)
{
    struct rtl_map_entry *entry = rtl_map_find(&rtl_kernel_map, kernel_object);
    uint64_t value = entry ? atomic_load_explicit(&entry->value, memory_order_acquire) : RTL_ROW_NONE;
    const struct kernel_name *known = name_at((uint32_t)(value >> 32));
    size_t length = strnlen(known->text, bytes - 1);
    memcpy(name, known->text, length); /* the text stays for the life of the process */
    name[length] = '\0';
    return (uint32_t)value < RTL_KERNELS_MAX ? (uint32_t)value : RTL_KERNEL_UNKNOWN;
}

bool rtl_kernels_is_named(uint64_t kernel_object, const char *name, size_t length)
{
    struct rtl_map_entry *entry = rtl_map_find(&rtl_kernel_map, kernel_object);
    if (!entry)
        return false;
    const struct kernel_name *known =
        name_at((uint32_t)(atomic_load_explicit(&entry->value, memory_order_acquire) >> 32));
    length = length_without_suffix(name, length);
    return length && known->length == length && memcmp(known->text, name, length) == 0;
}

static uint64_t find_kernel_agent(uint64_t kernel_object)
{
    for (int b = 0; b < EXECUTABLE_BUCKETS; b++)
        for (const struct loaded_executable *e = executables[b]; e; e = e->next)
            for (size_t i = 0; i < e->count; i++)
                if (e->kernel[i].object == kernel_object)
                    return e->kernel[i].agent;
    return 0;
}

bool rtl_kernels_is_elsewhere(uint64_t kernel_object, uint64_t agent)
{
    if (pthread_mutex_trylock(&rtl_tool.create) != 0) /* the thread that holds the lock may be stopped */
        return false;
    uint64_t known = find_kernel_agent(kernel_object);
    pthread_mutex_unlock(&rtl_tool.create);
    return known && known != agent;
}

void rtl_kernels_populate(void)
{
    static _Atomic uint32_t rows_ready; /* any: only grows; populating twice is harmless */
    static _Atomic uint64_t text_ready;
    struct rtl_segment *segment = &rtl_tool.segment;
    uint32_t rows = atomic_load_explicit(&segment->kernel_count, memory_order_relaxed) + ROWS_AHEAD;
    uint64_t text = atomic_load_explicit(&segment->names_used, memory_order_relaxed) + TEXT_AHEAD;
    uint32_t row = atomic_load_explicit(&rows_ready, memory_order_relaxed);
    uint64_t at = atomic_load_explicit(&text_ready, memory_order_relaxed);

    /* only when half of the range ahead is used up, so most calls do nothing */
    if (row < RTL_KERNELS_MAX && row < rows - ROWS_AHEAD / 2) {
        rows = rows < RTL_KERNELS_MAX ? rows : RTL_KERNELS_MAX;
        if (rtl_segment_populate(&segment->kernels[row], (rows - row) * sizeof(struct rtl_kernel)))
            atomic_store_explicit(&rows_ready, rows, memory_order_relaxed);
    }
    if (at < RTL_NAMES_BYTES && at < text - TEXT_AHEAD / 2) {
        text = text < RTL_NAMES_BYTES ? text : RTL_NAMES_BYTES;
        if (rtl_segment_populate(segment->names + at, text - at))
            atomic_store_explicit(&text_ready, text, memory_order_relaxed);
    }
}
