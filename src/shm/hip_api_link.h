/*
 * The interface between librtl.so and librtl-hip.so in one process. librtl-hip.so names the call that a thread is in
 * and the API segment; the worker of librtl.so sets the clock of librtl-hip.so. librtl.so finds the function by name at
 * load. Neither library needs the other.
 */
#ifndef RTL_SHM_HIP_API_LINK_H
#define RTL_SHM_HIP_API_LINK_H

#include <stdint.h>

#include "shm/hip_api.h"

#define RTL_HIP_API_LINK_NAME    "rtl_api_link"
#define RTL_HIP_API_LINK_VERSION 1u

/* Private to one thread. */
struct rtl_hip_api_call {
    uint64_t id;       /* of the current call; 0: none */
    uint64_t entry_ns; /* its begin, CLOCK_MONOTONIC */
    uint64_t range;    /* id of the innermost pushed range; 0: none */
    uint32_t node;     /* of that range */
    uint32_t ordinal;  /* packets and copies submitted in this call so far; librtl.so counts it */
};

struct rtl_hip_api_clock;

struct rtl_hip_api_link {
    uint32_t version; /* RTL_HIP_API_LINK_VERSION: librtl.so ignores other versions */
    uint32_t bytes;
    struct rtl_hip_api_call *(*call)(void); /* of the calling thread; no lock, no allocation */
    struct rtl_hip_api_header *header;      /* the segment; its other parts lie at RTL_HIP_API_*_AT */
    struct rtl_hip_api_clock *clock; /* set by the worker (hip_api_clock.h); present only if `bytes` includes it */
};

/* The exported function. NULL if no calls are recorded (another mode, a forked child, no memory). */
typedef const struct rtl_hip_api_link *rtl_hip_api_link_function(void);

#endif
