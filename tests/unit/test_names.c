/* Kernel names: shortening rules, rows that stay distinct, hostile names from another process. */
#include "tui_synth.h"

#include "text/demangle.h"
#include "text/names.h"
#include "text/text.h"

static void shortened(const char *raw, const char *wanted)
{
    char *full = rtl_name_full(raw, strlen(raw)), *brief = full ? rtl_name_short(raw, full) : NULL;
    assert_non_null(brief);
    if (strcmp(brief, wanted))
        fail_msg("%s\nis shortened to %s\nand not to     %s", full, brief, wanted);
    free(full);
    free(brief);
}

/* Check the short form of a name that is demangled already. */
static void shortened_plain(const char *full, const char *wanted_template, const char *wanted)
{
    char *template = rtl_name_template(full), *brief = rtl_name_short("_Z", full);
    assert_non_null(template);
    assert_non_null(brief);
    assert_string_equal(template, wanted_template);
    assert_string_equal(brief, wanted);
    free(template);
    free(brief);
}

static void real_names_are_shortened(void **state)
{
    (void)state;
    shortened("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
              "addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
              "T1_",
              "vec4 add bf16");
    shortened("_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
              "rotary_embedding_kernel<bf16,true>");
    shortened("Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
              "gemm TN bf16 256x256x64 MI16x16x1 WG32_8_1");
    shortened("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_K1_GSU4_WG64_4_1.kd",
              "gemm NN f16 128x128x32 MI32x32x8x1 GSU4 WG64_4_1");
    shortened("Cijk_Ailk_Bjlk_SB_MT64x64x16_SE_K1", "gemm NT f32 64x64x16");
    shortened("Cijk_no_gemm_at_all", "Cijk_no_gemm_at_all");
    shortened("__omp_offloading_fe00_5366b4_main_l22.kd", "omp main:22");
    shortened("__omp_offloading_fe00_5366b4__ZN4mesh6smoothIfEEvPT_l9_l120", "omp smooth<f32>:120");
    shortened("__omp_offloading_fe00_5366b4__ZN4mesh6smoothIfEEvPT_m_l120", "omp smooth<f32>:120");
    shortened("__omp_offloading_fe00_5366b4_l_l1", "omp l:1");
    shortened("__omp_offloading_fe00_5366b4_l1", "__omp_offloading_fe00_5366b4_l1");
    shortened("__omp_offloading_fe00_main_l1", "__omp_offloading_fe00_main_l1");
    shortened("__omp_offloading_fe00__main_l1", "__omp_offloading_fe00__main_l1");
    shortened("__omp_offloading_fe00_1_main_l", "__omp_offloading_fe00_1_main_l");
    shortened("triton_poi_fused_add_mul_silu_3.kd", "triton pointwise #3 add mul silu");
    shortened("__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer");
    shortened("_Z6kernelPfi", "kernel");
    /* more references than this process demangles: the helper's answer is equal */
    shortened("_Z3bigI1AILi1EES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_EvT_T0_T1_",
              "big<A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>>");
    /* newer than this demangler, and truncated: the valid part is shortened */
    shortened("_ZN4vllm18act_and_mul_kernelIN3c108BFloat16EZZ9", "act_and_mul_kernel<bf16,...>");
    shortened("_Z99short", "short");
    shortened("_Z", "_Z");
    shortened("_ZN", "_ZN");
}

