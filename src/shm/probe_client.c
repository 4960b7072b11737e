/* Finds the probe page, writes requests to it, reads the state (probe_client.h). */
#include "shm/probe_client.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/file_data.h"
#include "shm/hash.h"
#include "shm/page_open.h"
#include "shm/proc_file.h"
#include "shm/process.h"

enum {
    TRIES = 64,       /* at compare-and-swap against other viewers, or against a hostile process */
    STATE_TRIES = 64, /* while the worker writes the state: a microsecond, if nothing holds it up */
};
_Static_assert(offsetof(struct rtl_probe_state, sequence) % 8 == 0 && sizeof(struct rtl_probe_state) % 8 == 0 &&
                   RTL_PROBE_STATE_FIRST % 8 == 0,
               "fetched by words");

static enum rtl_reader_status explain_no_probe(const struct rtl_reader *reader, char *why, size_t why_bytes)
{
    const struct rtl_header *h = &reader->header;
    if (h->minor < 7)
        return rtl_explain(RTL_READER_NO_PROBE, why, why_bytes,
                           "process %d (%s): its librtl.so (segment version %u.%u) loads no probes, which came with "
                           "%u.7",
                           (int)reader->pid, reader->comm, h->major, h->minor, RTL_SEGMENT_MAJOR);
    return rtl_explain(RTL_READER_NO_PROBE, why, why_bytes,
                       "process %d (%s) was not started with RTL_PROBE=1%s: it loads no probes", (int)reader->pid,
                       reader->comm, h->mode == RTL_MODE_OFF ? ", or in RTL_MODE=off" : "");
}

_Static_assert(offsetof(struct rtl_probe_page, magic) == offsetof(struct rtl_control, magic) &&
                   offsetof(struct rtl_probe_page, version) == offsetof(struct rtl_control, version) &&
                   offsetof(struct rtl_probe_page, pid) == offsetof(struct rtl_control, pid),
               "the page begins like the control page");
static const struct rtl_page_kind probe_page = {.magic = RTL_PROBE_MAGIC,
                                                .bytes = RTL_PROBE_PAGE_BYTES,
                                                .version = RTL_PROBE_VERSION,
                                                .missing = RTL_READER_NO_PROBE,
                                                .name = "probe page",
                                                .allows = "probe its kernels"};

bool rtl_probe_is_allowed(const struct rtl_reader *reader)
{
    return reader->view[RTL_SECTION_PROBE].capacity != 0;
}

bool rtl_probe_wants_setting(const struct rtl_reader *reader)
{
    return reader->header.minor >= 7 && !rtl_probe_is_allowed(reader) && reader->header.mode != RTL_MODE_OFF;
}

/* Read the key. The kernel permits this only if the viewer may trace the process. */
static bool read_key(pid_t pid, uint64_t at, struct rtl_hash_key *key)
{
    int memory = at <= INT64_MAX ? rtl_proc_open(pid, "mem", O_RDONLY) : -1;
    bool read = memory >= 0 && rtl_file_read(memory, key, sizeof *key, at);
    if (memory >= 0)
        close(memory);
    return read;
}

enum rtl_reader_status rtl_probe_open(const struct rtl_reader *reader, struct rtl_probe_link *link, char *why,
                                      size_t why_bytes)
{
    struct rtl_probe_state state;
    void *page;
    *link = (struct rtl_probe_link){.page = NULL};
    state.key_at = 0;
    if (!reader->pid ||
        !rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, 0, &state, offsetof(struct rtl_probe_state, sequence)) ||
        !state.page_inode)
        return explain_no_probe(reader, why, why_bytes);
    rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, offsetof(struct rtl_probe_state, key_at), &state.key_at,
                    sizeof state.key_at); /* an older library has none */
    enum rtl_reader_status status =
        rtl_page_map(reader, &probe_page, state.page_fd, state.page_inode, &page, why, why_bytes);
    link->page = page;
    if (status == RTL_READER_OK && state.key_at && !read_key(reader->pid, state.key_at, &link->key)) {
        rtl_probe_close(link);
        return rtl_explain(RTL_READER_PERMISSION, why, why_bytes,
                           "process %d (%s) may only be probed by a process that may trace it (ptrace), see "
                           "/proc/sys/kernel/yama/ptrace_scope: run rtl-top as root, or start the process with rtl-top "
                           "run --probe",
                           (int)reader->pid, reader->comm);
    }
    return status;
}

