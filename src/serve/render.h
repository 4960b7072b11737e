/* All metrics of a machine as a page. Reads nothing of the system; what it shows was read before. */
#ifndef RTL_SERVE_RENDER_H
#define RTL_SERVE_RENDER_H

#include "serve/fleet.h"
#include "serve/page.h"

/* With series of their own, of all processes together: live queues; kernels of processes, each process's as many. */
enum { RTL_SERVED_QUEUES = 1024, RTL_SERVED_PROCESS_KERNELS = 16384 };

/* What the server says of itself. */
struct rtl_serve_facts {
    uint64_t scrapes, took_ns, cpu_ns;
};

void rtl_render(struct rtl_fleet *fleet, const struct rtl_serve_facts *facts, struct rtl_page *page);

#endif
