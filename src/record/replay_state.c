/* Adding up frames. See replay_private.h. All ids and bucket numbers from the file are checked. */
#include "record/replay_private.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = RTL_CHUNKS_MAX, ROOM_OF_ALL = 32 * ROOM }; /* octaves: 34 MB for one process, 1.1 GB for a group */

static void load_names(struct rtl_replay_state *state)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT kernel, name FROM rtl_kernel WHERE recording = ? ORDER BY first, kernel", state->recording);
    size_t bytes, all = 0;
    while (rtl_db_step(st)) {
        int64_t kernel = rtl_db_int(st, 0);
        const char *name = rtl_db_text(st, 1, &bytes);
        if (bytes > RTL_NAME_MAX) /* older recorders had no limit */
            bytes = RTL_NAME_MAX;
        all += bytes;
        if (kernel < 0 || kernel >= RTL_KERNELS_MAX || all > RTL_NAMES_BYTES || state->names[kernel]) {
            rtl_db_damaged(state->db, "a kernel is out of bounds");
            return;
        }
        char *copy = malloc(bytes + 1);
        if (!copy) {
            rtl_db_no_memory(state->db);
            return;
        }
        memcpy(copy, name, bytes);
        copy[bytes] = 0;
        state->order[state->name_count++] = (uint16_t)kernel;
        state->names[kernel] = copy;
        state->name_lengths[kernel] = bytes;
    }
}

static void load_gpus(struct rtl_replay_state *state)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT gpu, name, uuid" RTL_FIELD_NAMES(GPU) " FROM rtl_gpu WHERE recording = ?", state->recording);
    while (rtl_db_step(st)) {
        int64_t gpu = rtl_db_int(st, 0);
        if (gpu < 0 || gpu >= RTL_AGENTS_MAX) {
            rtl_db_damaged(state->db, "a GPU is out of bounds");
            return;
        }
        struct rtl_agent_snapshot *a = &state->agents[gpu];
        a->gpu = (uint32_t)gpu;
        rtl_db_printable(st, 1, a->name, sizeof a->name);
        rtl_db_printable(st, 2, a->uuid, sizeof a->uuid);
        rtl_fields_read(st, 3, &rtl_gpu_fields, a);
        state->described[gpu] = true;
    }
}

void rtl_replay_state_begin(struct rtl_replay_state *state, struct rtl_db *db, int64_t recording)
{
    struct rtl_snapshot *s = &state->snapshot;
    state->db = db;
    state->recording = recording;
    state->room = state->room_most = ROOM;
    s->queues = calloc(RTL_QUEUES_MAX, sizeof *s->queues);
    s->agents = calloc(RTL_AGENTS_MAX, sizeof *s->agents);
    s->copies = calloc(RTL_COPIES_MAX, sizeof *s->copies);
    state->gaps = rtl_db_has_set(db, &rtl_gaps_set);
    state->observed = rtl_db_has_set(db, &rtl_observed_set);
    if (!s->queues || !s->agents || !s->copies)
        rtl_db_no_memory(state->db);
    load_names(state);
    load_gpus(state);
    rtl_replay_calls_begin(&state->calls_sum, db, recording);
}

static void clear_state(struct rtl_replay_state *state)
{
    struct rtl_snapshot *s = &state->snapshot;
    for (uint32_t i = 0; i < s->kernel_count; i++)
        rtl_histogram_free(&s->kernels[i].histogram);
    for (uint32_t i = 0; i < s->queue_count; i++) {
        rtl_histogram_free(&s->queues[i].wait);
        rtl_histogram_free(&s->queues[i].gap);
    }
    for (uint32_t i = 0; i < s->copies_count; i++)
        rtl_histogram_free(&s->copies[i].histogram);
    s->kernel_count = s->queue_count = s->agent_count = s->copies_count = 0;
    s->hip_api = NULL;
    state->room = state->room_most;
}

void rtl_replay_state_end(struct rtl_replay_state *state)
{
    clear_state(state);
    rtl_replay_calls_end(&state->calls_sum);
    free(state->snapshot.kernels);
    free(state->snapshot.queues);
    free(state->snapshot.agents);
    free(state->snapshot.copies);
    for (int i = 0; i < RTL_KERNELS_MAX; i++)
        free(state->names[i]);
}

