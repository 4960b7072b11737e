/* Copies the API segment out of a process (hip_api_reader.h). */
#include "shm/hip_api_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/file_data.h"
#include "shm/process.h"
#include "shm/reader_private.h"

#define LINK_TEXT "/memfd:" RTL_HIP_API_NAME " (deleted)"

enum { CANDIDATES_MAX = 16 };

/* Whose it is; 0 when it says nothing that can be believed. */
static uint64_t maker(int fd)
{
    struct rtl_hip_api_header h;
    return rtl_file_read(fd, &h, sizeof h, 0) && h.magic == RTL_HIP_API_MAGIC ? h.pid : 0;
}

enum rtl_reader_status rtl_hip_api_open(pid_t pid, int *fd, char *why, size_t why_bytes)
{
    struct rtl_process process;
    char path[64], link[sizeof LINK_TEXT + 1];
    int error = rtl_process_read(pid, &process), candidates = 0, refused = 0, left = RTL_FILES_MAX;
    uint64_t inherited = 0;
    *fd = -1;
    if (error)
        return rtl_explain_missing(pid, error, why, why_bytes);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return rtl_explain_permission(&process, why, why_bytes);
    for (struct dirent *e; *fd < 0 && candidates < CANDIDATES_MAX && left-- && (e = readdir(dir));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
            snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, e->d_name) >= (int)sizeof path)
            continue;
        ssize_t n = readlink(path, link, sizeof link - 1);
        if (n != (ssize_t)strlen(LINK_TEXT) || memcmp(link, LINK_TEXT, (size_t)n) != 0)
            continue;
        candidates++;
        int found = rtl_open_memfd_link(path, O_RDONLY, false);
        if (found < 0) {
            refused = -found;
            continue;
        }
        uint64_t made_by = maker(found);
        if (made_by && made_by != (uint64_t)process.innermost) {
            inherited = made_by;
            close(found);
            continue;
        }
        *fd = found;
    }
    closedir(dir);
    if (*fd >= 0)
        return RTL_READER_OK;
    if (refused == EACCES || refused == EPERM)
        return rtl_explain_permission(&process, why, why_bytes);
    if (inherited)
        return rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                           "process %d (%s) is a fork of process %d, whose calls are recorded, and its own are not",
                           (int)pid, process.name, (int)inherited);
    return rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                       "process %d (%s) records no calls of HIP: it has made none so far, or wasn't started with "
                       "RTL_MODE=hip LD_PRELOAD=librtl-hip.so",
                       (int)pid, process.name);
}

uint32_t rtl_hip_api_read_text(int fd, uint32_t row, char text[RTL_HIP_API_TEXT], unsigned *kind)
{
    struct rtl_hip_api_row r;
    if (row >= RTL_HIP_API_ROWS || !rtl_file_read(fd, &r, sizeof r, RTL_HIP_API_ROWS_AT + (uint64_t)row * sizeof r) ||
        r.state != 1)
        return 0;
    memcpy(text, r.text, RTL_HIP_API_TEXT);
    if (kind)
        *kind = r.kind;
    return r.text_bytes < RTL_HIP_API_TEXT ? r.text_bytes : RTL_HIP_API_TEXT;
}

bool rtl_hip_api_read_launches(int fd, uint32_t kernel, struct rtl_hip_api_buckets *out)
{
    return kernel < RTL_HIP_API_KERNELS &&
           rtl_file_read(fd, out, sizeof *out, RTL_HIP_API_LAUNCH_BUCKETS_AT + (uint64_t)kernel * sizeof *out);
}

bool rtl_hip_api_read_pair(int fd, const struct rtl_hip_api_copy *copy, uint32_t number,
                           struct rtl_hip_api_buckets *out)
{
    return number < RTL_HIP_API_PAIRS &&
           rtl_file_read(fd, out, sizeof *out,
                         copy->header.pairs_at + RTL_HIP_API_PAIR_BUCKETS_AT + (uint64_t)number * sizeof *out);
}

