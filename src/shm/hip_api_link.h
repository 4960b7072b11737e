/*
 * What librtl-hip.so tells librtl.so in the same process: which call the calling thread is in, and where the API
 * segment lies, in which librtl.so counts what it links; and the clock that librtl.so tells it in return. librtl.so
 * looks the function up by its name when it is loaded; neither library needs the other.
 */
#ifndef RTL_SHM_HIP_API_LINK_H
#define RTL_SHM_HIP_API_LINK_H

#include <stdint.h>

#include "shm/hip_api.h"

#define RTL_HIP_API_LINK_NAME    "rtl_api_link"
#define RTL_HIP_API_LINK_VERSION 1u

/* A thread's own; nobody else looks at it. */
struct rtl_hip_api_call {
    uint64_t id;       /* of the call that it is in; 0: in none */
    uint64_t entry_ns; /* when that began, CLOCK_MONOTONIC */
    uint64_t range;    /* id of the innermost range that it has pushed; 0: none */
    uint32_t node;     /* of that range */
    uint32_t ordinal;  /* packets and copies that were submitted in this call so far; librtl.so counts it on */
};

struct rtl_hip_api_clock;

struct rtl_hip_api_link {
    uint32_t version; /* RTL_HIP_API_LINK_VERSION: another one isn't used */
    uint32_t bytes;
    struct rtl_hip_api_call *(*call)(void); /* the calling thread's; no lock, no allocation */
    struct rtl_hip_api_header *header;      /* the segment: the rest lies at RTL_HIP_API_*_AT behind it */
    struct rtl_hip_api_clock
        *clock; /* for the worker to set (hip_api_clock.h); only where `bytes` say that it is there */
};

/* The exported function: NULL where no calls are recorded (another mode, a forked child, no memory). */
typedef const struct rtl_hip_api_link *rtl_hip_api_link_function(void);

#endif
