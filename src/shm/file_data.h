/*
 * Where a sparse file has data. What a process never wrote costs whoever reads nothing; and since the kernel walks
 * along all pages of data to find its end, it is asked once for each piece, and not for each of what lies in it. Pure
 * but for lseek.
 */
#ifndef RTL_SHM_FILE_DATA_H
#define RTL_SHM_FILE_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The piece that was found last: from `asked` on nothing up to `from`, then data up to `to`. All 0: none. */
struct rtl_file_data {
    off_t asked, from, to;
};

/* The first piece of data from `at` on, INT64_MAX where there is none. False: not known, a file system without holes.
 */
bool rtl_file_data_next(int fd, struct rtl_file_data *known, uint64_t at, uint64_t *from, uint64_t *to);

/* Reads exactly `bytes` bytes; false when the file is shorter. */
bool rtl_file_read(int fd, void *to, size_t bytes, uint64_t at);

#endif
