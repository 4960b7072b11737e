/*
 * intercept_dump.c - prints a process's segment as plain lines, for tests of the library without the viewer.
 *
 * intercept_dump PID [KEY]
 * Lines are "KEY VALUE...", e.g. "counted 1000", "untimed own_signal 3", "kernel NAME calls timed untimed total_ns min
 * max p50 p99", "queue SLOT ...". With KEY, only lines that begin with it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/probe_client.h"
#include "shm/segment_reader.h"
#include "stats/quantile.h"

static const char *only;

__attribute__((format(printf, 2, 3))) static void line(const char *key, const char *format, ...)
{
    if (only && strcmp(only, key) != 0)
        return;
    va_list args;
    va_start(args, format);
    printf("%s ", key);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

typedef unsigned long long ull;

static void totals(const struct rtl_snapshot *s)
{
    static const char *const states[] = {"starting", "live", "unloaded"};
    line("state", "%s", s->state < 3 ? states[s->state] : "?");
    line("counted", "%llu", (ull)s->counted);
    line("timed", "%llu", (ull)s->timed);
    line("untimed_total", "%llu", (ull)s->untimed_total);
#define REASON(sym, number, key, text, writer) line("untimed", "%s %llu", key, (ull)s->untimed[number]);
    RTL_UNTIMED_REASONS(REASON)
#undef REASON
#define NOTE(sym, bit, key, text)  \
    if (s->notes & RTL_NOTE_##sym) \
        line("note", "%s", key);
    RTL_NOTES(NOTE)
#undef NOTE
#define MODE(sym, number, name, text) \
    if (s->mode == number)            \
        line("mode", "%s", name);
    RTL_MODES(MODE)
#undef MODE
#define FORCE(sym, number, key) \
    if (s->in_force == number)  \
        line("in_force", "%s", key);
    RTL_ACTIVITIES(FORCE)
#undef FORCE
    line("signals", "in_use %llu free %llu created %llu destroyed %llu peak %llu limit %llu", (ull)s->signals_in_use,
         (ull)s->signals_free, (ull)s->signals_created, (ull)s->signals_destroyed, (ull)s->signals_peak,
         (ull)s->signals_limit);
    line("worker", "parked %d passes %llu cpu_ns %llu heartbeat_ns %llu", s->parked, (ull)s->passes,
         (ull)s->worker_cpu_ns, (ull)s->heartbeat_mono_ns);
    line("over", "kernels %llu queues %llu chunks %llu", (ull)s->kernels_over, (ull)s->queues_refused,
         (ull)s->chunks_used);
}

static void rows(const struct rtl_snapshot *s)
{
    static const double q[2] = {0.5, 0.99};
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &s->kernels[i];
        uint64_t at[2] = {0, 0};
        rtl_quantiles(NULL, &k->histogram, q, 2, at);
        line("kernel", "%s %llu %llu %llu %llu %llu %llu %llu %llu", k->name, (ull)k->calls, (ull)k->histogram.count,
             (ull)k->untimed, (ull)k->histogram.total_ns, (ull)k->histogram.min_ns, (ull)k->histogram.max_ns,
             (ull)at[0], (ull)at[1]);
        line("shape", "%s grid %u %u %u workgroup %u %u %u lds %u scratch %u", k->name, k->grid[0], k->grid[1],
             k->grid[2], k->workgroup[0], k->workgroup[1], k->workgroup[2], k->lds_bytes, k->scratch_bytes);
    }
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *k = &s->queues[i];
        uint64_t wait[2] = {0, 0}, gap[2] = {0, 0};
        rtl_quantiles(NULL, &k->wait, q, 2, wait);
        rtl_quantiles(NULL, &k->gap, q, 2, gap);
        line("queue",
             "%u live %d dispatches %llu injected %llu completed %llu packets %llu depth %llu wait %llu %llu %llu"
             " gap %llu %llu %llu waited %llu %llu %llu gapped %llu %llu %llu",
             k->slot, k->live, (ull)k->dispatches, (ull)k->injected, (ull)k->completed, (ull)k->packets, (ull)k->depth,
             (ull)k->wait.count, (ull)wait[0], (ull)wait[1], (ull)k->gap.count, (ull)gap[0], (ull)gap[1],
             (ull)k->wait.total_ns, (ull)k->wait.min_ns, (ull)k->wait.max_ns, (ull)k->gap.total_ns, (ull)k->gap.min_ns,
             (ull)k->gap.max_ns);
    }
    for (uint32_t i = 0; i < s->agent_count; i++)
        line("gpu", "%u %s busy_ns %llu tick_hz %llu bdf %x units %u", s->agents[i].gpu, s->agents[i].name,
             (ull)s->agents[i].busy_ns, (ull)s->agents[i].tick_hz, s->agents[i].bdf, s->agents[i].compute_units);
}

static void print_probe(const struct rtl_reader *reader)
{
    static const char *const phases[] = {
#define NAME(sym, num, json, text) [num] = json,
        RTL_PROBE_PHASES(NAME)
#undef NAME
    };
    struct rtl_probe_state state;
    if (rtl_reader_probe(reader, &state))
        line("probe", "%s recorded %llu", phases[state.phase], (ull)state.recorded);
}

int main(int argc, char **argv)
{
    struct rtl_reader *reader = NULL;
    struct rtl_snapshot snapshot = {0};
    char why[512];
    if (argc < 2) {
        fprintf(stderr, "usage: intercept_dump PID [KEY]\n");
        return 1;
    }
    only = argc > 2 ? argv[2] : NULL;
    int status = rtl_reader_open((pid_t)atoi(argv[1]), &reader, why, sizeof why);
    if (status == RTL_READER_OK)
        status = rtl_reader_snapshot(reader, &snapshot);
    else
        fprintf(stderr, "intercept_dump: %s\n", why);
    if (status == RTL_READER_OK) {
        totals(&snapshot);
        rows(&snapshot);
        print_probe(reader);
    }
    rtl_snapshot_free(&snapshot);
    if (reader)
        rtl_reader_close(reader);
    return status;
}
