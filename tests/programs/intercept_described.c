/*
 * intercept_described.c - creates queues with hsa_amd_queue_create, which only the newest runtimes have and
 * intercept_described_preload.c emulates: an array of all kinds at once. Prints what the application gets for each,
 * "launched NAME N" for dispatches on queues that can be intercept queues, "unseen NAME N" for the others, and
 * "holding" until standard input closes.
 *
 * "copy" adds batches of copies, and a queue that two users share ("copies DIRECTION N BYTES", "borrowed NAME N").
 * "batches" runs only batches of copies. "engine" and "none" run only kernels with application's signals, on a queue
 * created together with one of a copy engine, or alone.
 */
#include "intercept_hsa.h"

#include <dlfcn.h>

#include "intercept_described.h"

enum { PLAIN, URGENT, DEVICE_RING, DEVICE_ALL, ENGINE, WRONG, LAST, KINDS };

static void *library; /* the emulation */
static hsa_status_t (*create)(hsa_agent_t, struct description *, uint32_t);

static struct description describe(void)
{
    struct description d = {.version = 1, .size_bytes = 1024 * 64, .priority = HSA_AMD_QUEUE_PRIORITY_NORMAL};
    d.compute.private_segment = UINT32_MAX;
    return d;
}

static void run_counted(const char *what, hsa_queue_t *queue, uint64_t object, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        launch(queue, object);
    drain(queue);
    printf("%s %s %d\n", what, name, count);
}

static hsa_status_t see_device_pool(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "pool");
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static void wait_and_set(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    hsa_signal_store_relaxed(signal, 1);
}

static void launch_signalled(hsa_queue_t *queue, uint64_t object)
{
    hsa_signal_t own;
    must(hsa_signal_create(1, 0, NULL, &own), "signal");
    for (int i = 0; i < 20; i++) {
        hsa_signal_store_screlease(own, 1);
        launch_packet(queue, object, own, BARRIER_BIT, true);
        while (hsa_signal_wait_scacquire(own, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
    }
    must(hsa_signal_destroy(own), "destroy signal");
    puts("launched hsa_00 20");
}

static void *find_symbol(const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        die(name);
    return symbol;
}

/* Two users of a shared queue; the second continues after the first has released it. */
static void borrow(uint64_t object)
{
    hsa_status_t (*acquire)(hsa_agent_t, uint32_t, int, void *, void *, uint64_t, hsa_queue_t **) = NULL;
    hsa_status_t (*give_back)(hsa_queue_t *) = NULL;
    hsa_queue_t *lent[3] = {NULL, NULL, NULL};
    *(void **)&acquire = find_symbol("hsa_amd_counted_queue_acquire");
    *(void **)&give_back = find_symbol("hsa_amd_counted_queue_release");
    for (int i = 0; i < 2; i++)
        must(acquire(gpu_agent, HSA_QUEUE_TYPE_MULTI, HSA_AMD_QUEUE_PRIORITY_NORMAL, NULL, NULL, 0, &lent[i]),
             "acquire");
    printf("borrowed: %s\n", lent[0] == lent[1] ? "the same" : "another");
    printf("borrowed with flags: 0x%x\n", acquire(gpu_agent, 0, 1, NULL, NULL, 77, &lent[2]));
    for (int i = 0; i < 30; i++)
        launch(lent[i % 2], object);
    drain(lent[0]);
    must(give_back(lent[0]), "give back");
    run_counted("borrowed", lent[1], object, "hsa_05", 40);
    must(give_back(lent[1]), "give back");
    puts("borrowed hsa_05 30");
    printf("given back once more: 0x%x\n", give_back(lent[1]));
    must(acquire(gpu_agent, HSA_QUEUE_TYPE_MULTI, HSA_AMD_QUEUE_PRIORITY_NORMAL, NULL, NULL, 0, &lent[2]), "acquire");
    run_counted("borrowed", lent[2], object, "hsa_05", 20); /* it remains a shared queue */
}

enum { OPERATIONS = 100, ENTRIES = 5, PIECE = 4096 };

/* From the host to the GPU and back, in batches, with all kinds of operations that the preload emulates. */
static void copy_batches(void)
{
    hsa_status_t (*copy)(const struct operation *, uint32_t, uint32_t, const hsa_signal_t *) = NULL;
    static struct operation operations[OPERATIONS];
    static hsa_signal_t signals[OPERATIONS];
    hsa_amd_memory_pool_t pool;
    void *device, *host, *from[ENTRIES], *to[ENTRIES];
    hsa_agent_t to_agent[ENTRIES];
    size_t sizes[ENTRIES];
    *(void **)&copy = find_symbol("hsa_amd_memory_async_batch_copy");
    must(hsa_amd_agent_iterate_memory_pools(gpu_agent, see_device_pool, &pool), "pools");
    must(hsa_amd_memory_pool_allocate(pool, OPERATIONS * PIECE, 0, &device), "device memory");
    must(hsa_amd_memory_pool_allocate(kernarg_pool, OPERATIONS * PIECE, 0, &host), "host memory");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, host), "access");
    for (int i = 0; i < OPERATIONS; i++)
        must(hsa_signal_create(1, 0, NULL, &signals[i]), "signal");
    for (int i = 0; i < ENTRIES; i++) {
        from[i] = (char *)device + i * PIECE;
        to[i] = (char *)host + i * PIECE;
        to_agent[i] = cpu_agent;
        sizes[i] = 1024 * (size_t)(i + 1);
    }
    for (int i = 0; i < OPERATIONS; i++)
        operations[i] = (struct operation){.version = 1,
                                           .completion_signal = signals[i],
                                           .src = (char *)host + i * PIECE,
                                           .src_agent = cpu_agent,
                                           .dst = (char *)device + i * PIECE,
                                           .dst_agent = gpu_agent,
                                           .size = PIECE};
    memset(host, 0x5a, OPERATIONS * PIECE);
    must(copy(operations, OPERATIONS, 0, NULL), "batch of copies");
    for (int i = 0; i < OPERATIONS; i++)
        wait_and_set(signals[i]);
    memset(host, 0, OPERATIONS * PIECE);

    operations[0] = (struct operation){.version = 1,
                                       .num_entries = ENTRIES,
                                       .completion_signal = signals[0],
                                       .src_list = from,
                                       .src_agent = gpu_agent,
                                       .dst_list = to,
                                       .dst_agent_list = to_agent,
                                       .size_list = sizes};
    operations[1] = (struct operation){.version = 1,
                                       .type = OPERATION_BROADCAST,
                                       .num_entries = ENTRIES,
                                       .completion_signal = signals[1],
                                       .src = (char *)device + 50 * PIECE,
                                       .src_agent = gpu_agent,
                                       .dst_list = to,
                                       .dst_agent_list = to_agent,
                                       .size = 512};
    must(copy(operations, 2, 0, NULL), "batch of copies");
    wait_and_set(signals[0]);
    wait_and_set(signals[1]);
    for (int i = 0; i < ENTRIES; i++)
        if (memcmp((char *)to[i] + 512, (char *)host + 512, 512) != 0 || *(char *)to[i] != 0x5a)
            die("a copy has not arrived");
    /* Copies and bytes as this program counts them. */
    printf("copies h2d %d %d\ncopies d2h 2 %d\n", OPERATIONS, OPERATIONS * PIECE,
           1024 * ENTRIES * (ENTRIES + 1) / 2 + 512 * ENTRIES);
    operations[1].version = 77;
    printf("batch of another version: 0x%x\n", copy(operations, 2, 0, NULL));
    printf("no batch: 0x%x\n", copy(NULL, 3, 0, NULL));
}

