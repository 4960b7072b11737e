/*
 * doorbell.c - how the idle engine learns that a doorbell was rung.
 *
 * A doorbell is a plain store that nobody announces. While the engine is busy it reads the doorbells anyway. Before it
 * sleeps it write-protects the application's doorbell pages through userfaultfd: the next store faults, the kernel
 * tells the engine, the engine lifts the protection and the store goes through. So an idle process costs next to
 * nothing, and the first packet after a pause is seen within some 20 microseconds. Where userfaultfd isn't to be had
 * (old kernels, containers that filter it) the engine naps instead, with doubling length; VGPU_NAP=1 forces that.
 *
 * Whoever reads a message owes its thread a wake: the kernel has queued the thread, but the thread looks at its page
 * once more before it sleeps, and by then the page may be protected again. A thread whose message was read after the
 * wake would sleep without anyone being told. So messages are read first and the protection, whose lifting wakes all
 * that are queued, is lifted afterwards; and a message that comes later is seen by the next wait, armed or not.
 *
 * Ranges are added by the threads that map doorbells, under `lock`; the engine alone arms, waits and disarms.
 */
#include "vgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

#define NAP_MIN_NS 50000
#define NAP_MAX_NS 2000000
/* The longest sleep behind protected doorbells: should a kernel lose a fault or a page's protection after all, it costs
 * that much once instead of a hang; looking fifty times a second costs an idle process a tenth of a percent. */
#ifndef SLEEP_MAX_NS
#define SLEEP_MAX_NS 20000000
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t va, len;
} ranges[VG_MAX_GPUS * 4];           /* under lock */
static unsigned range_n;             /* under lock */
static bool deaf;                    /* under lock: a mapping that userfaultfd refused */
static int uffd = -1, kickfd = -1;   /* set before the engine starts, then constant */
static uint64_t nap_ns = NAP_MIN_NS; /* engine */

bool vg_bell_open(void)
{
    kickfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const char *nap = getenv("VGPU_NAP");
    if (nap && !strcmp(nap, "1"))
        return false;
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return false;
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
    if (ioctl(fd, UFFDIO_API, &api)) {
        close(fd);
        return false;
    }
    uffd = fd;
    return true;
}

/* nothing more is heard of a doorbell page: nap from now on, and nobody is stopped there any more. Under lock. */
static void give_up(uint64_t va, uint64_t len)
{
    vg_say("userfaultfd can't watch a doorbell page (%s): polling", strerror(errno));
    deaf = true;
    struct uffdio_range range = {va, len};
    ioctl(uffd, UFFDIO_UNREGISTER, &range);
    ioctl(uffd, UFFDIO_WAKE, &range);
}

/* the application has mapped doorbells; without userfaultfd nothing has to be known about it */
void vg_bell_add(uint64_t va, uint64_t len)
{
    struct uffdio_register r = {.range = {va, len}, .mode = UFFDIO_REGISTER_MODE_WP};
    pthread_mutex_lock(&lock);
    if (uffd >= 0 && range_n < sizeof ranges / sizeof *ranges && !ioctl(uffd, UFFDIO_REGISTER, &r)) {
        ranges[range_n].va = va;
        ranges[range_n++].len = len;
    } else if (uffd >= 0) {
        /* a doorbell that the engine wouldn't hear: nap from now on */
        give_up(va, len);
    }
    pthread_mutex_unlock(&lock);
    /* the engine may be asleep already, without this page under protection */
    vg_bell_kick();
}

static bool protect(bool on)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < range_n;) {
        struct uffdio_writeprotect w = {.range = {ranges[i].va, ranges[i].len},
                                        .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
        int r;
        do
            r = ioctl(uffd, UFFDIO_WRITEPROTECT, &w);
        while (r && (errno == EAGAIN || errno == EINTR));
        if (!r) {
            i++;
            continue;
        }
        if (errno != ENOENT) /* which is: unmapped since, by hsa_shut_down */
            give_up(ranges[i].va, ranges[i].len);
        ranges[i] = ranges[--range_n];
    }
    bool can = !deaf && range_n;
    pthread_mutex_unlock(&lock);
    return can;
}

/* From here on a store to a doorbell stops its thread until vg_bell_disarm; false: this must be napped. The caller
 * looks at all doorbells once more in between. */
bool vg_bell_arm(void)
{
    return uffd >= 0 && protect(true);
}

/* Whether someone was stopped; goes on now. Called after every wait: what was armed is disarmed, and a message that
 * came late is answered. */
bool vg_bell_disarm(bool armed)
{
    struct uffd_msg m[16];
    bool any = false;
    if (uffd < 0)
        return false;
    while (read(uffd, m, sizeof m) > 0)
        any = true;
    if (armed || any)
        protect(false);
    return any;
}

/* returns when a doorbell was stored to, someone kicked, or at the latest after max_ns or SLEEP_MAX_NS */
void vg_bell_wait(bool armed, bool nap, uint64_t max_ns)
{
    struct pollfd p[2] = {{.fd = kickfd, .events = POLLIN}, {.fd = uffd, .events = POLLIN}};
    if (!armed || nap) {
        max_ns = max_ns < nap_ns ? max_ns : nap_ns;
        nap_ns = nap_ns * 2 < NAP_MAX_NS ? nap_ns * 2 : NAP_MAX_NS;
    }
    if (max_ns > SLEEP_MAX_NS)
        max_ns = SLEEP_MAX_NS;
    struct timespec t = {(time_t)(max_ns / 1000000000), (long)(max_ns % 1000000000)};
    ppoll(p, 2, &t, NULL);
    uint64_t count;
    while (read(kickfd, &count, sizeof count) > 0)
        ;
}

void vg_bell_active(void)
{
    nap_ns = NAP_MIN_NS;
}

void vg_bell_kick(void)
{
    uint64_t one = 1;
    if (kickfd >= 0 && write(kickfd, &one, sizeof one) < 0 && errno != EAGAIN)
        vg_say("eventfd: %s", strerror(errno));
}

void vg_bell_reset_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    range_n = 0;
    deaf = false;
    if (uffd >= 0)
        close(uffd);
    if (kickfd >= 0)
        close(kickfd);
    uffd = kickfd = -1;
}
