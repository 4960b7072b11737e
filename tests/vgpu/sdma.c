/*
 * sdma.c - the SDMA engines: a ring of commands, processed in order.
 *
 * The model really moves the data. It moves large copies in slices, so that the one engine thread can serve other
 * queues in between. In simulated time a copy takes its bytes over the configured bandwidth. The commands behind it
 * (fence, timestamp, atomic, trap) happen at its end, and run when real time has passed that.
 *
 * Copy counts have two generations: 22 bits up to GFX90a's first runtimes, 30 bits from ROCr 6 on. The older ones leave
 * the upper bits zero, so one mask serves both. Counts and rectangle sizes are stored minus one.
 */
#include "vgpu.h"

#include <string.h>

enum {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL = 8,
    OP_ATOMIC = 10,
    OP_FILL = 11,
    OP_TIMESTAMP = 13,
    OP_GCR = 17
};
enum { COPY_LINEAR = 0, COPY_RECT = 4 };
enum { TIMESTAMP_GET_GLOBAL = 2 };
enum { ATOMIC_ADD64 = 47 };

#define SLICE         (1u << 20)
#define LATENCY_TICKS (1000 / VG_TICK_NS) /* latency of one copy or fill */

enum step { DONE, NOT_YET, WAITS, MORE, STOPPED };

static uint64_t addr(const uint32_t *p)
{
    return p[0] | (uint64_t)p[1] << 32;
}

static enum step fault(struct vg_queue *q, const char *what, uint64_t va)
{
    vg_log("gpu %d SDMA queue %u: %s touches address 0x%llx, which isn't GPU memory", q->gpu, q->id, what,
           (unsigned long long)va);
    q->halted = true;
    vg_event_fault(q->gpu, va);
    return STOPPED;
}

static void advance_time(struct vg_queue *q, uint64_t bytes)
{
    q->cp = q->copy_start + LATENCY_TICKS + bytes * 1000 / VG_TICK_NS / vg_cfg.copy_bytes_per_us;
    q->copy_done = 0;
}

static void advance_copy_time(struct vg_queue *q, uint64_t bytes)
{
    advance_time(q, bytes);
    if (vg_truth_of_copies())
        vg_truth_copy(q->gpu, q->id, q->copy_start, q->cp, bytes);
}

static enum step copy_linear(struct vg_queue *q, const uint32_t *p)
{
    uint64_t bytes = (uint64_t)(p[1] & 0x3fffffff) + 1, src = addr(p + 3), dst = addr(p + 5), bad;
    uint64_t now = bytes - q->copy_done < SLICE ? bytes - q->copy_done : SLICE;
    if (!vg_gpu_copy(dst + q->copy_done, src + q->copy_done, now, &bad))
        return fault(q, "copy", bad);
    q->copy_done += now;
    if (q->copy_done < bytes)
        return MORE;
    advance_copy_time(q, bytes);
    return DONE;
}

static enum step copy_rect(struct vg_queue *q, const uint32_t *p)
{
    unsigned shift = p[0] >> 29;
    struct side {
        uint64_t base, x, y, z, pitch, slice;
    } side[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t *s = p + 1 + i * 5;
        side[i] = (struct side){addr(s),
                                s[2] & 0x3fff,
                                s[2] >> 16 & 0x3fff,
                                s[3] & 0x7ff,
                                (uint64_t)(s[3] >> 13) + 1,
                                (uint64_t)(s[4] & 0xfffffff) + 1};
    }
    uint64_t nx = (p[11] & 0x3fff) + 1, ny = (p[11] >> 16 & 0x3fff) + 1, nz = (p[12] & 0x7ff) + 1, bad, rows = 0;
    while (q->copy_done < ny * nz) {
        uint64_t y = q->copy_done % ny, z = q->copy_done / ny, at[2];
        for (int i = 0; i < 2; i++)
            at[i] = side[i].base +
                    ((side[i].x + (side[i].y + y) * side[i].pitch + (side[i].z + z) * side[i].slice) << shift);
        if (!vg_gpu_copy(at[1], at[0], nx << shift, &bad))
            return fault(q, "rectangular copy", bad);
        q->copy_done++;
        if (++rows * (nx << shift) >= SLICE && q->copy_done < ny * nz)
            return MORE;
    }
    advance_copy_time(q, (nx * ny * nz) << shift);
    return DONE;
}

