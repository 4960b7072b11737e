/* Writes a probe's measurements as JSON. See json_probe.h. */
#include "command/json_probe.h"
#include "model/probe_figures.h"

#include <inttypes.h>

static void put_between(struct json_writer *w, struct json_object *o, const char *key, bool any,
                        struct rtl_probe_between between)
{
    struct json_object *array = any ? array_in(w, o, key) : NULL;
    if (!any)
        put_measured(w, o, key, false, 0);
    for (int i = 0; array && i < 2; i++)
        w->failed |= json_object_array_add(array, json_object_new_uint64(i ? between.high : between.low)) != 0;
    if (array && between.high >= RTL_JSON_EXACT) {
        char low[24], high[24];
        struct json_object *twin = json_object_new_array();
        snprintf(low, sizeof low, "%" PRIu64, between.low);
        snprintf(high, sizeof high, "%" PRIu64, between.high);
        put_twin(w, o, key, twin);
        w->failed = w->failed || json_object_array_add(twin, json_object_new_string(low)) ||
                    json_object_array_add(twin, json_object_new_string(high));
    }
}

static void put_histogram(struct json_writer *w, struct json_object *o, const uint64_t buckets[RTL_PROBE_DURATIONS],
                          const char *count)
{
    struct json_object *array = array_in(w, o, "histogram");
    for (int i = 0; array && i < RTL_PROBE_DURATIONS; i++) {
        struct json_object *b = buckets[i] ? object_at_end(w, array) : NULL;
        if (!b)
            continue;
        put_number(w, b, "from", i ? 1ull << i : 0);
        put_number(w, b, "to", i < 63 ? (2ull << i) - 1 : UINT64_MAX);
        put_number(w, b, count, buckets[i]);
    }
}

void rtl_json_probe_hash(struct json_writer *w, struct json_object *o, uint64_t hash)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    put_text(w, o, "hash", text);
}

static void put_waves(struct json_writer *w, struct json_object *root, const struct rtl_probe_state *s,
                      const struct rtl_probe_figures *f)
{
    struct json_object *o = object_in(w, root, "waves");
    if (!o)
        return;
    put_number(w, o, "expected", s->waves_expected);
    put_number(w, o, "ended", s->waves);
    put_measured(w, o, "mean_cycles", s->waves, f->wave_mean);
    put_measured(w, o, "min_cycles", s->waves, s->min);
    put_measured(w, o, "max_cycles", s->waves, s->max);
    put_between(w, o, "p50_cycles", s->waves, f->p50);
    put_between(w, o, "p99_cycles", s->waves, f->p99);
    put_histogram(w, o, s->durations, "waves");
}

static void put_units(struct json_writer *w, struct json_object *root, const struct rtl_probe_numbers *n,
                      const struct rtl_probe_figures *f)
{
    const struct rtl_probe_state *s = n->state;
    struct json_object *o = object_in(w, root, "units");
    if (!o)
        return;
    put_number(w, o, "busy", f->units);
    put_measured(w, o, "of", n->compute_units, n->compute_units);
    put_measured(w, o, "mean_cycles", f->units, f->busy_mean);
    put_measured(w, o, "max_cycles", f->units, f->busy_max);
    put_share(w, o, "imbalance", f->units, f->imbalance);
    struct json_object *array = array_in(w, o, "list");
    for (uint32_t u = 0; array && u < rtl_probe_units(s); u++) {
        uint64_t cycles = rtl_probe_busy(s, u);
        struct json_object *one = cycles ? object_at_end(w, array) : NULL;
        if (!one)
            continue;
        put_text(w, one, "unit", rtl_probe_unit_name(u, f->dies.there).text);
        put_number(w, one, "cycles", cycles);
    }
}

/* A single die is the whole GPU: null. */
static void put_dies(struct json_writer *w, struct json_object *root, const struct rtl_probe_dies *d)
{
    struct json_object *o = d->there ? object_in(w, root, "dies") : NULL;
    if (!d->there)
        put_measured(w, root, "dies", false, 0);
    if (!o)
        return;
    put_number(w, o, "busy", d->busy);
    put_number(w, o, "of", d->of);
    put_measured(w, o, "mean_cycles", d->busy, d->mean);
    put_measured(w, o, "max_cycles", d->busy, d->max);
    put_share(w, o, "imbalance", d->busy, d->imbalance);
    struct json_object *array = array_in(w, o, "list");
    for (uint32_t i = 0; array && i < RTL_PROBE_DIES; i++) {
        struct json_object *one = d->cycles[i] ? object_at_end(w, array) : NULL;
        if (!one)
            continue;
        put_number(w, one, "die", i);
        put_number(w, one, "cycles", d->cycles[i]);
    }
}

