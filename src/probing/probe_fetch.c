/* Fetches a kernel's code. See probe_fetch.h. */
#include "probing/probe_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "observe/debug_list.h"
#include "observe/kernel_code.h"
#include "probe/code_object.h"
#include "shm/process.h"

enum { COMPARED_MAX = 128 << 10, AT_ONCE = 64 << 10 }; /* bytes of code compared with the loaded ones */
static const uint64_t KEPT_MAX = 512ull << 20;         /* bytes of code objects kept, each once */
enum { ONE_HOLDS = 1, BOTH_HOLD };

struct rtl_probe_fetch {
    atomic_uint holders; /* the thread and the caller: the last one frees (acquire, release) */
    atomic_bool ready;   /* thread; release: all members below are constant afterwards */
    pid_t pid;
    char *kernel;
    struct rtl_target_memory memory; /* open while the thread runs */
    struct rtl_probe_fetch_found found;
    uint64_t kept;
    void *bytes[RTL_PROBE_CODES_MAX]; /* owner of the copy's bytes; NULL if another entry owns them */
};

static void release_fetch(struct rtl_probe_fetch *c)
{
    if (atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < RTL_PROBE_CODES_MAX; i++)
        free(c->bytes[i]);
    free(c->kernel);
    free(c);
}

/* Compare bytes of the code object with the process's memory. */
enum sight { UNSEEN, SAME, OTHERS };
static enum sight compare_with_loaded(const struct rtl_probe_fetch *c, const uint8_t *bytes, size_t size, uint64_t at)
{
    uint8_t there[AT_ONCE];
    for (size_t n; size; bytes += n, at += n, size -= n) {
        n = size < sizeof there ? size : sizeof there;
        if (!rtl_target_read(&c->memory, at, there, n))
            return UNSEEN;
        if (memcmp(bytes, there, n) != 0)
            return OTHERS;
    }
    return SAME;
}

/* False if the loaded bytes differ: the file may have been replaced. True also if the memory can't be read. */
static bool is_code_loaded(const struct rtl_probe_fetch *c, const struct rtl_kernel_code *code, bool *compared)
{
    struct rtl_code_object object;
    struct rtl_kernel_descriptor descriptor;
    const uint8_t *bytes;
    uint64_t address;
    if (rtl_code_open(&object, code->bytes, code->size) || !rtl_code_find_kernel(&object, c->kernel, &address) ||
        rtl_code_at(&object, address, false, &bytes) < sizeof descriptor)
        return true; /* the patch explains the fault */
    memcpy(&descriptor, bytes, sizeof descriptor);
    enum sight head = compare_with_loaded(c, bytes, sizeof descriptor, code->object);
    uint64_t entry = address + (uint64_t)descriptor.entry, length = rtl_code_function_bytes(&object, entry);
    size_t there = rtl_code_at(&object, entry, true, &bytes);
    there = length && length < there ? (size_t)length
                                     : there; /* a stripped object has no length: compare the following bytes, too */
    there = there < COMPARED_MAX ? there : COMPARED_MAX;
    enum sight text = there ? compare_with_loaded(c, bytes, there, code->object + (uint64_t)descriptor.entry) : UNSEEN;
    *compared = head == SAME && text == SAME;
    return head != OTHERS && text != OTHERS;
}

static bool keep_code(void *context, const struct rtl_kernel_code *code)
{
    struct rtl_probe_fetch *c = context;
    struct rtl_probe_fetch_found *f = &c->found;
    struct rtl_probe_fetch_copy *copy = &f->copy[f->count];
    *copy = (struct rtl_probe_fetch_copy){.size = code->size, .object = code->object};
    if (!is_code_loaded(c, code, &copy->compared)) {
        f->wrong = RTL_PROBING_CODE_CHANGED;
        return true;
    }
    for (uint32_t i = 0; i < f->count && !copy->bytes; i++) /* several GPUs have the same code */
        if (f->copy[i].size == code->size && memcmp(f->copy[i].bytes, code->bytes, code->size) == 0)
            copy->bytes = f->copy[i].bytes;
    if (!copy->bytes && code->size <= KEPT_MAX - c->kept && (c->bytes[f->count] = malloc(code->size))) {
        copy->bytes = memcpy(c->bytes[f->count], code->bytes, code->size);
        c->kept += code->size;
    }
    f->count += copy->bytes != NULL;
    return f->count < RTL_PROBE_CODES_MAX;
}

