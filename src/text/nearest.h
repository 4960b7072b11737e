/* Which known word was meant by one that is not known: "did you mean". Pure. */
#ifndef RTL_TEXT_NEAREST_H
#define RTL_TEXT_NEAREST_H

#include <stddef.h>

enum { RTL_NEAREST_MAX = 40 }; /* bytes of a word; longer ones are near to nothing */

/*
 * How many letters have to be put in, left out, replaced, or swapped with their neighbour, to make the one of the
 * other. RTL_NEAREST_MAX or more when a word is too long to be compared.
 */
unsigned rtl_word_distance(const char *a, const char *b);

/*
 * How far `word` is from `known`, for a list in which the least is sought, or 0 when it is too far to be meant: more
 * than one letter in three is wrong, and it isn't the beginning of `known` either, which counts as the nearest.
 */
unsigned rtl_word_meant(const char *word, const char *known);

#endif
