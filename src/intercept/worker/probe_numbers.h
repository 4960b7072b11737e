/* Adds up what probed dispatches have left in the block. Pure. */
#ifndef RTL_INTERCEPT_PROBE_NUMBERS_H
#define RTL_INTERCEPT_PROBE_NUMBERS_H

#include <stdint.h>

#include "intercept/base/hsa_clock.h"
#include "shm/probe.h"
#include "shm/probe_state.h"

/* How many waves of 64 work-items a dispatch has. */
uint64_t rtl_probe_waves_of(const uint32_t grid[3], const uint16_t workgroup[3]);

/* How many waves have ended, by the pages of so many dies. */
uint64_t rtl_probe_waves_in(const struct rtl_probe_block *pages, uint32_t dies);

/* Adds the numbers of one dispatch, alone in these pages, to the state's sums. Its dies are taken to have one agent
 * clock: what the numbers of ticks say of them together would make no sense otherwise. */
void rtl_probe_add(struct rtl_probe_state *state, const struct rtl_probe_block *pages, uint32_t dies,
                   const struct rtl_tick_rate *rate, uint64_t duration_ns, uint64_t waves_expected);

#endif