/* What the process never wrote isn't read, whatever it says about it. */
static bool is_there(int fd, struct rtl_file_data *known, uint64_t at, size_t bytes)
{
    uint64_t from, to;
    return !rtl_file_data_next(fd, known, at, &from, &to) || from < at + bytes;
}

/* Adds one cell to a row: what other threads counted of it. */
static bool add_cell(int fd, struct rtl_file_data *known, struct rtl_hip_api_row_copy *row,
                     const struct rtl_hip_api_counters *c, uint32_t cell)
{
    struct rtl_hip_api_buckets buckets;
    uint64_t at = RTL_HIP_API_BUCKETS_AT + (uint64_t)cell * sizeof buckets;
    if (!is_there(fd, known, at, sizeof buckets))
        return true;
    if (!rtl_file_read(fd, &buckets, sizeof buckets, at))
        return false;
    if (!row->buckets && !(row->buckets = calloc(1, sizeof *row->buckets)))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_BUCKETS; i++) {
        row->buckets->count[i] += buckets.count[i];
        row->calls += buckets.count[i];
    }
    row->total_ns += c->total_ns;
    row->most_ns = c->most_ns > row->most_ns ? c->most_ns : row->most_ns;
    row->bytes += c->bytes;
    row->errors += c->errors;
    return true;
}

static void take_row(struct rtl_hip_api_row_copy *row, const struct rtl_hip_api_row *r)
{
    memcpy(row->text, r->text, sizeof row->text);
    row->text_bytes = r->text_bytes < RTL_HIP_API_TEXT ? r->text_bytes : RTL_HIP_API_TEXT;
    row->kind = r->kind;
    row->open = r->open;
    row->in_use = r->in_use;
    row->codes_more = r->codes_more;
    memcpy(row->code, r->code, sizeof row->code);
}

/* The cells of one block: its counters before its buckets, as the contract has it. */
static bool read_block(int fd, struct rtl_file_data *known, struct rtl_hip_api_row_copy *rows, const bool *ready,
                       uint32_t block)
{
    struct rtl_hip_api_counters counters[RTL_HIP_API_FUNCTIONS];
    uint32_t count = block ? RTL_HIP_API_FUNCTIONS : RTL_HIP_API_ROWS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = i % RTL_HIP_API_FUNCTIONS, cell = RTL_HIP_API_CELL(block, i);
        if (!n &&
            !rtl_file_read(fd, counters, sizeof counters, RTL_HIP_API_COUNTERS_AT + (uint64_t)cell * sizeof *counters))
            return false;
        if (ready[i] && counters[n].calls && !add_cell(fd, known, &rows[i], &counters[n], cell))
            return false;
    }
    return true;
}

static bool read_rows(int fd, struct rtl_hip_api_row_copy *rows, uint64_t blocks)
{
    struct rtl_hip_api_row r[16];
    const uint32_t at_once = sizeof r / sizeof *r;
    struct rtl_file_data known = {0, 0, 0};
    bool ready[RTL_HIP_API_ROWS];
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i += at_once) {
        if (!rtl_file_read(fd, r, sizeof r, RTL_HIP_API_ROWS_AT + (uint64_t)i * sizeof *r))
            return false;
        for (uint32_t n = 0; n < at_once; n++) {
            ready[i + n] = r[n].state == 1;
            if (ready[i + n])
                take_row(&rows[i + n], &r[n]);
        }
    }
    for (uint32_t block = 0; block < blocks; block++)
        if (!read_block(fd, &known, rows, ready, block))
            return false;
    return true;
}

