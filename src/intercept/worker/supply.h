/* Supplies the pool with signals: creates more ahead of need, and destroys those that were unused for long. Worker
 * only. A dispatch that finds no free signal creates some itself (hooks/packets.c), so that none stays untimed until
 * the next round. */
#ifndef RTL_INTERCEPT_SUPPLY_H
#define RTL_INTERCEPT_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_collector;

struct rtl_supply {
    uint64_t since;             /* start of the current span, monotonic ns */
    uint32_t peak, peak_before; /* most in flight in this and the last span; UINT32_MAX before the second span */
    uint32_t excess;            /* signals still to be destroyed */
    bool grew;                  /* the last rtl_supply_tend created signals */
};

void rtl_supply_begin(struct rtl_supply *supply, uint64_t now);

/* After every round, and when rtl_supply_due has passed with nothing in flight. Bounded. */
void rtl_supply_tend(struct rtl_supply *supply, struct rtl_collector *collector, uint64_t now);

/* Return the ns until the next rtl_supply_tend while nothing is in flight; UINT64_MAX if there are few signals. */
uint64_t rtl_supply_due(const struct rtl_supply *supply, const struct rtl_collector *collector, uint64_t now);

#endif
