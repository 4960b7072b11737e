/* Limits per user. See users.h. */
#include "watch/users.h"
#include "shm/process.h"

uid_t rtl_user_who_pays(uid_t own, pid_t pid, const uid_t *makers, uint32_t count)
{
    struct rtl_process process;
    uid_t uid = rtl_process_namespace_owner(own, pid);
    for (uint32_t i = 0; i < count && uid == own; i++)
        uid = makers[i];
    if (uid == own)
        uid = rtl_process_read(pid, &process) ? (uid_t)-1 : process.ruid;
    return uid;
}

struct rtl_user *rtl_user_known(struct rtl_users *users, uid_t uid)
{
    for (uint32_t i = 0; i < users->count; i++)
        if (users->user[i].uid == uid && !users->user[i].several)
            return &users->user[i];
    return NULL;
}

static int64_t burst_of(const struct rtl_user *user)
{
    return user->view ? RTL_USER_VIEW_BURST_NS : RTL_USER_BURST_NS;
}

/* True if the account equals a new one. A user with GPUs keeps the account, because GPUs are never removed. */
static bool is_idle(struct rtl_user *user, uint64_t now_ns)
{
    return !user->trusted && !user->several && !user->processes && !user->names && !user->gpus && !user->bytes &&
           rtl_user_may_read(user, now_ns) && user->left_ns == burst_of(user);
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

static struct rtl_user fresh_user(const struct rtl_users *users, uid_t uid, uint64_t now_ns)
{
    struct rtl_user user = {.uid = uid, .view = users->view, .at_ns = now_ns};
    user.left_ns = burst_of(&user);
    return user;
}

struct rtl_user *rtl_user_of(struct rtl_users *users, uid_t uid, uint64_t now_ns)
{
    enum { OWN, SEVERAL };
    if (!users->count) { /* these two are never recycled */
        users->user[OWN] = fresh_user(users, users->own, now_ns);
        users->user[OWN].trusted = true;
        users->user[SEVERAL] = fresh_user(users, (uid_t)-1, now_ns);
        users->user[SEVERAL].several = true;
        users->count = SEVERAL + 1;
    }
    struct rtl_user *user = rtl_user_known(users, uid);
    if (user)
        return user;
    user = uid == (uid_t)-1 ? NULL : find_account(users, now_ns);
    if (!user)
        return &users->user[SEVERAL];
    *user = fresh_user(users, uid, now_ns);
    return user;
}

bool rtl_user_may_add_process(const struct rtl_users *users, const struct rtl_user *user, bool full,
                              const struct rtl_user **out)
{
    const struct rtl_user *most = NULL;
    for (uint32_t i = 0; full && i < users->count; i++) {
        const struct rtl_user *u = &users->user[i];
        if (!u->trusted && u->processes && (!most || u->processes > most->processes))
            most = u;
    }
    *out = most;
    if (full && (!most || (!user->trusted && most->processes <= user->processes + 1)))
        return false;
    return user->trusted || user->processes < RTL_USER_PROCESSES;
}

bool rtl_user_may_hold(struct rtl_user *user, uint64_t *held, uint64_t now)
{
    user->bytes -= *held;
    bool may = user->trusted || (user->bytes <= RTL_USER_BYTES && now <= RTL_USER_BYTES - user->bytes);
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
static int64_t most_owed(const struct rtl_user *user)
{
    return 4 * burst_of(user);
}

bool rtl_user_may_read(struct rtl_user *user, uint64_t now_ns)
{
    const int64_t burst = burst_of(user), most = most_owed(user) + burst;
    unsigned refill = user->view ? RTL_USER_VIEW_REFILL : RTL_USER_REFILL;
    uint64_t more = now_ns > user->at_ns ? (now_ns - user->at_ns) / refill : 0;
    user->at_ns = now_ns;
    user->left_ns += more < (uint64_t)most ? (int64_t)more : most;
    if (user->left_ns > burst)
        user->left_ns = burst;
    return user->trusted || user->left_ns > 0;
}

void rtl_user_charge(struct rtl_user *user, uint64_t took_ns)
{
    int64_t most = most_owed(user);
    user->left_ns -= took_ns < (uint64_t)most ? (int64_t)took_ns : most;
    if (user->left_ns < -most)
        user->left_ns = -most;
}
