/* Names of numbers. See labels.h. */
#include "model/labels.h"

#include <stddef.h>
#include <string.h>

#include "shm/tables.h"

const char *rtl_mode_label(unsigned mode)
{
    static const char *const names[] = {
#define MODE(sym, num, name, text) [num] = name,
        RTL_MODES(MODE)
#undef MODE
    };
    if (mode == RTL_MODE_MIXED)
        return "mixed";
    if (mode == RTL_MODE_CALLS)
        return RTL_MODE_HIP;
    if (mode == RTL_MODE_OBSERVED)
        return "observed";
    return mode < sizeof names / sizeof *names && names[mode] ? names[mode] : "unknown";
}

int rtl_mode_parse(const char *name)
{
#define MODE(sym, num, key, text) \
    if (!strcmp(name, key))       \
        return num;
    RTL_MODES(MODE)
#undef MODE
#define ALIAS(key, sym)     \
    if (!strcmp(name, key)) \
        return RTL_MODE_##sym;
    RTL_MODE_ALIASES(ALIAS)
#undef ALIAS
    return -1;
}

const char *rtl_activity_key(unsigned activity)
{
    static const char *const names[] = {
#define ACTIVITY(sym, num, key) [num] = key,
        RTL_ACTIVITIES(ACTIVITY)
#undef ACTIVITY
    };
    return activity < sizeof names / sizeof *names ? names[activity] : "unknown";
}

/* --- a key for programs and a text for people --- */

struct label_pair {
    const char *key, *text;
};
static const struct label_pair reasons[RTL_UNTIMED_LIMIT] = {
#define LABEL(sym, num, key, text, writer) [num] = {key, text},
    RTL_UNTIMED_REASONS(LABEL)};
static const struct label_pair copy_reasons[RTL_COPY_UNTIMED_LIMIT] = {RTL_COPY_REASONS(LABEL)};
static const struct label_pair directions[RTL_DIRECTION_COUNT] = {RTL_DIRECTIONS(LABEL)};
#undef LABEL

static struct label_pair label_of(const struct label_pair *labels, unsigned count, unsigned number)
{
    return number < count ? labels[number] : (struct label_pair){NULL, NULL};
}

const char *rtl_reason_key(unsigned reason)
{
    return label_of(reasons, RTL_UNTIMED_LIMIT, reason).key;
}

const char *rtl_reason_text(unsigned reason)
{
    return label_of(reasons, RTL_UNTIMED_LIMIT, reason).text;
}

const char *rtl_copy_reason_key(unsigned reason)
{
    return label_of(copy_reasons, RTL_COPY_UNTIMED_LIMIT, reason).key;
}

const char *rtl_copy_reason_text(unsigned reason)
{
    return label_of(copy_reasons, RTL_COPY_UNTIMED_LIMIT, reason).text;
}

const char *rtl_direction_key(unsigned direction)
{
    const char *key = label_of(directions, RTL_DIRECTION_COUNT, direction).key;
    return key ? key : "unknown";
}

const char *rtl_direction_text(unsigned direction)
{
    const char *text = label_of(directions, RTL_DIRECTION_COUNT, direction).text;
    return text ? text : "?";
}

static uint32_t address_of(const struct rtl_snapshot *s, uint32_t gpu)
{
    for (uint32_t i = 0; i < s->agent_count; i++)
        if (s->agents[i].gpu == gpu)
            return s->agents[i].bdf;
    return RTL_NO_BDF;
}

struct rtl_gpu_name rtl_gpu_label(const struct rtl_snapshot *s, uint32_t gpu)
{
    return rtl_gpu_name(gpu, address_of(s, gpu));
}

struct rtl_gpu_name rtl_queue_label(const struct rtl_snapshot *s, const struct rtl_queue_snapshot *q)
{
    uint32_t bdf = address_of(s, q->gpu);
    return q->shared ? rtl_other_queues_name(q->gpu, bdf) : rtl_queue_name(q->gpu, bdf, q->queue_id);
}
