/*
 * hsa_util.h - raw HSA for the self-tests of the software GPU: an agent, its memory, a queue, a code object. On failure
 * every function exits with one line on stderr.
 */
#ifndef VGPU_SELFTEST_HSA_UTIL_H
#define VGPU_SELFTEST_HSA_UTIL_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_AGENTS 16

struct hsa {
    int gpus;
    hsa_agent_t cpu, gpu[MAX_AGENTS];
    hsa_amd_memory_pool_t host, kernarg, vram[MAX_AGENTS];
};

_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(call)                                                                \
    do {                                                                           \
        hsa_status_t status_ = (call);                                             \
        if (status_ != HSA_STATUS_SUCCESS)                                         \
            fail("%s:%d: %s: 0x%x", __FILE__, __LINE__, #call, (unsigned)status_); \
    } while (0)
#define REQUIRE(cond)                                     \
    do {                                                  \
        if (!(cond))                                      \
            fail("%s:%d: %s", __FILE__, __LINE__, #cond); \
    } while (0)

void hsa_open(struct hsa *h);
/* Load the file and return the executable; kernel_object looks up "name.kd" in it. */
hsa_executable_t load_code(const struct hsa *h, int gpu, const char *file);
uint64_t kernel_object(hsa_executable_t e, const struct hsa *h, int gpu, const char *name);
hsa_queue_t *make_queue(const struct hsa *h, int gpu, uint32_t size, bool profile);
void *alloc(const struct hsa *h, hsa_amd_memory_pool_t pool, size_t bytes);
hsa_signal_t signal_new(int64_t value);

/* Write a kernel dispatch packet and ring the doorbell; waits for room in the ring. */
uint64_t dispatch(hsa_queue_t *q, uint64_t object, hsa_signal_t done, bool barrier);
uint64_t barrier_and(hsa_queue_t *q, const hsa_signal_t *deps, int n, hsa_signal_t done, bool barrier);
/* Submit any 64 bytes, header last. */
uint64_t submit(hsa_queue_t *q, const void *packet, uint16_t header);
uint64_t barrier_unrung(hsa_queue_t *q, hsa_signal_t done); /* does not ring the doorbell */
void wait_zero(hsa_signal_t s);
/* A dispatch's times, in ticks. */
hsa_amd_profiling_dispatch_time_t times(const struct hsa *h, int gpu, hsa_signal_t s);

#endif
