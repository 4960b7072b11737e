/*
 * Output files that the user names: -o, and the output of `export`. Recordings have other rules, because they can be
 * continued (db.h). The rules for all other files:
 *
 * - An existing file is replaced only with --force. An input file is never replaced.
 * - Output goes to a temporary file in the same folder and is renamed at the end. The old file stays until then, and a
 *   signal or a full disk leaves nothing behind.
 * - The new file gets mode and owner of the file that it replaces. A symbolic link stays: its target is replaced.
 * - A pipe, a terminal, "-", /dev/stdout or /dev/fd/3 is written to directly.
 *
 * Threads: any thread, but only one opens or closes files at a time.
 */
#ifndef RTL_RECORD_OUTFILE_H
#define RTL_RECORD_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct rtl_outfile;

enum { RTL_OUTFILE_OTHERS = 4 };
struct rtl_outfile_options {
    bool force;
    const char *others[RTL_OUTFILE_OTHERS]; /* recordings that are read or written: the output must not be one of them;
                                               or NULL */
};

/* True for "-" and the other names of standard output. */
bool rtl_outfile_is_standard_output(const char *path);

/* NULL and one line in `why` on failure, and then nothing was changed. `path` is copied. */
struct rtl_outfile *rtl_outfile_open(const char *path, const struct rtl_outfile_options *options, char *why,
                                     size_t why_bytes);

int rtl_outfile_fd(const struct rtl_outfile *file);       /* owned by the file: don't close it */
bool rtl_outfile_is_file(const struct rtl_outfile *file); /* a temporary file, which can be discarded */

/* Rename the temporary file to its path. Later writes go to that file. False and one line in `why` on failure. */
bool rtl_outfile_place(struct rtl_outfile *file, char *why, size_t why_bytes);

/* Close the file; delete it if it was not renamed. NULL is allowed. */
void rtl_outfile_close(struct rtl_outfile *file);

/* Delete all temporary files before a signal ends the process. Async-signal-safe. */
void rtl_outfile_clean(void);

#endif
