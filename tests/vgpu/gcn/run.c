/*
 * run.c - runs workgroups: the loop over a wave's instructions, barriers, and the threads that share the workgroups.
 *
 * A workgroup belongs to one thread, which runs its waves in turn. A wave's turn lasts until it ends, waits at a
 * barrier, sleeps or has used its share. Workgroups begin in the order of their numbers. A long one may wait for a
 * later one: the thread then suspends it and begins another on a worker of its own, up to the number of waves that a
 * GPU has room for.
 */
#include "wave.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE_WORDS = 1024, CODE_PAGES = 256, CODE_SLOTS = 1024, THREADS_MAX = 64 };
/* Numbers of instructions: a wave's turn, and a workgroup's turn before it is suspended; each with one workgroup alive
 * and with several. A round in which all waves only poll counts as more. */
enum { SHARE = 100000, SHARE_OF_MANY = 10000, PATIENCE = 5000000, PATIENCE_OF_MANY = 20000 };
enum { LOOKING = 64, LOOKS = 1000, ALIVE_WAVES = 2048, IDLE_TURNS = 1000 };

/* ---- decoded code: each instruction is decoded once, and again when its code has changed ---- */

struct slot {
    struct gcn_inst in;
    gcn_execute *execute;
};

struct page {
    uint64_t va; /* valid for its first word */
    struct slot *slots;
};

struct gcn_code {
    enum gcn_target target;
    unsigned used;
    struct page pages[CODE_SLOTS];
};

static void forget_code(struct gcn_code *c)
{
    for (unsigned i = 0; i < CODE_SLOTS; i++)
        free(c->pages[i].slots);
    memset(c->pages, 0, sizeof c->pages);
    c->used = 0;
}

static gcn_execute *find_execute(enum gcn_op op)
{
    static gcn_execute *(*const files[])(enum gcn_op) = {
        gcn_scalar_execute,  gcn_memory_execute, gcn_buffer_execute, gcn_lds_execute,    gcn_vector_execute,
        gcn_compare_execute, gcn_packed_execute, gcn_lanes_execute,  gcn_matrix_execute, gcn_grid_execute};
    gcn_execute *f = NULL;
#ifdef __x86_64__
    static gcn_execute *(*const quick[])(enum gcn_op) = {gcn_memory_execute_avx2, gcn_lds_execute_avx2,
                                                         gcn_vector_execute_avx2, gcn_compare_execute_avx2,
                                                         gcn_packed_execute_avx2, gcn_lanes_execute_avx2};
    bool can = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    for (size_t i = 0; can && i < sizeof quick / sizeof *quick && !f; i++)
        f = quick[i](op);
#endif
    for (size_t i = 0; i < sizeof files / sizeof *files && !f; i++)
        f = files[i](op);
    return f;
}

static struct slot *slots_of(struct gcn_code *c, uint64_t va)
{
    va &= ~(uint64_t)(PAGE_WORDS * 4 - 1);
    unsigned i = (unsigned)(va / (PAGE_WORDS * 4)) % CODE_SLOTS;
    while (c->pages[i].slots && c->pages[i].va != va)
        i = (i + 1) % CODE_SLOTS;
    if (!c->pages[i].slots) {
        if (c->used == CODE_PAGES) {
            forget_code(c);
            return slots_of(c, va);
        }
        c->pages[i].slots = calloc(PAGE_WORDS, sizeof *c->pages[i].slots);
        c->pages[i].va = va;
        c->used++;
    }
    return c->pages[i].slots;
}

/* The page of code that a wave executes: its host address and its length. */
struct place {
    uint64_t va;
    uint32_t bytes;
    const char *host;
    struct slot *slots;
};

