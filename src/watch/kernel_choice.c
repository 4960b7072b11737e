/* Finds kernels by name. See kernel_choice.h. */
#include "watch/kernel_choice.h"

#include <string.h>

static void add_candidate(struct rtl_kernel_choice *choice, const struct rtl_kernel_snapshot *k)
{
    uint32_t at = choice->count < RTL_CANDIDATES_MAX ? choice->count : RTL_CANDIDATES_MAX;
    choice->count++;
    if (at == RTL_CANDIDATES_MAX && choice->candidate[--at]->calls >= k->calls)
        return;
    for (; at && choice->candidate[at - 1]->calls < k->calls; at--)
        choice->candidate[at] = choice->candidate[at - 1];
    choice->candidate[at] = k;
}

static bool is_candidate(const struct rtl_kernel_choice *choice, const struct rtl_kernel_snapshot *k)
{
    bool there = false;
    for (uint32_t i = 0; i < choice->count && i < RTL_CANDIDATES_MAX && !there; i++)
        there = choice->candidate[i] == k;
    return there;
}

/*
 * Compares the text with short names as the screen shows them. Of two equal short names, the kernel that was seen first
 * keeps the plain name, and the second gets another word or a hash. Outputs see kernels in different orders, so this
 * tries both.
 */
static void choose_shown(const struct rtl_snapshot *snapshot, const char *text, struct rtl_kernel_choice *choice)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        struct rtl_names *names = rtl_names_create();
        for (uint32_t i = 0; names && i < snapshot->kernel_count; i++) {
            const struct rtl_kernel_snapshot *k = &snapshot->kernels[backwards ? snapshot->kernel_count - 1 - i : i];
            if (k->id >= RTL_KERNEL_FIRST && !is_candidate(choice, k) &&
                strcmp(rtl_names_cell(names, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, true),
                       text) == 0)
                add_candidate(choice, k);
        }
        rtl_names_free(names);
    }
}

void rtl_kernel_choose(const struct rtl_snapshot *snapshot, struct rtl_names *names, const char *text,
                       struct rtl_kernel_choice *choice)
{
    *choice = (struct rtl_kernel_choice){.kernel = NULL};
    for (int whole = 1; whole >= 0 && !choice->count; whole--) {
        for (uint32_t i = 0; i < snapshot->kernel_count; i++) {
            const struct rtl_kernel_snapshot *k = &snapshot->kernels[i];
            if (k->id < RTL_KERNEL_FIRST)
                continue; /* it has no row */
            if (whole ? rtl_names_is(names, k->id, k->name, k->name_length, text)
                      : rtl_names_match(names, k->id, k->name, k->name_length, text))
                add_candidate(choice, k);
        }
        if (whole && !choice->count)
            choose_shown(snapshot, text, choice);
    }
    if (choice->count == 1)
        choice->kernel = choice->candidate[0];
}

const char *rtl_kernel_candidate(const struct rtl_kernel_choice *choice, uint32_t number, struct rtl_names *names,
                                 bool ascii)
{
    const struct rtl_kernel_snapshot *k = choice->candidate[number];
    return rtl_names_cell(names, k->id, k->name, k->name_length, RTL_NAME_FULL, RTL_CANDIDATE_COLUMNS, ascii);
}
