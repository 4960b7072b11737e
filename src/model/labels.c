/* Names of numbers. See labels.h. */
#include "model/labels.h"

#include <string.h>

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

struct rtl_key_text rtl_reason_names(unsigned reason)
{
    static const struct rtl_key_text names[RTL_UNTIMED_LIMIT] = {
#define LABEL(sym, num, key, text, writer) [num] = {key, text},
        RTL_UNTIMED_REASONS(LABEL)};
    return reason < RTL_UNTIMED_LIMIT ? names[reason] : (struct rtl_key_text){NULL, NULL};
}

struct rtl_key_text rtl_copy_reason_names(unsigned reason)
{
    static const struct rtl_key_text names[RTL_COPY_UNTIMED_LIMIT] = {RTL_COPY_REASONS(LABEL)};
    return reason < RTL_COPY_UNTIMED_LIMIT ? names[reason] : (struct rtl_key_text){NULL, NULL};
}

struct rtl_key_text rtl_direction_names(unsigned direction)
{
    static const struct rtl_key_text names[RTL_DIRECTION_COUNT] = {RTL_DIRECTIONS(LABEL)};
#undef LABEL
    return direction < RTL_DIRECTION_COUNT ? names[direction] : (struct rtl_key_text){"unknown", "?"};
}

static uint32_t address_of(const struct rtl_snapshot *s, uint32_t gpu)
{
    const struct rtl_agent_snapshot *agent = rtl_agent_of(s, gpu);
    return agent ? agent->bdf : RTL_NO_BDF;
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
