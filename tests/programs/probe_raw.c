/*
 * probe_raw.c - work for a probe without HIP: work_mix from a code object, loaded on one GPU only, dispatched on the
 * program's own queue, with and without a signal; the results are compared with the host's.
 *
 * probe_raw FILE GPU: prints "begun" after the first round and runs until standard input closes, then prints
 * "probe_raw: PASS, N rounds". On a line "unload" a thread destroys the executable and ends, and the program prints
 * "unloaded"; on a line "load" another such thread loads it again, and the program prints "loaded". In between it
 * dispatches nothing.
 */
#include "intercept_hsa.h"

#include <poll.h>
#include <pthread.h>

enum { ITEMS = 1000, GROUP = 256, GRID = 1024, GPUS = 16 };

static hsa_agent_t gpus[GPUS];
static unsigned gpu_count;
static char *bytes;
static size_t size;
static hsa_code_object_reader_t reader;
static hsa_executable_t executable;
static uint64_t object; /* 0: not loaded */
static uint32_t expected[ITEMS];

static hsa_status_t see_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < GPUS)
        gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

static void *load_code(void *unused)
{
    hsa_executable_symbol_t symbol;
    must(hsa_code_object_reader_create_from_memory(bytes, size, &reader), "reader");
    must(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
         "executable");
    must(hsa_executable_load_agent_code_object(executable, gpu_agent, reader, NULL, NULL), "load");
    must(hsa_executable_freeze(executable, NULL), "freeze");
    must(hsa_executable_get_symbol_by_name(executable, "work_mix.kd", &gpu_agent, &symbol), "symbol");
    must(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), "object");
    return unused;
}

static void *unload_code(void *unused)
{
    object = 0;
    must(hsa_executable_destroy(executable), "destroy executable");
    must(hsa_code_object_reader_destroy(reader), "destroy reader");
    return unused;
}

static void in_a_thread(void *(*what)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL) || pthread_join(thread, NULL))
        die("no thread");
}

static uint32_t mixed(uint32_t x, uint32_t salt) /* as in probe_work.hip */
{
    x ^= salt * 0x9e3779b9u;
    x ^= x >> 15;
    x *= 0x85ebca6bu;
    return x ^ x >> 13;
}

static void dispatch_mix(hsa_queue_t *queue, uint32_t salt, char *arguments, uint32_t *data, hsa_signal_t signal)
{
    const struct {
        uint32_t *data;
        uint32_t salt, items;
        uint32_t groups[3]; /* hidden arguments that compilers add: */
        uint16_t group[3], rest[3];
    } given = {data, salt, ITEMS, {(ITEMS + GROUP - 1) / GROUP, 1, 1}, {GROUP, 1, 1}, {0, 0, 0}};
    uint64_t index;
    memcpy(arguments, &given, sizeof given);
    hsa_kernel_dispatch_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = GROUP;
    packet->grid_size_x = GRID;
    packet->workgroup_size_y = packet->workgroup_size_z = packet->grid_size_y = packet->grid_size_z = 1;
    packet->kernel_object = object;
    packet->kernarg_address = arguments;
    packet->completion_signal = signal;
    publish_packet(queue, packet, KERNEL_HEADER | BARRIER_BIT, 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, index,
                   true);
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t n = 0; n <= i % GROUP % 4; n++)
            expected[i] = mixed(expected[i], salt + n);
}

static void print_line(const char *what)
{
    puts(what);
    fflush(stdout);
}

/* Execute the commands on standard input; false when it has closed. */
static bool obey_lines(void)
{
    char line[16];
    while (object ? poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0) > 0 : true) {
        ssize_t n = read(0, line, sizeof line - 1);
        if (n <= 0)
            return false;
        line[n] = 0;
        bool off = strcmp(line, "unload\n") == 0;
        in_a_thread(off ? unload_code : load_code);
        print_line(off ? "unloaded" : "loaded");
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned gpu = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct stat about;
    hsa_signal_t own;
    void *block;
    int file = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0 || fstat(file, &about) || !open_runtime())
        die("usage: probe_raw FILE GPU; or there is no GPU");
    must(hsa_iterate_agents(see_gpu, NULL), "agents");
    if (gpu >= gpu_count)
        die("there is no such GPU");
    gpu_agent = gpus[gpu];
    size = (size_t)about.st_size;
    bytes = malloc(size);
    if (!bytes || read(file, bytes, size) != (ssize_t)size)
        die(argv[1]);
    load_code(NULL);
    must(hsa_amd_memory_pool_allocate(kernarg_pool, 8192, 0, &block), "memory");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, block), "access");
    memset(block, 0, 8192);
    uint32_t *data = (uint32_t *)((char *)block + 1024);
    must(hsa_signal_create(0, 0, NULL, &own), "signal");
    hsa_queue_t *queue = open_queue(256);
    for (uint32_t round = 0;; round++) {
        hsa_signal_store_relaxed(own, 1);
        dispatch_mix(queue, 2 * round, block, data, (hsa_signal_t){0});
        dispatch_mix(queue, 2 * round + 1, (char *)block + 512, data, own);
        while (hsa_signal_wait_scacquire(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
        if (memcmp(data, expected, sizeof expected) != 0 || data[ITEMS]) {
            printf("probe_raw: FAILED in round %u\n", round);
            return 1;
        }
        if (!round)
            print_line("begun");
        if (!obey_lines()) {
            printf("probe_raw: PASS, %u rounds\n", round + 1);
            break;
        }
    }
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_signal_destroy(own), "destroy signal");
    must(hsa_shut_down(), "shut down");
    return 0;
}
