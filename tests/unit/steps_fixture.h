/*
 * Programs that run steps, played in their own time: each dispatch begins when the one before it ends, so snapshots cut
 * steps anywhere, as they do in a real process. The sequences of kernels are those of the programs that are named.
 */
#ifndef RTL_TESTS_STEPS_FIXTURE_H
#define RTL_TESTS_STEPS_FIXTURE_H

#include "hip_api_fixture.h"

#include "model/model.h"

enum { LAYERS = 16 };

static struct synth *p;
static struct rtl_model *m;
static struct synth_calls calls;
static bool ranged;                       /* snapshots have ranges */
static uint64_t now_ns, tick_ns, next_ns; /* since the start */
static unsigned random_state;
static uint64_t steps, seen_steps; /* that the program has ended: now, at the last snapshot */

static inline int begin(void **state)
{
    (void)state;
    p = synth_create(1, 1);
    m = rtl_model_create();
    assert_non_null(m);
    memset(&calls, 0, sizeof calls);
    ranged = false;
    now_ns = steps = seen_steps = 0;
    next_ns = tick_ns = RTL_SEC / 2;
    random_state = 12345;
    return 0;
}

static inline int end_program(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

static inline unsigned draw_number(unsigned below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static inline void look(uint64_t at)
{
    struct rtl_snapshot s = synth_snapshot(p, at);
    if (ranged)
        synth_put_calls(p, &calls, &s);
    assert_true(rtl_model_add(m, &s, 1000 * RTL_SEC + at));
    seen_steps = steps;
}

/* Let time pass; snapshots are taken in it. */
static inline void pass(uint64_t ns)
{
    for (now_ns += ns; now_ns >= next_ns; next_ns += tick_ns)
        look(next_ns);
}

static inline int kernel_of(const char *name)
{
    for (int i = 0; i < p->kernel_count; i++)
        if (!strcmp(p->kernels[i].name, name))
            return i;
    return synth_kernel(p, name);
}

/* Run a kernel: counted when it begins, timed when it ends. */
static inline void run(const char *name, uint64_t ns)
{
    int k = kernel_of(name);
    uint64_t is = ns * (95 + draw_number(11)) / 100;
    p->kernels[k].calls++;
    p->queues[0].dispatches++;
    p->queues[0].injected++;
    pass(is);
    p->queues[0].completed++;
    synth_add(&p->kernels[k].h, is, 1);
    p->busy_ns[0] += is;
}

/* --- a server that decodes tokens, as tests/programs/serve.hip --- */

static inline void prefill(void)
{
    run("triton_poi_fused_embedding_0", 8000);
    for (int layer = 0; layer < LAYERS; layer++) {
        run("triton_red_fused_add_mean_mul_pow_rsqrt_3", 24000);
        run("Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1", 1100000);
        run("vllm_rotary_embedding_kernel", 6000);
        run("attn_fwd_0d1d2d3d4d5c6c7c8c", 2300000);
        run("Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1", 152000);
        run("vllm_fused_add_rms_norm_kernel", 9000);
        run("vllm_act_and_mul_kernel", 13000);
    }
}

static inline void decode(unsigned context, const char *sampler)
{
    run("triton_poi_fused_embedding_0", 8000);
    for (int layer = 0; layer < LAYERS; layer++) {
        run("vllm_rms_norm_kernel", 7000);
        run("Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1", 152000);
        run("vllm_rotary_embedding_kernel", 6000);
        run(context < 1024 ? "paged_attention_Li256" : "paged_attention_Li512", context < 1024 ? 171000 : 243000);
        run("Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x1", 152000);
        run("vllm_fused_add_rms_norm_kernel", 9000);
        run("Cijk_Alik_Bljk_BBS_BH_MT16x16x512_MI16x16x1", 208000);
        run("vllm_act_and_mul_kernel", 13000);
    }
    run("Cijk_Alik_Bljk_BBS_BH_MT64x32x256_MI32x32x1", 540000);
    run("softmax_warp_forward", 42000);
    if (sampler)
        run(sampler, 65000);
    pass(900000); /* the host copies the token and begins the next step */
    steps++;
}

static inline void serve(uint64_t seconds, const char *sampler)
{
    uint64_t until = now_ns + seconds * RTL_SEC;
    while (now_ns < until) {
        prefill();
        unsigned tokens = 24 + draw_number(160);
        for (unsigned token = 0; token < tokens && now_ns < until; token++)
            decode(256 + 16 * token, sampler);
    }
}

/* --- llama-server, which samples on the CPU: three gathers per token, and as many layers as a small model has --- */

static inline void llama(uint64_t seconds)
{
    uint64_t until = now_ns + seconds * RTL_SEC;
    while (now_ns < until) {
        for (int gather = 0; gather < 3; gather++)
            run("_ZL18k_get_rows_floatIffE", 24000);
        for (int layer = 0; layer < LAYERS; layer++) {
            run("_ZL12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKfPfi", 28000);
            for (int product = 0; product < 7; product++)
                run("_ZL13mul_mat_vec_fI6__halfS0_Li1ELi128ELb0ELb0EEv", 248000);
            run("_ZL9rope_normILb1ELb0EffEvPKfPf", 20000);
            run("_ZL9rope_normILb1ELb0EffEvPKfPf", 20000);
            run("_ZL10k_set_rowsIfl6__halfEvPKT_", 20000);
            run("_ZL15flash_attn_tileILi64ELi64ELi1ELi4ELb0EEv", 96000);
            run("_ZL12k_bin_bcastIXadL_ZL6op_addffEEfffJPKfEEv", 24000);
            run("_ZL21unary_gated_op_kernelIXadL_ZL7op_silufEEfEv", 36000);
        }
        run("_ZL12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKfPfi", 28000);
        run("_ZL13mul_mat_vec_fI6__halfS0_Li1ELi128ELb0ELb0EEv", 248000);
        pass(400000);
        steps++;
    }
}

/* Return the part of a kernel in the window; not known if it has no line. */
static inline struct rtl_step_part part_of(const char *name)
{
    for (uint32_t i = 0; i < m->steps.lines; i++)
        if (m->step_lines[i].row && !strcmp(m->step_lines[i].row->kernel->name, name))
            return m->step_lines[i].part;
    return (struct rtl_step_part){.known = false};
}

#endif
