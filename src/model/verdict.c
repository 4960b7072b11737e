/* The verdict why a GPU is idle. See verdict.h. */
#include "model/verdict.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES_AGAINST = 3 };

#define WORDS(sym, key, words, brief) {key, words, brief},
#define CAUSE(sym, num, key, words)   [num] = {key, words, words},
static const struct rtl_verdict_words verdicts[] = {RTL_VERDICTS(WORDS)}, unknowns[] = {RTL_UNKNOWNS(WORDS)},
                                      causes[] = {RTL_CAUSES(CAUSE)};
#undef WORDS
#undef CAUSE

struct rtl_verdict_words rtl_cause_words(enum rtl_cause cause)
{
    return causes[cause < RTL_CAUSE_COUNT ? cause : RTL_CAUSE_UNKNOWN];
}

struct rtl_verdict_words rtl_unknown_words(enum rtl_unknown unknown)
{
    return unknowns[unknown < RTL_UNKNOWN_COUNT ? unknown : RTL_UNKNOWN_NOTHING];
}

struct rtl_verdict_words rtl_verdict_words(enum rtl_verdict verdict)
{
    return verdicts[verdict < RTL_VERDICT_COUNT ? verdict : RTL_VERDICT_UNKNOWN];
}

void rtl_verdict_hold(struct rtl_held_verdict *held, double busy, const double cause[RTL_CAUSE_COUNT])
{
    int most = 0;
    for (int c = 1; c < RTL_CAUSE_COUNT; c++)
        most = cause[c] > cause[most] ? c : most;
    held->busy = 1 - busy < (held->busy ? 0.08 : 0.05);
    if (!(cause[most] > 0))
        return;
    bool against = held->any && cause[most] > 1.5 * cause[held->cause];
    held->against = against ? held->against + 1 : 0;
    /* a busy GPU shows no cause, so the largest cause replaces the held one at once */
    if (held->any && !held->busy && held->against < FRAMES_AGAINST)
        return;
    *held = (struct rtl_held_verdict){.busy = held->busy, .any = true, .cause = (enum rtl_cause)most};
}

enum rtl_verdict rtl_verdict_of(const struct rtl_gpu_facts *f)
{
    static const enum rtl_verdict of_cause[RTL_CAUSE_COUNT] = {
        [RTL_CAUSE_SHORT] = RTL_VERDICT_BETWEEN,   [RTL_CAUSE_NO_WORK] = RTL_VERDICT_HOST_LATE,
        [RTL_CAUSE_COPIES] = RTL_VERDICT_COPIES,   [RTL_CAUSE_BARRIER] = RTL_VERDICT_WAITING,
        [RTL_CAUSE_QUEUED] = RTL_VERDICT_STARTING, [RTL_CAUSE_UNKNOWN] = RTL_VERDICT_IDLE};
    if (f->error_queues)
        return RTL_VERDICT_FAILED;
    if (f->unknown || f->busy < 0)
        return RTL_VERDICT_UNKNOWN;
    if (f->busy <= 0 && !f->dispatches)
        return f->depth ? RTL_VERDICT_NO_END : RTL_VERDICT_NO_WORK;
    if (f->busy <= 0 && !f->waits && f->depth)
        return RTL_VERDICT_NO_END;
    if (f->users > 1)
        return RTL_VERDICT_UNKNOWN;
    if (f->held.busy)
        return RTL_VERDICT_BUSY;
    return f->held.any && f->causes_known ? of_cause[f->held.cause] : RTL_VERDICT_IDLE;
}

/* Write the first of the texts that fits, or the last one. Each is preceded by "idle 24%: " if `idle` is not "". */
static void first_that_fits(const char *const *texts, const char *idle, int columns, char *out, size_t size)
{
    for (; *texts; texts++) {
        snprintf(out, size, "%s%s%s", idle, *idle ? ": " : "", *texts);
        if (rtl_text_columns(out) <= columns)
            return;
        snprintf(out, size, "%s", *texts);
    }
}

/* Write the error. If it doesn't fit, drop the end of the sentence, then the queue, then the kernel. */
static void error_text(const struct rtl_gpu_facts *f, int columns, char *out, size_t size)
{
    const char *kernel = f->error_kernel;
    char whole[256], brief[216], in[160];
    if (f->error_queues == 1) {
        snprintf(in, sizeof in, "%s%s%s", f->error, *kernel ? " in " : "", kernel);
        snprintf(brief, sizeof brief, "%s on %s", in, f->error_queue);
        snprintf(whole, sizeof whole, "%s; the queue accepts no more work", brief);
    } else { /* an error of the GPU stops several queues, so the kernel that caused it is not known */
        snprintf(in, sizeof in, "%s", f->error);
        snprintf(brief, sizeof brief, "%s on %u queues", f->error, f->error_queues);
        snprintf(whole, sizeof whole, "%s%s%s%s on %s or %u more; they accept no more work", f->error,
                 *kernel ? ", perhaps in " : "", kernel, *kernel ? "," : "", f->error_queue, f->error_queues - 1);
    }
    const char *failed = rtl_verdict_words(RTL_VERDICT_FAILED).words;
    first_that_fits((const char *[]){whole, brief, in, f->error, failed, NULL}, "", columns, out, size);
}

