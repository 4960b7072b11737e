/* Finds a process's API segment and copies it into a snapshot. See hip_api_reader.h. */
#include "shm/hip_api_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/file_data.h"
#include "shm/hash.h"
#include "shm/process.h"
#include "shm/reader_private.h"

#define LINK_TEXT "/memfd:" RTL_HIP_API_NAME " (deleted)"

enum { CANDIDATES_MAX = 16 };
static const uint64_t FIRST_PAUSE_NS = 250000000, LONGEST_PAUSE_NS = 30000000000;

/* Return the pid of the segment's maker; 0 if the header can't be believed. */
static uint64_t read_maker(int fd)
{
    struct rtl_hip_api_header h;
    return rtl_file_read(fd, &h, sizeof h, 0) && h.magic == RTL_HIP_API_MAGIC ? h.pid : 0;
}

enum rtl_reader_status rtl_hip_api_open(pid_t pid, int *fd, char *why, size_t why_bytes)
{
    struct rtl_process process;
    char path[RTL_PROC_PATH_MAX], link[sizeof LINK_TEXT + 1];
    int error = rtl_process_read(pid, &process), candidates = 0, refused = 0, left = RTL_FILES_MAX;
    uint64_t inherited = 0;
    *fd = -1;
    if (error)
        return rtl_explain_missing(pid, error, why, why_bytes);
    DIR *dir = opendir(rtl_proc_path(path, pid, "fd"));
    if (!dir)
        return rtl_explain_permission(&process, why, why_bytes);
    for (struct dirent *e; *fd < 0 && candidates < CANDIDATES_MAX && left-- && (e = readdir(dir));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        ssize_t n = readlink(rtl_proc_path(path, pid, "fd/%s", e->d_name), link, sizeof link - 1);
        if (n != (ssize_t)strlen(LINK_TEXT) || memcmp(link, LINK_TEXT, (size_t)n) != 0)
            continue;
        candidates++;
        int found = rtl_open_memfd_link(path, O_RDONLY, false);
        if (found < 0) {
            refused = -found;
            continue;
        }
        uint64_t maker = read_maker(found);
        if (maker && maker != (uint64_t)process.innermost) {
            inherited = maker;
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

static uint32_t text_bytes(const struct rtl_hip_api_row *row)
{
    return row->text_bytes < RTL_HIP_API_TEXT ? row->text_bytes : RTL_HIP_API_TEXT;
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
    return text_bytes(&r);
}

/* --- copying the segment --- */

/* A row's sum over all blocks. */
struct row_sum {
    uint64_t calls, total_ns, most_ns, bytes, errors;
    struct rtl_hip_api_buckets *buckets; /* their sum is `calls`; NULL: none */
};

/* The segment's arrays as they are, and their parts of the snapshot. Cleared memory: only pages in use cost. */
struct segment_copy {
    int fd;
    uint64_t size; /* of the file */
    const struct rtl_hip_api_request *request;
    struct rtl_snapshot *to;
    struct rtl_hip_api_snapshot *api;
    uint32_t node_count, launch_count, pair_count; /* in use, bounded */
    struct rtl_hip_api_header header;
    struct rtl_hip_api_memory memory[RTL_HIP_API_PLACES];
    struct rtl_hip_api_thread thread[RTL_HIP_API_BLOCKS];
    struct rtl_hip_api_queue queue[RTL_HIP_API_QUEUES];
    struct rtl_hip_api_node node[RTL_HIP_API_NODES];
    struct rtl_hip_api_counters launch[RTL_HIP_API_KERNELS];
    struct rtl_hip_api_pair pair[RTL_HIP_API_PAIRS];
    struct rtl_hip_api_row row[RTL_HIP_API_ROWS];
    struct row_sum sum[RTL_HIP_API_ROWS];
    struct rtl_hip_api_buckets buckets;
    uint32_t place[RTL_HIP_API_NODES];         /* indexes of the nodes in the snapshot */
    uint32_t moved[RTL_HIP_API_NODES];         /* their final indexes */
    uint64_t kernel_hash[RTL_HIP_API_KERNELS]; /* by row; 0: not asked for so far */
};

/* False only for a hole of the file: the process never wrote there. */
static bool has_data(int fd, struct rtl_file_data *known, uint64_t at, size_t bytes)
{
    uint64_t from, to;
    return !rtl_file_data_next(fd, known, at, &from, &to) || from < at + bytes;
}

/* Add one cell, a block's counts of a row, to the row's sum. */
static bool add_cell(struct segment_copy *c, struct rtl_file_data *known, struct row_sum *sum,
                     const struct rtl_hip_api_counters *counters, uint32_t cell)
{
    uint64_t at = RTL_HIP_API_BUCKETS_AT + (uint64_t)cell * sizeof c->buckets;
    if (!has_data(c->fd, known, at, sizeof c->buckets))
        return true;
    if (!rtl_file_read(c->fd, &c->buckets, sizeof c->buckets, at))
        return false;
    if (!sum->buckets && !(sum->buckets = calloc(1, sizeof *sum->buckets)))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_BUCKETS; i++) {
        sum->buckets->count[i] += c->buckets.count[i];
        sum->calls += c->buckets.count[i];
    }
    sum->total_ns += counters->total_ns;
    sum->most_ns = counters->most_ns > sum->most_ns ? counters->most_ns : sum->most_ns;
    sum->bytes += counters->bytes;
    sum->errors += counters->errors;
    return true;
}

/* Add up a block's cells. The contract: read counters before buckets. */
static bool add_block(struct segment_copy *c, struct rtl_file_data *known, uint32_t block)
{
    struct rtl_hip_api_counters counters[RTL_HIP_API_FUNCTIONS];
    uint32_t count = block ? RTL_HIP_API_FUNCTIONS : RTL_HIP_API_ROWS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = i % RTL_HIP_API_FUNCTIONS, cell = RTL_HIP_API_CELL(block, i);
        if (!n && !rtl_file_read(c->fd, counters, sizeof counters,
                                 RTL_HIP_API_COUNTERS_AT + (uint64_t)cell * sizeof *counters))
            return false;
        if (c->row[i].state == 1 && counters[n].calls && !add_cell(c, known, &c->sum[i], &counters[n], cell))
            return false;
    }
    return true;
}

static bool read_rows(struct segment_copy *c)
{
    struct rtl_file_data known = {0, 0, 0};
    uint64_t used = c->header.blocks_used;
    uint32_t blocks = used < RTL_HIP_API_BLOCKS ? (uint32_t)used : RTL_HIP_API_BLOCKS;
    bool ok = rtl_file_read(c->fd, c->row, sizeof c->row, RTL_HIP_API_ROWS_AT);
    for (uint32_t block = 0; ok && block < (blocks ? blocks : 1); block++)
        ok = add_block(c, &known, block);
    return ok;
}

static bool read_pairs(struct segment_copy *c)
{
    const struct rtl_hip_api_header *h = &c->header;
    if (h->minor < 2 || h->pairs_at < RTL_HIP_API_SIZE || h->pairs_at % 64 || c->size < RTL_HIP_API_PAIRS_SIZE ||
        h->pairs_at > c->size - RTL_HIP_API_PAIRS_SIZE)
        return true; /* the segment has none, or they lie where they can't */
    c->pair_count = h->pairs_used < RTL_HIP_API_PAIRS ? (uint32_t)h->pairs_used : RTL_HIP_API_PAIRS;
    return rtl_file_read(c->fd, c->pair, c->pair_count * sizeof *c->pair, h->pairs_at);
}

/* Nodes before rows: a node is published after the row of its name. */
static bool read_links(struct segment_copy *c)
{
    const struct rtl_hip_api_header *h = &c->header;
    c->node_count = h->nodes_used < RTL_HIP_API_NODES ? (uint32_t)h->nodes_used : RTL_HIP_API_NODES;
    c->launch_count = h->kernels_used < RTL_HIP_API_KERNELS ? (uint32_t)h->kernels_used : RTL_HIP_API_KERNELS;
    return rtl_file_read(c->fd, c->thread, sizeof c->thread, RTL_HIP_API_THREADS_AT) &&
           rtl_file_read(c->fd, c->queue, sizeof c->queue, RTL_HIP_API_QUEUES_AT) &&
           rtl_file_read(c->fd, c->node, c->node_count * sizeof *c->node, RTL_HIP_API_NODES_AT) &&
           rtl_file_read(c->fd, c->launch, c->launch_count * sizeof *c->launch, RTL_HIP_API_LAUNCHES_AT) &&
           read_pairs(c);
}

/* --- putting it into the snapshot --- */

/* Copy the octaves that have counts. */
static bool put_histogram(struct rtl_snapshot *to, struct rtl_hip_api_buckets *buckets, uint64_t total_ns,
                          uint64_t most_ns, struct rtl_histogram_copy *h)
{
    uint64_t *octave[RTL_OCTAVES_MAX] = {NULL};
    uint32_t lowest = 0;
    *h = (struct rtl_histogram_copy){.total_ns = total_ns, .max_ns = most_ns};
    for (uint32_t i = RTL_HIP_API_BUCKETS; i--;) {
        if (!buckets->count[i])
            continue;
        octave[i / RTL_CHUNK_BUCKETS] = &buckets->count[i - i % RTL_CHUNK_BUCKETS];
        h->count += buckets->count[i];
        lowest = i;
    }
    /* the segment has no minimum: the low edge of the lowest bucket (stats/histogram.h) */
    uint32_t shift = lowest < 2 * RTL_CHUNK_BUCKETS ? 0 : lowest / RTL_CHUNK_BUCKETS - 1;
    uint64_t low = (uint64_t)(lowest - shift * RTL_CHUNK_BUCKETS) << shift;
    h->min_ns = low < most_ns ? low : most_ns;
    return rtl_snapshot_set_octaves(to, h, octave);
}
_Static_assert(RTL_HIP_API_BUCKETS / RTL_CHUNK_BUCKETS <= RTL_OCTAVES_MAX, "as many octaves");

static void put_row_name(struct rtl_hip_api_row_snapshot *to, const struct rtl_hip_api_row *row)
{
    to->kind = row->kind;
    to->name_bytes = text_bytes(row);
    memcpy(to->name, row->text, to->name_bytes);
}

static bool put_row_codes(struct rtl_snapshot *to, const struct rtl_hip_api_row *row,
                          const struct rtl_hip_api_codes **codes)
{
    bool any = row->codes_more;
    for (int i = 0; i < RTL_HIP_API_CODES; i++)
        any |= row->code[i].count != 0;
    struct rtl_hip_api_codes *own = any ? rtl_snapshot_allocate(to, sizeof *own) : NULL;
    if (own) {
        memcpy(own->code, row->code, sizeof own->code);
        own->more = row->codes_more;
    }
    *codes = own;
    return own || !any;
}

/* A row that was called, or is open or in use. */
static bool is_used(const struct segment_copy *c, uint32_t i)
{
    return c->row[i].state == 1 && (c->sum[i].calls || c->row[i].open || c->row[i].in_use);
}

static bool put_rows(struct segment_copy *c)
{
    struct rtl_hip_api_snapshot *api = c->api;
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++) {
        const struct row_sum *sum = &c->sum[i];
        struct rtl_hip_api_row_snapshot *row = &api->rows[api->count];
        if (!is_used(c, i))
            continue;
        *row = (struct rtl_hip_api_row_snapshot){
            .bytes = sum->bytes, .errors = sum->errors, .open = c->row[i].open, .in_use = c->row[i].in_use};
        put_row_name(row, &c->row[i]);
        if (!put_row_codes(c->to, &c->row[i], &row->codes) ||
            (sum->buckets && !put_histogram(c->to, sum->buckets, sum->total_ns, sum->most_ns, &row->histogram)))
            return false;
        api->count++;
    }
    if (api->count)
        qsort(api->rows, api->count, sizeof *api->rows, rtl_hip_api_compare_rows);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < api->count; i++) /* only a damaged segment has two rows of one name: keep the first */
        if (!kept || rtl_hip_api_compare_rows(&api->rows[kept - 1], &api->rows[i]) != 0)
            api->rows[kept++] = api->rows[i];
    api->count = kept;
    return true;
}

