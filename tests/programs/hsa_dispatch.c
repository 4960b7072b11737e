/*
 * hsa_dispatch.c - a raw HSA program: queues, code objects, dispatches, barriers and signals without HIP, with an exact
 * tally.
 *
 * hsa_dispatch [--launches N] [--queues Q] [--kernels K] [--threads T] [--signals E] [--gpus G] [--hold]
 *
 * Each thread submits N/T dispatches of K kernels (1..100), drawn unevenly, to its share of the Q queues. Every E-th
 * dispatch carries the program's own completion signal, as RCCL's do. All queues exist before the first dispatch,
 * because a queue created after another's end may reuse its slot in the segment. A barrier packet every 512 packets
 * bounds the backlog (an intercept queue of ROCr before 6.0 asserts when its inner queue is full). Prints "launched
 * KERNEL N" for each kernel and ends with "hsa_dispatch: PASS, ...".
 *
 * The code objects lie beside the program (kernels-gfx90a.co and so on).
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

enum { KERNELS_MAX = 100, QUEUES_MAX = 64, THREADS_MAX = 32, GPUS_MAX = 8, BARRIER_EVERY = 512, QUEUE_PACKETS = 4096 };

static struct {
    unsigned long launches, signals;
    unsigned queues, kernels, threads, gpus;
    bool hold;
} options = {.launches = 20000, .queues = 4, .kernels = 20, .threads = 2, .gpus = 1};

/* Set up by main before the threads start, read-only afterwards. */
static hsa_agent_t gpu[GPUS_MAX], cpu;
static unsigned gpu_count;
static hsa_amd_memory_pool_t kernarg_pool;
static uint64_t kernel_object[GPUS_MAX][KERNELS_MAX + 1]; /* the last one is the kernel with the long name */
static uint32_t kernarg_size;
static void *kernarg;
static char *long_name;
static const char *folder; /* this program's folder; /proc/self/exe may be another release's loader */

struct share { /* of one thread, the only writer until it is joined */
    unsigned id;
    unsigned long launched[KERNELS_MAX + 1];
};

static void hsa(hsa_status_t status, const char *what)
{
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return;
    const char *text = "unknown status";
    hsa_status_string(status, &text);
    fprintf(stderr, "hsa_dispatch: %s: %s\n", what, text);
    exit(2);
}

static hsa_status_t each_agent(hsa_agent_t agent, void *data)
{
    (void)data;
    hsa_device_type_t type;
    hsa(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent type");
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < GPUS_MAX)
        gpu[gpu_count++] = agent;
    else if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_pool(hsa_amd_memory_pool_t pool, void *data)
{
    (void)data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    hsa(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "pool segment");
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    hsa(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), "pool flags");
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        kernarg_pool = pool;
    return HSA_STATUS_SUCCESS;
}

/* Read the code object for an agent. */
static char *code_object(const char *isa, size_t *size)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/kernels-%s.co", folder, isa);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) < 0) {
        fprintf(stderr, "hsa_dispatch: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    if (!bytes || read(file, bytes, *size) != (ssize_t)*size) {
        fprintf(stderr, "hsa_dispatch: %s can't be read\n", path);
        exit(2);
    }
    close(file);
    return bytes;
}

static hsa_status_t each_symbol(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol,
                                void *data)
{
    (void)executable;
    (void)agent;
    uint64_t *objects = data;
    hsa_symbol_kind_t kind;
    uint32_t length = 0;
    hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind), "symbol type");
    if (kind != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length), "name length");
    char *name = calloc(1, length + 1);
    hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name), "name");
    if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
        name[length - 3] = '\0';
    unsigned index = KERNELS_MAX;
    if (sscanf(name, "hsa_%2u", &index) != 1 && !long_name)
        long_name = strdup(name);
    hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &objects[index]), "object");
    hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernarg_size),
        "kernarg size");
    free(name);
    return HSA_STATUS_SUCCESS;
}

