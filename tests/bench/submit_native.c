/*
 * Measure what librtl.so itself adds to a submission, and the rate of its worker: native queues without the runtime and
 * the software GPU. Stand-ins are a table of the runtime's functions, each a few instructions, and GPUs that do no more
 * than a GPU would: read packets, write timestamps, decrement signals.
 *
 * submit_native LIBRARY alone CHUNKS [signalled]: one thread submits chunks of 512 dispatches of 100 kernels, a
 * doorbell each, and plays the GPU between two chunks; prints "ns_per_dispatch MEDIAN P10" over the chunks. On one core
 * no cache line comes from another core, which leaves the instructions. LIBRARY none: the same without a library.
 * `signalled`: each dispatch carries a signal of the program. submit_native LIBRARY paced QUEUES RATE SECONDS: RATE
 * dispatches per second on each queue. Two queues share a thread that submits and one that plays the GPU. Prints "paced
 * RATE WORST", the rate reached and the longest delay in us, and stays until its standard input is closed.
 */
#include <dlfcn.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 512, KERNELS = 100, QUEUES = 16, SLOTS = 4096, TICK = 10, LASTS = 50, GAP = 10, OBJECT = 0x10000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* --- the runtime --- */

static struct lane {
    _Alignas(64) amd_queue_t queue;
    _Alignas(64) amd_signal_t bell;
    _Alignas(64) uint64_t rung;
    char *ring;
    uint64_t seen, free; /* GPU: start of the running kernel, 0 = none; earliest start of the next; ticks */
} lanes[QUEUES];
static unsigned lane_count;

static amd_queue_t *queue_of(const hsa_queue_t *queue)
{
    return (amd_queue_t *)(uintptr_t)queue;
}

static uint64_t load_index(const hsa_queue_t *queue)
{
    return __atomic_load_n(&queue_of(queue)->write_dispatch_id, __ATOMIC_ACQUIRE);
}

static void store_index(const hsa_queue_t *queue, uint64_t index)
{
    __atomic_store_n(&queue_of(queue)->write_dispatch_id, index, __ATOMIC_RELEASE);
}

