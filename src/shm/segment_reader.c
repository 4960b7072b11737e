/*
 * Opens a segment by descriptor: decides whether to believe it and how to read it.
 *
 * A segment is hostile until shown otherwise. The reader copies the header once, bounds every section by the size from
 * fstat, and maps only a file that can't shrink any more (sealed memfd): the owner of any other file could raise SIGBUS
 * in a mapping at will. Everything else is read with pread.
 */
#include "shm/segment_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "shm/file_data.h"
#include "shm/probe_state.h"
#include "shm/reader_private.h"

#define TMPFS_MAGIC_NUMBER 0x01021994

/* Sizes of entries in this version; a later version may have larger strides and capacities. Feature 0: every segment
 * has the section. */
static const struct {
    uint32_t stride;
    uint64_t feature;
} known[RTL_SECTION_KNOWN] = {
    [RTL_SECTION_KERNELS] = {sizeof(struct rtl_kernel), 0},
    [RTL_SECTION_HISTOGRAMS] = {sizeof(struct rtl_histogram), 0},
    [RTL_SECTION_DIRECTORY] = {sizeof(struct rtl_directory), 0},
    [RTL_SECTION_COARSE] = {sizeof(struct rtl_coarse), 0},
    [RTL_SECTION_CHUNKS] = {sizeof(struct rtl_chunk), 0},
    [RTL_SECTION_QUEUES] = {sizeof(struct rtl_queue), 0},
    [RTL_SECTION_AGENTS] = {sizeof(struct rtl_agent), 0},
    [RTL_SECTION_DISPATCHES] = {sizeof(struct rtl_dispatches), 0},
    [RTL_SECTION_NAMES] = {1, 0},
    [RTL_SECTION_RING] = {sizeof(struct rtl_ring), RTL_FEATURE_EVENTS},
    [RTL_SECTION_EVENTS] = {sizeof(struct rtl_event_record), RTL_FEATURE_EVENTS},
    [RTL_SECTION_COPIES] = {sizeof(struct rtl_copies), RTL_FEATURE_COPIES},
    [RTL_SECTION_PROBE] = {RTL_PROBE_STATE_FIRST, RTL_FEATURE_PROBE},
    [RTL_SECTION_PROBE_DIES] = {sizeof(struct rtl_probe_die), RTL_FEATURE_PROBE},
    [RTL_SECTION_GAPS] = {sizeof(struct rtl_gpu_gaps), RTL_FEATURE_GAPS},
};

enum rtl_reader_status rtl_explain(enum rtl_reader_status status, char *why, size_t why_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why && why_bytes)
        vsnprintf(why, why_bytes, format, args);
    va_end(args);
    return status;
}

void rtl_copy_printable(char *to, size_t bytes, const char *from, size_t from_bytes)
{
    size_t n = 0;
    for (; n + 1 < bytes && n < from_bytes && from[n]; n++)
        to[n] = from[n] >= 0x20 && from[n] < 0x7f ? from[n] : '?';
    to[n] = '\0';
}

