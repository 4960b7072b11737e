/*
 * The code objects that a process has loaded: the list that the runtime keeps for debuggers, `_amdgpu_r_debug`, a
 * struct r_debug like the dynamic loader's (<link.h>). The search finds it in memory, so it also works for a library
 * that was renamed, deleted, or lies in another root. A process with several runtimes (a wheel's own and the system's)
 * has one list for each runtime.
 *
 * The list is hostile: its length is bounded, each entry has to name the one before it (which ends loops), and names
 * are bounded.
 */
#ifndef RTL_OBSERVE_DEBUG_LIST_H
#define RTL_OBSERVE_DEBUG_LIST_H

#include "observe/elf_symbols.h"
#include "observe/mappings.h"
#include "observe/target_memory.h"

enum { RTL_CODE_OBJECTS_MAX = 1 << 14, RTL_CODE_OBJECT_URI_MAX = 4095 };

enum { RTL_DEBUG_LISTS_MAX = 4 };
struct rtl_debug_lists {
    uint64_t head[RTL_DEBUG_LISTS_MAX];
    uint32_t count;
    uint64_t libraries; /* sum of the addresses of the libraries searched: changes when one is loaded or unloaded */
};

/* Find the heads of the lists in all libraries called libhsa-runtime64; if none has a list, in the first other file
 * that has one. False if no list was found within 2 s: the process has no ROCm runtime. */
bool rtl_debug_lists_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                          struct rtl_debug_lists *lists);
/* Search again if libraries called libhsa-runtime64 were loaded or unloaded since; keeps every head still mapped. */
void rtl_debug_lists_update(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                            struct rtl_debug_lists *lists);

/* Called for each code object with its list entry, load address and URI. False ends the list. */
typedef bool rtl_debug_list_visit(void *context, uint64_t entry, uint64_t load, const char *uri);

/* The end of a list when it was read. A new entry is appended there; a removed one changes the entry before it. */
struct rtl_debug_list_end {
    uint64_t at, link, next; /* the last entry, the word that points to it, its own next pointer; 0 = none */
    uint64_t load, name;
    uint64_t text; /* a hash of its name */
    size_t length;
    bool known;
};

/* Read a list. False if its end was not reached: the list is being changed, or lies. `end` may be NULL. */
bool rtl_debug_list_read(const struct rtl_target_memory *memory, uint64_t head, rtl_debug_list_visit *take,
                         void *context, struct rtl_debug_list_end *end);
/* Find out whether a list's end has changed: _ask fills in the pieces to read, _changed compares them. False if the end
 * is not known. */
enum { RTL_DEBUG_LIST_PIECES = 3 };
struct rtl_debug_list_answer {
    uint64_t to;
    struct {
        uint64_t load, name, dynamic, next; /* the beginning of a struct link_map */
    } entry;
    char uri[RTL_CODE_OBJECT_URI_MAX + 1];
};
size_t rtl_debug_list_ask(const struct rtl_debug_list_end *end, struct rtl_debug_list_answer *answer,
                          struct rtl_target_piece pieces[RTL_DEBUG_LIST_PIECES]);
bool rtl_debug_list_changed(const struct rtl_debug_list_end *end, const struct rtl_debug_list_answer *answer,
                            const struct rtl_target_piece *pieces);

/* Parse "file:///path#offset=1&size=2" or "memory://PID#offset=1&size=2". `path` gets the file's unescaped name, "" for
 * memory. False for any other URI. Pure. */
bool rtl_code_object_uri(const char *uri, char *path, size_t path_bytes, uint64_t *offset, uint64_t *size);
/* Find the bytes of a code object by its URI: in memory or in a file below `files`, the process's root folder or -1.
 * The caller closes image->fd unless that is -1. False for any other URI, or if the file can't be opened. */
bool rtl_code_object_open(const struct rtl_target_memory *memory, int files, const char *uri,
                          struct rtl_elf_image *image);

#endif
