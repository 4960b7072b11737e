/*
 * Reading the journal of an interrupted transaction: it holds the pages that the transaction replaced. SQLite itself
 * would write them back, then delete the journal and a file that the journal names; a reader must do neither. The
 * format is SQLite's (its file format, "the rollback journal").
 */
#ifndef RTL_RECORD_DB_JOURNAL_H
#define RTL_RECORD_DB_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum rtl_journal {
    RTL_JOURNAL_NONE,    /* no journal, or its transaction had not begun to write */
    RTL_JOURNAL_HOT,     /* the database has to be read together with the journal */
    RTL_JOURNAL_ODD,     /* not a plain file, or it has a second name, or belongs to another user */
    RTL_JOURNAL_NAMES,   /* it names another file, which SQLite would delete */
    RTL_JOURNAL_DAMAGED, /* it saves more pages than the database has */
    RTL_JOURNAL_STOPPED, /* the caller's `stop` returned true */
    RTL_JOURNAL_FAILED,  /* it can't be read: errno */
};

struct rtl_journal_page {
    uint32_t number; /* from 1 */
    uint64_t at;     /* offset of its bytes in the journal */
};

struct rtl_undo {
    int fd;           /* of the journal; -1 = none */
    struct stat info; /* of the journal, before it was read */
    uint32_t page_bytes;
    uint64_t pages;                 /* size of the database before the transaction */
    struct rtl_journal_page *saved; /* ascending, each page once */
    size_t count;
};

/*
 * Return whether SQLite may open this path (the database's plus -journal, -wal or -shm): it does not exist (*exists
 * false), or it is a plain file with one name, owned by a user who may write the database. Otherwise SQLite could write
 * to, truncate or wait for a file of another user, or read a file that another user planted in /tmp.
 */
bool rtl_journal_is_plain(const char *path, bool *exists);

/* Classify a journal for a writer: SQLite may open NONE and HOT (whose records aren't checked), not ODD, NAMES or
 * FAILED. */
enum rtl_journal rtl_journal_judge(const char *path);

/* Read the journal; if it is HOT the caller frees `undo`. page_bytes: the database's, used if the journal has none. The
 * journal's size bounds the time, the number of the database's pages bounds the memory. */
enum rtl_journal rtl_journal_read(const char *path, uint32_t page_bytes, bool (*stop)(void *context), void *context,
                                  struct rtl_undo *undo);
void rtl_journal_free(struct rtl_undo *undo);
/* Return whether the file is still the journal in `undo`: every statement of a reader takes a new lock. */
bool rtl_journal_is_same(const struct rtl_undo *undo, const char *path);

/* Return the offset of a saved page in the journal, or 0 if the transaction did not replace the page. */
uint64_t rtl_journal_find(const struct rtl_undo *undo, uint32_t number);

static inline uint32_t rtl_db_big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

#endif
