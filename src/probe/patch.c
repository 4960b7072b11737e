/*
 * Patches kernels. See patch.h.
 *
 * The patch follows the code from its entry, both ways at each branch, so it never reads what is no code (padding,
 * other functions). Nothing moves: each replaced instruction (s_endpgm, s_getpc_b64, timed waits) becomes a branch of
 * the same length to a stub behind the copy. So all branches and all other words stay as they are.
 */
#include "probe/patch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code_object.h"
#include "probe/gcn_decode.h"

enum {
    REACH = 32767,   /* words that a branch reaches */
    ENTRY_ROOM = 64, /* words: code begins at a multiple of 256 bytes, as in the original */
    PRELOADED = 64,  /* words: the second entry, for waves with preloaded arguments */
    PADDING = 256,   /* words of s_nop behind the last instruction, for instruction prefetch: as many as LLVM writes */
    S_NOP = (int)0xbf800000,
    UNSEEN = 0,
    BEGINS = 1,
    CONTINUES = 2,
    /* scalar registers: allocated by 16, of which 6 are for vcc, flat_scratch and xnack_mask; 800 on each SIMD */
    SGPR_GRANULE = 16,
    SGPR_EXTRA = 6,
    SGPR_MOST = 112,
    SGPR_FILE = 800
};

static_assert(PRELOADED == ENTRY_ROOM && (int)ENTRY_ROOM >= (int)RTL_STUB_ENTRY_WORDS_MAX,
              "stubs lie where code is begun");

/* descriptor bits that a probe supports or that don't affect it */
enum { KNOWN_PROPERTIES = 0x7f | 1 << 11, WAVE32 = 1 << 10 };
static const uint32_t known_rsrc1 = 0x3ffu | 0xffu << 12 | 1u << 21 | 1u << 23 | 1u << 26;
static const uint32_t known_rsrc2 = 0x1fffu & ~(1u << 6);
static const uint32_t known_rsrc2_exceptions = 0x7fu << 24;

struct patch_work {
    const struct rtl_probe_order *order;
    struct rtl_probe_patch *patch;
    struct rtl_kernel_descriptor descriptor;
    bool one_file;  /* vector and accumulation registers share one file: gfx90a and gfx942 */
    bool dies;      /* each die writes numbers of its own: gfx942 */
    uint32_t room;  /* words before the copy: one stub for each entry */
    uint64_t entry; /* address in the code object */
    uint64_t delta; /* difference to the load address; 0 if not known */
    const uint8_t *code;
    uint32_t words;    /* words from the entry on; no more than a branch reaches */
    bool cut;          /* there are more words */
    uint8_t *mark;     /* a byte for each word */
    uint32_t *pending; /* branch targets */
    uint32_t pending_count;
    uint32_t length; /* words up to the end of reachable code */
    unsigned sgprs;  /* one more than the highest register in use */
    bool calls;      /* calls functions, whose registers are not known */
    uint32_t *text;
    uint32_t text_words;
};

static uint32_t word_at(const struct patch_work *w, uint32_t i)
{
    uint32_t word;
    memcpy(&word, w->code + (size_t)i * 4, 4);
    return word;
}

static enum rtl_probe_refusal refuse_at(struct patch_work *w, uint32_t i, enum rtl_probe_refusal why)
{
    w->patch->at = (uint64_t)i * 4;
    w->patch->word = i < w->words ? word_at(w, i) : 0;
    return why;
}

/* --- the descriptor --- */

static unsigned filled_sgprs(const struct rtl_kernel_descriptor *d)
{
    unsigned n = d->rsrc2 >> 1 & 31;
    return n + (d->rsrc2 >> 7 & 1) + (d->rsrc2 >> 8 & 1) + (d->rsrc2 >> 9 & 1) + (d->rsrc2 >> 10 & 1) + (d->rsrc2 & 1);
}

