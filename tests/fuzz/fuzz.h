/* For all fuzz targets: the functions that libFuzzer calls, a check that ends the run, and reading numbers from an
 * input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Writes to the descriptor: the fuzzed command may use the stream. */
#define MUST(condition)                                                 \
    do {                                                                \
        if (!(condition)) {                                             \
            dprintf(2, "misled: %s (line %d)\n", #condition, __LINE__); \
            abort();                                                    \
        }                                                               \
    } while (0)

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* Read the next bytes as a little-endian number; missing bytes are 0. */
static inline uint64_t fuzz_take(struct fuzz_input *in, size_t bytes)
{
    uint64_t value = 0;
    if (bytes > in->left)
        bytes = in->left;
    memcpy(&value, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return value;
}

#endif
