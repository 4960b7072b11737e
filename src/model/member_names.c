/* Names and groups of the processes of a snapshot. See member_names.h. */
#include "model/member_names.h"
#include "model/merge_parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 5 };

static const struct {
    const char *letters;
    int place;
} dimensions[] = {
#define COORDINATE(letters, place) {letters, place},
    RTL_COORDINATES(COORDINATE)
#undef COORDINATE
};

/* --- coordinates --- */

/* Read letters and a number that end at a separator. Return the dimension, or -1. */
static int read_coordinate(const char *text, size_t length, uint32_t *number)
{
    size_t letters = 0, digits = 0;
    *number = 0;
    while (letters < length && isupper((unsigned char)text[letters]))
        letters++;
    for (; letters + digits < length && isdigit((unsigned char)text[letters + digits]); digits++)
        if (digits < DIGITS_MAX)
            *number = 10 * *number + (uint32_t)(text[letters + digits] - '0');
    bool ends = letters + digits == length || strchr("_ -:)", text[letters + digits]);
    if (!digits || digits > DIGITS_MAX || !ends)
        return -1;
    for (int i = 0; i < RTL_COORDINATE_COUNT; i++)
        if (strlen(dimensions[i].letters) == letters && !memcmp(dimensions[i].letters, text, letters))
            return i;
    return -1;
}

struct rtl_coordinates rtl_coordinates_find(const char *text, size_t length)
{
    static const char moe[] = "MOE_"; /* SGLang's MOE_DP follows from the other coordinates */
    struct rtl_coordinates found = {0};
    for (size_t at = 0; at < length; at++) {
        uint32_t number;
        bool begins = !at || strchr("_ -:(", text[at - 1]);
        bool follows = at >= sizeof moe - 1 && !memcmp(text + at - (sizeof moe - 1), moe, sizeof moe - 1);
        int dimension = begins && !follows ? read_coordinate(text + at, length - at, &number) : -1;
        if (dimension < 0 || found.set >> dimension & 1)
            continue;
        found.set |= 1u << dimension;
        found.number[dimension] = number;
    }
    return found;
}

void rtl_coordinates_text(const struct rtl_coordinates *c, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < RTL_COORDINATE_COUNT; i++) {
        char text[16];
        if (!(c->set >> i & 1))
            continue;
        int n = snprintf(text, sizeof text, "%s%s%u", used ? "_" : "", dimensions[i].letters, c->number[i]);
        if (used + (size_t)n < size)
            used += (size_t)snprintf(out + used, size - used, "%s", text);
    }
}

int rtl_coordinates_rank(const struct rtl_coordinates *c)
{
    int rank = -1, count = 0;
    for (int i = 0; i < RTL_COORDINATE_COUNT; i++)
        if (c->set >> i & 1 && dimensions[i].place) {
            rank = (int)c->number[i];
            count++;
        }
    return count == 1 ? rank : -1;
}

/* --- peer groups --- */

/* Two workers have the same dimensions. Return the place of the only dimension in which they differ; 0: none, -1:
 * several. */
static int differing_place(const struct rtl_coordinates *a, const struct rtl_coordinates *b)
{
    int place = 0;
    for (int i = 0; i < RTL_COORDINATE_COUNT; i++)
        if (a->set >> i & 1 && dimensions[i].place && a->number[i] != b->number[i]) {
            if (place)
                return -1;
            place = dimensions[i].place;
        }
    return place;
}

/* True for "D0", a list of devices. Ranks that each have a container use the same list. */
static bool lists_devices(const char *label)
{
    return *label == 'D' && isdigit((unsigned char)label[1]);
}

/*
 * Number the servers. Two servers side by side use the same labels: the n-th process with a label, in the order in
 * which processes joined, belongs to the n-th server. This is a guess: a rank that was started again joins last.
 * Processes that all have one label are replicas, and are compared.
 */
static void number_servers(const struct rtl_member *members, uint32_t count, uint32_t server[RTL_MEMBERS_MAX])
{
    const char *first = NULL;
    bool differ = false;
    memset(server, 0, sizeof(uint32_t[RTL_MEMBERS_MAX]));
    for (uint32_t i = 0; i < count; i++) {
        const char *label = members[i].info.label;
        if (!*label || lists_devices(label))
            continue;
        first = first ? first : label;
        differ |= strcmp(first, label) != 0;
        for (uint32_t j = 0; j < i; j++)
            server[i] += members[j].ended == members[i].ended && !strcmp(members[j].info.label, label);
    }
    if (!differ)
        memset(server, 0, sizeof(uint32_t[RTL_MEMBERS_MAX]));
}

