/* Environment variables that activate rocprofiler-sdk, and the explanation for a process that was left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "launch/library.h"
#include "shm/gpu_use.h"

static struct rtl_profiler of(const char *first, const char *second)
{
    struct rtl_profiler p = {0};
    rtl_profiler_variable(&p, first);
    if (second)
        rtl_profiler_variable(&p, second);
    return p;
}

static void a_tool_in_the_environment_makes_it_active(void **state)
{
    (void)state;
    static const char *const on[] = {"ROCP_TOOL_LIBRARIES=x.so", "ROCPROFILER_REGISTER_LIBRARY=/a/b.so",
                                     "ROCPROFILER_REGISTER_FORCE_LOAD=1", "ROCPROFILER_REGISTER_FORCE_LOAD=yes"};
    static const char *const off[] = {"ROCP_TOOL_LIBRARIES=",
                                      "ROCP_TOOL_LIBRARIES",
                                      "ROCP_TOOL_LIBRARIES2=x",
                                      "XROCP_TOOL_LIBRARIES=x",
                                      "ROCPROFILER_REGISTER_FORCE_LOAD=0",
                                      "ROCPROFILER_REGISTER_FORCE_LOAD=OFF",
                                      "",
                                      "=",
                                      "PATH=ROCP_TOOL_LIBRARIES=x"};
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        struct rtl_profiler p = of(on[i], NULL);
        assert_true(p.active);
        assert_string_equal(p.why, on[i]);
        assert_false(of(on[i], "ROCPROFILER_REGISTER_ENABLED=0").active);
        assert_false(of("ROCPROFILER_REGISTER_ENABLED=false", on[i]).active);
        assert_true(of("ROCPROFILER_REGISTER_ENABLED=1", on[i]).active);
    }
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        assert_false(of(off[i], NULL).active);
    assert_string_equal(of(on[0], on[1]).why, on[0]);
}

static void the_common_switch_is_parsed_as_in_the_runtime(void **state)
{
    (void)state;
    static const char *const on[] = {"1", "2", "10", "yes", "on", "", "x0", "-0"};
    static const char *const off[] = {"0", "000", "off", "FALSE", "no", "N", "f"};
    char entry[100];
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        snprintf(entry, sizeof entry, RTL_PROFILER_BOTH "=%s", on[i]);
        assert_true(of(entry, NULL).both);
    }
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        snprintf(entry, sizeof entry, RTL_PROFILER_BOTH "=%s", off[i]);
        assert_false(of(entry, NULL).both);
        assert_false(of(RTL_PROFILER_BOTH "=1", entry).both);
    }
}

static void the_explanation_is_bounded_and_printable(void **state)
{
    (void)state;
    char entry[5000] = "ROCP_TOOL_LIBRARIES=";
    memset(entry + strlen(entry), '\033', sizeof entry - strlen(entry) - 1);
    struct rtl_profiler p = of(entry, NULL);
    assert_true(p.active);
    assert_true(strlen(p.why) < sizeof p.why);
    for (const char *c = p.why; *c; c++)
        assert_true(*c >= ' ');
}

/* Return the explanation for a process with this GPU use. */
static const char *line(struct rtl_gpu_use use)
{
    static char why[2000];
    const struct rtl_process process = {.pid = 7, .name = "serve"};
    rtl_gpu_use_explain(&process, &use, false, why, sizeof why);
    return why;
}

static void the_explanation_names_why_a_process_was_left_out(void **state)
{
    (void)state;
    const struct rtl_profiler alone = of("ROCP_TOOL_LIBRARIES=x.so", NULL);
    const struct rtl_profiler both = of("ROCP_TOOL_LIBRARIES=x.so", RTL_PROFILER_BOTH "=1");
    assert_non_null(
        strstr(line((struct rtl_gpu_use){.asked = true, .runtime = true, .profiler = alone}),
               "(ROCP_TOOL_LIBRARIES=x.so), beside which the runtime leaves out HSA_TOOLS_LIB: start it with"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.asked = true, .runtime = true, .profiler = both}), "--preload"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.asked = true, .profiler = alone}), "start it with"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.asked = true, .profiler = both}), "has not used the GPU so far"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.preloaded = true, .library = true, .runtime = true}),
                           "has not registered with rocprofiler-register"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.preloaded = true, .library = true}), "has not used the GPU"));
    assert_non_null(strstr(line((struct rtl_gpu_use){.library = true, .runtime = true}), "no segment"));
}

static void each_of_our_libraries_yields_to_its_own_kind(void **state)
{
    (void)state;
    assert_true(rtl_preload_same_kind("/old/librtl.so.1", "/n/librtl.so"));
    assert_true(rtl_preload_same_kind("librtl-hip.so", "/n/librtl-hip.so"));
    assert_false(rtl_preload_same_kind("/old/librtl-hip.so", "/n/librtl.so"));
    assert_false(rtl_preload_same_kind("/old/librtl.so", "/n/librtl-hip.so"));
    assert_false(rtl_preload_same_kind("other.so", "/n/librtl.so"));
    assert_false(rtl_preload_same_kind("other.so", "other.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_in_the_environment_makes_it_active),
        cmocka_unit_test(the_common_switch_is_parsed_as_in_the_runtime),
        cmocka_unit_test(the_explanation_is_bounded_and_printable),
        cmocka_unit_test(the_explanation_names_why_a_process_was_left_out),
        cmocka_unit_test(each_of_our_libraries_yields_to_its_own_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