static void load_kernels(unsigned g)
{
    char isa[64] = "";
    size_t size;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa(hsa_agent_get_info(gpu[g], HSA_AGENT_INFO_NAME, isa), "agent name");
    char *bytes = code_object(isa, &size); /* kept: the reader keeps using it */
    hsa(hsa_code_object_reader_create_from_memory(bytes, size, &reader), "code object reader");
    hsa(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
        "executable");
    hsa(hsa_executable_load_agent_code_object(executable, gpu[g], reader, NULL, NULL), "load");
    hsa(hsa_executable_freeze(executable, NULL), "freeze");
    hsa(hsa_executable_iterate_agent_symbols(executable, gpu[g], each_symbol, kernel_object[g]), "symbols");
    for (unsigned k = 0; k <= KERNELS_MAX; k++) {
        if (kernel_object[g][k] == 0) {
            fprintf(stderr, "hsa_dispatch: kernel %u is missing\n", k);
            exit(2);
        }
    }
}

struct feed { /* a queue and its thread's position in it */
    hsa_queue_t *queue;
    unsigned gpu;
    unsigned long sent;
    hsa_signal_t barrier; /* decremented when the last barrier packet completes */
};

static void *slot(struct feed *feed, uint64_t *index)
{
    *index = hsa_queue_add_write_index_relaxed(feed->queue, 1);
    while (*index - hsa_queue_load_read_index_scacquire(feed->queue) >= feed->queue->size)
        sched_yield();
    return (char *)feed->queue->base_address + 64 * (*index & (feed->queue->size - 1));
}

