/*
 * intercept_runtimes.c - several HSA runtimes in one process, as when a Python wheel brings its own beside the
 * system's: intercept_runtimes FILE...
 *
 * Each FILE is a runtime's library, loaded by its path into a separate scope; the program links to none. It executes
 * commands from standard input, one a line. R is the number of a FILE, from 0:
 *
 * - open R PREFIX: load and start the runtime, load kernels PREFIX00 to PREFIX99 (four characters), create a queue
 * - run R N: N dispatches of ten kernels, with a pause after each 16; wait until they have completed
 * - both N: N dispatches on each open runtime, in turn; wait until they have completed
 * - close R: destroy the queue and shut the runtime down
 * - drop R: unload the library of a runtime that was shut down
 * - again R: start an open runtime once more and shut it down once, which only changes its reference count
 * - done: print "launched KERNEL N" for the dispatches so far, and "done"
 *
 * It prints "ready" first and "ok" after each command; before that "refused" if the runtime cannot be started again.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>

#define FUNCTIONS(X)                         \
    X(init)                                  \
    X(shut_down)                             \
    X(status_string)                         \
    X(iterate_agents)                        \
    X(agent_get_info)                        \
    X(amd_agent_iterate_memory_pools)        \
    X(amd_memory_pool_get_info)              \
    X(amd_memory_pool_allocate)              \
    X(amd_agents_allow_access)               \
    X(code_object_reader_create_from_memory) \
    X(code_object_reader_destroy)            \
    X(executable_create_alt)                 \
    X(executable_load_agent_code_object)     \
    X(executable_freeze)                     \
    X(executable_destroy)                    \
    X(executable_iterate_agent_symbols)      \
    X(executable_symbol_get_info)            \
    X(queue_create)                          \
    X(queue_destroy)                         \
    X(queue_add_write_index_relaxed)         \
    X(queue_load_read_index_scacquire)       \
    X(signal_create)                         \
    X(signal_destroy)                        \
    X(signal_store_screlease)                \
    X(signal_wait_scacquire)

struct functions {
#define FIELD(name) __typeof__(hsa_##name) *name;
    FUNCTIONS(FIELD)
};
static const struct {
    const char *name;
    size_t offset;
} table[] = {
#define ROW(name) {"hsa_" #name, offsetof(struct functions, name)},
    FUNCTIONS(ROW)};
static const struct functions *now; /* functions of the runtime in use */
#define hsa_init                                  now->init
#define hsa_shut_down                             now->shut_down
#define hsa_status_string                         now->status_string
#define hsa_iterate_agents                        now->iterate_agents
#define hsa_agent_get_info                        now->agent_get_info
#define hsa_amd_agent_iterate_memory_pools        now->amd_agent_iterate_memory_pools
#define hsa_amd_memory_pool_get_info              now->amd_memory_pool_get_info
#define hsa_amd_memory_pool_allocate              now->amd_memory_pool_allocate
#define hsa_amd_agents_allow_access               now->amd_agents_allow_access
#define hsa_code_object_reader_create_from_memory now->code_object_reader_create_from_memory
#define hsa_code_object_reader_destroy            now->code_object_reader_destroy
#define hsa_executable_create_alt                 now->executable_create_alt
#define hsa_executable_load_agent_code_object     now->executable_load_agent_code_object
#define hsa_executable_freeze                     now->executable_freeze
#define hsa_executable_destroy                    now->executable_destroy
#define hsa_executable_iterate_agent_symbols      now->executable_iterate_agent_symbols
#define hsa_executable_symbol_get_info            now->executable_symbol_get_info
#define hsa_queue_create                          now->queue_create
#define hsa_queue_destroy                         now->queue_destroy
#define hsa_queue_add_write_index_relaxed         now->queue_add_write_index_relaxed
#define hsa_queue_load_read_index_scacquire       now->queue_load_read_index_scacquire
#define hsa_signal_create                         now->signal_create
#define hsa_signal_destroy                        now->signal_destroy
#define hsa_signal_store_screlease                now->signal_store_screlease
#define hsa_signal_wait_scacquire                 now->signal_wait_scacquire

#include "intercept_hsa.h"

#include <dlfcn.h>

enum { RUNTIMES = 4, KERNELS = 10, TALLIES = 16 };

struct tally {
    char prefix[5];
    unsigned long launched[KERNELS];
};
static struct tally tallies[TALLIES];

