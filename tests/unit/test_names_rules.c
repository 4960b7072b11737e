/*
 * The rules for kernel names: each rule's example has its short form, and 260 names of vLLM, SGLang, PyTorch, aiter,
 * CK, Tensile, RCCL, Triton and MIOpen (tests/fixtures/kernel-names.txt) equal the golden files at four widths.
 * RTL_GOLDEN=write writes the golden files, RTL_GOLDEN=print prints the examples' short forms; review the diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/demangle.h"
#include "text/names.h"
#include "text/names_scan.h"
#include "text/names_rules.h"
#include "text/names_user.h"
#include "text/text.h"
#include "names_examples.h"

#define A33 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
enum { LIST_MAX = 400 };
static char *list[LIST_MAX];
static uint32_t list_count;

static int load(void **state)
{
    (void)state;
    FILE *file = fopen("tests/fixtures/kernel-names.txt", "r");
    char *line = NULL;
    size_t size = 0;
    if (!file)
        fail_msg("unit tests run in the top folder of the sources");
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        assert_true(list_count < LIST_MAX);
        list[list_count++] = strdup(line);
    }
    free(line);
    fclose(file);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    while (list_count)
        free(list[--list_count]);
    return 0;
}

static bool golden_is(const char *what)
{
    const char *golden = getenv("RTL_GOLDEN");
    return golden && !strcmp(golden, what);
}

static const struct rule_example *find_example(const char *kernel)
{
    for (size_t i = 0; i < sizeof rule_examples / sizeof *rule_examples; i++)
        if (!strcmp(rule_examples[i].kernel, kernel))
            return &rule_examples[i];
    return NULL;
}

/* `show` is NULL for a pattern without words to show. */
static void check_example(const char *kernel, const char *show, enum rtl_name_family family)
{
    const struct rule_example *example = find_example(kernel);
    if (!example)
        fail_msg("%s has no example in tests/unit/names_examples.h", kernel);
    char *full = rtl_name_full(example->raw, strlen(example->raw));
    char *brief = full ? rtl_name_short(example->raw, full) : NULL;
    assert_non_null(brief);
    assert_null(show ? rtl_name_show_wrong(show) : NULL);
    bool peels = show && *show == '='; /* the wrapped kernel decides the family */
    if (golden_is("print"))
        puts(brief);
    else if (strcmp(brief, example->shown) != 0)
        fail_msg("%s:\n%s\nis shown as %s\nand not as  %s", kernel, example->raw, brief, example->shown);
    if (!golden_is("print") && !peels && rtl_name_family(example->raw, full) != family)
        fail_msg("%s is not %s", example->raw, rtl_name_family_name(family));
    free(brief);
    free(full);
}

static void each_rule_shows_its_example_as_stated(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t t = 0; t < rtl_name_table_count; t++) {
        const struct rtl_name_table *table = &rtl_name_tables[t];
        assert_true(table->count > 0);
        for (size_t i = 0; i < table->count; i++, count++)
            check_example(table->rules[i].kernel, table->rules[i].show, table->family);
        for (const char *const *pattern = table->patterns; *pattern; pattern++, count++)
            check_example(*pattern, NULL, table->family);
    }
    assert_int_equal(count, sizeof rule_examples / sizeof *rule_examples);
}

static void every_family_has_a_table(void **state)
{
    (void)state;
    for (int f = 0; f < RTL_FAMILY_COUNT; f++) {
        enum rtl_name_family parsed;
        int tables = 0;
        for (size_t t = 0; t < rtl_name_table_count; t++)
            tables += (int)rtl_name_tables[t].family == f;
        assert_int_equal(tables, 1);
        assert_true(rtl_name_family_parse(rtl_name_family_name((enum rtl_name_family)f), &parsed));
        assert_int_equal(parsed, f);
    }
    enum rtl_name_family none;
    assert_false(rtl_name_family_parse("gem", &none));
}

