/*
 * Reads the memory of another process: /proc/PID/mem and process_vm_readv. It never stops, signals or writes the
 * process; the memory may change during a read and holds whatever its owner wants.
 *
 * The kernel decides who may read (as for ptrace): the process's user and group, unless a security module demands more,
 * or root. Threads: reading has no state, so several may read.
 */
#ifndef RTL_OBSERVE_TARGET_MEMORY_H
#define RTL_OBSERVE_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rtl_target_memory {
    pid_t pid;   /* 0: a file stands for the memory (tests); its offsets are the addresses */
    int fd;      /* /proc/PID/mem: of the program that ran at open, also after an exec */
    int pagemap; /* /proc/PID/pagemap, or -1: all pages count as present */
};

/* One piece of a batch: bytes at an address of the target; `ok`: all of them were read. */
struct rtl_target_piece {
    uint64_t at;
    void *to;
    size_t bytes;
    bool ok;
};

/* 0 or -errno. */
int rtl_target_memory_open(pid_t pid, struct rtl_target_memory *memory);
void rtl_target_memory_close(struct rtl_target_memory *memory);

bool rtl_target_read(const struct rtl_target_memory *memory, uint64_t at, void *to, size_t bytes);
/* Read the pieces in order, with as few system calls as possible. */
void rtl_target_read_pieces(const struct rtl_target_memory *memory, struct rtl_target_piece *pieces, size_t count);
/* Read a string of at most `size` - 1 bytes and terminate it; false if it can't be read or is longer. */
bool rtl_target_read_string(const struct rtl_target_memory *memory, uint64_t at, char *to, size_t size);

/* False once the opened program has gone. `at`: an address that it had. */
bool rtl_target_memory_exists(const struct rtl_target_memory *memory, uint64_t at);

struct rtl_target_region {
    uint64_t from, to;
};
enum { RTL_TARGET_REGIONS = 64 };

/* Find up to RTL_TARGET_REGIONS regions of [*from, to) whose pages are present or, with `swapped`, swapped out; set
 * *from to the start of the next call. Untouched pages hold nothing, and reading them would allocate them in the
 * target. Both addresses are multiples of a page. Without a pagemap: everything; for a process, nothing unless
 * `swapped` is set. */
uint32_t rtl_target_regions(const struct rtl_target_memory *memory, bool swapped, uint64_t *from, uint64_t to,
                            struct rtl_target_region regions[RTL_TARGET_REGIONS]);

#endif
