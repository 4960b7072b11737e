/* Snapshots, the window, histories, the target's state and pauses. See model.h; model_rows.c makes the rows. */
#include "model/model.h"
#include "model/model_gpus.h"
#include "model/model_range.h"
#include "text/units.h"

#include "stats/histogram.h"

#include <stdlib.h>
#include <string.h>

const char *rtl_target_json(enum rtl_target_state state)
{
    static const char *const json[] = {"live", "stale", "exited"};
    return json[state < RTL_TARGET_COUNT ? state : RTL_TARGET_LIVE];
}

/* Reference counting: a sample has several roles at once. NULL is allowed. */
static void release_sample(struct rtl_sample *sample)
{
    if (sample && !--sample->references) {
        rtl_snapshot_free(&sample->snapshot);
        free(sample);
    }
}

static struct rtl_sample *share_sample(struct rtl_sample *sample)
{
    if (sample)
        sample->references++;
    return sample;
}

static void drop_oldest(struct rtl_model *model, int count)
{
    for (int i = 0; i < count; i++)
        release_sample(model->ring[i]);
    model->ring_count -= count;
    memmove(model->ring, model->ring + count, (size_t)model->ring_count * sizeof *model->ring);
}

static void drop_samples(struct rtl_model *model)
{
    drop_oldest(model, model->ring_count);
    release_sample(model->latest);
    release_sample(model->previous);
    release_sample(model->switched);
    model->latest = model->previous = model->switched = NULL;
    for (int i = 0; i < RTL_KERNELS_MAX; i++) {
        free(model->history[i]);
        model->history[i] = NULL;
    }
    rtl_step_log_forget(&model->step_log);
}

struct rtl_model *rtl_model_create(void)
{
    struct rtl_model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->names = rtl_names_create();
    model->rank = calloc(RTL_MODEL_IDS, sizeof *model->rank);
    model->window_ns = 10 * RTL_SEC;
    model->sort = RTL_COLUMN_TIME;
    model->busy = -1;
    model->wanted = RTL_MODE_NONE;
    if (!model->names || !model->rank) {
        rtl_model_free(model);
        return NULL;
    }
    return model;
}

void rtl_model_free(struct rtl_model *model)
{
    if (!model)
        return;
    drop_samples(model);
    release_sample(model->zero);
    release_sample(model->zero_before);
    rtl_names_free(model->names);
    free(model->step);
    free(model->step_lines);
    free(model->rows);
    free(model->hip_api.rows);
    free(model->hip_api.tree);
    rtl_range_free(model->range);
    free(model->order);
    free(model->rank);
    free(model);
}

/* The distance between the ring's snapshots in the window; larger before it, where only one start is needed. */
static uint64_t spacing_of(const struct rtl_model *model)
{
    return model->window_ns / 11;
}
static uint64_t spacing_before(const struct rtl_model *model)
{
    return 3 * spacing_of(model);
}

/* Keep only the first snapshot of each `spacing` among the ring's first `count`; return how many of these remain. */
static int thin_out(struct rtl_model *model, int count, uint64_t spacing)
{
    uint64_t last = UINT64_MAX;
    int kept = 0;
    for (int i = 0; i < model->ring_count; i++) {
        uint64_t span = model->ring[i]->snapshot.taken_mono_ns / spacing;
        if (i < count && span == last)
            release_sample(model->ring[i]);
        else
            model->ring[kept++] = model->ring[i];
        last = span;
    }
    int gone = model->ring_count - kept;
    model->ring_count = kept;
    return count - gone;
}

