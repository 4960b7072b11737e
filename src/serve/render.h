/* Writing all metrics of the machine to pages, from data that the fleet has read. One thread. */
#ifndef RTL_SERVE_RENDER_H
#define RTL_SERVE_RENDER_H

#include "serve/fleet.h"
#include "serve/http.h"
#include "serve/page.h"

/* Limits of series for all processes together: live queues; kernels of processes, an equal part for each process. */
enum { RTL_SERVED_QUEUES = 1024, RTL_SERVED_PROCESS_KERNELS = 16384 };

/* Numbers about the server itself. */
struct rtl_serve_facts {
    uint64_t scrapes, took_ns, cpu_ns;
};

void rtl_render(struct rtl_fleet *fleet, const struct rtl_serve_facts *facts, struct rtl_page *page);

static const uint64_t RTL_PAGE_NS = 250000000;

/* The current page of each format, made on request, at most once every RTL_PAGE_NS. */
struct rtl_pages {
    struct rtl_http_body *body[RTL_FORMAT_COUNT]; /* NULL: none yet, or the last one failed */
    uint64_t made_ns[RTL_FORMAT_COUNT], collected_ns;
    uint64_t made; /* number of pages */
    struct rtl_serve_facts facts;
};

/* Return the current page; NULL if it has no room. `parts`: as in struct rtl_page. */
struct rtl_http_body *rtl_pages_get(struct rtl_pages *pages, struct rtl_fleet *fleet, struct rtl_http *http,
                                    enum rtl_format format, unsigned parts);
void rtl_pages_free(struct rtl_pages *pages);

#endif