/* A parent's number is smaller than its child's, or the node is damaged: no way up is a circle. */
static bool is_node_sound(const struct segment_copy *c, uint32_t i)
{
    const struct rtl_hip_api_node *node = &c->node[i];
    return node->state == 1 && (i < RTL_HIP_API_NODE_FIRST || node->parent < i);
}

/* The row of a node's name; NULL if there is none. */
static const struct rtl_hip_api_row *row_of_node(const struct segment_copy *c, uint32_t i)
{
    uint32_t row = c->node[i].row;
    return row < RTL_HIP_API_ROWS && c->row[row].state == 1 && c->row[row].text_bytes ? &c->row[row] : NULL;
}

/* Nodes without a name are left out, and their children go to their parents. Of two nodes at one place, which only a
 * damaged segment has, the first stands for both. */
static bool put_nodes(struct segment_copy *c)
{
    struct rtl_hip_api_snapshot *api = c->api;
    struct rtl_hip_api_tree tree;
    if (!c->node_count)
        return true;
    bool ok = rtl_hip_api_tree_begin(&tree, api, c->node_count);
    for (uint32_t i = 0; ok && i < c->node_count; i++) {
        const struct rtl_hip_api_node *from = &c->node[i];
        bool sound = is_node_sound(c, i);
        const struct rtl_hip_api_row *row = i && sound ? row_of_node(c, i) : NULL;
        uint32_t known = api->node_count, parent = sound && i >= RTL_HIP_API_NODE_FIRST ? c->place[from->parent] : 0;
        c->place[i] = row ? rtl_hip_api_tree_enter(&tree, parent, row->text, text_bytes(row)) : parent;
        if (!sound || (i && (!row || c->place[i] < known)))
            continue;
        struct rtl_hip_api_node_snapshot *node = &api->nodes[c->place[i]];
        node->count = from->count;
        node->total_ns = from->total_ns;
        node->most_ns = from->most_ns;
        node->open = from->open;
        node->kernels = from->kernels;
        node->kernels_ns = from->kernels_ns;
        node->copies = from->copies;
        node->copies_ns = from->copies_ns;
    }
    ok &= rtl_hip_api_tree_end(&tree, c->moved);
    for (uint32_t i = 0; ok && i < c->node_count; i++)
        c->place[i] = c->moved[c->place[i]];
    return ok;
}

