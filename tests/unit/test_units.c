/* Numbers and text for people: units, intervals, escaping, cutting. */
#include "tui_synth.h"

#include "shm/gpu_names.h"
#include "text/text.h"

#define TIME(ns, unit, wanted) assert_string_equal(rtl_format_time(ns, RTL_UNIT_##unit).text, wanted)

static void times_have_three_digits_and_a_unit(void **state)
{
    (void)state;
    TIME(0, AUTO, "0ns");
    TIME(1, AUTO, "1ns");
    TIME(999, AUTO, "999ns");
    TIME(1000, AUTO, "1.00µs");
    TIME(9994, AUTO, "9.99µs");
    TIME(9996, AUTO, "10.0µs"); /* rounding carries into the next digit */
    TIME(41800, AUTO, "41.8µs");
    TIME(99960, AUTO, "100µs");
    TIME(140000, AUTO, "140µs");
    TIME(999600, AUTO, "1.00ms");
    TIME(2820000, AUTO, "2.82ms"); /* not minutes */
    TIME(999600000, AUTO, "1.00s");
    TIME(362 * RTL_SEC, AUTO, "362s");
    TIME(999 * RTL_SEC + 600000000, AUTO, "1000s");
    TIME(9999 * RTL_SEC, AUTO, "9999s");
    TIME(36000 * RTL_SEC, AUTO, "10.0h");
    TIME(864000 * RTL_SEC, AUTO, "10.0d");
    TIME(UINT64_MAX, AUTO, "585y");
}

static void a_requested_unit_is_kept(void **state)
{
    (void)state;
    TIME(41800, NS, "41800ns");
    TIME(362 * RTL_SEC, NS, "362000000000ns");
    TIME(UINT64_MAX, NS, "18446744073709551615ns"); /* to the last digit */
    TIME(41800, US, "41.8µs");
    TIME(9996, US, "10.0µs");
    TIME(99600, US, "99.6µs");
    TIME(99960, US, "100µs");
    TIME(2820000, US, "2820µs");
    TIME(3, US, "0.003µs");
    TIME(41800, MS, "0.0418ms");
    TIME(0, MS, "0ms");
    TIME(3, MS, "0.000003ms"); /* a measured time never prints as zero */
    TIME(1500000000, S, "1.50s");
    TIME(12, S, "0.000000012s");
    for (int unit = RTL_UNIT_NS; unit < RTL_UNIT_COUNT; unit++)
        for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 / 2 + 1) {
            static const double size[] = {
                [RTL_UNIT_NS] = 1, [RTL_UNIT_US] = 1e3, [RTL_UNIT_MS] = 1e6, [RTL_UNIT_S] = 1e9};
            static const char *const text[] = {
                [RTL_UNIT_NS] = "ns", [RTL_UNIT_US] = "µs", [RTL_UNIT_MS] = "ms", [RTL_UNIT_S] = "s"};
            struct rtl_number n = rtl_format_time(ns, (enum rtl_unit)unit);
            char *end;
            double shown = strtod(n.text, &end) * size[unit];
            if (strcmp(end, text[unit]) != 0 || shown < (double)ns * 0.99 || shown > (double)ns * 1.01)
                fail_msg("%llu ns in %s is shown as '%s'", (unsigned long long)ns, rtl_unit_name((enum rtl_unit)unit),
                         n.text);
        }
}

static void no_automatic_time_is_wider_than_its_column(void **state)
{
    (void)state;
    for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 / 2 + 1) {
        struct rtl_number n = rtl_format_time(ns, RTL_UNIT_AUTO), plain = n;
        rtl_units_ascii(plain.text);
        if (rtl_text_columns(n.text) > 6 || strlen(plain.text) > 6 || strspn(n.text, "0.") == strlen(n.text) ||
            (plain.text[0] & 0x80) || strcspn(plain.text, "µ") != strlen(plain.text))
            fail_msg("%llu ns is shown as '%s'", (unsigned long long)ns, n.text);
    }
}

