/* The current page of each format, made on request, at most once every RTL_PAGE_NS. One thread. */
#ifndef RTL_SERVE_PAGES_H
#define RTL_SERVE_PAGES_H

#include "serve/fleet.h"
#include "serve/http.h"
#include "serve/render.h"

static const uint64_t RTL_PAGE_NS = 250000000;

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
