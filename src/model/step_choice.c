/* Chooses the marker of steps. See step_choice.h. */
#include "model/step_choice.h"
#include "base/array.h"
#include "shm/hash.h"
#include "shm/hip_api_snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACKS_MAX = 1024, /* kernels and ranges; others are not logged */
    RANGES_MAX = 16,   /* ranges among them */
    GROUPS = 6,        /* of spans, in which a candidate has to be steady */
    RUNS_LEAST = 48,   /* of a candidate in these groups, for each process */
    RARE_GROUPS = 12,  /* at most, for a kernel that runs less often */
    RARE_RUNS = 3,     /* its runs in a group, on average */
    LAYERS_MAX = 256,  /* a kernel of a layer runs no more often in a step */
    NAMED_MAX = 16,    /* candidates with a telling name: more would take long */
    TIMES_LEAST = 3,   /* snapshots in a row in which a candidate marks steps */
    WRONG_MOST = 8,    /* a choice that was proved wrong so often is dropped */
};
#define SPAN_NS 500000000ull

/* Parts of the names of kernels that sample a token or update weights, the most telling first; parts of the names of
 * kernels that sample something else or choose experts. */
static const char *const telling[] = {"argmax", "sampl", "multinomial", "top_p", "topp",
                                      "top_k",  "topk",  "adam",        "sgd"};
static const char *const misleading[] = {"moe",     "gating",    "expert",  "rout",
                                         "upsampl", "downsampl", "resampl", "grid_s"};

struct rtl_step_track {
    uint64_t key, last; /* last: runs since the start */
    int word;           /* index in `telling`; -1: none */
    uint32_t runs[RTL_STEP_SPANS];
};

void rtl_step_log_forget(struct rtl_step_log *log)
{
    free(log->tracks);
    *log = (struct rtl_step_log){.tracks = NULL};
}

size_t rtl_step_log_memory(const struct rtl_step_log *log)
{
    return log->room * sizeof *log->tracks;
}

uint64_t rtl_step_range_key(const char *name, size_t length)
{
    return rtl_hash(name, length) | RTL_STEP_RANGE;
}

/* --- the log --- */

static int telling_word(const char *name)
{
    for (size_t i = 0; i < sizeof misleading / sizeof *misleading; i++)
        if (strcasestr(name, misleading[i]))
            return -1;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strcasestr(name, telling[i]))
            return (int)i;
    return -1;
}

static int compare_track(const void *key, const void *element)
{
    uint64_t wanted = *(const uint64_t *)key, is = ((const struct rtl_step_track *)element)->key;
    return (wanted > is) - (wanted < is);
}

static struct rtl_step_track *find_track(const struct rtl_step_log *log, uint64_t key)
{
    size_t at = rtl_lower_bound(log->tracks, log->count, sizeof *log->tracks, &key, compare_track);
    return at < log->count && log->tracks[at].key == key ? &log->tracks[at] : NULL;
}

/* Log the growth of a kernel's or range's count in the span `at`. */
static void log_runs(struct rtl_step_log *log, uint64_t key, const char *name, uint64_t runs, uint32_t at)
{
    struct rtl_step_track *track = find_track(log, key);
    bool range = key & RTL_STEP_RANGE, full = log->count == TRACKS_MAX || (range && log->ranges == RANGES_MAX);
    if (!track && !full && rtl_grow(&log->tracks, &log->room, log->count + 1, sizeof *log->tracks)) {
        track = log->tracks + rtl_lower_bound(log->tracks, log->count, sizeof *log->tracks, &key, compare_track);
        memmove(track + 1, track, (size_t)(log->tracks + log->count - track) * sizeof *track);
        memset(track, 0, sizeof *track);
        track->key = key;
        track->word = range ? -1 : telling_word(name);
        log->count++;
        log->ranges += range;
    }
    if (!track)
        return;
    uint64_t grown = runs > track->last ? runs - track->last : 0;
    track->runs[at] = log->snapshots == 1 ? 0 : grown < UINT32_MAX ? (uint32_t)grown : UINT32_MAX;
    track->last = runs;
}

/* --- being in step --- */

