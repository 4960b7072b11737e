/* Recognises rocprofiler-sdk. See profiler.h. */
#include "shm/profiler.h"
#include "shm/reader_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Parse a switch as the runtime and rocprofiler-register do: 0 and the words in `off` are off, all else is on. */
static bool is_on(const char *value)
{
    static const char *const off[] = {"off", "false", "no", "n", "f"};
    if (*value && value[strspn(value, "0123456789")] == '\0')
        return value[strspn(value, "0")] != '\0';
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcasecmp(value, off[i]) == 0)
            return false;
    return true;
}

void rtl_profiler_because(struct rtl_profiler *p, const char *format, ...)
{
    char text[sizeof p->why];
    va_list args;
    if (p->active || p->disabled)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->active = true;
    rtl_copy_printable(p->why, sizeof p->why, text, strlen(text));
}

void rtl_profiler_variable(struct rtl_profiler *p, const char *entry)
{
    static const char *const tools[] = {"ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER_LIBRARY"};
    const char *value = strchr(entry, '=');
    size_t length = value ? (size_t)(value++ - entry) : 0;
#define IS(name) (length == strlen(name) && memcmp(entry, name, length) == 0)
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (IS(tools[i]) && *value)
            rtl_profiler_because(p, "%s", entry);
    if (IS("ROCPROFILER_REGISTER_FORCE_LOAD") && is_on(value))
        rtl_profiler_because(p, "%s", entry);
    if (IS("ROCPROFILER_REGISTER_ENABLED") && !is_on(value)) {
        p->disabled = true;
        p->active = false;
    }
    if (IS(RTL_PROFILER_BOTH))
        p->both = is_on(value);
#undef IS
}