/* Rows that were neither called nor are open are left out. */
static void compact_rows(struct rtl_hip_api_copy *copy)
{
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++) {
        struct rtl_hip_api_row_copy *row = &copy->rows[i];
        bool used = row->calls || row->open || row->in_use;
        if (!used)
            free(row->buckets);
        else if (copy->count != i)
            copy->rows[copy->count] = *row;
        if (!used || copy->count != i)
            memset(row, 0, sizeof *row);
        copy->count += used;
    }
}

/* A parent's number is smaller than its child's, whatever the segment says: nobody who goes up goes round. */
static bool read_nodes(int fd, struct rtl_hip_api_copy *copy)
{
    uint64_t used = copy->header.nodes_used < RTL_HIP_API_NODES ? copy->header.nodes_used : RTL_HIP_API_NODES;
    if (!used)
        return true;
    copy->nodes = calloc(used, sizeof *copy->nodes);
    copy->node_text = calloc(used, sizeof *copy->node_text);
    copy->node_text_bytes = calloc(used, 1);
    if (!copy->nodes || !copy->node_text || !copy->node_text_bytes ||
        !rtl_file_read(fd, copy->nodes, used * sizeof *copy->nodes, RTL_HIP_API_NODES_AT))
        return false;
    copy->node_count = (uint32_t)used;
    for (uint32_t i = 0; i < used; i++) {
        struct rtl_hip_api_node *node = &copy->nodes[i];
        if (node->state != 1 || (i >= RTL_HIP_API_NODE_FIRST && node->parent >= i))
            memset(node, 0, sizeof *node);
        if (i < RTL_HIP_API_NODE_FIRST)
            node->parent = RTL_HIP_API_NODE_NONE;
        if (i != RTL_HIP_API_NODE_NONE && node->state)
            copy->node_text_bytes[i] = (uint8_t)rtl_hip_api_read_text(fd, node->row, copy->node_text[i], NULL);
    }
    return true;
}

static bool read_launches(int fd, struct rtl_hip_api_copy *copy)
{
    uint64_t used = copy->header.kernels_used < RTL_HIP_API_KERNELS ? copy->header.kernels_used : RTL_HIP_API_KERNELS;
    if (!used)
        return true;
    struct rtl_hip_api_counters *counters = malloc(used * sizeof *counters);
    copy->launches = calloc(used, sizeof *copy->launches);
    bool fine =
        counters && copy->launches && rtl_file_read(fd, counters, used * sizeof *counters, RTL_HIP_API_LAUNCHES_AT);
    for (uint32_t i = 0; fine && i < used; i++)
        if (counters[i].calls)
            copy->launches[copy->launch_count++] = (struct rtl_hip_api_launches_copy){
                .kernel = i,
                .calls = counters[i].calls,
                .total_ns = counters[i].total_ns,
                .most_ns = counters[i].most_ns,
            };
    free(counters);
    return fine;
}

/* Where the header says that there are none, or that they lie where they can't, there are none. */
static bool read_pairs(int fd, struct rtl_hip_api_copy *copy, uint64_t size)
{
    const struct rtl_hip_api_header *h = &copy->header;
    uint64_t used = h->pairs_used < RTL_HIP_API_PAIRS ? h->pairs_used : RTL_HIP_API_PAIRS;
    if (h->minor < 2 || !used || h->pairs_at < RTL_HIP_API_SIZE || h->pairs_at % 64 || size < RTL_HIP_API_PAIRS_SIZE ||
        h->pairs_at > size - RTL_HIP_API_PAIRS_SIZE)
        return true;
    struct rtl_hip_api_pair *pairs = malloc(used * sizeof *pairs);
    copy->pairs = calloc(used, sizeof *copy->pairs);
    bool fine = pairs && copy->pairs && rtl_file_read(fd, pairs, used * sizeof *pairs, h->pairs_at);
    for (uint32_t i = 0; fine && i < used; i++) {
        const struct rtl_hip_api_pair *pair = &pairs[i];
        if (pair->calls && pair->node != RTL_HIP_API_NODE_NONE && pair->node < copy->node_count &&
            copy->nodes[pair->node].state == 1 && pair->kernel < RTL_HIP_API_KERNELS)
            copy->pairs[copy->pair_count++] =
                (struct rtl_hip_api_pair_copy){i, pair->node, pair->kernel, pair->total_ns, pair->most_ns};
    }
    free(pairs);
    return fine;
}

