/* Reads /proc/PID/smaps. See mappings.h. */
#include "observe/mappings.h"
#include "base/array.h"
#include "shm/proc_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192 };

/* "7f00-7f10 rw-p 0000 00:00 12   /a name": false for other lines. */
static bool parse_head(const char *line, struct rtl_mapping *m)
{
    unsigned long long from, to, offset, inode;
    char rights[5];
    int name = 0;
    if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %llu %n", &from, &to, rights, &offset, &inode, &name) != 5 || !name)
        return false;
    if (from >= to || strlen(rights) != 4)
        return false;
    *m = (struct rtl_mapping){.from = from,
                              .to = to,
                              .offset = offset,
                              .inode = inode,
                              .read = rights[0] == 'r',
                              .write = rights[1] == 'w',
                              .shared = rights[3] == 's'};
    const char *text = line + name;
    size_t length = strcspn(text, "\n");
    size_t skip = length > RTL_MAPPING_NAME_MAX ? length - RTL_MAPPING_NAME_MAX : 0;
    memcpy(m->name, text + skip, length - skip);
    return true;
}

static void parse_flags(const char *flags, struct rtl_mapping *m)
{
    for (const char *at = flags; (at = strchr(at, ' ')); at++) {
        m->dontfork |= !strncmp(at + 1, "dc", 2);
        m->device |= !strncmp(at + 1, "io", 2) || !strncmp(at + 1, "pf", 2);
    }
}

/* "Rss:   12 kB" */
static void parse_size(const char *line, struct rtl_mapping *m)
{
    unsigned long long kb;
    if ((!strncmp(line, "Rss:", 4) && sscanf(line + 4, "%llu", &kb) == 1) ||
        (!strncmp(line, "Swap:", 5) && sscanf(line + 5, "%llu", &kb) == 1))
        m->resident += kb << 10;
}

bool rtl_mappings_parse(FILE *smaps, struct rtl_mappings *mappings)
{
    char line[LINE];
    uint32_t room = 0;
    bool start = true; /* of a line: names may be longer than what is read at once */
    *mappings = (struct rtl_mappings){0};
    while (fgets(line, sizeof line, smaps)) {
        struct rtl_mapping m;
        bool whole = strchr(line, '\n') != NULL, first = start;
        start = whole;
        if (!first)
            continue;
        if (!strncmp(line, "VmFlags:", 8) && mappings->count)
            parse_flags(line + 8, &mappings->list[mappings->count - 1]);
        else if ((line[0] == 'R' || line[0] == 'S') && mappings->count)
            parse_size(line, &mappings->list[mappings->count - 1]);
        else if (line[0] != ' ' && (line[0] < 'A' || line[0] > 'Z') && parse_head(line, &m)) {
            if (mappings->count == RTL_MAPPINGS_MAX)
                break;
            if (mappings->count && m.from < mappings->list[mappings->count - 1].to)
                continue; /* the list changed while it was read */
            if (!rtl_grow(&mappings->list, &room, mappings->count + 1u, sizeof *mappings->list)) {
                rtl_mappings_free(mappings);
                return false;
            }
            mappings->list[mappings->count++] = m;
        }
    }
    return true;
}

int rtl_mappings_read(pid_t pid, struct rtl_mappings *mappings)
{
    *mappings = (struct rtl_mappings){0};
    FILE *smaps = rtl_proc_fopen(pid, "smaps");
    if (!smaps)
        return -errno;
    bool ok = rtl_mappings_parse(smaps, mappings);
    fclose(smaps);
    return ok ? 0 : -ENOMEM;
}

void rtl_mappings_free(struct rtl_mappings *mappings)
{
    free(mappings->list);
    *mappings = (struct rtl_mappings){0};
}

static int compare_address(const void *key, const void *element)
{
    const struct rtl_mapping *m = element;
    uint64_t at = *(const uint64_t *)key;
    return (at >= m->to) - (at < m->from);
}

const struct rtl_mapping *rtl_mapping_of(const struct rtl_mappings *mappings, uint64_t at)
{
    return mappings->count ? bsearch(&at, mappings->list, mappings->count, sizeof *mappings->list, compare_address)
                           : NULL;
}
