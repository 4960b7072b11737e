/*
 * Queues made by hsa_amd_queue_create, which the newest runtimes have and intercept_described_preload.c stands in for:
 * an array of all kinds at once. Prints what the application is told of each, "launched NAME N" for what went into
 * those that an intercept queue can be, "unseen NAME N" for the others, and "holding" until standard input is closed.
 *
 * With the argument "copy" also a batch of copies and a borrowed queue. With "engine" or "none" nothing but kernels
 * with signals of the application's, on a queue that was made together with one of a copy engine, or alone.
 */
#include "intercept_hsa.h"

#include <dlfcn.h>

#include "intercept_described.h"

enum { PLAIN, URGENT, DEVICE_RING, DEVICE_ALL, ENGINE, WRONG, LAST, KINDS };

static hsa_status_t (*create)(hsa_agent_t, struct description *, uint32_t);

static struct description describe(void)
{
    struct description d = {.version = 1, .size_bytes = 1024 * 64, .priority = HSA_AMD_QUEUE_PRIORITY_NORMAL};
    d.compute.private_segment = UINT32_MAX;
    return d;
}

static void run(const char *what, hsa_queue_t *queue, uint64_t object, const char *name, int count)
{
    for (int i = 0; i < count; i++)
        launch(queue, object);
    drain(queue);
    printf("%s %s %d\n", what, name, count);
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

int main(int argc, char **argv)
{
    struct family family;
    struct description d[KINDS];
    uint32_t mask[2] = {0xffffffff, 0xff}, set[2] = {0, 0};
    if (!open_runtime())
        die("no GPU");
    const char *runtime = getenv("HSA_TOOLS_LIB"); /* the stand-in is loaded as a tool */
    void *library = runtime ? dlopen(runtime, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "hsa_amd_queue_create") : NULL;
    if (!symbol)
        die("no hsa_amd_queue_create");
    memcpy(&create, &symbol, sizeof create);
    load_family(&family, "hsa_");

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
        hsa_status_t (*copy)(const void *, uint32_t, uint32_t, const hsa_signal_t *) = NULL;
        symbol = dlsym(library, "hsa_amd_memory_async_batch_copy");
        memcpy(&copy, &symbol, sizeof copy);
        hsa_status_t (*borrow)(hsa_agent_t, uint32_t, int, void *, void *, uint64_t, hsa_queue_t **) = NULL;
        symbol = dlsym(library, "hsa_amd_counted_queue_acquire");
        memcpy(&borrow, &symbol, sizeof borrow);
        hsa_queue_t *borrowed = NULL;
        int told = borrow((hsa_agent_t){77}, 77, 77, (void *)77, (void *)77, 77, &borrowed);
        printf("borrowed: 0x%x, %d\n", told, (int)(uintptr_t)borrowed);
        printf("batch of copies: 0x%x\n", copy(d, 7, 1, &(hsa_signal_t){0}));
    }
    fflush(stdout);
    run("launched", d[PLAIN].queue, family.object[0], "hsa_00", 300);
    run("launched", d[URGENT].queue, family.object[1], "hsa_01", 200);
    run("launched", d[LAST].queue, family.object[2], "hsa_02", 100);
    run("launched", d[DEVICE_RING].queue, family.object[3], "hsa_03", 60);
    run("unseen", d[DEVICE_ALL].queue, family.object[4], "hsa_04", 50);
    hold();
    for (int i = 0; i < KINDS; i++)
        if (d[i].queue)
            must(hsa_queue_destroy(d[i].queue), "destroy queue");
    return 0;
}