/* A peer group has the index of its first member, from 1; workers without coordinates are one group a server. */
static void set_peer_groups(struct rtl_member *members, uint32_t count)
{
    struct rtl_coordinates at[RTL_MEMBERS_MAX];
    uint32_t server[RTL_MEMBERS_MAX];
    int place[RTL_MEMBERS_MAX] = {0}; /* along which workers with these dimensions are compared; 0: not known yet */
    for (uint32_t i = 0; i < count; i++)
        at[i] = rtl_coordinates_find(members[i].info.label, strlen(members[i].info.label));
    number_servers(members, count, server);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = i;
        for (uint32_t j = 0; j < i && first == i; j++)
            if (at[j].set == at[i].set)
                first = j;
        place[i] = place[first];
        for (uint32_t j = first; first == i && j < count; j++)
            for (uint32_t k = j + 1; at[j].set == at[i].set && k < count; k++) {
                int differs = at[k].set == at[i].set ? differing_place(&at[j], &at[k]) : 0;
                if (differs > 0 && (!place[i] || differs < place[i]))
                    place[i] = differs;
            }
        members[i].peer_group = at[i].set ? i + 1 : RTL_MEMBERS_MAX + 1 + server[i];
        for (uint32_t j = first; j < i; j++) {
            bool peers = at[j].set && at[j].set == at[i].set && server[j] == server[i];
            int differs = peers ? differing_place(&at[j], &at[i]) : -1;
            if (!differs || differs == place[i]) {
                members[i].peer_group = members[j].peer_group;
                break;
            }
        }
    }
}

/* --- names --- */

static bool on_one_gpu(const struct rtl_member *member)
{
    return member->gpus && !(member->gpus & (member->gpus - 1));
}

static void name_by_gpu(struct rtl_member *member)
{
    snprintf(member->name, sizeof member->name, "G%d", __builtin_ctzll(member->gpus));
}

/* Mark members with equal names. With `keep`, a member keeps its name if it is the only one of them that has not ended:
 * a worker that was started again. */
static void mark_equal(const struct rtl_member *members, uint32_t count, bool keep, bool equal[RTL_MEMBERS_MAX])
{
    for (uint32_t i = 0; i < count; i++) {
        bool others = false, living = false;
        for (uint32_t j = 0; j < count; j++)
            if (j != i && !strcmp(members[i].name, members[j].name)) {
                others = true;
                living |= !members[j].ended;
            }
        equal[i] = others && (!keep || members[i].ended || living);
    }
}

/* False for a label that rtl-top did not write (a damaged recording): "[" and "#" are reserved for the marks below. */
static bool is_label(const char *label)
{
    return *label && label[strspn(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
}

void rtl_members_name(struct rtl_member *members, uint32_t count)
{
    bool equal[RTL_MEMBERS_MAX];
    count = count < RTL_MEMBERS_MAX ? count : RTL_MEMBERS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_member *m = &members[i];
        if (!is_label(m->info.label))
            m->info.label[0] = '\0';
        if (*m->info.label)
            snprintf(m->name, sizeof m->name, "%s", m->info.label);
        else if (on_one_gpu(m))
            name_by_gpu(m);
        else
            snprintf(m->name, sizeof m->name, "%d", (int)m->info.pid);
    }
    set_peer_groups(members, count);
    /* equal device numbers may mean different devices in two containers: the segment knows the GPU */
    mark_equal(members, count, true, equal);
    for (uint32_t i = 0; i < count; i++)
        if (equal[i] && lists_devices(members[i].name) && on_one_gpu(&members[i]))
            name_by_gpu(&members[i]);
    mark_equal(members, count, true, equal);
    for (uint32_t i = 0; i < count; i++)
        if (equal[i]) {
            char mark[16];
            int n = snprintf(mark, sizeof mark, "[%d]", (int)members[i].info.pid);
            size_t at = strlen(members[i].name), most = sizeof members[i].name - (size_t)n - 1;
            memcpy(members[i].name + (at < most ? at : most), mark, (size_t)n + 1);
        }
    mark_equal(members, count, false, equal); /* an ended process with the same pid, a recording of another host */
    for (uint32_t i = 0; i < count; i++)
        if (equal[i])
            snprintf(members[i].name, sizeof members[i].name, "#%u", members[i].number);
}
