/* The user's rules and nicknames. See names_user.h. */
#include "text/names_user.h"

#include <stdlib.h>
#include <string.h>

static const struct rtl_name_rules *in_force; /* written before there are threads */

struct rtl_name_rules *rtl_name_rules_create(void)
{
    return calloc(1, sizeof(struct rtl_name_rules));
}

static void free_list(struct rtl_user_rules *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->rule[i].pattern);
        free(list->rule[i].text);
    }
}

void rtl_name_rules_free(struct rtl_name_rules *rules)
{
    if (!rules)
        return;
    if (in_force == rules)
        in_force = NULL;
    free_list(&rules->rules);
    free_list(&rules->nicknames);
    free(rules);
}

static bool add_rule(struct rtl_user_rules *list, enum rtl_name_family family, const char *pattern, const char *text)
{
    if (list->count == RTL_USER_RULES_MAX)
        return false;
    struct rtl_user_rule *rule = &list->rule[list->count];
    *rule = (struct rtl_user_rule){strdup(pattern), text ? strdup(text) : NULL, family};
    if (rule->pattern && !rule->text == !text) {
        list->count++;
        return true;
    }
    free(rule->pattern);
    free(rule->text);
    return false;
}

bool rtl_name_rules_add(struct rtl_name_rules *rules, enum rtl_name_family family, const char *pattern,
                        const char *show)
{
    return add_rule(&rules->rules, family, pattern, show && *show ? show : NULL);
}

bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname)
{
    return add_rule(&rules->nicknames, RTL_FAMILY_OTHER, pattern, nickname);
}

void rtl_name_rules_use(const struct rtl_name_rules *rules)
{
    in_force = rules;
}

const struct rtl_name_rules *rtl_name_rules_in_force(void)
{
    return in_force;
}