/* false: unmapped, or out of memory. */
static bool enter_page(struct gcn_wave *w, uint64_t pc, struct place *p)
{
    uint64_t va = pc & ~(uint64_t)(PAGE_WORDS * 4 - 1);
    struct gcn_span span;
    /* Memory consists of pages, so this page is complete or ends where the memory ends. */
    if (pc & 3 || !w->worker->launch->find(pc, &span)) {
        gcn_reach(w, pc & 3 ? UINT64_MAX : pc, 4);
        return false;
    }
    if (va < span.va)
        va = span.va;
    uint64_t bytes = span.bytes - (va - span.va), whole = PAGE_WORDS * 4 - va % (PAGE_WORDS * 4);
    p->va = va;
    p->host = span.host + (va - span.va);
    p->bytes = (uint32_t)(bytes < whole ? bytes : whole);
    p->slots = slots_of(w->worker->code, va);
    if (p->slots)
        p->slots += va / 4 % PAGE_WORDS;
    return p->slots;
}

static struct slot *decode_slot(struct gcn_wave *w, uint64_t pc, struct slot *s)
{
    struct gcn_worker *k = w->worker;
    uint32_t words[3];
    unsigned n = 3;
    /* Code may end with its allocation. */
    struct gcn_span span;
    while (n && !(k->launch->find(pc, &span) && span.bytes - (pc - span.va) >= n * 4))
        n--;
    if (n)
        memcpy(words, span.host + (pc - span.va), n * 4);
    if (!gcn_decode(k->launch->target, words, n, &s->in)) {
        s->in.bytes = 0;
        gcn_reach(w, pc + n * 4, 4);
        return NULL;
    }
    s->execute = find_execute(s->in.op);
    return s;
}

/* The instruction at pc; NULL: unmapped, or out of memory. */
static inline struct slot *fetch_inst(struct gcn_wave *w, uint64_t pc, struct place *p)
{
    if ((pc - p->va >= p->bytes || pc & 3) && !enter_page(w, pc, p))
        return NULL;
    uint32_t at = (uint32_t)(pc - p->va), word[2] = {0, 0};
    struct slot *s = &p->slots[at / 4];
    /* The code may have been replaced since it was decoded. */
    if (s->in.bytes && at + 8 <= p->bytes) {
        memcpy(word, p->host + at, 8);
        if (word[0] == s->in.raw[0] && (s->in.bytes == 4 || word[1] == s->in.raw[1]))
            return s;
    }
    return decode_slot(w, pc, s);
}

/* s_set_gpr_idx_on: m0 has an offset for vector register numbers and bits that select the operands. */
static void indexed(struct gcn_wave *w, const struct slot *s)
{
    struct gcn_inst in = s->in;
    uint32_t m0 = w->s[GCN_M0], by = m0 & 0xff, on = m0 >> 12;
    for (unsigned n = 0; n < 3; n++)
        if (on >> n & 1 && in.src[n] != GCN_NO_OPERAND && in.src[n] >= GCN_VGPR && in.src[n] + by < GCN_VGPR + 512)
            in.src[n] = (uint16_t)(in.src[n] + by);
    if (on & 8 && in.dst != GCN_NO_OPERAND && in.dst + by < GCN_VGPR + 512)
        in.dst = (uint16_t)(in.dst + by);
    s->execute(w, &in);
}

static bool is_vector(const struct gcn_inst *in)
{
    return in->format >= GCN_VOP2 && in->format <= GCN_VOP3P;
}

/* Run the wave until it ends, has to wait, or has used its share. */
static void run_wave(struct gcn_wave *w)
{
    struct gcn_worker *k = w->worker;
    w->state = GCN_RUNS;
    const uint64_t begun = w->instructions, share = begun + k->share;
    struct place place = {0};
    while (w->instructions < share && w->state == GCN_RUNS && k->end == GCN_DONE) {
        w->at = w->pc;
        struct slot *s = fetch_inst(w, w->pc, &place);
        if (!s)
            break;
        w->pc += s->in.bytes;
        w->instructions++;
        if (!s->execute) {
            gcn_not_modelled(w, &s->in, s->in.op == GCN_UNKNOWN ? "no instruction of this GPU" : gcn_op_name(s->in.op));
        } else if (w->index_on && is_vector(&s->in)) {
            indexed(w, s);
        } else {
            s->execute(w, &s->in);
        }
        if (k->launch->waits)
            gcn_wait(w, &s->in);
    }
    k->report.instructions += w->instructions - begun;
    struct gcn_account *a = k->launch->account;
    if (a && w->state == GCN_ENDED) {
        a->waves[gcn_unit(w)]++;
        a->cycles[gcn_unit(w)] += w->instructions * GCN_CYCLES + w->waited;
    }
}

