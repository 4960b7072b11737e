/*
 * probe_patch.c - makes probed copies of the kernels in code objects, without a GPU.
 *
 * probe_patch count FILE...: a line for each refused kernel (FILE, kernel, reason, address) and, at the end, their
 * numbers. probe_patch write FILE KERNEL OUTPUT [OBJECT]: writes one copy; OBJECT is the original's address.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code_object.h"
#include "probe/patch.h"

enum { NAME_SHOWN = 200 };
static const uint64_t some_object = 0x7f1200000040, some_block = 0x7f3400001000;

static void *read_all(const char *path, size_t *bytes)
{
    FILE *in = fopen(path, "rb");
    long size = -1;
    if (in && !fseek(in, 0, SEEK_END))
        size = ftell(in);
    void *all = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!all || fseek(in, 0, SEEK_SET) || fread(all, 1, (size_t)size, in) != (size_t)size) {
        fprintf(stderr, "probe_patch: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(in);
    *bytes = (size_t)size;
    return all;
}

static struct rtl_probe_order order_for(const void *code, size_t bytes, const char *kernel)
{
    return (struct rtl_probe_order){.code = code,
                                    .bytes = bytes,
                                    .kernel = kernel,
                                    .object = some_object,
                                    .block = some_block,
                                    .gaps = true,
                                    .dies = true,
                                    .ends_shift = 4};
}

static unsigned long kernels, good, raised, with_pc, with_ends, instructions;

static void count_refusals(const char *path)
{
    size_t bytes;
    char *code = read_all(path, &bytes);
    struct rtl_code_object object;
    enum rtl_probe_refusal why = rtl_code_open(&object, code, bytes);
    if (why)
        printf("%s: %s\n", path, rtl_probe_refusal_text(why));
    for (uint64_t i = 0; !why && i < object.symbol_count; i++) {
        struct rtl_code_symbol symbol;
        struct rtl_probe_patch patch;
        if (!rtl_code_symbol(&object, i, &symbol) || !symbol.kernel)
            continue;
        char *name = strndup(symbol.name, symbol.length);
        struct rtl_probe_order order = order_for(code, bytes, name);
        enum rtl_probe_refusal refusal = rtl_probe_patch(&order, &patch);
        kernels++;
        good += refusal == RTL_PROBE_NONE;
        raised += refusal == RTL_PROBE_NONE && patch.sgprs_after > patch.sgprs_before;
        with_pc += refusal == RTL_PROBE_NONE && patch.pcs;
        with_ends += refusal == RTL_PROBE_NONE && patch.ends > 1;
        instructions += patch.instructions;
        if (refusal)
            printf("%s: %.*s: %s (+0x%" PRIx64 " %08" PRIx32 ")\n", path, NAME_SHOWN, name,
                   rtl_probe_refusal_text(refusal), patch.at, patch.word);
        rtl_probe_patch_free(&patch);
        free(name);
    }
    free(code);
}

static int write_copy(char **arguments, int argument_count)
{
    size_t bytes;
    struct rtl_probe_patch patch;
    char *code = read_all(arguments[0], &bytes);
    struct rtl_probe_order order = order_for(code, bytes, arguments[1]);
    if (argument_count > 3)
        order.object = strtoull(arguments[3], NULL, 0);
    enum rtl_probe_refusal why = rtl_probe_patch(&order, &patch);
    if (why) {
        printf("refused: %s\n", rtl_probe_refusal_text(why));
        return 1;
    }
    FILE *out = fopen(arguments[2], "wb");
    if (!out || fwrite(patch.code, 1, patch.bytes, out) != patch.bytes || fclose(out)) {
        fprintf(stderr, "probe_patch: %s: %s\n", arguments[2], strerror(errno));
        return 2;
    }
    printf("%" PRIu32 " instructions, %" PRIu32 " ends, %" PRIu32 " read the pc, clock in s%" PRIu32
           ", registers %" PRIu32 " -> %" PRIu32 "\n",
           patch.instructions, patch.ends, patch.pcs, patch.kept, patch.sgprs_before, patch.sgprs_after);
    rtl_probe_patch_free(&patch);
    free(code);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 5 && strcmp(argv[1], "write") == 0)
        return write_copy(argv + 2, argc - 2);
    if (argc < 3 || strcmp(argv[1], "count") != 0) {
        fprintf(stderr, "usage: probe_patch count FILE... | write FILE KERNEL OUTPUT [OBJECT]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        count_refusals(argv[i]);
    printf("%lu of %lu kernels can be probed: %lu end in several places, %lu read the pc, %lu get more registers; %lu "
           "instructions\n",
           good, kernels, with_ends, with_pc, raised, instructions);
    return 0;
}
