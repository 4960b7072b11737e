/* One frame as CSV (RFC 4180, LF): a line a kernel. What was not measured is an empty field. */
#include "command/output.h"
#include "text/quote.h"

static void put(void *out, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, out);
}

static void write_text(FILE *out, const char *text)
{
    rtl_quote_csv(put, out, text);
}

static void write_number(FILE *out, bool measured, uint64_t value)
{
    if (measured)
        fprintf(out, ",%llu", (unsigned long long)value);
    else
        fputc(',', out);
}

bool rtl_output_csv(const struct rtl_output_frame *f, FILE *out)
{
    static const double q[] = {0.5, 0.9, 0.99};
    const struct rtl_model *m = f->model;
    if (!f->number)
        fputs("time_ns,pid,state,name,short,calls,timed,untimed,total_ns,min_ns,max_ns,p50_ns,p90_ns,p99_ns,"
              "window_ns,window_calls,window_timed,window_total_ns,window_p50_ns,window_p99_ns,family\n",
              out);
    bool window = m->base;
    for (uint32_t r = 0; r < m->shown; r++) {
        const struct rtl_row *row = &m->rows[m->order[r]];
        const struct rtl_histogram_copy *h = &row->kernel->histogram;
        uint64_t v[3];
        bool any = rtl_quantiles(NULL, h, q, 3, v), recent = window && row->window.count;
        fprintf(out, "%llu,%d,%s,", (unsigned long long)m->latest->real_ns, (int)f->pid, rtl_target_json(m->state));
        write_text(out,
                   rtl_names_form(m->names, row->id, row->kernel->name, row->kernel->name_length, RTL_NAME_MANGLED));
        fputc(',', out);
        write_text(out, rtl_model_name(m, row, RTL_NAME_SHORT, RTL_NAMES_WHOLE, f->options->ascii));
        fprintf(out, ",%llu,%llu,%llu", (unsigned long long)row->kernel->calls, (unsigned long long)h->count,
                (unsigned long long)row->kernel->untimed);
        write_number(out, any, h->total_ns);
        write_number(out, any, h->min_ns);
        write_number(out, any, h->max_ns);
        for (int i = 0; i < 3; i++)
            write_number(out, any, any ? v[i] : 0);
        write_number(out, window, m->span_ns);
        write_number(out, window, row->window_calls);
        write_number(out, window, row->window.count);
        write_number(out, recent, row->window.total_ns);
        write_number(out, recent, row->p50);
        write_number(out, recent, row->p99);
        fprintf(out, ",%s", rtl_name_family_name(rtl_family_of(m, row)));
        fputc('\n', out);
    }
    return true;
}