static void return_types_parameters_and_scopes_are_dropped(void **state)
{
    (void)state;
    shortened_plain("void ns::f<int>(int, float)", "ns::f<int>", "f<i32>");
    shortened_plain("f(int)", "f", "f");
    shortened_plain("unsigned long ns::f<unsigned long, unsigned char>(int)", "ns::f<unsigned long, unsigned char>",
                    "f<u64,u8>");
    shortened_plain("void (anonymous namespace)::f<float>(float*)", "(anonymous namespace)::f<float>", "f<f32>");
    shortened_plain("void a::(anonymous namespace)::f<a::(anonymous namespace)::T>(int)",
                    "a::(anonymous namespace)::f<a::(anonymous namespace)::T>", "f<T>");
    shortened_plain("void f<(ns::Kind)3, (unsigned char)1, 16ul, -1, true>(int)",
                    "f<(ns::Kind)3, (unsigned char)1, 16ul, -1, true>", "f<Kind=3,1,16,-1,true>");
    shortened_plain("void half<half>(half)", "half<half>", "half<f16>"); /* a kernel may have a type's name */
    shortened_plain("void f<A<int>::B<double> >(int)", "f<A<int>::B<double> >", "f<A<i32>::B<f64>>");
    shortened_plain("S::operator()(int) const", "S::operator()", "operator()");
    shortened_plain("void ns::f<S::operator<(int)>(int)", "ns::f<S::operator<(int)>", "f<operator<(i32)>");
    shortened_plain("void f<&g(int (*)(int))>(int)", "f<&g(int (*)(int))>", "f<&g(i32(*)(i32))>");
    shortened_plain("void act<float, &(float ns::silu<float>(float const&)), true>(int)",
                    "act<float, &(float ns::silu<float>(float const&)), true>", "act<f32,silu<f32>,true>");
    /* an angle bracket that closes nothing */
    shortened_plain("void f<((a)>(b))>(int)", "f<((a)>(b))>", "f<((a)>(b))>");
    shortened_plain("run(int)::{lambda(float)#1}::operator()(float) const", "run(int)::{lambda(float)#1}::operator()",
                    "run");
    shortened_plain("void f<int>(int) [clone .kd]", "f<int>", "f<i32> .kd");
    shortened("_Z3ab\xce\xa0", "_Z3ab\xce\xa0");                   /* three bytes end within the letter */
    shortened_plain(" [clone .kd]", " [clone .kd]", "[clone.kd]"); /* an empty name stays as it is */
    shortened_plain("", "", "");
    shortened_plain("(((((", "(((((", "(((((");
    shortened_plain(">>>>", ">>>>", ">>>>");
    shortened_plain("::", "::", "::");
}

/* Names that serving software launches, as in code objects: instances that differ late, or in the middle. */
static const char *const nineteen[] = {
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
    "T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c104HalfEEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
    "T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEESt5arrayIPcLm1EEEEviT0_T1_",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsEjfLi4EEEEEvT1_",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_6MaxOpsEjfLi4EEEEEvT1_",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb0EEEvPKlPT_S5_PKS4_illiii",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_WG32_8_1_WGM8",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT16x16x512_MI16x16x1_SN_LDSB0_AFC1_SK3_WG32_8_1_WGM8",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_K1_GSU4_WG64_4_1",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_17_with_a_tail_that_is_long",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_18_with_a_tail_that_is_long",
    "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE",
    "__amd_rocclr_fillBufferAligned",
};
enum { NINETEEN = sizeof nineteen / sizeof *nineteen };

static int distinct_at(int width, bool ascii)
{
    struct rtl_names *names = rtl_names_create();
    char seen[NINETEEN][512];
    int distinct = 0;
    assert_non_null(names);
    for (uint32_t i = 0; i < NINETEEN; i++) {
        const char *cell = rtl_names_cell(names, i, nineteen[i], strlen(nineteen[i]), RTL_NAME_SHORT, width, ascii);
        assert_true(rtl_text_columns(cell) <= width);
        snprintf(seen[i], sizeof seen[i], "%s", cell);
        bool fresh = true;
        for (uint32_t j = 0; j < i; j++)
            fresh &= strcmp(seen[i], seen[j]) != 0;
        distinct += fresh;
    }
    rtl_names_free(names);
    return distinct;
}

static void nineteen_similar_names_stay_distinct(void **state)
{
    (void)state;
    assert_int_equal(NINETEEN, 19);
    assert_int_equal(distinct_at(34, false), 19);
    assert_int_equal(distinct_at(34, true), 19);
    for (int width = 4; width < 100; width += width < 10 ? 1 : 3)
        assert_int_equal(distinct_at(width, false), 19);
    for (int width = 1; width < 4; width++)
        assert_true(distinct_at(width, false) >= 1); /* too narrow for a difference, but it does no harm */
}

static void a_displayed_name_never_changes(void **state)
{
    (void)state;
    static const char *const raw[] = {"kernel_aaaaaaaaaa_1_aaaaaaaaaa_xyz", "kernel_aaaaaaaaaa_2_aaaaaaaaaa_xyz",
                                      "kernel_aaaaaaaaaa_3_aaaaaaaaaa_xyz"};
    struct rtl_names *names = rtl_names_create();
    char first[3][64];
    for (uint32_t i = 0; i < 3; i++)
        snprintf(first[i], sizeof first[i], "%s",
                 rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, 16, false));
    assert_string_equal(first[0], "kernel_…_xyz");     /* the first kernel seen has the plain name */
    assert_string_equal(first[1], "kern…yz aaaaa…_2"); /* the others display their difference from it */
    assert_string_equal(first[2], "kern…yz aaaaa…_3");
    for (uint32_t i = 3; i-- > 0;)
        assert_string_equal(rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, 16, false), first[i]);
    /* another width and back, in another order: the names are the same */
    for (uint32_t i = 3; i-- > 0;)
        assert_string_equal(rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, 60, false), raw[i]);
    for (uint32_t i = 3; i-- > 0;)
        assert_string_equal(rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_SHORT, 16, false), first[i]);
    rtl_names_free(names);
}

