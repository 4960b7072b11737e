/*
 * probe_swap_preload.c - a library to preload that replaces every kernel that a HIP program looks up by a probed copy
 * (src/probe), loaded beside the original.
 *
 * Each copy has its own block, with room for dies. PROBE_SWAP_ONLY=FILE restricts this to kernels whose names are lines
 * of FILE, because the runtime looks up all kernels of a library, which may be thousands. A digest of all bytes that
 * hipMemcpy copies to the host shows whether probes change results; without PROBE_SWAP only the digest is made.
 * PROBE_SWAP=waits makes copies that time waits, those of round PROBE_SWAP_ROUND. PROBE_SWAP=gaps times the gaps
 * between waves; since the table is never cleared, this is useful only for kernels dispatched once. At exit
 * $PROBE_SWAP_OUT gets, tab separated: "refused KERNEL TEXT"; "block KERNEL waves sum min max first_start last_end,
 * then the sums of durations and ends"; "busy UNIT CYCLES KERNEL"; "gaps N CYCLES KERNEL"; "digest N".
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "probe/code_object.h"
#include "probe/patch.h"
#include "shm/hash.h"
#include "shm/probe.h"

enum { CODES_MAX = 1024, COPIES_MAX = 4096, DEVICE_TO_HOST = 2 };

static struct {
    uint64_t reader, agent;
    const void *bytes;
    size_t size;
} codes[CODES_MAX];
static struct {
    uint64_t original, probed;
    char *kernel;
    struct rtl_probe_block *block;
    unsigned dies; /* the block has one page for each */
    enum rtl_probe_refusal refusal;
} copies[COPIES_MAX];
static unsigned code_count, copy_count;
static uint64_t digest;
static hsa_amd_memory_pool_t pool;
static hsa_agent_t gpus[16];
static unsigned gpu_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define SHOWN          __attribute__((visibility("default")))
#define NEXT(function) ((__typeof__(&function))(uintptr_t)next_function(#function))

/* Find a function even if the program loads the runtime itself, where RTLD_NEXT does not see it. */
static void *next_function(const char *function)
{
    static const char *const libraries[] = {"libhsa-runtime64.so.1", "libamdhip64.so.6", "libamdhip64.so.5"};
    void *found = dlsym(RTLD_NEXT, function);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, function) : NULL;
    }
    return found;
}

static char *wanted; /* PROBE_SWAP_ONLY's content, between line ends */

static bool is_wanted(const char *kernel, size_t length)
{
    for (const char *at = wanted; at && (at = strstr(at, kernel)); at++)
        if (at[-1] == '\n' && at[length] == '\n')
            return true;
    return !wanted;
}

static void read_wanted(const char *path)
{
    FILE *in = fopen(path, "r");
    long size = in && !fseek(in, 0, SEEK_END) ? ftell(in) : -1;
    wanted = size >= 0 ? calloc(1, (size_t)size + 2) : NULL;
    if (!wanted || fseek(in, 0, SEEK_SET) || fread(wanted + 1, 1, (size_t)size, in) != (size_t)size) {
        fprintf(stderr, "probe_swap: %s can't be read\n", path);
        exit(3);
    }
    *wanted = '\n';
    fclose(in);
}

static void must(hsa_status_t status, const char *what)
{
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
        return;
    fprintf(stderr, "probe_swap: %s: status 0x%x\n", what, (unsigned)status);
    exit(3);
}

