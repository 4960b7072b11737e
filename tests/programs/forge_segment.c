/*
 * forge_segment.c - a process with hostile segments, to test readers: all rows, cells and buckets that the formats
 * allow, and all of them grow. forge_segment segment [KERNELS [QUEUES]] | names | api | holes | empty PROCESSES; runs
 * until SIGTERM.
 *
 * "segment" forges the segment of kernels in its own memory. "names" does so with few kernels whose names use as much
 * of the reader's memory as possible. "api" forges the segment of calls. "holes" does so with files that claim to be
 * full but have hardly a page. "empty" forks processes that end with their parent, each with a segment without kernels.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "shm/hip_api.h"
#include "shm/segment_writer.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void print_and_stay(void (*grow)(void *what), void *what)
{
    signal(SIGTERM, on_signal);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (!stop) {
        grow(what);
        wait_a_little();
    }
}

/* --- kernels --- */

struct forged {
    struct rtl_segment s;
    uint32_t kernels, queues;
};

static void grow_segment(void *what)
{
    struct forged *f = what;
    for (uint32_t k = 0; k < f->kernels; k++) {
        f->s.histograms[k].count++;
        f->s.coarse[k].count[20]++;
        f->s.dispatches[k].calls++;
    }
    f->s.queues[0].dispatches++; /* no other counter accounts for these */
}

static int forge_segment(uint32_t kernels, uint32_t queues)
{
    static struct forged f;
    struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "forged"};
    char why[300];
    uint32_t chunk = 1;
    if (rtl_segment_create(&f.s, &config, why, sizeof why) != 0) {
        fprintf(stderr, "forge_segment: %s\n", why);
        return 1;
    }
    f.kernels = kernels;
    f.queues = queues;
    for (uint32_t k = RTL_KERNEL_FIRST; k < kernels; k++) {
        char name[64];
        int length = snprintf(name, sizeof name, "forged by %d number %u", (int)getpid(), k);
        rtl_segment_add_kernel(&f.s, name, (uint32_t)length, 0x7f0000000000ull + k);
    }
    f.s.header->kernel_count = kernels;
    for (uint32_t k = 0; k < kernels; k++) {
        f.s.histograms[k].flags = RTL_HISTOGRAM_COARSE;
        for (uint32_t o = 0; o < RTL_OCTAVES_MAX && chunk < RTL_CHUNKS_MAX; o++)
            f.s.directory[k].chunk[o] = (uint16_t)chunk++;
    }
    for (uint32_t q = 0; q < queues; q++) {
        f.s.queues[q].generation = 2;
        for (uint32_t k = 0; k < kernels; k += 32) /* touch every page */
            f.s.dispatches[(size_t)q * RTL_KERNELS_MAX + k].calls = 1;
    }
    rtl_segment_set_state(&f.s, RTL_STATE_LIVE);
    print_and_stay(grow_segment, &f);
    return 0;
}

/* All rows' names lie in one 64 kB text; each begins one byte further. */
static int forge_names(void)
{
    enum { ROWS = 256, SHORTER = 512 };
    static struct forged f;
    static char text[RTL_NAME_MAX];
    struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "forged"};
    char why[300];
    if (rtl_segment_create(&f.s, &config, why, sizeof why) != 0) {
        fprintf(stderr, "forge_segment: %s\n", why);
        return 1;
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + (i * (size_t)getpid() >> 3) % 26);
    rtl_segment_add_kernel(&f.s, text, sizeof text, 0x7f0000000000ull);
    for (uint32_t i = 1; i < ROWS; i++) {
        struct rtl_kernel *k = &f.s.kernels[RTL_KERNEL_FIRST + i];
        *k = f.s.kernels[RTL_KERNEL_FIRST];
        k->name_offset += i;
        k->name_length -= SHORTER;
    }
    f.kernels = f.s.header->kernel_count = RTL_KERNEL_FIRST + ROWS;
    rtl_segment_set_state(&f.s, RTL_STATE_LIVE);
    print_and_stay(grow_segment, &f);
    return 0;
}