void rtl_probe_close(struct rtl_probe_link *link)
{
    if (link->page)
        munmap(link->page, RTL_PROBE_PAGE_BYTES);
    link->page = NULL;
}

/* Change the word: set a request and return its number, or without one count up the heartbeat. Bounded, whatever others
 * write; concurrent requests get different numbers. `taken_up`: the request that the library has carried out last,
 * whose number is never used; after a wipe of the page numbers go on from it. `follows`: the request that this one
 * continues; if the word has another one, nothing changes and the function returns 0. */
static uint16_t change_probe_word(struct rtl_probe_page *page, enum rtl_probe_ask what, uint16_t taken_up,
                                  uint16_t follows)
{
    struct rtl_probe_word now;
    uint64_t before = __atomic_load_n(&page->word, __ATOMIC_RELAXED);
    for (int i = 0; i < TRIES; i++) {
        now = (struct rtl_probe_word){.ask = RTL_PROBE_ASK_NOTHING, .number = taken_up};
        if (!rtl_probe_decode(before,
                              &now)) /* no viewer's word: choose a heartbeat that is probably not the last one */
            now.heartbeat = (uint16_t)(before * 31 + (uint64_t)getpid());
        if (follows && now.number != follows)
            return 0;
        now.heartbeat++;
        if (what != RTL_PROBE_ASK_NOTHING) {
            now.ask = (uint8_t)what;
            do
                now.number++;
            while (now.number == 0 || now.number == taken_up);
        }
        if (__atomic_compare_exchange_n(&page->word, &before, rtl_probe_encode(now), false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            break;
    }
    __atomic_store_n(&page->writer, (uint64_t)getpid(), __ATOMIC_RELAXED);
    return now.number;
}

void rtl_probe_heartbeat(struct rtl_probe_link *link)
{
    if (link->page)
        change_probe_word(link->page, RTL_PROBE_ASK_NOTHING, 0, 0);
}

uint64_t rtl_probe_word_now(const struct rtl_probe_link *link)
{
    return link->page ? __atomic_load_n(&link->page->word, __ATOMIC_RELAXED) : 0;
}

uint64_t rtl_probe_writer(const struct rtl_probe_link *link)
{
    return link->page ? __atomic_load_n(&link->page->writer, __ATOMIC_RELAXED) : 0;
}

static uint16_t write_request(const struct rtl_reader *reader, struct rtl_probe_link *link, enum rtl_probe_ask what,
                              uint16_t follows)
{
    struct rtl_probe_state state;
    uint64_t bits = 0;
    if (!link->page)
        return 0;
    /* read only the word with the number: one word is always consistent */
    if (rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, offsetof(struct rtl_probe_state, sequence), &bits, sizeof bits))
        memcpy((char *)&state + offsetof(struct rtl_probe_state, sequence), &bits, sizeof bits);
    else
        state.number = 0;
    return change_probe_word(link->page, what, state.number, follows);
}

/* Return how many requests the library has accepted; 0 with an older library. */
static uint64_t accepted_requests(const struct rtl_reader *reader)
{
    uint64_t accepted = 0;
    rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, offsetof(struct rtl_probe_state, accepted), &accepted,
                    sizeof accepted);
    return accepted;
}

uint16_t rtl_probe_prepare(const struct rtl_reader *reader, struct rtl_probe_link *link, uint64_t kernel_object,
                           uint32_t agent)
{
    if (!link->page)
        return 0;
    struct rtl_probe_request request = {.kernel_object = kernel_object, .agent = agent};
    request.proof = rtl_probe_proof(&link->key, &request, RTL_PROBE_ASK_PREPARE, accepted_requests(reader), NULL);
    link->page->request = request;
    return write_request(reader, link, RTL_PROBE_ASK_PREPARE, 0);
}

