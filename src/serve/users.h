/*
 * Quotas per user for reading time, memory, names, GPUs and processes: a malicious user delays only the numbers of that
 * user's processes. The server's own user has no quota, only the limits of a page. Pure.
 */
#ifndef RTL_SERVE_USERS_H
#define RTL_SERVE_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "serve/totals.h"

enum {
    RTL_USERS_MAX = 64,                  /* accounts at once; one is shared by all users without their own */
    RTL_USER_PROCESSES = 128,            /* at once */
    RTL_USER_NAMES = RTL_SERIES_MAX / 2, /* each of kernels that no other user has, of ranges, of functions, at once */
    RTL_PROCESS_NAMES = RTL_SERIES_MAX / 4, /* of them for one process */
    RTL_USER_GPUS = RTL_SERVED_GPUS / 2,    /* ever */
    RTL_USER_BYTES = 256 << 20,             /* memory for counters */
    RTL_USERS_BYTES = 384 << 20,            /* for all users but the server's own */
    RTL_USER_REFILL = 10,                   /* reading may take 1/10 of the time */
    RTL_USER_BURST_NS = 150000000,          /* maximum saved reading time */
};

struct rtl_user {
    uid_t uid;
    bool trusted, several; /* the server's own user; the shared account */
    uint32_t processes, names, gpus;
    uint64_t bytes;
    int64_t left_ns; /* reading time left; negative: debt */
    uint64_t at_ns;
};

struct rtl_users {
    uid_t own;
    uint32_t count;
    struct rtl_user user[RTL_USERS_MAX];
};

/* Return the account of a uid, new or recycled from an idle user. Valid while it is not idle. */
struct rtl_user *rtl_user_of(struct rtl_users *users, uid_t uid, uint64_t now_ns);
/* Return an existing account or NULL. */
struct rtl_user *rtl_user_known(struct rtl_users *users, uid_t uid);
bool rtl_user_may_add_process(const struct rtl_user *user);

/* Change a part of the user's memory from *held to `now` bytes. False if that exceeds the quota; *held is 0 then. */
bool rtl_user_may_hold(struct rtl_user *user, uint64_t *held, uint64_t now);

/* Return the user with the most memory if all users together exceed RTL_USERS_BYTES; else NULL. */
const struct rtl_user *rtl_users_over_limit(const struct rtl_users *users);

/* Return whether a process of the user may be read now; charge the time that reading took. */
bool rtl_user_may_read(struct rtl_user *user, uint64_t now_ns);
void rtl_user_charge(struct rtl_user *user, uint64_t took_ns);

/* Return the quota left for a process that has added `names` so far; rtl_user_charge_share charges what it used. */
struct rtl_share rtl_user_share(const struct rtl_user *user, uint32_t names);
/* Set the quota for functions and ranges. */
void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share);
void rtl_user_charge_share(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                           const struct rtl_share *after);
void rtl_user_release_names(struct rtl_user *user, uint32_t names);

#endif
