/*
 * A process that writes its event ring at a rate: trace_writer RATE [KERNELS], in records per second, 0 = as fast as
 * possible. Stands in for a GPU that is faster than the software GPU. Ends when it is killed or its standard input
 * ends.
 */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/event_ring.h"

enum { QUEUES = 8, BURST = 64 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double rate = argc > 1 ? atof(argv[1]) : 0;
    uint32_t kernels = argc > 2 ? (uint32_t)atoi(argv[2]) : 200;
    struct rtl_segment_config config = {
        .mode = RTL_MODE_DEFAULT, .library_version = "bench", .events = RTL_EVENTS_DEFAULT};
    struct rtl_segment s;
    char why[200], name[120];
    if (rtl_segment_create(&s, &config, why, sizeof why) != 0 || !s.ring) {
        fprintf(stderr, "trace_writer: %s\n", why);
        return 1;
    }
    for (uint32_t a = 0; a < 2; a++) {
        s.agents[a] = (struct rtl_agent){.gpu = a, .tick_hz = 100000000, .bdf = 0x0300 + 0x100 * a, .name = "gfx90a"};
        s.agents[a].state = 1;
    }
    for (uint32_t q = 0; q < QUEUES; q++)
        s.queues[q] = (struct rtl_queue){.generation = 2, .agent = q % 2, .queue_id = q + 1, .live = 1, .packets = 1};
    for (uint32_t i = 0; i < kernels; i++) {
        int length = snprintf(
            name, sizeof name,
            "_ZN2at6native29vectorized_elementwise_kernelILi4EN%dFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_", i);
        rtl_segment_add_kernel(&s, name, (uint32_t)length, 0);
    }
    rtl_segment_set_state(&s, RTL_STATE_LIVE);
    puts("ready");
    fflush(stdout);

    uint64_t from = now_ns(), n = 0, random = 88172645463325252ull, end[QUEUES];
    for (int q = 0; q < QUEUES; q++)
        end[q] = from;
    for (;;) {
        for (int i = 0; i < BURST; i++, n++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint32_t q = random & 7;
            struct rtl_event_record event = {.start_ns = end[q] + (random >> 8 & 1023),
                                             .duration_ns = 2000 + (random >> 20 & 0x3fff),
                                             .kernel = RTL_KERNEL_FIRST + (uint32_t)(random >> 40) % kernels,
                                             .generation = 2,
                                             .queue = (uint16_t)q,
                                             .agent = q % 2,
                                             .grid = {256 * (1 + (random >> 50 & 4095)), 1, 1},
                                             .workgroup = {256, 1, 1}};
            end[q] = event.start_ns + event.duration_ns;
            rtl_event_put_linked(&s, &event, NULL);
        }
        __atomic_store_n(&s.queues[0].injected, n, __ATOMIC_RELAXED);
        __atomic_store_n(&s.queues[0].completed, n, __ATOMIC_RELAXED);
        if (n % 65536 == 0) {
            struct pollfd input = {.fd = 0, .events = POLLIN};
            if (poll(&input, 1, 0) > 0)
                return 0;
        }
        while (rate > 0 && (double)(now_ns() - from) * rate / 1e9 < (double)n) {
            struct timespec moment = {0, 100000};
            if ((double)n * 1e9 / rate - (double)(now_ns() - from) > 200000)
                nanosleep(&moment, NULL);
        }
    }
}