static void write_report(void)
{
    const char *path = getenv("PROBE_SWAP_OUT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    for (unsigned i = 0; i < copy_count; i++) {
        struct rtl_probe_block all, *b = &all;
        uint64_t durations = 0, ends = 0, gaps = 0;
        if (!copies[i].block) {
            fprintf(out, "refused\t%s\t%s\n", copies[i].kernel, rtl_probe_refusal_text(copies[i].refusal));
            continue;
        }
        rtl_probe_block_clear(b);
        for (unsigned die = 0; die < copies[i].dies; die++)
            rtl_probe_block_add(b, &copies[i].block[die]);
        for (unsigned n = 0; n < RTL_PROBE_DURATIONS; n++)
            durations += b->durations[n], gaps += b->gaps[n];
        for (unsigned n = 0; n < RTL_PROBE_ENDS; n++)
            ends += b->ends[n];
        fprintf(out,
                "block\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                "\t%" PRIu64 "\n",
                copies[i].kernel, b->waves, b->sum, b->min, b->max, b->first_start, b->last_end, durations, ends);
        fprintf(out, "gaps\t%" PRIu64 "\t%" PRIu64 "\t%s\n", gaps, b->gap_sum, copies[i].kernel);
        for (unsigned n = 0; n < copies[i].dies * RTL_PROBE_UNITS; n++) {
            uint64_t cycles = copies[i].block[n / RTL_PROBE_UNITS].busy[n % RTL_PROBE_UNITS];
            if (cycles)
                fprintf(out, "busy\t%u\t%" PRIu64 "\t%s\n", n, cycles, copies[i].kernel);
        }
    }
    fprintf(out, "digest\t%016" PRIx64 "\n", digest);
    fclose(out);
}

__attribute__((constructor)) static void begin_swapping(void)
{
    digest = rtl_hash("", 0);
    if (getenv("PROBE_SWAP_ONLY"))
        read_wanted(getenv("PROBE_SWAP_ONLY"));
}

/* --- loading --- */

SHOWN hsa_status_t hsa_code_object_reader_create_from_memory(const void *bytes, size_t size,
                                                             hsa_code_object_reader_t *reader)
{
    hsa_status_t status = NEXT(hsa_code_object_reader_create_from_memory)(bytes, size, reader);
    pthread_mutex_lock(&lock);
    if (status == HSA_STATUS_SUCCESS && code_count < CODES_MAX) {
        void *kept = malloc(size);
        codes[code_count].reader = reader->handle;
        codes[code_count].bytes = kept ? memcpy(kept, bytes, size) : NULL;
        codes[code_count++].size = kept ? size : 0;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

SHOWN hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                         hsa_code_object_reader_t reader, const char *options,
                                                         hsa_loaded_code_object_t *loaded)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = code_count; i--;)
        if (codes[i].reader == reader.handle) {
            codes[i].agent = agent.handle;
            break;
        }
    pthread_mutex_unlock(&lock);
    return NEXT(hsa_executable_load_agent_code_object)(executable, agent, reader, options, loaded);
}

/* --- probed copies --- */

