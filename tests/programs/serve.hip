/*
 * serve.hip - a workload like an LLM server's: the kernels that a server sends to its GPUs, in their order and
 * proportion, with nothing computed. `make demo` shows rtl-top on it; tests use it as a busy, varied process.
 *
 * Each GPU has one thread, which plays a tensor-parallel rank. Prompts arrive; each is prefilled (few long kernels),
 * then a batch is decoded token by token (many short ones). The sequences grow, so attention moves from one kernel
 * instance to the next larger one. tests/programs/serve.script sets the kernels' durations on the software GPU.
 *
 * serve [--layers N] [--gpus N] [--ranks N] [--seconds S]: runs until SIGTERM, SIGINT, or S seconds. With --ranks the
 * process is one of so many ranks, and sends collectives also with one GPU.
 */
#include "hip_check.h"

#include <hip/hip_ext.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

struct bf16;  /* only needed in the kernels' names */
struct fp8_t;

#define TENSILE(suffix)                                                                                  \
    extern "C" __global__ void Cijk_Alik_Bljk_##suffix(float *d, const float *a, const float *b, int k) \
    {                                                                                                    \
        d[0] = a[0] * b[0] + (float)k;                                                                   \
    }
TENSILE(BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_WGM8) /* prefill projections */
TENSILE(BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1_AFC1_WGM4) /* qkv, o_proj */
TENSILE(BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_MI16x16x1_SN_LDSB1_AFC1_SK3)   /* down_proj, split in k */
TENSILE(BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI32x32x1_SN_LDSB0_AFC1_WGM1)  /* lm_head */

/* vLLM's own kernels, instantiated for bf16 with an fp8 cache. */
template <typename T, typename C, int BLOCK, int HEAD, int PARTITION>
__global__ void paged_attention_ll4mi_QKV_mfma16_kernel(T *out, const C *cache, int context);
template <typename T, int HEAD, int PARTITIONS>
__global__ void paged_attention_ll4mi_reduce_kernel(T *out, const float *partial);

namespace vllm {
template <typename T, int WIDTH> __global__ void rms_norm_kernel(T *out, const T *in, float epsilon);
template <typename T, int WIDTH> __global__ void fused_add_rms_norm_kernel(T *inout, T *residual, float epsilon);
template <typename T, bool NEOX> __global__ void rotary_embedding_kernel(const long *positions, T *query, T *key);
template <typename T, typename C, int LAYOUT>
__global__ void reshape_and_cache_flash_kernel(const T *key, const T *value, C *key_cache, C *value_cache);
template <typename T, T (*ACTIVATION)(const T &), bool FIRST> __global__ void act_and_mul_kernel(T *out, const T *in);
template <typename T> __device__ T silu_kernel(const T &value) { return value; }
} // namespace vllm

namespace sampling {
template <int BLOCK, typename ID> __global__ void top_k_top_p_sampling_kernel(const float *probs, ID *out, unsigned k);
template <typename T, int ITEMS> __global__ void softmax_warp_forward(T *out, const T *in, int rows);
} // namespace sampling

/* Empty bodies: only names and launches matter. */
template <typename T, typename C, int BLOCK, int HEAD, int PARTITION>
__global__ void paged_attention_ll4mi_QKV_mfma16_kernel(T *, const C *, int)
{
}
template <typename T, int HEAD, int PARTITIONS>
__global__ void paged_attention_ll4mi_reduce_kernel(T *, const float *)
{
}
template <typename T, int WIDTH> __global__ void vllm::rms_norm_kernel(T *, const T *, float)
{
}
template <typename T, int WIDTH> __global__ void vllm::fused_add_rms_norm_kernel(T *, T *, float)
{
}
template <typename T, bool NEOX> __global__ void vllm::rotary_embedding_kernel(const long *, T *, T *)
{
}
template <typename T, typename C, int LAYOUT>
__global__ void vllm::reshape_and_cache_flash_kernel(const T *, const T *, C *, C *)
{
}
template <typename T, T (*ACTIVATION)(const T &), bool FIRST> __global__ void vllm::act_and_mul_kernel(T *, const T *)
{
}
template <int BLOCK, typename ID> __global__ void sampling::top_k_top_p_sampling_kernel(const float *, ID *, unsigned)
{
}
template <typename T, int ITEMS> __global__ void sampling::softmax_warp_forward(T *, const T *, int)
{
}
extern "C" __global__ void attn_fwd_0d1d2d3d4d5c6c7c8c(float *out) { out[0] = 0; } /* Triton, prefill */
extern "C" __global__ void triton_red_fused_add_mean_mul_pow_rsqrt_3(float *out) { out[0] = 0; }
extern "C" __global__ void triton_poi_fused_embedding_0(float *out) { out[0] = 0; }
extern "C" __global__ void ncclDevKernel_Generic(float *out) { out[0] = 0; }

