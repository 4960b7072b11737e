/* Memory that viewers can open: files without a name (memfd), and sparse mappings. It is made inside other programs,
 * so it meets whatever can kill or disturb one: a file size limit (SIGXFSZ), descriptor limits, mlockall, huge
 * pages, core dumps, kernels without the newer flags and seals. */
#ifndef RTL_BASE_MEMORY_FILE_H
#define RTL_BASE_MEMORY_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Some libc headers that we build with don't have these. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* The descriptor is this one or higher, so that the application gets the same numbers as without us. */
enum { RTL_DESCRIPTOR_FLOOR = 512 };

/* False where growing a file to that size raises SIGXFSZ, which kills by default. */
static inline bool rtl_file_size_allowed(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

/* Return a descriptor of a new, empty memfd, or -1 and errno. */
static inline int rtl_memory_file(const char *name)
{
    struct rlimit limit;
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
        fd = memfd_create(name, flags);
    if (fd < 0)
        return -1;
    int floor = RTL_DESCRIPTOR_FLOOR;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= (rlim_t)floor)
        floor = (int)(limit.rlim_cur / 4 * 3);
    int high = fcntl(fd, F_DUPFD_CLOEXEC, floor);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Afterwards no process, root included, can resize the file or map it writable once more. */
static inline void rtl_memory_file_seal(int fd)
{
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) != 0)
        fcntl(fd, F_ADD_SEALS, seals); /* before Linux 5.1 */
}

/* Map the file, or zeroed private memory where fd is -1; NULL and errno on failure. The kernel adds pages as they
 * are touched. The mapping has no access first: under mlockall(MCL_FUTURE) the kernel fills an accessible one at
 * once. No huge pages: the first touch would cost 2 MB. Files are not in core dumps: writing one makes a page of
 * each hole. */
static inline void *rtl_map_sparse(int fd, size_t bytes)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *base = mmap(NULL, bytes, PROT_NONE, flags | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED)
        return NULL;
    munlock(base, bytes);
    madvise(base, bytes, MADV_NOHUGEPAGE);
    if (fd >= 0)
        madvise(base, bytes, MADV_DONTDUMP);
    if (mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0)
        return base;
    int error = errno;
    munmap(base, bytes);
    errno = error;
    return NULL;
}

#endif
