/* launch_segment_preload.c - an HSA tool that makes a segment of a version that no viewer knows, as a much older or
 * newer library would. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/segment.h"

__attribute__((visibility("default"))) bool OnLoad(void *table, uint64_t version, uint64_t failed,
                                                   const char *const *names);

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    char page[4096] = "";
    struct rtl_header header = {.magic = RTL_SEGMENT_MAGIC, .major = 99};
    int fd = memfd_create(RTL_SEGMENT_NAME, MFD_CLOEXEC);
    (void)table;
    (void)version;
    (void)failed;
    (void)names;
    memcpy(page, &header, sizeof header < sizeof page ? sizeof header : sizeof page);
    return fd >= 0 && write(fd, page, sizeof page) == sizeof page;
}