static uint32_t spans_of(const struct rtl_step_log *log)
{
    uint32_t ended = log->snapshots ? log->snapshots - 1 : 0;
    return ended < RTL_STEP_SPANS ? ended : RTL_STEP_SPANS;
}

/* Sum the runs in `spans` spans that end `back` spans ago. */
static uint64_t runs_in(const struct rtl_step_log *log, const struct rtl_step_track *track, uint32_t back,
                        uint32_t spans)
{
    uint64_t sum = 0;
    for (uint32_t i = back; i < back + spans; i++)
        sum += track->runs[(log->snapshots - 1 - i) % RTL_STEP_SPANS];
    return sum;
}

/* True if, in each of the last groups of `size` spans, `track` ran as often as its ratio to the candidate says. */
static bool in_step(const struct rtl_step_log *log, const struct rtl_step_track *candidate,
                    const struct rtl_step_track *track, uint32_t groups, uint32_t size)
{
    double ratio = (double)runs_in(log, track, 0, groups * size) / (double)runs_in(log, candidate, 0, groups * size);
    for (uint32_t g = 0; g < groups; g++) {
        double expected = ratio * (double)runs_in(log, candidate, g * size, size);
        double most = 2 * log->apart * (1 + ratio) + expected / 32; /* both ends of a group cut a step */
        if (fabs((double)runs_in(log, track, g * size, size) - expected) > most)
            return false;
    }
    return true;
}

enum verdict { MARKS, UNCLEAR, WRONG };

/* Judge a candidate by a kernel that runs less often, over the whole log. */
static enum verdict judge_rare(const struct rtl_step_log *log, const struct rtl_step_track *candidate,
                               const struct rtl_step_track *rare)
{
    uint32_t spans = spans_of(log);
    uint64_t runs = runs_in(log, rare, 0, spans), groups = runs / (RARE_RUNS * log->apart);
    if (groups < 2)
        return runs * LAYERS_MAX < runs_in(log, candidate, 0, spans) ? MARKS : UNCLEAR;
    groups = groups < RARE_GROUPS ? groups : RARE_GROUPS;
    groups = groups < spans ? groups : spans;
    return in_step(log, candidate, rare, (uint32_t)groups, spans / (uint32_t)groups) ? WRONG : MARKS;
}

static enum verdict judge_candidate(const struct rtl_step_log *log, const struct rtl_step_track *candidate)
{
    uint32_t spans = spans_of(log), size = 1;
    while (size * GROUPS <= spans && runs_in(log, candidate, 0, size * GROUPS) < (uint64_t)RUNS_LEAST * log->apart)
        size *= 2;
    if (size * GROUPS > spans)
        return UNCLEAR;
    uint64_t runs = runs_in(log, candidate, 0, size * GROUPS), all = 0, along = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint64_t its = runs_in(log, candidate, g * size, size) * GROUPS;
        if (its < runs / 2 || its > 2 * runs)
            return UNCLEAR;
    }
    for (uint32_t i = 0; i < log->count && !(log->tracks[i].key & RTL_STEP_RANGE); i++) {
        const struct rtl_step_track *track = &log->tracks[i];
        uint64_t its = runs_in(log, track, 0, size * GROUPS);
        all += its;
        if (its * 4 < runs * 3) {
            enum verdict verdict = judge_rare(log, candidate, track);
            if (verdict != MARKS)
                return verdict;
        } else if (in_step(log, candidate, track, GROUPS, size)) {
            along += its;
        }
    }
    return all && along >= all / 2 ? MARKS : UNCLEAR;
}

/* --- the choice --- */

/* Choose an outer range before the ones inside it. */
static uint64_t choose_marking_range(const struct rtl_step_log *log, const struct rtl_hip_api_snapshot *calls)
{
    enum { DEPTHS = 4 };
    uint32_t tried = 0;
    for (int depth = 1; depth <= DEPTHS; depth++)
        for (uint32_t i = 1; i < calls->node_count && tried < RANGES_MAX; i++) {
            int deep = 0;
            for (uint32_t n = i; n && deep <= depth; n = calls->nodes[n].parent)
                deep++;
            if (deep != depth)
                continue;
            uint64_t key = rtl_step_range_key(calls->nodes[i].name, calls->nodes[i].name_bytes);
            const struct rtl_step_track *track = find_track(log, key);
            tried++;
            if (track && judge_candidate(log, track) == MARKS)
                return key;
        }
    return 0;
}

