/*
 * A file that is written once, from the beginning to the end: plain, or gzip where the name ends in .gz. It takes its
 * place when it is complete; what may be written where is outfile.h's.
 */
#ifndef RTL_RECORD_SINK_H
#define RTL_RECORD_SINK_H

#include "record/outfile.h"

struct rtl_sink;

/* NULL and one line in `why` when it can't be opened. */
struct rtl_sink *rtl_sink_open(const char *path, const struct rtl_outfile_options *options, char *why,
                               size_t why_bytes);

/* After a failure these do nothing; rtl_sink_close tells. */
void rtl_sink_write(struct rtl_sink *sink, const char *bytes, size_t count);
void rtl_sink_print(struct rtl_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool rtl_sink_failed(const struct rtl_sink *sink);

/* Puts the file in its place if `keep`, otherwise takes it away. False and one line in `why` when something failed. */
bool rtl_sink_close(struct rtl_sink *sink, bool keep, char *why, size_t why_bytes);

#endif
