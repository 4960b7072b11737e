/*
 * A synthetic process for tests of the viewer: a test grows the counts of kernels, queues and GPUs, and makes a
 * snapshot at any time. Also returns a frame as text.
 */
#ifndef RTL_TESTS_TUI_SYNTH_H
#define RTL_TESTS_TUI_SYNTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "stats/histogram.h"
#include "frame_text.h"
#include "tui/draw_views.h"
#include "tui/ui_state.h"

enum { SYNTH_KERNELS = 32, SYNTH_QUEUES = 8, SYNTH_OCTAVES = 36 };
#define SYNTH_START (100 * RTL_SEC)

/* Step of the tests that draw all sizes and screens. AddressSanitizer is ten times slower: there each size, each screen
 * and each prompt is drawn, but not every combination.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SYNTH_ONE_IN 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYNTH_ONE_IN 4
#endif
#endif
#ifndef SYNTH_ONE_IN
#define SYNTH_ONE_IN 1
#endif

struct synth_histogram {
    uint64_t bucket[SYNTH_OCTAVES * 64], count, total, min, max;
};

struct synth {
    struct {
        const char *name;
        uint32_t id;
        uint64_t calls, untimed;
        struct synth_histogram h;
    } kernels[SYNTH_KERNELS];
    int kernel_count;
    struct {
        uint64_t dispatches, injected, completed, untimed[RTL_UNTIMED_LIMIT];
        uint32_t path, why;
        bool error_known;
        uint32_t error, error_kernel; /* like their namesakes in rtl_queue_snapshot */
        uint64_t error_after_ns;
        struct synth_histogram wait, gap;
    } queues[SYNTH_QUEUES];
    int queue_count;
    struct {
        uint64_t count, bytes, untimed[RTL_COPY_UNTIMED_LIMIT];
        struct synth_histogram h;
    } copies[8 * RTL_DIRECTION_COUNT]; /* RTL_COPIES_OF */
    uint64_t busy_ns[RTL_AGENTS_MAX];
    struct rtl_idle idle[RTL_AGENTS_MAX][RTL_IDLE_COUNT];
    uint64_t cause_ns[RTL_AGENTS_MAX][RTL_CAUSE_COUNT], last_end[RTL_AGENTS_MAX]; /* last_end after the start */
    struct rtl_gap gaps[RTL_AGENTS_MAX][RTL_GAPS_MAX];
    uint32_t gap_count[RTL_AGENTS_MAX];
    bool no_gaps;  /* an older library */
    bool no_clock; /* no GPU clock was calibrated yet */
    int gpu_count;
    uint32_t mode, state, notes;
    bool counting; /* in auto without a viewer */
    uint64_t heartbeat_ns, passes;
    bool parked;
    void *garbage[4096]; /* the snapshots' octaves: freed at the end */
    int garbage_count;
};

static inline struct synth *synth_create(int gpus, int queues)
{
    struct synth *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->gpu_count = gpus;
    p->queue_count = queues;
    p->mode = RTL_MODE_DEFAULT;
    p->state = RTL_STATE_LIVE;
    return p;
}

static inline void synth_free(struct synth *p)
{
    for (int i = 0; i < p->garbage_count; i++)
        free(p->garbage[i]);
    free(p);
}

static inline int synth_kernel(struct synth *p, const char *name)
{
    int i = p->kernel_count++;
    assert_true(i < SYNTH_KERNELS);
    p->kernels[i].name = name;
    p->kernels[i].id = RTL_KERNEL_FIRST + (uint32_t)i;
    return i;
}

static inline void synth_add(struct synth_histogram *h, uint64_t ns, uint64_t count)
{
    h->bucket[rtl_bucket_of(ns)] += count;
    h->total += ns * count;
    h->min = !h->count || ns < h->min ? ns : h->min;
    h->max = ns > h->max ? ns : h->max;
    h->count += count;
}

/* Add `count` dispatches of a kernel on queue 0, timed with `ns` each. */
static inline void synth_record(struct synth *p, int kernel, uint64_t ns, uint64_t count)
{
    p->kernels[kernel].calls += count;
    synth_add(&p->kernels[kernel].h, ns, count);
    p->queues[0].dispatches += count;
    p->queues[0].injected += count;
    p->queues[0].completed += count;
}