static void a_cut_name_shows_its_difference(void **state)
{
    (void)state;
    static const char *const raw[] = {"vectorized_kernel_of_some_length<bf16,array<char*,3>>",
                                      "vectorized_kernel_of_some_length<f16,array<char*,3>>"};
    struct rtl_names *names = rtl_names_create();
    for (int width = 24; width < 50; width++) {
        char cell[2][128];
        for (uint32_t i = 0; i < 2; i++)
            snprintf(cell[i], sizeof cell[i], "%s",
                     rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_MANGLED, width, false));
        /* "f16,array<char*,3>>" also ends bf16's name: it needs the "<" before it, or the hash */
        const char *cut = strstr(cell[1], "…");
        bool clear = strchr(cell[1], '~') || !cut || strstr(cut, "<f16") || strstr(cell[1], "length<f16");
        if (!clear || !strcmp(cell[0], cell[1]))
            fail_msg("at width %d: '%s' and '%s'", width, cell[0], cell[1]);
    }
    rtl_names_free(names);
}

static void uncut_names_differ_too(void **state)
{
    (void)state;
    /* two overloads: the short forms are equal, the kernels are not */
    static const char *const raw[] = {"_Z6kernelPf", "_Z6kernelPi"};
    struct rtl_names *names = rtl_names_create();
    char one[64], two[64];
    snprintf(one, sizeof one, "%s",
             rtl_names_cell(names, 7, raw[0], strlen(raw[0]), RTL_NAME_SHORT, RTL_NAMES_WHOLE, false));
    snprintf(two, sizeof two, "%s",
             rtl_names_cell(names, 8, raw[1], strlen(raw[1]), RTL_NAME_SHORT, RTL_NAMES_WHOLE, false));
    assert_string_equal(one, "kernel");
    assert_string_equal(two, "kernel int");
    assert_true(rtl_names_match(names, 7, raw[0], strlen(raw[0]), "FLOAT"));
    assert_false(rtl_names_match(names, 8, raw[1], strlen(raw[1]), "FLOAT"));
    assert_true(rtl_names_match(names, 8, raw[1], strlen(raw[1]), "_z6"));
    rtl_names_free(names);
}

/* Rows of equal names, and kernels named like the marks that distinguish such rows. */
static void marks_are_not_confused_with_names(void **state)
{
    (void)state;
    enum { SAME = 40, ROWS = 2 * SAME };
    for (int width = 16; width <= 40; width += 8) {
        struct rtl_names *names = rtl_names_create();
        char raw[ROWS][24];
        const char *cell[ROWS];
        for (uint32_t i = 0; i < ROWS; i++) {
            snprintf(raw[i], sizeof raw[i], i < SAME ? "same~#%u" : "same", SAME + i);
            cell[i] = rtl_names_cell(names, i, raw[i], strlen(raw[i]), RTL_NAME_MANGLED, width, false);
            assert_true(rtl_text_columns(cell[i]) <= width);
            for (uint32_t j = 0; j < i; j++)
                if (!strcmp(cell[i], cell[j]))
                    fail_msg("rows %u and %u are both '%s'", j, i, cell[i]);
        }
        rtl_names_free(names);
    }
}

static void each_form_of_a_name_is_printed(void **state)
{
    (void)state;
    static const char raw[] = "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii.kd";
    struct rtl_names *names = rtl_names_create();
    assert_string_equal(rtl_names_form(names, 2, raw, sizeof raw - 1, RTL_NAME_TEMPLATE),
                        "vllm::rotary_embedding_kernel<c10::BFloat16, true>");
    assert_string_equal(rtl_names_form(names, 2, raw, sizeof raw - 1, RTL_NAME_MANGLED),
                        "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii");
    assert_non_null(strstr(rtl_names_form(names, 2, raw, sizeof raw - 1, RTL_NAME_FULL), "(long const*, "));
    assert_string_equal(rtl_names_form(names, 3, "", 0, RTL_NAME_SHORT), "(no name)");
    assert_string_equal(rtl_names_form(names, 4, "a\033]0;x\007b", 8, RTL_NAME_SHORT), "a\\x1b]0;x\\x07b");
    assert_string_equal(rtl_names_form(names, RTL_KERNELS_MAX, "x", 1, RTL_NAME_SHORT), "?");
    rtl_names_free(names);
}

