/*
 * The supply of signals: more are made ahead of need, and what nobody has needed for long is destroyed. All of it is
 * the worker's; a dispatch that finds no free one makes some itself (hooks/packets.c), so that none is lost meanwhile.
 */
#ifndef RTL_INTERCEPT_SUPPLY_H
#define RTL_INTERCEPT_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_collector;

struct rtl_supply {
    uint64_t since;             /* when the present span of peaks began, monotonic ns */
    uint32_t peak, peak_before; /* most in flight in this span and the one before; UINT32_MAX where there was none */
    uint32_t excess;            /* signals that are still to be destroyed */
    bool grew;                  /* signals were made at the last look */
};

void rtl_supply_begin(struct rtl_supply *supply, uint64_t now);

/* Behind every round; also while nothing is in flight, when it is due. Bounded. */
void rtl_supply_tend(struct rtl_supply *supply, struct rtl_collector *collector, uint64_t now);

/* For how long, in ns, nobody has to look after it while nothing is in flight: for ever where there are few signals. */
uint64_t rtl_supply_due(const struct rtl_supply *supply, const struct rtl_collector *collector, uint64_t now);

#endif
