/* Finds the kernel that a user names: by its full, short, shown or mangled name, or else the only kernel that matches
 * the text like -F. */
#ifndef RTL_WATCH_KERNEL_CHOICE_H
#define RTL_WATCH_KERNEL_CHOICE_H

#include "shm/segment_reader.h"
#include "text/names.h"

enum { RTL_CANDIDATES_MAX = 10, RTL_CANDIDATE_COLUMNS = 200 };

struct rtl_kernel_choice {
    const struct rtl_kernel_snapshot *kernel;                        /* the only candidate; NULL = none or several */
    uint32_t count;                                                  /* number of candidates */
    const struct rtl_kernel_snapshot *candidate[RTL_CANDIDATES_MAX]; /* the candidates with the most calls */
};
void rtl_kernel_choose(const struct rtl_snapshot *snapshot, struct rtl_names *names, const char *text,
                       struct rtl_kernel_choice *choice);

/* Returns a candidate's name as a line, shortened in the middle, where long names differ least. Owned by `names`. */
const char *rtl_kernel_candidate(const struct rtl_kernel_choice *choice, uint32_t number, struct rtl_names *names,
                                 bool ascii);

#endif