void rtl_json_probe_numbers(struct json_writer *w, struct json_object *root, const struct rtl_probe_numbers *n)
{
    const struct rtl_probe_state *s = n->state;
    struct rtl_probe_figures f;
    rtl_probe_figures(s, &f);
    put_number(w, root, "dispatches", s->dispatches);
    put_number(w, root, "probed", s->probed);
    put_number(w, root, "recorded", s->recorded);
    struct json_object *o = object_in(w, root, "duration");
    if (o) {
        put_measured(w, o, "mean_ns", f.any, f.duration_mean_ns);
        put_measured(w, o, "min_ns", f.any, s->duration_min_ns);
        put_measured(w, o, "max_ns", f.any, s->duration_max_ns);
        put_measured(w, o, "others_mean_ns", n->others_mean_ns, n->others_mean_ns);
        put_json(w, o, "others_since_start", json_object_new_boolean(n->others_before));
    }
    put_waves(w, root, s, &f);
    put_units(w, root, n, &f);
    put_dies(w, root, &f.dies);
    if ((o = object_in(w, root, "gaps"))) {
        put_number(w, o, "count", f.gaps);
        put_share(w, o, "share", f.gaps, f.gap_share);
        put_measured(w, o, "mean_cycles", f.gaps, f.gap_mean);
        put_between(w, o, "p50_cycles", f.gaps, f.gap_p50);
        put_between(w, o, "p99_cycles", f.gaps, f.gap_p99);
        put_histogram(w, o, s->gaps, "gaps");
    }
    if ((o = object_in(w, root, "tail"))) {
        put_number(w, o, "dispatches", s->tails);
        put_number(w, o, "of", s->recorded);
        put_measured(w, o, "longest_ns", f.tail_longest_ns, f.tail_longest_ns);
        put_measured(w, o, "mean_ns", s->tails, f.tail_mean.high);
        put_measured(w, o, "max_ns", s->tails, f.tail_max.high);
        put_between(w, o, "p50_ns", s->tails, f.tail_p50);
        put_measured(w, o, "step_ns", s->tail_step_ns, s->tail_step_ns);
        put_histogram(w, o, s->tail_ns, "dispatches");
    }
}

/* Returns NULL only for a damaged recording. */
static const struct rtl_kernel_snapshot *find_kernel(const struct rtl_snapshot *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (s->kernels[i].id == id)
            return &s->kernels[i];
    return NULL;
}

void rtl_json_probe(struct json_writer *w, struct json_object *root, const struct rtl_model *m,
                    const struct rtl_probe_told *p)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    const struct rtl_kernel_snapshot *k = find_kernel(s, p->kernel);
    const struct rtl_agent_snapshot *gpu = NULL;
    struct json_object *o = object_in(w, root, "probe");
    for (uint32_t i = 0; i < s->agent_count && p->on_gpu && !gpu; i++)
        gpu = s->agents[i].gpu == p->gpu ? &s->agents[i] : NULL;
    if (!o)
        return;
    put_name(w, o, "kernel", k ? rtl_names_form(m->names, k->id, k->name, k->name_length, RTL_NAME_FULL) : NULL);
    put_name(w, o, "mangled", k ? rtl_names_form(m->names, k->id, k->name, k->name_length, RTL_NAME_MANGLED) : NULL);
    put_measured(w, o, "gpu", p->on_gpu, p->gpu);
    put_name(w, o, "gpu_name", gpu ? gpu->name : NULL);
    put_text(w, o, "stage", p->stage);
    put_name(w, o, "ended", p->runs ? NULL : p->ended);
    put_name(w, o, "why", p->runs ? NULL : p->over);
    put_measured(w, o, "every", p->every, p->every);
    if (!p->counted)
        return;
    put_number(w, o, "code_bytes", p->state.code_bytes);
    rtl_json_probe_hash(w, o, p->state.code_hash);
    uint64_t others = k ? rtl_probe_others_ns(NULL, &k->histogram) : 0;
    rtl_json_probe_numbers(
        w, o,
        &(struct rtl_probe_numbers){
            .state = &p->state, .compute_units = p->compute_units, .others_mean_ns = others, .others_before = true});
}
