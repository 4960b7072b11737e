/*
 * The pages that are sent, one of each format: made when somebody asks, and no oftener than so many times a second,
 * whether it could be made or not. One thread.
 */
#ifndef RTL_SERVE_PAGES_H
#define RTL_SERVE_PAGES_H

#include "serve/fleet.h"
#include "serve/http.h"
#include "serve/render.h"

/* Who asks all the time gets the same one again, and costs next to nothing. */
static const uint64_t RTL_PAGE_NS = 250000000;

struct rtl_pages {
    struct rtl_http_body *body[RTL_FORMAT_COUNT]; /* NULL: none so far, or it had no room */
    uint64_t made_ns[RTL_FORMAT_COUNT], collected_ns;
    uint64_t made; /* how many */
    struct rtl_serve_facts facts;
};

/* The page of now; NULL when it has no room. `parts`: of histograms, as page.h has them. */
struct rtl_http_body *rtl_pages_get(struct rtl_pages *pages, struct rtl_fleet *fleet, struct rtl_http *http,
                                    enum rtl_format format, unsigned parts);
void rtl_pages_free(struct rtl_pages *pages);

#endif
