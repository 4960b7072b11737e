/*
 * The control page: one word by which viewers make requests to the library. This header is the contract.
 *
 * One page in a memfd of its own ("/memfd:rtl-control", mode 0600, sealed against any change of size), because only the
 * library can write the segment. Viewers of the same user (and root) map it writable, the library maps it read-only.
 * rtl_header.control_fd and control_inode name its descriptor.
 *
 * The word holds two values that viewers write, and a check:
 *  - heartbeat: changes at least every 1.5 s while a viewer is open. Each viewer adds one; several viewers do no harm.
 *    In mode auto the library times dispatches while it changes, and stops RTL_HEARTBEAT_NS after its last change: that
 *    is how the library notices that a viewer was killed.
 *  - request: the mode that a viewer asked for last, and a number that differs for each request. The library publishes
 *    the number of the request that it has carried out (RTL_IN_FORCE in segment.h).
 *  - check: a function of the two, so that a word that no viewer wrote means nothing.
 *
 * Rules for viewers: change the word by compare-and-swap and keep the other value; a word with a wrong check may be
 * replaced.
 * Rules for the library: it trusts nothing in the page. It loads the word once into a local and believes it only if
 * check and mode are right; the worst that any word can do is to switch to another mode. The dispatch path only
 * compares the word with the last one and wakes the worker if needed; the worker decides.
 */
#ifndef RTL_SHM_CONTROL_H
#define RTL_SHM_CONTROL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/tables.h"

#define RTL_CONTROL_NAME    "rtl-control"
#define RTL_CONTROL_MAGIC   0x314c54434c5452ffull /* 0xff "RTLCTL1" read as little-endian */
#define RTL_CONTROL_VERSION 1u
#define RTL_HEARTBEAT_NS    3000000000ull /* dispatches are timed for so long after a change */

enum { RTL_CONTROL_BYTES = 4096, RTL_MODE_NONE = 0xff };

struct rtl_control {
    /* library, before the segment names the page; constant. Viewers check it, the library never reads it again. */
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;
    uint64_t pid; /* in its own pid namespace */
    uint64_t pad0[5];
    /* viewers */
    _Alignas(64) uint64_t word; /* compare-and-swap; the library loads it, relaxed */
    uint64_t writer;            /* pid of the viewer that sent the last heartbeat, for display only */
    uint64_t pad1[6];
};
static_assert(sizeof(struct rtl_control) == 128, "control page");
static_assert(offsetof(struct rtl_control, word) == 64 && offsetof(struct rtl_control, writer) == 72, "control word");

/* The word: heartbeat in bits 0..15, number of the request in 16..31, its mode in 32..39, check in 40..63. */
#define RTL_CONTROL_HEARTBEAT 0xffffull
#define RTL_CONTROL_REQUEST   0xffffff0000ull

struct rtl_control_request {
    uint16_t heartbeat, number;
    uint8_t mode; /* enum rtl_mode, or RTL_MODE_NONE: no request so far */
};

static inline uint64_t rtl_control_encode(struct rtl_control_request request)
{
    uint64_t bits = (uint64_t)request.mode << 32 | (uint64_t)request.number << 16 | request.heartbeat;
    return ((bits + 1) * 0x9e3779b97f4a7c15ull >> 40 << 40) | bits; /* zeros are not a valid word */
}

/* False, with *request untouched, if no viewer wrote that word. */
static inline bool rtl_control_decode(uint64_t word, struct rtl_control_request *request)
{
#define RTL_IS_MODE(sym, num, name, text) || mode == (num)
    uint8_t mode = (uint8_t)(word >> 32);
    struct rtl_control_request read = {(uint16_t)word, (uint16_t)(word >> 16), mode};
    if (rtl_control_encode(read) != word || !(mode == RTL_MODE_NONE || mode == RTL_MODE_FULL RTL_MODES(RTL_IS_MODE)))
        return false;
#undef RTL_IS_MODE
    *request = read;
    return true;
}

#endif