static uint64_t cas_index(const hsa_queue_t *queue, uint64_t expected, uint64_t index)
{
    __atomic_compare_exchange_n(&queue_of(queue)->write_dispatch_id, &expected, index, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return expected;
}

static uint64_t add_index(const hsa_queue_t *queue, uint64_t n)
{
    return __atomic_fetch_add(&queue_of(queue)->write_dispatch_id, n, __ATOMIC_SEQ_CST);
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value)
{
    amd_signal_t *s = (amd_signal_t *)(uintptr_t)signal.handle;
    if (s->kind == AMD_SIGNAL_KIND_DOORBELL)
        __atomic_store_n((uint64_t *)(uintptr_t)s->hardware_doorbell_ptr, (uint64_t)value, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&s->value, value, __ATOMIC_RELEASE);
}

static hsa_status_t make_signal(hsa_signal_value_t value, hsa_signal_t *signal)
{
    amd_signal_t *made = aligned_alloc(64, 128);
    if (!made)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(made, 0, 128);
    made->kind = AMD_SIGNAL_KIND_USER;
    made->value = value;
    signal->handle = (uintptr_t)made;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                  hsa_signal_t *signal)
{
    (void)n, (void)consumers;
    return make_signal(value, signal);
}

static hsa_status_t amd_signal_create(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                      uint64_t attributes, hsa_signal_t *signal)
{
    (void)n, (void)consumers, (void)attributes;
    return make_signal(value, signal);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*error)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                 uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)error, (void)data, (void)private_segment, (void)group_segment;
    struct lane *lane = &lanes[lane_count];
    if (lane_count == QUEUES || !(lane->ring = aligned_alloc(4096, 64 * (size_t)size)))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(lane->ring, 0, 64 * (size_t)size);
    for (uint32_t i = 0; i < size; i++)
        lane->ring[64 * i] = HSA_PACKET_TYPE_INVALID;
    lane->bell.kind = AMD_SIGNAL_KIND_DOORBELL;
    lane->bell.queue_ptr = &lane->queue;
    lane->bell.hardware_doorbell_ptr = &lane->rung;
    lane->queue.hsa_queue = (hsa_queue_t){.type = type,
                                          .base_address = lane->ring,
                                          .size = size,
                                          .doorbell_signal = {(uintptr_t)&lane->bell},
                                          .id = lane_count++};
    *queue = &lane->queue.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_info(hsa_system_info_t what, void *answer)
{
    if (what == HSA_SYSTEM_INFO_TIMESTAMP)
        *(uint64_t *)answer = clock_ns(CLOCK_BOOTTIME);
    else
        *(uint16_t *)answer = 1;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_agents(hsa_status_t (*see)(hsa_agent_t, void *), void *data)
{
    return see((hsa_agent_t){1}, data);
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t what, void *answer)
{
    (void)agent;
    if (what == HSA_AGENT_INFO_DEVICE)
        *(hsa_device_type_t *)answer = HSA_DEVICE_TYPE_GPU;
    else if (what == HSA_AGENT_INFO_NAME)
        strcpy(answer, "gfx000");
    else if ((int)what == 0xA016)
        *(uint64_t *)answer = 1000000000 / TICK;
    else
        *(uint32_t *)answer = 1;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t tick_to_ns(hsa_agent_t agent, uint64_t tick, uint64_t *ns)
{
    (void)agent;
    *ns = tick * TICK;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *answer)
{
    char name[16];
    int length = snprintf(name, sizeof name, "kernel_%02u", (unsigned)symbol.handle % KERNELS);
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_TYPE)
        *(hsa_symbol_kind_t *)answer = HSA_SYMBOL_KIND_KERNEL;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH)
        *(uint32_t *)answer = (uint32_t)length;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME)
        memcpy(answer, name, (size_t)length);
    else
        *(uint64_t *)answer = OBJECT + 64 * symbol.handle;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t iterate_symbols(hsa_executable_t executable,
                                    hsa_status_t (*see)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    for (uint64_t i = 0; i < KERNELS; i++)
        see(executable, (hsa_executable_symbol_t){i}, data);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t nothing(void)
{
    return HSA_STATUS_SUCCESS;
}

/* The tables as release 6.x has them; the library knows the slots (hsa_table.h). */
static struct {
    uint32_t version[4];
    void *slot[125];
} core = {{2, 16 + 125 * 8, 0, 0}, {0}};
static struct {
    uint32_t version[4];
    void *slot[74];
} ext = {{2, 16 + 74 * 8, 0, 0}, {0}};
static struct {
    uint32_t version[4];
    void *core, *ext, *more[4];
} root = {{3, 64, 0, 0}, &core, &ext, {0}};
enum { ADD_RELAXED = 23, STORE_SCRELEASE = 42 };

/* The library searches the file of the table for exports of the newest runtimes; this program has none. */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    static void *(*real)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &symbol, sizeof real);
    return real(file && strstr(file, "/submit_native") ? NULL : file, mode);
}

static void fill_tables(void)
{
    for (int i = 0; i < 125; i++)
        core.slot[i] = (void *)nothing;
    for (int i = 0; i < 74; i++)
        ext.slot[i] = (void *)nothing;
    core.slot[2] = (void *)system_info;
    core.slot[5] = (void *)iterate_agents;
    core.slot[6] = (void *)agent_info;
    core.slot[7] = (void *)queue_create;
    core.slot[13] = core.slot[14] = (void *)load_index;
    core.slot[15] = core.slot[16] = (void *)store_index;
    for (int i = 17; i < 21; i++)
        core.slot[i] = (void *)cas_index;
    for (int i = 21; i < 25; i++)
        core.slot[i] = (void *)add_index;
    core.slot[37] = (void *)signal_create;
    core.slot[41] = core.slot[42] = core.slot[102] = core.slot[103] = (void *)store_signal;
    core.slot[93] = (void *)symbol_info;
    core.slot[94] = (void *)iterate_symbols;
    ext.slot[6] = (void *)tick_to_ns;
    ext.slot[33] = (void *)amd_signal_create;
}