/* Write the header last: until then the packet is invalid for readers of the queue. */
static void publish_packet(struct feed *feed, void *packet, uint16_t header, uint16_t setup, uint64_t index)
{
    __atomic_store_n((uint32_t *)packet, (uint32_t)header | (uint32_t)setup << 16, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(feed->queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
    }
}

static void send_barrier(struct feed *feed)
{
    uint64_t index;
    hsa_barrier_and_packet_t *packet = slot(feed, &index);
    hsa_signal_store_relaxed(feed->barrier, 1);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->completion_signal = feed->barrier;
    publish_packet(feed, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER,
                   0, index);
    wait_for(feed->barrier);
}

static void dispatch_kernel(struct feed *feed, unsigned kernel, hsa_signal_t signal)
{
    uint64_t index;
    hsa_kernel_dispatch_packet_t *packet = slot(feed, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = 64;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = 64 * (kernel + 1);
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = kernel_object[feed->gpu][kernel];
    packet->kernarg_address = kernarg;
    packet->completion_signal = signal;
    uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    publish_packet(feed, packet, header, 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, index);
}

static pthread_barrier_t queues_made;

static void *run_share(void *data)
{
    struct share *share = data;
    struct feed feeds[QUEUES_MAX];
    unsigned count = 0;
    hsa_signal_t own;
    hsa(hsa_signal_create(0, 0, NULL, &own), "signal");
    for (unsigned q = share->id; q < options.queues; q += options.threads) {
        struct feed *feed = &feeds[count++];
        *feed = (struct feed){.gpu = q % options.gpus};
        hsa(hsa_queue_create(gpu[feed->gpu], QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
                             &feed->queue),
            "queue");
        hsa(hsa_signal_create(0, 0, NULL, &feed->barrier), "signal");
    }
    pthread_barrier_wait(&queues_made);

    unsigned long launches = options.launches / options.threads + (share->id < options.launches % options.threads);
    unsigned long random = 88172645463325252ul + share->id;
    for (unsigned long i = 0; i < launches; i++) {
        random ^= random << 13; /* xorshift64: the same launches in every run */
        random ^= random >> 7;
        random ^= random << 17;
        unsigned long a = random % 1000, b = (random >> 20) % 1000;
        unsigned kernel = i % 1000 == 999 ? KERNELS_MAX : (unsigned)(a * b * options.kernels / 1000000);
        struct feed *feed = &feeds[(random >> 40) % count];
        bool signalled = options.signals != 0 && i % options.signals == 0;
        if (signalled)
            hsa_signal_store_relaxed(own, 1);
        dispatch_kernel(feed, kernel, signalled ? own : (hsa_signal_t){0});
        if (signalled)
            wait_for(own);
        share->launched[kernel]++;
        if (++feed->sent % BARRIER_EVERY == 0)
            send_barrier(feed);
    }
    for (unsigned q = 0; q < count; q++) {
        send_barrier(&feeds[q]);
        hsa(hsa_queue_destroy(feeds[q].queue), "destroy queue");
        hsa(hsa_signal_destroy(feeds[q].barrier), "destroy signal");
    }
    hsa(hsa_signal_destroy(own), "destroy signal");
    return NULL;
}

static void usage(void)
{
    fprintf(stderr,
            "usage: hsa_dispatch [--launches N] [--queues 1..%d] [--kernels 1..%d] [--threads 1..%d]\n"
            "                    [--signals EVERY] [--gpus 1..%d] [--hold]\n",
            QUEUES_MAX, KERNELS_MAX, THREADS_MAX, GPUS_MAX);
    exit(2);
}

static void parse_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--hold") == 0) {
            options.hold = true;
            continue;
        }
        if (i + 1 >= argc)
            usage();
        const char *name = argv[i];
        unsigned long value = strtoul(argv[++i], NULL, 10);
        if (strcmp(name, "--launches") == 0)
            options.launches = value;
        else if (strcmp(name, "--queues") == 0)
            options.queues = (unsigned)value;
        else if (strcmp(name, "--kernels") == 0)
            options.kernels = (unsigned)value;
        else if (strcmp(name, "--threads") == 0)
            options.threads = (unsigned)value;
        else if (strcmp(name, "--signals") == 0)
            options.signals = value;
        else if (strcmp(name, "--gpus") == 0)
            options.gpus = (unsigned)value;
        else
            usage();
    }
    if (options.kernels < 1 || options.kernels > KERNELS_MAX || options.threads < 1 || options.threads > THREADS_MAX ||
        options.queues < options.threads || options.queues > QUEUES_MAX || options.gpus < 1 || options.gpus > GPUS_MAX)
        usage();
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    folder = dirname(argv[0]);
    hsa(hsa_init(), "hsa_init");
    hsa(hsa_iterate_agents(each_agent, NULL), "agents");
    if (gpu_count < options.gpus) {
        fprintf(stderr, "hsa_dispatch: %u GPUs are wanted, %u are there\n", options.gpus, gpu_count);
        return 2;
    }
    hsa(hsa_amd_agent_iterate_memory_pools(cpu, each_pool, NULL), "pools");
    for (unsigned g = 0; g < options.gpus; g++)
        load_kernels(g);
    hsa(hsa_amd_memory_pool_allocate(kernarg_pool, 8192, 0, &kernarg), "kernarg");
    hsa(hsa_amd_agents_allow_access(options.gpus, gpu, NULL, kernarg), "access");
    memset(kernarg, 0, 8192);
    *(char **)kernarg = (char *)kernarg + 4096; /* where an executed kernel writes */

    static struct share shares[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    pthread_barrier_init(&queues_made, NULL, options.threads);
    for (unsigned t = 0; t < options.threads; t++) {
        shares[t].id = t;
        if (pthread_create(&threads[t], NULL, run_share, &shares[t]) != 0) {
            fprintf(stderr, "hsa_dispatch: no thread\n");
            return 2;
        }
    }
    for (unsigned t = 0; t < options.threads; t++)
        pthread_join(threads[t], NULL);

    for (unsigned kernel = 0; kernel <= KERNELS_MAX; kernel++) {
        unsigned long launched = 0;
        for (unsigned t = 0; t < options.threads; t++)
            launched += shares[t].launched[kernel];
        char name[16];
        snprintf(name, sizeof name, "hsa_%02u", kernel);
        if (launched != 0)
            printf("launched %s %lu\n", kernel == KERNELS_MAX ? long_name : name, launched);
    }
    printf("hsa_dispatch: PASS, %lu launches\n", options.launches);
    fflush(stdout);
    if (options.hold) {
        puts("holding");
        fflush(stdout);
        while (getchar() != EOF) {
        }
    }
    hsa(hsa_amd_memory_pool_free(kernarg), "free kernarg");
    hsa(hsa_shut_down(), "hsa_shut_down");
    return 0;
}
