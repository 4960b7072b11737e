/* The hooks by which the application's signals are known: their creation and destruction (track/app_signals.h). */
#ifndef RTL_INTERCEPT_SIGNALS_H
#define RTL_INTERCEPT_SIGNALS_H

/* Load: puts the hooks in. */
void rtl_signals_hook(void *table);

#endif
