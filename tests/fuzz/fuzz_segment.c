/*
 * libFuzzer target: the reader on a segment with the library's real layout (185 MB, sparse). A patch fills a word of up
 * to thousands of entries: up to the limits of kernels, lines, chunks and names, and beyond.
 *
 * Byte 0 of the input selects whether the file is sealed (mapped) or not (read with pread); the rest are patches.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=512
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment_checks.h"
#include "shm/segment_writer.h"
#include "stats/recorder.h"

static struct rtl_segment real; /* as the library makes it */

/* Makes a segment like librtl.so: a hundred kernels on three queues. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT,
                                                     .events = 1024,
                                                     .library_version = "x",
                                                     .environment = "RANK=5",
                                                     .environment_bytes = 7};
    char text[64];
    MUST(rtl_segment_create(&real, &config, text, sizeof text) == 0);
    struct rtl_recorder *recorder = rtl_recorder_create(&real);
    for (uint32_t i = 0; i < 100; i++) {
        int length = snprintf(text, sizeof text, "_Z6kernelILi%uEEvPf", i);
        uint32_t row = rtl_segment_add_kernel(&real, text, (uint32_t)length, 0x1000 + i);
        for (uint32_t n = 0; n < 20; n++)
            rtl_recorder_record(recorder, row, 1000 * i + 100 * n);
        for (uint32_t q = 0; q < 3; q++)
            real.dispatches[(size_t)q * RTL_KERNELS_MAX + row] =
                (struct rtl_dispatches){.calls = 7, .grid = {64, 1, 1}};
    }
    for (uint32_t q = 0; q < 3; q++)
        real.queues[q] = (struct rtl_queue){.generation = 2, .queue_id = q, .dispatches = 700, .packets = 700};
    real.agents[0] = (struct rtl_agent){.state = 1, .name = "gfx942"};
    real.header->agent_count = 1;
    real.header->section[RTL_SECTION_EVENTS].capacity = 1024;
    rtl_segment_set_state(&real, RTL_STATE_LIVE);
    rtl_recorder_destroy(recorder);
    return 0;
}

/* Makes a copy to patch, with the same holes. */
static bool copy_real(int fd)
{
    if (ftruncate(fd, (off_t)real.size) != 0)
        return false;
    for (off_t at = 0, hole; (at = lseek(real.fd, at, SEEK_DATA)) >= 0; at = hole) {
        hole = lseek(real.fd, at, SEEK_HOLE);
        if (pwrite(fd, (char *)real.header + at, (size_t)(hole - at), at) != hole - at)
            return false;
    }
    return true;
}

/* Sets the same word in many entries of a section, to one value or to one that grows from entry to entry. */
static void fill(struct fuzz_input *in, int fd, uint64_t value)
{
    const struct rtl_section *s = &real.header->section[fuzz_take(in, 1) % RTL_SECTION_KNOWN];
    uint64_t first = fuzz_take(in, 3), count = 1ull << fuzz_take(in, 1) % 16, word = fuzz_take(in, 1),
             step = fuzz_take(in, 1);
    for (uint64_t i = 0; s->capacity && i < count; i++, value += step) {
        uint64_t at = s->offset + (first + i) % s->capacity * s->stride + word * 8 % (s->stride > 8 ? s->stride : 8);
        if (pwrite(fd, &value, sizeof value, (off_t)at) < 0)
            break;
    }
}

/* Applies one patch: to a word of the header, of an entry, or of many entries. False at the end of this round's
 * patches. */
static bool patch(struct fuzz_input *in, int fd)
{
    if (!in->left)
        return false;
    uint8_t kind = (uint8_t)fuzz_take(in, 1);
    if (kind == 0xff)
        return false;
    if (kind & 0x80) {
        fill(in, fd, kind & 0x20 ? likely_value(in) : fuzz_take(in, 8));
        return true;
    }
    uint64_t at = fuzz_take(in, 2) % sizeof(struct rtl_header) & ~3ull;
    size_t width = kind & 1 ? 8 : 4;
    uint64_t value = kind & 0x20 ? likely_value(in) : fuzz_take(in, width);
    return pwrite(fd, &value, width, (off_t)at) >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    bool sealed = fuzz_take(&in, 1) & 1;
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || !copy_real(fd))
        goto out;
    while (patch(&in, fd))
        ;
    if (sealed)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    read_twice(fd, &in, patch, 0);
out:
    if (fd >= 0)
        close(fd);
    return 0;
}
