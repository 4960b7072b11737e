/* Merges processes and their kernels. See merge.h; merge_totals.c merges GPUs, queues, copies and other counters. */
#include "model/merge.h"
#include "base/array.h"
#include "model/member_names.h"
#include "model/merge_parts.h"
#include "model/merge_totals.h"
#include "shm/hash.h"
#include "stats/histogram_sum.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Processes share most ids and name bytes, first come first served. A reserve remains for processes that join
     * later; each may use so much of it. A user with a limit may have as much as stays free, in all processes. */
    IDS_FOR_ALL = RTL_KERNELS_MAX - 256,
    IDS_OF_ONE = 16,
    NAMES_FOR_ALL = 3 * RTL_NAMES_BYTES,
    NAMES_OF_ONE = RTL_NAME_MAX,
    INDEX_SIZE = 4 * RTL_KERNELS_MAX, /* a power of two */
    OWNERS_MAX = 64,                  /* the last one is for all users without an entry of their own */
};

struct rtl_merge_owner {
    uint32_t owner, ids; /* 0: unused */
    size_t names;
};

/* A kernel with its current parts; its group has the parts of the last snapshot. */
struct rtl_merged_kernel {
    char *name; /* NULL: no kernel has this id */
    size_t length;
    uint64_t hash;
    struct rtl_part **parts; /* by member, then row */
    uint32_t count, room;
    bool dirty;
    struct rtl_group *group;
};

struct rtl_merged_member {
    bool taken;
    struct rtl_member member;
    struct rtl_part **rows; /* by the process's own kernel ids: the merge's part, or NULL */
    uint32_t row_count;
    struct rtl_merge_totals totals;
    bool has_totals;
    uint32_t reserve_ids; /* used of the reserve */
    size_t reserve_names;
};

struct rtl_merge {
    struct rtl_merged_kernel kernels[RTL_KERNELS_MAX];
    uint32_t next_id;           /* ids below are in use or skipped for good */
    uint32_t index[INDEX_SIZE]; /* by hash: id + 1 */
    size_t names_bytes;
    struct rtl_merge_owner owners[OWNERS_MAX];
    uint32_t dirty[RTL_KERNELS_MAX], dirty_count;
    struct rtl_gpu_table gpus;
    struct rtl_merged_member members[RTL_MEMBERS_MAX];
    uint32_t next_member;
    struct rtl_merge_totals gone; /* of processes that ended earlier */
    bool has_gone;
    bool numbered;                       /* GPUs have been shown: their numbers stay */
    size_t charged[RTL_MEMBERS_MAX + 1]; /* bytes of parts by index in `members`; last: of RTL_MEMBER_GONE */
    size_t share;                        /* the current limit of one process's parts, in bytes */
    size_t groups_charged;
    struct rtl_packing packing; /* empty between two uses */
};

static void release_parts(struct rtl_parts *parts)
{
    for (uint32_t i = 0; i < parts->group_count; i++)
        rtl_group_release(parts->groups[i]);
    free(parts->groups);
    free(parts);
}

/* --- names --- */

static uint32_t *name_slot(struct rtl_merge *merge, const char *name, size_t length, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (INDEX_SIZE - 1);
    for (; merge->index[at]; at = (at + 1) & (INDEX_SIZE - 1)) { /* a quarter full at most */
        const struct rtl_merged_kernel *k = &merge->kernels[merge->index[at] - 1];
        if (k->hash == hash && k->length == length && !memcmp(k->name, name, length))
            break;
    }
    return &merge->index[at];
}

static bool set_kernel_name(struct rtl_merge *merge, uint32_t id, const char *name, size_t length, uint64_t hash)
{
    struct rtl_merged_kernel *k = &merge->kernels[id];
    if (!(k->name = malloc(length + 1)))
        return false;
    memcpy(k->name, name, length);
    k->name[length] = 0;
    k->length = length;
    k->hash = hash;
    merge->names_bytes += length;
    if (merge->next_id <= id)
        merge->next_id = id + 1;
    return true;
}

