/* Slots of the runtime's API table that no version tells: found by trying. */
#ifndef RTL_INTERCEPT_TABLE_SLOT_CHECK_H
#define RTL_INTERCEPT_TABLE_SLOT_CHECK_H

#include <stdbool.h>

/*
 * Hooks a function of the newest releases whose slot differs between them in ways that no version tells: the runtime is
 * asked for it, through the function of that name that it exports. Returns what was in the slot, or NULL when it is
 * not hooked; *maybe then says whether the runtime may have such a function all the same. Only from OnLoad, where
 * nobody else calls it.
 */
void (*rtl_hsa_hook_exported(void *table, const char *name, void (*hook)(void), bool *maybe))(void);

#endif
