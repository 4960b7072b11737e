/*
 * observe_play.c - a raw HSA program to observe from outside. It executes commands from standard input, one a line.
 *
 * observe_play [QUEUES [PACKETS A RING [plain]]] (plain: the GPU writes no times): makes its queues, loads kernels
 * fast00 to fast99 and prints "ready". Then:
 *
 * - run N EVERY KERNELS US: N dispatches of KERNELS kernels, unevenly, over the queues in turn; every EVERYth carries a
 *   signal (0: none); a pause of US microseconds after each 16
 * - cycle N: N times, create a queue, send it ten dispatches and destroy it
 * - past N: N more queues, made past the library (observe_past_preload); they come after the others
 * - load: more kernels, more00 to more99, which `run` uses from then on; once
 * - own N: N dispatches of fast00 into the first queue, by its write index in memory and the hardware's doorbell
 * - coop: one more queue, the GPU's cooperative queue
 * - map N: N GB of untouched memory, marked like queues' memory
 * - stick: from now on every read of the first queue's memory blocks for ever, in this program too
 * - fork: a child that does nothing; prints "child PID"
 * - where: prints "queue ADDRESS" for each queue
 * - hide: from now on only root may read the process's memory
 * - done: waits until everything has completed, prints "launched KERNEL N" and "done"
 *
 * It prints "ok" after each command ("stuck" before it if the kernel does not allow `stick`). It ends when standard
 * input closes.
 *
 * Two modes need no GPU. observe_play hidden: only root may read its memory. observe_play stuck: reads of what looks
 * like the runtime's library in its memory block.
 */
#include "intercept_hsa.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { QUEUES = 120, SIGNALS = 512 };

static struct family families[2];
static unsigned long launched[2][FAMILY];
static hsa_queue_t *queues[QUEUES];
static hsa_signal_t signals[SIGNALS];
static unsigned queue_count = 1, family_count = 1;
static uint64_t random_state = 1;

static unsigned draw_low(unsigned below)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned n = (unsigned)(random_state >> 33);
    unsigned a = n % below, b = n / below % below;
    return a < b ? a : b; /* low numbers more often */
}

static void launch_one(hsa_queue_t *queue, unsigned kernel, hsa_signal_t signal)
{
    struct family *f = &families[family_count - 1];
    launch_packet(queue, f->object[kernel], signal, BARRIER_BIT, true);
    launched[family_count - 1][kernel]++;
}

static void pause_us(unsigned us)
{
    if (us)
        nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

static void run_round_robin(unsigned long n, unsigned every, unsigned kernels, unsigned us)
{
    unsigned next = 0;
    for (unsigned long i = 0; i < n; i++) {
        hsa_signal_t signal = {0};
        if (every && i % every == 0) {
            signal = signals[next++ % SIGNALS];
            while (hsa_signal_load_scacquire(signal) > 0)
                sched_yield();
            hsa_signal_store_relaxed(signal, 1);
        }
        launch_one(queues[i % queue_count], draw_low(kernels), signal);
        if (i % 16 == 15)
            pause_us(us);
    }
}

static void cycle(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        hsa_queue_t *queue = open_queue(64);
        for (int k = 0; k < 10; k++) {
            launch_one(queue, (unsigned)k, (hsa_signal_t){0});
            pause_us(5000);
        }
        drain(queue);
        must(hsa_queue_destroy(queue), "destroy");
    }
}

typedef hsa_status_t make_queue(hsa_agent_t, uint32_t, hsa_queue_type32_t,
                                void (*)(hsa_status_t, hsa_queue_t *, void *), void *, uint32_t, uint32_t,
                                hsa_queue_t **);

/* Create queues by the function that was in the runtime's table before any tool. */
static void make_past(unsigned long n)
{
    const char *where = getenv("PAST_LIBRARY");
    make_queue *create = where ? (make_queue *)(uintptr_t)strtoull(where, NULL, 16) : NULL;
    if (!create || queue_count + n > QUEUES)
        die("no PAST_LIBRARY, or too many queues");
    for (; n; n--)
        must(create(gpu_agent, 4096, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queues[queue_count++]),
             "past queue");
}

static void have_child(void)
{
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    printf("child %d\n", (int)child);
}

/* Like some drivers above HSA, without any of the runtime's functions. */
static void launch_own(unsigned long n)
{
    amd_queue_t *words = (amd_queue_t *)(void *)queues[0];
    volatile uint64_t *bell =
        ((const amd_signal_t *)(uintptr_t)queues[0]->doorbell_signal.handle)->hardware_doorbell_ptr;
    for (unsigned long i = 0; i < n; i++) {
        uint64_t index = __atomic_fetch_add(&words->write_dispatch_id, 1, __ATOMIC_ACQ_REL);
        while (index - __atomic_load_n(&words->read_dispatch_id, __ATOMIC_ACQUIRE) >= queues[0]->size)
            sched_yield();
        hsa_kernel_dispatch_packet_t *packet =
            (hsa_kernel_dispatch_packet_t *)queues[0]->base_address + (index & (queues[0]->size - 1));
        memset((char *)packet + 4, 0, sizeof *packet - 4);
        packet->workgroup_size_x = packet->grid_size_x = 64;
        packet->workgroup_size_y = packet->workgroup_size_z = packet->grid_size_y = packet->grid_size_z = 1;
        packet->kernel_object = families[0].object[0];
        packet->kernarg_address = kernarg_block;
        __atomic_store_n((uint32_t *)(void *)packet,
                         KERNEL_HEADER | BARRIER_BIT | 1u << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS),
                         __ATOMIC_RELEASE);
        __atomic_store_n(bell, index, __ATOMIC_RELEASE);
        launched[0][0]++;
        pause_us(i % 16 == 15 ? 1000 : 0);
    }
}