static enum rtl_probe_refusal check_descriptor(const struct patch_work *w)
{
    const struct rtl_kernel_descriptor *d = &w->descriptor;
    uint32_t known_rsrc3 = w->one_file ? 0x3fu | 1u << 16 : 0;
    if (d->properties & WAVE32)
        return RTL_PROBE_WAVE32;
    if (d->preload && !w->one_file) /* gfx906 can't preload arguments */
        return RTL_PROBE_DESCRIPTOR;
    if (d->properties & ~KNOWN_PROPERTIES || d->rsrc1 & ~known_rsrc1 ||
        d->rsrc2 & ~(known_rsrc2 | known_rsrc2_exceptions) || d->rsrc3 & ~known_rsrc3 || d->reserved0 || d->reserved2)
        return RTL_PROBE_DESCRIPTOR;
    for (size_t i = 0; i < sizeof d->reserved1 / sizeof *d->reserved1; i++)
        if (d->reserved1[i])
            return RTL_PROBE_DESCRIPTOR;
    return RTL_PROBE_NONE;
}

static unsigned allocated_sgprs(const struct rtl_kernel_descriptor *d)
{
    return ((d->rsrc1 >> 6 & 15) / 2 + 1) * SGPR_GRANULE;
}

/* Return how many waves fit on a SIMD by their registers. */
static unsigned waves_that_fit(const struct patch_work *w, unsigned sgprs)
{
    unsigned most = w->one_file ? 8 : 10, vgprs = ((w->descriptor.rsrc1 & 63) + 1) * (w->one_file ? 8 : 4);
    unsigned by_vgprs = (w->one_file ? 512 : 256) / vgprs, by_sgprs = SGPR_FILE / sgprs;
    most = by_vgprs < most ? by_vgprs : most;
    return by_sgprs < most ? by_sgprs : most;
}

/* Compute the registers for timing so many waits. */
static enum rtl_probe_refusal fit_registers(struct patch_work *w, unsigned low, unsigned given, unsigned waits)
{
    struct rtl_probe_patch *p = w->patch;
    unsigned kept = rtl_stub_kept(waits);
    unsigned need = (low + kept + SGPR_EXTRA + SGPR_GRANULE - 1) / SGPR_GRANULE * SGPR_GRANULE;
    p->kept = low;
    p->sgprs_before = given;
    p->sgprs_after = need < given ? given : need;
    if (low + kept > RTL_GCN_SGPRS || p->sgprs_after > SGPR_MOST)
        return RTL_PROBE_REGISTERS;
    return waves_that_fit(w, p->sgprs_after) < waves_that_fit(w, given) ? RTL_PROBE_OCCUPANCY : RTL_PROBE_NONE;
}

/* Choose the registers for the clock, and how many waits to time. */
static enum rtl_probe_refusal choose_registers(struct patch_work *w)
{
    struct rtl_probe_patch *p = w->patch;
    unsigned given = allocated_sgprs(&w->descriptor), filled = filled_sgprs(&w->descriptor), low = w->sgprs;
    low = low < filled ? filled : low;
    low = low < RTL_STUB_SCRATCH ? RTL_STUB_SCRATCH : low;
    if (w->calls || low > given) /* called functions may use all allocated registers, and no code can use more */
        low = given;
    low = (low + 1) / 2 * 2;
    unsigned timed = w->order->waits ? p->waits : 0;
    timed = timed < RTL_STUB_WAITS_MAX ? timed : RTL_STUB_WAITS_MAX;
    enum rtl_probe_refusal why = fit_registers(w, low, given, timed);
    while (why && timed > 1)
        why = fit_registers(w, low, given, --timed);
    if (why)
        return why;
    if (timed) { /* the same number each round, or one less */
        p->rounds = (p->waits + timed - 1) / timed;
        if (w->order->round >= p->rounds)
            return RTL_PROBE_NO_WAIT;
        p->timed = (p->waits - w->order->round + p->rounds - 1) / p->rounds;
        fit_registers(w, low, given, p->timed);
    }
    w->descriptor.rsrc1 &= ~(15u << 6);
    w->descriptor.rsrc1 |= (p->sgprs_after / SGPR_GRANULE - 1) * 2 << 6;
    return RTL_PROBE_NONE;
}

