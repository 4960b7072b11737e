/* Finds slots of the runtime's API table whose number doesn't follow from the table's version. */
#ifndef RTL_INTERCEPT_TABLE_SLOT_CHECK_H
#define RTL_INTERCEPT_TABLE_SLOT_CHECK_H

#include <stdbool.h>

/* Hook a function of the newest releases whose slot differs between them: the runtime's exported function of that
 * name shows the slot. Returns the previous pointer in the slot, or NULL if the function isn't hooked; *maybe then
 * says whether the runtime may have it all the same. Only from OnLoad, where no other thread calls it. */
void (*rtl_hsa_hook_exported(void *table, const char *name, void (*hook)(void), bool *maybe))(void);

#endif