/* Return the entry of the user who pays for the process; NULL: no limit. */
static struct rtl_merge_owner *owner_of(struct rtl_merge *merge, const struct rtl_merged_member *m)
{
    uint32_t owner = m->member.info.owner, at = 0;
    if (!owner)
        return NULL;
    while (at < OWNERS_MAX - 1 && merge->owners[at].owner && merge->owners[at].owner != owner)
        at++;
    merge->owners[at].owner = owner;
    return &merge->owners[at];
}

/* True if the process may add an id and a name of that length; charge its user, and the reserve if needed. */
static bool may_add_name(struct rtl_merge *merge, struct rtl_merged_member *m, uint32_t id, size_t length)
{
    struct rtl_merge_owner *owner = owner_of(merge, m);
    size_t names = merge->names_bytes + length;
    bool late_id = id >= IDS_FOR_ALL || (owner && owner->ids >= IDS_FOR_ALL - id);
    bool late_name = names > NAMES_FOR_ALL || (owner && owner->names + length > NAMES_FOR_ALL - names);
    if (id >= RTL_KERNELS_MAX || (late_id && m->reserve_ids >= IDS_OF_ONE) ||
        (late_name && m->reserve_names + length > NAMES_OF_ONE))
        return false;
    m->reserve_ids += late_id;
    m->reserve_names += late_name ? length : 0;
    if (owner) {
        owner->ids++;
        owner->names += length;
    }
    return true;
}

/* Return the id of a name, a new one if needed; RTL_KERNEL_OTHER if there is no room. */
static uint32_t kernel_id_of(struct rtl_merge *merge, struct rtl_merged_member *m, const char *name, size_t length)
{
    uint64_t hash = rtl_hash(name, length);
    uint32_t *place = name_slot(merge, name, length, hash);
    if (!*place) {
        uint32_t id = merge->next_id;
        if (!may_add_name(merge, m, id, length) || !set_kernel_name(merge, id, name, length, hash))
            return RTL_KERNEL_OTHER;
        *place = id + 1;
    }
    return *place - 1;
}

/* --- parts --- */

static void mark_dirty(struct rtl_merge *merge, uint32_t id)
{
    if (merge->kernels[id].dirty)
        return;
    merge->kernels[id].dirty = true;
    merge->dirty[merge->dirty_count++] = id;
}

/* Return the index of the part in its kernel's list, or the index to insert it at. */
static uint32_t position_of(const struct rtl_merged_kernel *k, uint32_t member, uint32_t row)
{
    if (member < k->count && rtl_part_is(k->parts[member], member, row)) /* true if every process has the kernel */
        return member;
    return rtl_part_position(k->parts, k->count, member, row);
}

static struct rtl_part *part_at(const struct rtl_merged_kernel *k, uint32_t at, uint32_t member, uint32_t row)
{
    return at < k->count && rtl_part_is(k->parts[at], member, row) ? k->parts[at] : NULL;
}

/* Insert a part or replace its previous version; own the reference. False without memory: no change. */
static bool insert_part(struct rtl_merge *merge, struct rtl_part *part)
{
    struct rtl_merged_kernel *k = &merge->kernels[part->kernel.id];
    uint32_t at = position_of(k, part->member, part->row);
    struct rtl_part *before = part_at(k, at, part->member, part->row);
    if (before) {
        rtl_part_release(before);
    } else {
        if (!rtl_grow(&k->parts, &k->room, k->count + 1, sizeof *k->parts))
            return false;
        memmove(k->parts + at + 1, k->parts + at, (k->count - at) * sizeof *k->parts);
        k->count++;
    }
    k->parts[at] = part;
    mark_dirty(merge, part->kernel.id);
    return true;
}