uint16_t rtl_probe_arm(const struct rtl_reader *reader, struct rtl_probe_link *link, uint16_t prepared,
                       const struct rtl_probe_request *request, const void *code, size_t bytes)
{
    struct rtl_probe_word word = {.number = 0};
    if (!link->page || bytes > RTL_PROBE_CODE_MAX || !rtl_probe_decode(rtl_probe_word_now(link), &word) ||
        word.number != prepared)
        return 0;
    struct rtl_probe_request whole = *request;
    whole.code_bytes = (uint32_t)bytes;
    whole.code_hash = rtl_hash(code, bytes);
    whole.proof = rtl_probe_proof(&link->key, &whole, RTL_PROBE_ASK_ARM, accepted_requests(reader), code);
    memcpy((char *)link->page + RTL_PROBE_CODE_AT, code, bytes);
    link->page->request = whole;
    return write_request(reader, link, RTL_PROBE_ASK_ARM, prepared);
}

uint16_t rtl_probe_disarm(const struct rtl_reader *reader, struct rtl_probe_link *link)
{
    return write_request(reader, link, RTL_PROBE_ASK_DISARM, 0);
}

/* --- the state --- */

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bound the process's numbers to possible values. */
static bool believe(struct rtl_probe_state *state)
{
    if (state->phase >= RTL_PROBE_PHASE_COUNT)
        return false; /* a newer library */
    if (state->why >= RTL_PROBE_WHY_COUNT)
        state->why = RTL_PROBE_WHY_NONE;
    if (state->agent >= RTL_AGENTS_MAX)
        state->agent = 0;
    if (state->kernel >= RTL_KERNELS_MAX)
        state->kernel = RTL_KERNEL_UNKNOWN;
    if (state->ends_shift > 63)
        state->ends_shift = 63;
    state->probed = smaller_of(state->probed, state->dispatches);
    state->recorded = smaller_of(state->recorded, state->probed);
    state->tails = smaller_of(state->tails, state->recorded);
    state->dies = smaller_of(state->dies, RTL_PROBE_DIES);
    if (!state->recorded)
        state->duration_min_ns = state->duration_max_ns = state->duration_total_ns = 0;
    if (!state->waves)
        state->min = state->max = state->sum = state->gap_sum = 0;
    if (!state->tails)
        state->tail_max_ns = state->tail_total_ns = 0;
    return true;
}

/* Missing dies stay 0: older libraries and GPUs of one die have none. */
static bool fetch_dies(const struct rtl_reader *reader, struct rtl_probe_state *state)
{
    uint32_t there = reader->view[RTL_SECTION_PROBE_DIES].capacity;
    for (uint32_t d = 0; state->dies > 1 && d < RTL_PROBE_DIES - 1 && d < there; d++)
        if (!rtl_fetch_entry(reader, RTL_SECTION_PROBE_DIES, d, 0, &state->die[d], sizeof state->die[d]))
            return false;
    return true;
}

bool rtl_reader_probe(const struct rtl_reader *reader, struct rtl_probe_state *state)
{
    const size_t at = offsetof(struct rtl_probe_state, sequence);
    const size_t bytes = (size_t)smaller_of(reader->view[RTL_SECTION_PROBE].stride, RTL_PROBE_STATE_BYTES);
    uint64_t before = 0, after = 0;
    for (int i = 0; i < STATE_TRIES; i++) {
        struct rtl_probe_state copy = {.page_fd = 0};
        if (!rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, at, &before, sizeof before) ||
            !rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, 0, &copy, bytes) || !fetch_dies(reader, &copy) ||
            !rtl_fetch_entry(reader, RTL_SECTION_PROBE, 0, at, &after, sizeof after))
            return false;
        if (before != after || before & 1) /* the sequence is the word's lower half */
            continue;
        if (!believe(&copy))
            return false;
        *state = copy;
        return true;
    }
    return false;
}
