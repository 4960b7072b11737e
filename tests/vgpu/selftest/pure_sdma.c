/*
 * pure_sdma.c - tests the SDMA engine's packets on its own ring, without a runtime, including packets that ROCr does
 * not send today. Prints TAP.
 */
#include "../vgpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number, bad;

static void ok(bool good, const char *what)
{
    bad += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

/* GPU memory of these tests: one block, whose GPU address differs from the host's. */
#define VA    0x500000000000ull
#define BYTES (8u << 20)
static unsigned char *memory;
static struct vg_alloc block = {.va = VA, .size = BYTES, .kind = VG_MEM_VRAM};
bool vg_engine_recheck;

const struct vg_alloc *vg_alloc_at(uint64_t va)
{
    return va - VA < BYTES ? &block : NULL;
}

void *vg_xlate(uint64_t va, uint64_t len)
{
    return va - VA < BYTES && len <= BYTES - (va - VA) ? memory + (va - VA) : NULL;
}

uint32_t vg_gpu_id(int gpu)
{
    return (uint32_t)gpu + 1;
}

static struct vg_queue q;
static uint64_t doorbell, wptr, rptr, put_at;
static unsigned char ring[4096];

static void fresh(void)
{
    memset(&q, 0, sizeof q);
    memset(ring, 0, sizeof ring);
    doorbell = VG_NEVER;
    wptr = rptr = put_at = 0;
    q.sdma = true;
    q.doorbell = &doorbell;
    q.last_doorbell = VG_NEVER;
    q.ring = (char *)ring;
    q.ring_size = sizeof ring;
    q.wptr = &wptr;
    q.rptr = &rptr;
}

static void put_words(const uint32_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++, put_at += 4)
        memcpy(ring + put_at % sizeof ring, &words[i], 4);
}

/* Ring the doorbell and run the engine until it is idle; false: it waits or was halted. */
static bool run_engine(void)
{
    wptr = put_at;
    doorbell = put_at;
    for (int i = 0; i < 10000 && rptr != put_at && !q.halted; i++) {
        uint64_t due = VG_NEVER, now = vg_ns_to_ticks(vg_clock_ns());
        /* Simulated time advances at will: whatever is due is due now. */
        vg_sdma_step(&q, now > q.cp ? now : q.cp, &due);
    }
    return rptr == put_at;
}