/* Find the hash of a kernel's name by its row. False: it has none, or came after the kernels were copied. */
static bool find_kernel_hash(struct segment_copy *c, uint32_t row, uint64_t *kernel)
{
    uint64_t *hash = &c->kernel_hash[row];
    if (!*hash && c->request->reader) { /* a snapshot of changes hasn't all kernels */
        const char *name = rtl_reader_kernel_name(c->request->reader, row);
        *hash = name ? rtl_hash(name, strlen(name)) : 0;
    }
    if (!*hash) {
        const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(c->to, row);
        *hash = k ? rtl_hash(k->name, k->name_length) : 0;
    }
    *kernel = *hash;
    return *hash != 0;
}

static bool put_launches(struct segment_copy *c)
{
    struct rtl_hip_api_snapshot *api = c->api;
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->launch_count; i++) {
        struct rtl_hip_api_launch_snapshot *launch = &api->launches[api->launch_count];
        uint64_t at = RTL_HIP_API_LAUNCH_BUCKETS_AT + (uint64_t)i * sizeof c->buckets;
        if (!c->launch[i].calls || !find_kernel_hash(c, i, &launch->kernel))
            continue;
        if (!rtl_file_read(c->fd, &c->buckets, sizeof c->buckets, at))
            break;
        ok = put_histogram(c->to, &c->buckets, c->launch[i].total_ns, c->launch[i].most_ns, &launch->histogram);
        api->launch_count += ok;
    }
    rtl_hip_api_sort_launches(api);
    return ok;
}