/* --- GPU --- */

/* Runs one packet at a time: a kernel lasts half a microsecond, and the next begins a tenth of one later. */
static void gpu_takes(struct lane *lane, bool all)
{
    uint64_t at = lane->queue.read_dispatch_id, now = clock_ns(CLOCK_BOOTTIME) / TICK;
    uint64_t to = __atomic_load_n(&lane->queue.write_dispatch_id, __ATOMIC_ACQUIRE);
    for (; at < to; at++) {
        hsa_kernel_dispatch_packet_t *packet = (void *)(lane->ring + 64 * (at & (lane->queue.hsa_queue.size - 1)));
        if ((uint8_t)__atomic_load_n(&packet->header, __ATOMIC_ACQUIRE) == HSA_PACKET_TYPE_INVALID)
            break;
        if (!lane->seen) /* begins now, or after the one before */
            lane->seen = now > lane->free ? now : lane->free;
        if (all)
            lane->seen = now - LASTS;
        else if (lane->seen + LASTS > now)
            break;
        amd_signal_t *signal = (amd_signal_t *)(uintptr_t)packet->completion_signal.handle;
        __atomic_store_n(&packet->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELAXED);
        if (signal) {
            signal->start_ts = lane->seen;
            signal->end_ts = lane->seen + LASTS;
            __atomic_store_n(&signal->value, signal->value - 1, __ATOMIC_RELEASE);
        }
        lane->free = lane->seen + LASTS + GAP;
        lane->seen = 0;
    }
    __atomic_store_n(&lane->queue.read_dispatch_id, at, __ATOMIC_RELEASE);
}

/* --- the application --- */

static hsa_queue_t *open_queue(void)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, void (*)(hsa_status_t, hsa_queue_t *, void *),
                           void *, uint32_t, uint32_t, hsa_queue_t **) = core.slot[7];
    if (create((hsa_agent_t){1}, SLOTS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue) !=
        HSA_STATUS_SUCCESS) {
        fputs("submit_native: no queue\n", stderr);
        exit(2);
    }
    return queue;
}

