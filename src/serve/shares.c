/* Shares of names and GPUs per user. See shares.h. */
#include "serve/shares.h"

static uint32_t subtract(uint32_t most, uint32_t used)
{
    return used < most ? most - used : 0;
}

/* A user has `used` entries of a table with `room`. Return how many more the user may have: at most `most` in all, and
 * no more than stay free then. */
static uint32_t allowance(uint32_t most, uint32_t room, uint32_t in_use, uint32_t used)
{
    uint32_t left = subtract(most, used), spare = subtract(subtract(room, in_use), used) / 2;
    return left < spare ? left : spare;
}

/* Return the used entries of a table; long names use the room of several. */
static uint32_t entries_used(const struct rtl_ranked *ranked)
{
    uint32_t entries = rtl_ranked_living(ranked), texts = (uint32_t)(ranked->text / RTL_SERIES_TEXT_EACH);
    return entries > texts ? entries : texts;
}

struct rtl_share rtl_user_share(const struct rtl_user *user, const struct rtl_totals *totals, uint32_t names)
{
    uint32_t of_user = allowance(RTL_USER_NAMES, RTL_SERIES_MAX, entries_used(&totals->kernels), user->names);
    uint32_t of_process = subtract(RTL_PROCESS_NAMES, names);
    if (user->trusted)
        return (struct rtl_share){.names = RTL_SERIES_MAX, .gpus = RTL_SERVED_GPUS};
    return (struct rtl_share){.names = of_user < of_process ? of_user : of_process,
                              .gpus = allowance(RTL_USER_GPUS, RTL_SERVED_GPUS, totals->gpu_count, user->gpus)};
}

/* Counts by uid, not by account, because an account may be recycled before its series are removed. */
static uint32_t series_left(const struct rtl_user *user, const struct rtl_ranked *ranked)
{
    return user->trusted ? RTL_SERIES_MAX
                         : allowance(RTL_USER_NAMES, RTL_SERIES_MAX, entries_used(ranked),
                                     rtl_ranked_count_owned(ranked, user->uid));
}

void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share)
{
    share->owner = user->uid;
    share->functions = series_left(user, &totals->functions);
    share->ranges = series_left(user, &totals->ranges);
}

void rtl_user_charge_share(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                           const struct rtl_share *after)
{
    user->names += before->names - after->names;
    user->gpus += before->gpus - after->gpus;
    *names += before->names - after->names;
}

void rtl_user_release_names(struct rtl_user *user, uint32_t names)
{
    user->names = subtract(user->names, names);
}
