/*
 * A library to preload into llama.cpp's test-backend-ops: every run has the same random inputs, and each result of the
 * GPU's is a line in the file GGML_RESULTS, so that two runs can be compared to the bit.
 *
 * A line is: the operation, the tensor's name, how many bytes it has, their hash; tab separated, in the order in which
 * the test compares them with the CPU. Random numbers begin with what std::random_device says, which is the same
 * sequence in every run here; and as there is one core, says std::thread, the test draws all of them in one thread.
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

/* --- ggml, whose headers nobody needs for this --- */

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

static void begin(void)
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
        begin();
    return ggml.compare(gpu, cpu, graph, written, &test, nodes, node_count);
}
