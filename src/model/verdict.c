/* The verdict why a GPU is idle. See verdict.h. */
#include "model/verdict.h"
#include "text/text.h"

#include <stdio.h>

enum { LOOKS_LEAST = 10, LOOKS_EXPECTED = 4 };

static const struct {
    const char *key, *words;
} verdicts[] = {
#define VERDICT(sym, key_, words_, meaning) [RTL_VERDICT_##sym] = {key_, words_},
    RTL_VERDICTS(VERDICT)
#undef VERDICT
};

const char *rtl_verdict_key(enum rtl_verdict verdict)
{
    return verdict < RTL_VERDICT_COUNT ? verdicts[verdict].key : "unknown";
}

const char *rtl_verdict_words(enum rtl_verdict verdict)
{
    return verdict < RTL_VERDICT_COUNT ? verdicts[verdict].words : verdicts[RTL_VERDICT_UNKNOWN].words;
}

int rtl_idle_class(const double idle[RTL_IDLE_COUNT])
{
    int most = -1;
    for (int i = 0; i < RTL_IDLE_COUNT; i++)
        if (idle[i] > 0 && (most < 0 || idle[i] > idle[most]))
            most = i;
    return most;
}

const char *rtl_idle_class_text(int idle_class)
{
    static const char *const texts[RTL_IDLE_COUNT] = {"<10µs",  "10-100µs", "0.1-1ms",
                                                      "1-10ms", "10-100ms", "over 100ms"};
    return idle_class >= 0 && idle_class < RTL_IDLE_COUNT ? texts[idle_class] : "";
}

static enum rtl_verdict idle_cause(const struct rtl_gpu_facts *f, int gap_class)
{
    uint64_t gaps = f->gaps[gap_class], waited = f->long_waits[gap_class];
    uint64_t not_waited = f->waits > waited ? f->waits - waited : 0;
    if (gaps && f->waits) { /* each gap ends with one kernel */
        if (waited <= gaps / 2)
            return RTL_VERDICT_HOST_LATE;
        if (not_waited <= gaps / 2)
            return RTL_VERDICT_WAITING;
    }
    double expected = f->looks_idle * f->looks;
    if (f->looks >= LOOKS_LEAST && expected > 0) {
        if (f->empty_looks >= 2 && f->empty_looks >= expected / 2)
            return RTL_VERDICT_HOST_LATE;
        if (expected >= LOOKS_EXPECTED && f->empty_looks < expected / 4)
            return RTL_VERDICT_WAITING;
    }
    return RTL_VERDICT_IDLE;
}

enum rtl_verdict rtl_verdict_of(const struct rtl_gpu_facts *f)
{
    int gap_class = rtl_idle_class(f->idle);
    double idle = 1 - f->busy;
    if (f->error_queues)
        return RTL_VERDICT_FAILED;
    if (f->busy < 0 || f->untimed > 0.1)
        return RTL_VERDICT_UNKNOWN;
    if (f->busy <= 0 && !f->dispatches)
        return f->depth ? RTL_VERDICT_NO_END : RTL_VERDICT_NO_WORK;
    if (f->busy <= 0 && !f->waits && f->depth)
        return RTL_VERDICT_NO_END;
    if (f->users > 1)
        return RTL_VERDICT_UNKNOWN;
    if (idle < 0.05)
        return RTL_VERDICT_BUSY;
    if (gap_class == 0)
        return RTL_VERDICT_BETWEEN;
    if (f->copies >= idle / 2)
        return RTL_VERDICT_COPIES;
    return gap_class < 0 ? RTL_VERDICT_IDLE : idle_cause(f, gap_class);
}

static bool text_fits(const char *text, int columns)
{
    return rtl_text_columns(text) <= columns;
}