static void the_list_equals_the_golden_files(void **state)
{
    (void)state;
    static const int widths[] = {26, 43, 58, 100};
    assert_int_equal(list_count, 260);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        char path[64], line[600];
        struct rtl_names *names = rtl_names_create();
        assert_non_null(names);
        snprintf(path, sizeof path, "tests/unit/golden/names-%d.txt", widths[w]);
        bool write = golden_is("write");
        FILE *file = fopen(path, write ? "w" : "r");
        if (!file)
            fail_msg("%s can't be opened", path);
        for (uint32_t i = 0; i < list_count; i++) {
            const char *cell = rtl_names_cell(names, i, list[i], strlen(list[i]), RTL_NAME_SHORT, widths[w], false);
            const char *family = rtl_name_family_name(rtl_names_family(names, i, list[i], strlen(list[i])));
            char shown[600];
            snprintf(shown, sizeof shown, "%-11s %s\n", family, cell);
            assert_true(rtl_text_columns(cell) <= widths[w]);
            if (write)
                fputs(shown, file);
            else if (!fgets(line, sizeof line, file) || strcmp(line, shown) != 0)
                fail_msg("%s, line %u: %sis now %s", path, i + 1, line, shown);
        }
        fclose(file);
        rtl_names_free(names);
    }
}

/* Different names never get equal short forms: real names, and slightly changed ones. */
static void different_names_have_different_short_forms(void **state)
{
    (void)state;
    enum { ROWS = 1200, LEAST_WIDTH = 16 };
    static char *raw[ROWS];
    static const char *cell[ROWS];
    uint32_t random = 7, count = 0;
    while (count < ROWS) {
        char *one = strdup(list[count < list_count ? count : (random >> 8) % list_count]);
        size_t length = strlen(one);
        for (int change = 0; count >= list_count && change < 2; change++) {
            random = random * 1664525u + 1013904223u;
            one[(random >> 10) % length] = "0123456789abx_<>,: "[(random >> 4) % 19];
        }
        random = random * 1664525u + 1013904223u;
        bool known = false;
        for (uint32_t i = 0; i < count && !known; i++)
            known = !strcmp(raw[i], one);
        if (known)
            free(one);
        else
            raw[count++] = one;
    }
    static const int widths[] = {LEAST_WIDTH, 19, 26, 34, 43, 80, 100, RTL_NAMES_WHOLE};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        struct rtl_names *names = rtl_names_create();
        assert_non_null(names);
        for (uint32_t i = 0; i < ROWS; i++) {
            cell[i] = rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, widths[w], w % 2);
            assert_true(!widths[w] || rtl_text_columns(cell[i]) <= widths[w]);
            for (uint32_t j = 0; j < i; j++)
                if (!strcmp(cell[i], cell[j]))
                    fail_msg("in %d columns both are '%s':\n%s\n%s", widths[w], cell[i], raw[j], raw[i]);
        }
        for (uint32_t i = 0; i < ROWS; i++) /* the same when requested again */
            assert_ptr_equal(cell[i],
                             rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, widths[w], w % 2));
        rtl_names_free(names);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        free(raw[i]);
}

/* The second of two rows displays its difference from the first: a part that only one of them has. */
static void rows_display_their_difference(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *shown;
        int width;
    } pairs[] = {
        {"Cijk_Alik_Bljk_BBS_BH_MT16x16x256_MI16x16x1_SN_GRVWA8_NTA0_WG16_4_4",
         "Cijk_Alik_Bljk_BBS_BH_MT16x16x256_MI16x16x1_SN_GRVWA8_NTA4_WG16_4_4", "gemm TN bf16 16x16x256 MI16x16x1 NTA4",
         40},
        {"Cijk_Alik_Bljk_BBS_BH_MT16x16x256_MI16x16x1_SN_CD1_1_SK0_WG16_4_4",
         "Cijk_Alik_Bljk_BBS_BH_MT16x16x256_MI16x16x1_SN_SK0_WG16_4_4", "gemm TN bf16 16x16x256 -CD1_1", 32},
        {"_Z6kernelPf", "_Z6kernelPi", "kernel int", 40},
        {"void vllm::f<float>(int)", "void sgl::f<float>(int)", "f f32 sgl", 40},
        {"void ns::mul_kernel<1, 2, 3>(int)", "void ns::mul_kernel<3, 2, 1>(int)", "mul_kernel<3,2,1>", 40},
        {"same", "same", "same~#1", 40},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct rtl_names *names = rtl_names_create();
        assert_non_null(names);
        rtl_names_cell(names, 0, pairs[i].first, strlen(pairs[i].first), RTL_NAME_SHORT, pairs[i].width, false);
        const char *second =
            rtl_names_cell(names, 1, pairs[i].second, strlen(pairs[i].second), RTL_NAME_SHORT, pairs[i].width, false);
        if (i + 1 < sizeof pairs / sizeof *pairs)
            assert_string_equal(second, pairs[i].shown);
        else
            assert_non_null(strchr(second, '~'));
        rtl_names_free(names);
    }
}

