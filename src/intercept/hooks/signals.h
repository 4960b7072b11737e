/* Learns the application's signals when they are created and destroyed (track/app_signals.h). */
#ifndef RTL_INTERCEPT_SIGNALS_H
#define RTL_INTERCEPT_SIGNALS_H

/* Load: install the hooks. */
void rtl_signals_hook(void *table);

#endif