static bool is_pair_used(const struct segment_copy *c, const struct rtl_hip_api_pair *pair)
{
    return pair->calls && pair->node != RTL_HIP_API_NODE_NONE && pair->node < c->node_count &&
           is_node_sound(c, pair->node) && pair->kernel < RTL_HIP_API_KERNELS;
}

static bool put_pairs(struct segment_copy *c)
{
    struct rtl_hip_api_snapshot *api = c->api;
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->pair_count; i++) {
        const struct rtl_hip_api_pair *from = &c->pair[i];
        struct rtl_hip_api_pair_snapshot *pair = &api->pairs[api->pair_count];
        uint64_t at = c->header.pairs_at + RTL_HIP_API_PAIR_BUCKETS_AT + (uint64_t)i * sizeof c->buckets;
        if (!is_pair_used(c, from) || !(pair->node = c->place[from->node]) ||
            !find_kernel_hash(c, from->kernel, &pair->kernel))
            continue;
        if (!rtl_file_read(c->fd, &c->buckets, sizeof c->buckets, at))
            break;
        ok = put_histogram(c->to, &c->buckets, from->total_ns, from->most_ns, &pair->histogram);
        api->pair_count += ok;
    }
    rtl_hip_api_sort_pairs(api);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < api->pair_count; i++) /* two of one node and kernel: as for rows */
        if (!kept || api->pairs[kept - 1].node != api->pairs[i].node ||
            api->pairs[kept - 1].kernel != api->pairs[i].kernel)
            api->pairs[kept++] = api->pairs[i];
    api->pair_count = kept;
    return ok;
}