static inline void launch(hsa_queue_t *queue, unsigned kernel, hsa_signal_t signal)
{
    uint64_t (*volatile * add)(const hsa_queue_t *, uint64_t) = (void *)&core.slot[ADD_RELAXED];
    void (*volatile * ring)(hsa_signal_t, hsa_signal_value_t) = (void *)&core.slot[STORE_SCRELEASE];
    uint64_t index = (*add)(queue, 1);
    while (index - __atomic_load_n(&queue_of(queue)->read_dispatch_id, __ATOMIC_ACQUIRE) >= queue->size)
        sched_yield();
    hsa_kernel_dispatch_packet_t *packet = (void *)((char *)queue->base_address + 64 * (index & (queue->size - 1)));
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = 64;
    packet->grid_size_x = 128;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = OBJECT + 64 * kernel;
    packet->completion_signal = signal;
    __atomic_store_n((uint32_t *)(void *)packet, HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1u << 16,
                     __ATOMIC_RELEASE);
    (*ring)(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void alone(unsigned chunks, bool signalled)
{
    enum { WARM = 16 };
    hsa_queue_t *queue = open_queue();
    hsa_signal_t own[CHUNK] = {{0}};
    double *ns = calloc(chunks + WARM, sizeof *ns);
    hsa_status_t (*create)(hsa_signal_value_t, uint32_t, const hsa_agent_t *, hsa_signal_t *) = core.slot[37];
    for (int i = 0; signalled && i < CHUNK; i++)
        create(1, 0, NULL, &own[i]);
    for (unsigned c = 0, kernel = 0; c < chunks + WARM; c++) {
        uint64_t start = clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < CHUNK; i++) {
            if (signalled)
                ((amd_signal_t *)(uintptr_t)own[i].handle)->value = 1;
            launch(queue, kernel, own[i]);
            kernel = kernel + 1 == KERNELS ? 0 : kernel + 1;
        }
        ns[c] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / CHUNK;
        gpu_takes(&lanes[0], true);
        nanosleep(&(struct timespec){0, 200000}, NULL); /* the worker's turn, on one core */
    }
    qsort(ns + WARM, chunks, sizeof *ns, ascending);
    printf("ns_per_dispatch %.1f %.1f\n", ns[WARM + chunks / 2], ns[WARM + chunks / 10]);
    free(ns);
}

static _Atomic bool over;

static void *be_gpu(void *data)
{
    struct lane *two = data;
    while (!over) {
        gpu_takes(&two[0], false);
        gpu_takes(&two[1], false);
    }
    return NULL;
}

static struct pacer {
    pthread_t thread, gpu;
    hsa_queue_t *queue[2];
    uint64_t begun, wanted, worst;
    double period; /* ns */
} pacers[QUEUES / 2];

static void *pace(void *data)
{
    struct pacer *p = data;
    for (uint64_t i = 0; i < p->wanted; i++) {
        uint64_t due = p->begun + (uint64_t)((double)i * p->period), now = clock_ns(CLOCK_MONOTONIC);
        while (now < due) {
            __builtin_ia32_pause();
            now = clock_ns(CLOCK_MONOTONIC);
        }
        p->worst = now - due > p->worst ? now - due : p->worst;
        for (int q = 0; q < 2; q++)
            launch(p->queue[q], (unsigned)(i % KERNELS), (hsa_signal_t){0});
    }
    return NULL;
}

static void paced(unsigned queues, double rate, double seconds)
{
    uint64_t worst = 0, begun = clock_ns(CLOCK_MONOTONIC) + 5000000;
    for (unsigned i = 0; i < queues / 2; i++) {
        struct pacer *p = &pacers[i];
        *p = (struct pacer){.begun = begun, .wanted = (uint64_t)(rate * seconds), .period = 1e9 / rate};
        p->queue[0] = open_queue();
        p->queue[1] = open_queue();
        pthread_create(&p->gpu, NULL, be_gpu, &lanes[2 * i]);
    }
    for (unsigned i = 0; i < queues / 2; i++)
        pthread_create(&pacers[i].thread, NULL, pace, &pacers[i]);
    for (unsigned i = 0; i < queues / 2; i++) {
        pthread_join(pacers[i].thread, NULL);
        worst = pacers[i].worst > worst ? pacers[i].worst : worst;
    }
    double took = (double)(clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    over = true;
    for (unsigned i = 0; i < queues / 2; i++)
        pthread_join(pacers[i].gpu, NULL);
    printf("paced %.0f %.0f\n", rate * seconds / took, (double)worst / 1e3);
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

int main(int argc, char **argv)
{
    bool is_alone = argc > 3 && !strcmp(argv[2], "alone"), is_paced = argc > 5 && !strcmp(argv[2], "paced");
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if ((!is_alone && !is_paced) || n < 1 || (is_paced && (n > QUEUES || n % 2))) {
        fputs("usage: submit_native LIBRARY|none alone CHUNKS [signalled] | paced QUEUES RATE SECONDS\n", stderr);
        return 2;
    }
    fill_tables();
    if (strcmp(argv[1], "none") != 0) {
        void *library = dlopen(argv[1], RTLD_NOW);
        bool (*load)(void *, uint64_t, uint64_t, const char *const *) = NULL;
        void *symbol = library ? dlsym(library, "OnLoad") : NULL;
        memcpy(&load, &symbol, sizeof load);
        setenv("RTL_QUEUES", "native", 1);
        if (!load || !load(&root, 1, 0, NULL)) {
            fprintf(stderr, "submit_native: %s isn't librtl.so\n", argv[1]);
            return 2;
        }
    }
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    freeze((hsa_executable_t){1}, NULL);
    if (is_alone)
        alone(n, argc > 4);
    else
        paced(n, strtod(argv[4], NULL), strtod(argv[5], NULL));
    return 0;
}
