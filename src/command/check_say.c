/* Prints findings and asks the loader about a library: shared by the checks. See check.h. */
#include "command/check.h"
#include "launch/loader_list.h"
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rtl_check_say(struct rtl_check *check, enum rtl_finding finding, const char *what, const char *format, ...)
{
    static const char *const words[] = {
#define WORD(sym, word) word,
        RTL_FINDINGS(WORD)
#undef WORD
    };
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