static struct runtime {
    const char *path;
    void *library;
    struct functions functions;
    struct family family;
    struct tally *tally; /* NULL: not open */
    hsa_queue_t *queue;
    void *kernarg;
} runtimes[RUNTIMES];
static unsigned runtime_count;

static void speak_to(struct runtime *r)
{
    now = &r->functions;
    kernarg_block = r->kernarg;
}

static void load_runtime(struct runtime *r)
{
    r->library = dlopen(r->path, RTLD_NOW | RTLD_LOCAL);
    if (!r->library)
        die(dlerror());
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *function = dlsym(r->library, table[i].name);
        if (!function)
            die(table[i].name);
        memcpy((char *)&r->functions + table[i].offset, &function, sizeof function);
    }
}

static struct tally *tally_of(const char *prefix)
{
    struct tally *t = tallies;
    while (*t->prefix && strcmp(t->prefix, prefix) != 0)
        if (++t == tallies + TALLIES)
            die("too many prefixes");
    snprintf(t->prefix, sizeof t->prefix, "%s", prefix);
    return t;
}

static void open_one(struct runtime *r, const char *prefix)
{
    if (!r->library)
        load_runtime(r);
    speak_to(r);
    if (hsa_init() != HSA_STATUS_SUCCESS) { /* some releases can start only once in a process */
        puts("refused");
        return;
    }
    if (!open_runtime())
        die("no GPU");
    r->kernarg = kernarg_block;
    must(hsa_shut_down(), "shut down"); /* open_runtime has started it a second time */
    load_family(&r->family, prefix);
    r->queue = open_queue(4096);
    r->tally = tally_of(prefix);
}

static void close_one(struct runtime *r)
{
    speak_to(r);
    must(hsa_queue_destroy(r->queue), "destroy");
    unload_family(&r->family);
    must(hsa_shut_down(), "shut down");
    r->tally = NULL;
}

static void run_on_runtimes(struct runtime *first, const struct runtime *end, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        for (struct runtime *r = first; r < end; r++) {
            if (!r->tally)
                continue;
            speak_to(r);
            launch(r->queue, r->family.object[i % KERNELS]);
            r->tally->launched[i % KERNELS]++;
        }
        if (i % 16 == 15)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    for (struct runtime *r = first; r < end; r++)
        if (r->tally) {
            speak_to(r);
            drain(r->queue);
        }
}

static void print_done(void)
{
    for (unsigned t = 0; t < TALLIES; t++)
        for (unsigned k = 0; k < KERNELS; k++)
            if (tallies[t].launched[k])
                printf("launched %s%02u %lu\n", tallies[t].prefix, k, tallies[t].launched[k]);
    puts("done");
}

int main(int argc, char **argv)
{
    char line[128], prefix[5];
    unsigned which;
    unsigned long n;
    for (; runtime_count < RUNTIMES && (int)runtime_count + 1 < argc; runtime_count++)
        runtimes[runtime_count].path = argv[runtime_count + 1];
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        struct runtime *r = sscanf(line, "%*s %u", &which) == 1 && which < runtime_count ? &runtimes[which] : NULL;
        if (r && !r->tally && sscanf(line, "open %*u %4s", prefix) == 1 && strlen(prefix) == 4)
            open_one(r, prefix);
        else if (r && r->tally && sscanf(line, "run %*u %lu", &n) == 1)
            run_on_runtimes(r, r + 1, n);
        else if (sscanf(line, "both %lu", &n) == 1)
            run_on_runtimes(runtimes, runtimes + runtime_count, n);
        else if (r && r->tally && strncmp(line, "close ", 6) == 0)
            close_one(r);
        else if (r && r->library && !r->tally && strncmp(line, "drop ", 5) == 0) {
            dlclose(r->library);
            r->library = NULL;
        } else if (r && r->tally && strncmp(line, "again ", 6) == 0) {
            speak_to(r);
            must(hsa_init(), "init again");
            must(hsa_shut_down(), "shut down once");
        } else if (strcmp(line, "done\n") == 0)
            print_done();
        else
            die("unknown command");
        puts("ok");
        fflush(stdout);
    }
    for (unsigned i = 0; i < runtime_count; i++)
        if (runtimes[i].tally)
            close_one(&runtimes[i]);
    return 0;
}