static void shown_as(const char *raw, const char *wanted)
{
    char *full = rtl_name_full(raw, strlen(raw)), *brief = full ? rtl_name_short(raw, full) : NULL;
    assert_non_null(brief);
    assert_string_equal(brief, wanted);
    free(brief);
    free(full);
}

static void types_of_gemms_are_displayed(void **state)
{
    (void)state;
    static const struct {
        const char *types, *shown;
    } spellings[] = {{"BBS_BH", "bf16"},
                     {"B_BS_BH", "bf16"},
                     {"HHS_BH", "f16"},
                     {"HSS_BH", "f16/f32"},
                     {"BSS_BH", "bf16/f32"},
                     {"F8BS_BH", "f8/bf16"},
                     {"F8B8BS_BH", "f8/bf8/bf16"},
                     {"F8NHS_BH", "f8z/f16"},
                     {"SB", "f32"},
                     {"HB", "f16"},
                     {"HBH", "f16"},
                     {"DB", "f64"},
                     {"I8II_BH", "i8/i32"},
                     {"4xi8BH", "i8"},
                     {"SSS_B", "f32"},
                     {"CB", "c64"},
                     {"F8F8S_BH", "f8"}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char raw[100], wanted[100];
        snprintf(raw, sizeof raw, "Cijk_Ailk_Bjlk_%s_MT64x32x16_SE_K1", spellings[i].types);
        snprintf(wanted, sizeof wanted, "gemm NT %s 64x32x16", spellings[i].shown);
        char *brief = rtl_name_short(raw, raw);
        assert_string_equal(brief, wanted);
        free(brief);
    }
}

static void names_that_the_demangler_refuses_are_adapted(void **state)
{
    (void)state;
    static const struct {
        const char *mangled, *name;
    } names[] = {
        {"_ZN5aiter4normIDF16bLi64EEEvPT0_", "void aiter::norm<__bf16, 64>(64*)"},
        {"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
         "void sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, &(T silu<__hip_bfloat16>(T const&))>(T*, T "
         "const*, "
         "int)"},
        {"_ZN2ck1fIJNS_5TupleIJiS1_EEES2_DF16bEEEvv",
         "void ck::f<ck::Tuple<int, ck::Tuple>, ck::Tuple<int, ck::Tuple>, __bf16>()"},
        {"_ZN2ck1fINS_4EnumE", "ck::f<ck::Enum, ...>(...)"},
        {"_ZN2ck1fINS_4EnumELNS1_4K", "ck::f<ck::Enum, ...>(...)"},
        {"_Z1fIDF16_Lb1ELin3ELN2ns1EE2EEvv", "void f<half, true, -3, (ns::E)2>()"},
        {"_Z1fIDU8_DB8_Evv", "void f<unsigned _BitInt(8), _BitInt(8)>()"},
        {"_ZN1aL1bIRKfPA4_iDv4_fDF16bEEvv", "void a::b<float const&, int (*) [4], float __vector(4), __bf16>()"},
        {"_Z1fIZ1gvEUlfE2_DF16bEvT_", "void f<g()::{lambda(float)#4}, __bf16>(g()::{lambda(float)#4})"},
        {"_ZNSt6vectorIiE4pu", "std::vector<int>::pu(...)"},
        {"_Z1fIZ1gIiEvT_E", "f<g<int>(int, void)::..., ...>(...)"},
        {"_Z", NULL},
        {"_Z0", NULL},
        {"_Z9", NULL},
        {"_Z1S_", "S [clone _]"},
        {"_ZS9_", NULL},
        {"x", NULL},
    };
    /* an older demangler reads this as "bool _Accum" */
    shown_as("_ZN5aiter19grouped_topk_kernelIDF16bLb1EEEvPT_", "grouped_topk_kernel<bf16,true>");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = rtl_demangle(names[i].mangled, strlen(names[i].mangled));
        if (names[i].name ? !name || strcmp(name, names[i].name) != 0 : name != NULL)
            fail_msg("%s is read as %s and not as %s", names[i].mangled, name ? name : "nothing",
                     names[i].name ? names[i].name : "nothing");
        free(name);
    }
}

