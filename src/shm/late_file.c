/* Reads files that a process may never deliver. See late_file.h. */
#include "shm/late_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/proc_file.h"

enum { STACK_BYTES = 64 << 10, FILE_NAME_MAX = 16 };

/* One read. The caller and the thread share it; the last of them frees it. */
struct late_read {
    pid_t pid;
    char file[FILE_NAME_MAX];
    size_t bytes;
    /* under `lock` */
    bool finished, left; /* the thread's result is there; the caller has left */
    ssize_t result;
    char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished; /* on CLOCK_MONOTONIC */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pid_t hanging[RTL_LATE_THREADS]; /* under `lock`: processes whose reads hang, or 0 */

static void prepare(void)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&finished, &clock);
    pthread_condattr_destroy(&clock);
}

static pid_t *hanging_entry(pid_t pid)
{
    for (int i = 0; i < RTL_LATE_THREADS; i++)
        if (hanging[i] == pid)
            return &hanging[i];
    return NULL;
}

static void *read_late(void *data)
{
    struct late_read *r = data;
    ssize_t result = rtl_process_file(r->pid, r->file, r->data, r->bytes);
    pthread_mutex_lock(&lock);
    r->result = result;
    r->finished = true;
    bool left = r->left;
    pid_t *entry = left ? hanging_entry(r->pid) : NULL;
    if (entry)
        *entry = 0;
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&lock);
    if (left)
        free(r);
    return NULL;
}

/* A small thread without signals: the program's handlers expect the main thread. */
static int start_thread(struct late_read *r)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, read_late, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Wait for the result; under `lock`. */
static void wait_for(const struct late_read *r)
{
    uint64_t end = rtl_mono_ns() + RTL_LATE_MS * 1000000ull;
    struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    while (!r->finished && pthread_cond_timedwait(&finished, &lock, &until) == 0)
        ;
}

ssize_t rtl_late_file(pid_t pid, const char *file, char *buffer, size_t bytes)
{
    pthread_once(&prepared, prepare);
    *buffer = '\0';
    pid = pid ? pid : getpid();
    pthread_mutex_lock(&lock);
    bool refused = hanging_entry(pid) || !hanging_entry(0);
    pthread_mutex_unlock(&lock);
    if (refused)
        return -ETIMEDOUT;
    struct late_read *r = calloc(1, sizeof *r + bytes);
    if (!r)
        return -ENOMEM;
    r->pid = pid;
    r->bytes = bytes;
    strncpy(r->file, file, sizeof r->file - 1);
    int error = start_thread(r);
    if (error) {
        free(r);
        return -error;
    }
    pthread_mutex_lock(&lock);
    wait_for(r);
    pid_t *entry = r->finished ? NULL : hanging_entry(0);
    if (entry)
        *entry = pid;
    r->left = !r->finished;
    bool done = r->finished;
    ssize_t result = done ? r->result : -ETIMEDOUT;
    pthread_mutex_unlock(&lock);
    if (!done)
        return result;
    if (result > 0)
        memcpy(buffer, r->data, (size_t)result + 1);
    free(r);
    return result;
}
