/* Lists the libraries that the dynamic loader would load for a program, without starting the program. Only this
 * program's own loader is run, never the one that a file names. */
#ifndef RTL_LAUNCH_LOADER_LIST_H
#define RTL_LAUNCH_LOADER_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/elf_file.h"

/* True if the file names this program's loader, which can therefore list its libraries. */
bool rtl_loader_is_ours(const struct rtl_elf_file *elf);

/* Returns the loader's output for the file, terminated and bounded in size and time, allocated. NULL if the loader
 * can't run. */
char *rtl_loader_list(const char *path);

/* Finds the next library in such a list, from *at on, whose name begins with `name`, and writes its path to `where`: ""
 * if the loader didn't find the library. Returns false when the list has no such library. */
bool rtl_loader_find(const char **at, const char *name, char *where, size_t size);
/* Copies the loader's first complaint: a missing library or version. False if there is none. */
bool rtl_loader_complaint(const char *list, char *line, size_t size);

#endif