/* ---- workgroups ---- */

static void reset_worker(struct gcn_worker *k, const struct gcn_launch *launch)
{
    k->launch = launch;
    k->end = GCN_DONE;
    k->alive = false;
    k->turns = 0;
    k->idle_at = 0;
    memset(k->spans, 0, sizeof k->spans);
    memset(&k->report, 0, sizeof k->report);
}

static bool prepare_waves(struct gcn_worker *k, unsigned waves)
{
    const struct gcn_launch *g = k->launch;
    k->count = waves;
    k->lds_bytes = g->lds_bytes < GCN_LDS_MAX ? g->lds_bytes : GCN_LDS_MAX;
    k->scratch_bytes = (((uint64_t)g->private_bytes + 3) & ~3ull) * GCN_LANES;
    for (unsigned i = 0; i < waves; i++)
        if (!k->waves[i] && !(k->waves[i] = calloc(1, sizeof *k->waves[i])))
            return false;
    if (!k->code && !(k->code = calloc(1, sizeof *k->code)))
        return false;
    if (k->code->target != g->target)
        forget_code(k->code);
    k->code->target = g->target;
    uint64_t need = k->scratch_bytes * waves;
    if (need > k->scratch_room) {
        free(k->scratch);
        k->scratch = malloc(need);
        k->scratch_room = k->scratch ? need : 0;
    }
    return need <= k->scratch_room;
}

static void begin_group(struct gcn_worker *k, const struct gcn_descriptor *d, const uint32_t id[3], uint64_t number)
{
    memset(k->lds, 0, k->lds_bytes);
    for (unsigned i = 0; i < k->count; i++) {
        struct gcn_wave *w = k->waves[i];
        w->worker = k;
        w->scratch = k->scratch ? k->scratch + k->scratch_bytes * i : NULL;
        gcn_begin_wave(w, d, id, i * GCN_LANES);
    }
    gcn_slots_occupy(k->launch, number, k->waves, k->count);
    k->report.waves += k->count;
    k->alive = true;
}

/* Run each wave once; false: the workgroup has ended or must end. */
static bool run_round(struct gcn_worker *k)
{
    unsigned waiting = 0, left = 0;
    for (unsigned i = 0; i < k->count && k->end == GCN_DONE; i++) {
        struct gcn_wave *w = k->waves[i];
        if (w->state == GCN_RUNS || w->state == GCN_YIELDS || w->state == GCN_AT_GRID)
            run_wave(w);
        waiting += w->state == GCN_AT_BARRIER;
        left += w->state != GCN_ENDED;
    }
    /* Ended waves do not hold up the others at a barrier. */
    for (unsigned i = 0; i < k->count && waiting == left; i++)
        if (k->waves[i]->state == GCN_AT_BARRIER)
            k->waves[i]->state = GCN_RUNS;
    return left && k->end == GCN_DONE;
}

/* ---- threads ---- */

/* All of this belongs to the one running dispatch; under `lock`, except `next`, which the threads count up. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t round_begin = PTHREAD_COND_INITIALIZER, round_done = PTHREAD_COND_INITIALIZER;
static struct gcn_worker *workers[THREADS_MAX];
static unsigned threads, wanted, busy, threads_now;
static uint64_t round_number;
static _Atomic uint64_t next;
static _Atomic bool stopped;
static uint64_t groups[3], total;
static struct gcn_descriptor descriptor;

/* Run a workgroup's turn; false: it has ended or must end. *moved: a wave did more than poll. *sleeps: not all waves
 * are at barriers. */