static bool reserve_kernels(struct rtl_replay_state *state, uint32_t count)
{
    bool enough = rtl_grow(&state->snapshot.kernels, &state->kernel_size, count, sizeof *state->snapshot.kernels);
    if (!enough)
        rtl_db_no_memory(state->db);
    return enough;
}

void rtl_replay_state_set(struct rtl_replay_state *state, const struct rtl_snapshot *from)
{
    struct rtl_snapshot *s = &state->snapshot;
    clear_state(state);
    state->complete = false;
    state->calls_sum.pid = s->pid;
    rtl_replay_calls_set(&state->calls_sum, from, &state->room);
    if (!from || !reserve_kernels(state, from->kernel_count))
        return;
    memcpy(s->kernels, from->kernels, from->kernel_count * sizeof *s->kernels);
    memcpy(s->queues, from->queues, from->queue_count * sizeof *s->queues);
    memcpy(s->agents, from->agents, from->agent_count * sizeof *s->agents);
    s->kernel_count = from->kernel_count;
    s->queue_count = from->queue_count;
    s->agent_count = from->agent_count;
    memcpy(s->copies, from->copies, from->copies_count * sizeof *s->copies);
    s->copies_count = from->copies_count;
    for (uint32_t i = 0; i < s->kernel_count; i++)
        rtl_histogram_own(state->db, &s->kernels[i].histogram, &state->room);
    for (uint32_t i = 0; i < s->queue_count; i++) {
        rtl_histogram_own(state->db, &s->queues[i].wait, &state->room);
        rtl_histogram_own(state->db, &s->queues[i].gap, &state->room);
    }
    for (uint32_t i = 0; i < s->copies_count; i++)
        rtl_histogram_own(state->db, &s->copies[i].histogram, &state->room);
    s->hip_api = rtl_replay_calls_view(&state->calls_sum, s);
}

/* --- one frame --- */

static struct rtl_kernel_snapshot *find_kernel(struct rtl_replay_state *state, int64_t id)
{
    struct rtl_snapshot *s = &state->snapshot;
    if (id < 0 || id >= RTL_KERNELS_MAX) {
        rtl_db_damaged(state->db, "a kernel is out of bounds");
        return NULL;
    }
    uint32_t at = rtl_replay_kernel_index(s, id);
    if (at < s->kernel_count && s->kernels[at].id == id)
        return &s->kernels[at];
    if (!reserve_kernels(state, s->kernel_count + 1))
        return NULL;
    struct rtl_kernel_snapshot *k = &s->kernels[at];
    memmove(k + 1, k, (s->kernel_count - at) * sizeof *k);
    s->kernel_count++;
    *k = (struct rtl_kernel_snapshot){
        .id = (uint32_t)id, .name = state->names[id], .name_length = state->name_lengths[id]};
    if (!k->name) {
        k->name = "(unnamed kernel)";
        k->name_length = strlen(k->name);
    }
    return k;
}

static struct rtl_queue_snapshot *find_queue(struct rtl_replay_state *state, int64_t slot, bool make)
{
    struct rtl_snapshot *s = &state->snapshot;
    uint32_t at = 0;
    while (at < s->queue_count && s->queues[at].slot < slot)
        at++;
    if (at < s->queue_count && s->queues[at].slot == slot)
        return &s->queues[at];
    if (!make || slot < 0 || slot >= RTL_QUEUES_MAX) {
        rtl_db_damaged(state->db, "a queue is out of bounds");
        return NULL;
    }
    struct rtl_queue_snapshot *q = &s->queues[at];
    memmove(q + 1, q, (s->queue_count - at) * sizeof *q);
    s->queue_count++;
    *q = (struct rtl_queue_snapshot){.slot = (uint32_t)slot};
    return q;
}

