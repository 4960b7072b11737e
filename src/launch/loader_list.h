/*
 * Which libraries the dynamic loader would load for a program, and from where: the loader is asked, the program isn't
 * started. Only the loader that this program itself has is asked, whatever a file names as its own.
 */
#ifndef RTL_LAUNCH_LOADER_LIST_H
#define RTL_LAUNCH_LOADER_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "shm/elf_file.h"

/* Whether the loader that the file names is ours, so that it can be asked about the file. */
bool rtl_loader_is_ours(const struct rtl_elf_file *elf);

/* What the loader prints for the file, terminated and bounded in size and time; allocated. NULL when it can't be asked.
 */
char *rtl_loader_list(const char *path);

/*
 * Finds the next library in such a list, from *at on, whose name begins with `name`, and writes its path to `where`: ""
 * if the loader didn't find the library. Returns false when the list has no such library.
 */
bool rtl_loader_find(const char **at, const char *name, char *where, size_t size);
/* The first complaint of the loader's: a library that isn't there, or a version of one; false: there is none. */
bool rtl_loader_complaint(const char *list, char *line, size_t size);

#endif
