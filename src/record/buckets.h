/*
 * What a histogram grew by, as text: "[gap,count,gap,count,...]", where a bucket's number (shm/segment.h) is the sum of
 * the gaps up to it. Short, and json_each of any SQLite reads it (view rtl_buckets). Pure but for memory.
 */
#ifndef RTL_RECORD_BUCKETS_H
#define RTL_RECORD_BUCKETS_H

#include "record/schema.h"
#include "shm/segment_reader.h"

/* Text that grows; the owner frees `bytes`. */
struct rtl_text_buffer {
    char *bytes;
    size_t used, size;
};

/* later - earlier (NULL: nothing before) into `text`, which is emptied first; empty when nothing grew. False without
 * memory. */
bool rtl_buckets_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                       struct rtl_text_buffer *text);
/* Counts that are known per octave only, likewise. */
bool rtl_coarse_write(const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later,
                      struct rtl_text_buffer *text);

/* What a histogram grew by as a recording tells it. The owner frees both texts. */
struct rtl_histogram_delta {
    bool any;
    uint64_t quantile[RTL_RECORDED_QUANTILES]; /* RTL_QUANTILE_COLUMNS; only if any */
    struct rtl_text_buffer buckets, coarse;
};
/* Into `delta`, whose texts are emptied first. False without memory. */
bool rtl_histogram_delta_make(struct rtl_histogram_delta *delta, const struct rtl_histogram_copy *earlier,
                              const struct rtl_histogram_copy *later);

/* Adds what the text says. The octaves of `to` are its own (malloc). False when the text is wrong or without memory;
 * the number of octaves that may still be added is counted down in *room. */
bool rtl_buckets_add(struct rtl_histogram_copy *to, const char *text, uint32_t *room);
bool rtl_coarse_add(struct rtl_histogram_copy *to, const char *text);

#endif