/* Append a snapshot to the ring, unless the ring has one of the same span of time. */
static void keep_sample(struct rtl_model *model, struct rtl_sample *sample)
{
    if (model->window_ns == RTL_WINDOW_ALL) {
        drop_oldest(model, model->ring_count);
        return;
    }
    if (model->window_ns == RTL_WINDOW_INTERVAL) { /* keep two: the starts of the last two intervals */
        drop_oldest(model, model->ring_count > 1 ? model->ring_count - 1 : 0);
    } else if (model->ring_count) {
        uint64_t newest = model->ring[model->ring_count - 1]->snapshot.taken_mono_ns;
        /* The ring keeps the first snapshot of each span. Spans begin at fixed times, so the choice depends only on the
         * recent past, and a replay that starts in the middle shows the same as the live screen. */
        uint64_t spacing = spacing_of(model);
        if (sample->snapshot.taken_mono_ns / spacing == newest / spacing)
            return;
    }
    if (model->ring_count == RTL_MODEL_RING) /* the window was shorter before */
        thin_out(model, model->ring_count, spacing_of(model));
    if (model->ring_count == RTL_MODEL_RING)
        drop_oldest(model, 1);
    model->ring[model->ring_count++] = share_sample(sample);
}

/* Return the newest of the ring's first `count` snapshots that is at least `enough` older than `ns`, or -1. */
static int newest_before(const struct rtl_model *model, int count, uint64_t ns, uint64_t enough)
{
    while (count > 0 && ns - model->ring[count - 1]->snapshot.taken_mono_ns < enough)
        count--;
    return count - 1;
}

/*
 * The newest snapshot that is at least a window old starts the window. The newest that is a window older than that one
 * starts the previous window; drop older snapshots. If there is none yet, use the oldest snapshot, provided that the
 * previous window is at least half as long.
 */
static void choose_windows(struct rtl_model *model, const struct rtl_sample **base, const struct rtl_sample **before)
{
    uint64_t now = model->latest->snapshot.taken_mono_ns;
    /* half a spacing of tolerance for timers: 9.99 s count as 10 s */
    uint64_t enough = model->window_ns - model->window_ns / 40;
    int at = newest_before(model, model->ring_count, now, enough);
    if (at < 0) {
        *base = model->ring_count ? model->ring[0] : model->previous;
        return;
    }
    at = thin_out(model, at, spacing_before(model));
    uint64_t from = model->ring[at]->snapshot.taken_mono_ns;
    int start = newest_before(model, at, from, enough);
    if (start > 0) {
        drop_oldest(model, start);
        at -= start;
    }
    *base = model->ring[at];
    if (at > 0 && from - model->ring[0]->snapshot.taken_mono_ns >= model->window_ns / 2)
        *before = model->ring[0];
}

/* True if `sample` (NULL: the process's start) is older than `start`; false without a start. */
static bool is_before(const struct rtl_sample *sample, const struct rtl_sample *start)
{
    return start && (!sample || sample->snapshot.taken_mono_ns < start->snapshot.taken_mono_ns);
}

static void choose_base(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    const struct rtl_sample *base = NULL, *before = NULL;
    if (model->window_ns == RTL_WINDOW_ALL) {
        base = model->zero;
    } else if (model->window_ns == RTL_WINDOW_INTERVAL) {
        base = model->previous;
        if (model->ring_count == 2 && model->ring[1] == model->previous)
            before = model->ring[0];
    } else {
        choose_windows(model, &base, &before);
    }
    /* The window starts neither before the user's zero nor, unless the user wants everything, in another mode. */
    const struct rtl_sample *const starts[] = {model->zero,
                                               model->window_ns == RTL_WINDOW_ALL ? NULL : model->switched};
    for (int i = 0; i < 2; i++) {
        if (is_before(base, starts[i])) {
            base = starts[i];
            before = NULL;
        }
        if (before && is_before(before, starts[i])) /* the ring keeps older snapshots: the user may undo the zero */
            before = NULL;
    }
    model->base = base;
    model->before = before;
    model->span_ns = rtl_grown(now->taken_mono_ns, base ? base->snapshot.taken_mono_ns : now->start_mono_ns);
    /* packets in an observed process's rings at the start may be of any age: no rates yet */
    if (!base && rtl_is_observed(now))
        model->span_ns = 0;
    model->counted_ns = now->in_force == RTL_ACTIVITY_OFF ? 0 : model->span_ns;
}