static uint32_t lo(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t hi(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

static void test_copies(void)
{
    static const uint32_t sizes[] = {1, 63, 4096, 0x3fffe0, 5000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = sizes[i];
        uint64_t src = VA + 5, dst = n > BYTES / 2 - 64 ? VA + BYTES - n - 7 : VA + BYTES / 2 + 3;
        fresh();
        for (uint32_t k = 0; k < BYTES; k++)
            memory[k] = (unsigned char)(k * 7 + (k >> 11));
        unsigned char *want = malloc(BYTES);
        memcpy(want, memory, BYTES);
        memmove(want + (dst - VA), want + 5, n);
        put_words((uint32_t[]){1, n - 1, 0, lo(src), hi(src), lo(dst), hi(dst)}, 7);
        char what[64];
        snprintf(what, sizeof what, "linear copy of %u bytes", n);
        bool overlap = dst < src + n;
        ok(run_engine() && (overlap || !memcmp(memory, want, BYTES)), what);
        free(want);
    }
    fresh();
    put_words((uint32_t[]){1, 99, 0, lo(VA), hi(VA), 0x1000, 0}, 7);
    ok(!run_engine() && q.halted, "a copy to an unmapped address stops the queue");
}

static void fills(void)
{
    static const struct {
        uint32_t size, count;
        unsigned char bytes[4];
    } cases[] = {
        {0, 100, {0x44, 0x44, 0x44, 0x44}}, {1, 100, {0x44, 0x33, 0x44, 0x33}}, {2, 400, {0x44, 0x33, 0x22, 0x11}}};
    for (size_t i = 0; i < 3; i++) {
        fresh();
        memset(memory, 0, 4096);
        uint32_t unit = 1u << cases[i].size;
        put_words((uint32_t[]){11 | cases[i].size << 30, lo(VA + 64), hi(VA + 64), 0x11223344, cases[i].count - unit},
                  5);
        bool good = run_engine();
        for (uint32_t k = 0; k < cases[i].count; k++)
            good &= memory[64 + k] == cases[i].bytes[k % 4];
        ok(good && !memory[63] && !memory[64 + cases[i].count], "fill of bytes, words, dwords");
    }
}

static void test_other_packets(void)
{
    uint64_t *value = (uint64_t *)(void *)memory;
    fresh();
    *value = 0x1ffffffffull;
    put_words((uint32_t[]){10 | 47u << 25, lo(VA), hi(VA), 0xffffffff, 0xffffffff, 0, 0, 0}, 8);
    ok(run_engine() && *value == 0x1fffffffeull, "64-bit add");
    fresh();
    put_words((uint32_t[]){5, lo(VA + 8), hi(VA + 8), 0xcafe}, 4);
    put_words((uint32_t[]){13 | 2 << 8, lo(VA + 32), hi(VA + 32)}, 3);
    ok(run_engine() && *(uint32_t *)(void *)(memory + 8) == 0xcafe && value[4] == q.cp && q.cp, "fence and timestamp");

    static const struct {
        uint32_t func, value, met;
    } polls[] = {{1, 4, 1}, {1, 5, 0}, {2, 5, 1}, {2, 6, 0}, {3, 5, 1}, {3, 4, 0},
                 {4, 4, 1}, {4, 5, 0}, {5, 5, 1}, {5, 4, 0}, {6, 6, 1}, {6, 5, 0}};
    bool good = true;
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++) {
        fresh();
        *value = polls[i].value | 0x700;
        put_words((uint32_t[]){8 | polls[i].func << 28 | 1u << 31, lo(VA), hi(VA), 5, 0xff, 0}, 6);
        good &= run_engine() == polls[i].met;
    }
    ok(good, "poll: six conditions, under the mask");
    fresh();
    put_words((uint32_t[]){8, 0, 0x80000000, 0, 0, 0}, 6);
    ok(run_engine(), "HDP flush");

    /* A queue that comes earlier in a pass reads the clock, completes the signal, and is interrupted in between. */
    fresh();
    *value = 1;
    put_words((uint32_t[]){8 | 3u << 28 | 1u << 31, lo(VA), hi(VA), 0, 0xffffffff, 0}, 6);
    good = !run_engine();
    uint64_t due = VG_NEVER, pass = vg_ns_to_ticks(vg_clock_ns());
    *value = 0;
    vg_signal_time_set(VA - offsetof(amd_signal_t, value), pass + 100);
    vg_sdma_step(&q, pass, &due);
    ok(good && rptr == put_at && q.cp == pass + 100, "poll: ends no earlier than the kernel that it waited for");

    fresh();
    memset(memory, 1, 256);
    for (int i = 0; i < 1000; i++) { /* every place of the ring, including across its end */
        put_words((uint32_t[]){0}, 1);
        put_words((uint32_t[]){2u << 16, 1, 2}, 3);
        put_words((uint32_t[]){1, 15, 0, lo(VA), hi(VA), lo(VA + 100), hi(VA + 100)}, 7);
        put_words((uint32_t[]){17 | 1 << 8, 0, 0, 0, 0}, 5);
        if (!run_engine())
            break;
    }
    ok(rptr == 1000 * 16 * 4 && memory[115] == 1, "nops of any length, cache control, the ring's end");

    uint32_t event = vg_event_create(VG_EVENT_SIGNAL, false);
    fresh();
    put_words((uint32_t[]){6, event}, 2);
    ok(run_engine(), "trap");
}

static bool prints(const uint32_t *words, unsigned n, const char *text)
{
    int p[2], keep = dup(2);
    char line[256] = "";
    fresh();
    put_words(words, n);
    if (pipe(p))
        return false;
    dup2(p[1], 2);
    bool done = run_engine();
    dup2(keep, 2);
    close(p[1]);
    close(keep);
    if (read(p[0], line, sizeof line - 1) < 0)
        line[0] = '\0';
    close(p[0]);
    return !done && q.halted && strstr(line, text);
}

int main(void)
{
    memory = malloc(BYTES);
    block.host = (char *)memory;
    vg_cfg.copy_bytes_per_us = 25000;
    test_copies();
    fills();
    test_other_packets();
    ok(prints((uint32_t[]){99, 0}, 2, "unknown SDMA op 99 sub-op 0"), "an unknown command is printed");
    ok(prints((uint32_t[]){1 | 9 << 8, 0}, 2, "unknown SDMA op 1 sub-op 9"), "an unknown kind of copy is printed");
    ok(prints((uint32_t[]){1, 5}, 2, "incomplete SDMA op 1"),
       "a command that ends beyond the write pointer is printed");
    ok(prints((uint32_t[]){10 | 7u << 25, 0, 0, 0, 0, 0, 0, 0}, 8, "atomic operation 7"),
       "an unknown atomic is printed");
    printf("1..%d\n", number);
    free(memory);
    return bad != 0;
}
