/* Choosing a kernel by name, and the message when several match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "watch/kernel_choice.h"
#include "text/text.h"

enum { KERNELS = 14, LONG = 400 };
static char text[KERNELS][LONG + 20];
static struct rtl_kernel_snapshot kernels[KERNELS];
static struct rtl_snapshot snapshot = {.kernels = kernels};
static struct rtl_names *names;
static struct rtl_kernel_choice choice;

static int setup(void **state)
{
    (void)state;
    snapshot.kernel_count = 0;
    return !(names = rtl_names_create());
}

static int teardown(void **state)
{
    (void)state;
    rtl_names_free(names);
    return 0;
}

static void add(const char *name, uint64_t calls)
{
    uint32_t at = snapshot.kernel_count++;
    assert_true(at < KERNELS);
    snprintf(text[at], sizeof text[at], "%s", name);
    kernels[at] = (struct rtl_kernel_snapshot){
        .id = RTL_KERNEL_FIRST + at, .name = text[at], .name_length = strlen(text[at]), .calls = calls};
}

static void a_kernel_is_chosen_by_part_or_full_name(void **state)
{
    (void)state;
    add("gemm", 10);
    add("gemm_large", 20);
    add("silu", 30);
    rtl_kernel_choose(&snapshot, names, "sil", &choice);
    assert_ptr_equal(choice.kernel, &kernels[2]);
    rtl_kernel_choose(&snapshot, names, "gemm", &choice); /* an exact match */
    assert_ptr_equal(choice.kernel, &kernels[0]);
    rtl_kernel_choose(&snapshot, names, "gem", &choice);
    assert_null(choice.kernel);
    assert_int_equal(choice.count, 2);
    assert_string_equal(rtl_kernel_candidate(&choice, 0, names, true), "gemm_large"); /* called more often */
    assert_string_equal(rtl_kernel_candidate(&choice, 1, names, true), "gemm");
    rtl_kernel_choose(&snapshot, names, "conv", &choice);
    assert_true(!choice.kernel && !choice.count);
}

/* Two kernels with equal short names: the displayed name of each adds a difference, whichever was seen first. */
static void a_kernel_is_chosen_by_its_displayed_name(void **state)
{
    static const char *const alike[] = {
        "_Z39paged_attention_ll4mi_QKV_mfma16_kernelI4bf165fp8_tLi16ELi128ELi256EEvPT_PKT0_i",
        "_Z39paged_attention_ll4mi_QKV_mfma16_kernelI4bf165fp8_tLi16ELi128ELi512EEvPT_PKT0_i"};
    (void)state;
    add("silu", 30);
    for (int i = 0; i < 2; i++)
        add(alike[i], 10);
    const struct rtl_kernel_snapshot *k = &kernels[1];
    for (int first = 0; first < 2; first++) {
        struct rtl_names *shown = rtl_names_create();
        char name[2][200];
        for (int i = 0; i < 2; i++) {
            int n = i ^ first;
            snprintf(
                name[n], sizeof name[n], "%s",
                rtl_names_cell(shown, k[n].id, k[n].name, k[n].name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false));
        }
        rtl_names_free(shown);
        assert_string_not_equal(name[0], name[1]);
        rtl_kernel_choose(&snapshot, names, name[!first], &choice);
        assert_ptr_equal(choice.kernel, &k[!first]);
        rtl_kernel_choose(&snapshot, names, name[first], &choice); /* the plain name, which both have */
        assert_int_equal(choice.count, 2);
    }
}

/* The names differ beyond the end of any line. */
static void long_names_are_distinguished(void **state)
{
    char name[LONG + 1];
    (void)state;
    for (int i = 0; i < KERNELS; i++) {
        memset(name, 'a', LONG);
        name[LONG - i * 8] = 0;
        name[LONG - i * 8 - 1] = (char)('b' + i);
        add(name, (uint64_t)i);
    }
    for (int ascii = 0; ascii < 2; ascii++) {
        rtl_kernel_choose(&snapshot, names, "aaaa", &choice);
        assert_int_equal(choice.count, KERNELS);
        for (uint32_t i = 0; i < RTL_CANDIDATES_MAX; i++) {
            char one[4 * RTL_CANDIDATE_COLUMNS + 1];
            snprintf(one, sizeof one, "%s", rtl_kernel_candidate(&choice, i, names, ascii));
            assert_in_range(rtl_text_columns(one), 1, RTL_CANDIDATE_COLUMNS);
            for (uint32_t j = 0; j < i; j++)
                assert_string_not_equal(one, rtl_kernel_candidate(&choice, j, names, ascii));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_is_chosen_by_part_or_full_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_kernel_is_chosen_by_its_displayed_name, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_are_distinguished, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