/* Among candidates with about as many runs choose the one with the more telling word; of equal words the kernel that
 * was first seen last, because sampling follows its softmax. Otherwise choose the candidate with fewer runs. */
static uint64_t choose_named(const struct rtl_step_log *log)
{
    const struct rtl_step_track *best = NULL;
    uint64_t fewest = 0;
    for (uint32_t i = 0, tried = 0; i < log->count && tried < NAMED_MAX; i++) {
        const struct rtl_step_track *track = &log->tracks[i];
        tried += track->word >= 0;
        if (track->word < 0 || judge_candidate(log, track) != MARKS)
            continue;
        uint64_t runs = runs_in(log, track, 0, spans_of(log));
        bool same = runs * 20 >= fewest * 19 && runs * 20 <= fewest * 21;
        if (best && (same ? track->word > best->word : runs > fewest))
            continue;
        best = track;
        fewest = runs;
    }
    return best ? best->key : 0;
}

static void choose(struct rtl_step_log *log, const struct rtl_hip_api_snapshot *calls)
{
    const struct rtl_step_track *chosen = find_track(log, log->choice);
    enum verdict verdict = chosen ? judge_candidate(log, chosen) : WRONG;
    log->wrong = verdict == WRONG ? log->wrong + 1 : 0;
    if (verdict == MARKS)
        return;
    uint64_t found = calls ? choose_marking_range(log, calls) : 0;
    if (!found)
        found = choose_named(log);
    log->times = found == log->found ? log->times + 1 : 1;
    log->found = found;
    if (found && log->times >= TIMES_LEAST)
        log->choice = found;
    else if (log->wrong > WRONG_MOST)
        log->choice = 0;
}

void rtl_step_log_add(struct rtl_step_log *log, const struct rtl_snapshot *snapshot, unsigned processes)
{
    uint64_t span = snapshot->taken_mono_ns / SPAN_NS;
    /* ranges are not known by process */
    const struct rtl_hip_api_snapshot *calls = processes < 2 ? snapshot->hip_api : NULL;
    if (log->snapshots && span == log->span)
        return;
    uint32_t at = log->snapshots++ % RTL_STEP_SPANS;
    unsigned gpus = 0;
    log->span = span;
    for (uint32_t i = 0; i < snapshot->agent_count; i++)
        gpus += snapshot->agents[i].busy_ns > 0;
    log->apart = processes > gpus ? processes : gpus;
    log->apart += !log->apart;
    for (uint32_t i = 0; i < log->count; i++)
        log->tracks[i].runs[at] = 0;
    for (uint32_t i = 0; i < snapshot->kernel_count; i++)
        log_runs(log, rtl_step_kernel_key(snapshot->kernels[i].id), snapshot->kernels[i].name,
                 snapshot->kernels[i].calls, at);
    for (uint32_t i = 0; calls && i < calls->count; i++)
        if (calls->rows[i].kind == RTL_HIP_API_RANGE)
            log_runs(log, rtl_step_range_key(calls->rows[i].name, calls->rows[i].name_bytes), calls->rows[i].name,
                     calls->rows[i].histogram.count, at);
    choose(log, calls);
}

double rtl_step_log_scatter(const struct rtl_step_log *log, uint64_t key, uint64_t marker)
{
    const struct rtl_step_track *track = find_track(log, key), *steps = find_track(log, marker);
    uint32_t spans = spans_of(log);
    double runs = steps ? (double)runs_in(log, steps, 0, spans) : 0, sum = 0;
    if (!track || runs <= 0 || spans < GROUPS)
        return -1;
    bool rate = track == steps;
    double ratio = (double)runs_in(log, track, 0, spans) / (rate ? spans : runs);
    for (uint32_t i = 0; i < spans; i++) {
        double off = (double)runs_in(log, track, i, 1) - ratio * (rate ? 1 : (double)runs_in(log, steps, i, 1));
        sum += off * off;
    }
    return sum / runs;
}
