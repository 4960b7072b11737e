/* One line on standard error. See complain.h. */
#include "session/complain.h"

#include <stdarg.h>
#include <stdio.h>

void rtl_complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rtl-top: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
