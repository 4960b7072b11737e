/* Prints one line on standard error. See complain.h. */
#include "options/complain.h"
#include "options/progress.h"
#include "text/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *escaped(const char *text)
{
    size_t length = strlen(text), size = 4 * length + 1;
    char *line = malloc(size);
    if (line)
        rtl_text_line(line, size, text, length);
    return line;
}

char *rtl_complaint(const char *format, va_list args)
{
    char *text, *line = NULL;
    if (vasprintf(&text, format, args) >= 0) {
        line = escaped(text);
        free(text);
    }
    return line;
}

void rtl_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = rtl_complaint(format, args);
    va_end(args);
    rtl_progress_hide();
    fprintf(stderr, "rtl-top: %s\n", line ? line : "out of memory");
    free(line);
}

bool rtl_stdout_written(void)
{
    int before = errno;
    bool failed = ferror(stdout) != 0; /* a write failed before the flush; errno may have changed since */
    int error = fflush(stdout) ? errno : failed ? before : 0;
    struct pollfd reader = {.fd = STDOUT_FILENO};
    if (!failed && !error)
        return true;
    if (error == EPIPE || (poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR)))
        return true;
    rtl_complain("cannot write to standard output: %s", error ? strerror(error) : "an earlier write failed");
    return false;
}
