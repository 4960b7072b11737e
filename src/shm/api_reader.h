/*
 * The viewer's side of the API segment (shm/api.h): finding it from a pid, refusing what can't be trusted, copying it.
 * Everything goes through pread. What comes out is bounded by this version's limits; names are untrusted bytes.
 */
#ifndef RTL_SHM_API_READER_H
#define RTL_SHM_API_READER_H

#include <sys/types.h>

#include "shm/api.h"
#include "shm/segment_reader.h"

struct rtl_api_row_copy {
    char text[RTL_API_TEXT];
    uint32_t text_bytes;
    unsigned kind;
    uint64_t calls, total_ns, most_ns, bytes, errors, open, in_use, codes_more;
    struct rtl_api_code code[RTL_API_CODES];
    struct rtl_api_buckets *buckets; /* their sum is `calls`; NULL when that is 0 */
};

struct rtl_api_copy {
    struct rtl_api_header header;
    uint32_t count;
    struct rtl_api_row_copy *rows; /* those that were called or are open, functions first */
    struct rtl_api_memory memory[RTL_API_PLACES];
};

/* The descriptor of a process's API segment, which the caller closes; statuses as of rtl_reader_open. */
enum rtl_reader_status rtl_api_open(pid_t pid, int *fd, char *why, size_t why_bytes);

/* Copies what the descriptor's file says now. rtl_api_free also after a failure. */
enum rtl_reader_status rtl_api_read(int fd, struct rtl_api_copy *copy, char *why, size_t why_bytes);
void rtl_api_free(struct rtl_api_copy *copy);

#endif
