/* The current page of each format. See pages.h. */
#include "serve/pages.h"
#include "base/clock.h"

#include <time.h>

static const char *const types[RTL_FORMAT_COUNT] = {
#define FORMAT(sym, text, type) [RTL_FORMAT_##sym] = type,
    RTL_FORMATS(FORMAT)
#undef FORMAT
};

static bool is_recent(uint64_t made_ns, uint64_t now_ns)
{
    return made_ns && now_ns - made_ns < RTL_PAGE_NS;
}

/* The old page, or its failure, is returned while it is new, or while too many bodies are still being sent. */
struct rtl_http_body *rtl_pages_get(struct rtl_pages *pages, struct rtl_fleet *fleet, struct rtl_http *http,
                                    enum rtl_format format, unsigned parts)
{
    struct rtl_page page;
    uint64_t from = rtl_mono_ns();
    if (is_recent(pages->made_ns[format], from) || (pages->body[format] && !rtl_http_has_room(http)))
        return pages->body[format];
    rtl_http_body_free(pages->body[format]);
    pages->body[format] = NULL;
    pages->facts.cpu_ns = rtl_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!is_recent(pages->collected_ns, from)) {
        rtl_fleet_collect(fleet);
        pages->collected_ns = rtl_mono_ns();
    }
    rtl_page_begin(&page, format, parts);
    rtl_render(fleet, &pages->facts, &page);
    if (rtl_page_end(&page))
        pages->body[format] = rtl_http_body_make(http, types[format], page.text, page.used);
    else
        rtl_page_free(&page);
    pages->made++;
    pages->made_ns[format] = rtl_mono_ns();
    pages->facts.took_ns = pages->made_ns[format] - from;
    return pages->body[format];
}

void rtl_pages_free(struct rtl_pages *pages)
{
    for (int i = 0; i < RTL_FORMAT_COUNT; i++) {
        rtl_http_body_free(pages->body[i]);
        pages->body[i] = NULL;
    }
}
