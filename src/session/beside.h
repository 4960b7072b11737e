/* What runs beside a screen that watches, and may fail: the screen asks now and then, and says so. */
#ifndef RTL_SESSION_BESIDE_H
#define RTL_SESSION_BESIDE_H

struct rtl_beside {
    const char *(*trouble)(void *context); /* one line, or NULL while all is well */
    void *context;
};

#endif
