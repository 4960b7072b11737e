/*
 * ggml_results_preload.c - a library to preload into llama.cpp's test-backend-ops, so that two runs can be compared to
 * the bit. Every run gets the same random inputs and writes each of the GPU's results as a line to the file
 * GGML_RESULTS.
 *
 * A line has the operation, the tensor's name, its size in bytes, and their hash, tab separated, in the order in which
 * the test compares them with the CPU. std::random_device, which seeds the random numbers, returns the same sequence in
 * every run. std::thread reports one core, so that the test draws all numbers in one thread.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm/hash.h"

#define SHOWN __attribute__((visibility("default")))

/* --- libstdc++, by its mangled names --- */

SHOWN unsigned next_seed(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned next_seed(void *device)
{
    static unsigned seed;
    (void)device;
    return __atomic_add_fetch(&seed, 1, __ATOMIC_RELAXED) * 2654435761u;
}

SHOWN unsigned one_core(void) __asm__("_ZNSt6thread20hardware_concurrencyEv");
unsigned one_core(void)
{
    return 1;
}

/* --- ggml, declared here because nothing else of its headers is needed --- */

typedef bool (*compare_fn)(int index, void *gpu, void *cpu, void *data);
static struct {
    const char *(*operation)(const void *tensor);
    const char *(*name)(const void *tensor);
    size_t (*bytes)(const void *tensor);
    void (*get)(const void *tensor, void *to, size_t offset, size_t bytes);
    bool (*compare)(void *gpu, void *cpu, void *graph, compare_fn, void *data, void *nodes, size_t node_count);
    FILE *out;
} ggml;

static void look_up(void *function, const char *name)
{
    if (!(*(void **)function = dlsym(RTLD_NEXT, name))) {
        fprintf(stderr, "ggml_results: no %s\n", name);
        exit(3);
    }
}

static void begin_results(void)
{
    const char *path = getenv("GGML_RESULTS");
    look_up(&ggml.operation, "ggml_op_desc");
    look_up(&ggml.name, "ggml_get_name");
    look_up(&ggml.bytes, "ggml_nbytes");
    look_up(&ggml.get, "ggml_backend_tensor_get");
    look_up(&ggml.compare, "ggml_backend_compare_graph_backend");
    ggml.out = path ? fopen(path, "w") : NULL;
    if (!ggml.out) {
        fprintf(stderr, "ggml_results: GGML_RESULTS can't be written\n");
        exit(3);
    }
}

struct compared {
    compare_fn compare;
    void *data;
};

static bool written(int index, void *gpu, void *cpu, void *data)
{
    const struct compared *test = data;
    size_t bytes = ggml.bytes(gpu);
    char *copy = malloc(bytes + 1);
    if (!copy)
        abort();
    ggml.get(gpu, copy, 0, bytes);
    fprintf(ggml.out, "%s\t%s\t%zu\t%016" PRIx64 "\n", ggml.operation(gpu), ggml.name(gpu), bytes,
            rtl_hash(copy, bytes));
    free(copy);
    return test->compare(index, gpu, cpu, test->data);
}

SHOWN bool ggml_backend_compare_graph_backend(void *gpu, void *cpu, void *graph, compare_fn compare, void *data,
                                              void *nodes, size_t node_count);
bool ggml_backend_compare_graph_backend(void *gpu, void *cpu, void *graph, compare_fn compare, void *data, void *nodes,
                                        size_t node_count)
{
    struct compared test = {compare, data};
    if (!ggml.out)
        begin_results();
    return ggml.compare(gpu, cpu, graph, written, &test, nodes, node_count);
}
