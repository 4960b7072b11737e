/*
 * intercept_hsa.h - shared by the intercept_* programs: the runtime, kernels under any names, queues, packets. One C
 * file of a program includes it. Every failure ends the program with status 2 and one line.
 */
#ifndef INTERCEPT_HSA_H
#define INTERCEPT_HSA_H

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

enum { FAMILY = 100 }; /* kernels in a code object: PREFIX00 to PREFIX99, the prefix has four characters */

static hsa_agent_t gpu_agent, cpu_agent;
static bool gpu_found;
static void *kernarg_block;
static hsa_amd_memory_pool_t kernarg_pool; /* host memory that the GPU reads and writes */

__attribute__((noreturn, unused)) static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    _exit(2);
}

static void must(hsa_status_t status, const char *what)
{
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) {
        const char *text = "?";
        hsa_status_string(status, &text);
        fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, text);
        _exit(2);
    }
}

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && !gpu_found) {
        gpu_agent = agent;
        gpu_found = true;
    } else if (type == HSA_DEVICE_TYPE_CPU) {
        cpu_agent = agent;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "pool");
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), "pool");
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_SUCCESS;
}

/* Start the runtime; false if there is no GPU. */
__attribute__((unused)) static bool open_runtime(void)
{
    gpu_found = false;
    must(hsa_init(), "hsa_init");
    must(hsa_iterate_agents(see_agent, NULL), "agents");
    if (!gpu_found)
        return false;
    must(hsa_amd_agent_iterate_memory_pools(cpu_agent, see_pool, &kernarg_pool), "pools");
    must(hsa_amd_memory_pool_allocate(kernarg_pool, 8192, 0, &kernarg_block), "kernarg");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, kernarg_block), "access");
    memset(kernarg_block, 0, 8192);
    *(char **)kernarg_block = (char *)kernarg_block + 4096; /* where an executed kernel writes */
    return true;
}

/* --- kernels --- */

struct family {
    hsa_executable_t executable;
    hsa_code_object_reader_t reader;
    char *bytes;
    uint64_t object[FAMILY];
};

/* Read a code object for this GPU, STEM-ISA.co. */
static char *read_code(const char *stem, size_t *size)
{
    char isa[64] = "", folder[4096] = "", path[4300];
    struct stat about;
    must(hsa_agent_get_info(gpu_agent, HSA_AGENT_INFO_NAME, isa), "name");
    if (readlink("/proc/self/exe", folder, sizeof folder - 1) < 0)
        die("no /proc/self/exe");
    /* With another release's loader, /proc/self/exe is that loader. */
    const char *given = getenv("INTERCEPT_KERNELS"), *in = given ? given : dirname(folder);
    snprintf(path, sizeof path, "%s/%s-%s.co", in, stem, isa);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0)
        die(path);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    if (!bytes || read(file, bytes, *size) != (ssize_t)*size)
        die(path);
    close(file);
    return bytes;
}

/* The code object with the hundred kernels, read once. */
static const char *code_bytes(size_t *size)
{
    static char *bytes;
    static size_t length;
    if (!bytes)
        bytes = read_code("kernels", &length);
    *size = length;
    return bytes;
}

struct naming {
    struct family *family;
    const char *prefix;
};

static hsa_status_t see_kernel(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                               void *data)
{
    struct naming *naming = data;
    uint32_t length = 0;
    unsigned index = 0;
    char name[8192] = "";
    (void)executable;
    (void)agent;
    must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length), "length");
    if (length >= sizeof name)
        die("name too long");
    must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), "name");
    if (strncmp(name, naming->prefix, 4) == 0 && sscanf(name + 4, "%2u.kd", &index) == 1)
        must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                            &naming->family->object[index]),
             "object");
    return HSA_STATUS_SUCCESS;
}

/* Load the hundred kernels under names that begin with `prefix` (four characters) instead of "hsa_". */
__attribute__((unused)) static void load_family(struct family *family, const char *prefix)
{
    size_t size;
    const char *original = code_bytes(&size);
    struct naming naming = {family, prefix};
    memset(family, 0, sizeof *family);
    family->bytes = malloc(size);
    memcpy(family->bytes, original, size);
    for (size_t i = 0; i + 6 < size; i++)
        if (memcmp(family->bytes + i, "hsa_", 4) == 0 && family->bytes[i + 4] >= '0' && family->bytes[i + 4] <= '9')
            memcpy(family->bytes + i, prefix, 4);
    must(hsa_code_object_reader_create_from_memory(family->bytes, size, &family->reader), "reader");
    must(
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &family->executable),
        "executable");
    must(hsa_executable_load_agent_code_object(family->executable, gpu_agent, family->reader, NULL, NULL), "load");
    must(hsa_executable_freeze(family->executable, NULL), "freeze");
    must(hsa_executable_iterate_agent_symbols(family->executable, gpu_agent, see_kernel, &naming), "symbols");
    for (int i = 0; i < FAMILY; i++)
        if (!family->object[i])
            die("a kernel is missing");
}

__attribute__((unused)) static void unload_family(struct family *family)
{
    must(hsa_executable_destroy(family->executable), "destroy executable");
    must(hsa_code_object_reader_destroy(family->reader), "destroy reader");
    free(family->bytes);
}

/* --- queues and packets --- */

__attribute__((unused)) static hsa_queue_t *open_queue(uint32_t packets)
{
    hsa_queue_t *queue = NULL;
    must(hsa_queue_create(gpu_agent, packets, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
         "queue");
    return queue;
}

static inline void *reserve_slot(hsa_queue_t *queue, uint64_t *index)
{
    *index = hsa_queue_add_write_index_relaxed(queue, 1);
    while (*index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        sched_yield();
    return (char *)queue->base_address + 64 * (*index & (queue->size - 1));
}

static inline void publish_packet(hsa_queue_t *queue, void *packet, unsigned header, unsigned setup, uint64_t index,
                                  bool ring)
{
    __atomic_store_n((uint32_t *)packet, (uint32_t)header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
    if (ring)
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

#define KERNEL_HEADER                                                    \
    (HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |         \
     HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE | \
     HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)
#define BARRIER_BIT (1 << HSA_PACKET_HEADER_BARRIER)

static inline void launch_packet(hsa_queue_t *queue, uint64_t object, hsa_signal_t signal, unsigned flags, bool ring)
{
    uint64_t index;
    hsa_kernel_dispatch_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = 64;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = 128;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = object;
    packet->kernarg_address = kernarg_block;
    packet->completion_signal = signal;
    publish_packet(queue, packet, KERNEL_HEADER | flags, 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, index, ring);
}

static inline void launch(hsa_queue_t *queue, uint64_t object)
{
    launch_packet(queue, object, (hsa_signal_t){0}, BARRIER_BIT, true);
}

/* Wait until everything on the queue has completed. */
__attribute__((unused)) static void drain(hsa_queue_t *queue)
{
    uint64_t index;
    hsa_signal_t done;
    must(hsa_signal_create(1, 0, NULL, &done), "signal");
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->completion_signal = done;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    must(hsa_signal_destroy(done), "destroy signal");
}

/* Print "holding" and wait until standard input closes. */
__attribute__((unused)) static void hold(void)
{
    puts("holding");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

__attribute__((unused)) static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

#endif
