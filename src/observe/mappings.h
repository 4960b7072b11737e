/*
 * A process's mappings from /proc/PID/smaps. Hostile: names of files may hold anything, and there may be a million
 * mappings; memory is bounded.
 */
#ifndef RTL_OBSERVE_MAPPINGS_H
#define RTL_OBSERVE_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { RTL_MAPPINGS_MAX = 1 << 18, RTL_MAPPING_NAME_MAX = 47 };

struct rtl_mapping {
    uint64_t from, to, offset, inode;
    uint64_t resident; /* bytes in memory or swapped out */
    bool read, write, shared;
    bool dontfork;                       /* not inherited by fork: madvise(MADV_DONTFORK) */
    bool device;                         /* memory of a device, not of the host */
    char name[RTL_MAPPING_NAME_MAX + 1]; /* the end of the file's name */
};

struct rtl_mappings {
    struct rtl_mapping *list; /* ascending */
    uint32_t count;
};

/* Read a process's mappings; 0 or -errno. The caller calls rtl_mappings_free. */
int rtl_mappings_read(pid_t pid, struct rtl_mappings *mappings);
/* Parse an open file; false without memory. */
bool rtl_mappings_parse(FILE *smaps, struct rtl_mappings *mappings);
void rtl_mappings_free(struct rtl_mappings *mappings);

/* Return the mapping of an address, or NULL. */
const struct rtl_mapping *rtl_mapping_of(const struct rtl_mappings *mappings, uint64_t at);

#endif
