/* Writing all metrics of the machine to a page, from data that the fleet has read. */
#ifndef RTL_SERVE_RENDER_H
#define RTL_SERVE_RENDER_H

#include "serve/fleet.h"
#include "serve/page.h"

/* Limits of series for all processes together: live queues; kernels of processes, an equal part for each process. */
enum { RTL_SERVED_QUEUES = 1024, RTL_SERVED_PROCESS_KERNELS = 16384 };

/* Numbers about the server itself. */
struct rtl_serve_facts {
    uint64_t scrapes, took_ns, cpu_ns;
};

void rtl_render(struct rtl_fleet *fleet, const struct rtl_serve_facts *facts, struct rtl_page *page);

#endif
