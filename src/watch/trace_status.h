/* Lets the screen report the failure of a trace that is recorded in the background. */
#ifndef RTL_WATCH_TRACE_STATUS_H
#define RTL_WATCH_TRACE_STATUS_H

struct rtl_trace_status {
    const char *(*trouble)(void *context); /* returns one line, or NULL without failure */
    void *context;
};

#endif