int main(int argc, char **argv)
{
    struct family family;
    struct description d[KINDS];
    uint32_t mask[2] = {0xffffffff, 0xff}, set[2] = {0, 0};
    if (!open_runtime())
        die("no GPU");
    const char *runtime = getenv("HSA_TOOLS_LIB"); /* the emulation is loaded as a tool */
    library = runtime ? dlopen(runtime, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "hsa_amd_queue_create") : NULL;
    if (!symbol)
        die("no hsa_amd_queue_create");
    memcpy(&create, &symbol, sizeof create);
    load_family(&family, "hsa_");

    if (argc > 1 && argv[1][0] == 'b') {
        copy_batches();
        hold();
        return 0;
    }
    for (int i = 0; i < KINDS; i++)
        d[i] = describe();
    if (argc > 1 && strcmp(argv[1], "copy") != 0) {
        d[1].engine = 1;
        must(create(gpu_agent, d, argv[1][0] == 'e' ? 2 : 1), "queues");
        launch_signalled(d[0].queue, family.object[0]);
        hold();
        return 0;
    }
    d[URGENT].priority = HSA_AMD_QUEUE_PRIORITY_HIGH;
    d[URGENT].compute.mask = mask;
    d[URGENT].compute.mask_bits = 64;
    d[DEVICE_RING].flags = 1;
    d[DEVICE_ALL].flags = 3;
    d[ENGINE].engine = 2;
    d[WRONG].reserved[7] = 1;
    d[LAST].compute.type = HSA_QUEUE_TYPE_SINGLE;
    printf("status 0x%x\n", create(gpu_agent, d, KINDS));
    for (int i = 0; i < KINDS; i++)
        printf("queue %d %s, %u packets\n", i, d[i].queue ? "is there" : "is none", d[i].queue ? d[i].queue->size : 0);
    if (hsa_amd_queue_cu_get_mask(d[URGENT].queue, 64, set) == HSA_STATUS_SUCCESS)
        printf("mask %08x %08x\n", set[1], set[0]);

    struct description other = describe(), small = describe();
    other.version = 2;
    small.size_bytes = 64;
    printf("version 2: 0x%x\n", create(gpu_agent, &other, 1));
    printf("none: 0x%x\n", create(gpu_agent, NULL, 1));
    printf("none of them: 0x%x\n", create(gpu_agent, &small, 0));
    printf("too small: 0x%x\n", create(gpu_agent, &small, 1));

    if (argc > 1) {
        copy_batches();
        borrow(family.object[5]);
    }
    fflush(stdout);
    run_counted("launched", d[PLAIN].queue, family.object[0], "hsa_00", 300);
    run_counted("launched", d[URGENT].queue, family.object[1], "hsa_01", 200);
    run_counted("launched", d[LAST].queue, family.object[2], "hsa_02", 100);
    run_counted("launched", d[DEVICE_RING].queue, family.object[3], "hsa_03", 60);
    run_counted("unseen", d[DEVICE_ALL].queue, family.object[4], "hsa_04", 50);
    hold();
    for (int i = 0; i < KINDS; i++)
        if (d[i].queue)
            must(hsa_queue_destroy(d[i].queue), "destroy queue");
    return 0;
}
