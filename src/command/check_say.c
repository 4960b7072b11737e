/* Prints findings, and checks libraries and lists of libraries. See check.h. */
#include "command/check.h"
#include "launch/library.h"
#include "text/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void rtl_check_say(struct rtl_check *check, enum rtl_finding finding, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "open", "wrong"};
    char text[3 * PATH_MAX], line[4 * sizeof text + 1]; /* file names may have any bytes */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rtl_text_line(line, sizeof line, text, strlen(text));
    printf("%-6s %-12s %s\n", words[finding], what, line);
    check->wrong |= finding == RTL_FINDING_WRONG;
}

void rtl_check_loads(struct rtl_check *check, const char *what, const char *library)
{
    char why[2 * PATH_MAX], *list = rtl_loader_list(library);
    if (list && rtl_loader_complaint(list, why, sizeof why))
        rtl_check_say(check, RTL_FINDING_WRONG, what, "%s can't be loaded here: %s", library, why);
    else
        rtl_check_say(check, RTL_FINDING_OK, what, "%s", library);
    free(list);
}

/* Reports each library of the list in a variable; `unreadable` is the finding for one that can't be read. */
static bool check_list(struct rtl_check *check, const char *what, const char *variable, const char *library,
                       enum rtl_finding unreadable, bool (*next)(const char **, char *, size_t),
                       bool (*displaces)(const char *, const char *))
{
    const char *list = getenv(variable), *at = list;
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    bool listed = false;
    while (name && next(&at, name, strlen(list) + 1)) {
        bool ours = displaces(name, library);
        listed |= ours;
        if (!strcmp(name, library))
            rtl_check_say(check, RTL_FINDING_OK, what, "%s already has the library", variable);
        else if (ours)
            rtl_check_say(check, RTL_FINDING_OK, what, "%s lists %s: ours replaces it", variable, name);
        else if (strchr(name, '/') && access(name, R_OK) != 0)
            rtl_check_say(check, unreadable, what, "%s lists %s: %s", variable, name, strerror(errno));
        else
            rtl_check_say(check, RTL_FINDING_OK, what, "%s also loads %s, before ours", variable, name);
    }
    free(name);
    return listed;
}

bool rtl_check_tools(struct rtl_check *check, const char *library)
{
    const char *list = getenv("HSA_TOOLS_LIB");
    if (!list || rtl_tools_sane(list))
        return check_list(check, "tools", "HSA_TOOLS_LIB", library, RTL_FINDING_WRONG, rtl_tools_next,
                          rtl_tools_displaces);
    rtl_check_say(check, RTL_FINDING_WRONG, "tools",
                  "HSA_TOOLS_LIB ends with a backslash, on which the HSA runtime hangs: unset it");
    return false;
}

void rtl_check_preloads(struct rtl_check *check, const char *hip)
{
    /* the loader only warns of a library that it can't preload */
    check_list(check, "preload", "LD_PRELOAD", hip, RTL_FINDING_OPEN, rtl_preload_next, rtl_preload_same_kind);
}
