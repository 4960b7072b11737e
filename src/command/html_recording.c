/* A recording as a page's data: frames as --json prints them. See html.h. */
#include "command/html.h"
#include "command/output.h"
#include "model/model_rows.h"
#include "options/complain.h"
#include "watch/player.h"

#include <string.h>

struct html_frames {
    struct rtl_html *h;
    struct rtl_player player;
    uint32_t top[RTL_HTML_TOP], top_count; /* ids of the kernels with numbers over time */
};

void rtl_html_put_buckets(struct rtl_html *h, struct json_object *o, const char *key,
                          const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later)
{
    if (rtl_buckets_write(earlier, later, &h->texts.buckets))
        put_text(&h->w, o, key, h->texts.buckets.used ? h->texts.buckets.bytes : "");
    else
        h->w.failed = true;
}

void rtl_html_shorten(struct json_object *o, size_t rows, const char *const *parts)
{
    size_t count = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
    if (count > rows)
        json_object_array_del_idx(o, rows, count - rows);
    for (size_t i = 0; i < count && i < rows; i++)
        rtl_html_shorten(json_object_array_get_idx(o, i), rows, parts);
    if (!json_object_is_type(o, json_type_object))
        return;
    for (size_t i = 0; parts && parts[i]; i++)
        json_object_object_del(o, parts[i]);
    json_object_object_foreach(o, key, value)
    {
        if (strcmp(key, "samples") && strcmp(key, "spans")) /* points in time: bounded */
            rtl_html_shorten(value, rows, parts);
    }
}

static bool begin_model(struct html_frames *f, uint64_t window_ns)
{
    struct rtl_model *model = f->player.model = rtl_model_create();
    if (!model)
        return false;
    model->window_ns = window_ns;
    snprintf(model->filter, sizeof model->filter, "%s", f->h->options.filter);
    rtl_player_names(&f->player, false);
    rtl_player_mark_step(&f->player, &f->h->options);
    return true;
}

static void put_frame(struct html_frames *f, struct json_object *o)
{
    const struct rtl_output_frame frame = {.model = f->player.model,
                                           .options = &f->h->options,
                                           .pid = f->player.pid,
                                           .title = f->player.title,
                                           .probe = &f->player.probe};
    rtl_json_frame(&f->h->w, o, &frame);
}

/* Adds the first frame, the last frame with the whole time as its window, and the histograms of the top kernels. */
static int add_total(struct html_frames *f)
{
    struct json_writer *w = &f->h->w;
    struct json_object *data = f->h->data, *first = object_in(w, data, "first"), *total = object_in(w, data, "total");
    struct json_object *histograms = array_in(w, data, "histograms");
    struct rtl_model *m = f->player.model;
    uint32_t frames = f->player.frames;
    int status = (int)rtl_player_skip_to(&f->player, 0);
    if (status)
        return status;
    m->shown = 0; /* kernels have no numbers yet: these count from this frame */
    put_frame(f, first);
    if (frames > 1) {
        rtl_model_zero(m);
        status = (int)rtl_player_skip_to(&f->player, frames - 1);
    } else {
        rtl_model_refresh(m);
    }
    if (status)
        return status;
    put_number(w, data, "kernels", m->shown);
    put_number(w, data, "frames", frames);
    put_text(w, data, "title", f->player.title);
    m->shown = m->shown < RTL_HTML_ROWS ? m->shown : RTL_HTML_ROWS;
    put_frame(f, total);
    for (uint32_t i = 0; i < m->shown && !w->failed; i++) {
        const struct rtl_row *row = &m->rows[m->order[i]];
        struct json_object *o = object_at_end(w, histograms);
        if (i < RTL_HTML_TOP)
            f->top[f->top_count++] = row->id;
        rtl_html_put_buckets(f->h, o, "buckets", row->base ? &row->base->histogram : NULL, &row->kernel->histogram);
    }
    return 0;
}

/* Adds calls, time and quantiles of the top kernels, and the sums of all kernels that pass the filter. */
static void put_kernels(struct html_frames *f, struct json_object *sample)
{
    const struct rtl_model *m = f->player.model;
    struct json_writer *w = &f->h->w;
    struct json_object *array = array_in(w, sample, "kernels");
    uint64_t calls = 0, ns = 0;
    for (uint32_t i = 0; i < f->top_count; i++) {
        const struct rtl_row *row = rtl_model_row(m, f->top[i]);
        struct json_object *o = object_at_end(w, array);
        if (!row)
            continue;
        uint64_t its = rtl_row_window_ns(row);
        put_number(w, o, "calls", row->window_calls);
        put_measured(w, o, "ns", its || !row->window_calls, its);
        put_measured(w, o, "p50", row->window.count, row->p50);
        put_measured(w, o, "p99", row->window.count, row->p99);
    }
    for (uint32_t i = 0; i < m->shown; i++) {
        calls += m->rows[m->order[i]].window_calls;
        ns += rtl_row_window_ns(&m->rows[m->order[i]]);
    }
    put_number(w, sample, "calls", calls);
    put_measured(w, sample, "ns", ns || !calls, ns);
}

/* Adds points in time: frames whose window begins at the point before. */
static int add_samples(struct html_frames *f)
{
    /* a point in time doesn't show these parts of a frame */
    static const char *const parts[] = {"api",  "clock", "command", "copies", "dispatches", "error",
                                        "gap",  "idle",  "kernels", "notes",  "probe",      "signals",
                                        "uuid", "wait",  "way_why", NULL};
    enum { SHOWN = 64 };
    struct rtl_html *h = f->h;
    struct rtl_player *player = &f->player;
    struct json_object *samples = array_in(&h->w, h->data, "samples");
    uint32_t last = player->frames - 1, points = last < RTL_HTML_POINTS ? last : RTL_HTML_POINTS;
    int status = points ? (int)rtl_player_skip_to(player, 0) : 0;
    for (uint32_t i = 1; i <= points && !status && !h->w.failed; i++) {
        status = (int)rtl_player_skip_to(player, (uint32_t)((uint64_t)last * i / points));
        if (status)
            break;
        struct json_object *sample = object_at_end(&h->w, samples);
        uint32_t shown = player->model->shown;
        player->model->shown = 0;
        put_frame(f, sample);
        player->model->shown = shown;
        rtl_html_shorten(sample, SHOWN, parts);
        put_kernels(f, sample);
        rtl_progress_at(i, points);
    }
    return status;
}

int rtl_html_recording(struct rtl_html *h)
{
    char why[512];
    struct html_frames f = {.h = h};
    int status = (int)rtl_player_open(&f.player, h->file, h->options.pid, h->options.recording, why, sizeof why);
    if (status)
        return rtl_refuse(status, "%s", why);
    for (int pass = 0; pass < 2 && !status && !h->w.failed; pass++) {
        h->w.failed |= !begin_model(&f, pass ? RTL_WINDOW_INTERVAL : RTL_WINDOW_ALL);
        if (!h->w.failed)
            status = pass ? add_samples(&f) : add_total(&f);
        if (status)
            rtl_complain("%s", rtl_player_why(&f.player));
        rtl_model_free(f.player.model);
    }
    rtl_player_close(&f.player);
    return status;
}