static void remove_part(struct rtl_merge *merge, const struct rtl_part *part)
{
    uint32_t id = part->kernel.id;
    struct rtl_merged_kernel *k = &merge->kernels[id];
    uint32_t at = position_of(k, part->member, part->row);
    struct rtl_part *mine = part_at(k, at, part->member, part->row);
    if (!mine)
        return;
    k->count--;
    memmove(k->parts + at, k->parts + at + 1, (k->count - at) * sizeof *k->parts);
    mark_dirty(merge, id);
    rtl_part_release(mine);
}

/* Return the bytes that one process's parts may use: more if there are few processes. */
static size_t member_share(const struct rtl_merge *merge)
{
    size_t members = 0, share;
    for (int i = 0; i < RTL_MEMBERS_MAX; i++)
        members += merge->members[i].taken;
    share = RTL_PARTS_BYTES_MAX / (members + 1);
    return share < RTL_PARTS_SHARE_MAX ? share : RTL_PARTS_SHARE_MAX;
}

static bool numbers_equal(const struct rtl_kernel_snapshot *a, const struct rtl_kernel_snapshot *b)
{
    return a->calls == b->calls && a->untimed == b->untimed && a->histogram.count == b->histogram.count &&
           a->histogram.total_ns == b->histogram.total_ns && a->estimated_ns == b->estimated_ns &&
           a->histogram.approximate == b->histogram.approximate;
}

static bool has_name(const struct rtl_part *part, const struct rtl_kernel_snapshot *k)
{
    return part->kernel.name_length == k->name_length &&
           (part->named_by == k->name || !memcmp(part->kernel.name, k->name, k->name_length));
}

/* Set the kernel's numbers in this process, if they have changed. */
static bool update_kernel(struct rtl_merge *merge, struct rtl_merged_member *m, const struct rtl_kernel_snapshot *k)
{
    struct rtl_part *before = m->rows[k->id];
    if (before && numbers_equal(&before->kernel, k))
        return true;
    /* a kernel that was counted under RTL_KERNEL_OTHER stays there; an unnamed row may have got its name since */
    bool stays = before && (before->kernel.id == RTL_KERNEL_OTHER || has_name(before, k));
    uint32_t id = stays ? before->kernel.id : kernel_id_of(merge, m, k->name, k->name_length);
    struct rtl_kernel_snapshot kernel = *k;
    size_t *charged = &merge->charged[m - merge->members];
    bool over = *charged > merge->share;
    kernel.id = id;
    kernel.name = merge->kernels[id].name;
    kernel.name_length = merge->kernels[id].length;
    rtl_packing_add(&merge->packing, &k->histogram);
    if (over && stays && before->coarse) {
        rtl_part_rewrite(before, &kernel, &merge->packing);
        before->named_by = k->name;
        mark_dirty(merge, id);
        return true;
    }
    struct rtl_part *part = rtl_part_make(&kernel, &merge->packing, over, charged);
    if (!part)
        return false;
    part->member = m->member.number;
    part->row = k->id;
    part->named_by = k->name;
    if (!insert_part(merge, part)) {
        rtl_part_release(part);
        return false;
    }
    if (before && !stays && before->kernel.id != id)
        remove_part(merge, before);
    m->rows[k->id] = part;
    return true;
}

static struct rtl_merged_member *find_merged_member(struct rtl_merge *merge, uint32_t number)
{
    for (int i = 0; i < RTL_MEMBERS_MAX; i++)
        if (merge->members[i].taken && merge->members[i].member.number == number)
            return &merge->members[i];
    return NULL;
}

