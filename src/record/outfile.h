/*
 * A file that the user named to be written: -o, and what `export` makes. Recordings have rules of their own (db.h):
 * they take more of the same. For all others there is one:
 *
 * - A file that is there already is not replaced without --force; what is read is never replaced.
 * - What is written stands beside its place, under a name nobody has, until it is put there: what had the name stays
 *   until then, and a signal or a full disk leaves nothing behind.
 * - What is replaced hands on its mode and owner. A symbolic link stays: the file that it leads to is replaced.
 * - What is no file (a pipe, a terminal, "-", /dev/stdout, /dev/fd/3) is written to as it is.
 *
 * Threads: any; files are opened and closed by one at a time.
 */
#ifndef RTL_RECORD_OUTFILE_H
#define RTL_RECORD_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct rtl_outfile;

enum { RTL_OUTFILE_OTHERS = 4 };
struct rtl_outfile_options {
    bool force;
    const char *others[RTL_OUTFILE_OTHERS]; /* what this must not be: recordings that are read or written, or NULL */
};

/* "-" and the other names of standard output. */
bool rtl_outfile_is_standard_output(const char *path);

/* NULL and one line in `why` when it can't be had; nothing was changed then. `path` may go. */
struct rtl_outfile *rtl_outfile_open(const char *path, const struct rtl_outfile_options *options, char *why,
                                     size_t why_bytes);

int rtl_outfile_fd(const struct rtl_outfile *file);       /* the file's: it is not to be closed */
bool rtl_outfile_is_file(const struct rtl_outfile *file); /* one of ours: what is in it can be taken back */

/* Puts it in its place. What is written later goes there. False and one line in `why` when that fails. */
bool rtl_outfile_place(struct rtl_outfile *file, char *why, size_t why_bytes);

/* Ends it; what was not put in its place is taken away. NULL is allowed. */
void rtl_outfile_close(struct rtl_outfile *file);

/* Takes away what is not in its place, of all files, before a signal ends the process. Safe in a handler. */
void rtl_outfile_clean(void);

#endif
