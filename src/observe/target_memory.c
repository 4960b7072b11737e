/* Reads another process's memory. See target_memory.h. */
#include "observe/target_memory.h"
#include "shm/file_data.h"
#include "shm/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BATCH = 256, PAGE = 4096, PAGES_AT_ONCE = 4096 };
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)

int rtl_target_memory_open(pid_t pid, struct rtl_target_memory *memory)
{
    *memory = (struct rtl_target_memory){.pid = pid, .fd = -1, .pagemap = -1};
    memory->fd = rtl_proc_open(pid, "mem", O_RDONLY);
    if (memory->fd < 0)
        return -errno;
    memory->pagemap = rtl_proc_open(pid, "pagemap", O_RDONLY);
    return 0;
}

void rtl_target_memory_close(struct rtl_target_memory *memory)
{
    if (memory->fd >= 0)
        close(memory->fd);
    if (memory->pagemap >= 0)
        close(memory->pagemap);
    *memory = (struct rtl_target_memory){.fd = -1, .pagemap = -1};
}

/* True for addresses of user space: file offsets are signed. */
static bool is_address(uint64_t at, size_t bytes)
{
    return at <= INT64_MAX && bytes <= INT64_MAX - at;
}

/* Also reads what process_vm_readv can't: memory of devices, if their drivers allow it. */
static bool read_file(const struct rtl_target_memory *memory, uint64_t at, void *to, size_t bytes)
{
    return is_address(at, bytes) && rtl_file_read(memory->fd, to, bytes, at);
}

void rtl_target_read_pieces(const struct rtl_target_memory *memory, struct rtl_target_piece *pieces, size_t count)
{
    struct iovec here[BATCH], there[BATCH];
    for (size_t done = 0; done < count;) {
        size_t n = count - done < BATCH ? count - done : BATCH, whole = 0;
        ssize_t bytes = -1;
        for (size_t i = 0; i < n; i++) {
            struct rtl_target_piece *p = &pieces[done + i];
            here[i] = (struct iovec){p->to, p->bytes};
            there[i] = (struct iovec){(void *)(uintptr_t)p->at, p->bytes};
        }
        if (memory->pid)
            bytes = process_vm_readv(memory->pid, here, n, there, n, 0);
        for (; whole < n && bytes >= (ssize_t)pieces[done + whole].bytes; whole++) {
            bytes -= (ssize_t)pieces[done + whole].bytes;
            pieces[done + whole].ok = true;
        }
        if (whole < n) { /* the read stopped at this piece */
            struct rtl_target_piece *p = &pieces[done + whole++];
            p->ok = read_file(memory, p->at, p->to, p->bytes);
        }
        done += whole;
    }
}

bool rtl_target_read(const struct rtl_target_memory *memory, uint64_t at, void *to, size_t bytes)
{
    struct rtl_target_piece piece = {.at = at, .to = to, .bytes = bytes};
    rtl_target_read_pieces(memory, &piece, 1);
    return piece.ok;
}

bool rtl_target_read_string(const struct rtl_target_memory *memory, uint64_t at, char *to, size_t size)
{
    for (size_t used = 0; used < size;) { /* page by page: the page behind the end may be missing */
        size_t bytes = PAGE - (at + used) % PAGE;
        if (bytes > size - used)
            bytes = size - used;
        if (!rtl_target_read(memory, at + used, to + used, bytes))
            break;
        if (memchr(to + used, 0, bytes))
            return true;
        used += bytes;
    }
    *to = 0;
    return false;
}

bool rtl_target_memory_exists(const struct rtl_target_memory *memory, uint64_t at)
{
    char byte;
    ssize_t n = is_address(at, 1) ? pread(memory->fd, &byte, 1, (off_t)at) : -1;
    return n != 0; /* an error: the page has gone; 0 bytes: the address space has gone */
}

/* PAGEMAP_SCAN of Linux 6.7 skips holes of terabytes; declared as in <linux/fs.h>. */
struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t inverted, mask, anyof, returned;
};
struct scan_region {
    uint64_t start, end, categories;
};
#define SCAN         _IOWR('f', 16, struct scan)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)

static bool scan_regions(const struct rtl_target_memory *memory, bool swapped, uint64_t *from, uint64_t to,
                         struct rtl_target_region *regions, uint32_t *count)
{
    struct scan_region found[RTL_TARGET_REGIONS];
    struct scan scan = {.size = sizeof scan,
                        .start = *from,
                        .end = to,
                        .vec = (uint64_t)(uintptr_t)found,
                        .vec_len = RTL_TARGET_REGIONS,
                        .anyof = SCAN_PRESENT | (swapped ? SCAN_SWAPPED : 0),
                        .returned = SCAN_PRESENT | SCAN_SWAPPED};
    int n = ioctl(memory->pagemap, SCAN, &scan);
    if (n < 0 || n > RTL_TARGET_REGIONS || scan.walk_end <= *from)
        return false;
    for (*count = 0; *count < (uint32_t)n; ++*count)
        regions[*count] = (struct rtl_target_region){found[*count].start, found[*count].end};
    *from = scan.walk_end;
    return true;
}

/* Without PAGEMAP_SCAN: read 8 bytes for each page. */
static uint32_t read_regions(const struct rtl_target_memory *memory, bool swapped, uint64_t *from, uint64_t to,
                             struct rtl_target_region *regions)
{
    const uint64_t wanted = PAGE_PRESENT | (swapped ? PAGE_SWAPPED : 0);
    uint64_t entries[PAGES_AT_ONCE];
    uint32_t count = 0;
    uint64_t pages = (to - *from) / PAGE;
    size_t n = pages < PAGES_AT_ONCE ? (size_t)pages : PAGES_AT_ONCE, i = 0;
    ssize_t bytes = pread(memory->pagemap, entries, n * sizeof *entries, (off_t)(*from / PAGE * sizeof *entries));
    if (bytes < (ssize_t)sizeof *entries) {
        *from = to;
        return 0;
    }
    for (n = (size_t)bytes / sizeof *entries; i < n; i++) {
        uint64_t at = *from + i * PAGE;
        if (!(entries[i] & wanted))
            continue;
        if (count && regions[count - 1].to == at)
            regions[count - 1].to += PAGE;
        else if (count < RTL_TARGET_REGIONS)
            regions[count++] = (struct rtl_target_region){at, at + PAGE};
        else
            break;
    }
    *from += i * PAGE;
    return count;
}

uint32_t rtl_target_regions(const struct rtl_target_memory *memory, bool swapped, uint64_t *from, uint64_t to,
                            struct rtl_target_region regions[RTL_TARGET_REGIONS])
{
    uint32_t count;
    if (memory->pagemap < 0) { /* not known: all of it */
        regions[0] = (struct rtl_target_region){*from, to};
        *from = to;
        return swapped || !memory->pid;
    }
    return scan_regions(memory, swapped, from, to, regions, &count) ? count
                                                                    : read_regions(memory, swapped, from, to, regions);
}
