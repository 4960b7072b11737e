/* The user's rules and nicknames. See names_user.h. */
#include "text/names_user.h"
#include "text/names_rules.h"

#include <stdint.h>

#include <stdlib.h>
#include <string.h>

struct user_rule {
    struct rtl_name_rule rule;
    enum rtl_name_family family;
};

struct rtl_name_rules {
    struct user_rule rules[RTL_USER_RULES_MAX];
    struct {
        char *pattern, *text;
    } nicknames[RTL_USER_RULES_MAX];
    size_t rule_count, nickname_count;
};

static const struct rtl_name_rules *in_force; /* written before there are threads */

struct rtl_name_rules *rtl_name_rules_create(void)
{
    return calloc(1, sizeof(struct rtl_name_rules));
}

void rtl_name_rules_free(struct rtl_name_rules *rules)
{
    if (!rules)
        return;
    if (in_force == rules)
        in_force = NULL;
    for (size_t i = 0; i < rules->rule_count; i++) {
        free((void *)(uintptr_t)rules->rules[i].rule.kernel);
        free((void *)(uintptr_t)rules->rules[i].rule.show);
    }
    for (size_t i = 0; i < rules->nickname_count; i++) {
        free(rules->nicknames[i].pattern);
        free(rules->nicknames[i].text);
    }
    free(rules);
}

bool rtl_name_rules_add(struct rtl_name_rules *rules, enum rtl_name_family family, const char *pattern,
                        const char *show)
{
    if (rules->rule_count == RTL_USER_RULES_MAX)
        return false;
    char *kernel = strdup(pattern), *shown = show && *show ? strdup(show) : NULL;
    if (!kernel || (show && *show && !shown)) {
        free(kernel);
        free(shown);
        return false;
    }
    rules->rules[rules->rule_count++] = (struct user_rule){.rule = {.kernel = kernel, .show = shown}, .family = family};
    return true;
}

bool rtl_name_rules_call(struct rtl_name_rules *rules, const char *pattern, const char *nickname)
{
    if (rules->nickname_count == RTL_USER_RULES_MAX)
        return false;
    char *kernel = strdup(pattern), *text = strdup(nickname);
    if (!kernel || !text) {
        free(kernel);
        free(text);
        return false;
    }
    rules->nicknames[rules->nickname_count].pattern = kernel;
    rules->nicknames[rules->nickname_count++].text = text;
    return true;
}

void rtl_name_rules_use(const struct rtl_name_rules *rules)
{
    in_force = rules;
}

const struct rtl_name_rules *rtl_name_rules_in_force(void)
{
    return in_force;
}

const struct rtl_name_rule *rtl_name_rules_rule(const struct rtl_name_rules *rules, size_t number)
{
    return rules && number < rules->rule_count ? &rules->rules[number].rule : NULL;
}

enum rtl_name_family rtl_name_rules_family(const struct rtl_name_rules *rules, size_t number)
{
    return rules->rules[number].family;
}

const char *rtl_name_rules_nickname(const struct rtl_name_rules *rules, size_t number, const char **pattern)
{
    if (!rules || number >= rules->nickname_count)
        return NULL;
    *pattern = rules->nicknames[number].pattern;
    return rules->nicknames[number].text;
}