static void watch_worker(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    const struct rtl_snapshot *before = rtl_snapshot_of(model->previous);
    bool moved = before && (before->passes != now->passes || before->heartbeat_mono_ns != now->heartbeat_mono_ns);
    model->stale_ns = rtl_stale_ns(now, moved, &model->stuck_since_ns);
    model->state = model->stale_ns ? RTL_TARGET_STALE : RTL_TARGET_LIVE;
}

/* Append the last interval's p99 and p50 to every kernel's history. */
static void extend_history(struct rtl_model *model)
{
    if (!model->previous)
        return;
    const struct rtl_snapshot *now = &model->latest->snapshot, *before = &model->previous->snapshot;
    uint32_t slot = (uint32_t)(model->samples % RTL_MODEL_HISTORY);
    model->history_ns[slot] = now->taken_mono_ns - before->taken_mono_ns;
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++)
        if (model->history[i])
            model->history[i][slot] = model->history[i][RTL_MODEL_HISTORY + slot] = RTL_HISTORY_NONE;
    uint32_t old = 0;
    for (uint32_t i = 0; i < now->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &now->kernels[i];
        const struct rtl_kernel_snapshot *earlier = rtl_next_kernel(before, &old, k->id);
        const struct rtl_histogram_copy *was = earlier ? &earlier->histogram : NULL;
        uint64_t p50, p99;
        if (k->id >= RTL_KERNELS_MAX || (was && was->count == k->histogram.count) ||
            !rtl_p50_p99_between(was, &k->histogram, &p50, &p99))
            continue;
        uint16_t *history = model->history[k->id];
        if (!history) {
            history = malloc(2 * RTL_MODEL_HISTORY * sizeof *history);
            if (!history)
                continue; /* only this trend is missing */
            for (int h = 0; h < 2 * RTL_MODEL_HISTORY; h++)
                history[h] = RTL_HISTORY_NONE;
            model->history[k->id] = history;
        }
        history[slot] = (uint16_t)rtl_bucket_of(p99);
        history[RTL_MODEL_HISTORY + slot] = (uint16_t)rtl_bucket_of(p50);
    }
}

static unsigned count_processes(const struct rtl_snapshot *snapshot)
{
    unsigned count = !snapshot->parts;
    for (uint32_t i = 0; snapshot->parts && i < snapshot->parts->member_count; i++)
        count += !snapshot->parts->members[i].ended;
    return count;
}

bool rtl_model_add_past(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns)
{
    struct rtl_sample *sample = malloc(sizeof *sample);
    if (!sample) {
        rtl_snapshot_free(snapshot);
        return false;
    }
    sample->snapshot = *snapshot;
    sample->real_ns = real_ns;
    sample->references = 1;
    memset(snapshot, 0, sizeof *snapshot);
    release_sample(model->previous);
    model->previous = model->latest;
    model->latest = sample;
    if (model->previous)
        keep_sample(model, model->previous);
    if (model->previous && (model->previous->snapshot.mode != sample->snapshot.mode ||
                            model->previous->snapshot.in_force != sample->snapshot.in_force)) {
        release_sample(model->switched);
        model->switched = share_sample(sample);
    }
    model->samples++;
    extend_history(model);
    rtl_model_extend_gpu_history(model);
    rtl_step_log_add(&model->step_log, &sample->snapshot, count_processes(&sample->snapshot));
    watch_worker(model);
    choose_base(model);
    return true;
}

bool rtl_model_add(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns)
{
    return rtl_model_add_past(model, snapshot, real_ns) && rtl_model_refresh(model);
}

/* Restore the previous zero; without a previous one, the process's start. */
static void drop_zero(struct rtl_model *model)
{
    release_sample(model->zero);
    model->zero = model->zero_before;
    model->zero_before = NULL;
}