static inline void synth_untimed(struct synth *p, int kernel, int reason, uint64_t count)
{
    p->kernels[kernel].calls += count;
    p->kernels[kernel].untimed += count;
    p->queues[0].dispatches += count;
    p->queues[0].untimed[reason] += count;
}

/* Add `count` copies of that many bytes each, timed with `ns` each. */
static inline void synth_copies(struct synth *p, int gpu, enum rtl_direction direction, uint64_t bytes, uint64_t ns,
                                uint64_t count)
{
    uint32_t i = RTL_COPIES_OF(gpu, direction);
    p->copies[i].count += count;
    p->copies[i].bytes += count * bytes;
    synth_add(&p->copies[i].h, ns, count);
}

static inline struct rtl_histogram_copy synth_copy(struct synth *p, const struct synth_histogram *h)
{
    struct rtl_histogram_copy c = {.count = h->count, .total_ns = h->total, .min_ns = h->min, .max_ns = h->max};
    for (int o = 0; o < SYNTH_OCTAVES; o++) {
        bool any = false;
        for (int b = 0; b < 64; b++)
            any |= h->bucket[o * 64 + b] != 0;
        if (!any)
            continue;
        c.octaves = realloc(c.octaves, (c.octave_count + 1) * sizeof *c.octaves);
        assert_non_null(c.octaves);
        c.octaves[c.octave_count].octave = (uint8_t)o;
        memcpy(c.octaves[c.octave_count].bucket, &h->bucket[o * 64], sizeof c.octaves[0].bucket);
        c.octave_count++;
    }
    if (c.octaves) {
        assert_true(p->garbage_count < 4096);
        p->garbage[p->garbage_count++] = c.octaves;
    }
    return c;
}