static void update_member(struct rtl_member *member, const struct rtl_snapshot *s, const struct rtl_snapshot *rest)
{
    bool moved = member->passes != s->passes || member->heartbeat_mono_ns != s->heartbeat_mono_ns;
    member->mode = s->mode;
    member->in_force = s->in_force;
    member->state = s->state;
    member->start_mono_ns = s->start_mono_ns;
    member->start_real_ns = s->start_real_ns;
    member->heartbeat_mono_ns = s->heartbeat_mono_ns;
    member->passes = s->passes;
    member->parked = s->parked;
    member->counted = s->counted;
    member->timed = s->timed;
    member->untimed_total = s->untimed_total;
    member->busy_ns = member->gpus = 0;
    member->depth = rtl_snapshot_in_flight(s);
    member->stale_ns = rtl_stale_ns(s, moved, &member->stuck_since_ns);
    for (uint32_t i = 0; i < rest->agent_count; i++) {
        member->busy_ns += rest->agents[i].busy_ns;
        if (rest->agents[i].users)
            member->gpus |= 1ull << (rest->agents[i].gpu % RTL_AGENTS_MAX);
    }
}

bool rtl_merge_update(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot)
{
    struct rtl_merged_member *m = find_merged_member(merge, number);
    struct rtl_snapshot rest;
    uint32_t rows = 0;
    if (!m || m->member.ended)
        return true;
    for (uint32_t i = 0; i < snapshot->kernel_count; i++)
        if (snapshot->kernels[i].id < RTL_KERNELS_MAX && snapshot->kernels[i].id >= rows)
            rows = snapshot->kernels[i].id + 1;
    if (rows > m->row_count) {
        struct rtl_part **more = realloc(m->rows, rows * sizeof *more);
        if (!more)
            return false;
        memset(more + m->row_count, 0, (rows - m->row_count) * sizeof *more);
        m->rows = more;
        m->row_count = rows;
    }
    if (!rtl_merge_totals_copy(&merge->gpus, number, number * RTL_QUEUES_MAX, m->member.info.pid, snapshot, &rest))
        return false;
    rtl_snapshot_free(&m->totals.snapshot);
    m->totals = (struct rtl_merge_totals){.snapshot = rest, .queues = true};
    m->has_totals = true;
    update_member(&m->member, snapshot, &rest);
    merge->share = member_share(merge);
    for (uint32_t i = 0; i < snapshot->kernel_count; i++)
        if (snapshot->kernels[i].id < RTL_KERNELS_MAX && !update_kernel(merge, m, &snapshot->kernels[i]))
            return false;
    for (uint32_t i = 0; i < rest.queue_count; i++) { /* from the process's kernel id to the merged snapshot's */
        struct rtl_queue_snapshot *queue = &m->totals.snapshot.queues[i];
        const struct rtl_part *part =
            queue->error_kernel && queue->error_kernel <= m->row_count ? m->rows[queue->error_kernel - 1] : NULL;
        queue->error_kernel = part ? part->kernel.id + 1 : 0;
    }
    return true;
}

bool rtl_merge_adopt(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot)
{
    struct rtl_merged_member *m = find_merged_member(merge, number);
    if (!m)
        return true;
    for (uint32_t i = 0; i < snapshot->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &snapshot->kernels[i];
        if (k->id >= IDS_FOR_ALL || merge->kernels[k->id].name)
            continue;
        uint64_t hash = rtl_hash(k->name, k->name_length);
        uint32_t *place = name_slot(merge, k->name, k->name_length, hash);
        if (!*place && set_kernel_name(merge, k->id, k->name, k->name_length, hash))
            *place = k->id + 1;
    }
    rtl_gpu_table_add(&merge->gpus, number, snapshot, true);
    merge->numbered = true;
    return rtl_merge_update(merge, number, snapshot);
}

/* --- processes --- */

