/* The one line for the user. See ui_state.h. */
#include "tui/ui_state.h"

#include <stdarg.h>
#include <stdio.h>

void rtl_ui_say(struct rtl_ui *ui, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ui->message, sizeof ui->message, format, args);
    ui->message_ns = ui->now_mono_ns;
    va_end(args);
}
