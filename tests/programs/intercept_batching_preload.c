/*
 * intercept_batching_preload.c - makes the real runtime's intercept queues behave like ROCm 7.2's: a handler gets all
 * packets of a doorbell at once. Loaded as a tool before librtl.so. BATCHING_AS selects the release:
 *   past    7.2.0: if a batch wraps around the end of the ring, the handler gets a pointer to its first packet and the
 *           count of all, as if the ring continued beyond its end (here an inaccessible page)
 *   short   7.2.1 to 7.2.4: a batch that wraps is copied to a buffer of 256 packets, even if it has more (here the
 *           buffer, too, ends at an inaccessible page)
 *   fixed   7.13: the buffer is as large as the ring
 *
 * Below it are real intercept queues whose one handler is this tool's. At the first packet of a doorbell the tool
 * counts the available packets, passes them on together, and ignores the others when they arrive. Queues without a
 * handler, and queues that are not intercept queues, work as before.
 */
#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "intercept/base/hsa_table.c" /* only this file knows the layout */

__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

enum { PACKET = 64, SHORT = 256, HANDLERS = 8, QUEUES = 64, INVALID = HSA_PACKET_TYPE_INVALID };
enum as { PAST, SHORT_BUFFER, FIXED };

struct handler {
    rtl_packet_handler call;
    void *data;
};

struct queue {          /* created under `lock`; then used by its doorbells, one at a time */
    hsa_queue_t *queue; /* NULL: the entry is free */
    void *own_ring;     /* the runtime's ring, while this tool's replaces it */
    char *ring, *buffer;
    size_t ring_bytes, buffer_bytes; /* mapped size, without the inaccessible page */
    uint64_t done;                   /* packets below this index have been passed on */
    struct handler handler[HANDLERS];
    _Atomic int handlers;
};

static struct rtl_hsa hsa;
static enum as as;
static struct queue queues[QUEUES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The batch that this thread is passing on, and the current level of handlers. */
static __thread struct {
    struct queue *queue;
    int level;
    uint64_t index;
    rtl_packet_writer writer;
} now;

/* Memory that ends at an inaccessible page. */
static char *guarded(size_t bytes)
{
    size_t page = (size_t)getpagesize();
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + bytes, page, PROT_NONE) != 0)
        abort();
    return memory;
}

static void unmap_guarded(char *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes + (size_t)getpagesize());
}

/* A handler's output goes to the handler registered before it; the first handler's goes to the runtime. */
static void write_on(const void *packets, uint64_t count)
{
    if (now.level == 0) {
        now.writer(packets, count);
        return;
    }
    const struct handler *next = &now.queue->handler[--now.level];
    next->call(packets, count, now.index, next->data, write_on);
    now.level++;
}

/* Number of packets available from this one on: up to the first invalid one, at most the ring's size. */
static uint64_t packets_from(const hsa_queue_t *queue, uint64_t first)
{
    uint64_t end = __atomic_load_n(&((const amd_queue_t *)(const void *)queue)->write_dispatch_id, __ATOMIC_ACQUIRE);
    uint64_t n = 1;
    if (end > first + queue->size)
        end = first + queue->size;
    while (first + n < end) {
        const char *slot = (const char *)queue->base_address + PACKET * ((first + n) & (queue->size - 1));
        uint16_t header = __atomic_load_n((const uint16_t *)(const void *)slot, __ATOMIC_ACQUIRE);
        if ((header & 0xff) == INVALID)
            break;
        n++;
    }
    return n;
}

static void batch_packets(const void *packet, uint64_t count, uint64_t index, void *data, rtl_packet_writer writer)
{
    struct queue *q = data;
    (void)count;
    if (atomic_load(&q->handlers) == 0) {
        writer(packet, count);
        return;
    }
    if (index < q->done)
        return;
    uint64_t n = packets_from(q->queue, index), ring = q->queue->size, at = index & (ring - 1);
    const char *base = q->queue->base_address, *from = base + PACKET * at;
    q->done = index + n;
    if (at + n > ring && as != PAST) {
        memcpy(q->buffer, from, PACKET * (ring - at));
        memcpy(q->buffer + PACKET * (ring - at), base, PACKET * (n - (ring - at)));
        from = q->buffer;
    }
    now.queue = q;
    now.index = index;
    now.writer = writer;
    now.level = q->handlers;
    write_on(from, n);
}