/* Make the sum of an ended process's part and of `gone`, which may be NULL. NULL without memory. */
static struct rtl_part *sum_with_gone(struct rtl_merge *merge, const struct rtl_part *part, const struct rtl_part *gone)
{
    struct rtl_kernel_snapshot kernel = part->kernel;
    size_t *charged = &merge->charged[RTL_MEMBERS_MAX];
    rtl_part_add(part, &merge->packing);
    if (gone) {
        const struct rtl_histogram_copy *both[2] = {&part->kernel.histogram, &gone->kernel.histogram};
        kernel.calls += gone->kernel.calls;
        kernel.untimed += gone->kernel.untimed;
        kernel.estimated_ns += gone->kernel.estimated_ns;
        kernel.histogram = rtl_histogram_sum(both, 2, NULL); /* count, total and extremes: parts have no buckets here */
        rtl_part_add(gone, &merge->packing);
    }
    struct rtl_part *sum = rtl_part_make(&kernel, &merge->packing, *charged > RTL_PARTS_SHARE_MAX, charged);
    if (sum) {
        sum->member = RTL_MEMBER_GONE;
        sum->row = 0;
        sum->named_by = NULL;
    }
    return sum;
}

/* Add the counts of an ended process to RTL_MEMBER_GONE and remove it. False without memory: the process stays. */
static bool fold_member(struct rtl_merge *merge, struct rtl_merged_member *m)
{
    if (m->has_totals) {
        struct rtl_merge_totals both[2] = {merge->gone, m->totals};
        struct rtl_snapshot sum;
        both[0].folded = both[1].folded = true;
        if (!rtl_merge_totals_sum(merge->has_gone ? both : both + 1, merge->has_gone ? 2 : 1, &sum))
            return false;
        for (uint32_t i = 0; i < sum.agent_count; i++)
            sum.agents[i].users = 0;
        rtl_snapshot_free(&merge->gone.snapshot);
        merge->gone.snapshot = sum;
        merge->has_gone = true;
        rtl_snapshot_free(&m->totals.snapshot);
        m->has_totals = false;
    }
    for (uint32_t r = 0; r < m->row_count; r++) {
        struct rtl_part *part = m->rows[r];
        if (!part)
            continue;
        struct rtl_merged_kernel *k = &merge->kernels[part->kernel.id];
        struct rtl_part *sum =
            sum_with_gone(merge, part, part_at(k, position_of(k, RTL_MEMBER_GONE, 0), RTL_MEMBER_GONE, 0));
        if (!sum || !insert_part(merge, sum)) {
            rtl_part_release(sum);
            return false;
        }
        m->rows[r] = NULL;
        remove_part(merge, part);
    }
    free(m->rows);
    *m = (struct rtl_merged_member){0};
    return true;
}

/* Fold the process that ended first, if more than `most` have ended. */
static void fold_ended(struct rtl_merge *merge, uint32_t most)
{
    struct rtl_merged_member *first = NULL;
    uint32_t ended = 0;
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        struct rtl_merged_member *m = &merge->members[i];
        if (!m->taken || !m->member.ended)
            continue;
        ended++;
        if (!first || m->member.number < first->member.number)
            first = m;
    }
    if (ended > most)
        fold_member(merge, first);
}

uint32_t rtl_merge_join(struct rtl_merge *merge, const struct rtl_member_info *info)
{
    fold_ended(merge, RTL_MEMBERS_ENDED_MAX);
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        struct rtl_merged_member *m = &merge->members[i];
        if (m->taken)
            continue;
        *m = (struct rtl_merged_member){.taken = true, .member = {.number = merge->next_member++, .info = *info}};
        return m->member.number;
    }
    return RTL_MEMBER_GONE;
}

void rtl_merge_describe(struct rtl_merge *merge, uint32_t number, const struct rtl_member_info *info)
{
    struct rtl_merged_member *m = find_merged_member(merge, number);
    if (!m)
        return;
    struct rtl_member_info *own = &m->member.info, before = *own;
    *own = *info;
    own->owner = before.owner; /* the user to whom its rows are charged already */
    if (!*info->label) {
        memcpy(own->label, before.label, sizeof before.label);
        own->rank = before.rank;
    }
    if (strcmp(info->title, "?") == 0)
        memcpy(own->title, before.title, sizeof before.title);
}