void rtl_model_forget(struct rtl_model *model, uint64_t mono_ns)
{
    drop_samples(model);
    while (model->zero && model->zero->snapshot.taken_mono_ns > mono_ns)
        drop_zero(model);
    model->base = model->before = NULL;
    model->row_count = model->shown = model->gpu_count = model->queue_count = model->copies_count = 0;
    model->hip_api.functions = model->hip_api.ranges = 0;
    model->worst = NULL;
    model->samples = 0;
    model->steps = (struct rtl_steps){.known = false};
    memset(model->held, 0, sizeof model->held);
    model->frozen_until_ns = model->stuck_since_ns = 0;
}

void rtl_model_exited(struct rtl_model *model)
{
    model->state = RTL_TARGET_EXITED;
    model->stale_ns = 0;
}

void rtl_model_zero(struct rtl_model *model)
{
    if (!model->latest)
        return;
    release_sample(model->zero_before);
    model->zero_before = model->zero;
    model->zero = share_sample(model->latest);
    rtl_model_refresh(model);
}

bool rtl_model_undo_zero(struct rtl_model *model)
{
    bool any = model->zero != NULL;
    drop_zero(model);
    return any && rtl_model_refresh(model);
}

void rtl_model_set_window(struct rtl_model *model, uint64_t window_ns)
{
    model->window_ns = window_ns;
    rtl_model_refresh(model);
}

void rtl_model_sort(struct rtl_model *model, enum rtl_column column, bool reverse)
{
    model->sort = column;
    model->reverse = reverse;
    model->frozen_until_ns = 0;
    rtl_model_refresh(model);
}

static void show_families(struct rtl_model *model)
{
    model->frozen_until_ns = 0; /* new rows appear at their rank, not at the end */
    rtl_model_refresh(model);
}

void rtl_model_group(struct rtl_model *model, bool families)
{
    model->families = families;
    show_families(model);
}

void rtl_model_open(struct rtl_model *model, enum rtl_name_family family, bool open)
{
    model->families_open = open ? model->families_open | 1u << family : model->families_open & ~(1u << family);
    show_families(model);
}

/* Free the old choice only after refresh, because rows point to its kernels. */
static bool choose_range(struct rtl_model *model, struct rtl_range_choice *range)
{
    struct rtl_range_choice *before = model->range;
    model->range = range;
    model->frozen_until_ns = 0;
    bool fine = rtl_model_refresh(model);
    rtl_range_free(before);
    return fine;
}

bool rtl_model_enter_range(struct rtl_model *model, const struct rtl_hip_api_model_row *row)
{
    struct rtl_range_choice *range = rtl_range_choose(model, row);
    return range && choose_range(model, range);
}

void rtl_model_leave_range(struct rtl_model *model)
{
    if (model->range)
        choose_range(model, NULL);
}

bool rtl_model_mark_step(struct rtl_model *model, const char *name)
{
    char *copy = name ? strdup(name) : NULL;
    if (name && !copy)
        return false;
    free(model->step);
    model->step = copy;
    return rtl_model_refresh(model);
}

void rtl_model_freeze_order(struct rtl_model *model)
{
    if (!model->latest)
        return;
    uint64_t now = model->latest->snapshot.taken_mono_ns;
    uint64_t interval = model->previous ? now - model->previous->snapshot.taken_mono_ns : 0;
    uint64_t least = 3 * interval + interval / 2; /* half an interval of tolerance for timers */
    model->frozen_until_ns = now + (least > RTL_MODEL_FREEZE_NS ? least : RTL_MODEL_FREEZE_NS);
}

bool rtl_model_refresh(struct rtl_model *model)
{
    if (!model->latest)
        return true;
    choose_base(model);
    return rtl_model_make_rows(model);
}

