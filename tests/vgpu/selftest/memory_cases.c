/* memory_cases.c - self-tests of real data transfers: SDMA, the runtime's copy kernels, registered memory, freed
 * memory. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pattern(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345;
        p[i] = (unsigned char)(seed >> 16);
    }
}

static void async_copy(void *dst, hsa_agent_t da, const void *src, hsa_agent_t sa, size_t n)
{
    hsa_signal_t s = signal_new(1);
    CHECK(hsa_amd_profiling_async_copy_enable(true));
    CHECK(hsa_amd_memory_async_copy(dst, da, src, sa, n, 0, NULL, s));
    wait_zero(s);
    hsa_amd_profiling_async_copy_time_t t;
    CHECK(hsa_amd_profiling_get_async_copy_time(s, &t));
    REQUIRE(t.end >= t.start && t.start != 0);
    CHECK(hsa_signal_destroy(s));
}

/* host -> GPU -> GPU -> host in every alignment, byte for byte; the surrounding bytes stay unchanged. */
void case_copy(int argc, char **argv)
{
    enum { MAX = 9 << 20, EDGE = 64 };
    static const size_t sizes[] = {1, 3, 4, 15, 64, 255, 4096, 4097, 65536, 1000001, 8388608 + 5};
    (void)argc;
    (void)argv;
    unsigned char *in = alloc(&h, h.host, MAX), *out = alloc(&h, h.host, MAX), *want = malloc(MAX);
    unsigned char *a = alloc(&h, h.vram[0], MAX), *b = alloc(&h, h.vram[h.gpus - 1], MAX);
    hsa_agent_t ga = h.gpu[0], gb = h.gpu[h.gpus - 1];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned shift = 0; shift < 4; shift++) {
            size_t n = sizes[i], at = EDGE + shift, to = EDGE + (shift * 3) % 5;
            pattern(in, MAX, (unsigned)(i * 7 + shift));
            memset(out, 0xee, MAX);
            memset(want, 0xee, MAX);
            memcpy(want + to, in + at, n);
            async_copy(a + to, ga, in + at, h.cpu, n);
            async_copy(b + at, gb, a + to, ga, n);
            async_copy(out + to, h.cpu, b + at, gb, n);
            REQUIRE(!memcmp(out, want, n + 2 * EDGE));
        }
    free(want);
}

void case_fill(int argc, char **argv)
{
    enum { WORDS = 1 << 20 };
    (void)argc;
    (void)argv;
    uint32_t *v = alloc(&h, h.vram[0], WORDS * 4), *out = alloc(&h, h.host, WORDS * 4);
    static const size_t counts[] = {1, 17, 1000, 65536, WORDS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        CHECK(hsa_amd_memory_fill(v, 0x11111111, WORDS));
        CHECK(hsa_amd_memory_fill(v, 0xdeadbeef, counts[i]));
        async_copy(out, h.cpu, v, h.gpu[0], WORDS * 4);
        for (size_t k = 0; k < WORDS; k++)
            REQUIRE(out[k] == (k < counts[i] ? 0xdeadbeef : 0x11111111));
    }
}

void case_rect(int argc, char **argv)
{
    enum { W = 256, H = 64, D = 4 };
    (void)argc;
    (void)argv;
    unsigned char *in = alloc(&h, h.host, W * H * D), *out = alloc(&h, h.host, W * H * D),
                  *v = alloc(&h, h.vram[0], W * H * D);
    pattern(in, W * H * D, 5);
    memset(out, 0, W * H * D);
    hsa_pitched_ptr_t host = {in, W, W * H}, gpu = {v, W, W * H}, back = {out, W, W * H};
    hsa_dim3_t from = {8, 3, 1}, mid = {12, 5, 0}, to = {20, 9, 2}, range = {120, 33, 2};
    hsa_signal_t s = signal_new(1);
    CHECK(hsa_amd_memory_async_copy_rect(&gpu, &mid, &host, &from, &range, h.gpu[0], hsaHostToDevice, 0, NULL, s));
    wait_zero(s);
    hsa_signal_store_relaxed(s, 1);
    CHECK(hsa_amd_memory_async_copy_rect(&back, &to, &gpu, &mid, &range, h.gpu[0], hsaDeviceToHost, 0, NULL, s));
    wait_zero(s);
    for (unsigned z = 0; z < D; z++)
        for (unsigned y = 0; y < H; y++)
            for (unsigned x = 0; x < W; x++) {
                bool inside = x - to.x < range.x && y - to.y < range.y && z - to.z < range.z;
                unsigned want = inside ? in[((z - to.z + from.z) * H + y - to.y + from.y) * W + x - to.x + from.x] : 0;
                REQUIRE(out[(z * H + y) * W + x] == want);
            }
}

