/*
 * Gives the runtime its system memory in the way of another release: mapped anew in RTL_TEST_MEMORY's way as soon as
 * the runtime advises the kernel about it, which it does before it tells the driver. For --preload.
 *
 * - marked: private, not for children of fork (ROCm up to 7.0)
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

/* Memory of the host, for reading and writing; a device's file stays as it is. */
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
    int hugepage_or_dontfork = MADV_DONTFORK | MADV_HUGEPAGE; /* the runtime has taken them for bits */
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
