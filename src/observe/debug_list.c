/* Reads the debugger's list of code objects. See debug_list.h. */
#include "observe/debug_list.h"
#include "base/clock.h"
#include "base/plain_file.h"
#include "shm/hash.h"
#include "shm/proc_file.h"

#include <ctype.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL "_amdgpu_r_debug"
_Static_assert(offsetof(struct link_map, l_addr) == 0 && offsetof(struct link_map, l_name) == 8 &&
                   offsetof(struct link_map, l_next) == 24,
               "as struct rtl_debug_list_answer has it");
enum { IMAGES_MAX = 4096 };
static const uint64_t IMAGE_BYTES = 1ull << 32;
static const uint64_t FIND_NS = 2000000000; /* honest libraries take milliseconds */

static bool is_named(const struct rtl_mapping *m)
{
    return !m->offset && m->read && !m->device && strstr(m->name, "libhsa-runtime64");
}

static uint64_t libraries_of(const struct rtl_mappings *mappings)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mappings->count; i++)
        sum += is_named(&mappings->list[i]) ? mappings->list[i].from : 0;
    return sum;
}

static void add_list(struct rtl_debug_lists *lists, uint64_t head)
{
    for (uint32_t i = 0; i < lists->count; i++)
        if (lists->head[i] == head)
            return;
    if (head && lists->count < RTL_DEBUG_LISTS_MAX)
        lists->head[lists->count++] = head;
}

static void search(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings, bool others,
                   struct rtl_debug_lists *lists)
{
    int left = IMAGES_MAX;
    uint64_t until = rtl_mono_ns() + FIND_NS;
    for (uint32_t i = 0; i < mappings->count && left && rtl_mono_ns() < until; i++) {
        const struct rtl_mapping *m = &mappings->list[i];
        uint64_t head;
        if (others && lists->count)
            return;
        if (others ? m->offset || !m->read || m->device || !m->inode : !is_named(m))
            continue;
        left--;
        struct rtl_elf_image image = {.memory = memory, .at = m->from, .size = IMAGE_BYTES, .loaded = true};
        if (rtl_elf_find(&image, SYMBOL, &head))
            add_list(lists, head);
    }
}

bool rtl_debug_lists_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                          struct rtl_debug_lists *lists)
{
    *lists = (struct rtl_debug_lists){.libraries = libraries_of(mappings)};
    search(memory, mappings, false, lists);
    search(memory, mappings, true, lists);
    return lists->count > 0;
}

void rtl_debug_lists_update(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                            struct rtl_debug_lists *lists)
{
    uint64_t libraries = libraries_of(mappings);
    if (libraries == lists->libraries)
        return;
    struct rtl_debug_lists now = {.libraries = libraries};
    for (uint32_t i = 0; i < lists->count; i++)
        if (rtl_mapping_of(mappings, lists->head[i]))
            add_list(&now, lists->head[i]);
    search(memory, mappings, false, &now);
    if (now.count)
        *lists = now;
}

bool rtl_debug_list_read(const struct rtl_target_memory *memory, uint64_t head, rtl_debug_list_visit *take,
                         void *context, struct rtl_debug_list_end *end)
{
    struct r_debug list;
    char uri[RTL_CODE_OBJECT_URI_MAX + 1];
    struct rtl_debug_list_end last = {.link = head + offsetof(struct r_debug, r_map)};
    if (end)
        *end = last;
    if (!rtl_target_read(memory, head, &list, sizeof list))
        return false;
    uint64_t before = 0, at = (uint64_t)(uintptr_t)list.r_map;
    for (int n = 0; at; n++) {
        struct link_map map;
        if (n == RTL_CODE_OBJECTS_MAX || at == before ||
            !rtl_target_read(memory, at, &map, offsetof(struct link_map, l_prev) + sizeof map.l_prev) ||
            (uint64_t)(uintptr_t)map.l_prev != before)
            return false;
        bool more = !rtl_target_read_string(memory, (uint64_t)(uintptr_t)map.l_name, uri, sizeof uri) ||
                    take(context, at, map.l_addr, uri);
        last = (struct rtl_debug_list_end){.at = at,
                                           .link = before ? before + offsetof(struct link_map, l_next) : last.link,
                                           .next = (uint64_t)(uintptr_t)map.l_next,
                                           .load = map.l_addr,
                                           .name = (uint64_t)(uintptr_t)map.l_name,
                                           .length = strlen(uri)};
        last.text = rtl_hash(uri, last.length);
        if (!more)
            break;
        before = at;
        at = (uint64_t)(uintptr_t)map.l_next;
    }
    last.known = true;
    if (end)
        *end = last;
    return true;
}

