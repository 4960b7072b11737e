/*
 * The drawn histogram equals the recorded distribution: each row's count is the number of values between its edges at
 * any height, so the drawing shows no false shape.
 */
#include "tui_synth.h"

#include <math.h>

enum { TIMED = 10000000, ROWS_MAX = 100 };

/* A lognormal mode with its share of all values. */
struct mode {
    double share, median, sigma;
};

static double below(const struct mode modes[2], double ns)
{
    double sum = 0;
    for (int i = 0; i < 2 && modes[i].share > 0 && ns > 0; i++)
        sum += modes[i].share * 0.5 * erfc(-log(ns / modes[i].median) / modes[i].sigma / sqrt(2));
    return sum;
}

/* Fill each bucket with the distribution's count, without noise; counts below one become zero. */
static void fill(struct synth_histogram *h, const struct mode modes[2])
{
    for (uint32_t i = 0; i < SYNTH_OCTAVES * 64 - 64; i++) {
        double low = (double)rtl_bucket_low(i), high = low + (double)rtl_bucket_width(i);
        uint64_t count = (uint64_t)(TIMED * below(modes, high) + 0.5) - (uint64_t)(TIMED * below(modes, low) + 0.5);
        if (!count)
            continue;
        synth_add(h, rtl_bucket_low(i), count);
        h->max = rtl_bucket_low(i) + rtl_bucket_width(i) - 1;
    }
}

/* Read the rows (to three digits) of the detail's histogram from the top. Return their number. */
static int drawn(struct rtl_ui *ui, int height, double *counts)
{
    struct rtl_frame frame = {0};
    int rows = 0;
    bool inside = false;
    assert_true(rtl_frame_reset(&frame, height, 70, false)); /* too narrow for the numbers beside it */
    rtl_draw(ui, &frame);
    char *text = synth_text(&frame), *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "P99 ", 4) == 0 || strncmp(line, " P99 over", 9) == 0)
            break;
        const char *last = strrchr(line, ' ');
        if (inside && last && line[strspn(line, " ")]) {
            char *suffix;
            assert_true(rows < ROWS_MAX);
            counts[rows] = strtod(last, &suffix);
            counts[rows++] *= *suffix == 'M' ? 1e6 : *suffix == 'k' ? 1e3 : 1;
        }
        inside |= strstr(line, "DURATION") != NULL;
    }
    free(text);
    rtl_frame_free(&frame);
    return rows;
}

struct scene {
    struct synth *p;
    struct rtl_model *m;
    struct rtl_ui ui;
};

static void show(struct scene *s, const struct mode modes[2])
{
    s->p = synth_create(1, 1);
    s->m = rtl_model_create();
    assert_non_null(s->m);
    int kernel = synth_kernel(s->p, "smooth");
    fill(&s->p->kernels[kernel].h, modes);
    s->p->kernels[kernel].calls = s->p->kernels[kernel].h.count;
    synth_tick(s->p, s->m, RTL_SEC);
    rtl_ui_init(&s->ui, s->m, 4711, "smooth");
    s->ui.view = RTL_VIEW_DETAIL;
    s->ui.following = false;
    s->ui.selected = RTL_KERNEL_FIRST;
}

static void hide(struct scene *s)
{
    rtl_model_free(s->m);
    synth_free(s->p);
}

