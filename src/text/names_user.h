/* The user's rules and nicknames for kernels. src/options/config.c reads them from the configuration file. */
#ifndef RTL_TEXT_NAMES_USER_H
#define RTL_TEXT_NAMES_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "text/names_forms.h"

enum { RTL_USER_RULES_MAX = 256 }; /* rules, and as many nicknames */
struct rtl_user_rule {
    char *pattern, *text;        /* text: the nickname, or what a rule shows; NULL: it only sets the family */
    enum rtl_name_family family; /* of a rule */
};
struct rtl_user_rules {
    struct rtl_user_rule rule[RTL_USER_RULES_MAX];
    size_t count;
};
struct rtl_name_rules {
    struct rtl_user_rules rules, nicknames;
};
struct rtl_name_rules *rtl_name_rules_create(void);
void rtl_name_rules_free(struct rtl_name_rules *rules);

/* Add a rule (names_rules.h), which precedes the built-in ones. A rule with `show` NULL or "" sets only the family.
 * False if there are RTL_USER_RULES_MAX already, or without memory. */
bool rtl_name_rules_add(struct rtl_name_rules *rules, enum rtl_name_family family, const char *pattern,
                        const char *show);
/* Add a nickname (safe text) for all kernels whose own, full or mangled name matches the pattern. False as above. */
bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname);

/* Set the rules that every later rtl_names_create uses; NULL for none. Call it before there are threads. The rules must
 * outlive those names. */
void rtl_name_rules_use(const struct rtl_name_rules *rules);
const struct rtl_name_rules *rtl_name_rules_in_force(void);

#endif