/* Return the index of a function, + 1, by its number in the segment; 0 if the snapshot hasn't it. */
static uint32_t find_function(const struct segment_copy *c, uint32_t number)
{
    struct rtl_hip_api_row_snapshot key = {0}, *found = NULL;
    if (c->row[number].state == 1 && c->api->count) {
        put_row_name(&key, &c->row[number]);
        found = bsearch(&key, c->api->rows, c->api->count, sizeof key, rtl_hip_api_compare_rows);
    }
    return found ? (uint32_t)(found - c->api->rows) + 1 : 0;
}

static void put_threads(struct segment_copy *c)
{
    struct rtl_reader *reader = c->request->reader;
    uint64_t ahead = reader ? (uint64_t)rtl_reader_clocks(reader, false)->ahead_ns : 0;
    for (uint32_t i = 1; i < RTL_HIP_API_BLOCKS; i++) { /* block 0 is shared: it says nothing about a thread */
        const struct rtl_hip_api_thread *from = &c->thread[i];
        if (!from->tid || (!from->now && !from->last))
            continue;
        struct rtl_hip_api_thread_snapshot *thread = &c->api->threads[c->api->thread_count++];
        *thread = (struct rtl_hip_api_thread_snapshot){.tid = from->tid};
        if (from->now) {
            thread->row = find_function(c, RTL_HIP_API_NOW_ROW(from->now));
            thread->since_ns = RTL_HIP_API_NOW_NS(from->now) - ahead;
        }
        if (from->last) {
            thread->last_row = find_function(c, RTL_HIP_API_NOW_ROW(from->last));
            thread->last_ns = RTL_HIP_API_NOW_NS(from->last) - ahead;
        }
    }
}

static bool put_all_links(struct segment_copy *c)
{
    struct rtl_hip_api_snapshot *api = c->api;
    api->links = true;
    api->flags = c->header.flags;
    api->copies_linked = c->header.copies_linked;
    api->copies_unlinked = c->header.copies_unlinked;
    for (uint32_t i = 0; i < RTL_HIP_API_QUEUES; i++) {
        api->linked += c->queue[i].linked;
        for (uint32_t j = 0; j < RTL_HIP_API_UNLINKED_LIMIT; j++)
            api->unlinked[j] += c->queue[i].unlinked[j];
    }
    put_threads(c);
    return put_nodes(c) && put_launches(c) && put_pairs(c);
}

static bool put_all(struct segment_copy *c)
{
    struct rtl_hip_api_room room = {
        .memory = RTL_HIP_API_PLACES, .nodes = c->node_count, .threads = RTL_HIP_API_BLOCKS};
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++)
        room.rows += is_used(c, i);
    for (uint32_t i = 0; i < c->launch_count; i++)
        room.launches += c->launch[i].calls != 0;
    for (uint32_t i = 0; i < c->pair_count; i++)
        room.pairs += is_pair_used(c, &c->pair[i]);
    if (!(c->api = rtl_hip_api_allocate(c->to, &room)) || !put_rows(c))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++)
        if (c->memory[i].peak)
            c->api->memory[c->api->memory_count++] = (struct rtl_hip_api_memory_snapshot){
                (uint64_t)c->request->pid, i, c->memory[i].in_use, c->memory[i].peak, c->memory[i].allocations};
