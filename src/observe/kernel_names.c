/* Maps kernel objects to names. See kernel_names.h. */
#include "observe/kernel_names.h"
#include "base/array.h"
#include "shm/hash.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS_MAX = 1 << 20, NAME_HASHED_MAX = 1 << 20, UNSEEN_MAX = 8 };
static const uint64_t READ_MAX = 256 << 20; /* bytes of code objects in one read */

struct rtl_known_code {
    uint64_t entry, load, uri; /* the last: a hash of its text */
    uint32_t unseen;           /* reads since it was last in a list */
    bool unread;
};

/* Open addressing in powers of two; key 0 = free. */
struct rtl_names_slot {
    uint64_t key;
    uint32_t row, code; /* code: index of the code object */
};

enum { NAME_SLOTS = 4 * RTL_KERNELS_MAX };

struct rtl_kernel_names *rtl_kernel_names_create(void)
{
    static const char *const fixed[] = {"(other kernels)", "(unknown kernel)"};
    struct rtl_kernel_names *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->by_name = calloc(NAME_SLOTS, sizeof *n->by_name);
    n->object_slots = 1024;
    n->by_object = calloc(n->object_slots, sizeof *n->by_object);
    for (uint32_t i = 0; i < RTL_KERNEL_FIRST; i++) {
        n->length[i] = (uint32_t)strlen(fixed[i]);
        n->name[i] = strndup(fixed[i], n->length[i]);
    }
    n->rows = RTL_KERNEL_FIRST;
    if (!n->by_name || !n->by_object || !n->name[0] || !n->name[1]) {
        rtl_kernel_names_free(n);
        return NULL;
    }
    return n;
}

void rtl_kernel_names_free(struct rtl_kernel_names *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->rows; i++)
        free(n->name[i]);
    free(n->by_name);
    free(n->by_object);
    free(n->codes);
    free(n);
}

/* --- rows --- */

/* Return the row of a name. A name that is too long is cut and ends in a hash that distinguishes names of the same
 * beginning. */
static uint32_t row_of_name(struct rtl_kernel_names *n, const char *name, size_t length)
{
    size_t hashed = length < NAME_HASHED_MAX ? length : NAME_HASHED_MAX;
    uint64_t hash = rtl_hash(name, hashed) | 1;
    uint32_t at = (uint32_t)(hash >> 8) & (NAME_SLOTS - 1);
    size_t kept = length < RTL_NAME_MAX ? length : RTL_NAME_MAX;
    for (; n->by_name[at].key; at = (at + 1) & (NAME_SLOTS - 1)) {
        uint32_t row = n->by_name[at].row;
        size_t same = kept < length ? kept - 17 : kept; /* of a long name compare its beginning and its hash */
        if (n->by_name[at].key == hash && n->length[row] == kept && !memcmp(n->name[row], name, same))
            return row;
    }
    char *copy = n->rows < RTL_KERNELS_MAX && n->bytes + kept <= RTL_NAMES_BYTES ? strndup(name, kept) : NULL;
    if (!copy) {
        n->full = true;
        return RTL_KERNEL_OTHER;
    }
    if (kept < length)
        snprintf(copy + kept - 17, 18, "~%016llx", (unsigned long long)hash);
    n->name[n->rows] = copy;
    n->length[n->rows] = (uint32_t)kept;
    n->bytes += kept;
    n->by_name[at] = (struct rtl_names_slot){.key = hash, .row = n->rows};
    return n->rows++;
}

static struct rtl_names_slot *find_object_slot(const struct rtl_kernel_names *n, uint64_t object)
{
    uint32_t at = (uint32_t)((object * 0x9e3779b97f4a7c15ull) >> 32) & (n->object_slots - 1);
    while (n->by_object[at].key && n->by_object[at].key != object)
        at = (at + 1) & (n->object_slots - 1);
    return &n->by_object[at];
}

static bool grow_objects(struct rtl_kernel_names *n)
{
    struct rtl_names_slot *old = n->by_object;
    uint32_t slots = n->object_slots;
    struct rtl_names_slot *more = calloc(2 * (size_t)slots, sizeof *more);
    if (!more)
        return false;
    n->by_object = more;
    n->object_slots = 2 * slots;
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].key)
            *find_object_slot(n, old[i].key) = old[i];
    free(old);
    return true;
}

static void put_object(struct rtl_kernel_names *n, uint64_t object, uint32_t row, uint32_t code)
{
    if (!object)
        return;
    struct rtl_names_slot *s = find_object_slot(n, object);
    if (!s->key) {
        if (n->objects == OBJECTS_MAX || (2 * n->objects >= n->object_slots && !grow_objects(n))) {
            n->full = n->no_room = true;
            return;
        }
        n->objects++;
        s = find_object_slot(n, object); /* the table may have grown */
    }
    *s = (struct rtl_names_slot){.key = object, .row = row, .code = code};
}

/* The lists have all kernels that a program loads. A kernel object in no code object, while all were readable, is one
 * that the runtime made for itself. */
void rtl_kernel_names_set_nameless(struct rtl_kernel_names *n, uint64_t object)
{
    static const char own[] = "(runtime's own kernel)";
    uint32_t row = n->whole && !n->unread ? row_of_name(n, own, sizeof own - 1) : RTL_KERNEL_OTHER;
    if (row != RTL_KERNEL_OTHER)
        n->own = row;
    put_object(n, object, row != RTL_KERNEL_OTHER ? row : RTL_KERNEL_UNKNOWN, UINT32_MAX);
}

bool rtl_kernel_names_is_own(const struct rtl_kernel_names *n, uint32_t row)
{
    return n->own && row == n->own;
}

bool rtl_kernel_names_known(const struct rtl_kernel_names *n, uint64_t object)
{
    return object && (find_object_slot(n, object)->key || n->no_room);
}

