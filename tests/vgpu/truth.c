/*
 * truth.c - the model's own record of what happened: a line for every kernel dispatch that completed.
 *
 * The engine formats into a buffer and writes it out when it is full, when a millisecond has passed and before it goes
 * to sleep; so at most the last millisecond is lost when the process is killed, and a file never ends within a line.
 */
#include "vgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char header[] = "gpu\tqueue\tpacket_index\tstart_ns\tend_ns\tsignal\tkernel_name\n";

static int fd = -1;
static char buf[1 << 16];
static size_t used;

bool vg_truth_open(const char *path, char *err, size_t err_len)
{
    char name[4096];
    size_t n = 0;
    for (const char *p = path; *p && n < sizeof name - 12; p++)
        if (p[0] == '%' && p[1] == 'p') {
            n += (size_t)snprintf(name + n, 12, "%d", (int)getpid());
            p++;
        } else {
            name[n++] = *p;
        }
    name[n] = '\0';
    fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        snprintf(err, err_len, "truth file %s: %s", name, strerror(errno));
        return false;
    }
    struct stat st;
    if (!fstat(fd, &st) && st.st_size == 0 && write(fd, header, sizeof header - 1) < 0)
        vg_say("truth file %s: %s", name, strerror(errno));
    return true;
}

bool vg_truth_on(void)
{
    return fd >= 0;
}

void vg_truth_flush(void)
{
    size_t done = 0;
    while (done < used) {
        ssize_t n = write(fd, buf + done, used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            vg_say("truth file: %s; %zu bytes are lost", strerror(errno), used - done);
            break;
        }
        done += (size_t)n;
    }
    used = 0;
}

void vg_truth_close(void)
{
    if (fd >= 0)
        close(fd);
    fd = -1;
    used = 0;
}

static char *put(char *p, uint64_t v)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        *p++ = digits[--n];
    *p++ = '\t';
    return p;
}

void vg_truth_write(int gpu, uint64_t queue, uint64_t index, uint64_t start, uint64_t end, bool signal,
                    const char *name, size_t name_len)
{
    if (name_len > 32768)
        name_len = 32768;
    if (used + name_len + 150 > sizeof buf)
        vg_truth_flush();
    char *p = buf + used;
    p = put(p, (uint64_t)gpu);
    p = put(p, queue);
    p = put(p, index);
    p = put(p, vg_ticks_to_ns(start));
    p = put(p, vg_ticks_to_ns(end));
    p = put(p, signal);
    memcpy(p, name, name_len);
    p += name_len;
    *p++ = '\n';
    used = (size_t)(p - buf);
}