static void unknown_text(const struct rtl_gpu_facts *f, int columns, char *out, size_t size)
{
    const char *brief = !f->unknown && f->users > 1 ? "shared" : rtl_unknown_words(f->unknown).brief;
    char words[80], whole[96];
    if (f->unknown == RTL_UNKNOWN_UNTIMED)
        snprintf(words, sizeof words, "%.0f%% of dispatches not timed (?)", f->untimed * 100);
    else if (!f->unknown && f->users > 1)
        snprintf(words, sizeof words, "shared by %u processes (p)", (unsigned)f->users);
    else
        snprintf(words, sizeof words, "%s", rtl_unknown_words(f->unknown).words);
    snprintf(whole, sizeof whole, "not known: %s", words);
    first_that_fits((const char *[]){whole, words, brief, NULL}, "", columns, out, size);
}

/* The sentences of a verdict, longest first; its words follow. "$" is the call or the queue, "#" the packets in flight:
 * a sentence with "$" is left out while that is unknown. */
enum { SENTENCES = 6 };
static const char *const sentences[RTL_VERDICT_COUNT][SENTENCES] = {
    [RTL_VERDICT_NO_WORK] = {"no work was submitted"},
    [RTL_VERDICT_NO_END] = {"nothing ends: # in flight"},
    [RTL_VERDICT_BETWEEN] = {"gaps below 10µs between kernels (v)", "gaps below 10µs"},
    [RTL_VERDICT_COPIES] = {"copies run between the kernels (m)", "copies (m)"},
    [RTL_VERDICT_HOST_LATE] = {"no work arrives, host in $ (a)", "no work, host in $ (a)", "host in $",
                               "no work arrives: the host is late (v)", "no work arrives (v)"},
    [RTL_VERDICT_WAITING] = {"kernels wait behind a barrier on $ (Tab)", "wait behind a barrier, $ (Tab)",
                             "barrier on $", "kernels wait behind a barrier (v)", "wait behind a barrier (v)",
                             "barrier (v)"},
    [RTL_VERDICT_STARTING] = {"queued kernels start late on $ (v)", "queued kernels start late (v)", "starts late (v)"},
    [RTL_VERDICT_IDLE] = {"cause not known so far (v)"},
};

static void fill_in(const char *sentence, const char *name, const char *number, char *out, size_t size)
{
    for (*out = 0; *sentence; sentence++) {
        const char letter[] = {*sentence, 0};
        rtl_text_append(out, size, "%s", *sentence == '$' ? name : *sentence == '#' ? number : letter);
    }
}

void rtl_verdict_text(enum rtl_verdict verdict, const struct rtl_gpu_facts *f, int columns, char *out, size_t size)
{
    if (verdict == RTL_VERDICT_FAILED || verdict == RTL_VERDICT_UNKNOWN) {
        (verdict == RTL_VERDICT_FAILED ? error_text : unknown_text)(f, columns, out, size);
        return;
    }
    const char *name = verdict == RTL_VERDICT_HOST_LATE ? f->call : f->queue;
    char idle[32] = "", number[24], filled[SENTENCES][128];
    const char *texts[SENTENCES + 2];
    int count = 0;
    snprintf(number, sizeof number, "%llu", (unsigned long long)f->depth);
    if (verdict > RTL_VERDICT_BUSY) /* the verdicts of causes */
        snprintf(idle, sizeof idle, "idle %.0f%%", f->busy >= 0 && f->busy < 1 ? (1 - f->busy) * 100 : 0);
    for (int i = 0; i < SENTENCES && sentences[verdict][i]; i++) {
        if (!*name && strchr(sentences[verdict][i], '$'))
            continue;
        fill_in(sentences[verdict][i], name, number, filled[count], sizeof *filled);
        texts[count] = filled[count];
        count++;
    }
    if (verdict == RTL_VERDICT_IDLE && !f->causes_known)
        texts[0] = "causes are not recorded";
    if (verdict == RTL_VERDICT_NO_WORK && !f->users)
        texts[0] = "this process submitted no work";
    texts[count] = rtl_verdict_words(verdict).words;
    texts[count + 1] = NULL;
    first_that_fits(texts, idle, columns, out, size);
    if (verdict == RTL_VERDICT_IDLE && rtl_text_columns(idle) <= columns && !strcmp(out, texts[count]))
        snprintf(out, size, "%s", idle);
}
