/*
 * What each user's processes may cost the server: time to read them, memory, names, GPUs, places. So that one who means
 * harm makes his own numbers late, and nobody else's. The server's own user has no bounds but those of a page. Pure.
 */
#ifndef RTL_SERVE_USERS_H
#define RTL_SERVE_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "serve/totals.h"

enum {
    RTL_USERS_MAX = 64,                     /* at once; one is of all that find no other */
    RTL_USER_PROCESSES = 128,               /* at once */
    RTL_USER_NAMES = RTL_SERIES_MAX / 2,    /* of kernels that nobody else has, of ranges, of functions, at once */
    RTL_PROCESS_NAMES = RTL_SERIES_MAX / 4, /* of those */
    RTL_USER_GPUS = RTL_SERVED_GPUS / 2,    /* ever */
    RTL_USER_BYTES = 256 << 20,             /* of memory for what they have counted */
    RTL_USERS_BYTES = 384 << 20,            /* of all of them together, but for the server's own */
    RTL_USER_REFILL = 10,                   /* one part in so many of the time goes into reading */
    RTL_USER_BURST_NS = 150000000,          /* at once */
};

struct rtl_user {
    uid_t uid;
    bool trusted, several; /* the server's own; all that find no place of their own */
    uint32_t processes, names, gpus;
    uint64_t bytes;
    int64_t left_ns; /* of reading; what took longer than that is owed */
    uint64_t at_ns;
};

struct rtl_users {
    uid_t own;
    uint32_t count;
    struct rtl_user user[RTL_USERS_MAX];
};

/* Of whoever has something here: his place, or that of one who has nothing any more. Valid as long as he has. */
struct rtl_user *rtl_user_of(struct rtl_users *users, uid_t uid, uint64_t now_ns);
/* NULL: he has no place. Takes none. */
struct rtl_user *rtl_user_known(struct rtl_users *users, uid_t uid);
bool rtl_user_has_place(const struct rtl_user *user);

/* `*held` bytes of memory become `now`; false, and none are held, where that is too much. */
bool rtl_user_may_hold(struct rtl_user *user, uint64_t *held, uint64_t now);

/* The user who holds the most of all when together they hold more than there is for them; else NULL. */
const struct rtl_user *rtl_users_too_much(const struct rtl_users *users);

/* Whether a process of the user may be read now; and what it took. */
bool rtl_user_may_read(struct rtl_user *user, uint64_t now_ns);
void rtl_user_charge(struct rtl_user *user, uint64_t took_ns);

/* What a process that has brought `names` so far may still bring; and that it has brought what is missing by now. */
struct rtl_share rtl_user_share(const struct rtl_user *user, uint32_t names);
/* Of functions and ranges, where he has brought so many. */
void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share);
void rtl_user_brought(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                      const struct rtl_share *after);
void rtl_user_gave_back(struct rtl_user *user, uint32_t names);

#endif