static hsa_status_t each_pool(hsa_amd_memory_pool_t p, void *data)
{
    (void)data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    must(NEXT(hsa_amd_memory_pool_get_info)(p, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "segment");
    must(NEXT(hsa_amd_memory_pool_get_info)(p, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), "flags");
    if (segment == HSA_AMD_SEGMENT_GLOBAL && flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        pool = p;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    must(NEXT(hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, &type), "device");
    if (type == HSA_DEVICE_TYPE_CPU)
        must(NEXT(hsa_amd_agent_iterate_memory_pools)(agent, each_pool, data), "pools");
    else if (gpu_count < sizeof gpus / sizeof *gpus)
        gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

static uint64_t load_copy(const struct rtl_probe_patch *patch, const char *kernel, hsa_agent_t agent)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    uint64_t object = 0;
    char name[8192];
    snprintf(name, sizeof name, "%s.kd", kernel);
    must(NEXT(hsa_code_object_reader_create_from_memory)(patch->code, patch->bytes, &reader), "reader");
    must(NEXT(hsa_executable_create_alt)(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
         "executable");
    must(NEXT(hsa_executable_load_agent_code_object)(executable, agent, reader, NULL, NULL), "load");
    must(NEXT(hsa_executable_freeze)(executable, NULL), "freeze");
    must(NEXT(hsa_executable_get_symbol_by_name)(executable, name, &agent, &symbol), "symbol");
    must(NEXT(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object), "object");
    return object;
}

/* Under the lock. */
static uint64_t probed(uint64_t original, char *kernel, hsa_agent_t agent)
{
    void *memory = NULL;
    if (!gpu_count) {
        must(NEXT(hsa_iterate_agents)(each_agent, NULL), "agents");
        atexit(write_report);
    }
    must(NEXT(hsa_amd_memory_pool_allocate)(pool, RTL_PROBE_BLOCK_DIES, 0, &memory), "block");
    must(NEXT(hsa_amd_agents_allow_access)(gpu_count, gpus, NULL, memory), "access");
    memset(memory, 0, RTL_PROBE_BLOCK_DIES);
    const char *how = getenv("PROBE_SWAP"), *round = getenv("PROBE_SWAP_ROUND");
    struct rtl_probe_order order = {.waits = how && !strcmp(how, "waits"),
                                    .round = round ? (uint32_t)atoi(round) : 0,
                                    .kernel = kernel,
                                    .object = original,
                                    .block = (uint64_t)(uintptr_t)memory,
                                    .gaps = how && !strcmp(how, "gaps"),
                                    .dies = true,
                                    .ends_shift = 4};
    struct rtl_probe_patch patch;
    enum rtl_probe_refusal why = RTL_PROBE_NO_KERNEL;
    for (unsigned i = code_count; i-- && why == RTL_PROBE_NO_KERNEL;) {
        order.code = codes[i].bytes;
        order.bytes = codes[i].size;
        if (codes[i].agent == agent.handle)
            why = rtl_probe_patch(&order, &patch);
    }
    copies[copy_count].original = copies[copy_count].probed = original;
    copies[copy_count].kernel = kernel;
    copies[copy_count].refusal = why;
    if (!why) {
        struct rtl_code_object code;
        rtl_code_open(&code, patch.code, patch.bytes);
        copies[copy_count].block = memory;
        copies[copy_count].dies = (code.flags & RTL_CODE_MACHINE) == RTL_CODE_GFX942 ? RTL_PROBE_DIES : 1;
        for (unsigned die = 0; die < copies[copy_count].dies; die++)
            rtl_probe_block_clear(&copies[copy_count].block[die]);
        copies[copy_count].probed = load_copy(&patch, kernel, agent);
        rtl_probe_patch_free(&patch);
    }
    return copies[copy_count++].probed;
}

SHOWN hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what,
                                                  void *value)
{
    hsa_status_t status = NEXT(hsa_executable_symbol_get_info)(symbol, what, value);
    uint32_t length = 0;
    hsa_agent_t agent;
    if (status != HSA_STATUS_SUCCESS || what != HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT || !getenv("PROBE_SWAP"))
        return status;
    must(NEXT(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length), "length");
    must(NEXT(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &agent), "agent");
    char *kernel = calloc(1, length + 1);
    must(NEXT(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, kernel), "name");
    if (length > 3 && strcmp(kernel + length - 3, ".kd") == 0)
        kernel[length - 3] = '\0';
    if (!is_wanted(kernel, strlen(kernel))) {
        free(kernel);
        return status;
    }
    pthread_mutex_lock(&lock);
    uint64_t original = *(uint64_t *)value;
    unsigned i = 0;
    while (i < copy_count && copies[i].original != original)
        i++;
    if (i < copy_count)
        *(uint64_t *)value = copies[i].probed;
    else if (copy_count < COPIES_MAX)
        *(uint64_t *)value = probed(original, kernel, agent);
    else
        must(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "more kernels than there is room for");
    pthread_mutex_unlock(&lock);
    return status;
}

/* --- results copied to the host --- */

SHOWN int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    static bool told;
    int status = NEXT(hipMemcpy)(to, from, bytes, kind);
    if (!told && !getenv("PROBE_SWAP"))
        atexit(write_report);
    told = true;
    for (size_t i = 0; kind == DEVICE_TO_HOST && i < bytes; i++)
        digest = (digest ^ ((const unsigned char *)to)[i]) * 0x100000001b3ull;
    return status;
}