static void add_kernels(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(state->db,
                            "SELECT kernel" RTL_FIELD_NAMES(KERNEL)
                                RTL_HISTOGRAM_SELECT RTL_FIELD_NAMES(LAUNCH) " FROM rtl_kernel_sample WHERE frame = ?",
                            frame);
    while (rtl_db_step(st)) {
        struct rtl_kernel_snapshot *k = find_kernel(state, rtl_db_int(st, 0));
        if (!k)
            break;
        int at = rtl_fields_read(st, 1, &rtl_kernel_fields, k);
        at = rtl_histogram_read(state->db, st, at, &k->histogram, &state->room);
        if (!rtl_db_is_null(st, at))
            rtl_fields_read(st, at, &rtl_launch_fields, k);
    }
}

static void add_estimates(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_kernel_snapshot *k;
    if (!state->observed)
        return;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT kernel" RTL_FIELD_NAMES(ESTIMATE) " FROM rtl_observed_sample WHERE frame = ?", frame);
    while (rtl_db_step(st) && (k = find_kernel(state, rtl_db_int(st, 0))))
        rtl_fields_read(st, 1, &rtl_estimate_fields, k);
}

static void add_queues(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT slot" RTL_FIELD_NAMES(QUEUE) " FROM rtl_queue_sample WHERE frame = ?", frame);
    struct rtl_queue_snapshot *q;
    while (rtl_db_step(st) && (q = find_queue(state, rtl_db_int(st, 0), true)))
        rtl_fields_read(st, 1, &rtl_queue_fields, q);
    st = rtl_db_prepare_ints(state->db, "SELECT slot, reason, dispatches FROM rtl_untimed WHERE frame = ?", frame);
    while (rtl_db_step(st) && (q = find_queue(state, rtl_db_int(st, 0), false))) {
        int64_t reason = rtl_db_int(st, 1);
        if (reason >= 0 && reason < RTL_UNTIMED_LIMIT) /* ignore reasons of later versions */
            q->untimed[reason] += (uint64_t)rtl_db_int(st, 2);
    }
    st = rtl_db_prepare_ints(
        state->db, "SELECT slot, kind" RTL_HISTOGRAM_SELECT " FROM rtl_queue_histogram WHERE frame = ?", frame);
    while (rtl_db_step(st) && (q = find_queue(state, rtl_db_int(st, 0), false)))
        rtl_histogram_read(state->db, st, 2, strcmp(rtl_db_text(st, 1, NULL), "gap") ? &q->wait : &q->gap,
                           &state->room);
}

