/* Writing all metrics of the machine to pages. See render.h. */
#include "serve/render.h"
#include "base/clock.h"
#include "base/version.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "shm/hip_api_snapshot.h"
#include "shm/gpu_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct label_text {
    char text[24];
};

static struct label_text format_number(uint64_t value)
{
    struct label_text t;
    snprintf(t.text, sizeof t.text, "%" PRIu64, value);
    return t;
}

/* Return the number of the rank; for a worker with several coordinates its label, "DP1_TP0". */
static struct label_text format_rank(const struct rtl_served *s)
{
    struct label_text t = {""};
    if (s->info.rank >= 0)
        return format_number((uint64_t)s->info.rank);
    if (strchr(s->info.label, '_'))
        snprintf(t.text, sizeof t.text, "%s", s->info.label);
    return t;
}

static struct rtl_gpu_name gpu_label(uint32_t bdf)
{
    return bdf == RTL_NO_BDF ? (struct rtl_gpu_name){"unknown"} : rtl_pci_address(bdf);
}

/* --- ranked series --- */

static void kernel_labels(struct rtl_fleet *fleet, uint32_t number, const char *label[3], struct label_text *id)
{
    snprintf(id->text, sizeof id->text, "%016" PRIx64, fleet->totals.kernels.series[number].hash);
    label[0] = rtl_totals_kernel(&fleet->totals, number);
    label[1] = id->text;
    label[2] = rtl_name_family_name(rtl_totals_family(&fleet->totals, number));
}

static void render_tally(struct rtl_page *page, const struct rtl_tally *t)
{
    if (rtl_metrics[page->metric].type == RTL_METRIC_TYPE_HISTOGRAM)
        rtl_page_histogram(page, &t->times);
    else
        rtl_page_count(page, page->metric == RTL_METRIC_API_ERRORS ? t->errors : t->calls);
}

static const struct rtl_tally *own_of(const struct rtl_series *series)
{
    static const struct rtl_tally none;
    return series->own ? series->own : &none;
}

static bool is_any(const struct rtl_tally *t)
{
    return t->calls || t->errors || t->times.values;
}

static void render_ranked(struct rtl_fleet *fleet, const struct rtl_ranked *r, struct rtl_page *page,
                          enum rtl_metric metric)
{
    bool kernels = r == &fleet->totals.kernels;
    const char *labels[3];
    struct label_text id;
    rtl_page_metric(page, metric);
    for (uint32_t i = 0; i < r->count; i++) {
        if (!r->series[i].shown)
            continue;
        labels[0] = r->series[i].name;
        const char *kind = rtl_hip_api_kind_key(r->series[i].kind);
        labels[1] = kind ? kind : "unknown";
        if (kernels)
            kernel_labels(fleet, i, labels, &id);
        rtl_page_labels(page, labels);
        render_tally(page, own_of(&r->series[i]));
    }
    if (!kernels && !r->count)
        return;
    rtl_page_labels(page, (const char *[]){RTL_OTHER_LABEL, "", ""});
    render_tally(page, &r->other);
    if (!is_any(&r->ended))
        return;
    rtl_page_labels(page, (const char *[]){RTL_ENDED_LABEL, "", ""});
    render_tally(page, &r->ended);
}

/* --- metrics of a fixed number of series --- */

static void render_families(const struct rtl_totals *t, struct rtl_page *page, enum rtl_metric metric)
{
    rtl_page_metric(page, metric);
    for (uint32_t i = 0; i < RTL_FAMILY_COUNT; i++) {
        rtl_page_labels(page, (const char *[]){rtl_name_family_name((enum rtl_name_family)i)});
        render_tally(page, &t->families[i]);
    }
}