/* Registered malloc memory: the GPU has another address for it, and both sides see the same bytes. */
void case_lock(int argc, char **argv)
{
    enum { BYTES = 5 << 20 };
    (void)argc;
    (void)argv;
    unsigned char *host = malloc(BYTES), *copy = malloc(BYTES), *v = alloc(&h, h.vram[0], BYTES);
    for (int round = 0; round < 20; round++) {
        void *gpu;
        pattern(host, BYTES, (unsigned)round);
        CHECK(hsa_amd_memory_lock(host + 100, BYTES - 200, h.gpu, h.gpus, &gpu));
        async_copy(v, h.gpu[0], gpu, h.gpu[0], BYTES - 200);
        memcpy(copy, host, BYTES);
        memset(host, 0, BYTES);
        async_copy(gpu, h.gpu[0], v, h.gpu[0], BYTES - 200);
        REQUIRE(!memcmp(host + 100, copy + 100, BYTES - 200));
        CHECK(hsa_amd_memory_unlock(host + 100));
    }
    free(host);
    free(copy);
}

/* Destroy queues and signals while kernels run: nothing crashes, and the others continue. */
void case_free(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t slow = kernel_object(e, &h, 0, "vg_long"), quick = kernel_object(e, &h, 0, "vg_short");
    hsa_queue_t *steady = make_queue(&h, 0, 256, true);
    for (int round = 0; round < 50; round++) {
        hsa_queue_t *q = make_queue(&h, 0, 256, true);
        hsa_signal_t s = signal_new(1), lost = signal_new(10);
        for (int i = 0; i < 10; i++)
            dispatch(q, slow, lost, i % 2);
        dispatch(steady, quick, s, true);
        CHECK(hsa_queue_destroy(q));
        wait_zero(s);
        CHECK(hsa_signal_destroy(s));
        CHECK(hsa_signal_destroy(lost));
    }
}

/* Allocate and free repeatedly: freed memory is reusable, and new memory has none of the old data. */
void case_churn(int argc, char **argv)
{
    int rounds = argc > 0 ? atoi(argv[0]) : 200;
    uint32_t *out = alloc(&h, h.host, 4096);
    for (int i = 0; i < rounds; i++) {
        size_t bytes = (size_t)(1 + i % 7) * 3000000;
        uint32_t *p;
        CHECK(hsa_amd_memory_pool_allocate(h.vram[0], bytes, 0, (void **)&p));
        CHECK(hsa_amd_memory_fill(p, (uint32_t)i, bytes / 4));
        async_copy(out, h.cpu, p + bytes / 4 - 1024, h.gpu[0], 4096);
        for (int k = 0; k < 1024; k++)
            REQUIRE(out[k] == (uint32_t)i);
        CHECK(hsa_amd_memory_pool_free(p));
    }
}

/* A GPU's memory ends where the topology says. */
void case_limit(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    size_t total;
    void *p, *q;
    CHECK(hsa_amd_memory_pool_get_info(h.vram[0], HSA_AMD_MEMORY_POOL_INFO_SIZE, &total));
    CHECK(hsa_amd_memory_pool_allocate(h.vram[0], total / 4 * 3, 0, &p));
    REQUIRE(hsa_amd_memory_pool_allocate(h.vram[0], total / 2, 0, &q) != HSA_STATUS_SUCCESS);
    CHECK(hsa_amd_memory_pool_free(p));
    CHECK(hsa_amd_memory_pool_allocate(h.vram[0], total / 2, 0, &q));
    CHECK(hsa_amd_memory_pool_free(q));
    printf("%zu\n", total);
}
