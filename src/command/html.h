/*
 * rtl-top html: writes a recording, a trace, or the difference of two of them, as one HTML page without other files.
 * web/ has the page's text, its style, and its script, which draws the data.
 *
 * The data is one JSON object in a script element, bounded by the numbers below: the frames of --json at some points in
 * time, or the ops of a trace summed by time and kernel.
 */
#ifndef RTL_COMMAND_HTML_H
#define RTL_COMMAND_HTML_H

#include "command/json_writer.h"
#include "options/options.h"
#include "record/recorded_histogram.h"
#include "record/sink.h"

enum {
    RTL_HTML_POINTS = 240, /* in time */
    RTL_HTML_TOP = 20,     /* kernels with numbers over time */
    RTL_HTML_ROWS = 500,   /* of a list; fewer if the data would be too long */
    RTL_HTML_BYTES = 8 << 20,
};

struct rtl_html {
    struct json_writer w;
    struct json_object *root, *data; /* of the page; of the file that is read */
    const char *file;
    struct rtl_options options; /* of the command line: pid, recording and filter */
    struct rtl_sink *sink;
    struct rtl_histogram_texts texts; /* of rtl_html_put_buckets */
};

/* The page before and after its data, made from web/ by tools/web-page. */
extern const unsigned char rtl_html_head[], rtl_html_tail[];
extern const size_t rtl_html_head_bytes, rtl_html_tail_bytes;

/* Adds the growth of a histogram as text (recorded_histogram.h). */
void rtl_html_put_buckets(struct rtl_html *h, struct json_object *o, const char *key,
                          const struct rtl_histogram_copy *earlier, const struct rtl_histogram_copy *later);

/* Shortens lists to `rows` and deletes these parts of objects (NULL: none), at all levels. */
void rtl_html_shorten(struct json_object *o, size_t rows, const char *const *parts);

/* Add a file's data. They return 0, or an exit status after a complaint. */
int rtl_html_recording(struct rtl_html *h);
int rtl_html_trace(struct rtl_html *h, struct rtl_db *db);

#endif