void rtl_kernel_names_add(struct rtl_kernel_names *n, const char *name, size_t length, uint64_t object)
{
    put_object(n, object, row_of_name(n, name, length), UINT32_MAX);
}

uint32_t rtl_kernel_names_row(const struct rtl_kernel_names *n, uint64_t object)
{
    const struct rtl_names_slot *s = object ? find_object_slot(n, object) : NULL;
    return s && s->key ? s->row : RTL_KERNEL_UNKNOWN;
}

/* --- code objects --- */

struct names_read {
    struct rtl_kernel_names *names;
    const struct rtl_target_memory *memory;
    int files;
    uint64_t bytes;   /* bytes read so far */
    uint64_t load;    /* of the current code object */
    uint32_t code;    /* index of the current code object */
    uint32_t kernels; /* in the current code object */
    uint32_t refused; /* code objects without room */
    uint32_t next;    /* likely index of the next code object */
};

static bool add_symbol(void *context, const struct rtl_elf_symbol *s)
{
    struct names_read *l = context;
    if (s->type != STT_OBJECT || s->length <= 3 || memcmp(s->name + s->length - 3, ".kd", 3) != 0)
        return true;
    put_object(l->names, l->load + s->value, row_of_name(l->names, s->name, s->length - 3), l->code);
    l->kernels++;
    return true;
}

static bool read_from(struct names_read *l, const char *uri)
{
    struct rtl_elf_image image;
    bool ok =
        rtl_code_object_open(l->memory, l->files, uri, &image) && rtl_elf_symbols(&image, add_symbol, l, &l->bytes);
    if (image.fd >= 0)
        close(image.fd);
    return ok;
}

/* Read the file or memory that it was loaded from; if that has gone, read it as loaded, if the host can see that
 * memory. */
static void read_code_object(struct names_read *l, struct rtl_known_code *c, const char *uri)
{
    struct rtl_elf_image loaded = {.memory = l->memory, .at = c->load, .size = 1ull << 32, .loaded = true};
    l->load = c->load;
    l->kernels = 0;
    if (!read_from(l, uri) || !l->kernels)
        c->unread = !rtl_elf_symbols(&loaded, add_symbol, l, &l->bytes) && !l->kernels;
}

static bool see_code_object(void *context, uint64_t entry, uint64_t load, const char *uri)
{
    struct names_read *l = context;
    struct rtl_kernel_names *n = l->names;
    uint64_t hash = rtl_hash(uri, strlen(uri));
    for (uint32_t i = 0, at = l->next; i < n->code_count; i++, at++) {
        at = at < n->code_count ? at : 0;
        struct rtl_known_code *c = &n->codes[at];
        if (c->entry == entry && c->load == load && c->uri == hash) {
            c->unseen = 0;
            l->next = at + 1;
            return true;
        }
    }
    if (n->code_count == RTL_CODE_OBJECTS_MAX) { /* no honest list; gone ones may be forgotten later */
        l->refused++;
        return true;
    }
    if (!rtl_grow(&n->codes, &n->code_room, n->code_count + 1u, sizeof *n->codes))
        return false;
    l->code = n->code_count;
    n->codes[n->code_count] = (struct rtl_known_code){.entry = entry, .load = load, .uri = hash};
    read_code_object(l, &n->codes[n->code_count++], uri);
    return l->bytes < READ_MAX;
}

/* Forget addresses of code objects that were in no list for so many reads; others keep theirs, with their code object's
 * new index. */
static bool forget_gone(struct rtl_kernel_names *n, uint32_t unseen)
{
    uint32_t *number = malloc((n->code_count ? n->code_count : 1) * sizeof *number), kept = 0;
    struct rtl_names_slot *old = n->by_object, *fresh = calloc(n->object_slots, sizeof *fresh);
    if (!number || !fresh) {
        free(number);
        free(fresh);
        return false;
    }
    uint32_t before = n->code_count;
    for (uint32_t i = 0; i < before; i++) {
        bool there = n->codes[i].unseen < unseen;
        number[i] = there ? kept : UINT32_MAX;
        if (there)
            n->codes[kept++] = n->codes[i];
    }
    n->code_count = kept;
    n->by_object = fresh;
    n->objects = 0;
    n->no_room = false;
    for (uint32_t i = 0; i < n->object_slots; i++) {
        if (!old[i].key || old[i].code >= before || number[old[i].code] == UINT32_MAX)
            continue;
        old[i].code = number[old[i].code];
        *find_object_slot(n, old[i].key) = old[i];
        n->objects++;
    }
    free(old);
    free(number);
    return true;
}

bool rtl_kernel_names_read(struct rtl_kernel_names *n, const struct rtl_target_memory *memory,
                           const struct rtl_debug_lists *lists, int files)
{
    struct names_read l = {.names = n, .memory = memory, .files = files};
    uint32_t longest = 0;
    for (uint32_t i = 0; i < n->code_count; i++)
        n->codes[i].unseen++;
    bool whole = lists->count > 0;
    memset(n->end, 0, sizeof n->end);
    for (uint32_t i = 0; i < lists->count; i++)
        whole &= rtl_debug_list_read(memory, lists->head[i], see_code_object, &l, &n->end[i]);
    n->unread = l.refused;
    for (uint32_t i = 0; i < n->code_count; i++) {
        longest = n->codes[i].unseen > longest ? n->codes[i].unseen : longest;
        n->unread += n->codes[i].unread;
    }
    n->whole = whole && l.bytes < READ_MAX;
    /* A list that was never complete says little about what has gone, but nothing is kept for ever. */
    uint32_t unseen = n->whole ? 1 : UNSEEN_MAX;
    if (longest >= unseen)
        forget_gone(n, unseen);
    return whole;
}
