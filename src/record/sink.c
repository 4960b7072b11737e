/* The only file that uses zlib, which also writes the plain files. See sink.h. */
#include "record/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct rtl_sink {
    char *path;
    struct rtl_outfile *out;
    gzFile file;
    int error; /* errno of the first failure */
};

static void free_sink(struct rtl_sink *sink)
{
    rtl_outfile_close(sink->out);
    free(sink->path);
    free(sink);
}

struct rtl_sink *rtl_sink_open(const char *path, const struct rtl_outfile_options *options, char *why, size_t why_bytes)
{
    struct rtl_sink *sink = calloc(1, sizeof *sink);
    size_t length = strlen(path);
    bool gzip = length > 3 && !strcmp(path + length - 3, ".gz");
    if (!sink || !(sink->path = strdup(path))) {
        free(sink);
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    sink->out = rtl_outfile_open(path, options, why, why_bytes);
    int fd = sink->out ? fcntl(rtl_outfile_fd(sink->out), F_DUPFD_CLOEXEC, 3) : -1; /* gzclose closes the copy */
    sink->file = fd < 0 ? NULL : gzdopen(fd, gzip ? "wb4" : "wbT");
    if (!sink->file) {
        if (sink->out)
            snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(fd < 0 ? errno : ENOMEM));
        if (fd >= 0)
            close(fd);
        free_sink(sink);
        return NULL;
    }
    gzbuffer(sink->file, 1 << 17);
    return sink;
}

void rtl_sink_write(struct rtl_sink *sink, const char *bytes, size_t count)
{
    errno = 0;
    if (count && !sink->error && gzwrite(sink->file, bytes, (unsigned)count) != (int)count)
        sink->error = errno ? errno : EIO;
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
    errno = 0;
    if (gzclose(sink->file) != Z_OK && !sink->error)
        sink->error = errno ? errno : EIO;
    bool fine = !sink->error;
    if (!fine)
        snprintf(why, why_bytes, "cannot write %s: %s", sink->path, strerror(sink->error));
    else if (keep)
        fine = rtl_outfile_place(sink->out, why, why_bytes);
    free_sink(sink);
    return fine;
}
