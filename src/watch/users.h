/*
 * Limits per user for the processes that root reads: time, memory and places. A malicious user delays only the numbers
 * of that user's processes. The reader's own user has no limit. rtl-top serve, rtl-top -a and rtl-top list use them.
 */
#ifndef RTL_WATCH_USERS_H
#define RTL_WATCH_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    RTL_USERS_MAX = 512,      /* accounts at once; one is shared by all users without their own */
    RTL_USER_PROCESSES = 128, /* at once */
    /* part of the time for reading a user's processes: 1/10 for a server, which runs for ever; 1/4 for a viewer */
    RTL_USER_REFILL = 10,
    RTL_USER_VIEW_REFILL = 4,
};
#define RTL_USER_BYTES         (256ull << 20)     /* memory for counters */
#define RTL_USERS_BYTES        (384ull << 20)     /* for all users but the reader's own */
#define RTL_USER_BURST_NS      INT64_C(150000000) /* maximum saved reading time */
#define RTL_USER_VIEW_BURST_NS INT64_C(1000000000)
#define RTL_CHECK_FREE_NS      ((uint64_t)INT64_C(1000000)) /* a shorter check of a process without segment is free */

struct rtl_user {
    uid_t uid;
    bool trusted, several, view; /* the reader's own user; the shared account; see struct rtl_users */
    uint32_t processes;
    uint32_t names, gpus; /* in use; only rtl-top serve counts them (serve/totals.h) */
    uint64_t bytes;
    int64_t left_ns; /* reading time left; negative: debt */
    uint64_t at_ns;
};

struct rtl_users {
    uid_t own;
    bool view; /* a viewer's: more time per user */
    uint32_t count;
    struct rtl_user user[RTL_USERS_MAX];
};

/*
 * Return the uid that pays for a process. A process that executes a set-user-ID program, or enters a user namespace,
 * keeps the contents that its first user wrote into its memory files. So the first of these that is not `own` pays: the
 * owner of the process's user namespace, unless the reader is in it, too; the `makers` of the files that are read; the
 * real uid of the process. (uid_t)-1: not known.
 */
uid_t rtl_user_who_pays(uid_t own, pid_t pid, const uid_t *makers, uint32_t count);

/* Return the account of a uid, new or recycled from an idle user. Valid while it is not idle. */
struct rtl_user *rtl_user_of(struct rtl_users *users, uid_t uid, uint64_t now_ns);
/* Return an existing account or NULL. */
struct rtl_user *rtl_user_known(struct rtl_users *users, uid_t uid);

/*
 * Return true if the user may have one more process. If all places are taken, *out gets the user with the most
 * processes, one of which the caller removes. NULL: there is a place.
 */
bool rtl_user_may_add_process(const struct rtl_users *users, const struct rtl_user *user, bool full,
                              const struct rtl_user **out);

/* Change a part of the user's memory from *held to `now` bytes. False if that exceeds the limit; then *held is 0. */
bool rtl_user_may_hold(struct rtl_user *user, uint64_t *held, uint64_t now);

/* Return the user with the most memory if all users together exceed RTL_USERS_BYTES; else NULL. */
const struct rtl_user *rtl_users_over_limit(const struct rtl_users *users);

/* Return whether a process of the user may be read now; charge the time that reading took. */
bool rtl_user_may_read(struct rtl_user *user, uint64_t now_ns);
void rtl_user_charge(struct rtl_user *user, uint64_t took_ns);

#endif
