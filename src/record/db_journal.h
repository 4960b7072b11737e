/*
 * The journal of a transaction that was cut off, read and never touched: where the bytes lie that the database had
 * before. SQLite itself would write them back and delete the journal, and with it a file that the journal names; a
 * reader must do neither. What it reads is what SQLite would (its file format, "the rollback journal").
 */
#ifndef RTL_RECORD_DB_JOURNAL_H
#define RTL_RECORD_DB_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum rtl_journal {
    RTL_JOURNAL_NONE,    /* there is none, or none of its transaction had begun */
    RTL_JOURNAL_HOT,     /* the database has to be read with it */
    RTL_JOURNAL_ODD,     /* no plain file, or one with a second name, or of another user */
    RTL_JOURNAL_NAMES,   /* it names another file, which SQLite would delete */
    RTL_JOURNAL_DAMAGED, /* no transaction saves a page twice */
    RTL_JOURNAL_STOPPED, /* the caller's `stop` said so */
    RTL_JOURNAL_FAILED,  /* it can't be read: errno */
};

struct rtl_journal_page {
    uint32_t number; /* from 1 */
    uint64_t at;     /* of its bytes in the journal */
};

struct rtl_undo {
    int fd;           /* of the journal; -1 = none */
    struct stat info; /* of it, before it was read */
    uint32_t page_bytes;
    uint64_t pages;                 /* that the database had */
    struct rtl_journal_page *saved; /* ascending, each page once */
    size_t count;
};

/* Is a file that SQLite may open beside a database what it should be: a file, with one name, of whoever may write the
 * database, or not there? Anything else would let it write to, empty or wait for something of another's, or take what
 * another has put into /tmp for what was recorded. The path is the database's and -journal, -wal or -shm. */
bool rtl_journal_is_plain(const char *path, bool *there);

/* Whether SQLite may open it for a writer: yes for NONE and HOT (whose records aren't checked), no for ODD, NAMES and
 * FAILED. */
enum rtl_journal rtl_journal_judge(const char *path);

/* Reads the journal; when it is HOT `undo` is the caller's to free. page_bytes: the database's, if the journal doesn't
 * say. Bounded by the journal's size in time and by the database's pages in memory. */
enum rtl_journal rtl_journal_read(const char *path, uint32_t page_bytes, bool (*stop)(void *context), void *context,
                                  struct rtl_undo *undo);
void rtl_journal_free(struct rtl_undo *undo);
/* Whether it is still what was read: a recording is read by many statements, each under a lock of its own. */
bool rtl_journal_is_same(const struct rtl_undo *undo, const char *path);

/* Where the saved bytes of a page are, or 0 when the page is as it was. */
uint64_t rtl_journal_find(const struct rtl_undo *undo, uint32_t number);

/* A number as SQLite's files have it, four bytes. */
static inline uint32_t rtl_db_big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

#endif
