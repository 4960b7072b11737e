/* What runs in the background of a screen, a recorder of traces, and may fail: the screen asks, and reports it. */
#ifndef RTL_SESSION_BACKGROUND_H
#define RTL_SESSION_BACKGROUND_H

struct rtl_background {
    const char *(*trouble)(void *context); /* one line, or NULL while all is well */
    void *context;
};

#endif
