/*
 * meet.c - kernels that wait for one another across processes, like collectives: the n-th such kernel of each process
 * of a job ends after the n-th one of the last process has started.
 *
 * The processes share a file (VGPU_MEET) with a slot for each rank (VGPU_RANK, "0/4"). A slot counts the arrivals of
 * its rank and has the latest times. A rank may be ahead of another one by one arrival only, because it waits for it;
 * so a few times are enough. A rank that has left, or whose process is dead, keeps nobody waiting.
 */
#include "vgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS_MAX = 16, TIMES = 8, CHECK_NS = 200000000 };

struct slot {
    _Atomic uint64_t arrived;     /* release: the time of arrival is written before */
    _Atomic uint64_t time[TIMES]; /* system ns of arrival i at i % TIMES */
    _Atomic int pid;              /* 0: has not started */
    _Atomic bool left;
};

static struct slot *slots; /* NULL: every kernel meets nobody */
static int rank, ranks;
static uint64_t arrivals; /* of this rank */

bool vg_meet_open(const char *path, const char *place, char *err, size_t err_len)
{
    char *end;
    long number = strtol(place, &end, 10), of = *end == '/' && end != place ? strtol(end + 1, &end, 10) : 0;
    if (*end || of < 1 || of > RANKS_MAX || number < 0 || number >= of) {
        snprintf(err, err_len, "VGPU_RANK=%.40s: RANK/RANKS is needed, with at most %d ranks", place, RANKS_MAX);
        return false;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    size_t size = RANKS_MAX * sizeof *slots;
    if (fd < 0 || ftruncate(fd, (off_t)size)) {
        snprintf(err, err_len, "VGPU_MEET=%.200s: cannot be written", path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct slot *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        snprintf(err, err_len, "VGPU_MEET=%.200s: cannot be mapped", path);
        return false;
    }
    slots = at;
    rank = (int)number;
    ranks = (int)of;
    atomic_store(&slots[rank].pid, getpid());
    return true;
}

static bool is_dead(const struct slot *s)
{
    int pid = atomic_load(&s->pid);
    return pid && kill(pid, 0) && errno == ESRCH;
}

uint64_t vg_meet_arrive(uint64_t start)
{
    if (slots) {
        atomic_store(&slots[rank].time[++arrivals % TIMES], vg_ticks_to_ns(start));
        atomic_store(&slots[rank].arrived, arrivals);
    }
    return arrivals;
}

bool vg_meet(uint64_t number, uint64_t *met)
{
    static uint64_t checked_ns;
    uint64_t now = vg_clock_ns();
    bool check = now - checked_ns > CHECK_NS;
    if (check)
        checked_ns = now;
    for (int i = 0; slots && i < ranks; i++) {
        struct slot *s = &slots[i];
        if (atomic_load(&s->arrived) >= number) {
            uint64_t at = vg_ns_to_ticks(atomic_load(&s->time[number % TIMES]));
            *met = at > *met ? at : *met;
        } else if (!atomic_load(&s->left)) {
            if (!check || !is_dead(s))
                return false;
            atomic_store(&s->left, true);
        }
    }
    return true;
}

void vg_meet_leave(void)
{
    if (slots)
        atomic_store(&slots[rank].left, true);
}

/* A child takes no part. */
void vg_meet_reset_after_fork(void)
{
    slots = NULL;
    arrivals = 0;
}