static enum step sdma_fill(struct vg_queue *q, const uint32_t *p)
{
    unsigned size = 1u << (p[0] >> 30); /* byte, word, dword */
    /* The count is in bytes, minus one element of this size. */
    uint64_t bytes = (uint64_t)(p[4] & 0x3fffff) + size, dst = addr(p + 1);
    uint64_t now = bytes - q->copy_done < SLICE ? bytes - q->copy_done : SLICE;
    uint32_t value = p[3];
    if (size == 1)
        value = (value & 0xff) * 0x01010101u;
    else if (size == 2)
        value = (value & 0xffff) * 0x00010001u;
    char *d = vg_xlate(dst + q->copy_done, now);
    if (!d)
        return fault(q, "fill", dst + q->copy_done);
    for (uint64_t i = 0; i < now; i++)
        d[i] = (char)(value >> (i % 4 * 8));
    q->copy_done += now;
    if (q->copy_done < bytes)
        return MORE;
    advance_time(q, bytes);
    return DONE;
}

static bool holds(uint32_t value, unsigned func, uint32_t reference)
{
    switch (func) {
    case 0:
        return true;
    case 1:
        return value < reference;
    case 2:
        return value <= reference;
    case 3:
        return value == reference;
    case 4:
        return value != reference;
    case 5:
        return value >= reference;
    default:
        return value > reference;
    }
}

static enum step poll_memory(struct vg_queue *q, const uint32_t *p, uint64_t now)
{
    if (!(p[0] >> 31))
        return DONE; /* without the memory bit it polls a register (HDP flush): nothing to do */
    uint64_t va = addr(p + 1), tick;
    const volatile uint32_t *m = vg_xlate(va, 4);
    if (!m)
        return fault(q, "poll", va);
    if (!holds(__atomic_load_n(m, __ATOMIC_ACQUIRE) & p[4], p[0] >> 28 & 7, p[3])) {
        if (!q->blocked_since)
            q->blocked_since = q->copy_start ? q->copy_start : 1;
        return WAITS;
    }
    /* Time at which the condition became true, as for barriers (aql.c). A signal's value is at offset 8 of the
     * signal. */
    uint64_t since = q->blocked_since ? q->blocked_since : q->cp;
    if (vg_signal_time_get(va - offsetof(amd_signal_t, value), &tick) && tick >= since)
        q->cp = tick; /* maybe after now: another queue of this pass completed the signal, and read the clock later */
    else if (q->blocked_since)
        q->cp = now;
    q->blocked_since = 0;
    return DONE;
}

static enum step sdma_atomic(struct vg_queue *q, const uint32_t *p)
{
    uint64_t va = addr(p + 1);
    if (p[0] >> 25 != ATOMIC_ADD64) {
        vg_log("gpu %d SDMA queue %u: atomic operation %u isn't modelled (ADD64 is)", q->gpu, q->id, p[0] >> 25);
        q->halted = true;
        return STOPPED;
    }
    volatile uint64_t *m = vg_xlate(va, 8);
    if (!m)
        return fault(q, "atomic", va);
    vg_signal_time_set(va - offsetof(amd_signal_t, value), q->cp);
    __atomic_fetch_add(m, addr(p + 3), __ATOMIC_RELEASE);
    return DONE;
}

static enum step store(struct vg_queue *q, const char *what, uint64_t va, uint64_t value, unsigned size)
{
    void *m = vg_xlate(va, size);
    if (!m)
        return fault(q, what, va);
    if (size == 8)
        __atomic_store_n((uint64_t *)m, value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)m, (uint32_t)value, __ATOMIC_RELEASE);
    return DONE;
}

