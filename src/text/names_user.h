/* The user's rules and nicknames for kernels. src/options/config.c reads them from the configuration file. */
#ifndef RTL_TEXT_NAMES_USER_H
#define RTL_TEXT_NAMES_USER_H

#include <stdbool.h>
#include <stddef.h>

#include "text/names_forms.h"

enum { RTL_USER_RULES_MAX = 256 }; /* rules, and as many nicknames */
struct rtl_name_rule;
struct rtl_name_rules;
struct rtl_name_rules *rtl_name_rules_create(void);
void rtl_name_rules_free(struct rtl_name_rules *rules);

/* Add a rule (names_rules.h), which precedes the built-in ones. A rule with `show` NULL or "" sets only the family.
 * False if there are RTL_USER_RULES_MAX already, or without memory. */
bool rtl_name_rules_add(struct rtl_name_rules *rules, enum rtl_name_family family, const char *pattern,
                        const char *show);
/* Add a nickname (safe text) for all kernels whose own, full or mangled name matches the pattern. False as above. */
bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname);

/* Return rule or nickname `number` (from 0), or NULL when there are no more. `rules` may be NULL. */
const struct rtl_name_rule *rtl_name_rules_rule(const struct rtl_name_rules *rules, size_t number);
enum rtl_name_family rtl_name_rules_family(const struct rtl_name_rules *rules, size_t number);
const char *rtl_name_rules_nickname(const struct rtl_name_rules *rules, size_t number, const char **pattern);

/* Set the rules that every later rtl_names_create uses; NULL for none. Call it before there are threads. The rules must
 * outlive those names. */
void rtl_name_rules_use(const struct rtl_name_rules *rules);
const struct rtl_name_rules *rtl_name_rules_in_force(void);

#endif
