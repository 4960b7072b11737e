/* Reads files that a process may never deliver. See late_file.h. */
#include "shm/late_file.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/process.h"

enum { STACK_BYTES = 64 << 10 };
static const uint64_t MS = 1000000;

/* One read. The caller and the thread share it; the thread frees it if the caller has left. */
struct late_read {
    pid_t pid;
    uid_t uid;        /* who pays */
    const char *file; /* constant */
    size_t bytes;
    /* under `lock` */
    bool finished, left;    /* the thread's result is there; the caller has left */
    struct late_read *next; /* in `hanging`, once the caller has left */
    ssize_t result;
    char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static struct late_read *hanging; /* under `lock`: reads whose callers have left */
static struct late_debt {
    uid_t uid;
    uint64_t paid_ns;    /* when the user's waits are paid off */
} debts[RTL_LATE_USERS]; /* under `lock` */

/* --- limits; under `lock` --- */

/* Return the user's debt; for a user without one, the entry that is paid off first. */
static struct late_debt *debt_of(uid_t uid)
{
    struct late_debt *first = debts;
    for (int i = 0; i < RTL_LATE_USERS; i++) {
        if (debts[i].paid_ns && debts[i].uid == uid)
            return &debts[i];
        if (debts[i].paid_ns < first->paid_ns)
            first = &debts[i];
    }
    return first;
}

static bool is_refused(uid_t own, pid_t pid, uid_t uid)
{
    const struct late_debt *debt = debt_of(uid);
    int all = 0, of_user = 0;
    for (const struct late_read *r = hanging; r; r = r->next) {
        if (r->pid == pid && r->uid == uid)
            return true;
        all += r->uid != own;
        of_user += r->uid == uid;
    }
    if (uid == own)
        return of_user >= RTL_LATE_OWN;
    return of_user >= RTL_LATE_EACH || all >= RTL_LATE_THREADS ||
           (debt->uid == uid && debt->paid_ns > rtl_mono_ns() + RTL_LATE_OWED_MS * MS);
}

static void charge(uid_t uid, uint64_t from, uint64_t now)
{
    struct late_debt *debt = debt_of(uid);
    if (now - from <= RTL_LATE_PROMPT_MS * MS)
        return;
    if (debt->uid != uid || debt->paid_ns < now)
        *debt = (struct late_debt){uid, now};
    debt->paid_ns += (now - from) * RTL_LATE_REFILL;
}

static void forget(const struct late_read *r)
{
    struct late_read **at = &hanging;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
}

/* --- reading --- */

static void *read_late(void *data)
{
    struct late_read *r = data;
    ssize_t result = rtl_process_file(r->pid, r->file, r->data, r->bytes);
    pthread_mutex_lock(&lock);
    r->result = result;
    r->finished = true;
    bool left = r->left;
    if (left)
        forget(r);
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&lock);
    if (left)
        free(r);
    return NULL;
}

/* Wait for the result; under `lock`. */
static void wait_for(const struct late_read *r)
{
    uint64_t end = rtl_mono_ns() + RTL_LATE_MS * 1000000ull;
    struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    while (!r->finished && pthread_cond_clockwait(&finished, &lock, CLOCK_MONOTONIC, &until) == 0)
        ;
}

/* Return who pays: the owner of the user namespace, because it has many uids; else the real uid of the process. */
static uid_t user_of(uid_t own, pid_t pid)
{
    struct rtl_process process;
    uid_t uid = rtl_process_namespace_owner(own, pid);
    if (uid == own)
        uid = rtl_process_read(pid, &process) ? (uid_t)-1 : process.ruid;
    return uid;
}

ssize_t rtl_late_file(pid_t pid, const char *file, char *buffer, size_t bytes)
{
    *buffer = '\0';
    pid = pid ? pid : getpid();
    uid_t own = geteuid(), uid = user_of(own, pid);
    pthread_mutex_lock(&lock);
    bool refused = is_refused(own, pid, uid);
    pthread_mutex_unlock(&lock);
    if (refused)
        return -ETIMEDOUT;
    struct late_read *r = calloc(1, sizeof *r + bytes);
    if (!r)
        return -ENOMEM;
    r->pid = pid;
    r->uid = uid;
    r->file = file;
    r->bytes = bytes;
    uint64_t from = rtl_mono_ns();
    int error = rtl_thread_start(read_late, r, STACK_BYTES);
    if (error) {
        free(r);
        return -error;
    }
    pthread_mutex_lock(&lock);
    wait_for(r);
    charge(uid, from, rtl_mono_ns());
    ssize_t result = r->finished ? r->result : -ETIMEDOUT;
    bool left = r->left = !r->finished;
    if (left) {
        r->next = hanging;
        hanging = r;
    }
    pthread_mutex_unlock(&lock);
    if (result > 0)
        memcpy(buffer, r->data, (size_t)result + 1);
    if (!left)
        free(r);
    return result;
}