/* --- following the code --- */

/* Why a copy can't have an instruction of that kind; NONE: it can. */
static const enum rtl_probe_refusal refusal_of[] = {
    [RTL_GCN_UNKNOWN] = RTL_PROBE_INSTRUCTION, [RTL_GCN_OTHER_END] = RTL_PROBE_ENDING,
    [RTL_GCN_JUMP] = RTL_PROBE_JUMP,           [RTL_GCN_CALL_NEAR] = RTL_PROBE_CALL,
    [RTL_GCN_FORK] = RTL_PROBE_FORK,           [RTL_GCN_RETURN] = RTL_PROBE_PRIVILEGED,
    [RTL_GCN_SKIP_MODE] = RTL_PROBE_MODE,      [RTL_GCN_WAIT] = RTL_PROBE_NONE,
};

/* Decode an instruction seen for the first time and mark all its words. */
static enum rtl_probe_refusal take_instruction(struct patch_work *w, uint32_t i, struct rtl_gcn_instruction *look)
{
    *look = (struct rtl_gcn_instruction){.words = 1};
    if (i >= w->words)
        return refuse_at(w, i, w->cut ? RTL_PROBE_TOO_LARGE : RTL_PROBE_LEAVES);
    uint32_t words[RTL_GCN_WORDS_MAX] = {word_at(w, i), i + 1 < w->words ? word_at(w, i + 1) : 0};
    *look = rtl_gcn_decode(words, i + 1 < w->words);
    enum rtl_probe_refusal why = refusal_of[look->kind];
    if (why)
        return refuse_at(w, i, why);
    if (look->words > w->words - i)
        return refuse_at(w, i, w->cut ? RTL_PROBE_TOO_LARGE : RTL_PROBE_LEAVES);
    w->mark[i] = BEGINS;
    for (uint32_t k = 1; k < look->words; k++) {
        if (w->mark[i + k] == BEGINS)
            return refuse_at(w, i + k, RTL_PROBE_MIDDLE);
        w->mark[i + k] = CONTINUES;
    }
    if (look->sgprs > w->sgprs)
        w->sgprs = look->sgprs;
    w->calls |= look->kind == RTL_GCN_CALL_FAR;
    if (i + look->words > w->length)
        w->length = i + look->words;
    w->patch->instructions++;
    w->patch->ends += look->kind == RTL_GCN_END;
    w->patch->pcs += look->kind == RTL_GCN_READ_PC;
    w->patch->waits += look->kind == RTL_GCN_WAIT;
    return RTL_PROBE_NONE;
}

/* Follow the code from its entries. With preloaded arguments there are two: waves with them begin at the second;
 * hardware that can't preload begins at the first, which loads them. */
static enum rtl_probe_refusal follow(struct patch_work *w)
{
    w->pending[w->pending_count++] = 0;
    if (w->descriptor.preload)
        w->pending[w->pending_count++] = PRELOADED;
    while (w->pending_count) {
        uint32_t i = w->pending[--w->pending_count];
        for (;;) {
            struct rtl_gcn_instruction look;
            if (i < w->words && w->mark[i] == CONTINUES)
                return refuse_at(w, i, RTL_PROBE_MIDDLE);
            if (i < w->words && w->mark[i] == BEGINS)
                break;
            enum rtl_probe_refusal why = take_instruction(w, i, &look);
            if (why)
                return why;
            i += look.words;
            if (look.kind == RTL_GCN_END || (i == w->words && !w->cut && look.kind == RTL_GCN_CALL_FAR))
                break; /* the function called last doesn't return: it stops the program */
            if (look.kind != RTL_GCN_BRANCH && look.kind != RTL_GCN_MAY_BRANCH)
                continue;
            int64_t to = (int64_t)i + look.distance;
            if (to < 0)
                return refuse_at(w, i - 1, RTL_PROBE_BEFORE);
            if (look.kind == RTL_GCN_BRANCH)
                i = (uint32_t)to;
            else
                w->pending[w->pending_count++] = (uint32_t)to;
        }
    }
    if (!w->patch->ends)
        return refuse_at(w, 0, RTL_PROBE_NO_END);
    return w->order->waits && !w->patch->waits ? refuse_at(w, 0, RTL_PROBE_NO_WAIT) : RTL_PROBE_NONE;
}