void rtl_merge_leave(struct rtl_merge *merge, uint32_t number)
{
    struct rtl_merged_member *m = find_merged_member(merge, number);
    if (!m)
        return;
    m->member.ended = true;
    m->totals.queues = false;
    m->member.depth = m->member.stale_ns = 0;
}

void rtl_merge_drop(struct rtl_merge *merge, uint32_t number)
{
    struct rtl_merged_member *m = find_merged_member(merge, number);
    rtl_merge_leave(merge, number);
    if (m)
        fold_member(merge, m);
}

size_t rtl_merge_memory(struct rtl_merge *merge, uint32_t number)
{
    const struct rtl_merged_member *m = find_merged_member(merge, number);
    return m ? merge->charged[m - merge->members] + m->row_count * sizeof *m->rows : 0;
}

/* --- create, free, rewind --- */

struct rtl_merge *rtl_merge_create(void)
{
    static const char other[] = "(other kernels)";
    struct rtl_merge *merge = calloc(1, sizeof *merge);
    if (!merge)
        return NULL;
    struct rtl_merged_member nobody = {0};
    if (kernel_id_of(merge, &nobody, other, strlen(other)) != RTL_KERNEL_OTHER ||
        !merge->kernels[RTL_KERNEL_OTHER].name) {
        free(merge);
        return NULL;
    }
    return merge;
}

void rtl_merge_rewind(struct rtl_merge *merge)
{
    for (uint32_t id = 0; id < merge->next_id; id++) {
        struct rtl_merged_kernel *k = &merge->kernels[id];
        for (uint32_t i = 0; i < k->count; i++)
            rtl_part_release(k->parts[i]);
        k->count = 0;
        mark_dirty(merge, id);
    }
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        struct rtl_merged_member *m = &merge->members[i];
        rtl_snapshot_free(&m->totals.snapshot);
        free(m->rows);
        *m = (struct rtl_merged_member){.reserve_ids = m->reserve_ids, .reserve_names = m->reserve_names};
    }
    rtl_snapshot_free(&merge->gone.snapshot);
    merge->has_gone = false;
    merge->next_member = 0;
}

void rtl_merge_free(struct rtl_merge *merge)
{
    if (!merge)
        return;
    rtl_merge_rewind(merge);
    for (uint32_t id = 0; id < RTL_KERNELS_MAX; id++) {
        rtl_group_release(merge->kernels[id].group);
        free(merge->kernels[id].parts);
        free(merge->kernels[id].name);
    }
    free(merge);
}

/* --- snapshots --- */

static bool make_groups(struct rtl_merge *merge, uint32_t most)
{
    while (merge->dirty_count && most--) {
        struct rtl_merged_kernel *k = &merge->kernels[merge->dirty[merge->dirty_count - 1]];
        struct rtl_group *group = NULL;
        if (k->count && !(group = rtl_group_make(k->parts, k->count, &merge->packing, &merge->groups_charged)))
            return false;
        rtl_group_release(k->group);
        k->group = group;
        k->dirty = false;
        merge->dirty_count--;
    }
    return true;
}

static bool sum_totals(struct rtl_merge *merge, struct rtl_snapshot *out)
{
    struct rtl_merge_totals *rests = calloc(RTL_MEMBERS_MAX + 1, sizeof *rests);
    uint32_t count = 0;
    if (!rests)
        return false;
    for (uint32_t n = 0; n < 2; n++) /* live processes first: fields that are not summed come from the first */
        for (uint32_t i = 0; i < RTL_MEMBERS_MAX; i++)
            if (merge->members[i].taken && merge->members[i].has_totals && merge->members[i].member.ended == (n == 1))
                rests[count++] = merge->members[i].totals;
    if (merge->has_gone)
        rests[count++] = merge->gone;
    bool ok = rtl_merge_totals_sum(rests, count, out);
    free(rests);
    return ok;
}