namespace {

volatile std::sig_atomic_t stopped;

void on_stop_signal(int)
{
    stopped = 1;
}

struct options {
    int layers = 16, gpus = 0, ranks = 1;
    double seconds = 0;
};

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One rank: its resources on its GPU, and the steps of a server's loop. */
class rank {
public:
    rank(const options &given, int gpu) : options_(given), random_(12345u + (unsigned)gpu)
    {
        HIP(hipSetDevice(gpu));
        HIP(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
        HIP(hipStreamCreateWithFlags(&collectives_, hipStreamNonBlocking));
        HIP(hipEventCreate(&started_));
        HIP(hipEventCreate(&done_));
        HIP(hipMalloc((void **)&memory_, 1 << 20));
        HIP(hipHostMalloc((void **)&tokens_, 4096, hipHostMallocDefault));
    }

    ~rank()
    {
        HIP(hipStreamDestroy(collectives_));
        HIP(hipStreamDestroy(stream_));
        HIP(hipFree(memory_));
        HIP(hipHostFree(tokens_));
    }

    void serve(double deadline)
    {
        while (!stopped && (deadline == 0 || now() < deadline)) {
            /* Prompts come in bursts: usually one, sometimes several. */
            for (unsigned prompts = 1 + (draw(8) == 0 ? draw(4) : 0); prompts != 0 && !stopped; prompts--)
                prefill();
            unsigned tokens = 24 + draw(160);
            for (unsigned token = 0; token < tokens && !stopped; token++)
                decode(256 + 16 * token);
        }
        HIP(hipDeviceSynchronize());
    }

private:
    const options &options_;
    hipStream_t stream_, collectives_;
    hipEvent_t started_, done_;
    float *memory_;
    int *tokens_;
    unsigned random_;

    unsigned draw(unsigned below)
    {
        random_ = random_ * 1664525u + 1013904223u;
        return (random_ >> 8) % below;
    }
    template <typename T> T *as(void) { return (T *)(void *)memory_; }

    /* RCCL puts events on the kernel itself, on its own stream, and orders the two streams by events. */
    void all_reduce(void)
    {
        HIP(hipEventRecord(started_, stream_));
        HIP(hipStreamWaitEvent(collectives_, started_, 0));
        hipExtLaunchKernelGGL(ncclDevKernel_Generic, dim3(32), dim3(512), 0, collectives_, nullptr, done_, 0, memory_);
        HIP(hipStreamWaitEvent(stream_, done_, 0));
    }

    /* The part of a layer after attention, which prefill and decode share. */
    void feed_forward(void)
    {
        Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1_AFC1_WGM4<<<256, 256, 32768, stream_>>>(
            memory_, memory_, memory_, 4096);
        if (options_.gpus * options_.ranks > 1)
            all_reduce();
        vllm::fused_add_rms_norm_kernel<bf16, 8><<<64, 1024, 0, stream_>>>(as<bf16>(), as<bf16>(), 1e-5f);
    }

    void prefill(void)
    {
        HIP(hipMemcpyAsync(memory_, tokens_, 4096, hipMemcpyHostToDevice, stream_));
        triton_poi_fused_embedding_0<<<512, 256, 0, stream_>>>(memory_);
        for (int layer = 0; layer < options_.layers && !stopped; layer++) {
            triton_red_fused_add_mean_mul_pow_rsqrt_3<<<512, 512, 0, stream_>>>(memory_);
            Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_WGM8<<<
                1024, 256, 65536, stream_>>>(memory_, memory_, memory_, 8192);
            vllm::rotary_embedding_kernel<bf16, true><<<512, 256, 0, stream_>>>(as<long>(), as<bf16>(), as<bf16>());
            vllm::reshape_and_cache_flash_kernel<bf16, fp8_t, 1>
                <<<512, 512, 0, stream_>>>(as<bf16>(), as<bf16>(), as<fp8_t>(), as<fp8_t>());
            attn_fwd_0d1d2d3d4d5c6c7c8c<<<1024, 256, 65536, stream_>>>(memory_);
            feed_forward();
            Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_WGM8<<<
                2048, 256, 65536, stream_>>>(memory_, memory_, memory_, 28672);
            vllm::act_and_mul_kernel<float, vllm::silu_kernel<float>, true><<<2048, 1024, 0, stream_>>>(memory_, memory_);
        }
        HIP(hipStreamSynchronize(stream_));
    }

    void attention(unsigned context)
    {
        if (context < 1024) {
            paged_attention_ll4mi_QKV_mfma16_kernel<bf16, fp8_t, 16, 128, 256>
                <<<dim3(64, 1, 8), 256, 16384, stream_>>>(as<bf16>(), as<fp8_t>(), (int)context);
        } else {
            paged_attention_ll4mi_QKV_mfma16_kernel<bf16, fp8_t, 16, 128, 512>
                <<<dim3(64, 4, 8), 256, 16384, stream_>>>(as<bf16>(), as<fp8_t>(), (int)context);
            paged_attention_ll4mi_reduce_kernel<bf16, 128, 8><<<dim3(64, 8), 128, 0, stream_>>>(as<bf16>(), memory_);
        }
    }

    void decode(unsigned context)
    {
        triton_poi_fused_embedding_0<<<64, 256, 0, stream_>>>(memory_);
        for (int layer = 0; layer < options_.layers; layer++) {
            vllm::rms_norm_kernel<bf16, 8><<<64, 1024, 0, stream_>>>(as<bf16>(), as<bf16>(), 1e-5f);
            Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1_AFC1_WGM4<<<
                96, 256, 32768, stream_>>>(memory_, memory_, memory_, 8192);
            vllm::rotary_embedding_kernel<bf16, true><<<64, 256, 0, stream_>>>(as<long>(), as<bf16>(), as<bf16>());
            vllm::reshape_and_cache_flash_kernel<bf16, fp8_t, 1>
                <<<64, 512, 0, stream_>>>(as<bf16>(), as<bf16>(), as<fp8_t>(), as<fp8_t>());
            attention(context);
            feed_forward();
            Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x512_MI16x16x1_SN_LDSB1_AFC1_SK3<<<
                304, 256, 32768, stream_>>>(memory_, memory_, memory_, 28672);
            vllm::act_and_mul_kernel<float, vllm::silu_kernel<float>, true><<<64, 1024, 0, stream_>>>(memory_, memory_);
        }
        Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI32x32x1_SN_LDSB0_AFC1_WGM1<<<
            501, 256, 32768, stream_>>>(memory_, memory_, memory_, 8192);
        sampling::softmax_warp_forward<float, 8><<<64, 1024, 0, stream_>>>(memory_, memory_, 64);
        sampling::top_k_top_p_sampling_kernel<1024, int><<<64, 1024, 0, stream_>>>(memory_, as<int>(), 50u);
        HIP(hipMemcpyAsync(tokens_, memory_, 256, hipMemcpyDeviceToHost, stream_));
        HIP(hipStreamSynchronize(stream_));
    }
};

} // namespace

int main(int argc, char **argv)
{
    options options;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--layers") == 0 && i + 1 < argc) {
            options.layers = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--gpus") == 0 && i + 1 < argc) {
            options.gpus = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--ranks") == 0 && i + 1 < argc) {
            options.ranks = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            options.seconds = std::atof(argv[++i]);
        } else {
            std::fprintf(stderr, "usage: serve [--layers N] [--gpus N] [--ranks N] [--seconds S]\n");
            return 2;
        }
    }
    struct sigaction action = {};
    action.sa_handler = on_stop_signal;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);

    int found = 0;
    HIP(hipGetDeviceCount(&found));
    if (options.gpus <= 0 || options.gpus > found)
        options.gpus = found;
    /* A waiting rank must not occupy the core on which the software GPU runs. */
    for (int gpu = 0; gpu < options.gpus; gpu++) {
        HIP(hipSetDevice(gpu));
        HIP(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    }
    double deadline = options.seconds > 0 ? now() + options.seconds : 0;
    std::vector<std::thread> ranks;
    for (int gpu = 0; gpu < options.gpus; gpu++)
        ranks.emplace_back([&options, gpu, deadline] { rank(options, gpu).serve(deadline); });
    std::printf("serving on %d GPUs\n", options.gpus);
    std::fflush(stdout);
    for (std::thread &each : ranks)
        each.join();
    std::puts("serve: PASS, stopped");
    return 0;
}