/* Take a snapshot of the process `at` ns after its start. */
static inline struct rtl_snapshot synth_snapshot(struct synth *p, uint64_t at)
{
    struct rtl_snapshot s = {.taken_mono_ns = SYNTH_START + at,
                             .pid = 4711,
                             .comm = "serve",
                             .library_version = "test",
                             .mode = p->mode,
                             .mode_started = p->mode,
                             .in_force = p->mode == RTL_MODE_OFF ? RTL_ACTIVITY_OFF
                                         : p->counting           ? RTL_ACTIVITY_COUNTING
                                                                 : RTL_ACTIVITY_TIMING,
                             .state = p->state,
                             .notes = p->notes,
                             .start_mono_ns = SYNTH_START,
                             .heartbeat_mono_ns = p->heartbeat_ns ? SYNTH_START + p->heartbeat_ns : SYNTH_START + at,
                             .passes = p->heartbeat_ns ? p->passes : at,
                             .parked = p->parked,
                             .signals_in_use = 212,
                             .signals_free = 44,
                             .signals_created = 256,
                             .signals_peak = 240,
                             .signals_limit = 4096};
    s.kernels = calloc((size_t)p->kernel_count + 1, sizeof *s.kernels);
    s.queues = calloc((size_t)p->queue_count + 1, sizeof *s.queues);
    s.agents = calloc((size_t)p->gpu_count + 1, sizeof *s.agents);
    assert_true(s.kernels && s.queues && s.agents);
    for (int i = 0; i < p->kernel_count; i++) {
        if (!p->kernels[i].calls)
            continue;
        struct rtl_kernel_snapshot *k = &s.kernels[s.kernel_count++];
        *k = (struct rtl_kernel_snapshot){.id = p->kernels[i].id,
                                          .name = p->kernels[i].name,
                                          .name_length = strlen(p->kernels[i].name),
                                          .calls = p->kernels[i].calls,
                                          .untimed = p->kernels[i].untimed,
                                          .grid = {2048, 8, 1},
                                          .workgroup = {256, 1, 1},
                                          .lds_bytes = 32768,
                                          .histogram = synth_copy(p, &p->kernels[i].h)};
        s.timed += k->histogram.count;
        s.counted += k->calls;
        s.untimed_total += k->untimed;
    }
    for (int i = 0; i < p->queue_count; i++) {
        struct rtl_queue_snapshot *q = &s.queues[s.queue_count++];
        *q = (struct rtl_queue_snapshot){.slot = (uint32_t)i,
                                         .agent = (uint32_t)(p->gpu_count ? i % p->gpu_count : 0),
                                         .gpu = (uint32_t)(p->gpu_count ? i % p->gpu_count : 0),
                                         .queue_id = (uint64_t)i + 1,
                                         .live = true,
                                         .size_packets = 16384,
                                         .path = p->queues[i].path,
                                         .path_reason = p->queues[i].why,
                                         .error_known = p->queues[i].error_known,
                                         .error = p->queues[i].error,
                                         .error_kernel = p->queues[i].error_kernel,
                                         .error_after_ns = p->queues[i].error_after_ns,
                                         .dispatches = p->queues[i].dispatches,
                                         .injected = p->queues[i].injected,
                                         .completed = p->queues[i].completed,
                                         .packets = p->queues[i].dispatches,
                                         .depth = p->queues[i].injected - p->queues[i].completed,
                                         .wait = synth_copy(p, &p->queues[i].wait),
                                         .gap = synth_copy(p, &p->queues[i].gap)};
        for (int r = 0; r < RTL_UNTIMED_LIMIT; r++) {
            q->untimed[r] = p->queues[i].untimed[r];
            s.untimed[r] += q->untimed[r];
        }
    }
    s.copies = calloc(8 * RTL_DIRECTION_COUNT, sizeof *s.copies);
    assert_non_null(s.copies);
    for (uint32_t i = 0; i < 8 * RTL_DIRECTION_COUNT; i++) {
        if (!p->copies[i].count)
            continue;
        struct rtl_copies_snapshot *c = &s.copies[s.copies_count++];
        *c = (struct rtl_copies_snapshot){.agent = i / RTL_DIRECTION_COUNT,
                                          .gpu = i / RTL_DIRECTION_COUNT,
                                          .direction = i % RTL_DIRECTION_COUNT,
                                          .count = p->copies[i].count,
                                          .bytes = p->copies[i].bytes,
                                          .timed_bytes = p->copies[i].bytes,
                                          .histogram = synth_copy(p, &p->copies[i].h)};
        memcpy(c->untimed, p->copies[i].untimed, sizeof c->untimed);
    }
    for (int i = 0; i < p->gpu_count; i++) {
        struct rtl_agent_snapshot *a = &s.agents[s.agent_count++];
        *a = (struct rtl_agent_snapshot){
            .gpu = (uint32_t)i, .name = "gfx942", .busy_ns = p->busy_ns[i], .bdf = 0x00000300u + ((uint32_t)i << 12)};
        if (i != 1)
            snprintf(a->uuid, sizeof a->uuid, "GPU-%016x", 0x9a10 + i);
        memcpy(a->idle, p->idle[i], sizeof a->idle);
        if (!p->no_gaps) {
            a->gaps_known = true;
            a->last_end_mono_ns = p->last_end[i] ? SYNTH_START + p->last_end[i] : 0;
            a->gap_count = p->gap_count[i];
            memcpy(a->cause_ns, p->cause_ns[i], sizeof a->cause_ns);
            memcpy(a->gap, p->gaps[i], sizeof a->gap);
        }
        if (!p->no_clock) {
            a->clock_residuals = 100;
            a->clock_residual_ns = 70 + (uint64_t)i * 1000;
            a->clock_drift_ppb = (i & 1 ? -1 : 1) * (i + 1) * 12345;
            a->clock_drift_over_ns = 7 * RTL_SEC;
        }
    }
    return s;
}

/* Add a snapshot of the process to a model. */
static inline void synth_tick(struct synth *p, struct rtl_model *m, uint64_t at)
{
    struct rtl_snapshot s = synth_snapshot(p, at);
    assert_true(rtl_model_add(m, &s, 1000 * RTL_SEC + at));
}

/* Return the frame's rows, one a line. The caller frees the text. */
static inline char *synth_text(const struct rtl_frame *f)
{
    size_t size = (size_t)f->rows * ((size_t)f->cols * 4 + 2) + 1, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    *text = 0;
    for (int row = 0; row < f->rows; row++) {
        frame_row_text(f, row, text + used, size - used - 1);
        used += strlen(text + used);
        text[used++] = '\n';
        text[used] = 0;
    }
    return text;
}

#endif
