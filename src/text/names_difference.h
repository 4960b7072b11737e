/* The words that distinguish two names that look alike. Pure. */
#ifndef RTL_TEXT_NAMES_DIFFERENCE_H
#define RTL_TEXT_NAMES_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* Write difference `number` (from 0) between two names: a word that only `mine` has, "-word" for one that only `theirs`
 * has, or "arg3=16". Return false when there are no more. Both are names in C, or both are spelled names. */
bool rtl_name_difference(char *out, size_t size, const char *mine, const char *theirs, int number);

#endif
