/* A file written sequentially: plain, or gzip if the name ends in .gz. outfile.h opens and renames it. */
#ifndef RTL_RECORD_SINK_H
#define RTL_RECORD_SINK_H

#include "record/outfile.h"

struct rtl_sink;

/* NULL and one line in `why` on failure. */
struct rtl_sink *rtl_sink_open(const char *path, const struct rtl_outfile_options *options, char *why,
                               size_t why_bytes);

/* After a failure these do nothing; rtl_sink_close reports it. */
void rtl_sink_write(struct rtl_sink *sink, const char *bytes, size_t count);
void rtl_sink_print(struct rtl_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool rtl_sink_failed(const struct rtl_sink *sink);

/* Close the file; rename it to its path if `keep`, else delete it. False and one line in `why` after any failure. */
bool rtl_sink_close(struct rtl_sink *sink, bool keep, char *why, size_t why_bytes);

#endif
