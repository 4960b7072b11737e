/*
 * The kernel that somebody means by a name: the one that is called so, full, short (also with what tells it from
 * another, as it is shown) or mangled, or the only one whose name has that part, whichever way it is written (as -F
 * has it).
 */
#ifndef RTL_WATCH_KERNEL_CHOICE_H
#define RTL_WATCH_KERNEL_CHOICE_H

#include "shm/segment_reader.h"
#include "text/names.h"

enum { RTL_CANDIDATES_MAX = 10, RTL_CANDIDATE_COLUMNS = 200 };

struct rtl_kernel_choice {
    const struct rtl_kernel_snapshot *kernel;                        /* the one; NULL: none, or several */
    uint32_t count;                                                  /* how many could be meant */
    const struct rtl_kernel_snapshot *candidate[RTL_CANDIDATES_MAX]; /* the first of them, those called most before */
};
void rtl_kernel_choose(const struct rtl_snapshot *snapshot, struct rtl_names *names, const char *text,
                       struct rtl_kernel_choice *choice);

/* One of the candidates as a line of what could be meant: cut in the middle where it is long, so that what tells it
 * from the others is there. Owned by `names`. */
const char *rtl_kernel_candidate(const struct rtl_kernel_choice *choice, uint32_t number, struct rtl_names *names,
                                 bool ascii);

#endif
