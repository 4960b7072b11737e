/* What runs in the background of a screen, a recorder of traces, and may fail: the screen asks, and reports it. */
#ifndef RTL_WATCH_TRACE_STATUS_H
#define RTL_WATCH_TRACE_STATUS_H

struct rtl_trace_status {
    const char *(*trouble)(void *context); /* one line, or NULL while all is well */
    void *context;
};

#endif