bool rtl_fetch(const struct rtl_reader *reader, uint64_t offset, void *to, size_t bytes)
{
    if (offset > reader->size || bytes > reader->size - offset)
        return false;
    if (reader->base) {
        const uint64_t *from = (const uint64_t *)(const void *)(reader->base + offset);
        uint64_t *out = to;
        void (*const meanwhile)(void *, uint64_t) = reader->meanwhile;
        for (size_t i = 0; i < bytes / 8 && !meanwhile; i++)
            out[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
        for (size_t i = 0; i < bytes / 8 && meanwhile; i++) {
            meanwhile(reader->meanwhile_context, offset + 8 * i);
            out[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
        }
        return true;
    }
    return rtl_file_read(reader->fd, to, bytes, offset); /* false: the file shrank, or can't be read */
}

bool rtl_fetch_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t skip,
                     void *to, size_t bytes)
{
    const struct rtl_section_view *view = &reader->view[section];
    if (entry >= view->capacity || skip + bytes > view->stride)
        return false;
    return rtl_fetch(reader, view->offset + (uint64_t)entry * view->stride + skip, to, bytes);
}

void rtl_expect_entry(const struct rtl_reader *reader, enum rtl_section_id section, uint32_t entry, size_t bytes)
{
    const struct rtl_section_view *view = &reader->view[section];
    if (!reader->base || entry >= view->capacity)
        return;
    uint64_t offset = view->offset + (uint64_t)entry * view->stride;
    if (offset > reader->size || bytes > reader->size - offset)
        return;
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(reader->base + offset + at);
}

/* Copy a text of the section of names and terminate it. The caller frees it. NULL without memory, or if the text lies
 * outside of the section, which sets *damaged. */
static char *fetch_text(const struct rtl_reader *reader, uint64_t at, uint32_t length, bool *damaged)
{
    const struct rtl_section_view *names = &reader->view[RTL_SECTION_NAMES];
    if (at > names->capacity || length > names->capacity - at) {
        *damaged = true;
        return NULL;
    }
    /* fetch whole words around the text; the section ends on a word (checked at open) */
    uint64_t from = (names->offset + at) & ~7ull;
    size_t lead = (size_t)(names->offset + at - from);
    size_t bytes = (size_t)RTL_ALIGN_UP(lead + length, 8);
    char *buffer = malloc(bytes + 1);
    if (!buffer || !rtl_fetch(reader, from, buffer, bytes)) {
        *damaged = buffer != NULL;
        free(buffer);
        return NULL;
    }
    memmove(buffer, buffer + lead, length);
    buffer[length] = '\0';
    return buffer;
}

const char *rtl_reader_environment(const struct rtl_reader *reader, size_t *bytes)
{
    *bytes = reader->environment ? reader->header.environment_length : 0;
    return reader->environment;
}

const char *rtl_reader_name(struct rtl_reader *reader, uint32_t kernel, bool *damaged)
{
    if (kernel >= reader->kernels)
        return NULL;
    if (reader->name[kernel])
        return reader->name[kernel];

    struct rtl_kernel k;
    if (!rtl_fetch_entry(reader, RTL_SECTION_KERNELS, kernel, 0, &k, sizeof k)) {
        *damaged = true;
        return NULL;
    }
    if (k.state != RTL_KERNEL_READY)
        return NULL;
    if (k.name_length > RTL_NAME_MAX || k.name_length > reader->name_room) {
        *damaged = true;
        return NULL;
    }
    char *buffer = fetch_text(reader, k.name_offset, k.name_length, damaged);
    if (!buffer)
        return NULL;
    for (char *zero = buffer; (zero = memchr(zero, '\0', (size_t)(buffer + k.name_length - zero)));)
        *zero = '?'; /* so that length and terminator agree */
    reader->name_room -= k.name_length;
    reader->name_length[kernel] = k.name_length;
    return reader->name[kernel] = buffer;
}

/* Refuse a header with an impossible value; `why` says which. */
static enum rtl_reader_status refuse_damaged(char *why, size_t why_bytes, const char *what)
{
    return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the segment is damaged: %s", what);
}

static enum rtl_reader_status check_sections(struct rtl_reader *reader, char *why, size_t why_bytes)
{
    const struct rtl_header *h = &reader->header;
    if (h->section_count < RTL_SECTION_COUNT || h->section_count > RTL_SECTION_LIMIT)
        return refuse_damaged(why, why_bytes, "wrong number of sections");
    for (uint32_t i = 0; i < RTL_SECTION_KNOWN && i < h->section_count; i++) {
        if (known[i].feature && !(h->features_optional & known[i].feature))
            continue; /* its view stays empty and overlaps nothing */
        const struct rtl_section *s = &h->section[i];
        uint64_t bytes = (uint64_t)s->stride * s->capacity; /* 32 by 32 bits: can't wrap */
        bool words = i == RTL_SECTION_NAMES ? s->stride == 1 && s->capacity % 8 == 0 : s->stride % 8 == 0;
        if (s->offset % 64 || s->offset < h->header_bytes)
            return refuse_damaged(why, why_bytes, "a section lies in the wrong place");
        if (s->stride < known[i].stride || s->stride > RTL_STRIDE_GROWTH * known[i].stride || !words || !s->capacity)
            return refuse_damaged(why, why_bytes, "a section has entries of the wrong size");
        if (s->offset > h->size ||
            bytes > h->size - s->offset) /* the size lies within the file (check_segment_header) */
            return refuse_damaged(why, why_bytes, "a section reaches beyond the end");
        for (uint32_t j = 0; j < i; j++) {
            const struct rtl_section_view *v = &reader->view[j];
            if (s->offset < v->offset + (uint64_t)v->stride * v->capacity && v->offset < s->offset + bytes)
                return refuse_damaged(why, why_bytes, "two sections overlap");
        }
        reader->view[i] = (struct rtl_section_view){s->offset, s->stride, s->capacity};
    }
    /* sections that state each other's capacity have to agree, or the reader would take rows for others */
    uint64_t kernels = reader->view[RTL_SECTION_KERNELS].capacity, queues = reader->view[RTL_SECTION_QUEUES].capacity;
    uint64_t histograms = reader->view[RTL_SECTION_HISTOGRAMS].capacity;
    if (kernels < RTL_KERNEL_FIRST || histograms < kernels + 2 * queues ||
        reader->view[RTL_SECTION_DIRECTORY].capacity != histograms ||
        reader->view[RTL_SECTION_COARSE].capacity != histograms ||
        reader->view[RTL_SECTION_DISPATCHES].capacity != kernels * queues)
        return refuse_damaged(why, why_bytes, "its sections don't fit together");
    uint64_t copies = reader->view[RTL_SECTION_COPIES].capacity;
    if (copies && (copies != (uint64_t)reader->view[RTL_SECTION_AGENTS].capacity * RTL_DIRECTION_COUNT ||
                   histograms < kernels + 2 * queues + copies))
        return refuse_damaged(why, why_bytes, "the copies don't fit its other sections");
    uint32_t gaps = reader->view[RTL_SECTION_GAPS].capacity;
    if (gaps && gaps != reader->view[RTL_SECTION_AGENTS].capacity)
        return refuse_damaged(why, why_bytes, "the gaps don't fit its agents");
    uint32_t events = reader->view[RTL_SECTION_EVENTS].capacity;
    if ((events & (events - 1)) || events > RTL_EVENTS_LIMIT)
        return refuse_damaged(why, why_bytes, "the event ring is of the wrong size");
    reader->kernels = (uint32_t)(kernels < RTL_KERNELS_MAX ? kernels : RTL_KERNELS_MAX);
    reader->queues = (uint32_t)(queues < RTL_QUEUES_MAX ? queues : RTL_QUEUES_MAX);
    uint32_t agents = reader->view[RTL_SECTION_AGENTS].capacity;
    reader->agents = agents < RTL_AGENTS_MAX ? agents : RTL_AGENTS_MAX;
    return RTL_READER_OK;
}

static enum rtl_reader_status check_segment_header(struct rtl_reader *reader, char *why, size_t why_bytes)
{
    struct rtl_header *h = &reader->header;
    if (!rtl_fetch(reader, 0, h, sizeof *h))
        return refuse_damaged(why, why_bytes, "shorter than its header");
    if (h->magic == 0)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes, "the segment is still being made: try again");
    if (h->magic != RTL_SEGMENT_MAGIC)
        return rtl_explain(RTL_READER_VERSION, why, why_bytes,
                           "not a segment of version %u.%u: its first bytes are not the segment's mark",
                           RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR);
    if (h->major != RTL_SEGMENT_MAJOR)
        return rtl_explain(
            RTL_READER_VERSION, why, why_bytes,
            "librtl.so in the process writes segment version %u.%u, this rtl-top reads %u.%u: use the rtl-top "
            "that belongs to that librtl.so",
            h->major, h->minor, RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR);
    if (h->features_required & ~RTL_FEATURES_REQUIRED)
        return rtl_explain(
            RTL_READER_VERSION, why, why_bytes,
            "librtl.so in the process writes segment version %u.%u with features (%#llx) that this rtl-top, "
            "which reads %u.%u, does not know: use a newer rtl-top",
            h->major, h->minor, (unsigned long long)(h->features_required & ~RTL_FEATURES_REQUIRED), RTL_SEGMENT_MAJOR,
            RTL_SEGMENT_MINOR);
    if (h->header_bytes < sizeof *h || h->header_bytes > 65536)
        return refuse_damaged(why, why_bytes, "wrong header size");
    if (h->size > reader->size)
        return refuse_damaged(why, why_bytes, "cut short");
    return check_sections(reader, why, why_bytes);
}