static void counts_rates_shares_and_ages_are_formatted(void **state)
{
    (void)state;
    assert_string_equal(rtl_format_count(0).text, "0");
    assert_string_equal(rtl_format_count(999).text, "999");
    assert_string_equal(rtl_format_count(1000).text, "1.00k");
    assert_string_equal(rtl_format_count(999499).text, "999k");
    assert_string_equal(rtl_format_count(999500).text, "1.00M");
    assert_string_equal(rtl_format_count(UINT64_MAX).text, "18.4E");
    assert_string_equal(rtl_format_exact(4096, 5).text, "4096"); /* a queue's size is not rounded */
    assert_string_equal(rtl_format_exact(99999, 5).text, "99999");
    assert_string_equal(rtl_format_exact(100000, 5).text, "100k");
    assert_string_equal(rtl_format_exact(UINT64_MAX, 20).text, "18446744073709551615");
    assert_string_equal(rtl_format_rate(0).text, "0");
    assert_string_equal(rtl_format_rate(0.001).text, "<.01");
    assert_string_equal(rtl_format_rate(0.25).text, "0.25");
    assert_string_equal(rtl_format_rate(53100).text, "53.1k");
    assert_string_equal(rtl_format_share(0).text, "0.0");
    assert_string_equal(rtl_format_share(0.0001).text, "<0.1"); /* a small share is not zero */
    assert_string_equal(rtl_format_share(0.312).text, "31.2");
    assert_string_equal(rtl_format_share(1).text, "100");
    assert_string_equal(rtl_format_bytes(0).text, "0");
    assert_string_equal(rtl_format_bytes(32768).text, "32K");
    assert_string_equal(rtl_format_bytes(1536).text, "1.5K");
    assert_string_equal(rtl_format_age(7 * RTL_SEC).text, "0:07");
    assert_string_equal(rtl_format_age(252 * RTL_SEC).text, "4:12");
    assert_string_equal(rtl_format_age(3723 * RTL_SEC).text, "1:02:03");
    assert_string_equal(rtl_format_age(100 * 3600 * RTL_SEC).text, "4d04h");
    assert_string_equal(rtl_format_ppb(0).text, "0.00");
    assert_string_equal(rtl_format_ppb(-4).text, "0.00");
    assert_string_equal(rtl_format_ppb(-310).text, "-0.31");
    assert_string_equal(rtl_format_ppb(9994).text, "+9.99");
    assert_string_equal(rtl_format_ppb(9995).text, "+10.0");
    assert_string_equal(rtl_format_ppb(50000).text, "+50.0");
    assert_string_equal(rtl_format_ppb(-99950).text, "-100");
    assert_string_equal(rtl_format_ppb(12345678).text, "+12346");
    assert_string_equal(rtl_format_ppb(INT64_MAX).text, "+>1e5");
    assert_string_equal(rtl_format_ppb(INT64_MIN).text, "->1e5");
    assert_string_equal(rtl_format_interval(RTL_SEC / 2).text, "0.5s");
    assert_string_equal(rtl_format_interval(RTL_SEC / 20).text, "50ms");
    assert_string_equal(rtl_format_interval(60 * RTL_SEC).text, "60s");
    assert_string_equal(rtl_format_interval(1800 * RTL_SEC).text, "30min");
}

static void gpus_and_queues_have_one_name(void **state)
{
    (void)state;
    assert_string_equal(rtl_pci_address(0x00000300).text, "0000:03:00.0");
    assert_string_equal(rtl_pci_address(0xfffffffe).text, "ffff:ff:1f.6");
    assert_string_equal(rtl_pci_address(0x0001c10a).text, "0001:c1:01.2");
    assert_string_equal(rtl_pci_address(RTL_NO_BDF).text, "");
    assert_string_equal(rtl_gpu_name(1, 0x00000400).text, "G1 04:00.0");
    assert_string_equal(rtl_gpu_name(1, 0x00010400).text, "G1 0001:04:00.0");
    assert_string_equal(rtl_gpu_name(7, RTL_NO_BDF).text, "G7");
    assert_string_equal(rtl_queue_name(1, 0x00000400, 5).text, "G1 04:00.0 queue 5");
    assert_string_equal(rtl_other_queues_name(0, RTL_NO_BDF).text, "G0 other queues");
    assert_string_equal(rtl_queue_name(UINT32_MAX, 0xfffffffe, UINT64_MAX).text,
                        "G4294967295 ffff:ff:1f.6 queue 18446744073709551615");
}