uint64_t rtl_model_history(const struct rtl_model *model, const struct rtl_row *row, uint32_t back, bool p50)
{
    if (!row->history || back >= rtl_model_history_length(model))
        return 0;
    uint16_t bucket = row->history[(p50 ? RTL_MODEL_HISTORY : 0) + (model->samples - back) % RTL_MODEL_HISTORY];
    return bucket == RTL_HISTORY_NONE ? 0 : rtl_bucket_middle(bucket) | !bucket;
}

uint64_t rtl_model_in_flight(const struct rtl_model *model)
{
    return model->latest ? rtl_snapshot_in_flight(&model->latest->snapshot) : 0;
}

uint64_t rtl_model_write_age(const struct rtl_model *model, bool *parked)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    *parked = now->parked;
    return now->heartbeat_mono_ns ? rtl_grown(now->taken_mono_ns, now->heartbeat_mono_ns) : 0;
}

uint64_t rtl_model_since(const struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    return rtl_grown(now->taken_mono_ns, model->zero ? model->zero->snapshot.taken_mono_ns : now->start_mono_ns);
}

/* --- pauses --- */

/* Move everything but rows and choices to another model, with references and arrays. */
static void copy_contents(struct rtl_model *to, const struct rtl_model *from)
{
    to->latest = from->latest;
    to->previous = from->previous;
    to->switched = from->switched;
    to->samples = from->samples;
    to->ring_count = from->ring_count;
    memcpy(to->ring, from->ring, sizeof to->ring);
    memcpy(to->history, from->history, sizeof to->history);
    memcpy(to->history_ns, from->history_ns, sizeof to->history_ns);
    memcpy(to->busy_history, from->busy_history, sizeof to->busy_history);
    memcpy(to->cause_history, from->cause_history, sizeof to->cause_history);
    memcpy(to->held, from->held, sizeof to->held);
    to->state = from->state;
    to->stuck_since_ns = from->stuck_since_ns;
    to->stale_ns = from->stale_ns;
    to->damaged = from->damaged;
}

struct rtl_model *rtl_model_pause(const struct rtl_model *model)
{
    enum { BYTES = 2 * RTL_MODEL_HISTORY * sizeof(uint16_t) };
    struct rtl_model *held = calloc(1, sizeof *held);
    if (!held)
        return NULL;
    copy_contents(held, model);
    share_sample(held->latest);
    share_sample(held->previous);
    share_sample(held->switched);
    for (int i = 0; i < held->ring_count; i++)
        share_sample(held->ring[i]);
    for (int i = 0; i < RTL_KERNELS_MAX; i++) {
        if (!model->history[i])
            continue;
        held->history[i] = malloc(BYTES); /* without memory only this trend is missing */
        if (held->history[i])
            memcpy(held->history[i], model->history[i], BYTES);
    }
    return held;
}

bool rtl_model_pause_add(struct rtl_model *held, const struct rtl_model *model, struct rtl_snapshot *snapshot,
                         uint64_t real_ns)
{
    held->window_ns = model->window_ns;
    held->zero = model->zero; /* borrowed */
    return rtl_model_add_past(held, snapshot, real_ns);
}

bool rtl_model_resume(struct rtl_model *model, struct rtl_model *held)
{
    if (!held)
        return true;
    struct rtl_model *before = calloc(1, sizeof *before);
    if (!before) { /* the new snapshots are lost */
        rtl_model_pause_free(held);
        return false;
    }
    copy_contents(before, model);
    copy_contents(model, held);
    rtl_step_log_forget(&held->step_log);
    free(held);
    bool ok = rtl_model_refresh(model);
    if (!ok) /* the rows refer to snapshots that are freed below */
        model->row_count = model->shown = model->gpu_count = model->queue_count = model->copies_count = 0;
    rtl_model_pause_free(before);
    return ok;
}

void rtl_model_pause_free(struct rtl_model *held)
{
    if (!held)
        return;
    held->zero = NULL;
    rtl_model_free(held);
}
