/*
 * gcn_names.c - checks the interpreter's decoder against a disassembler's output:
 * gcn_names gfx906|gfx90a|gfx942 <LINES
 * A line is a name and the words of its encoding in hex, as llvm-objdump prints them. Prints each difference in name or
 * length, then how many of how many agreed. Exit status 0 if all did.
 */
#include "../vgpu/gcn/isa.h"

#include <stdio.h>
#include <string.h>

enum { TOLD = 40 };

static const char *const targets[] = {[GCN_GFX906] = "gfx906", [GCN_GFX90A] = "gfx90a", [GCN_GFX942] = "gfx942"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* LLVM 15 gives gfx942's matrix products gfx90a's names: 32x32x1f32 for 32x32x1_2b_f32. */
static bool same_name(const char *mine, const char *name)
{
    if (strcmp(mine, name) == 0 || strncmp(mine, "v_mfma_", strlen("v_mfma_")) != 0)
        return strcmp(mine, name) == 0;
    const char *type = strrchr(mine, '_'), *end = type;
    if (type[-1] == 'b') /* number of blocks */
        while (*--end != '_')
            ;
    size_t shape = (size_t)(end - mine);
    return strncmp(mine, name, shape) == 0 && strcmp(name + shape, type + 1) == 0;
}

int main(int argc, char **argv)
{
    int target = 0;
    while (target < TARGETS && (argc != 2 || strcmp(argv[1], targets[target]) != 0))
        target++;
    if (target == TARGETS) {
        fprintf(stderr, "usage: gcn_names gfx906|gfx90a|gfx942 <LINES\n");
        return 2;
    }
    char line[256], name[64], mine[64];
    unsigned long all = 0, good = 0;
    while (fgets(line, sizeof line, stdin)) {
        /* Following words that would decode as one more instruction must not count as part of this one. */
        uint32_t w[6] = {0, 0, 0, 0x7e000200, 0x7e000200, 0x7e000200};
        int n = sscanf(line, "%63s %x %x %x", name, &w[0], &w[1], &w[2]) - 1;
        if (n < 1)
            continue;
        for (int i = n; i < 3; i++)
            w[i] = 0x7e000200;
        struct gcn_inst in;
        bool whole = gcn_decode((enum gcn_target)target, w, 6, &in);
        gcn_inst_name(&in, mine, sizeof mine);
        all++;
        if (whole && in.bytes == n * 4 && same_name(mine, name))
            good++;
        else if (all - good <= TOLD)
            printf("%s: %s, %d bytes instead of %d: %s", argv[1], mine, in.bytes, n * 4, line);
    }
    printf("%lu of %lu\n", good, all);
    return good == all && all ? 0 : 1;
}
