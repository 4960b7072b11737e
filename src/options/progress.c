/* Draws the line of progress. See progress.h. */
#include "options/progress.h"
#include "base/clock.h"
#include "text/text.h"
#include "text/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void rtl_progress_hide(void)
{
    if (progress.shown)
        fputs("\r\033[K", stderr);
    progress.shown = false;
}

void rtl_progress_end(void)
{
    rtl_progress_hide();
    progress.on = false;
}