/* An exiting process frees its memory first and then seems to have no code, or to forbid reading. */
static bool has_exited(pid_t pid)
{
    enum { TRIES = 20, EXITING = 0x4 /* PF_EXITING */ };
    for (int i = 0; i < TRIES; i++) {
        struct rtl_process process;
        int error = rtl_process_read(pid, &process);
        if (error == -ESRCH || (!error && rtl_process_is_zombie(&process)))
            return true;
        if (error || !(process.flags & EXITING))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
    }
    return false; /* only its first thread has ended */
}

static void fetch_code(struct rtl_probe_fetch *c)
{
    struct rtl_mappings mappings;
    c->found.wrong = RTL_PROBING_CODE_DENIED;
    if (rtl_target_memory_open(c->pid, &c->memory))
        return;
    if (!rtl_mappings_read(c->pid, &mappings)) {
        c->found.wrong = RTL_PROBING_NO_CODE;
        struct rtl_debug_lists lists;
        bool has_lists = rtl_debug_lists_find(&c->memory, &mappings, &lists);
        rtl_mappings_free(&mappings);
        int files = rtl_proc_open(c->pid, "root", O_PATH | O_DIRECTORY);
        /* a list that changes during a read: its results count; without results try again */
        for (int tries = 0; has_lists && !c->found.count && tries < 3; tries++)
            if (rtl_kernel_code_find(&c->memory, &lists, files, c->kernel, keep_code, c))
                break;
        if (files >= 0)
            close(files);
    }
    rtl_target_memory_close(&c->memory);
    if (c->found.count)
        c->found.wrong = RTL_PROBING_NOT;
}

static void *fetch_thread(void *context)
{
    struct rtl_probe_fetch *c = context;
    fetch_code(c);
    enum rtl_probe_plan_over *wrong = &c->found.wrong;
    if (*wrong == RTL_PROBING_NO_CODE || *wrong == RTL_PROBING_CODE_DENIED)
        *wrong = has_exited(c->pid) ? RTL_PROBING_EXITED : *wrong;
    atomic_store_explicit(&c->ready, true, memory_order_release);
    release_fetch(c);
    return NULL;
}

struct rtl_probe_fetch *rtl_probe_fetch_find(pid_t pid, const char *kernel)
{
    struct rtl_probe_fetch *c = calloc(1, sizeof *c);
    if (!c || !(c->kernel = strdup(kernel))) {
        free(c);
        return NULL;
    }
    c->pid = pid;
    atomic_init(&c->holders, BOTH_HOLD);
    if (rtl_thread_start(fetch_thread, c, 0) != 0) {
        atomic_store_explicit(&c->holders, ONE_HOLDS, memory_order_relaxed);
        release_fetch(c);
        return NULL;
    }
    return c;
}

void rtl_probe_fetch_free(struct rtl_probe_fetch *fetch)
{
    if (fetch)
        release_fetch(fetch);
}

const struct rtl_probe_fetch_found *rtl_probe_fetch_found(const struct rtl_probe_fetch *fetch)
{
    return atomic_load_explicit(&fetch->ready, memory_order_acquire) ? &fetch->found : NULL;
}

bool rtl_probe_fetch_has(const struct rtl_probe_fetch_found *later, const struct rtl_probe_fetch_copy *copy)
{
    for (uint32_t i = 0; i < later->count; i++)
        if (later->copy[i].object == copy->object && later->copy[i].size == copy->size &&
            memcmp(later->copy[i].bytes, copy->bytes, copy->size) == 0)
            return true;
    return false;
}
