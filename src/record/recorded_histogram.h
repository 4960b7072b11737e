/*
 * Histograms in a recording. The growth of a histogram is stored as text: "[gap,count,gap,count,...]", where a bucket's
 * number (shm/segment.h) is the sum of the gaps up to it. The text is short, and json_each of any SQLite can read it
 * (view rtl_buckets). Pure but for memory.
 */
#ifndef RTL_RECORD_RECORDED_HISTOGRAM_H
#define RTL_RECORD_RECORDED_HISTOGRAM_H

#include "record/schema.h"
#include "shm/segment_reader.h"

/* Growing text; the owner frees `bytes`. */
struct rtl_text_buffer {
    char *bytes;
    size_t used, size;
};

/* Write the growth from `earlier` (NULL: from nothing) to `later`, which replaces the text; no growth is "". False
 * without memory. */
bool rtl_buckets_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                       struct rtl_text_buffer *text);
/* As rtl_buckets_write, for values that are counted per octave only. */
bool rtl_coarse_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                      struct rtl_text_buffer *text);
/* Write any numbers in this format; read them back into an array of zeros. False without memory or for wrong text. */
bool rtl_counts_write(const uint64_t *counts, uint32_t count, struct rtl_text_buffer *text);
bool rtl_counts_read(const char *text, uint64_t *counts, uint32_t count);

/* Add the counts of a text. `to` owns its arrays (malloc). *room: octaves that may still be allocated. False without
 * memory or room, or for malformed text. */
bool rtl_buckets_add(struct rtl_histogram_copy *to, const char *text, uint32_t *room);
bool rtl_coarse_add(struct rtl_histogram_copy *to, const char *text);
/* Add one duration. `to` and *room as above; false without memory or room. */
bool rtl_histogram_count(struct rtl_histogram_copy *to, uint64_t ns, uint32_t *room);

/* --- rows --- */

bool rtl_histogram_differs(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b);

/* Memory for the texts of one row; they stay in place until the next row is bound. The owner frees both. */
struct rtl_histogram_texts {
    struct rtl_text_buffer buckets, coarse;
};
/* Bind RTL_HISTOGRAM_NAMES from parameter `at` on: the growth since `before` (NULL: since nothing). Returns the next
 * parameter; errors are latched in the database. */
int rtl_histogram_bind(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_texts *texts,
                       const struct rtl_histogram_copy *before, const struct rtl_histogram_copy *now);
/* Add RTL_HISTOGRAM_SELECT from column `at` on. Returns the next column; errors are latched in the database. */
int rtl_histogram_read(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_copy *h,
                       uint32_t *room);

/* Replace borrowed arrays by copies of its own; without memory, which is latched, they become empty. */
void rtl_histogram_own(struct rtl_db *db, struct rtl_histogram_copy *h, uint32_t *room);
void rtl_histogram_free(struct rtl_histogram_copy *h);

#endif