static int by_member_number(const void *a, const void *b)
{
    const struct rtl_member *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static struct rtl_parts *make_parts(struct rtl_merge *merge, uint32_t groups)
{
    uint32_t members = 0;
    for (int i = 0; i < RTL_MEMBERS_MAX; i++)
        members += merge->members[i].taken;
    struct rtl_parts *parts = calloc(1, sizeof *parts + members * sizeof *parts->members);
    if (!parts || !(parts->groups = calloc(groups + 1, sizeof *parts->groups))) {
        free(parts);
        return NULL;
    }
    for (int i = 0; i < RTL_MEMBERS_MAX; i++)
        if (merge->members[i].taken)
            parts->members[parts->member_count++] = merge->members[i].member;
    qsort(parts->members, parts->member_count, sizeof *parts->members, by_member_number);
    rtl_members_name(parts->members, parts->member_count);
    return parts;
}

/* Number the GPUs by PCI address before the first snapshot, because processes join in any order. */
static void number_gpus(struct rtl_merge *merge)
{
    uint32_t to[RTL_AGENTS_MAX];
    if (merge->numbered)
        return;
    merge->numbered = true;
    rtl_gpu_table_sort(&merge->gpus, to);
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        struct rtl_merged_member *m = &merge->members[i];
        uint64_t gpus = 0;
        if (!m->has_totals)
            continue;
        rtl_merge_totals_renumber(&m->totals.snapshot, to);
        for (int g = 0; g < RTL_AGENTS_MAX; g++)
            gpus |= (m->member.gpus >> g & 1) << to[g];
        m->member.gpus = gpus;
    }
}

bool rtl_merge_make(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out)
{
    memset(out, 0, sizeof *out);
    fold_ended(merge, RTL_MEMBERS_ENDED_MAX);
    number_gpus(merge);
    if (!make_groups(merge, UINT32_MAX) || !sum_totals(merge, out))
        return false;
    uint32_t count = 0;
    for (uint32_t id = 0; id < merge->next_id; id++)
        count += merge->kernels[id].group != NULL;
    out->taken_mono_ns = mono_ns;
    out->kernels = malloc((count + 1) * sizeof *out->kernels);
    out->parts = out->kernels ? make_parts(merge, count) : NULL;
    out->release_parts = release_parts;
    if (!out->parts) {
        rtl_snapshot_free(out);
        return false;
    }
    for (uint32_t id = 0; id < merge->next_id; id++) {
        struct rtl_group *group = merge->kernels[id].group;
        if (!group)
            continue;
        group->references++;
        out->parts->groups[out->parts->group_count++] = group;
        out->kernels[out->kernel_count++] = group->kernel;
    }
    return true;
}

bool rtl_merge_sum_some(struct rtl_merge *merge, uint32_t kernels)
{
    return make_groups(merge, kernels) && merge->dirty_count;
}

bool rtl_merge_make_partly(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out)
{
    bool numbered = merge->numbered, made = rtl_merge_make(merge, mono_ns, out);
    merge->numbered = numbered;
    return made;
}

const struct rtl_group *rtl_group_of(const struct rtl_snapshot *snapshot, const struct rtl_kernel_snapshot *kernel)
{
    /* the kernel of a family's row is outside of the snapshot's array */
    if (!snapshot || !snapshot->parts || (uintptr_t)kernel < (uintptr_t)snapshot->kernels)
        return NULL;
    uintptr_t at = ((uintptr_t)kernel - (uintptr_t)snapshot->kernels) / sizeof *kernel;
    return at < snapshot->parts->group_count ? snapshot->parts->groups[at] : NULL;
}

const struct rtl_member *rtl_member_of(const struct rtl_snapshot *snapshot, uint32_t number)
{
    for (uint32_t i = 0; snapshot && snapshot->parts && i < snapshot->parts->member_count; i++)
        if (snapshot->parts->members[i].number == number)
            return &snapshot->parts->members[i];
    return NULL;
}