/* Map a file that can't go away: sealed against shrinking, and in ordinary memory (huge pages run out at a touch). */
static void map_if_safe(struct rtl_reader *reader)
{
    struct statfs fs;
    struct stat st;
    int seals = fcntl(reader->fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstatfs(reader->fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC_NUMBER)
        return;
    if (fstat(reader->fd, &st) != 0) /* again: the size from before the seal may be outdated */
        return;
    reader->size = (uint64_t)st.st_size & ~7ull;
    void *base = mmap(NULL, reader->size, PROT_READ, MAP_SHARED | MAP_NORESERVE, reader->fd, 0);
    if (base != MAP_FAILED)
        reader->base = base;
}

/* A length of 0 is valid: the program has none of the variables. */
static void read_environment(struct rtl_reader *reader)
{
    enum { SINCE_MINOR = 10 };
    const struct rtl_header *h = &reader->header;
    bool damaged = false;
    if (h->minor >= SINCE_MINOR && h->environment_length <= RTL_ENVIRONMENT_MAX)
        reader->environment = fetch_text(reader, h->environment_offset, h->environment_length, &damaged);
}

enum rtl_reader_status rtl_reader_open_fd(int fd, struct rtl_reader **out, char *why, size_t why_bytes)
{
    struct stat st;
    *out = NULL;
    if (fstat(fd, &st) != 0)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "cannot look at the segment: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse_damaged(why, why_bytes, "not a file");

    struct rtl_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    reader->fd = fd;
    reader->pidfd = -1;
    reader->size = (uint64_t)st.st_size & ~7ull;
    map_if_safe(reader);

    enum rtl_reader_status status = check_segment_header(reader, why, why_bytes);
    if (status == RTL_READER_OK) {
        reader->name = calloc(reader->kernels, sizeof *reader->name);
        reader->name_length = calloc(reader->kernels, sizeof *reader->name_length);
        uint64_t names = reader->view[RTL_SECTION_NAMES].capacity;
        reader->name_room = names < RTL_NAMES_BYTES ? names : RTL_NAMES_BYTES;
        rtl_copy_printable(reader->comm, sizeof reader->comm, reader->header.comm, sizeof reader->header.comm);
        read_environment(reader);
        if (!reader->name || !reader->name_length)
            status = rtl_explain(RTL_READER_USAGE, why, why_bytes, "out of memory");
    }
    if (status != RTL_READER_OK) {
        reader->fd = -1; /* the caller keeps it */
        rtl_reader_close(reader);
        return status;
    }
    *out = reader;
    return RTL_READER_OK;
}

const struct rtl_clocks *rtl_reader_clocks(struct rtl_reader *reader, bool host)
{
    struct rtl_clocks *c = &reader->clocks;
    c->own_ahead_ns = host ? c->own.mono_ns : c->own_ahead_ns;
    c->ahead_ns = host ? c->its.mono_ns : c->ahead_ns;
    return c;
}

uint64_t rtl_reader_memory(const struct rtl_reader *reader)
{
    uint64_t bytes = sizeof *reader + reader->kernels * (sizeof *reader->name + sizeof *reader->name_length);
    for (uint32_t i = 0; i < reader->kernels; i++)
        bytes += reader->name[i] ? RTL_ALIGN_UP(reader->name_length[i], 8) + 8 : 0; /* a lower bound */
    return bytes + (reader->environment ? reader->header.environment_length : 0);
}

void rtl_reader_close(struct rtl_reader *reader)
{
    if (!reader)
        return;
    if (reader->base)
        munmap((void *)(uintptr_t)reader->base, reader->size);
    if (reader->fd >= 0)
        close(reader->fd);
    if (reader->pidfd >= 0)
        close(reader->pidfd);
    for (uint32_t i = 0; reader->name && i < reader->kernels; i++)
        free(reader->name[i]);
    free(reader->name);
    free(reader->name_length);
    free(reader->environment);
    rtl_seen_free(reader->seen);
    free(reader);
}
