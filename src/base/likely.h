/* Hints for branches of the dispatch path. Conditions are integers; "!!" would make gcc save a register more in
 * rtl_dispatch. */
#ifndef RTL_BASE_LIKELY_H
#define RTL_BASE_LIKELY_H

#define likely(condition)   __builtin_expect((condition), 1)
#define unlikely(condition) __builtin_expect((condition), 0)

#endif
