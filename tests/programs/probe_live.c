/*
 * probe_live.c - extracts a kernel's code from a running process and makes the probed copy: probe_live PID KERNEL
 * FOLDER. For each GPU that has the kernel, FOLDER gets original-N.co and probed-N.co. A line has N, whether the
 * kernel's descriptor is at the computed address in the process, whether the kernel can be probed, and its number of
 * instructions.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/debug_list.h"
#include "observe/kernel_code.h"
#include "probe/code_object.h"
#include "probe/patch.h"

struct work {
    const struct rtl_target_memory *memory;
    const char *kernel, *folder;
    unsigned count;
};

static void write_object(const struct work *w, const char *what, const void *bytes, size_t size)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s-%u.co", w->folder, what, w->count);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, size, out) != size || fclose(out)) {
        perror(path);
        exit(2);
    }
}

/* Compare at the host's address of the GPU memory, which the software GPU makes readable. */
static bool lies_there(const struct work *w, const struct rtl_kernel_code *code)
{
    struct rtl_code_object object;
    struct rtl_kernel_descriptor there;
    const uint8_t *bytes;
    uint64_t address;
    return !rtl_code_open(&object, code->bytes, code->size) && rtl_code_find_kernel(&object, w->kernel, &address) &&
           rtl_code_at(&object, address, false, &bytes) >= sizeof there &&
           rtl_target_read(w->memory, code->object, &there, sizeof there) && !memcmp(&there, bytes, sizeof there);
}

static bool probe_code(void *context, const struct rtl_kernel_code *code)
{
    struct work *w = context;
    struct rtl_probe_patch patch;
    struct rtl_probe_order order = {.code = code->bytes,
                                    .bytes = code->size,
                                    .kernel = w->kernel,
                                    .object = code->object,
                                    .block = 0x7f3400001000,
                                    .ends_shift = 4};
    enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
    write_object(w, "original", code->bytes, code->size);
    if (!why)
        write_object(w, "probed", patch.code, patch.bytes);
    printf("%u\t%s\t%s\t%" PRIu32 "\n", w->count++, lies_there(w, code) ? "there" : "elsewhere",
           why ? rtl_probe_refusal_text(why) : "yes", patch.instructions);
    rtl_probe_patch_free(&patch);
    return true;
}

int main(int argc, char **argv)
{
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    char path[64];
    if (argc != 4) {
        fprintf(stderr, "usage: probe_live PID KERNEL FOLDER\n");
        return 2;
    }
    struct work w = {&memory, argv[2], argv[3], 0};
    pid_t pid = (pid_t)strtol(argv[1], NULL, 10);
    if (rtl_target_memory_open(pid, &memory) || rtl_mappings_read(pid, &mappings)) {
        fprintf(stderr, "probe_live: %s can't be looked into\n", argv[1]);
        return 2;
    }
    struct rtl_debug_lists lists;
    bool has_lists = rtl_debug_lists_find(&memory, &mappings, &lists);
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int files = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool whole = has_lists && rtl_kernel_code_find(&memory, &lists, files, w.kernel, probe_code, &w);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    return whole && w.count ? 0 : 1;
}
