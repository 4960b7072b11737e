/* Attaches the library to a runtime's API table, and detaches it. */
#ifndef RTL_INTERCEPT_LOAD_H
#define RTL_INTERCEPT_LOAD_H

#include <stdbool.h>

/* Saves the table and hooks it. False when that was done before (a library may get its table twice), or can't be. */
bool rtl_load(void *table);

/* Stops timing for good and lets go of all that is the runtime's. Does nothing when no table is hooked. */
void rtl_unload(void);

#endif