static void intervals_are_parsed_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"1", RTL_SEC},      {"0.5", RTL_SEC / 2}, {".5", RTL_SEC / 2},    {"500ms", RTL_SEC / 2},
                {"2s", 2 * RTL_SEC}, {"1m", 60 * RTL_SEC}, {"0.05", RTL_SEC / 20}, {"3600", 3600 * RTL_SEC}};
    static const char *const bad[] = {"",    "0",   "-1", "x",    "1x",   "1 s",  " 1",  "0x10", "inf",
                                      "nan", "1e9", "ms", "0.01", "3601", "1..2", "5 0", "+1",   "1ss"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ns = 0;
        assert_true(rtl_parse_interval(good[i].text, &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ns = 42;
        if (rtl_parse_interval(bad[i], &ns))
            fail_msg("'%s' was accepted as an interval", bad[i]);
        assert_int_equal(ns, 42);
    }
}

static void escape(const char *bytes, size_t length, const char *wanted)
{
    char out[256];
    rtl_text_escape(out, sizeof out, bytes, length);
    assert_string_equal(out, wanted);
}

static void terminal_controls_are_escaped(void **state)
{
    (void)state;
    escape("plain<int>", 10, "plain<int>");
    escape("a\033[31mb", 7, "a\\x1b[31mb");
    escape("a\nb\tc\177", 6, "a\\x0ab\\x09c\\x7f");
    escape("a\0b", 3, "a\\x00b");
    escape("größe", strlen("größe"), "größe");
    escape("\xff\xc3", 2, "\\xff\\xc3");          /* not UTF-8 */
    escape("\xc0\xaf", 2, "\\xc0\\xaf");          /* overlong */
    escape("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* a surrogate */
    escape("\xc2\x9b", 2, "\\u{9b}");             /* CSI in one code point */
    escape("\xe2\x80\xae", 3, "\\u{202e}");       /* right-to-left override */
    escape("e\xcc\x81", 3, "e\\u{301}");          /* combining */
    escape("\xe6\xbc\xa2", 3, "\\u{6f22}");       /* two columns */
}

static void random_bytes_become_one_column_each(void **state)
{
    (void)state;
    uint32_t random = 12345;
    for (int round = 0; round < 20000; round++) {
        char bytes[24], out[64];
        size_t length = 0;
        for (; length < sizeof bytes; length++) {
            random = random * 1664525u + 1013904223u;
            bytes[length] = (char)(random >> 24);
        }
        size_t size = 1 + random % sizeof out;
        size_t used = rtl_text_escape(out, size, bytes, length);
        assert_true(used < size && strlen(out) == used);
        for (size_t at = 0; at < used;) {
            uint32_t code;
            size_t n = rtl_utf8_decode(out + at, used - at, &code);
            assert_true(n && rtl_text_code_is_safe(code));
            at += n;
        }
    }
}

static void cut_to(const char *text, int width, const char *wanted)
{
    char out[256];
    rtl_text_cut(out, sizeof out, text, width, 0, false);
    if (rtl_text_columns(out) > width)
        fail_msg("'%s' is wider than %d", out, width);
    assert_string_equal(out, wanted);
}

static void names_are_cut_in_the_middle_at_a_token(void **state)
{
    (void)state;
    cut_to("short", 20, "short");
    cut_to("exactly_ten", 11, "exactly_ten");
    cut_to("reduce_kernel<512,1,ReduceOp<f32,i32>>", 24, "reduce_kernel<…f32,i32>>");
    cut_to("abcdefghijklmnopqrstuvwxyz", 9, "abcde…xyz");
    cut_to("abcdef", 2, "ab");
    cut_to("abcdef", 1, "a");
    cut_to("abcdef", 0, "");
    cut_to("größenordnung", 7, "größ…ng");
}

static void cut_names_keep_every_width(void **state)
{
    (void)state;
    static const char *const texts[] = {"vectorized_elementwise_kernel<4,CUDAFunctor_add<bf16>,array<char*,3>>",
                                        "ääääääääääöööööööööö",
                                        "a",
                                        "",
                                        "<<<<>>>>",
                                        "________________"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int width = 0; width < 80; width++)
            for (int ascii = 0; ascii < 2; ascii++) {
                char out[256];
                rtl_text_cut(out, sizeof out, texts[i], width, 0, ascii);
                assert_true(rtl_text_columns(out) <= width);
                uint32_t code;
                for (size_t at = 0; out[at];) {
                    size_t n = rtl_utf8_decode(out + at, strlen(out + at), &code);
                    assert_true(n > 0);
                    at += n;
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_digits_and_a_unit),
        cmocka_unit_test(a_requested_unit_is_kept),
        cmocka_unit_test(no_automatic_time_is_wider_than_its_column),
        cmocka_unit_test(counts_rates_shares_and_ages_are_formatted),
        cmocka_unit_test(gpus_and_queues_have_one_name),
        cmocka_unit_test(intervals_are_parsed_strictly),
        cmocka_unit_test(terminal_controls_are_escaped),
        cmocka_unit_test(random_bytes_become_one_column_each),
        cmocka_unit_test(names_are_cut_in_the_middle_at_a_token),
        cmocka_unit_test(cut_names_keep_every_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