/* Write the error. If it doesn't fit, drop the end of the sentence, then the queue, then the kernel. */
static void error_text(const struct rtl_gpu_facts *f, int columns, char *out, size_t size)
{
    const char *in = *f->error_kernel ? " in " : "", *kernel = f->error_kernel;
    bool one = f->error_queues == 1;
    if (one)
        snprintf(out, size, "%s%s%s on %s; the queue accepts no more work", f->error, in, kernel, f->error_queue);
    else /* an error of the GPU stops several queues, so the kernel that caused it is not known */
        snprintf(out, size, "%s%s%s%s on %s or %u more; they accept no more work", f->error,
                 *kernel ? ", perhaps in " : "", kernel, *kernel ? "," : "", f->error_queue, f->error_queues - 1);
    if (!text_fits(out, columns) && one)
        snprintf(out, size, "%s%s%s on %s", f->error, in, kernel, f->error_queue);
    else if (!text_fits(out, columns))
        snprintf(out, size, "%s on %u queues", f->error, f->error_queues);
    if (!text_fits(out, columns) && one)
        snprintf(out, size, "%s%s%s", f->error, in, kernel);
    if (!text_fits(out, columns))
        snprintf(out, size, "%s", f->error);
    if (!text_fits(out, columns))
        snprintf(out, size, "%s", rtl_verdict_words(RTL_VERDICT_FAILED));
}

void rtl_verdict_text(enum rtl_verdict verdict, const struct rtl_gpu_facts *f, int columns, char *out, size_t size)
{
    const char *words = rtl_verdict_words(verdict);
    int gap_class = rtl_idle_class(f->idle);
    double idle = f->busy < 1 ? (1 - f->busy) * 100 : 0;
    char begin[32] = "", gaps[32] = "", how[80] = "";
    if (verdict == RTL_VERDICT_FAILED) {
        error_text(f, columns, out, size);
        return;
    }
    if (verdict == RTL_VERDICT_UNKNOWN && f->untimed > 0.1)
        snprintf(how, sizeof how, "%.0f%% of dispatches not timed", f->untimed * 100);
    else if (verdict == RTL_VERDICT_UNKNOWN && f->users > 1)
        snprintf(how, sizeof how, "shared by %u processes", (unsigned)f->users);
    else if (verdict == RTL_VERDICT_UNKNOWN)
        snprintf(how, sizeof how, "nothing was timed");
    else if (verdict == RTL_VERDICT_NO_END)
        snprintf(how, sizeof how, "%llu in flight", (unsigned long long)f->depth);
    else if (verdict == RTL_VERDICT_COPIES)
        snprintf(how, sizeof how, "took %.0f%% of the time", f->copies < 10 ? f->copies * 100 : 999);
    else if (verdict == RTL_VERDICT_HOST_LATE && *f->call)
        snprintf(how, sizeof how, "host in %s %.0f%%", f->call, f->call_share < 10 ? f->call_share * 100 : 999);
    else if (verdict == RTL_VERDICT_HOST_LATE)
        snprintf(how, sizeof how, "queue empty");
    else if (verdict == RTL_VERDICT_WAITING)
        snprintf(how, sizeof how, "packets there");
    if (verdict >= RTL_VERDICT_BETWEEN) {
        snprintf(begin, sizeof begin, "idle %.0f%%", idle);
        if (gap_class >= 0)
            snprintf(gaps, sizeof gaps, "gaps %s", rtl_idle_class_text(gap_class));
    }
    if (verdict == RTL_VERDICT_IDLE) {
        snprintf(out, size, "%s%s%s", begin, *gaps ? ": " : "", gaps);
        if (!text_fits(out, columns))
            snprintf(out, size, "%s", text_fits(begin, columns) ? begin : words);
        return;
    }
    if (verdict < RTL_VERDICT_BETWEEN)
        snprintf(out, size, *how ? "%s: %s" : "%s", words, how);
    else if (verdict == RTL_VERDICT_COPIES)
        snprintf(out, size, "%s: %s%s%s %s", begin, gaps, *gaps ? ", " : "", words, how);
    else
        snprintf(out, size, "%s: %s%s%s%s%s", begin, gaps, *how ? ", " : "", how, *how ? ": " : " ", words);
    if (!text_fits(out, columns) && verdict == RTL_VERDICT_HOST_LATE && *f->call)
        snprintf(out, size, "%s: %s: %s", begin, how, words);
    if (!text_fits(out, columns) && *begin && *gaps)
        snprintf(out, size, "%s: %s: %s", begin, gaps, words);
    if (!text_fits(out, columns) && *begin)
        snprintf(out, size, "%s: %s", begin, words);
    if (!text_fits(out, columns))
        snprintf(out, size, "%s", words);
}
