/* Writes messages and the line of progress on standard error. See complain.h. */
#include "options/complain.h"
#include "base/clock.h"
#include "record/db.h"
#include "text/text.h"
#include "text/units.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- progress --- */

enum { AFTER_MS = 500, EVERY_MS = 200, NAME_COLUMNS = 40 };

static struct {
    bool on, shown;
    char what[200];
    uint64_t began_ns, next_ns, done, total;
} progress;

void rtl_progress_begin(const char *what, const char *name)
{
    const char *terminal = getenv("TERM");
    char safe[160], cut[160];
    progress.on = isatty(STDERR_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    if (!progress.on)
        return;
    rtl_text_escape(safe, sizeof safe, name, strlen(name));
    rtl_text_cut(cut, sizeof cut, safe, NAME_COLUMNS, NAME_COLUMNS / 2, true);
    snprintf(progress.what, sizeof progress.what, "%s %s", what, cut);
    progress.began_ns = rtl_mono_ns();
    progress.next_ns = progress.began_ns + AFTER_MS * 1000000ull;
    progress.done = progress.total = 0;
    progress.shown = false;
}

static void draw_progress(uint64_t now_ns)
{
    unsigned long long seconds = (now_ns - progress.began_ns) / RTL_SEC;
    if (progress.total)
        fprintf(stderr, "\r\033[Krtl-top: %s: %u %%", progress.what,
                (unsigned)((double)progress.done * 100 / (double)progress.total));
    else if (progress.done)
        fprintf(stderr, "\r\033[Krtl-top: %s: %llu, %llu s", progress.what, (unsigned long long)progress.done, seconds);
    else
        fprintf(stderr, "\r\033[Krtl-top: %s: %llu s", progress.what, seconds);
    progress.shown = true;
    progress.next_ns = now_ns + EVERY_MS * 1000000ull;
}

bool rtl_progress_tick(void)
{
    if (!progress.on)
        return false;
    uint64_t now_ns = rtl_mono_ns();
    if (now_ns >= progress.next_ns)
        draw_progress(now_ns);
    return false;
}

void rtl_progress_at(uint64_t done, uint64_t total)
{
    progress.done = done;
    progress.total = total;
    rtl_progress_tick();
}

/* Clears the line for other output. The next update draws it again. */
static void hide_progress(void)
{
    if (progress.shown)
        fputs("\r\033[K", stderr);
    progress.shown = false;
}

void rtl_progress_end(void)
{
    hide_progress();
    progress.on = false;
}

/* --- messages --- */

char *rtl_complaint(const char *format, va_list args)
{
    char *text;
    if (vasprintf(&text, format, args) < 0)
        return NULL;
    size_t length = strlen(text), size = 4 * length + 1;
    char *line = malloc(size);
    if (line)
        rtl_text_line(line, size, text, length);
    free(text);
    return line;
}

__attribute__((format(printf, 1, 0))) static void print_complaint(const char *format, va_list args)
{
    char *line = rtl_complaint(format, args);
    hide_progress();
    fprintf(stderr, "rtl-top: %s\n", line ? line : "out of memory");
    free(line);
}

void rtl_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_complaint(format, args);
    va_end(args);
}

int rtl_refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_complaint(format, args);
    va_end(args);
    return status;
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

int rtl_exit_status(int status)
{
    return rtl_stdout_written() ? status : (int)RTL_DB_FULL;
}
