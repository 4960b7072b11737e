/* The lists in HSA_TOOLS_LIB and LD_PRELOAD: split as runtime and loader split them, and joined again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/library.h"

/* The names, each followed by a |. */
static const char *names(const char *list)
{
    static char all[1000];
    char name[300];
    all[0] = '\0';
    while (rtl_tools_next(&list, name, sizeof name))
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s|", name);
    return all;
}

static void names_are_split_as_in_the_runtime(void **state)
{
    (void)state;
    static const struct {
        const char *list, *names;
    } cases[] = {
        {"", ""},
        {"a.so", "a.so|"},
        {"a.so b.so", "a.so|b.so|"},
        {"  a.so   b.so  ", "a.so|b.so|"},
        {"\"a b.so\" c.so", "a b.so|c.so|"},
        {"\"a.so\"\"b.so\"", "a.so|b.so|"},
        {"\"a.so\"b.so", "a.so|b.so|"},
        {"x\"a.so\"", "a.so|"},
        {"x\\ y\"a.so\"", "x a.so|"},
        {"\"a b", "a b|"},
        {"a\\ b.so c", "a b.so|c|"},
        {"a\\\"b\\\\c", "a\"b\\c|"},
        {"\"a\\\"b\"", "a\"b|"},
        {"\"\" \"\"", ""},
        {"a:b", "a:b|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(names(cases[i].list), cases[i].names);
}

static void a_too_long_name_is_cut(void **state)
{
    (void)state;
    char name[4];
    const char *at = "abcdef gh";
    assert_true(rtl_tools_next(&at, name, sizeof name));
    assert_string_equal(name, "abc");
    assert_true(rtl_tools_next(&at, name, sizeof name));
    assert_string_equal(name, "gh");
    assert_false(rtl_tools_next(&at, name, sizeof name));
}

static void an_appended_library_is_the_last_of_its_name(void **state)
{
    (void)state;
    static const char *const lists[] = {"",         "a.so",    "a.so b.so", "\"a b.so\"", "\"a b.so\"c", "\"open b.so",
                                        "a\\ b.so", " a.so  ", "\\\\ x",    "x\"y\" z",   "'a' $b;c"};
    static const char *const libraries[] = {"/usr/lib/librtl.so", "/a b/li\"b\\rtl.so", "/it's/librtl.so"};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
            char wanted[1000];
            snprintf(wanted, sizeof wanted, "%s%s|", names(lists[l]), libraries[i]);
            char *list = rtl_tools_append(lists[l], libraries[i]);
            assert_string_equal(names(list), wanted);
            assert_true(rtl_tools_sane(list));
            char *again = rtl_tools_append(list, libraries[i]);
            assert_string_equal(again, list); /* appending twice changes nothing */
            free(again);
            free(list);
        }
    char *list = rtl_tools_append(NULL, "/l.so");
    assert_string_equal(list, "/l.so");
    free(list);
}

static void a_list_that_hangs_the_runtime_is_detected(void **state)
{
    (void)state;
    assert_true(rtl_tools_sane(""));
    assert_true(rtl_tools_sane("a\\\\"));
    assert_true(rtl_tools_sane("a\\ "));
    assert_false(rtl_tools_sane("\\"));
    assert_false(rtl_tools_sane("a.so b\\"));
    assert_false(rtl_tools_sane("a\\\\\\"));
}

static void another_copy_of_our_library_is_replaced(void **state)
{
    (void)state;
    char *list = rtl_tools_append("a.so librtl.so \"/opt/old one/librtl.so\" b.so", "/new/librtl.so");
    assert_string_equal(names(list), "a.so|b.so|/new/librtl.so|");
    free(list);
    list = rtl_tools_append("/new/librtl.so b.so", "/new/librtl.so");
    assert_string_equal(names(list), "/new/librtl.so|b.so|");
    free(list);
}

static void our_library_is_recognised_by_its_name(void **state)
{
    (void)state;
    assert_true(rtl_tools_displaces("librtl.so", ""));
    assert_true(rtl_tools_displaces("/opt/x y/librtl.so", ""));
    assert_true(rtl_tools_displaces("/a b/librtl.so.1", ""));
    assert_false(rtl_tools_displaces("", ""));
    assert_false(rtl_tools_displaces("/librtl.so/other.so", ""));
    assert_false(rtl_tools_displaces("myrtl.so", ""));
}

static void a_list_for_the_loader_is_appended_to(void **state)
{
    (void)state;
    static const struct {
        const char *list, *appended;
    } cases[] = {
        {NULL, "/n/librtl-hip.so"},
        {"", "/n/librtl-hip.so"},
        {" : ", "/n/librtl-hip.so"},
        {"a.so", "a.so:/n/librtl-hip.so"},
        {"a.so /b/c.so::d.so ", "a.so:/b/c.so:d.so:/n/librtl-hip.so"},
        {"a.so:/old/librtl-hip.so b.so", "a.so:b.so:/n/librtl-hip.so"},
        {"librtl-hip.so", "/n/librtl-hip.so"},
        {"/n/librtl-hip.so:b.so", "/n/librtl-hip.so:b.so"},
        {"librtl-hip.so.1:/n/librtl-hip.so", "/n/librtl-hip.so"},
        {"/librtl-hip.so/b.so", "/librtl-hip.so/b.so:/n/librtl-hip.so"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *list = rtl_preload_append(cases[i].list, "/n/librtl-hip.so");
        assert_string_equal(list, cases[i].appended);
        free(list);
    }
    char name[4];
    const char *at = "abcdef gh";
    assert_true(rtl_preload_next(&at, name, sizeof name));
    assert_string_equal(name, "abc");
    assert_true(rtl_preload_next(&at, name, sizeof name));
    assert_string_equal(name, "gh");
    assert_false(rtl_preload_next(&at, name, sizeof name));
    assert_true(rtl_preload_can_hold("/opt/rtl/librtl-hip.so"));
    assert_false(rtl_preload_can_hold("/a b"));
    assert_false(rtl_preload_can_hold("/a:b"));
    assert_false(rtl_preload_can_hold("/$ORIGIN"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_split_as_in_the_runtime),
        cmocka_unit_test(a_too_long_name_is_cut),
        cmocka_unit_test(an_appended_library_is_the_last_of_its_name),
        cmocka_unit_test(a_list_that_hangs_the_runtime_is_detected),
        cmocka_unit_test(another_copy_of_our_library_is_replaced),
        cmocka_unit_test(our_library_is_recognised_by_its_name),
        cmocka_unit_test(a_list_for_the_loader_is_appended_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
