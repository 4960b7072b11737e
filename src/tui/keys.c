/* The keys as data. See keys.h. */
#include "tui/keys.h"

#include <stdio.h>

#define KEY(sym, a, b, c, in, rank_, label_, meaning_) \
    [RTL_ACTION_##sym] = {.keys = {a, b, c}, .where = in, .rank = rank_, .label = label_, .meaning = meaning_},
const struct rtl_key_info rtl_keys[RTL_ACTION_COUNT] = {RTL_KEYS(KEY)};
#undef KEY

enum rtl_action rtl_key_action(uint32_t key, unsigned where)
{
    if (key == '\n')
        key = RTL_KEY_ENTER;
    for (int i = 1; key && i < RTL_ACTION_COUNT; i++)
        for (int k = 0; k < 3; k++)
            if (rtl_keys[i].keys[k] == key && (rtl_keys[i].where & where))
                return (enum rtl_action)i;
    return RTL_ACTION_NONE;
}

int rtl_key_step(uint32_t key)
{
    return (key == RTL_KEY_DOWN || key == 'j') - (key == RTL_KEY_UP || key == 'k');
}

int rtl_key_line(unsigned where, enum rtl_action actions[RTL_ACTION_COUNT])
{
    int count = 0;
    for (int i = 1; i < RTL_ACTION_COUNT; i++) {
        if (!rtl_keys[i].rank || !(rtl_keys[i].where & where) || i == RTL_ACTION_QUIT)
            continue;
        int at = count++;
        for (; at && rtl_keys[actions[at - 1]].rank > rtl_keys[i].rank; at--)
            actions[at] = actions[at - 1];
        actions[at] = (enum rtl_action)i;
    }
    return count;
}

int rtl_key_sharers(enum rtl_action action)
{
    int count = 1;
    while (action + count < RTL_ACTION_COUNT && !rtl_keys[action + count].label[0])
        count++;
    return count;
}

struct rtl_key_name rtl_key_name(uint32_t key)
{
    static const struct {
        uint32_t key;
        const char *name;
    } names[] = {{' ', "Space"},
                 {RTL_KEY_TAB, "Tab"},
                 {RTL_KEY_ENTER, "Enter"},
                 {RTL_KEY_ESC, "Esc"},
                 {RTL_KEY_UP, "Up"},
                 {RTL_KEY_DOWN, "Down"},
                 {RTL_KEY_LEFT, "Left"},
                 {RTL_KEY_RIGHT, "Right"},
                 {RTL_KEY_PAGE_UP, "PgUp"},
                 {RTL_KEY_PAGE_DOWN, "PgDn"},
                 {RTL_KEY_HOME, "Home"},
                 {RTL_KEY_END, "End"},
                 {RTL_KEY_BACKSPACE, "Backspace"}};
    struct rtl_key_name name = {""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == key) {
            snprintf(name.text, sizeof name.text, "%s", names[i].name);
            return name;
        }
    if (key > RTL_KEY_F0 && key <= RTL_KEY_F(12))
        snprintf(name.text, sizeof name.text, "F%u", key - RTL_KEY_F0);
    else if (key && key < 32)
        snprintf(name.text, sizeof name.text, "Ctrl-%c", (char)(key + 64));
    else if (key > 32 && key < 127)
        snprintf(name.text, sizeof name.text, "%c", (char)key);
    return name;
}
