/*
 * doorbell.c - wakes the idle engine when a doorbell is rung.
 *
 * A doorbell is a plain store that triggers no notification. While the engine is busy it polls the doorbells anyway.
 * Before it sleeps it write-protects the application's doorbell pages through userfaultfd: the next store faults, the
 * kernel notifies the engine, the engine lifts the protection and the store goes through. So an idle process costs
 * next to nothing, and the engine sees the first packet after a pause within some 20 microseconds. Where userfaultfd
 * is unavailable (old kernels, containers that filter it) the engine naps instead, with doubling length. VGPU_NAP=1
 * forces naps.
 *
 * Order matters: first read the messages, then lift the protection. The kernel has queued the faulting thread, but the
 * thread checks its page once more before it sleeps, and by then the page may be protected again. If its message were
 * read after the wake, the thread would sleep without a further wake. Lifting the protection wakes all queued threads,
 * so reading first is safe. The next wait, armed or not, reads a message that arrives later.
 *
 * Threads that map doorbells add ranges under `lock`; only the engine arms, waits and disarms.
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
/* Longest sleep behind protected doorbells. If a kernel loses a fault or a page's protection, this is the delay instead
 * of a hang. Waking fifty times a second costs an idle process a tenth of a percent. */
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

/* Stop watching a doorbell page: the engine naps from now on, and stores to the page no longer fault. Under lock. */
static void stop_watching(uint64_t va, uint64_t len)
{
    vg_log("userfaultfd can't watch a doorbell page (%s): polling", strerror(errno));
    deaf = true;
    struct uffdio_range range = {va, len};
    ioctl(uffd, UFFDIO_UNREGISTER, &range);
    ioctl(uffd, UFFDIO_WAKE, &range);
}

/* Watch the doorbells that the application has mapped. Without userfaultfd there is nothing to do. */
void vg_bell_add(uint64_t va, uint64_t len)
{
    struct uffdio_register r = {.range = {va, len}, .mode = UFFDIO_REGISTER_MODE_WP};
    pthread_mutex_lock(&lock);
    if (uffd >= 0 && range_n < sizeof ranges / sizeof *ranges && !ioctl(uffd, UFFDIO_REGISTER, &r)) {
        ranges[range_n].va = va;
        ranges[range_n++].len = len;
    } else if (uffd >= 0) {
        /* The engine would miss this doorbell: nap from now on. */
        stop_watching(va, len);
    }
    pthread_mutex_unlock(&lock);
    /* The engine may already be asleep, without this page under protection. */
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
        if (errno != ENOENT) /* ENOENT: unmapped since, by hsa_shut_down */
            stop_watching(ranges[i].va, ranges[i].len);
        ranges[i] = ranges[--range_n];
    }
    bool can = !deaf && range_n;
    pthread_mutex_unlock(&lock);
    return can;
}

/* From here on a store to a doorbell stops its thread until vg_bell_disarm. false: the engine must nap. The caller
 * polls all doorbells once more in between. */
bool vg_bell_arm(void)
{
    return uffd >= 0 && protect(true);
}

/* Return true if a thread was stopped at a doorbell; it continues now. Called after every wait: lifts the protection
 * and answers a message that arrived during the wait. */
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

/* Return on a store to a doorbell, on vg_bell_kick(), or at the latest after max_ns or SLEEP_MAX_NS. */
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
        vg_log("eventfd: %s", strerror(errno));
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