/* A number beyond 32 bits must not turn into one that has a name. */
static uint32_t read_number(int64_t number)
{
    return number >= 0 && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void add_paths(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_queue_snapshot *q;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT slot" RTL_FIELD_NAMES(QUEUE_PATH) " FROM rtl_queue_way WHERE frame = ?", frame);
    while (rtl_db_step(st) && (q = find_queue(state, rtl_db_int(st, 0), false))) {
        q->path = read_number(rtl_db_int(st, 1));
        q->path_reason = q->path ? read_number(rtl_db_int(st, 2)) : 0;
    }
}

static void add_errors(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_queue_snapshot *q;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT slot" RTL_FIELD_NAMES(QUEUE_ERROR) " FROM rtl_queue_error WHERE frame = ?", frame);
    while (rtl_db_step(st) && (q = find_queue(state, rtl_db_int(st, 0), false))) {
        uint32_t kernel = read_number(rtl_db_int(st, 3));
        rtl_fields_read(st, 1, &rtl_queue_error_fields, q);
        q->error = q->error_known ? read_number(rtl_db_int(st, 2)) : 0;
        q->error_kernel = q->error && kernel <= RTL_KERNELS_MAX ? kernel : 0;
    }
}

static struct rtl_copies_snapshot *find_copies(struct rtl_replay_state *state, struct rtl_db_statement *st, bool make)
{
    struct rtl_snapshot *s = &state->snapshot;
    int64_t agent = rtl_db_int(st, 0), direction = rtl_db_int(st, 1);
    uint32_t at = 0;
    if (agent < 0 || agent >= RTL_AGENTS_MAX || direction < 0 || direction >= RTL_DIRECTION_COUNT) {
        rtl_db_damaged(state->db, "copies are out of bounds");
        return NULL;
    }
    while (at < s->copies_count && RTL_COPIES_OF(s->copies[at].agent, s->copies[at].direction) <
                                       RTL_COPIES_OF((uint32_t)agent, (uint32_t)direction))
        at++;
    struct rtl_copies_snapshot *c = &s->copies[at];
    if (at < s->copies_count && c->agent == agent && c->direction == direction)
        return c;
    if (!make) {
        rtl_db_damaged(state->db, "copies are out of bounds");
        return NULL;
    }
    memmove(c + 1, c, (s->copies_count - at) * sizeof *c); /* `copies` has room for all valid agents and directions */
    s->copies_count++;
    *c = (struct rtl_copies_snapshot){.agent = (uint32_t)agent, .direction = (uint32_t)direction};
    return c;
}

static void add_copies(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_copies_snapshot *c;
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(state->db,
                            "SELECT agent, direction" RTL_FIELD_NAMES(COPIES) RTL_HISTOGRAM_SELECT
                            " FROM rtl_copies_sample WHERE frame = ?",
                            frame);
    while (rtl_db_step(st) && (c = find_copies(state, st, true)))
        rtl_histogram_read(state->db, st, rtl_fields_read(st, 2, &rtl_copies_fields, c), &c->histogram, &state->room);
    st = rtl_db_prepare_ints(state->db,
                             "SELECT agent, direction, reason, copies FROM rtl_copies_untimed WHERE frame = ?", frame);
    while (rtl_db_step(st) && (c = find_copies(state, st, false))) {
        int64_t reason = rtl_db_int(st, 2);
        if (reason >= 0 && reason < RTL_COPY_UNTIMED_LIMIT)
            c->untimed[reason] += (uint64_t)rtl_db_int(st, 3);
    }
}

static void add_gpus(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_snapshot *s = &state->snapshot;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT gpu" RTL_FIELD_NAMES(BUSY) " FROM rtl_gpu_sample WHERE frame = ?", frame);
    while (rtl_db_step(st)) {
        int64_t gpu = rtl_db_int(st, 0);
        if (gpu < 0 || gpu >= RTL_AGENTS_MAX || !state->described[gpu]) {
            rtl_db_damaged(state->db, "a GPU is out of bounds");
            break;
        }
        uint32_t at = 0;
        while (at < s->agent_count && s->agents[at].gpu < gpu)
            at++;
        if (at == s->agent_count || s->agents[at].gpu != gpu) {
            memmove(&s->agents[at + 1], &s->agents[at], (s->agent_count - at) * sizeof *s->agents);
            s->agents[at] = state->agents[gpu];
            s->agent_count++;
        }
        rtl_fields_read(st, 1, &rtl_busy_fields, &s->agents[at]);
    }
}

/* Return the GPU of the statement's row; NULL: the frame has no such GPU. */
static struct rtl_agent_snapshot *find_agent(struct rtl_replay_state *state, struct rtl_db_statement *st)
{
    struct rtl_snapshot *s = &state->snapshot;
    for (uint32_t i = 0; i < s->agent_count; i++)
        if (s->agents[i].gpu == rtl_db_int(st, 0))
            return &s->agents[i];
    rtl_db_damaged(state->db, "a GPU is out of bounds");
    return NULL;
}

/* Add a gap. If the list is full, replace the gap that began first. */
static void add_gap(struct rtl_agent_snapshot *a, const struct rtl_gap *gap)
{
    uint32_t at = 0;
    if (a->gap_count < RTL_GAPS_MAX)
        at = a->gap_count++;
    else
        for (uint32_t i = 1; i < RTL_GAPS_MAX; i++)
            at = a->gap[i].start_mono_ns < a->gap[at].start_mono_ns ? i : at;
    a->gap[at] = *gap;
}

/* Remove the gap that a row with a length of 0 names. */
static void remove_gap(struct rtl_agent_snapshot *a, struct rtl_gap gone)
{
    for (uint32_t i = 0; i < a->gap_count; i++) {
        gone.length_ns = a->gap[i].length_ns;
        if (rtl_fields_differ(&rtl_gap_fields, &a->gap[i], &gone))
            continue;
        a->gap[i] = a->gap[--a->gap_count];
        return;
    }
}

static void add_gaps(struct rtl_replay_state *state, int64_t frame)
{
    struct rtl_agent_snapshot *a;
    if (!state->gaps)
        return;
    struct rtl_db_statement *st = rtl_db_prepare_ints(
        state->db, "SELECT gpu" RTL_FIELD_NAMES(CAUSE) " FROM rtl_gpu_cause WHERE frame = ?", frame);
    while (rtl_db_step(st) && (a = find_agent(state, st))) {
        rtl_fields_read(st, 1, &rtl_cause_fields, a);
        a->gaps_known = true;
    }
    st = rtl_db_prepare_ints(state->db,
                             "SELECT gpu" RTL_FIELD_NAMES(GAP) " FROM rtl_gap WHERE frame = ? "
                                                               "ORDER BY number DESC",
                             frame); /* gaps to remove have the highest numbers: they make room */
    while (rtl_db_step(st) && (a = find_agent(state, st))) {
        struct rtl_gap gap = {0};
        rtl_fields_read(st, 1, &rtl_gap_fields, &gap);
        gap.cause = gap.cause < RTL_CAUSE_COUNT ? gap.cause : RTL_CAUSE_UNKNOWN;
        gap.kernel_before = gap.kernel_before <= RTL_KERNELS_MAX ? gap.kernel_before : 0;
        gap.kernel_after = gap.kernel_after <= RTL_KERNELS_MAX ? gap.kernel_after : 0;
        if (!gap.length_ns)
            remove_gap(a, gap);
        else if (rtl_gap_is_plausible(&gap))
            add_gap(a, &gap);
    }
}

void rtl_replay_state_frame(struct rtl_replay_state *state, int64_t frame, bool *exited)
{
    struct rtl_snapshot *s = &state->snapshot;
    struct rtl_db_statement *st =
        rtl_db_prepare_ints(state->db, "SELECT exited" RTL_FIELD_NAMES(FRAME) " FROM rtl_frame WHERE id = ?", frame);
    if (rtl_db_step(st)) {
        *exited = rtl_db_int(st, 0) != 0;
        rtl_fields_read(st, 1, &rtl_frame_fields, s);
        s->mode = rtl_mode_read(s->mode);
    }
    rtl_db_reset(st);
    s->convention = 0;
    s->packets_lost = 0;
    if (state->observed) {
        st = rtl_db_prepare_ints(
            state->db, "SELECT frame" RTL_FIELD_NAMES(OBSERVED) " FROM rtl_observed_frame WHERE frame = ?", frame);
        if (rtl_db_step(st))
            rtl_fields_read(st, 1, &rtl_observed_fields, s);
        rtl_db_reset(st);
    }
    memset(s->untimed, 0, sizeof s->untimed);
    for (uint32_t i = 0; i < s->queue_count; i++)
        for (int reason = 0; reason < RTL_UNTIMED_LIMIT; reason++)
            s->untimed[reason] += s->queues[i].untimed[reason];
    state->complete = true;
}

void rtl_replay_state_add(struct rtl_replay_state *state, int64_t frame, bool *exited)
{
    if (rtl_db_status(state->db))
        return;
    add_gpus(state, frame);
    add_gaps(state, frame);
    add_kernels(state, frame);
    add_estimates(state, frame);
    add_queues(state, frame);
    add_paths(state, frame);
    add_errors(state, frame);
    add_copies(state, frame);
    state->calls_sum.pid = state->snapshot.pid;
    rtl_replay_calls_add(&state->calls_sum, frame, &state->room);
    state->snapshot.hip_api = rtl_replay_calls_view(&state->calls_sum, &state->snapshot);
    rtl_replay_state_frame(state, frame, exited);
}

uint64_t rtl_replay_state_bytes(const struct rtl_replay_state *state)
{
    uint64_t octaves = state->room_most - state->room;
    return octaves * sizeof(struct rtl_octave) + state->snapshot.kernel_count * sizeof(struct rtl_kernel_snapshot) +
           state->snapshot.queue_count * sizeof(struct rtl_queue_snapshot) +
           state->snapshot.copies_count * sizeof(struct rtl_copies_snapshot);
}

void rtl_replay_state_share(struct rtl_replay_state *state, uint32_t count)
{
    if (count > ROOM_OF_ALL / ROOM)
        state->room = state->room_most = ROOM_OF_ALL / count;
}
