/* Keys on the question what to do with a started command. See leave.h. */
#include "tui/leave.h"
#include "tui/keys.h"

enum rtl_leave_answer rtl_leave_key(uint32_t key, int *menu)
{
#define KEY(sym, key_, name, meaning, again) \
    if (key == (key_))                       \
        return RTL_LEAVE_##sym;
    RTL_LEAVE_ANSWERS(KEY)
#undef KEY
    if (key == RTL_KEY_ESC || key == 'q')
        return RTL_LEAVE_STAY;
    if (key == RTL_KEY_ENTER || key == '\n')
        return (enum rtl_leave_answer) * menu;
    if ((key == RTL_KEY_UP || key == 'k') && *menu > 0)
        --*menu;
    if ((key == RTL_KEY_DOWN || key == 'j') && *menu < RTL_LEAVE_COUNT - 1)
        ++*menu;
    return RTL_LEAVE_COUNT;
}