#define PUT(member, key, text) c->api->member = c->header.member;
    RTL_HIP_API_TROUBLES(PUT)
#undef PUT
    c->api->start_real_ns = c->header.start_real_ns;
    c->api->shared_threads = c->header.shared_threads;
    memcpy(c->api->library_version, c->header.library_version, sizeof c->api->library_version - 1);
    c->api->unrecorded_why = c->header.unrecorded_why;
    memcpy(c->api->unrecorded_file, c->header.unrecorded_file, sizeof c->api->unrecorded_file - 1);
    return !c->header.minor || c->request->without_links || put_all_links(c);
}

/* --- the whole --- */

/* A minor version may append, but what this one knows stays in place. Minor version 0 ends where threads begin now. */
static enum rtl_reader_status check_api_header(struct segment_copy *c, char *why, size_t why_bytes)
{
    const struct rtl_hip_api_header *h = &c->header;
    struct stat st;
    if (fstat(c->fd, &st) != 0 || !S_ISREG(st.st_mode) || !rtl_file_read(c->fd, &c->header, sizeof *h, 0) ||
        h->magic != RTL_HIP_API_MAGIC)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment is damaged, or still being made");
    if (h->major != RTL_HIP_API_MAJOR)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes,
                           "the API segment is of version %u.%u, this rtl-top reads %u: use the rtl-top that came with "
                           "the librtl-hip.so of the process",
                           h->major, h->minor, RTL_HIP_API_MAJOR);
    c->size = (uint64_t)st.st_size;
    if (c->size < (h->minor ? RTL_HIP_API_SIZE : RTL_HIP_API_THREADS_AT) || h->rows_at != RTL_HIP_API_ROWS_AT ||
        h->memory_at != RTL_HIP_API_MEMORY_AT || h->counters_at != RTL_HIP_API_COUNTERS_AT ||
        h->buckets_at != RTL_HIP_API_BUCKETS_AT)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment is damaged: its parts lie elsewhere");
    return RTL_READER_OK;
}

enum rtl_reader_status rtl_hip_api_read(int fd, const struct rtl_hip_api_request *request,
                                        struct rtl_snapshot *snapshot, char *why, size_t why_bytes)
{
    struct segment_copy *c = calloc(1, sizeof *c);
    bool read = false, put = false;
    snapshot->hip_api = NULL;
    if (!c)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment could not be read: out of memory");
    c->fd = fd;
    c->request = request;
    c->to = snapshot;
    enum rtl_reader_status status = check_api_header(c, why, why_bytes);
    if (!status) {
        bool links = c->header.minor && !request->without_links;
        read = rtl_file_read(fd, c->memory, sizeof c->memory, RTL_HIP_API_MEMORY_AT) && (!links || read_links(c)) &&
               read_rows(c);
        put = read && put_all(c);
    }
    if (!status && !put) {
        snapshot->hip_api = NULL;
        status = rtl_explain(RTL_READER_VERSION, why, why_bytes, "the API segment could not be read: %s",
                             read ? "out of memory" : "it is shorter than it says");
    }
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++)
        free(c->sum[i].buckets);
    free(c);
    return status;
}

void rtl_hip_api_source_open(struct rtl_hip_api_source *source)
{
    *source = (struct rtl_hip_api_source){.fd = -1};
}

void rtl_hip_api_source_close(struct rtl_hip_api_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

void rtl_hip_api_source_read(struct rtl_hip_api_source *source, pid_t pid, struct rtl_reader *reader,
                             struct rtl_snapshot *snapshot)
{
    uint64_t now = snapshot->taken_mono_ns;
    if (source->fd < 0 && now >= source->search_ns) {
        rtl_hip_api_open(pid, &source->fd, NULL, 0);
        source->pause_ns = source->pause_ns ? 2 * source->pause_ns : FIRST_PAUSE_NS;
        if (source->pause_ns > LONGEST_PAUSE_NS)
            source->pause_ns = LONGEST_PAUSE_NS;
        source->search_ns = now + source->pause_ns;
    }
    if (source->fd >= 0)
        rtl_hip_api_read(source->fd, &(struct rtl_hip_api_request){.pid = pid, .reader = reader}, snapshot, NULL, 0);
}