static void render_untimed(const struct rtl_totals *t, struct rtl_page *page)
{
    rtl_page_metric(page, RTL_METRIC_UNTIMED);
#define REASON(sym, num, key, text, writer)       \
    rtl_page_labels(page, (const char *[]){key}); \
    rtl_page_count(page, t->untimed[RTL_UNTIMED_##sym]);
    RTL_UNTIMED_REASONS(REASON)
#undef REASON
}

static void render_queue_errors(const struct rtl_totals *t, struct rtl_page *page)
{
    int place = 0;
    rtl_page_metric(page, RTL_METRIC_QUEUE_ERRORS);
#define ERROR(status, key, text)                  \
    rtl_page_labels(page, (const char *[]){key}); \
    rtl_page_count(page, t->queue_errors[place++]);
    RTL_QUEUE_ERRORS(ERROR)
    ERROR(0, "unknown", )
#undef ERROR
}

static void render_gaps(const struct rtl_served_gpu *gpu, const char *label, struct rtl_page *page)
{
    static const char *const gaps[RTL_IDLE_COUNT] = {"<10us", "<100us", "<1ms", "<10ms", "<100ms", "more"};
    for (int i = 0; i < RTL_IDLE_COUNT; i++) {
        rtl_page_labels(page, (const char *[]){label, gaps[i]});
        if (page->metric == RTL_METRIC_GPU_IDLE)
            rtl_page_seconds(page, gpu->idle[i].total_ns);
        else
            rtl_page_count(page, gpu->idle[i].count);
    }
}

static void render_copies(const struct rtl_served_gpu *gpu, const char *label, struct rtl_page *page)
{
    for (int i = 0; i < RTL_DIRECTION_COUNT; i++) {
        const struct rtl_served_copies *c = &gpu->copies[i];
        if (!c->count)
            continue;
        rtl_page_labels(page, (const char *[]){label, rtl_direction_names((unsigned)i).key});
        if (page->metric == RTL_METRIC_COPY_DURATION)
            rtl_page_histogram(page, &c->times);
        else
            rtl_page_count(page, page->metric == RTL_METRIC_COPIES ? c->count : c->bytes);
    }
}

static void render_gpus(const struct rtl_totals *t, struct rtl_page *page, enum rtl_metric metric)
{
    rtl_page_metric(page, metric);
    for (uint32_t i = 0; i < t->gpu_count; i++) {
        const struct rtl_served_gpu *gpu = &t->gpus[i];
        struct rtl_gpu_name bdf = gpu_label(gpu->bdf);
        const char *label = bdf.text;
        rtl_page_labels(page, (const char *[]){label, gpu->name, gpu->uuid});
        if (metric == RTL_METRIC_GPU_IDLE || metric == RTL_METRIC_GPU_GAPS)
            render_gaps(gpu, label, page);
        else if (metric == RTL_METRIC_COPIES || metric == RTL_METRIC_COPY_BYTES || metric == RTL_METRIC_COPY_DURATION)
            render_copies(gpu, label, page);
        else if (metric == RTL_METRIC_GPU)
            rtl_page_count(page, 1);
        else if (metric == RTL_METRIC_GPU_BUSY)
            rtl_page_seconds(page, gpu->busy_ns);
        else
            rtl_page_histogram(page, &gpu->wait);
    }
}

/* --- metrics of one process --- */

static void render_queues(const struct rtl_fleet *fleet, struct rtl_page *page, enum rtl_metric metric)
{
    uint32_t left = RTL_SERVED_QUEUES;
    rtl_page_metric(page, metric);
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct rtl_served *s = fleet->served[i];
        for (uint32_t n = 0; s->has_snapshot && !s->ended_ns && n < s->snapshot.queue_count; n++) {
            const struct rtl_queue_snapshot *q = &s->snapshot.queues[n];
            const char *way = rtl_queue_path_key(q->path);
            struct rtl_gpu_name bdf = gpu_label(rtl_bdf_of(&s->snapshot, q->agent));
            char id[40];
            if (!q->live || q->shared || !left ||
                (metric == RTL_METRIC_QUEUE_DEPTH && !rtl_depth_is_known(&s->snapshot, q)))
                continue;
            left--;
            /* queue ids of a process may repeat, slots don't */
            snprintf(id, sizeof id, "%" PRIu32 ":%" PRIu64, q->slot, q->queue_id);
            rtl_page_labels(page, (const char *[]){format_number((uint64_t)s->pid).text, bdf.text, id, way ? way : ""});
            rtl_page_count(page, metric == RTL_METRIC_QUEUE_DEPTH ? q->depth : q->dispatches);
        }
    }
}

static void render_process_busy(const struct rtl_served *s, const char *pid, const char *rank, struct rtl_page *page)
{
    for (uint32_t i = 0; i < s->snapshot.agent_count; i++) {
        const struct rtl_agent_snapshot *agent = &s->snapshot.agents[i];
        bool again = false; /* a damaged segment may repeat an address */
        for (uint32_t n = 0; n < i; n++)
            again |= s->snapshot.agents[n].bdf == agent->bdf;
        if (again)
            continue;
        rtl_page_labels(page, (const char *[]){pid, rank, gpu_label(agent->bdf).text});
        rtl_page_seconds(page, agent->busy_ns);
    }
}

/* Only kernels with their own series: a sum of the others would decrease when one of them gets its own. */
static void render_process_kernels(struct rtl_fleet *fleet, const struct rtl_served *s, const char *pid,
                                   const char *rank, struct rtl_page *page)
{
    const struct rtl_ranked *r = &fleet->totals.kernels;
    struct kernel_sum {
        uint64_t values, sum_ns;
    } *sums = calloc((size_t)r->count + 1, sizeof *sums);
    uint32_t left = RTL_SERVED_PROCESS_KERNELS / fleet->count;
    if (!sums) {
        page->failed = true;
        return;
    }
    for (uint32_t i = 0; i < s->snapshot.kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->snapshot.kernels[i];
        uint32_t of = k->id < RTL_KERNELS_MAX ? s->series[k->id] : 0;
        if (!of || of > r->count || !r->series[of - 1].shown)
            continue;
        of--;
        sums[of].values += k->histogram.count;
        sums[of].sum_ns += k->histogram.total_ns;
    }
    for (uint32_t i = 0; i < r->count && left; i++) {
        const char *labels[5] = {pid, rank};
        struct label_text id;
        if (!sums[i].values)
            continue;
        left--;
        kernel_labels(fleet, i, labels + 2, &id);
        rtl_page_labels(page, labels);
        rtl_page_summary(page, sums[i].values, sums[i].sum_ns);
    }
    free(sums);
}

static void render_process_memory(const struct rtl_served *s, const char *pid, const char *rank, struct rtl_page *page)
{
    const struct rtl_hip_api_snapshot *api = s->calls.hip_api;
    for (uint32_t i = 0; api && i < api->memory_count; i++) {
        char place[24] = "host";
        if (api->memory[i].place < RTL_HIP_API_GPUS)
            snprintf(place, sizeof place, "gpu%u", (unsigned)api->memory[i].place);
        rtl_page_labels(page, (const char *[]){pid, rank, place});
        rtl_page_count(page, api->memory[i].in_use);
    }
}

/* Only processes with steps have these metrics. */
static void render_process_steps(struct rtl_fleet *fleet, const struct rtl_served *s, const char *pid, const char *rank,
                                 struct rtl_page *page)
{
    uint64_t kernel = s->steps.kernel;
    uint32_t number = kernel && kernel <= RTL_KERNELS_MAX ? s->series[kernel - 1] : 0;
    const char *labels[5] = {pid, rank, RTL_OTHER_LABEL, "", ""};
    struct label_text id;
    if (!kernel || (page->metric == RTL_METRIC_STEP_SECONDS && !s->steps.mean_ns))
        return;
    if (page->metric == RTL_METRIC_STEPS && number && number <= fleet->totals.kernels.count)
        kernel_labels(fleet, number - 1, labels + 2, &id);
    rtl_page_labels(page, labels);
    if (page->metric == RTL_METRIC_STEPS)
        rtl_page_count(page, s->steps.runs);
    else
        rtl_page_seconds(page, s->steps.mean_ns);
}

static void render_process(struct rtl_fleet *fleet, const struct rtl_served *s, struct rtl_page *page)
{
    struct label_text pid = format_number((uint64_t)s->pid), rank = format_rank(s);
    const char *labels[] = {pid.text,     rank.text,         s->info.title,
                            s->info.user, s->info.container, s->has_snapshot ? rtl_mode_label(s->snapshot.mode) : ""};
    const struct rtl_snapshot *snapshot = &s->snapshot;
    /* busy times of observed processes are estimates, traced processes lose no packets */
    enum rtl_metric unknown = rtl_is_observed(snapshot) ? RTL_METRIC_PROCESS_BUSY : RTL_METRIC_PROCESS_LOST;
    if (page->metric != RTL_METRIC_MEMORY && page->metric != RTL_METRIC_PROCESS &&
        (!s->has_snapshot || page->metric == unknown))
        return;
    if (page->metric == RTL_METRIC_PROCESS_IN_FLIGHT && !rtl_depth_is_known(snapshot, NULL))
        return;
    rtl_page_labels(page, labels);
    if (page->metric == RTL_METRIC_MEMORY)
        render_process_memory(s, pid.text, rank.text, page);
    else if (page->metric == RTL_METRIC_PROCESS_BUSY)
        render_process_busy(s, pid.text, rank.text, page);
    else if (page->metric == RTL_METRIC_PROCESS_KERNEL)
        render_process_kernels(fleet, s, pid.text, rank.text, page);
    else if (page->metric >= RTL_METRIC_STEPS && page->metric <= RTL_METRIC_STEP_SECONDS)
        render_process_steps(fleet, s, pid.text, rank.text, page);
    else if (page->metric == RTL_METRIC_PROCESS)
        rtl_page_count(page, 1);
    else if (page->metric == RTL_METRIC_PROCESS_START)
        rtl_page_seconds(page, snapshot->start_real_ns);
    else if (page->metric == RTL_METRIC_PROCESS_DISPATCHES)
        rtl_page_count(page, snapshot->counted);
    else if (page->metric == RTL_METRIC_PROCESS_UNTIMED)
        rtl_page_count(page, snapshot->untimed_total);
    else if (page->metric == RTL_METRIC_PROCESS_LOST)
        rtl_page_count(page, snapshot->packets_lost);
    else
        rtl_page_count(page, rtl_snapshot_in_flight(snapshot));
}

static void render_processes(struct rtl_fleet *fleet, struct rtl_page *page, enum rtl_metric metric)
{
    rtl_page_metric(page, metric);
    for (uint32_t i = 0; i < fleet->count; i++)
        if (!fleet->served[i]->ended_ns)
            render_process(fleet, fleet->served[i], page);
}

/* --- the server --- */

static void render_server(const struct rtl_fleet *fleet, const struct rtl_serve_facts *facts, struct rtl_page *page)
{
    rtl_page_metric(page, RTL_METRIC_SERVE);
    rtl_page_labels(page, (const char *[]){RTL_VERSION});
    rtl_page_count(page, 1);
    uint32_t living = 0, late = 0, left_out = fleet->left_out;
    for (uint32_t i = 0; i < fleet->count; i++) {
        living += !fleet->served[i]->ended_ns;
        late += !fleet->served[i]->ended_ns && fleet->served[i]->late;
        left_out += !fleet->served[i]->ended_ns && fleet->served[i]->too_large;
    }
    const struct {
        enum rtl_metric metric;
        uint64_t value;
    } counts[] = {{RTL_METRIC_SERVE_PROCESSES, living},
                  {RTL_METRIC_SERVE_REFUSED, left_out},
                  {RTL_METRIC_SERVE_LATE, late},
                  {RTL_METRIC_SERVE_ENDED, fleet->ended},
                  {RTL_METRIC_SERVE_UNREAD, fleet->unread},
                  {RTL_METRIC_SERVE_KERNELS, rtl_ranked_living(&fleet->totals.kernels)},
                  {RTL_METRIC_SERVE_KERNELS_REFUSED, fleet->refused},
                  {RTL_METRIC_SERVE_UNTRUE, fleet->untrue},
                  {RTL_METRIC_SERVE_SCRAPES, facts->scrapes}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        rtl_page_metric(page, counts[i].metric);
        rtl_page_count(page, counts[i].value);
    }
    rtl_page_metric(page, RTL_METRIC_SERVE_TOOK);
    rtl_page_seconds(page, facts->took_ns);
    rtl_page_metric(page, RTL_METRIC_SERVE_CPU);
    rtl_page_seconds(page, facts->cpu_ns);
}

void rtl_render(struct rtl_fleet *fleet, const struct rtl_serve_facts *facts, struct rtl_page *page)
{
    const struct rtl_totals *t = &fleet->totals;
    render_ranked(fleet, &t->kernels, page, RTL_METRIC_KERNEL_DISPATCHES);
    render_ranked(fleet, &t->kernels, page, RTL_METRIC_KERNEL_DURATION);
    render_families(t, page, RTL_METRIC_FAMILY_DISPATCHES);
    render_families(t, page, RTL_METRIC_FAMILY_DURATION);
    render_untimed(t, page);
    render_queue_errors(t, page);
    for (int m = RTL_METRIC_GPU; m <= RTL_METRIC_COPY_DURATION; m++)
        render_gpus(t, page, (enum rtl_metric)m);
    render_queues(fleet, page, RTL_METRIC_QUEUE_DISPATCHES);
    render_queues(fleet, page, RTL_METRIC_QUEUE_DEPTH);
    for (int m = RTL_METRIC_PROCESS; m <= RTL_METRIC_STEP_SECONDS; m++)
        render_processes(fleet, page, (enum rtl_metric)m);
    render_ranked(fleet, &t->functions, page, RTL_METRIC_API);
    render_ranked(fleet, &t->functions, page, RTL_METRIC_API_ERRORS);
    render_ranked(fleet, &t->ranges, page, RTL_METRIC_RANGES);
    render_processes(fleet, page, RTL_METRIC_MEMORY);
    render_server(fleet, facts, page);
}

/* --- pages --- */

static const char *const content_types[RTL_FORMAT_COUNT] = {
    [RTL_FORMAT_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
    [RTL_FORMAT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
    [RTL_FORMAT_PROTOBUF] =
        "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
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
        pages->body[format] = rtl_http_body_make(http, content_types[format], page.text, page.used);
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