static void a_smooth_distribution_is_drawn_smooth(void **state)
{
    (void)state;
    static const struct mode cases[][2] = {{{1, 20000, 0.3}}, {{1, 20000, 0.6}},  {{1, 3000000, 1.0}}, {{1, 300, 0.6}},
                                           {{1, 5000, 0.15}}, {{1, 41800, 0.08}}, {{1, 900000, 0.4}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct scene s;
        show(&s, cases[c]);
        const struct synth_histogram *h = &s.p->kernels[0].h;
        int most = 0;
        for (int height = 17; height <= 67; height++) {
            double counts[ROWS_MAX], ratio = ((double)h->max + 1) / (double)h->min;
            int rows = drawn(&s.ui, height, counts);
            most = rows > most ? rows : most;
            assert_true(rows >= 8);
            for (int i = 0; i < rows; i++) {
                double low = (double)h->min * pow(ratio, (double)i / rows);
                double high = (double)h->min * pow(ratio, (double)(i + 1) / rows);
                double truth = TIMED * (below(cases[c], high) - below(cases[c], low));
                /* except at the steepest ends */
                if (truth > TIMED / 200.0 && fabs(counts[i] / truth - 1) > 0.05)
                    fail_msg("median %g sigma %g: row %d of %d from %.0f ns has %.0f, not %.0f", cases[c][0].median,
                             cases[c][0].sigma, i, rows, low, counts[i], truth);
            }
        }
        assert_true(most >= 20);
        hide(&s);
    }
}

static void two_modes_are_drawn_as_two(void **state)
{
    (void)state;
    static const struct mode cases[][2] = {{{0.5, 20000, 0.2}, {0.5, 60000, 0.2}},
                                           {{0.9, 74000, 0.1}, {0.1, 2800000, 0.2}},
                                           {{0.3, 600, 0.1}, {0.7, 1000, 0.1}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct scene s;
        show(&s, cases[c]);
        for (int height = 20; height <= 67; height++) {
            double counts[ROWS_MAX];
            int rows = drawn(&s.ui, height, counts), modes = 0;
            double turn = 0; /* the lowest row since the last mode, or the highest one since then */
            bool rising = true;
            for (int i = 0; i <= rows; i++) {
                double count = i < rows ? counts[i] : 0;
                if (rising && count < 0.9 * turn && turn > TIMED / 1000.0) {
                    modes++;
                    rising = false;
                    turn = count;
                } else if (!rising && count > 1.1 * turn + TIMED / 1000.0) {
                    rising = true;
                    turn = count;
                }
                turn = rising == (count > turn) ? count : turn;
            }
            if (modes != 2)
                fail_msg("case %zu: %d modes in %d rows", c, modes, rows);
        }
        hide(&s);
    }
}

/* A few equal values, then adjacent ones: no row is invented. */
static void equal_values_add_no_rows(void **state)
{
    (void)state;
    static const uint64_t from[] = {2, 100, 40000};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (uint64_t width = 0; width < 5; width++) {
            struct scene s;
            double counts[ROWS_MAX], sum = 0;
            show(&s, (const struct mode[2]){{0, 1, 1}});
            for (uint64_t n = 0; n <= width; n++)
                synth_record(s.p, 0, from[i] + n, 7);
            synth_tick(s.p, s.m, 2 * RTL_SEC);
            int rows = drawn(&s.ui, 40, counts);
            for (int row = 0; row < rows; row++)
                sum += counts[row];
            assert_in_range(rows, 1, width + 1);
            assert_true(sum == 7.0 * (double)(width + 1));
            hide(&s);
        }
}

/* A GPU clock of 100 MHz: no value is possible between its steps, and that is not a gap. */
static void a_coarse_clock_leaves_no_gaps(void **state)
{
    (void)state;
    struct scene s;
    show(&s, (const struct mode[2]){{0, 1, 1}});
    for (uint64_t ns = 1000; ns < 2000; ns += 10)
        synth_record(s.p, 0, ns, 100);
    synth_tick(s.p, s.m, 2 * RTL_SEC);
    for (int height = 17; height <= 67; height++) {
        double counts[ROWS_MAX];
        int rows = drawn(&s.ui, height, counts);
        assert_true(rows >= 8);
        for (int i = 0; i < rows; i++)
            assert_true(counts[i] >= 100);
    }
    hide(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smooth_distribution_is_drawn_smooth),
        cmocka_unit_test(two_modes_are_drawn_as_two),
        cmocka_unit_test(equal_values_add_no_rows),
        cmocka_unit_test(a_coarse_clock_leaves_no_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
