/* Starts threads that nobody waits for. */
#ifndef RTL_BASE_THREAD_H
#define RTL_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Start a detached thread without signals, which other threads handle. `stack_bytes` 0: the system's default. Returns 0
 * or an error number. */
static inline int rtl_thread_start(void *(*run)(void *), void *context, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

#endif
