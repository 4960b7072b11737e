/* Writes a probe's measurements as JSON. See output.h. */
#include "command/output.h"
#include "model/model_gpus.h"
#include "model/probe_figures.h"

#include <inttypes.h>

static void put_between(struct json_writer *w, struct json_object *o, const char *key, bool any,
                        struct rtl_probe_between between)
{
    if (!any) {
        put_measured(w, o, key, false, 0);
        return;
    }
    struct json_object *array = array_in(w, o, key);
    put_at_end(w, array, json_object_new_uint64(between.low));
    put_at_end(w, array, json_object_new_uint64(between.high));
    if (between.high >= RTL_JSON_EXACT) {
        char low[24], high[24];
        struct json_object *twin = json_object_new_array();
        snprintf(low, sizeof low, "%" PRIu64, between.low);
        snprintf(high, sizeof high, "%" PRIu64, between.high);
        put_at_end(w, twin, json_object_new_string(low));
        put_at_end(w, twin, json_object_new_string(high));
        put_twin(w, o, key, twin);
    }
}

static void put_histogram(struct json_writer *w, struct json_object *o, const uint64_t buckets[RTL_PROBE_DURATIONS],
                          const char *count)
{
    struct json_object *array = array_in(w, o, "histogram");
    for (int i = 0; i < RTL_PROBE_DURATIONS; i++) {
        if (!buckets[i])
            continue;
        struct json_object *b = object_at_end(w, array);
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
    put_number(w, o, "expected", s->waves_expected);
    put_number(w, o, "ended", s->waves);
    put_measured(w, o, "mean_cycles", s->waves, f->wave_mean);
    put_measured(w, o, "min_cycles", s->waves, s->min);
    put_measured(w, o, "max_cycles", s->waves, s->max);
    put_between(w, o, "p50_cycles", s->waves, f->p50);
    put_between(w, o, "p99_cycles", s->waves, f->p99);
    put_histogram(w, o, s->durations, "waves");
}

static void put_units(struct json_writer *w, struct json_object *root, const struct rtl_probe_state *s,
                      uint32_t compute_units, const struct rtl_probe_figures *f)
{
    struct json_object *o = object_in(w, root, "units");
    put_number(w, o, "busy", f->units);
    put_measured(w, o, "of", compute_units, compute_units);
    put_measured(w, o, "mean_cycles", f->units, f->busy_mean);
    put_measured(w, o, "max_cycles", f->units, f->busy_max);
    put_share(w, o, "imbalance", f->units, f->imbalance);
    struct json_object *array = array_in(w, o, "list");
    for (uint32_t u = 0; u < rtl_probe_units(s); u++) {
        uint64_t cycles = rtl_probe_busy(s, u);
        if (!cycles)
            continue;
        struct json_object *one = object_at_end(w, array);
        put_text(w, one, "unit", rtl_probe_unit_name(u, f->dies.there).text);
        put_number(w, one, "cycles", cycles);
    }
}

/* A single die is the whole GPU: null. */
static void put_dies(struct json_writer *w, struct json_object *root, const struct rtl_probe_dies *d)
{
    if (!d->there) {
        put_measured(w, root, "dies", false, 0);
        return;
    }
    struct json_object *o = object_in(w, root, "dies");
    put_number(w, o, "busy", d->busy);
    put_number(w, o, "of", d->of);
    put_measured(w, o, "mean_cycles", d->busy, d->mean);
    put_measured(w, o, "max_cycles", d->busy, d->max);
    put_share(w, o, "imbalance", d->busy, d->imbalance);
    struct json_object *array = array_in(w, o, "list");
    for (uint32_t i = 0; i < RTL_PROBE_DIES; i++) {
        if (!d->cycles[i])
            continue;
        struct json_object *one = object_at_end(w, array);
        put_number(w, one, "die", i);
        put_number(w, one, "cycles", d->cycles[i]);
    }
}

void rtl_json_probe_numbers(struct json_writer *w, struct json_object *root, const struct rtl_probe_state *s,
                            uint32_t compute_units, uint64_t others_mean_ns, bool before)
{
    struct rtl_probe_figures f;
    rtl_probe_figures(s, &f);
    put_number(w, root, "dispatches", s->dispatches);
    put_number(w, root, "probed", s->probed);
    put_number(w, root, "recorded", s->recorded);
    struct json_object *o = object_in(w, root, "duration");
    put_measured(w, o, "mean_ns", f.any, f.duration_mean_ns);
    put_measured(w, o, "min_ns", f.any, s->duration_min_ns);
    put_measured(w, o, "max_ns", f.any, s->duration_max_ns);
    put_measured(w, o, "others_mean_ns", others_mean_ns, others_mean_ns);
    put_json(w, o, "others_since_start", json_object_new_boolean(before));
    put_waves(w, root, s, &f);
    put_units(w, root, s, compute_units, &f);
    put_dies(w, root, &f.dies);
    o = object_in(w, root, "gaps");
    put_number(w, o, "count", f.gaps);
    put_share(w, o, "share", f.gaps, f.gap_share);
    put_measured(w, o, "mean_cycles", f.gaps, f.gap_mean);
    put_between(w, o, "p50_cycles", f.gaps, f.gap_p50);
    put_between(w, o, "p99_cycles", f.gaps, f.gap_p99);
    put_histogram(w, o, s->gaps, "gaps");
    o = object_in(w, root, "tail");
    put_number(w, o, "dispatches", s->tails);
    put_number(w, o, "of", s->recorded);
    put_measured(w, o, "longest_ns", f.tail_longest_ns, f.tail_longest_ns);
    put_measured(w, o, "mean_ns", s->tails, f.tail_mean.high);
    put_measured(w, o, "max_ns", s->tails, f.tail_max.high);
    put_between(w, o, "p50_ns", s->tails, f.tail_p50);
    put_measured(w, o, "step_ns", s->tail_step_ns, s->tail_step_ns);
    put_histogram(w, o, s->tail_ns, "dispatches");
}

void rtl_json_probe(struct json_writer *w, struct json_object *root, const struct rtl_model *m,
                    const struct rtl_probe_told *p)
{
    const struct rtl_snapshot *s = &m->latest->snapshot;
    const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(s, p->kernel); /* NULL only in a damaged recording */
    const struct rtl_agent_snapshot *gpu = p->on_gpu ? rtl_agent_of(s, p->gpu) : NULL;
    struct json_object *o = object_in(w, root, "probe");
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
    rtl_json_probe_numbers(w, o, &p->state, p->compute_units, others, true);
}
