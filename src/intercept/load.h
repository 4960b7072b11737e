/* Attaches the library to a runtime's API table, and detaches it. */
#ifndef RTL_INTERCEPT_LOAD_H
#define RTL_INTERCEPT_LOAD_H

#include <stdbool.h>

/* Save and hook the table. Returns false on failure, or if it was hooked before (a library may get it twice). */
bool rtl_load(void *table);

/* Stop timing for good and release everything that belongs to the runtime. Does nothing when no table is hooked. */
void rtl_unload(void);

#endif
