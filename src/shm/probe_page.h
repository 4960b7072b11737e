/*
 * The probe page: a viewer passes a probed copy of a kernel to the library. This header is the contract; the library's
 * answers are in probe_state.h.
 *
 * A memfd of its own ("/memfd:rtl-probe", mode 0600, sealed against any change of size), only in a process started with
 * RTL_PROBE=1. Viewers of the same user (and root) map it writable, the library maps it read-only.
 * rtl_probe_state.page_fd and page_inode name its descriptor.
 *
 * Steps of a probe. Each is a request with a number of its own; the library answers with that number.
 *  1. PREPARE: kernel_object and agent. The library allocates the block (probe.h) in that GPU's memory and publishes
 *     its address.
 *  2. The viewer makes the copy (src/probe/patch.h), which contains the block's address, and writes it behind the page.
 *  3. ARM: the library makes a private copy of the code, compares its hash and loads it. If it is a kernel of the same
 *     name, one of `every` dispatches of that kernel object runs it from then on, one at a time.
 *  4. The probe ends with DISARM, after `wanted` dispatches, when the heartbeat stands still for
 *     RTL_PROBE_HEARTBEAT_NS, or for a reason in probe_state.h. The numbers stay until the next PREPARE.
 *
 * While the copy is loaded it is one of the process's code objects under the kernel's own name. Its kernel object is
 * rtl_probe_state.probed_object; no dispatch of the application uses it.
 *
 * Only a viewer that may trace the library's process (ptrace(2)) may probe it. But any process of the same user can
 * write the page, even if the kernel doesn't permit it to trace (Yama). So PREPARE and ARM carry a proof: a hash with a
 * key. The key lies in the process's private memory, at rtl_probe_state.key_at, where only a process that may trace can
 * read it. The hash covers the request, its code, and the number of requests accepted so far, so a proof is valid for
 * one request, once.
 *
 * Rules for viewers: write request and code, then the word (release). One probe at a time: leave a running probe alone
 * if its heartbeat changes. Each request has another number: a viewer that finds another number than its own in the
 * word was replaced, and makes no further requests, DISARM included.
 * Rules for the library: it trusts nothing in the page. Only the worker reads it, at most once a round while no request
 * is pending; it copies word, request and code once and decides by its copies.
 */
#ifndef RTL_SHM_PROBE_PAGE_H
#define RTL_SHM_PROBE_PAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/hash.h"

#define RTL_PROBE_NAME         "rtl-probe"
#define RTL_PROBE_MAGIC        0x315242504c5452ffull /* 0xff "RTLPBR1" read as little-endian */
#define RTL_PROBE_VERSION      1u
#define RTL_PROBE_HEARTBEAT_NS 3000000000ull /* a probe lives for so long after a change */

enum {
    RTL_PROBE_CODE_AT = 4096,
    RTL_PROBE_CODE_MAX = 1 << 20, /* bytes of a probed copy: more than a branch reaches, plus ELF headers */
    RTL_PROBE_PAGE_BYTES = RTL_PROBE_CODE_AT + RTL_PROBE_CODE_MAX,
    RTL_PROBE_EVERY_MAX = 1 << 20,
};

enum rtl_probe_ask { RTL_PROBE_ASK_NOTHING, RTL_PROBE_ASK_PREPARE, RTL_PROBE_ASK_ARM, RTL_PROBE_ASK_DISARM };

struct rtl_probe_request {  /* viewers */
    uint64_t kernel_object; /* of the dispatches to probe */
    uint64_t wanted;        /* dispatches to probe; 0: until DISARM */
    uint64_t code_hash;     /* rtl_hash of the code; ARM */
    uint32_t code_bytes;    /* ARM */
    uint32_t every;         /* probe one in so many dispatches, from 1; ARM */
    uint32_t agent;         /* index in the segment's agents; PREPARE */
    uint32_t ends_shift;    /* as in the copy; ARM */
    uint64_t proof;         /* rtl_probe_proof; PREPARE, ARM */
};

struct rtl_probe_page {
    /* library, before the segment names the page; constant. Viewers check it, the library never reads it again. */
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;
    uint64_t pid; /* in its own pid namespace */
    uint64_t pad0[5];
    /* viewers */
    _Alignas(64) uint64_t word; /* release; the library loads it, acquire */
    uint64_t writer;            /* pid of the viewer that wrote last, for display only */
    uint64_t pad1[6];
    struct rtl_probe_request request;
};
static_assert(sizeof(struct rtl_probe_request) == 48 && offsetof(struct rtl_probe_request, proof) == 40,
              "probe request");
static_assert(offsetof(struct rtl_probe_page, word) == 64 && offsetof(struct rtl_probe_page, request) == 128 &&
                  sizeof(struct rtl_probe_page) <= RTL_PROBE_CODE_AT,
              "probe page");

/* Return the proof of a request. `accepted` is rtl_probe_state.accepted before it; only ARM has code. */
static inline uint64_t rtl_probe_proof(const struct rtl_hash_key *key, const struct rtl_probe_request *request,
                                       enum rtl_probe_ask ask, uint64_t accepted, const void *code)
{
    struct {
        uint64_t accepted, ask, code;
        struct rtl_probe_request request;
    } whole = {accepted, ask, code ? rtl_keyed_hash(key, code, request->code_bytes) : 0, *request};
    whole.request.proof = 0;
    return rtl_keyed_hash(key, &whole, sizeof whole);
}

/* The word: heartbeat in bits 0..15, number of the request in 16..31, request in 32..39, check in 40..63. */
struct rtl_probe_word {
    uint16_t heartbeat, number;
    uint8_t ask; /* enum rtl_probe_ask */
};

static inline uint64_t rtl_probe_encode(struct rtl_probe_word word)
{
    uint64_t bits = (uint64_t)word.ask << 32 | (uint64_t)word.number << 16 | word.heartbeat;
    return ((bits + 1) * 0x9e3779b97f4a7c15ull >> 40 << 40) | bits; /* zeros are not a valid word */
}

/* False, with *read untouched, if no viewer wrote that word. */
static inline bool rtl_probe_decode(uint64_t word, struct rtl_probe_word *read)
{
    struct rtl_probe_word bits = {(uint16_t)word, (uint16_t)(word >> 16), (uint8_t)(word >> 32)};
    if (rtl_probe_encode(bits) != word || bits.ask > RTL_PROBE_ASK_DISARM)
        return false;
    *read = bits;
    return true;
}

#endif
