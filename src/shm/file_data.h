/*
 * Finds data in sparse files, so that holes cost a reader nothing. The kernel passes all pages of data to find their
 * end, so this asks it once for each piece of data.
 */
#ifndef RTL_SHM_FILE_DATA_H
#define RTL_SHM_FILE_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The piece found last: a hole from `asked` to `from`, then data up to `to`. All 0: none. */
struct rtl_file_data {
    off_t asked, from, to;
};

/* Find the first piece of data from `at` on; INT64_MAX if there is none. False: not known (a file system without
 * holes). */
bool rtl_file_data_next(int fd, struct rtl_file_data *known, uint64_t at, uint64_t *from, uint64_t *to);

/* Read exactly `bytes` bytes, also after interrupts and short reads; false if the file is shorter. */
bool rtl_file_read(int fd, void *to, size_t bytes, uint64_t at);

#endif
