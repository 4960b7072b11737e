/* Names by number. See labels.h. */
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

const char *rtl_force_key(unsigned force)
{
    static const char *const names[] = {
#define FORCE(sym, num, key) [num] = key,
        RTL_FORCES(FORCE)
#undef FORCE
    };
    return force < sizeof names / sizeof *names ? names[force] : "unknown";
}

static const struct {
    const char *key, *text;
} reasons[RTL_UNTIMED_LIMIT] = {
#define REASON(sym, num, name, meaning, writer) [num] = {name, meaning},
    RTL_UNTIMED_REASONS(REASON)
#undef REASON
};

const char *rtl_reason_key(unsigned reason)
{
    return reason < RTL_UNTIMED_LIMIT ? reasons[reason].key : NULL;
}

const char *rtl_reason_text(unsigned reason)
{
    return reason < RTL_UNTIMED_LIMIT ? reasons[reason].text : NULL;
}

static const struct {
    const char *key, *text;
} copy_reasons[RTL_COPY_UNTIMED_LIMIT] = {
#define REASON(sym, num, name, meaning, writer) [num] = {name, meaning},
    RTL_COPY_REASONS(REASON)
#undef REASON
};

const char *rtl_copy_reason_key(unsigned reason)
{
    return reason < RTL_COPY_UNTIMED_LIMIT ? copy_reasons[reason].key : NULL;
}

const char *rtl_copy_reason_text(unsigned reason)
{
    return reason < RTL_COPY_UNTIMED_LIMIT ? copy_reasons[reason].text : NULL;
}

static const struct {
    const char *key, *text;
} directions[RTL_DIRECTION_COUNT] = {
#define DIRECTION(sym, num, name, short_, meaning) [num] = {name, short_},
    RTL_DIRECTIONS(DIRECTION)
#undef DIRECTION
};

const char *rtl_direction_key(unsigned direction)
{
    return direction < RTL_DIRECTION_COUNT ? directions[direction].key : "unknown";
}

const char *rtl_direction_text(unsigned direction)
{
    return direction < RTL_DIRECTION_COUNT ? directions[direction].text : "?";
}
