/* Quotas per user. See users.h. */
#include "serve/users.h"

struct rtl_user *rtl_user_known(struct rtl_users *users, uid_t uid)
{
    for (uint32_t i = 0; i < users->count; i++)
        if (users->user[i].uid == uid && !users->user[i].several)
            return &users->user[i];
    return NULL;
}

/* True if the account is like a new one. A user with GPUs keeps it, because GPUs are never removed. */
static bool is_idle(struct rtl_user *user, uint64_t now_ns)
{
    return !user->trusted && !user->several && !user->processes && !user->names && !user->gpus && !user->bytes &&
           rtl_user_may_read(user, now_ns) && user->left_ns == RTL_USER_BURST_NS;
}

/* Return an unused or idle account; NULL if all are in use. */
static struct rtl_user *find_account(struct rtl_users *users, uint64_t now_ns)
{
    if (users->count < RTL_USERS_MAX)
        return &users->user[users->count++];
    for (uint32_t i = 0; i < RTL_USERS_MAX; i++)
        if (is_idle(&users->user[i], now_ns))
            return &users->user[i];
    return NULL;
}

static struct rtl_user fresh_user(uid_t uid, uint64_t now_ns)
{
    return (struct rtl_user){.uid = uid, .left_ns = RTL_USER_BURST_NS, .at_ns = now_ns};
}

struct rtl_user *rtl_user_of(struct rtl_users *users, uid_t uid, uint64_t now_ns)
{
    enum { OWN, SEVERAL };
    if (!users->count) { /* these two are never recycled */
        users->user[OWN] = fresh_user(users->own, now_ns);
        users->user[OWN].trusted = true;
        users->user[SEVERAL] = fresh_user((uid_t)-1, now_ns);
        users->user[SEVERAL].several = true;
        users->count = SEVERAL + 1;
    }
    struct rtl_user *user = rtl_user_known(users, uid);
    if (user)
        return user;
    user = uid == (uid_t)-1 ? NULL : find_account(users, now_ns);
    if (!user)
        return &users->user[SEVERAL];
    *user = fresh_user(uid, now_ns);
    return user;
}

bool rtl_user_may_add_process(const struct rtl_user *user)
{
    return user->trusted || user->processes < RTL_USER_PROCESSES;
}

bool rtl_user_may_hold(struct rtl_user *user, uint64_t *held, uint64_t now)
{
    user->bytes -= *held;
    bool may = user->trusted || now <= RTL_USER_BYTES - user->bytes;
    *held = may ? now : 0;
    user->bytes += *held;
    return may;
}

const struct rtl_user *rtl_users_over_limit(const struct rtl_users *users)
{
    const struct rtl_user *most = NULL;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < users->count; i++) {
        const struct rtl_user *user = &users->user[i];
        sum += user->trusted ? 0 : user->bytes;
        if (!user->trusted && (!most || user->bytes > most->bytes))
            most = user;
    }
    return sum > RTL_USERS_BYTES ? most : NULL;
}

/* Maximum debt. */
static const int64_t OWED_MAX = 4ll * RTL_USER_BURST_NS;

bool rtl_user_may_read(struct rtl_user *user, uint64_t now_ns)
{
    const int64_t most = OWED_MAX + RTL_USER_BURST_NS;
    uint64_t more = now_ns > user->at_ns ? (now_ns - user->at_ns) / RTL_USER_REFILL : 0;
    user->at_ns = now_ns;
    user->left_ns += more < (uint64_t)most ? (int64_t)more : most;
    if (user->left_ns > RTL_USER_BURST_NS)
        user->left_ns = RTL_USER_BURST_NS;
    return user->trusted || user->left_ns > 0;
}

void rtl_user_charge(struct rtl_user *user, uint64_t took_ns)
{
    user->left_ns -= took_ns < (uint64_t)OWED_MAX ? (int64_t)took_ns : OWED_MAX;
    if (user->left_ns < -OWED_MAX)
        user->left_ns = -OWED_MAX;
}

static uint32_t subtract(uint32_t most, uint32_t used)
{
    return used < most ? most - used : 0;
}

struct rtl_share rtl_user_share(const struct rtl_user *user, uint32_t names)
{
    uint32_t of_user = subtract(RTL_USER_NAMES, user->names), of_process = subtract(RTL_PROCESS_NAMES, names);
    if (user->trusted)
        return (struct rtl_share){.names = RTL_SERIES_MAX, .gpus = RTL_SERVED_GPUS};
    return (struct rtl_share){.names = of_user < of_process ? of_user : of_process,
                              .gpus = subtract(RTL_USER_GPUS, user->gpus)};
}

/* Counts by uid, not by account, because an account may be recycled before its series are removed. */
static uint32_t series_left(const struct rtl_user *user, const struct rtl_ranked *ranked)
{
    return user->trusted ? RTL_SERIES_MAX : subtract(RTL_USER_NAMES, rtl_ranked_count_owned(ranked, user->uid));
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
