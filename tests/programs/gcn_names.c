/*
 * gcn_names.c - asks the interpreter's decoder about instructions that a disassembler has printed:
 * gcn_names gfx906|gfx90a <LINES, where a line is a name and the words of its encoding in hex, as llvm-objdump prints
 * them. Prints what differs in name or length, and at last how many agreed of how many. Exit status 0 if all did.
 */
#include "../vgpu/gcn/isa.h"

#include <stdio.h>
#include <string.h>

enum { TOLD = 40 };

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "gfx906") != 0 && strcmp(argv[1], "gfx90a") != 0)) {
        fprintf(stderr, "usage: gcn_names gfx906|gfx90a <LINES\n");
        return 2;
    }
    enum gcn_target target = strcmp(argv[1], "gfx90a") == 0 ? GCN_GFX90A : GCN_GFX906;
    char line[256], name[64], mine[64];
    unsigned long all = 0, good = 0;
    while (fgets(line, sizeof line, stdin)) {
        /* what follows in memory is no part of it: words that would be read as one more instruction */
        uint32_t w[6] = {0, 0, 0, 0x7e000200, 0x7e000200, 0x7e000200};
        int n = sscanf(line, "%63s %x %x %x", name, &w[0], &w[1], &w[2]) - 1;
        if (n < 1)
            continue;
        for (int i = n; i < 3; i++)
            w[i] = 0x7e000200;
        struct gcn_inst in;
        bool whole = gcn_decode(target, w, 6, &in);
        gcn_inst_name(&in, mine, sizeof mine);
        all++;
        if (whole && in.bytes == n * 4 && strcmp(mine, name) == 0)
            good++;
        else if (all - good <= TOLD)
            printf("%s: %s, %d bytes instead of %d: %s", argv[1], mine, in.bytes, n * 4, line);
    }
    printf("%lu of %lu\n", good, all);
    return good == all && all ? 0 : 1;
}