/* Back references that double at each level: 400 bytes would expand to 2^40 pieces. */
static void exponential_names_cost_a_bounded_time(void **state)
{
    (void)state;
    char bomb[4096] = "_Z1fI1AIiiE", seq[24];
    for (int i = 0; i < 45; i++) {
        /* S_ is A, S0_ is A<int, int>, S1_ is A<S0_, S0_> and so on */
        if (i < 10)
            snprintf(seq, sizeof seq, "S%d_", i);
        else if (i < 36)
            snprintf(seq, sizeof seq, "S%c_", 'A' + i - 10);
        else
            snprintf(seq, sizeof seq, "S1%d_", i - 36);
        snprintf(bomb + strlen(bomb), sizeof bomb - strlen(bomb), "S_I%s%sE", seq, seq);
    }
    snprintf(bomb + strlen(bomb), sizeof bomb - strlen(bomb), "EvT_");
    for (int i = 0; i < 20; i++) /* each of them alone would take years: the test only has to end */
        assert_null(rtl_demangle(bomb, strlen(bomb)));
}

static void random_names_do_no_harm(void **state)
{
    (void)state;
    static const char pieces[] = "<>(){}[]:,& *~_ZN4operator3fooIiELb1lambda#'constSt1";
    uint32_t random = 99;
    for (int round = 0; round < 20000; round++) {
        char raw[80];
        size_t length = 0;
        random = random * 1664525u + 1013904223u;
        for (size_t wanted = random >> 26; length < wanted; length++) {
            random = random * 1664525u + 1013904223u;
            raw[length] = pieces[(random >> 20) % (sizeof pieces - 1)];
        }
        raw[length] = 0;
        char *full = rtl_name_full(raw, length), *template = rtl_name_template(raw), *brief = rtl_name_short("_Z", raw);
        assert_true(full && template && brief);
        assert_true(strlen(template) <= length && strlen(brief) <= length + 1);
        free(full);
        free(template);
        free(brief);
    }
}

/* Check the full and the short form of a mangled name with a suffix. */
static void suffixed(const char *raw, const char *wanted_full, const char *wanted)
{
    char *full = rtl_name_full(raw, strlen(raw));
    assert_non_null(full);
    assert_string_equal(full, wanted_full);
    shortened(raw, wanted);
    free(full);
}

static void a_suffix_follows_the_demangled_name(void **state)
{
    (void)state;
    suffixed("_Z6kernelPfi.constprop.0", "kernel(float*, int) [clone .constprop.0]", "kernel .constprop.0");
    suffixed("_Z6kernelPfi$jit$5f3a9c01$", "kernel(float*, int) [clone $jit$5f3a9c01$]", "kernel $jit$5f3a9c01$");
    suffixed("_Z6kernelPfi_clone_0", "kernel(float*, int) [clone _clone_0]", "kernel _clone_0");
    suffixed("_Z1fIiEvT___amdgpu_device", "void f<int>(int) [clone __amdgpu_device]", "f<i32> __amdgpu_device");
    suffixed("_Z1fIiEvT_.isra.0.cold.llvm.12$jit$1$.kd", "void f<int>(int) [clone .isra.0.cold.llvm.12$jit$1$]",
             "f<i32> .isra.0.cold.llvm.12$jit$1$");
    suffixed("_Z1fv.intern.0A1B", "f() [clone .intern.0A1B]", "f .intern.0A1B");
    suffixed("_ZZ1gvENKUlvE_clEv_v1", "g()::{lambda()#1}::operator()() const [clone _v1]", "g _v1");
    suffixed(
        "_Z3bigI1AILi1EES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_EvT_T0_T1_$jit$1$",
        "void big<A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1>, A<1> >(A<1>, "
        "A<1>, A<1>) [clone $jit$1$]",
        "big<A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>,A<1>> $jit$1$");
    /* a name with rules, and a name that an older demangler refuses */
    shortened(
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEE"
        "EviT0_T1_$jit$7$",
        "vec4 add bf16 $jit$7$");
    shortened("_ZN5aiter4normIDF16bLi64EEEvPT0_PK1AIDF16bE.internalized", "norm<bf16,64> .internalized");
    shortened("__omp_offloading_fe00_5366b4_main_l22$jit$1f$.kd", "omp main:22 $jit$1f$");
    /* no suffix: the characters belong to an identifier, or the name ends early */
    suffixed("_Z8a.b$c_d@v", "a.b$c_d@()", "a.b$c_d@");
    suffixed("_Z9f$jit$1$", "f$jit$1$(...)", "f$jit$1$");
    suffixed("kernel.cold", "kernel.cold", "kernel.cold");
}