static bool run_turn(struct gcn_worker *k, bool many, bool *moved, bool *sleeps)
{
    k->share = many ? SHARE_OF_MANY : SHARE;
    for (uint64_t spent = 0, limit = many ? PATIENCE_OF_MANY : PATIENCE; spent < limit;) {
        uint64_t before = k->report.instructions;
        if (!run_round(k))
            return false;
        uint64_t ran = k->report.instructions - before;
        spent += ran < LOOKING * k->count ? LOOKS + ran : ran;
        *moved |= ran >= LOOKING * k->count;
        bool runs = false;
        for (unsigned i = 0; i < k->count; i++)
            runs |= k->waves[i]->state == GCN_RUNS || k->waves[i]->state == GCN_YIELDS;
        if (!runs)
            return true; /* the others must first reach the barrier */
    }
    *sleeps = true;
    return true;
}

/* Another worker behind k; NULL: the limit is reached, or out of memory. */
static struct gcn_worker *another(struct gcn_worker *k, unsigned alive)
{
    if ((alive + 1) * k->count * threads_now > ALIVE_WAVES)
        return NULL;
    struct gcn_worker *g = k->more;
    if (!g && !(g = calloc(1, sizeof *g)))
        return NULL;
    k->more = g;
    reset_worker(g, k->launch);
    g->code = k->code;
    return prepare_waves(g, k->count) ? g : NULL;
}

/* True if no thread has work: nothing has moved since `moves`. */
static bool all_idle(uint64_t moves)
{
    for (unsigned i = 0; i < threads_now; i++)
        if (workers[i]->idle_at < moves)
            return false;
    return true;
}

static bool begin_next_group(struct gcn_worker *k)
{
    uint64_t n;
    if (stopped || (n = next++) >= total)
        return false;
    begin_group(k, &descriptor,
                (uint32_t[]){(uint32_t)(n % groups[0]), (uint32_t)(n / groups[0] % groups[1]),
                             (uint32_t)(n / groups[0] / groups[1])},
                n);
    return true;
}

/* Run all workgroups that this thread can get; the live ones in turn, usually just one. */
static void run_groups(struct gcn_worker *first)
{
    unsigned workers_here = 1, alive = 0, idle = 0;
    uint64_t seen = gcn_moves;
    struct gcn_worker *last = first;
    do {
        bool moved = false, sleeps = false;
        for (struct gcn_worker *k = first;; k = k->more) {
            while (k->alive || begin_next_group(k)) {
                alive += !k->turns++;
                if (run_turn(k, last != first, &moved, &sleeps))
                    break;
                gcn_slots_release(k->waves, k->count);
                k->alive = false;
                k->turns = 0;
                alive--;
                moved = true;
                if (k->end != GCN_DONE)
                    stopped = true;
            }
            if (k == last)
                break;
        }
        struct gcn_worker *g = alive == workers_here && next < total ? another(last, alive) : NULL;
        if (g) {
            last = g;
            workers_here++;
            moved = true;
        }
        gcn_moves += moved;
        idle = seen == gcn_moves ? idle + 1 : 0;
        seen = gcn_moves;
        first->idle_at = idle < IDLE_TURNS ? 0 : seen;
        if (first->idle_at && all_idle(seen) && (next < total || !sleeps)) {
            first->end = GCN_NOT_MODELLED;
            first->report.pc = first->waves[0]->at;
            snprintf(first->report.what, sizeof first->report.what,
                     next < total ? "workgroups that wait for more than are alive at once (%u waves)"
                                  : "a barrier of the grid that not all come to (at most %u waves)",
                     (unsigned)ALIVE_WAVES);
            stopped = true;
        }
    } while (alive && !stopped);
    first->idle_at = UINT64_MAX;
    for (struct gcn_worker *k = first; k != last;) {
        k = k->more;
        uint64_t instructions = first->report.instructions + k->report.instructions,
                 waves = first->report.waves + k->report.waves;
        if (first->end == GCN_DONE && k->end != GCN_DONE) {
            first->end = k->end;
            first->report = k->report;
        }
        first->report.instructions = instructions;
        first->report.waves = waves;
    }
}