/* Length of a command in dwords; 0: unknown command. */
static unsigned command_dwords(uint32_t head)
{
    switch (head & 0xff) {
    case OP_NOP:
        return 1 + (head >> 16 & 0x3fff);
    case OP_COPY:
        return (head >> 8 & 0xff) == COPY_LINEAR ? 7 : (head >> 8 & 0xff) == COPY_RECT ? 13 : 0;
    case OP_FENCE:
        return 4;
    case OP_TRAP:
        return 2;
    case OP_POLL:
        return 6;
    case OP_ATOMIC:
        return 8;
    case OP_FILL:
        return 5;
    case OP_TIMESTAMP:
        return (head >> 8 & 0xff) == TIMESTAMP_GET_GLOBAL ? 3 : 0;
    case OP_GCR:
        return 5;
    default:
        return 0;
    }
}

static enum step process_command(struct vg_queue *q, const uint32_t *p, uint64_t now)
{
    switch (p[0] & 0xff) {
    case OP_COPY:
        return (p[0] >> 8 & 0xff) == COPY_LINEAR ? copy_linear(q, p) : copy_rect(q, p);
    case OP_FILL:
        return sdma_fill(q, p);
    case OP_FENCE:
        return store(q, "fence", addr(p + 1), p[3], 4);
    case OP_TIMESTAMP:
        return store(q, "timestamp", addr(p + 1), q->cp, 8);
    case OP_ATOMIC:
        return sdma_atomic(q, p);
    case OP_POLL:
        return poll_memory(q, p, now);
    case OP_TRAP:
        vg_event_set(p[1] & 0xfffffff);
        return DONE;
    default: /* NOP, GCR: the model has no caches */
        return DONE;
    }
}

bool vg_sdma_step(struct vg_queue *q, uint64_t now, uint64_t *due)
{
    uint64_t bell = __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE), first = q->rd;
    bool busy = false;
    if (bell != q->last_doorbell) {
        q->last_doorbell = bell;
        q->limit = __atomic_load_n(q->wptr, __ATOMIC_ACQUIRE);
        now = vg_ns_to_ticks(vg_clock_ns()); /* work starts no earlier than it arrived */
        if (q->cp < now && q->rd == q->seen)
            q->arrival = now;
        busy = true;
    }
    while (q->rd < q->limit) {
        if (q->cp < q->arrival)
            q->cp = q->arrival;
        if (q->cp > now) { /* the previous copy is still in flight */
            if (q->cp < *due)
                *due = q->cp;
            break;
        }
        uint32_t p[13];
        unsigned at = (unsigned)(q->rd & (q->ring_size - 1)) / 4, words = (unsigned)q->ring_size / 4;
        memcpy(p, q->ring + at * 4ull, 4);
        unsigned len = command_dwords(p[0]);
        if (!len || q->rd + len * 4ull > q->limit) {
            vg_log("gpu %d SDMA queue %u offset %llu: %s SDMA op %u sub-op %u (header 0x%08x)", q->gpu, q->id,
                   (unsigned long long)q->rd, len ? "incomplete" : "unknown", p[0] & 0xff, p[0] >> 8 & 0xff, p[0]);
            q->halted = true;
            return true;
        }
        for (unsigned i = 1; i < len && i < sizeof p / sizeof *p; i++)
            memcpy(&p[i], q->ring + (at + i) % words * 4ull, 4);
        q->copy_start = q->cp;
        enum step s = process_command(q, p, now);
        if (s == STOPPED)
            return true;
        if (s == WAITS)
            vg_engine_recheck = true;
        if (s == MORE)
            busy = true; /* serve other queues before the next slice */
        if (s != DONE)
            break;
        q->rd += len * 4ull;
    }
    q->seen = q->limit;
    if (q->rd != first) {
        __atomic_store_n(q->rptr, q->rd, __ATOMIC_RELEASE);
        busy = true;
    }
    return busy;
}
