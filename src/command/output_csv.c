/* Writes a frame as CSV (RFC 4180, LF): a line per kernel, or per kernel and process. A field that wasn't measured is
 * empty. */
#include "command/output.h"
#include "model/ranks.h"
#include "text/quote.h"

static void write_number(FILE *out, bool measured, uint64_t value)
{
    if (measured)
        fprintf(out, ",%llu", (unsigned long long)value);
    else
        fputc(',', out);
}

/* Writes a line: a kernel in one process, or a kernel (member NULL). */
static void write_line(const struct rtl_output_frame *f, const struct rtl_row *row, const struct rtl_rank *line,
                       FILE *out)
{
    static const double q[] = {0.5, 0.9, 0.99};
    const struct rtl_model *m = f->model;
    const struct rtl_histogram_copy *h = &line->kernel->histogram;
    uint64_t v[3];
    bool window = m->base && m->counted_ns, any = rtl_quantiles(NULL, h, q, 3, v),
         recent = window && line->window_timed;
    enum rtl_target_state state = m->state;
    if (line->member)
        state = line->member->ended ? RTL_TARGET_EXITED : RTL_TARGET_LIVE;
    fprintf(out, "%llu,%d,%s,", (unsigned long long)m->latest->real_ns,
            (int)(line->member ? line->member->info.pid : f->pid), rtl_target_json(state));
    rtl_quote_csv(rtl_quote_to_file, out,
                  rtl_names_form(m->names, row->id, row->kernel->name, row->kernel->name_length, RTL_NAME_MANGLED));
    fputc(',', out);
    rtl_quote_csv(rtl_quote_to_file, out, rtl_model_name(m, row, RTL_NAME_SHORT, RTL_NAMES_WHOLE, f->options->ascii));
    fprintf(out, ",%llu,%llu,%llu", (unsigned long long)line->kernel->calls, (unsigned long long)h->count,
            (unsigned long long)line->kernel->untimed);
    write_number(out, any, h->total_ns);
    write_number(out, any, h->min_ns);
    write_number(out, any, h->max_ns);
    for (int i = 0; i < 3; i++)
        write_number(out, any, any ? v[i] : 0);
    write_number(out, window, m->span_ns);
    write_number(out, window, line->window_calls);
    write_number(out, window, line->window_timed);
    write_number(out, recent, line->window_total_ns);
    write_number(out, recent, line->p50);
    write_number(out, recent, line->p99);
    fprintf(out, ",%s", rtl_name_family_name(rtl_family_of(m, row)));
    write_number(out, line->kernel->estimated_ns, line->kernel->estimated_ns);
    fputc('\n', out);
}

static void write_ranks(const struct rtl_output_frame *f, const struct rtl_row *row, FILE *out)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    uint32_t count = rtl_ranks(f->model, row, true, ranks, RTL_MEMBERS_MAX);
    for (uint32_t i = 0; i < count; i++)
        write_line(f, row, &ranks[i], out);
}

bool rtl_output_csv(const struct rtl_output_frame *f, FILE *out)
{
    const struct rtl_model *m = f->model;
    if (!f->number)
        fputs("time_ns,pid,state,name,short,calls,timed,untimed,total_ns,min_ns,max_ns,p50_ns,p90_ns,p99_ns,"
              "window_ns,window_calls,window_timed,window_total_ns,window_p50_ns,window_p99_ns,family,estimated_ns\n",
              out);
    for (uint32_t r = 0; r < m->shown; r++) {
        const struct rtl_row *row = &m->rows[m->order[r]];
        const struct rtl_rank line = {.kernel = row->kernel,
                                      .window_calls = row->window_calls,
                                      .window_timed = row->window.count,
                                      .window_total_ns = row->window.total_ns,
                                      .p50 = row->p50,
                                      .p99 = row->p99};
        if (m->latest->snapshot.parts)
            write_ranks(f, row, out);
        else
            write_line(f, row, &line, out);
    }
    return true;
}