/* For any name the text is bounded, and the brackets that it opens are. */
static void adapted_names_are_bounded(void **state)
{
    (void)state;
    enum { LONG = 1000000, TEXT_MAX = 64 << 10 };
    static const char *const pieces[] = {"99" A33 A33 A33, "P", "1a", "N", "1aI", "Z1a", "TnPFi", "DF16b"};
    static const char *const heads[] = {"_Z1fI", "_Z1fI", "_ZN", "_Z1fI", "_Z", "_Z1fI", "_Z1fI", "_Z1fI"};
    char *raw = malloc(LONG + 1);
    assert_non_null(raw);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t used = (size_t)sprintf(raw, "%s", heads[i]), more = strlen(pieces[i]);
        for (; used + more < LONG; used += more)
            memcpy(raw + used, pieces[i], more + 1);
        char *name = rtl_demangle(raw, used);
        assert_true(name && strlen(name) <= TEXT_MAX);
        free(name);
    }
    free(raw);
}

static void a_users_rules_have_priority(void **state)
{
    (void)state;
    static const char raw[] = "_ZN5mylib11fused_scaleIDF16bLi8EEEvv", norm[] = "my_rms_norm_f32";
    struct rtl_name_rules *rules = rtl_name_rules_create();
    assert_non_null(rules);
    assert_true(rtl_name_rules_add(rules, RTL_FAMILY_MOE, "fused_scale", "scale $type0 x$1"));
    assert_true(rtl_name_rules_add(rules, RTL_FAMILY_COPY, "*rms_norm*", NULL));
    assert_true(rtl_name_rules_call(rules, "Cijk_*_MT16x16x256_*", "the small one"));
    rtl_name_rules_use(rules);
    struct rtl_names *names = rtl_names_create();
    rtl_name_rules_use(NULL);
    assert_string_equal(rtl_names_form(names, 0, raw, strlen(raw), RTL_NAME_SHORT), "scale bf16 x8");
    assert_int_equal(rtl_names_family(names, 0, raw, strlen(raw)), RTL_FAMILY_MOE);
    assert_string_equal(rtl_names_form(names, 1, norm, strlen(norm), RTL_NAME_SHORT), norm);
    assert_int_equal(rtl_names_family(names, 1, norm, strlen(norm)), RTL_FAMILY_COPY);
    const char *gemm = list[1]; /* 16x16x256 */
    assert_string_equal(rtl_names_cell(names, 2, gemm, strlen(gemm), RTL_NAME_SHORT, 43, false), "the small one");
    assert_int_equal(rtl_names_family(names, 2, gemm, strlen(gemm)), RTL_FAMILY_GEMM);
    rtl_names_free(names);
    for (int i = 2; i < RTL_USER_RULES_MAX; i++)
        assert_true(rtl_name_rules_add(rules, RTL_FAMILY_OTHER, "x", ""));
    assert_false(rtl_name_rules_add(rules, RTL_FAMILY_OTHER, "x", ""));
    for (int i = 1; i < RTL_USER_RULES_MAX; i++)
        assert_true(rtl_name_rules_call(rules, "x", "y"));
    assert_false(rtl_name_rules_call(rules, "x", "y"));
    rtl_name_rules_free(rules);
}

static void wrong_rules_get_a_message(void **state)
{
    (void)state;
    assert_null(rtl_name_show_wrong("a $0 $op1 (unroll $2) | ${bt} $more"));
    assert_null(rtl_name_show_wrong("=1"));
    assert_non_null(rtl_name_show_wrong("$nothing"));
    assert_non_null(rtl_name_show_wrong("$"));
    assert_non_null(rtl_name_show_wrong("(a"));
    assert_non_null(rtl_name_show_wrong("a)"));
    assert_non_null(rtl_name_show_wrong("=x"));
    assert_non_null(rtl_name_show_wrong("=12"));
    assert_non_null(rtl_name_show_wrong("@else"));
    assert_true(rtl_name_pattern_fits("a*B*", "aXXb", 4));
    assert_true(rtl_name_pattern_fits("*", "", 0));
    assert_false(rtl_name_pattern_fits("a*b", "abc", 3));
    assert_false(rtl_name_pattern_fits("", "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_shows_its_example_as_stated),
        cmocka_unit_test(every_family_has_a_table),
        cmocka_unit_test(the_list_equals_the_golden_files),
        cmocka_unit_test(different_names_have_different_short_forms),
        cmocka_unit_test(rows_display_their_difference),
        cmocka_unit_test(types_of_gemms_are_displayed),
        cmocka_unit_test(names_that_the_demangler_refuses_are_adapted),
        cmocka_unit_test(adapted_names_are_bounded),
        cmocka_unit_test(a_users_rules_have_priority),
        cmocka_unit_test(wrong_rules_get_a_message),
    };
    return cmocka_run_group_tests_name("names_rules", tests, load, unload);
}
