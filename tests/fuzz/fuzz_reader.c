/*
 * libFuzzer target: a hostile segment must never crash, hang or mislead the reader. (fuzz_segment.c uses the real
 * layout.)
 *
 * The input is a short program, not a segment: byte 0 selects how the file is made, the rest are patches on a small
 * valid segment with data in every section. Some apply before the reader opens it, some between two snapshots (a
 * segment that changes under the reader). Or the input is the file itself. The reader maps sealed files and reads
 * unsealed ones; an unsealed one may also shrink meanwhile.
 *
 * fuzz: -timeout=5 -rss_limit_mb=768
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment_checks.h"

enum {
    KERNELS = 8,
    QUEUES = 2,
    AGENTS = 2,
    COPIES = AGENTS * RTL_DIRECTION_COUNT,
    HISTOGRAMS = KERNELS + 2 * QUEUES + COPIES,
    CHUNKS = 40,
    NAMES = 512,
    EVENTS = 16,
    FILE_MAX = 65536
};

enum { SEALED = 1, RAW = 2, SHRINKS = 4, PADDED = 8, HOLED = 16 };

static _Alignas(64) uint8_t base[FILE_MAX];
static size_t base_size;

static void *entry(struct rtl_header *h, enum rtl_section_id section, uint32_t i)
{
    return base + h->section[section].offset + (size_t)i * h->section[section].stride;
}

/* Makes the smallest valid segment with data in every section. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint32_t layout[RTL_SECTION_KNOWN][2] = {{sizeof(struct rtl_kernel), KERNELS},
                                                          {sizeof(struct rtl_histogram), HISTOGRAMS},
                                                          {sizeof(struct rtl_directory), HISTOGRAMS},
                                                          {sizeof(struct rtl_coarse), HISTOGRAMS},
                                                          {sizeof(struct rtl_chunk), CHUNKS},
                                                          {sizeof(struct rtl_queue), QUEUES},
                                                          {sizeof(struct rtl_agent), AGENTS},
                                                          {sizeof(struct rtl_dispatches), KERNELS * QUEUES},
                                                          {1, NAMES},
                                                          {sizeof(struct rtl_ring), 1},
                                                          {sizeof(struct rtl_event_record), EVENTS},
                                                          {sizeof(struct rtl_copies), COPIES},
                                                          {RTL_PROBE_STATE_BYTES, 1},
                                                          {sizeof(struct rtl_probe_die), RTL_PROBE_DIES - 1}};
    (void)argc;
    (void)argv;
    struct rtl_header *h = (struct rtl_header *)(void *)base;
    uint64_t at = RTL_ALIGN_UP(sizeof *h, 64);
    for (int i = 0; i < RTL_SECTION_KNOWN; i++) {
        h->section[i] = (struct rtl_section){at, layout[i][0], layout[i][1]};
        at = RTL_ALIGN_UP(at + (uint64_t)layout[i][0] * layout[i][1], 64);
    }
    h->magic = RTL_SEGMENT_MAGIC;
    h->major = RTL_SEGMENT_MAJOR;
    h->minor = RTL_SEGMENT_MINOR;
    h->header_bytes = sizeof *h;
    h->size = at;
    h->section_count = RTL_SECTION_KNOWN;
    h->features_optional = RTL_FEATURE_EVENTS | RTL_FEATURE_COPIES | RTL_FEATURE_PROBE;
    h->pid = 4711;
    memcpy(h->comm, "python3", 7);
    h->state = RTL_STATE_LIVE;
    h->kernel_count = KERNELS - 1;
    h->agent_count = AGENTS;
    h->names_used = 16 * KERNELS;
    h->signals_created = 64;
    h->chunks_used = 2 * HISTOGRAMS;
    base_size = at;

    for (uint32_t i = 0; i < KERNELS - 1; i++) {
        struct rtl_kernel *k = entry(h, RTL_SECTION_KERNELS, i);
        *k = (struct rtl_kernel){.state = RTL_KERNEL_READY, .name_length = 16, .name_offset = 16 * i};
        snprintf(entry(h, RTL_SECTION_NAMES, 16 * i), 17, "kernel number %02u", i);
    }
    for (uint32_t i = 0; i < HISTOGRAMS; i++) {
        struct rtl_histogram *g = entry(h, RTL_SECTION_HISTOGRAMS, i);
        struct rtl_directory *d = entry(h, RTL_SECTION_DIRECTORY, i);
        uint64_t low = 1000 * (i + 1);
        *g = (struct rtl_histogram){.count = 5, .total_ns = 8 * low, .min_ns = low, .max_ns = 2 * low};
        for (uint32_t n = 0; n < 2; n++) {
            uint32_t index = rtl_bucket_of(low << n);
            uint16_t chunk = (uint16_t)(1 + 2 * i + n) < CHUNKS ? (uint16_t)(1 + 2 * i + n) : 0;
            if (!chunk) { /* the last one must be coarse */
                ((struct rtl_coarse *)entry(h, RTL_SECTION_COARSE, i))->count[index / 64] = n ? 3 : 2;
                g->flags = RTL_HISTOGRAM_COARSE;
                continue;
            }
            d->chunk[index / 64] = chunk;
            ((struct rtl_chunk *)entry(h, RTL_SECTION_CHUNKS, chunk))->bucket[index % 64] = n ? 3 : 2;
        }
    }
    for (uint32_t q = 0; q < QUEUES; q++) {
        struct rtl_queue *queue = entry(h, RTL_SECTION_QUEUES, q);
        *queue = (struct rtl_queue){.generation = 2, .agent = q, .queue_id = q + 1, .live = 1, .size_packets = 1024};
        queue->dispatches = queue->packets = 40;
        queue->injected = 39;
        queue->completed = 35;
        queue->untimed[RTL_UNTIMED_OWN_SIGNAL] = 1;
        for (uint32_t k = 0; k < KERNELS; k++)
            *(struct rtl_dispatches *)entry(h, RTL_SECTION_DISPATCHES, q * KERNELS + k) =
                (struct rtl_dispatches){.calls = 5, .grid = {64, 1, 1}, .workgroup = {64, 1, 1}};
    }
    for (uint32_t a = 0; a < AGENTS; a++) {
        struct rtl_agent *agent = entry(h, RTL_SECTION_AGENTS, a);
        *agent = (struct rtl_agent){.state = 1, .gpu = AGENTS - 1 - a, .tick_hz = 100000000, .name = "gfx90a"};
        memcpy(agent->uuid, "GPU-7b3e5d2c9a100000", 21);
        agent->idle[1] = (struct rtl_idle){.count = 7, .total_ns = 200000};
        agent->clock_residuals = 3;
    }
    for (uint32_t i = 0; i < COPIES; i++) {
        struct rtl_copies *copies = entry(h, RTL_SECTION_COPIES, i);
        *copies = (struct rtl_copies){.count = 6, .bytes = 6000, .timed_bytes = 5000};
        copies->untimed[RTL_COPY_UNTIMED_BAD_TIME] = 1;
    }
    *(struct rtl_probe_state *)entry(h, RTL_SECTION_PROBE, 0) = (struct rtl_probe_state){.sequence = 2,
                                                                                         .phase = RTL_PROBE_PHASE_ARMED,
                                                                                         .kernel = 2,
                                                                                         .dispatches = 9,
                                                                                         .probed = 3,
                                                                                         .recorded = 2,
                                                                                         .dies = 8};
    /* the ring has wrapped around: 24 records, the first 8 overwritten */
    ((struct rtl_ring *)entry(h, RTL_SECTION_RING, 0))->head = EVENTS + 8;
    for (uint32_t i = 0; i < EVENTS; i++)
        *(struct rtl_event_record *)entry(h, RTL_SECTION_EVENTS, i) =
            (struct rtl_event_record){.sequence = (i < 8 ? EVENTS : 0) + i + 1,
                                      .start_ns = 1000 * i,
                                      .duration_ns = 10 * i,
                                      .kernel = i % KERNELS};
    return 0;
}

