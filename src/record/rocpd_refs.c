/* Kernels, GPUs and queues that rows of a trace refer to, found in the segment on first use. See rocpd_refs.h. */
#include <stdlib.h>
#include <string.h>

#include "record/rocpd_refs.h"
#include "shm/gpu_names.h"

int64_t rtl_rocpd_string(struct rtl_db *db, const char *text)
{
    struct rtl_db_statement *add = rtl_db_prepare(db, "INSERT OR IGNORE INTO rocpd_string(string) VALUES(?)");
    rtl_db_bind_string(add, 1, text);
    rtl_db_run(add);
    struct rtl_db_statement *get = rtl_db_prepare(db, "SELECT id FROM rocpd_string WHERE string = ?");
    rtl_db_bind_string(get, 1, text);
    return rtl_db_value(get);
}

int64_t rtl_rocpd_kernel(struct rtl_rocpd *r, uint32_t kernel)
{
    if (kernel >= RTL_KERNELS_MAX)
        return r->unknown_kernel;
    if (r->kernel[kernel])
        return r->kernel[kernel];
    const char *name = rtl_reader_kernel_name(r->reader, kernel);
    if (!name)
        return r->unknown_kernel;
    size_t length = strlen(name), room = 10 * length + 1; /* each byte may become an escape */
    char *safe = malloc(room);
    if (!safe) {
        rtl_db_no_memory(r->db);
        return 0;
    }
    r->escape(safe, room, name, length);
    r->kernel[kernel] = *safe ? rtl_rocpd_string(r->db, safe) : r->unknown_kernel; /* "" means a copy */
    free(safe);
    return r->kernel[kernel];
}

void rtl_rocpd_refresh(struct rtl_rocpd *r)
{
    if (r->fresh)
        return;
    r->fresh = true;
    struct rtl_snapshot snapshot = {0};
    if (rtl_reader_snapshot(r->reader, &snapshot) != RTL_READER_OK)
        return; /* keep the last snapshot */
    rtl_snapshot_free(&r->latest);
    r->latest = snapshot;
}

/* Return the index of an agent among the parts of a partitioned GPU, which may share a PCI address. */
static uint32_t find_gpu_part(const struct rtl_rocpd *r, const struct rtl_agent_snapshot *a)
{
    uint32_t part = 0;
    for (uint32_t i = 0; i < r->latest.agent_count; i++) {
        const struct rtl_agent_snapshot *other = &r->latest.agents[i];
        part += other->agent < a->agent && other->bdf == a->bdf && !strcmp(other->uuid, a->uuid);
    }
    return part;
}

/* Assign a number to an agent; `wanted`: only if the number on the screen is free. */
static void number_gpu(struct rtl_rocpd *r, uint32_t agent, const struct rtl_agent_snapshot *a, bool wanted)
{
    int64_t id = rtl_numbers_gpu(r->numbers, r->host, r->process, agent, a, a ? find_gpu_part(r, a) : 0, wanted);
    if (id >= 0)
        r->gpu[agent] = (struct rtl_rocpd_gpu){
            .known = true, .described = a, .id = id, .own = a ? a->gpu : agent, .bdf = a ? a->bdf : RTL_NO_BDF};
}

void rtl_rocpd_number_gpus(struct rtl_rocpd *r)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < r->latest.agent_count; i++) {
            const struct rtl_agent_snapshot *a = &r->latest.agents[i];
            if (a->agent < RTL_AGENTS_MAX && !r->gpu[a->agent].known)
                number_gpu(r, a->agent, a, pass == 0);
        }
}

const struct rtl_rocpd_gpu *rtl_rocpd_gpu(struct rtl_rocpd *r, uint32_t agent)
{
    if (!r->gpu[agent].known) {
        rtl_rocpd_refresh(r);
        rtl_rocpd_number_gpus(r); /* a process describes all its GPUs at once */
    }
    if (!r->gpu[agent].known)
        number_gpu(r, agent, NULL, false);
    return &r->gpu[agent];
}

/* Classify the queue of an event. A slot's generation only grows and the snapshot is newer than the event, so a
 * generation larger than the slot's is invalid. */
