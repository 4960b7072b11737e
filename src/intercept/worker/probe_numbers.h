/* Sums up the numbers that probed dispatches leave in the block. Pure. */
#ifndef RTL_INTERCEPT_PROBE_NUMBERS_H
#define RTL_INTERCEPT_PROBE_NUMBERS_H

#include <stdint.h>

#include "intercept/base/hsa_clock.h"
#include "shm/probe.h"
#include "shm/probe_state.h"

/* Return the number of waves of 64 work-items in a dispatch. */
uint64_t rtl_probe_waves_of(const uint32_t grid[3], const uint16_t workgroup[3]);

/* Return the number of waves that ended, from the pages of all dies. */
uint64_t rtl_probe_waves_in(const struct rtl_probe_block *pages, uint32_t dies);

/* Add the numbers of one dispatch, the only one in these pages, to the state's sums. Assumes that the dies share the
 * agent's clock: ticks of different dies are compared. */
void rtl_probe_add(struct rtl_probe_state *state, const struct rtl_probe_block *pages, uint32_t dies,
                   const struct rtl_tick_rate *rate, uint64_t duration_ns, uint64_t waves_expected);

#endif