static bool read_links(int fd, struct rtl_hip_api_copy *copy, uint64_t size)
{
    struct rtl_hip_api_queue queues[RTL_HIP_API_QUEUES];
    copy->links = true;
    if (!rtl_file_read(fd, copy->thread, sizeof copy->thread, RTL_HIP_API_THREADS_AT) ||
        !rtl_file_read(fd, queues, sizeof queues, RTL_HIP_API_QUEUES_AT))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_QUEUES; i++) {
        copy->linked.linked += queues[i].linked;
        for (uint32_t j = 0; j < RTL_HIP_API_UNLINKED_LIMIT; j++)
            copy->linked.unlinked[j] += queues[i].unlinked[j];
    }
    return read_nodes(fd, copy) && read_launches(fd, copy) && read_pairs(fd, copy, size);
}

/* A library of minor version 0 made a segment that ends where those of today have their threads. */
static uint64_t least_size(const struct rtl_hip_api_header *h)
{
    return h->minor ? RTL_HIP_API_SIZE : RTL_HIP_API_THREADS_AT;
}

enum rtl_reader_status rtl_hip_api_read(int fd, struct rtl_hip_api_copy *copy, char *why, size_t why_bytes)
{
    struct rtl_hip_api_header *h = &copy->header;
    struct stat st;
    memset(copy, 0, sizeof *copy);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !rtl_file_read(fd, h, sizeof *h, 0) ||
        h->magic != RTL_HIP_API_MAGIC)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment is damaged, or still being made");
    if (h->major != RTL_HIP_API_MAJOR)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes,
                           "the API segment is of version %u.%u, this rtl-top reads %u: use the rtl-top that came with "
                           "the librtl-hip.so of the process",
                           h->major, h->minor, RTL_HIP_API_MAJOR);
    /* a minor version may append, but what this one knows stays where it is */
    if ((uint64_t)st.st_size < least_size(h) || h->rows_at != RTL_HIP_API_ROWS_AT ||
        h->memory_at != RTL_HIP_API_MEMORY_AT || h->counters_at != RTL_HIP_API_COUNTERS_AT ||
        h->buckets_at != RTL_HIP_API_BUCKETS_AT)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment is damaged: its parts lie elsewhere");
    h->library_version[sizeof h->library_version - 1] = '\0';
    uint64_t blocks = h->blocks_used < RTL_HIP_API_BLOCKS ? h->blocks_used : RTL_HIP_API_BLOCKS;
    blocks = blocks ? blocks : 1;
    copy->rows = calloc(RTL_HIP_API_ROWS, sizeof *copy->rows);
    bool fine = copy->rows && rtl_file_read(fd, copy->memory, sizeof copy->memory, RTL_HIP_API_MEMORY_AT);
    fine = fine && (!h->minor || read_links(fd, copy, (uint64_t)st.st_size));
    fine = fine && read_rows(fd, copy->rows, blocks);
    if (fine)
        compact_rows(copy);
    return fine ? RTL_READER_OK
                : rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment could not be read: %s",
                              copy->rows ? "it is shorter than it says" : "out of memory");
}

void rtl_hip_api_free(struct rtl_hip_api_copy *copy)
{
    for (uint32_t i = 0; copy->rows && i < RTL_HIP_API_ROWS; i++)
        free(copy->rows[i].buckets);
    free(copy->rows);
    free(copy->nodes);
    free(copy->node_text);
    free(copy->node_text_bytes);
    free(copy->launches);
    free(copy->pairs);
    memset(copy, 0, sizeof *copy);
}
