/* The files of one database as the two halves of its file system know them, db_vfs.c and db_file.c. */
#ifndef RTL_RECORD_DB_FILES_H
#define RTL_RECORD_DB_FILES_H

#include <sqlite3.h>

#include "record/db_journal.h"
#include "record/db_private.h"

enum { RTL_JOURNAL, RTL_WAL, RTL_SHM, RTL_BESIDE }; /* what may lie beside a database */

enum rtl_db_role { RTL_ROLE_MAIN, RTL_ROLE_JOURNAL, RTL_ROLE_WAL, RTL_ROLE_NO_WAL, RTL_ROLE_TEMPORARY };

/* What a -wal was when its index was made. */
struct rtl_db_log {
    bool known;
    sqlite3_int64 size;
    unsigned char salt[8];
};

struct rtl_db_files {
    sqlite3_vfs system;
    sqlite3_vfs *below;
    struct rtl_db *db;
    char name[40];
    char *path, *beside[RTL_BESIDE]; /* once the file is open */
    struct rtl_db_file *main, *wal;  /* while they are open */
    struct rtl_db_log log;           /* known: its index is ours alone */
    enum rtl_db_status refused;
    char why[RTL_DB_WHY_BYTES];
};

struct rtl_db_file {
    sqlite3_file base; /* first: SQLite's view of it */
    struct rtl_db_files *files;
    enum rtl_db_role role;
    sqlite3_file *below; /* in the same memory, behind */
    /* of a reader's database */
    char *given;          /* its name as the file below has it, ours */
    struct rtl_undo undo; /* of the journal that was read last */
    bool undone;          /* the database is read with it, as long as we have the lock */
    bool index_below, index_known;
    unsigned char **index; /* of the -wal, in memory */
    int index_count;
};

static inline struct rtl_db_file *rtl_db_file_of(sqlite3_file *base)
{
    return (struct rtl_db_file *)base;
}

/* What SQLite's own file system does with it. */
static inline const sqlite3_io_methods *rtl_db_below(const struct rtl_db_file *f)
{
    return f->below->pMethods;
}

static inline uint64_t rtl_db_file_size(const struct rtl_db_file *f)
{
    sqlite3_int64 size = 0;
    bool there = f && f->role != RTL_ROLE_NO_WAL;
    return there && !rtl_db_below(f)->xFileSize(f->below, &size) && size > 0 ? (uint64_t)size : 0;
}

/* Of the database. */
static inline uint64_t rtl_db_files_size(const struct rtl_db_files *files)
{
    return rtl_db_file_size(files->main);
}

#endif