size_t rtl_debug_list_ask(const struct rtl_debug_list_end *end, struct rtl_debug_list_answer *answer,
                          struct rtl_target_piece pieces[RTL_DEBUG_LIST_PIECES])
{
    size_t n = 0;
    if (end->known)
        pieces[n++] = (struct rtl_target_piece){end->link, &answer->to, sizeof answer->to, false};
    if (end->known && end->at)
        pieces[n++] = (struct rtl_target_piece){end->at, &answer->entry, sizeof answer->entry, false};
    if (end->known && end->at && end->length)
        pieces[n++] = (struct rtl_target_piece){end->name, answer->uri, end->length + 1, false};
    return n;
}

bool rtl_debug_list_changed(const struct rtl_debug_list_end *end, const struct rtl_debug_list_answer *answer,
                            const struct rtl_target_piece *pieces)
{
    if (!end->known || (!end->at && !pieces[0].ok))
        return false;
    if (!end->at)
        return answer->to != 0;
    return !pieces[0].ok || answer->to != end->at || !pieces[1].ok || answer->entry.load != end->load ||
           answer->entry.name != end->name || answer->entry.next != end->next ||
           (end->length &&
            (!pieces[2].ok || answer->uri[end->length] || rtl_hash(answer->uri, end->length) != end->text));
}

static bool number_after(const char *text, const char *word, uint64_t *value)
{
    const char *at = strstr(text, word);
    char *end;
    if (!at || !isdigit((unsigned char)at[strlen(word)]))
        return false;
    errno = 0;
    *value = strtoull(at + strlen(word), &end, 0);
    return !errno && (!*end || *end == '&');
}

bool rtl_code_object_uri(const char *uri, char *path, size_t path_bytes, uint64_t *offset, uint64_t *size)
{
    const char *where = strchr(uri, '#');
    *offset = *size = 0;
    *path = 0;
    if (where && (!number_after(where, "offset=", offset) || !number_after(where, "size=", size)))
        return false;
    if (!strncmp(uri, "memory://", 9))
        return where && *offset && *size;
    if (strncmp(uri, "file://", 7) != 0)
        return false;
    size_t used = 0;
    for (const char *at = uri + 7; *at && at != where && used + 1 < path_bytes; used++) {
        unsigned byte = (unsigned char)*at;
        bool escaped = *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        if (escaped)
            sscanf(at + 1, "%2x", &byte);
        path[used] = (char)byte;
        if (!path[used])
            return false;
        at += escaped ? 3 : 1;
    }
    path[used] = 0;
    return used > 0 && used + 1 < path_bytes && path[0] == '/';
}

bool rtl_code_object_open(const struct rtl_target_memory *memory, int files, const char *uri,
                          struct rtl_elf_image *image)
{
    char path[RTL_CODE_OBJECT_URI_MAX + 1];
    struct stat st;
    *image = (struct rtl_elf_image){.memory = memory, .fd = -1};
    if (!rtl_code_object_uri(uri, path, sizeof path, &image->at, &image->size))
        return false;
    if (!*path)
        return true;
    image->memory = NULL;
    image->fd = rtl_plain_file_open(rtl_open_in_root(files, path, O_PATH), &st);
    if (image->fd < 0)
        return false;
    uint64_t most = (uint64_t)st.st_size > image->at ? (uint64_t)st.st_size - image->at : 0;
    image->size = image->size && image->size < most ? image->size : most;
    return true;
}
