/* The user's own rules and nicknames for kernels: kept here, read from the configuration elsewhere. */
#ifndef RTL_TEXT_NAMES_USER_H
#define RTL_TEXT_NAMES_USER_H

#include "text/name_forms.h"
#include "text/names_rules.h"

/* Rule `number`; NULL when there are no more. `rules` may be NULL. */
const struct rtl_name_rule *rtl_name_rules_rule(const struct rtl_name_rules *rules, size_t number);
enum rtl_name_family rtl_name_rules_family(const struct rtl_name_rules *rules, size_t number);
/* Nickname `number`, and of which kernels; NULL when there are no more. */
const char *rtl_name_rules_nickname(const struct rtl_name_rules *rules, size_t number, const char **pattern);

/* What rtl_names_create takes along. */
const struct rtl_name_rules *rtl_name_rules_in_force(void);

#endif