/* --- the copy --- */

/* Return the begin of up to three instructions directly before this one. */
static uint32_t find_lines_before(const struct patch_work *w, uint32_t i)
{
    enum { SHOWN = 3 };
    uint32_t first = i;
    for (int n = 0; n < SHOWN && first && w->mark[first - 1] != UNSEEN; n++)
        do
            first--;
        while (first && w->mark[first] == CONTINUES);
    return first;
}

static enum rtl_probe_refusal write_copy_text(struct patch_work *w)
{
    const struct rtl_probe_order *o = w->order;
    struct rtl_probe_patch *p = w->patch;
    const uint32_t timed = p->timed, line = RTL_STUB_WAIT_WORDS, exit_at = w->room + w->length;
    const uint32_t pcs_at = exit_at + rtl_stub_exit_words(timed), pcs_words = p->pcs * RTL_STUB_PC_WORDS;
    const uint32_t waits_at = (pcs_at + pcs_words + line - 1) / line * line;
    if (w->patch->pcs && !o->object)
        return RTL_PROBE_PLACE;
    /* all stubs lie behind the copy; all branches to and from them are within it */
    if (waits_at + timed * line - w->room > REACH)
        return RTL_PROBE_TOO_LARGE;
    w->text_words = waits_at + timed * line + PADDING;
    w->text = malloc((size_t)w->text_words * 4);
    if (!w->text)
        return RTL_PROBE_MEMORY;
    for (uint32_t i = 0; i < w->text_words; i++)
        w->text[i] = (uint32_t)S_NOP;
    for (uint32_t at = 0; at < w->room;
         at += ENTRY_ROOM) /* the second entry lies at the same distance in the original */
        rtl_stub_entry(w->text + at, at, w->room + at, p->kept, timed);
    memcpy(w->text + w->room, w->code, (size_t)w->length * 4);
    const struct rtl_stub_place place = {.block = o->block, .gaps = o->gaps && !timed, .dies = w->dies};
    rtl_stub_exit(w->text + exit_at, &place, p->kept, timed, o->ends_shift);
    for (uint32_t i = 0, pc = pcs_at, waits = 0, stub = 0; i < w->length; i++) {
        uint32_t word = word_at(w, i), at = w->room + i;
        if (w->mark[i] != BEGINS)
            continue;
        struct rtl_gcn_instruction look = rtl_gcn_decode(&word, false);
        if (look.kind == RTL_GCN_END) {
            w->text[at] = rtl_stub_branch(at, exit_at);
        } else if (look.kind == RTL_GCN_READ_PC) {
            uint64_t behind = w->entry + w->delta + (uint64_t)(i + 1) * 4;
            w->text[at] = rtl_stub_branch(at, pc);
            rtl_stub_pc(w->text + pc, pc, at + 1, look.destination, behind);
            pc += RTL_STUB_PC_WORDS;
        } else if (timed && look.kind == RTL_GCN_WAIT && waits++ % p->rounds == o->round) {
            const uint32_t here = waits_at + stub * line;
            w->text[at] = rtl_stub_branch(at, here);
            rtl_stub_wait(w->text + here, here, at + 1, word, p->kept, stub);
            p->wait[stub++] = (struct rtl_probe_wait){i * 4, word, find_lines_before(w, i) * 4};
        }
    }
    return RTL_PROBE_NONE;
}

