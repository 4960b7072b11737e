/* Finds the known word that a mistyped one may mean: "did you mean". Pure. */
#ifndef RTL_TEXT_NEAREST_H
#define RTL_TEXT_NEAREST_H

enum { RTL_NEAREST_MAX = 40 }; /* bytes of a word; longer words are not compared */

/* Return the number of edits between two words: insert, delete or replace a letter, or swap two neighbours.
 * RTL_NEAREST_MAX or more if a word is too long. */
unsigned rtl_word_distance(const char *a, const char *b);

/* Return the distance from `word` to `known`, so that the caller can choose the smallest. 1 if `word` is the beginning
 * of `known`; 0 if more than one letter in three is wrong. */
unsigned rtl_word_meant(const char *word, const char *known);

#endif
