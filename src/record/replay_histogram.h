/* Histograms that a replay adds up, each with memory of its own. */
#ifndef RTL_RECORD_REPLAY_HISTOGRAM_H
#define RTL_RECORD_REPLAY_HISTOGRAM_H

#include "record/schema.h"

/* What is damaged, or without memory, is latched in the database. */
void rtl_replay_damaged(struct rtl_db *db, const char *what);
void rtl_replay_no_memory(struct rtl_db *db);

/* Fields and buckets, from column `at` on; returns the next one. The quantiles are made of them. `room`: octaves that
 * may still be added. */
int rtl_replay_take_histogram(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_copy *h,
                              uint32_t *room);
/* A copy that points to another's memory gets its own; what could not be had is empty. */
void rtl_replay_own_histogram(struct rtl_db *db, struct rtl_histogram_copy *h, uint32_t *room);
void rtl_replay_free_histogram(struct rtl_histogram_copy *h);

#endif