static void *thread_main(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (seen == round_number || me >= wanted)
            pthread_cond_wait(&round_begin, &lock);
        seen = round_number;
        pthread_mutex_unlock(&lock);
        run_groups(workers[me]);
        pthread_mutex_lock(&lock);
        if (--busy == 0)
            pthread_cond_signal(&round_done);
    }
    return NULL;
}

/* Start up to `want` threads; return how many there are. Worker 0 is the caller. */
static unsigned have_threads(unsigned want)
{
    sigset_t all, old;
    want = want > THREADS_MAX ? THREADS_MAX : want ? want : 1;
    for (unsigned i = 0; i < want; i++)
        if (!workers[i] && !(workers[i] = calloc(1, sizeof *workers[i])))
            return i;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (!threads)
        threads = 1;
    while (threads < want) {
        pthread_t t;
        if (pthread_create(&t, NULL, thread_main, (void *)(uintptr_t)threads))
            break;
        pthread_setname_np(t, "vgpu-waves");
        pthread_detach(t);
        threads++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return want < threads ? want : threads;
}

static enum gcn_end refuse_launch(struct gcn_report *report, const char *why)
{
    memset(report, 0, sizeof *report);
    strncpy(report->what, why, sizeof report->what - 1);
    return GCN_NOT_MODELLED;
}

enum gcn_end gcn_run(const struct gcn_launch *launch, struct gcn_report *report)
{
    uint64_t items = (uint64_t)launch->group[0] * launch->group[1] * launch->group[2];
    struct gcn_span span;
    memset(report, 0, sizeof *report);
    if (!launch->find(launch->object, &span) || span.bytes - (launch->object - span.va) < sizeof descriptor) {
        report->address = launch->object;
        return GCN_FAULT;
    }
    if (!items || items > GCN_WAVES_MAX * GCN_LANES)
        return refuse_launch(report, "a workgroup of no size or of more than 1024 work-items");
    memcpy(&descriptor, span.host + (launch->object - span.va), sizeof descriptor);
    total = 1;
    for (unsigned i = 0; i < 3; i++) {
        groups[i] = (launch->grid[i] + launch->group[i] - 1ull) / launch->group[i];
        total *= groups[i];
    }
    unsigned n = have_threads(total < launch->threads ? (unsigned)total : launch->threads);
    unsigned waves = (unsigned)((items + GCN_LANES - 1) / GCN_LANES);
    for (unsigned i = 0; i < n; i++) {
        reset_worker(workers[i], launch);
        if (!prepare_waves(workers[i], waves))
            n = i;
    }
    if (!n)
        return refuse_launch(report, "no memory for its waves");
    next = 0;
    stopped = false;
    gcn_slots_begin();
    threads_now = n;
    gcn_grid_begin();
    if (n > 1) {
        pthread_mutex_lock(&lock);
        wanted = n;
        busy = n - 1;
        round_number++;
        pthread_cond_broadcast(&round_begin);
        pthread_mutex_unlock(&lock);
    }
    run_groups(workers[0]);
    if (n > 1) {
        pthread_mutex_lock(&lock);
        while (busy)
            pthread_cond_wait(&round_done, &lock);
        wanted = 0;
        pthread_mutex_unlock(&lock);
    }
    enum gcn_end end = GCN_DONE;
    uint64_t instructions = 0, run = 0;
    for (unsigned i = 0; i < n; i++) {
        instructions += workers[i]->report.instructions;
        run += workers[i]->report.waves;
        if (workers[i]->end != GCN_DONE && end == GCN_DONE) {
            end = workers[i]->end;
            *report = workers[i]->report;
        }
    }
    report->instructions = instructions;
    report->waves = run;
    return end;
}

void gcn_reset_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&round_begin, NULL);
    pthread_cond_init(&round_done, NULL);
    gcn_slots_after_fork();
    gcn_grid_after_fork();
    threads = wanted = busy = 0;
    round_number = 0;
}
