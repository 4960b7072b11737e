/*
 * truth.c - the model's own record of what happened, in up to three files: a line for each completed kernel dispatch,
 * for each copy command of the copy engines, and for each kernel and compute unit the waves.
 *
 * The engine formats lines into a buffer. It writes the buffer when it is full, after a millisecond, and before it
 * sleeps. So a killed process loses at most the last millisecond, and a file always ends with a complete line.
 */
#include "vgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct file {
    const char *header;
    int fd;
    size_t used;
    char buf[1 << 16];
} files[] = {
    {.header = "gpu\tqueue\tpacket_index\tstart_ns\tend_ns\tsignal\tkernel_name\n", .fd = -1},
    {.header = "gpu\tqueue\tstart_ns\tend_ns\tbytes\n", .fd = -1},
    {.header = "unit\twaves\tcycles\tgaps\tgap_cycles\tkernel_name\n", .fd = -1},
};
enum { KERNELS, COPIES, WAVES, FILES };

static bool open_file(struct file *file, const char *path, char *err, size_t err_len)
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
    file->fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        snprintf(err, err_len, "truth file %s: %s", name, strerror(errno));
        return false;
    }
    struct stat st;
    if (!fstat(file->fd, &st) && st.st_size == 0 && write(file->fd, file->header, strlen(file->header)) < 0)
        vg_log("truth file %s: %s", name, strerror(errno));
    return true;
}

bool vg_truth_open(const char *kernels, const char *copies, const char *waves, char *err, size_t err_len)
{
    return (!kernels || files[KERNELS].fd >= 0 || open_file(&files[KERNELS], kernels, err, err_len)) &&
           (!copies || files[COPIES].fd >= 0 || open_file(&files[COPIES], copies, err, err_len)) &&
           (!waves || files[WAVES].fd >= 0 || open_file(&files[WAVES], waves, err, err_len));
}

bool vg_truth_on(void)
{
    return files[KERNELS].fd >= 0;
}

bool vg_truth_of_copies(void)
{
    return files[COPIES].fd >= 0;
}

bool vg_truth_of_waves(void)
{
    return files[WAVES].fd >= 0;
}

static void flush_file(struct file *file)
{
    size_t done = 0;
    while (done < file->used) {
        ssize_t n = write(file->fd, file->buf + done, file->used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            vg_log("truth file: %s; %zu bytes are lost", strerror(errno), file->used - done);
            break;
        }
        done += (size_t)n;
    }
    file->used = 0;
}

void vg_truth_flush(void)
{
    for (int i = 0; i < FILES; i++)
        flush_file(&files[i]);
}

void vg_truth_close(void)
{
    for (int i = 0; i < FILES; i++) {
        if (files[i].fd >= 0)
            close(files[i].fd);
        files[i].fd = -1;
        files[i].used = 0;
    }
}

static char *put_number(char *p, uint64_t v)
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
    struct file *file = &files[KERNELS];
    if (file->used + name_len + 150 > sizeof file->buf)
        flush_file(file);
    char *p = file->buf + file->used;
    p = put_number(p, (uint64_t)gpu);
    p = put_number(p, queue);
    p = put_number(p, index);
    p = put_number(p, vg_ticks_to_ns(start));
    p = put_number(p, vg_ticks_to_ns(end));
    p = put_number(p, signal);
    memcpy(p, name, name_len);
    p += name_len;
    *p++ = '\n';
    file->used = (size_t)(p - file->buf);
}

void vg_truth_waves(const uint64_t numbers[WAVE_NUMBERS], const char *name, size_t name_len)
{
    struct file *file = &files[WAVES];
    if (name_len > 32768)
        name_len = 32768;
    if (file->used + name_len + 150 > sizeof file->buf)
        flush_file(file);
    char *p = file->buf + file->used;
    for (int i = 0; i < WAVE_NUMBERS; i++)
        p = put_number(p, numbers[i]);
    memcpy(p, name, name_len);
    p += name_len;
    *p++ = '\n';
    file->used = (size_t)(p - file->buf);
}

void vg_truth_copy(int gpu, uint64_t queue, uint64_t start, uint64_t end, uint64_t bytes)
{
    struct file *file = &files[COPIES];
    if (file->used + 150 > sizeof file->buf)
        flush_file(file);
    char *p = file->buf + file->used;
    p = put_number(p, (uint64_t)gpu);
    p = put_number(p, queue);
    p = put_number(p, vg_ticks_to_ns(start));
    p = put_number(p, vg_ticks_to_ns(end));
    p = put_number(p, bytes);
    p[-1] = '\n';
    file->used = (size_t)(p - file->buf);
}