static struct queue *place_of(const hsa_queue_t *queue)
{
    struct queue *found_at = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < QUEUES && !found_at; i++)
        if (queues[i].queue == queue)
            found_at = &queues[i];
    pthread_mutex_unlock(&lock);
    return found_at;
}

static hsa_status_t intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                     void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    hsa_status_t status =
        hsa.amd_queue_intercept_create(agent, size, type, error, data, private_segment, group_segment, queue);
    struct queue *q = status == HSA_STATUS_SUCCESS ? place_of(NULL) : NULL;
    if (!q)
        return status;
    memset(q, 0, sizeof *q);
    q->ring_bytes = (size_t)(*queue)->size * PACKET;
    if (as == PAST) {
        /* The application writes to the queue's ring and the runtime reads from it; only the GPU's ring is
         * elsewhere. */
        q->ring = guarded(q->ring_bytes);
        q->own_ring = (*queue)->base_address;
        for (size_t i = 0; i < q->ring_bytes; i += PACKET)
            q->ring[i] = INVALID;
        (*queue)->base_address = q->ring;
    } else if (as == SHORT_BUFFER) {
        q->buffer_bytes = SHORT * PACKET;
        q->buffer = guarded(q->buffer_bytes);
    } else {
        q->buffer = malloc(q->ring_bytes);
    }
    q->queue = *queue;
    return hsa.amd_queue_intercept_register(*queue, batch_packets, q);
}

static hsa_status_t intercept_register(hsa_queue_t *queue, rtl_packet_handler call, void *data)
{
    struct queue *q = place_of(queue);
    if (!q || q->handlers == HANDLERS)
        return hsa.amd_queue_intercept_register(queue, call, data); /* returns the runtime's error */
    q->handler[q->handlers] = (struct handler){call, data};
    q->handlers++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_batching(hsa_queue_t *queue)
{
    struct queue *q = queue ? place_of(queue) : NULL, was = q ? *q : (struct queue){.queue = NULL};
    if (was.own_ring)
        queue->base_address = was.own_ring;
    hsa_status_t status = hsa.queue_destroy(queue);
    if (!q)
        return status;
    unmap_guarded(was.ring, was.ring_bytes);
    if (as == SHORT_BUFFER)
        unmap_guarded(was.buffer, was.buffer_bytes);
    else
        free(was.buffer);
    pthread_mutex_lock(&lock);
    q->queue = NULL;
    pthread_mutex_unlock(&lock);
    return status;
}

/* In this file, like the two above: a tool checks by file that no other tool has hooked the runtime. */
static hsa_status_t create_batching(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                    void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    return hsa.queue_create(agent, size, type, error, data, private_segment, group_segment, queue);
}

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    char why[200];
    const char *which = getenv("BATCHING_AS") ? getenv("BATCHING_AS") : "fixed";
    struct table_root *root = table;
    struct table_version *ext = root->amd_ext;
    (void)version;
    (void)failed;
    (void)names;
    as = which[0] == 'p' ? PAST : which[0] == 's' ? SHORT_BUFFER : FIXED;
    if (ext->minor < sizeof *ext + 55 * sizeof(void *)) {
        fprintf(stderr, "batching: this release is too old\n");
        return 1;
    }
    if (!rtl_hsa_save(table, &hsa, why, sizeof why)) {
        fprintf(stderr, "batching: %s\n", why);
        return 1;
    }
    rtl_hsa_hook(table, RTL_HSA_queue_create, (void (*)(void))create_batching);
    rtl_hsa_hook(table, RTL_HSA_queue_destroy, (void (*)(void))destroy_batching);
    rtl_hsa_hook(table, RTL_HSA_amd_queue_intercept_create, (void (*)(void))intercept_create);
    rtl_hsa_hook(table, RTL_HSA_amd_queue_intercept_register, (void (*)(void))intercept_register);
    /* Mark the table as one of a release that may batch; its slots are ordered as from 5.6 on. */
    if (!rtl_hsa_may_batch(ext->minor))
        ext->minor = (uint32_t)(sizeof *ext + 75 * sizeof(void *));
    return 1;
}

void OnUnload(void)
{
}
