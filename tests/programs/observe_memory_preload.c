/*
 * observe_memory_preload.c - maps the runtime's system memory like another release. When the runtime calls madvise,
 * which it does before it registers the memory with the driver, the memory is mapped anew as RTL_TEST_MEMORY says. For
 * --preload.
 *
 * - marked: private, not inherited by fork (ROCm up to 7.0)
 * - shared: shared with children (between these two)
 * - private: like other memory of the process (ROCm 7.2.4)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int madvise(void *at, size_t bytes, int advice);

/* True for readable and writable host memory; a device file's mapping must not change. */
static int is_anonymous(unsigned long at)
{
    char line[512], rights[5];
    unsigned long from, to, inode;
    int anonymous = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &from, &to, rights, &inode) == 4 && from <= at && at < to)
            anonymous = strncmp(rights, "rw", 2) == 0 && (!inode || strstr(line, "/dev/zero"));
    if (maps)
        fclose(maps);
    return anonymous;
}

int madvise(void *at, size_t bytes, int advice)
{
    const char *way = getenv("RTL_TEST_MEMORY");
    int hugepage_or_dontfork = MADV_DONTFORK | MADV_HUGEPAGE; /* the runtime uses these constants as bits */
    if (way && (advice == MADV_DONTFORK || advice == MADV_NORMAL || advice == hugepage_or_dontfork) &&
        is_anonymous((unsigned long)at)) {
        int shared = strcmp(way, "shared") == 0;
        if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1,
                 0) == MAP_FAILED)
            return -1;
        advice = strcmp(way, "marked") == 0 ? MADV_DONTFORK : MADV_NORMAL;
    }
    return (int)syscall(SYS_madvise, at, bytes, advice);
}
