/*
 * Shares of rtl-top serve's names and GPUs per user (watch/users.h has the other limits). No user may have more of them
 * than stay free, so some are left for the next user. The server's own user has no limit. Pure.
 */
#ifndef RTL_SERVE_SHARES_H
#define RTL_SERVE_SHARES_H

#include "serve/totals.h"
#include "watch/users.h"

enum {
    RTL_USER_NAMES = RTL_SERIES_MAX / 2,    /* at once, for each: kernels that no other user has, ranges, functions */
    RTL_PROCESS_NAMES = RTL_SERIES_MAX / 4, /* of them for one process */
    RTL_USER_GPUS = RTL_SERVED_GPUS / 2,    /* ever */
};

/* Return the share left for a process that has added `names` so far; rtl_user_charge_share charges what it used. */
struct rtl_share rtl_user_share(const struct rtl_user *user, const struct rtl_totals *totals, uint32_t names);
/* Set the share of functions and ranges. */
void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share);
void rtl_user_charge_share(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                           const struct rtl_share *after);
void rtl_user_release_names(struct rtl_user *user, uint32_t names);

#endif
