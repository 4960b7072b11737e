/* A probe of a kernel: progress, durations of its waves, balance of compute units, empty slots, tail. */
#include "model/probe_figures.h"
#include "text/text.h"
#include "tui/draw_views.h"

#include <stdio.h>
#include <string.h>

enum { FACTS = 40, LABEL = 11, BESIDE_FROM = 76, NARROW = 60, BAR_LABEL = 7 };

/* Write the progress. A probe of waits knows the wanted dispatches, other probes the dispatches seen. */
static void stage_text(const struct rtl_ui *ui, int cols, char *out, size_t size)
{
    const char *probed = cols < NARROW ? "of" : "probed of";
    const struct rtl_probe_told *p = &ui->probe;
    const struct rtl_probe_state *s = &p->state;
    char gpu[24];
    snprintf(out, size, "%s%s", cols < NARROW ? "" : ui->stalls ? "STALLS " : "PROBE ", ui->replay ? "recorded: " : "");
    if (p->runs)
        rtl_text_append(out, size, "%s", p->stage);
    else
        rtl_text_append(out, size, "over");
    if (ui->stalls && (p->runs || ui->stalls->recorded || ui->stalls->sum.timed))
        rtl_text_append(out, size, ", copy %u%s%s: %s %s %s wanted", (unsigned)ui->stalls->copy,
                        ui->stalls->sum.rounds ? " of " : "",
                        ui->stalls->sum.rounds ? rtl_format_count(ui->stalls->sum.rounds).text : "",
                        rtl_format_count(ui->stalls->recorded).text, probed, rtl_format_count(ui->stalls->wanted).text);
    else if (!ui->stalls && p->counted)
        rtl_text_append(out, size, ", %s %s %s seen", rtl_format_count(s->recorded).text, probed,
                        rtl_format_count(s->dispatches).text);
    if (p->counted && p->every)
        rtl_text_append(out, size, ", 1 in %u", (unsigned)p->every);
    snprintf(gpu, sizeof gpu, ", GPU %u", (unsigned)p->gpu);
    if (p->on_gpu && rtl_text_columns(out) + (int)strlen(gpu) < cols) /* never cut a number */
        rtl_text_append(out, size, "%s", gpu);
}

/* --- figures, the most important first --- */

enum { FACTS_MAX = 19 };

static int make_facts(const struct rtl_ui *ui, const struct rtl_row *row, const struct rtl_probe_figures *f,
                      struct rtl_draw_fact facts[FACTS_MAX])
{
    const struct rtl_probe_state *s = &ui->probe.state;
    char others[64];
    int n = 0;
#define FACT(name, ...) (facts[n].label = (name), snprintf(facts[n++].text, sizeof facts->text, __VA_ARGS__))
    FACT("waves", "%s of %s%s", rtl_format_count(s->waves).text, rtl_format_count(s->waves_expected).text,
         s->waves ? "" : ": none recorded");
    if (s->waves) { /* without waves no cycles are known; 0 would be wrong */
        FACT("p50 cyc", "%s", rtl_probe_cycles_text(f->p50).text);
        FACT("p99 cyc", "%s", rtl_probe_cycles_text(f->p99).text);
    }
    if (f->units)
        FACT("imbalance", "%.2f max/mean", f->imbalance);
    if (f->dies.busy)
        FACT("dies", "%u of up to %u, max/mean %.2f", (unsigned)f->dies.busy, (unsigned)f->dies.of, f->dies.imbalance);
    if (f->units && ui->probe.compute_units)
        FACT("on CUs", "%u of %u", (unsigned)f->units, (unsigned)ui->probe.compute_units);
    else if (s->waves)
        FACT("on CUs", "%u", (unsigned)f->units);
    if (f->hottest_count)
        FACT("hottest", "%s %s", rtl_probe_unit_name(f->hottest[0].unit, f->dies.there).text,
             rtl_format_count(f->hottest[0].cycles).text);
    if (f->gaps)
        FACT("slot gaps", "%.1f%%, p50 %s", f->gap_share * 100, rtl_probe_cycles_text(f->gap_p50).text);
    if (s->tails) {
        FACT("tail p50", "%s", rtl_probe_times_text(f->tail_p50, ui->units).text);
        FACT("tail max", "%s, steps %s", rtl_probe_times_text(f->tail_max, ui->units).text,
             rtl_format_time(s->tail_step_ns, ui->units).text);
    }
    if (s->waves && s->tails < s->recorded) /* the slow dispatches are not in the tail figures: say so */
        FACT("tail known", "%s of %s%s%s", rtl_format_count(s->tails).text, rtl_format_count(s->recorded).text,
             f->tail_longest_ns ? "; rest >" : "",
             f->tail_longest_ns ? rtl_format_time(f->tail_longest_ns, ui->units).text : "");
    FACT("mean", "%s", rtl_format_time(f->duration_mean_ns, ui->units).text);
    if (rtl_draw_others(ui, row, f->duration_mean_ns, others, sizeof others))
        FACT("others", "%s", others);
    for (uint32_t i = 1; i < f->hottest_count; i++)
        FACT("then", "%s %s", rtl_probe_unit_name(f->hottest[i].unit, f->dies.there).text,
             rtl_format_count(f->hottest[i].cycles).text);
#undef FACT
    return n;
}