/* Newer compilers mark a template's `auto` parameter. */
static void auto_parameters_are_demangled(void **state)
{
    static const char raw[] = "_Z1fITnDaLi1EEvv";
    (void)state;
    char *plain = rtl_demangle(raw, strlen(raw));
    assert_non_null(plain);
    assert_string_equal(plain, "void f<1>()");
    free(plain);
}

static void long_suffixes_are_kept(void **state)
{
    (void)state;
    enum { LONG = 1000 };
    char raw[4 * LONG] = "_Z6kernelPfi";
    for (int i = 0; i < LONG; i++)
        strcat(raw, "$x_");
    char *plain = rtl_demangle(raw, strlen(raw));
    assert_non_null(plain);
    assert_memory_equal(plain, "kernel(float*, int) [clone $x_$x_", 33);
    assert_int_equal(strlen(plain), strlen("kernel(float*, int) [clone ]") + 3 * LONG);
    free(plain);
}

/* Names of maximum length with as many possible suffixes as fit: the test only has to end. */
static void hostile_suffixes_cost_a_bounded_time(void **state)
{
    (void)state;
    static const char *const heads[] = {"_Z1fv", "_Z1fIiEvT", "_ZN1aI", "_Z60000", "_Z1fIXadL", "_Z"};
    static const char *const units[] = {"_", "$", ".a", "S_", "1a_", "I", ".1", "P_"};
    char *raw = malloc(RTL_NAME_MAX + 1);
    assert_non_null(raw);
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            size_t used = (size_t)sprintf(raw, "%s", heads[h]), unit = strlen(units[u]);
            for (; used + unit <= RTL_NAME_MAX; used += unit)
                memcpy(raw + used, units[u], unit + 1);
            char *full = rtl_name_full(raw, used);
            assert_non_null(full);
            if (!strcmp(heads[h], "_Z1fv") && strchr("_$.", *units[u]))
                assert_memory_equal(full, "f() [clone ", 11);
            free(full);
        }
    free(raw);
}

static void names_that_differ_in_a_suffix_never_look_alike(void **state)
{
    (void)state;
    static const char *const raw[] = {"_Z6kernelIfEvPT_i",
                                      "_Z6kernelIfEvPT_i.cold",
                                      "_Z6kernelIfEvPT_i$jit$5f3a9c01$",
                                      "_Z6kernelIfEvPT_i$jit$5f3a9c02$",
                                      "_Z6kernelIfEvPT_i_clone_0",
                                      "_Z6kernelIDF16bEvPT_i$jit$1$",
                                      "_Z6kernelIDF16bEvPT_i$jit$2$"};
    enum { COUNT = sizeof raw / sizeof *raw };
    for (int form = 0; form < RTL_NAME_FORM_COUNT; form++) {
        struct rtl_names *names = rtl_names_create();
        for (int width = 4; width < 60; width++) {
            char cell[COUNT][128];
            for (uint32_t i = 0; i < COUNT; i++) {
                snprintf(cell[i], sizeof cell[i], "%s",
                         rtl_names_cell(names, i, raw[i], strlen(raw[i]), (enum rtl_name_form)form, width, false));
                assert_true(rtl_text_columns(cell[i]) <= width);
                for (uint32_t j = 0; j < i; j++)
                    if (!strcmp(cell[i], cell[j]))
                        fail_msg("%s at width %d: %s and %s are both '%s'",
                                 rtl_name_form_name((enum rtl_name_form)form), width, raw[j], raw[i], cell[i]);
            }
        }
        rtl_names_free(names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_names_are_shortened),
        cmocka_unit_test(return_types_parameters_and_scopes_are_dropped),
        cmocka_unit_test(nineteen_similar_names_stay_distinct),
        cmocka_unit_test(a_displayed_name_never_changes),
        cmocka_unit_test(a_cut_name_shows_its_difference),
        cmocka_unit_test(uncut_names_differ_too),
        cmocka_unit_test(marks_are_not_confused_with_names),
        cmocka_unit_test(each_form_of_a_name_is_printed),
        cmocka_unit_test(a_suffix_follows_the_demangled_name),
        cmocka_unit_test(exponential_names_cost_a_bounded_time),
        cmocka_unit_test(random_names_do_no_harm),
        cmocka_unit_test(auto_parameters_are_demangled),
        cmocka_unit_test(long_suffixes_are_kept),
        cmocka_unit_test(hostile_suffixes_cost_a_bounded_time),
        cmocka_unit_test(names_that_differ_in_a_suffix_never_look_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
