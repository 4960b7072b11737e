/*
 * trace_nonsense.c - a process whose event ring is full of nonsense: random queues, generations, GPUs, kernels and
 * times, in an otherwise valid segment. trace_nonsense [RECORDS] [honest|endless]: honest records are of queues that
 * used one slot one after another; endless continues to write as fast as it can. Prints "ready" and ends when standard
 * input closes.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/event_ring.h"

int main(int argc, char **argv)
{
    uint32_t records = argc > 1 ? (uint32_t)atoi(argv[1]) : RTL_EVENTS_DEFAULT;
    int honest = argc > 2 && !strcmp(argv[2], "honest"), endless = argc > 2 && !strcmp(argv[2], "endless");
    struct rtl_segment_config config = {
        .mode = RTL_MODE_DEFAULT, .library_version = "nonsense", .events = RTL_EVENTS_DEFAULT};
    struct rtl_segment s;
    char why[200], byte;
    if (rtl_segment_create(&s, &config, why, sizeof why) != 0 || !s.ring) {
        fprintf(stderr, "trace_nonsense: %s\n", why);
        return 1;
    }
    s.agents[0] = (struct rtl_agent){.gpu = 0, .tick_hz = 100000000, .bdf = 0x0300, .name = "gfx90a"};
    s.agents[0].state = 1;
    s.queues[0] = (struct rtl_queue){.generation = 4 * records + 4, .queue_id = 5, .live = 1, .packets = 1};
    rtl_segment_add_kernel(&s, "kernel", 6, 0);
    rtl_segment_set_state(&s, RTL_STATE_LIVE);
    uint64_t random = 88172645463325252ull;
    for (uint32_t n = 0; n < records || endless; n++) {
        struct rtl_event_record event;
        for (size_t at = 0; at < sizeof event; at += 8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            memcpy((char *)&event + at, &random, 8);
        }
        if (honest)
            event = (struct rtl_event_record){.start_ns = 1000 + n,
                                              .duration_ns = 10,
                                              .kernel = RTL_KERNEL_FIRST,
                                              .generation = 4 * n + 2,
                                              .grid = {64, 1, 1},
                                              .workgroup = {64, 1, 1}};
        rtl_event_put_linked(&s, &event, NULL);
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        if (endless && n % 65536 == 0 && poll(&input, 1, 0) > 0)
            return 0;
        if (n + 1 == records) {
            puts("ready");
            fflush(stdout);
        }
    }
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    return 0;
}
