/*
 * The memory of another process, read-only: /proc/PID/mem opened for reading and process_vm_readv. Nothing is stopped,
 * signalled or written; what is read may change while it is read, and says whatever its owner wants it to.
 *
 * Who may do that is the kernel's decision (as for ptrace): the process's user and group, where no security module asks
 * for more, or root. Threads: reading has no state, so several may.
 */
#ifndef RTL_OBSERVE_TARGET_MEMORY_H
#define RTL_OBSERVE_TARGET_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rtl_target_memory {
    pid_t pid;   /* 0: a file stands for the memory, for tests */
    int fd;      /* /proc/PID/mem: of the program that ran when it was opened, also after an exec */
    int pagemap; /* /proc/PID/pagemap, or -1: then all pages count as being there */
};

/* One piece of a batch: bytes at an address of the target, `ok` when all of them were read. */
struct rtl_target_piece {
    uint64_t at;
    void *to;
    size_t bytes;
    bool ok;
};

/* 0 or -errno. */
int rtl_target_memory_open(pid_t pid, struct rtl_target_memory *memory);
/* A file as memory: its offsets are the addresses. Takes over the descriptor. */
void rtl_target_memory_of_file(int fd, struct rtl_target_memory *memory);
void rtl_target_memory_close(struct rtl_target_memory *memory);

bool rtl_target_read(const struct rtl_target_memory *memory, uint64_t at, void *to, size_t bytes);
/* In the order of the pieces, with as few calls as possible. */
void rtl_target_read_pieces(const struct rtl_target_memory *memory, struct rtl_target_piece *pieces, size_t count);
/* A string of at most `size` - 1 bytes, terminated; false when it can't be read or is longer. */
bool rtl_target_read_string(const struct rtl_target_memory *memory, uint64_t at, char *to, size_t size);

/* False once the program whose memory was opened is gone. `at`: an address that it had. */
bool rtl_target_memory_there(const struct rtl_target_memory *memory, uint64_t at);

struct rtl_target_region {
    uint64_t from, to;
};
enum { RTL_TARGET_REGIONS = 64 };

/*
 * Finds up to RTL_TARGET_REGIONS regions of [*from, to) whose pages are present or, with `swapped`, swapped out; sets
 * *from to where the next call goes on. Pages that were never touched hold nothing, and reading them would allocate
 * them in the target. Both addresses are multiples of a page. Without a pagemap: everything; for a process, nothing
 * unless `swapped` is set.
 */
uint32_t rtl_target_regions(const struct rtl_target_memory *memory, bool swapped, uint64_t *from, uint64_t to,
                            struct rtl_target_region regions[RTL_TARGET_REGIONS]);

#endif
