/* What SQLite may do to a file of a database. See db_file.c. */
#ifndef RTL_RECORD_DB_FILE_H
#define RTL_RECORD_DB_FILE_H

#include "record/db_files.h"

extern const sqlite3_io_methods rtl_db_file_methods;

/* What is said in place of SQLITE_CANTOPEN, which they return. */
int rtl_db_refuse(struct rtl_db_files *files, enum rtl_db_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int rtl_db_refuse_odd(struct rtl_db_files *files, const char *name);
/* What became of a look at the journal, as SQLite takes it. */
int rtl_db_refuse_journal(struct rtl_db_files *files, enum rtl_journal is);

#endif