static void map_memory(unsigned long gb)
{
    char *memory = mmap(NULL, gb << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, gb << 30, MADV_DONTFORK))
        die("map");
    for (unsigned long at = 0; at < gb; at++)
        memory[at << 30] = 1; /* so that some pages exist */
}

/* Reads of these pages fault to a userfaultfd that is never answered. */
static bool stick(void *page, size_t bytes)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(uintptr_t)page, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range) &&
           !madvise(page, bytes, MADV_DONTNEED);
}

static int stuck(void)
{
    int fd = memfd_create("libhsa-runtime64.so.1", MFD_CLOEXEC);
    Dl_info library;
    char *page = MAP_FAILED; /* the library's first page, which is not needed once it is loaded */
    if (fd >= 0 && !ftruncate(fd, 4096) && dladdr((void *)(uintptr_t)hsa_init, &library))
        page = mmap(library.dli_fbase, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
    bool sticks = page != MAP_FAILED && stick(page, 4096) &&
                  !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                             4096); /* also for processes that have mapped it before */
    puts(sticks ? "ready" : "stuck");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}

static int hidden(void)
{
    puts(prctl(PR_SET_DUMPABLE, 0) ? "prctl" : "ready");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}

static void print_done(void)
{
    static const char *const prefix[] = {"fast", "more"};
    for (unsigned i = 0; i < queue_count; i++)
        drain(queues[i]);
    for (unsigned f = 0; f < family_count; f++)
        for (unsigned k = 0; k < FAMILY; k++)
            if (launched[f][k])
                printf("launched %s%02u %lu\n", prefix[f], k, launched[f][k]);
    puts("done");
}

__attribute__((visibility("default"))) int main(int argc,
                                                char **argv) /* observe_local loads it as a library and calls it */
{
    char line[128];
    unsigned long n;
    unsigned every, kernels, us, packets = argc > 2 ? (unsigned)atoi(argv[2]) : 4096;
    if (argc > 1 && strcmp(argv[1], "stuck") == 0)
        return stuck();
    if (argc > 1 && strcmp(argv[1], "hidden") == 0)
        return hidden();
    queue_count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    if (!queue_count || queue_count > QUEUES)
        die("QUEUES must be 1 to 120");
    if (!open_runtime())
        die("no GPU");
    load_family(&families[0], "fast");
    for (unsigned i = 0; i < queue_count; i++) {
        queues[i] = open_queue(packets);
        must(hsa_amd_profiling_set_profiler_enabled(queues[i], argc <= 3), "profiling");
    }
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_create(0, 0, NULL, &signals[i]), "signal");
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "run %lu %u %u %u", &n, &every, &kernels, &us) == 4 && kernels && kernels <= FAMILY)
            run_round_robin(n, every, kernels, us);
        else if (sscanf(line, "cycle %lu", &n) == 1)
            cycle(n);
        else if (strcmp(line, "load\n") == 0 && family_count == 1)
            load_family(&families[family_count++], "more");
        else if (sscanf(line, "past %lu", &n) == 1)
            make_past(n);
        else if (sscanf(line, "own %lu", &n) == 1)
            launch_own(n);
        else if (strcmp(line, "coop\n") == 0 && queue_count < QUEUES)
            must(hsa_queue_create(gpu_agent, 4096, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, UINT32_MAX, UINT32_MAX,
                                  &queues[queue_count++]),
                 "cooperative queue");
        else if (sscanf(line, "map %lu", &n) == 1)
            map_memory(n);
        else if (strcmp(line, "stick\n") == 0) {
            if (!stick((void *)((uintptr_t)queues[0] & ~4095ull), 4096))
                puts("stuck");
        } else if (strcmp(line, "fork\n") == 0)
            have_child();
        else if (strcmp(line, "where\n") == 0)
            for (unsigned i = 0; i < queue_count; i++)
                printf("queue %lx\n", (unsigned long)(uintptr_t)queues[i]);
        else if (strcmp(line, "hide\n") == 0)
            must(prctl(PR_SET_DUMPABLE, 0) ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS, "prctl");
        else if (strcmp(line, "done\n") == 0)
            print_done();
        else
            die("unknown command");
        puts("ok");
        fflush(stdout);
    }
    for (unsigned i = 0; i < queue_count; i++)
        must(hsa_queue_destroy(queues[i]), "destroy");
    must(hsa_shut_down(), "shut down");
    return 0;
}