/* --- calls --- */

static void grow_api(void *what)
{
    ((struct rtl_hip_api_counters *)(void *)((char *)what + RTL_HIP_API_COUNTERS_AT))->calls++;
}

static int forge_api(bool holes)
{
    int fd = memfd_create(RTL_HIP_API_NAME, MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, RTL_HIP_API_SIZE) != 0)
        return 1;
    char *at = mmap(NULL, RTL_HIP_API_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return 1;
    struct rtl_hip_api_header *h = (void *)at;
    *h = (struct rtl_hip_api_header){.major = RTL_HIP_API_MAJOR,
                                     .minor = RTL_HIP_API_MINOR,
                                     .header_bytes = sizeof *h,
                                     .size = RTL_HIP_API_SIZE,
                                     .rows_at = RTL_HIP_API_ROWS_AT,
                                     .memory_at = RTL_HIP_API_MEMORY_AT,
                                     .counters_at = RTL_HIP_API_COUNTERS_AT,
                                     .buckets_at = RTL_HIP_API_BUCKETS_AT,
                                     .pid = (uint64_t)getpid(),
                                     .blocks_used = RTL_HIP_API_BLOCKS,
                                     .nodes_used = RTL_HIP_API_NODES,
                                     .kernels_used = RTL_HIP_API_KERNELS};
    struct rtl_hip_api_row *row = (void *)(at + RTL_HIP_API_ROWS_AT);
    struct rtl_hip_api_counters *counters = (void *)(at + RTL_HIP_API_COUNTERS_AT);
    struct rtl_hip_api_buckets *buckets = (void *)(at + RTL_HIP_API_BUCKETS_AT);
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++) {
        row[i].kind = i < RTL_HIP_API_FUNCTIONS ? RTL_HIP_API_LAUNCH : RTL_HIP_API_RANGE;
        row[i].text_bytes =
            (uint32_t)snprintf(row[i].text, RTL_HIP_API_TEXT, "forged by %d number %u", (int)getpid(), i);
        row[i].open = 1;
        row[i].state = 1;
    }
    for (uint32_t i = 0; i < RTL_HIP_API_CELLS; i++) {
        counters[i].calls = 1;
        for (uint32_t b = 0; !holes && b < RTL_HIP_API_BUCKETS; b += 512) /* touch every page */
            buckets[i].count[b] = 1;
    }
    __atomic_store_n(&h->magic, RTL_HIP_API_MAGIC, __ATOMIC_RELEASE);
    print_and_stay(grow_api, at);
    return 0;
}

static int forge_empty(uint32_t processes)
{
    static struct rtl_segment s;
    struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "forged"};
    char why[300];
    int ready[2];
    char byte;
    if (pipe(ready))
        return 1;
    for (uint32_t i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (rtl_segment_create(&s, &config, why, sizeof why) != 0)
            _exit(1);
        rtl_segment_set_state(&s, RTL_STATE_LIVE);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    for (uint32_t i = 0; i < processes; i++)
        if (read(ready[0], &byte, 1) != 1)
            return 1;
    signal(SIGTERM, on_signal);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (!stop)
        wait_a_little();
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t kernels = argc > 2 ? (uint32_t)atoi(argv[2]) : RTL_KERNELS_MAX;
    uint32_t queues = argc > 3 ? (uint32_t)atoi(argv[3]) : RTL_QUEUES_MAX;
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "segment") && kernels > RTL_KERNEL_FIRST && kernels <= RTL_KERNELS_MAX && queues &&
        queues <= RTL_QUEUES_MAX)
        return forge_segment(kernels, queues);
    if (!strcmp(what, "names"))
        return forge_names();
    if (!strcmp(what, "empty") && argc == 3)
        return forge_empty(kernels);
    if (!strcmp(what, "api") || !strcmp(what, "holes"))
        return forge_api(!strcmp(what, "holes"));
    fputs("usage: forge_segment segment [KERNELS [QUEUES]] | names | api | holes | empty PROCESSES\n", stderr);
    return 1;
}
