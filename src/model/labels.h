/* Names out of the segment's tables by number, for numbers that may come from a newer library. */
#ifndef RTL_MODEL_LABELS_H
#define RTL_MODEL_LABELS_H

const char *rtl_mode_label(unsigned mode);        /* "default"; "unknown" */
int rtl_mode_parse(const char *name);             /* the mode's number, its other names too; -1 for none */
const char *rtl_force_key(unsigned force);        /* "counting"; "unknown" */
const char *rtl_reason_key(unsigned reason);      /* "own_signal"; NULL for a number without a name */
const char *rtl_reason_text(unsigned reason);     /* what it means; NULL likewise */
const char *rtl_copy_reason_key(unsigned reason); /* the same for copies */
const char *rtl_copy_reason_text(unsigned reason);
const char *rtl_direction_key(unsigned direction);  /* "h2d" */
const char *rtl_direction_text(unsigned direction); /* "H2D" */

#endif
