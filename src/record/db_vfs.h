/* The files of one database, as the file system that SQLite is given for it. See db_vfs.c. */
#ifndef RTL_RECORD_DB_VFS_H
#define RTL_RECORD_DB_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/db_status.h"

struct stat;
struct rtl_db;
struct rtl_db_files;

/* How SQLite reaches them: by a file system of its own, under a name for sqlite3_open_v2. NULL without memory. */
struct rtl_db_files *rtl_db_files_create(struct rtl_db *db);
void rtl_db_files_free(struct rtl_db_files *files); /* after the database was closed */
const char *rtl_db_files_system(const struct rtl_db_files *files);
/* Why a file beside the database was refused, and forgets it: the status and a line; OK when none was. */
enum rtl_db_status rtl_db_files_refused(struct rtl_db_files *files, char *why, size_t why_bytes);
bool rtl_db_files_is(const struct rtl_db_files *files, const struct stat *info); /* whether that is what is open */
uint64_t rtl_db_files_log_size(const struct rtl_db_files *files);                /* of its -wal, 0 when it has none */
/* The first bytes of the file, whatever it is; less than `bytes` when it is shorter, -1 when it can't be read. */
int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes);
/* Empties the file and removes what lies beside it, unless another has it locked; SQLite's code. */
int rtl_db_files_empty(struct rtl_db_files *files);

#endif
