/* zlib, and nothing else that knows it: it writes plain files as well. See sink.h. */
#include "record/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct rtl_sink {
    char *path, *part; /* part: what is written until it is complete; NULL = straight to the path */
    gzFile file;
    int error; /* errno of the first failure */
    size_t used;
    char buffer[1 << 16];
};

static void destroy(struct rtl_sink *sink)
{
    free(sink->path);
    free(sink->part);
    free(sink);
}

/* Only a file of the user's gets a new one beside it; a pipe or a device is written to as it is. */
static int open_at(struct rtl_sink *sink)
{
    struct stat facts;
    if (!strcmp(sink->path, "-"))
        return dup(STDOUT_FILENO);
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
    if (stat(sink->path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return open(sink->path, flags, 0666);
    if (asprintf(&sink->part, "%s.part", sink->path) < 0) {
        sink->part = NULL;
        errno = ENOMEM;
        return -1;
    }
    return open(sink->part, flags, 0666);
}

struct rtl_sink *rtl_sink_open(const char *path, char *why, size_t why_bytes)
{
    struct rtl_sink *sink = calloc(1, sizeof *sink);
    size_t length = strlen(path);
    bool gzip = length > 3 && !strcmp(path + length - 3, ".gz");
    if (!sink || !(sink->path = strdup(path))) {
        free(sink);
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    int fd = open_at(sink);
    sink->file = fd < 0 ? NULL : gzdopen(fd, gzip ? "wb4" : "wbT");
    if (!sink->file) {
        snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(fd < 0 ? errno : ENOMEM));
        if (fd >= 0)
            close(fd);
        destroy(sink);
        return NULL;
    }
    gzbuffer(sink->file, 1 << 17);
    return sink;
}

static void flush(struct rtl_sink *sink)
{
    errno = 0;
    if (sink->used && !sink->error && gzwrite(sink->file, sink->buffer, (unsigned)sink->used) != (int)sink->used)
        sink->error = errno ? errno : EIO;
    sink->used = 0;
}

void rtl_sink_write(struct rtl_sink *sink, const char *bytes, size_t count)
{
    while (count && !sink->error) {
        size_t n = sizeof sink->buffer - sink->used;
        n = count < n ? count : n;
        memcpy(sink->buffer + sink->used, bytes, n);
        sink->used += n;
        bytes += n;
        count -= n;
        if (sink->used == sizeof sink->buffer)
            flush(sink);
    }
}

void rtl_sink_print(struct rtl_sink *sink, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        rtl_sink_write(sink, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

bool rtl_sink_failed(const struct rtl_sink *sink)
{
    return sink->error != 0;
}

bool rtl_sink_close(struct rtl_sink *sink, bool keep, char *why, size_t why_bytes)
{
    flush(sink);
    errno = 0;
    if (gzclose(sink->file) != Z_OK && !sink->error)
        sink->error = errno ? errno : EIO;
    if (!sink->error && keep && sink->part && rename(sink->part, sink->path))
        sink->error = errno;
    if (sink->part && (sink->error || !keep))
        unlink(sink->part);
    if (sink->error)
        snprintf(why, why_bytes, "cannot write %s: %s", sink->path, strerror(sink->error));
    bool fine = !sink->error;
    destroy(sink);
    return fine;
}