static enum rtl_queue_kind classify_queue(struct rtl_rocpd *r, const struct rtl_event_record *event,
                                          struct rtl_numbers_queue *seen)
{
    if (!event->generation)
        return RTL_QUEUE_KIND_OTHERS;
    const struct rtl_queue_snapshot *q = rtl_queue_of(&r->latest, event->queue, 0);
    if (!q || q->generation < event->generation) {
        rtl_rocpd_refresh(r);
        q = rtl_queue_of(&r->latest, event->queue, 0);
    }
    if (!q || event->generation & 1 || q->generation < event->generation || event->agent >= RTL_AGENTS_MAX)
        return RTL_QUEUE_KIND_UNKNOWN;
    /* destroying the queue adds 2 to the generation, using the slot again adds another 2 */
    if (q->generation != event->generation && (q->live || q->generation != event->generation + 2))
        return RTL_QUEUE_KIND_GONE;
    seen->queue_id = q->queue_id;
    seen->path = q->path;
    seen->path_reason = q->path_reason;
    return q->agent == event->agent ? RTL_QUEUE_KIND_SEEN : RTL_QUEUE_KIND_UNKNOWN;
}

int64_t rtl_rocpd_single_queue(struct rtl_rocpd *r, uint32_t agent, enum rtl_queue_kind kind)
{
    int64_t *id = &r->single[agent][kind];
    const struct rtl_rocpd_gpu *gpu = rtl_rocpd_gpu(r, agent);
    if (*id < 0)
        *id = rtl_numbers_queue(
            r->numbers, &(struct rtl_numbers_queue){
                            .kind = kind, .process = r->process, .gpu = gpu->id, .own = gpu->own, .bdf = gpu->bdf});
    return *id;
}

int64_t rtl_rocpd_queue(struct rtl_rocpd *r, const struct rtl_event_record *event)
{
    struct rtl_rocpd_queue *slot = &r->queue[event->queue % RTL_QUEUES_MAX];
    struct rtl_numbers_queue queue = {.slot = event->queue, .generation = event->generation};
    if (event->queue < RTL_QUEUES_MAX && slot->known && slot->generation == event->generation &&
        slot->agent == event->agent)
        return slot->id;
    queue.kind = event->queue < RTL_QUEUES_MAX ? classify_queue(r, event, &queue) : RTL_QUEUE_KIND_UNKNOWN;
    if (queue.kind == RTL_QUEUE_KIND_OTHERS || queue.kind == RTL_QUEUE_KIND_UNKNOWN) {
        r->unknown += queue.kind == RTL_QUEUE_KIND_UNKNOWN;
        return rtl_rocpd_single_queue(r, rtl_rocpd_agent(event), queue.kind);
    }
    const struct rtl_rocpd_gpu *gpu = rtl_rocpd_gpu(r, rtl_rocpd_agent(event));
    queue.process = r->process;
    queue.gpu = gpu->id;
    queue.own = gpu->own;
    queue.bdf = gpu->bdf;
    int64_t id = rtl_numbers_queue(r->numbers, &queue);
    if (id < 0) { /* too many */
        r->unknown++;
        return rtl_rocpd_single_queue(r, rtl_rocpd_agent(event), RTL_QUEUE_KIND_UNKNOWN);
    }
    *slot = (struct rtl_rocpd_queue){.known = true, .generation = event->generation, .agent = event->agent, .id = id};
    return id;
}

/* The opType of each direction. The words are those of other tools, except the last, for which they have none. */
int64_t rtl_rocpd_copy_type(struct rtl_rocpd *r, uint32_t direction)
{
    static const char *const types[RTL_ROCPD_DIRECTIONS] = {[RTL_COPY_H2D] = "CopyHostToDevice",
                                                            [RTL_COPY_D2H] = "CopyDeviceToHost",
                                                            [RTL_COPY_D2D] = "CopyDeviceToDevice",
                                                            [RTL_COPY_P2P] = "CopyPeerToPeer",
                                                            [RTL_DIRECTION_COUNT] = "Copy"}; /* unknown direction */
    direction = direction < RTL_DIRECTION_COUNT ? direction : RTL_DIRECTION_COUNT;
    if (!r->copy_type[direction])
        r->copy_type[direction] = rtl_rocpd_string(r->db, types[direction]);
    return r->copy_type[direction];
}
