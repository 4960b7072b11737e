/* Records of timed copies in flight (copy_slots.h). */
#include "intercept/track/copy_slots.h"

#include <stdatomic.h>
#include <stddef.h>

#include "intercept/base/tool.h"

_Static_assert(sizeof(struct rtl_copy) == 192, "two cache lines, and one that only links use");

/* `taken`: any sets (compare-and-swap); the thread that has accounted for the copy clears (release). `in_flight`:
 * the submitting thread sets (sequentially consistent, against `parked` and the end of timing); the thread that
 * clears a bit accounts for the copy. */
static struct rtl_copy copies[RTL_COPIES_TIMED];
static _Atomic uint64_t taken[RTL_COPY_WORDS], in_flight[RTL_COPY_WORDS];
static _Atomic uint32_t hint;   /* any: the word where a free record was last found */
static _Atomic uint32_t asking; /* any: threads between reading the policy and launching */

struct rtl_copy *rtl_copy_acquire(void)
{
    uint32_t first = atomic_load_explicit(&hint, memory_order_relaxed);
    for (uint32_t i = 0; i < RTL_COPY_WORDS; i++) {
        uint32_t w = (first + i) % RTL_COPY_WORDS;
        uint64_t bits = atomic_load_explicit(&taken[w], memory_order_relaxed);
        while (~bits) {
            uint64_t bit = ~bits & (bits + 1);
            if (!atomic_compare_exchange_weak_explicit(&taken[w], &bits, bits | bit, memory_order_acquire,
                                                       memory_order_relaxed))
                continue;
            atomic_store_explicit(&hint, w, memory_order_relaxed);
            return &copies[w * 64 + (uint32_t)__builtin_ctzll(bit)];
        }
    }
    return NULL;
}

static uint64_t bit_of(const struct rtl_copy *copy)
{
    return 1ull << (copy - copies) % 64;
}

void rtl_copy_return(struct rtl_copy *copy)
{
    atomic_fetch_and_explicit(&taken[(copy - copies) / 64], ~bit_of(copy), memory_order_release);
}

void rtl_copy_launch(const struct rtl_copy *copy)
{
    atomic_fetch_or(&in_flight[(copy - copies) / 64], bit_of(copy));
}

bool rtl_copy_claim(const struct rtl_copy *copy)
{
    return atomic_fetch_and(&in_flight[(copy - copies) / 64], ~bit_of(copy)) & bit_of(copy);
}

uint64_t rtl_copies_in_flight(uint32_t word)
{
    return atomic_load(&in_flight[word]);
}

struct rtl_copy *rtl_copy_at(uint32_t number)
{
    return &copies[number];
}

bool rtl_copies_pending(void)
{
    for (uint32_t w = 0; w < RTL_COPY_WORDS; w++)
        if (rtl_copies_in_flight(w))
            return true;
    return false;
}

void rtl_copy_enter(void)
{
    atomic_fetch_add(&asking, 1);
}

void rtl_copy_leave(void)
{
    atomic_fetch_sub(&asking, 1);
}

bool rtl_copies_inside(void)
{
    return atomic_load(&asking) != 0;
}

void rtl_copy_untimed(uint32_t row, enum rtl_copy_reason why)
{
    __atomic_fetch_add(&rtl_tool.segment.copies[row].untimed[why], 1, __ATOMIC_RELEASE);
}