static enum rtl_probe_refusal find_code(struct patch_work *w, struct rtl_code_object *code)
{
    const struct rtl_probe_order *o = w->order;
    const uint8_t *bytes;
    uint64_t address;
    enum rtl_probe_refusal why = rtl_code_open(code, o->code, o->bytes);
    if (why)
        return why;
    const uint32_t machine = code->flags & RTL_CODE_MACHINE;
    w->dies = machine == RTL_CODE_GFX942;
    w->one_file = machine == RTL_CODE_GFX90A || w->dies;
    if (!w->one_file && machine != RTL_CODE_GFX906)
        return RTL_PROBE_TARGET;
    if (o->block % 8 || !o->block || o->ends_shift > RTL_STUB_ENDS_SHIFT_MAX)
        return RTL_PROBE_BLOCK;
    if (w->dies && !o->dies)
        return RTL_PROBE_OLD_LIBRARY;
    if (!rtl_code_find_kernel(code, o->kernel, &address))
        return RTL_PROBE_NO_KERNEL;
    if (rtl_code_at(code, address, false, &bytes) < sizeof w->descriptor)
        return RTL_PROBE_DAMAGED;
    memcpy(&w->descriptor, bytes, sizeof w->descriptor);
    w->room = w->descriptor.preload ? 2 * ENTRY_ROOM : ENTRY_ROOM;
    w->delta = o->object ? o->object - address : 0;
    w->entry = address + (uint64_t)w->descriptor.entry;
    if (w->entry % 256)
        return RTL_PROBE_DAMAGED;
    size_t there = rtl_code_at(code, w->entry, true, &w->code) / 4;
    uint64_t function = rtl_code_function_bytes(code, w->entry) / 4;
    if (function && function < there)
        there = (size_t)function;
    w->words = there > REACH ? REACH : (uint32_t)there;
    w->cut = there > REACH;
    return check_descriptor(w);
}

static enum rtl_probe_refusal patch_kernel(struct patch_work *w)
{
    struct rtl_code_object code;
    enum rtl_probe_refusal why = find_code(w, &code);
    if (why)
        return why;
    w->mark = calloc((size_t)w->words + 1, 1);
    w->pending =
        malloc(((size_t)w->words + 2) * sizeof *w->pending); /* at most one for each instruction, plus the entries */
    if (!w->mark || !w->pending)
        return RTL_PROBE_MEMORY;
    if ((why = follow(w)) || (why = choose_registers(w)) || (why = write_copy_text(w)))
        return why;
    struct rtl_code_draft draft = {.flags = code.flags,
                                   .abi_version = code.abi_version,
                                   .kernel = w->order->kernel,
                                   .descriptor = w->descriptor,
                                   .text = w->text,
                                   .text_bytes = (size_t)w->text_words * 4};
    w->patch->code = rtl_code_write(&draft, &w->patch->bytes);
    return w->patch->code ? RTL_PROBE_NONE : RTL_PROBE_MEMORY;
}

enum rtl_probe_refusal rtl_probe_patch(const struct rtl_probe_order *order, struct rtl_probe_patch *patch)
{
    struct patch_work w = {.order = order, .patch = patch};
    *patch = (struct rtl_probe_patch){0};
    enum rtl_probe_refusal why = patch_kernel(&w);
    free(w.mark);
    free(w.pending);
    free(w.text);
    return why;
}

void rtl_probe_patch_free(struct rtl_probe_patch *patch)
{
    free(patch->code);
    patch->code = NULL;
}

const char *rtl_probe_refusal_text(enum rtl_probe_refusal refusal)
{
    static const char *const texts[] = {
#define X(symbol, text) [RTL_PROBE_##symbol] = text,
        RTL_PROBE_REFUSALS(X)
#undef X
    };
    return refusal < RTL_PROBE_REFUSAL_COUNT ? texts[refusal] : "nobody knows why";
}