static void draw_facts(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_draw_fact *facts, int count)
{
    for (int i = 0; i < at.rows; i++) {
        rtl_frame_fill(frame, at.row + i, at.col, 1, RTL_ROLE_DIM, 0x2502);
        if (i >= count)
            continue;
        rtl_frame_put(frame, at.row + i, at.col + 2, LABEL, RTL_ROLE_LABEL, facts[i].label);
        rtl_frame_put(frame, at.row + i, at.col + 2 + LABEL, at.cols - 2 - LABEL, RTL_ROLE_NORMAL, facts[i].text);
    }
}

/* --- waves by powers of two --- */

/* A row covers several powers when there are more powers than rows. */
static void draw_waves(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at,
                       const struct rtl_probe_figures *f)
{
    uint64_t counts[RTL_PROBE_DURATIONS] = {0}, most = 0;
    const uint64_t *durations = ui->probe.state.durations;
    int powers = f->last - f->first + 1;
    if (at.rows < 1 || powers < 1)
        return;
    int each = (powers + at.rows - 1) / at.rows, rows = (powers + each - 1) / each, tail = 7;
    for (int i = 0; i < powers; i++) {
        uint64_t *sum = &counts[i / each], more = durations[f->first + i];
        *sum = rtl_plus(*sum, more);
        most = *sum > most ? *sum : most;
    }
    int width = at.cols - BAR_LABEL - tail - 1;
    for (int i = 0; i < rows; i++) {
        int power = f->first + i * each;
        rtl_frame_right(frame, at.row + i, at.col, BAR_LABEL - 1, RTL_ROLE_LABEL,
                        rtl_format_count(power ? 1ull << power : 0).text);
        if (width > 0)
            rtl_frame_bar(frame, at.row + i, at.col + BAR_LABEL, width, RTL_ROLE_BAR,
                          most ? (double)counts[i] / (double)most : 0);
        if (width > -BAR_LABEL)
            rtl_frame_right(frame, at.row + i, at.col + at.cols - tail, tail - 1,
                            counts[i] ? RTL_ROLE_NORMAL : RTL_ROLE_DIM, rtl_format_count(counts[i]).text);
    }
}

void rtl_draw_probe(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    const struct rtl_probe_told *p = &ui->probe;
    struct rtl_probe_figures f;
    struct rtl_draw_fact facts[FACTS_MAX];
    char stage[160];
    if (!at.rows)
        return;
    stage_text(ui, at.cols, stage, sizeof stage);
    rtl_frame_fill(frame, at.row, at.col, at.cols, RTL_ROLE_HEADER, ' ');
    rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_HEADER, stage);
    at.row++, at.rows--;
    const char *rest = p->runs ? "" : p->over;
    for (int lines = 0; *rest && at.rows && lines < 2;
         lines++, at.row++, at.rows--) { /* two lines: the advice comes at the end */
        rtl_frame_put(frame, at.row, at.col, at.cols, RTL_ROLE_PROMPT, rest);
        rest += rtl_text_columns(rest) > at.cols && at.rows > 1 && !lines ? rtl_text_offset(rest, at.cols - 1)
                                                                          : strlen(rest);
    }
    if (ui->stalls && ui->stalls->sum.timed) {
        rtl_draw_stalls(ui, frame, at, row);
        return;
    }
    if (!p->counted || !p->state.recorded || ui->stalls) {
        if (at.rows)
            rtl_frame_put(frame, at.row, at.col + 1, at.cols - 1, RTL_ROLE_DIM,
                          p->runs ? "no numbers so far" : "no numbers");
        return;
    }
    rtl_probe_figures(&p->state, &f);
    int count = make_facts(ui, row, &f, facts);
    if (at.cols >= BESIDE_FROM) {
        struct rtl_rect beside = {at.row, at.col + at.cols - FACTS, at.rows, FACTS};
        draw_facts(frame, beside, facts, count);
        at.cols -= FACTS + 1;
        if (f.last < f.first)
            return;
        rtl_frame_put(frame, at.row, at.col, at.cols, RTL_ROLE_LABEL, "from cycles");
        rtl_frame_right(frame, at.row, at.col + at.cols - 7, 6, RTL_ROLE_LABEL, "WAVES");
        at.row++, at.rows--;
    } else {
        int lines = rtl_draw_facts(frame, at, facts, count, at.rows > 4 ? at.rows / 2 : 1);
        at.row += lines, at.rows -= lines;
    }
    draw_waves(ui, frame, at, &f);
}