/*
 * Apply one patch: a kind, two bytes of place, a value. Places count by section or by byte; kinds are widths, an add,
 * runs of one byte, and near-miss values. Returns false at the end of this round's patches.
 */
static bool patch(struct fuzz_input *in, int fd)
{
    if (!in->left)
        return false;
    uint8_t kind = (uint8_t)fuzz_take(in, 1);
    if (kind == 0xff)
        return false;
    uint64_t at = fuzz_take(in, 2) % base_size, value;
    size_t width = 1u << (kind & 3);
    if (kind & 0x10)
        at &= ~7ull;
    if (kind & 0x20)
        value = likely_value(in);
    else if (kind & 0x40) {
        value = 0;
        if (pread(fd, &value, width, (off_t)at) < 0)
            return true;
        value += (uint64_t)(int8_t)fuzz_take(in, 1);
    } else
        value = fuzz_take(in, width);
    return pwrite(fd, &value, width, (off_t)at) >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    uint8_t how = (uint8_t)fuzz_take(&in, 1);
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return 0;

    if (how & RAW) {
        if (write(fd, in.at, in.left) < 0)
            goto out;
        in.left = 0;
    } else {
        if (write(fd, base, base_size) < 0)
            goto out;
        while (patch(&in, fd))
            ;
    }
    if (how & PADDED) { /* room for false sizes; sparse */
        if (ftruncate(fd, 1 << 28) != 0)
            goto out;
    }
    if (how & HOLED)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(fuzz_take(&in, 1) % 8 * 4096), 4096);
    if (how & SEALED)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);

    read_twice(fd, &in, patch, how & SHRINKS && !(how & SEALED) ? base_size : 0);
out:
    close(fd);
    return 0;
}
